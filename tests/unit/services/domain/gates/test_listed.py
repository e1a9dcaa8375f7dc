"""The list of gates: each with all of its words, and switches in the order of their gates."""

from __future__ import annotations

import pytest

from services import messages
from services.domain.fleet.shop import Pause
from services.domain.gates import listed, paused
from services.domain.gates.gate import Gate
from services.domain.insight import shop
from services.domain.insight.forecast import flow
from services.domain.insight.gates import GATES

SWITCHED = [gate for gate in listed.ORDER if gate.switch is not None]


def test_the_list_is_the_order_everywhere() -> None:
    assert tuple(gate.name for gate in listed.ORDER) == GATES
    assert len(set(GATES)) == len(GATES)


@pytest.mark.parametrize("gate", listed.ORDER, ids=lambda gate: gate.name)
def test_each_is_called_something_and_is_known_to_the_flow(gate: Gate) -> None:
    assert gate.short
    assert not gate.flow or gate.flow in (*flow.REASONS, *flow.LATER_REASONS)


@pytest.mark.parametrize("gate", SWITCHED, ids=lambda gate: gate.name)
def test_a_switch_has_all_of_its_sentences(gate: Gate) -> None:
    wanted = [f"gate.{gate.name}", f"gate.not_{gate.name}", f"doctor.{gate.name}", f"flow.why_{gate.flow}"]
    for scope in ("all", "platform", "shop", "type"):
        wanted += [f"shop.{gate.name}_{scope}", f"shop.{gate.name}_{scope}_why"]
    assert [code for code in wanted if code not in messages.TEMPLATES] == []
    assert gate.name in shop.STATES
    assert gate.name in shop.WORDS


def test_one_that_opens_by_itself_is_no_reason_to_call_a_person() -> None:
    for gate in SWITCHED:
        assert gate.switch is not None
        assert (gate.flow in flow.REASONS) == bool(gate.switch.verb)


def test_the_first_gate_that_is_closed_for_a_task_is_told() -> None:
    scopes = {paused.GATE: ["platform:temu", "type:sync_order"]}
    assert listed.at_switch(scopes, ["all", "platform:temu", "shop:temu:1"]) == paused.GATE
    assert listed.at_switch(scopes, ["all", "platform:pdd", "type:sync_order"]) == paused.GATE
    assert listed.at_switch(scopes, ["all", "platform:pdd", "shop:pdd:1"]) == ""


def test_pauses_alone_are_what_is_closed_without_documents() -> None:
    pauses = [Pause(scope="all", by="ann@desk")]
    assert listed.switched(pauses, {}, 0) == pauses
