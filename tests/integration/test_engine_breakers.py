"""A shop that fails too often waits, tries with one task, and goes on; what each gate says meanwhile; both pairs."""

from __future__ import annotations

from typing import Any

import pytest

from services import assembly
from services.clock import SystemClock
from services.domain.errors import UsageError
from services.domain.gates.breaker import Rule
from services.domain.gates.limit import Limit
from services.domain.insight.wait import GateView
from services.messages import english
from services.monitor.attention import AttentionFinder
from services.monitor.letters.causes import CauseQueries
from services.monitor.live import Snapshot
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet


def closed(fleet: Fleet, task_id: str) -> GateView:
    detail = assembly.queries(fleet.engine).tasks.detail(task_id)
    assert detail is not None
    return next(gate for gate in detail.gates if gate.state == "closed")


def trip(fleet: Fleet, cooldown_s: int = 600, **payload: Any) -> None:
    """Open the breaker of s1 with two failures."""
    rule = Rule(failures=2, of=3, cooldown_s=cooldown_s, max_cooldown_s=max(600, cooldown_s))
    fleet.commands().breakers.set_rule(rule)
    ids = [fleet.create(fail="risk_control", n=n, max_retries=0) for n in range(2)]
    fleet.wait_ended(ids)


def test_a_shop_that_fails_waits_and_others_go_on_until_a_person_closes_it(fleet: Fleet) -> None:
    fleet.worker()
    trip(fleet)
    waits, goes = fleet.create("s1"), fleet.create("s2")
    fleet.wait(goes, "succeeded")
    assert fleet.wait(waits, "blocked").gate == "breaker"
    assert "2 of the last 2, last risk_control" in english(closed(fleet, waits).message)
    commands = fleet.commands().breakers
    assert commands.close("pdd:s1", note="logged in again") is True
    fleet.wait(waits, "succeeded")
    assert commands.close("pdd:s1") is False
    entries = fleet.engine.store.audit(2)
    assert [(one.action, one.target) for one in entries] == [("breaker.close", ("pdd:s1",))] * 2
    assert [one.outcome for one in entries] == ["refused: it was not open", "done"]


def test_it_tries_by_itself_and_a_success_lets_all_go(fleet: Fleet) -> None:
    fleet.worker()
    trip(fleet, cooldown_s=1)
    ids = [fleet.create(n=n) for n in range(3)]
    reconciler = fleet.reconciler(engine=fleet.open())  # another process: the breaker survives

    def all_ended() -> bool:
        reconciler.open_parked()
        return all(fleet.task(task_id).status == "succeeded" for task_id in ids)

    eventually(all_ended, 30)
    assert fleet.engine.store.breakers() == []


def test_it_needs_attention(fleet: Fleet) -> None:
    fleet.worker()
    trip(fleet)
    store = fleet.engine.store
    finder = AttentionFinder(store, CauseQueries(store), SystemClock(), lambda key: f"<{key}>", fleet.engine.registry)
    snapshot = Snapshot(taken=0.0, at_ms=store.now_ms())
    (item,) = [one for one in finder.find(snapshot, (), None) if one.code.startswith("attention.breaker")]
    assert (item.key, item.params["shop"], item.params["failed"]) == ("breaker:pdd:s1", "<pdd:s1>", 2)
    assert [one.code for one in item.facts] == ["cause.risk_control"]
    assert item.verbs == (("open_shop", "pdd:s1"), ("open_tasks", "shop:pdd:s1 gate:breaker"))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"failures": 11}, "failures"),
        ({"of": 0}, "of"),
        ({"cooldown_s": 0}, "cooldown"),
        ({"max_cooldown_s": 5}, "max_cooldown"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(fleet: Fleet, fields: dict[str, int], field: str) -> None:
    with pytest.raises(UsageError) as caught:
        fleet.commands().breakers.set_rule(Rule(**fields))
    assert caught.value.field == field


# ------------------------------------------------------------------ what the gates say
def test_a_busy_shop_names_its_holder_and_who_goes_first(fleet: Fleet) -> None:
    gate = fleet.folder / "open"
    holder = fleet.create(until=str(gate))
    fleet.worker(name="w1")
    fleet.wait(holder, "running")
    first, second, urgent = fleet.create(n=1), fleet.create(n=2), fleet.create(n=3, priority="high")
    for task_id in (first, second, urgent):
        fleet.wait(task_id, "blocked")
    params = closed(fleet, second).params
    assert (params["holder"], params["ahead"], params["running"]) == (holder, 2, 1)
    assert params["since"] == fleet.task(holder).started_at
    assert closed(fleet, urgent).params["ahead"] == 0
    gate.touch()
    fleet.wait_ended([holder, first, second, urgent])


def test_paused_and_busy_and_at_the_limit_of_its_platform(fleet: Fleet) -> None:
    gate = fleet.folder / "open"
    holder = fleet.create("s1", until=str(gate))
    commands = fleet.commands().fleet
    commands.set_limit(Limit(scope="platform:pdd", concurrency=1, per_minute=1))
    fleet.worker(name="w1")
    fleet.wait(holder, "running")
    own, other = fleet.create("s1", n=1), fleet.create("s2", n=2)
    fleet.wait(own, "blocked")
    fleet.wait(other, "blocked")
    seen = closed(fleet, other)
    assert (seen.name, seen.code, seen.params["holder"], seen.params["used"]) == (
        "quota",
        "gate.quota_running",
        holder,
        1,
    )
    commands.pause("shop:pdd:s1", reason="sale")
    detail = assembly.queries(fleet.engine).tasks.detail(own)
    assert detail is not None
    states = [(view.name, view.state) for view in detail.gates if view.state != "ok"]
    assert states == [("paused", "closed"), ("shop_busy", "next"), ("quota", "next")]
    assert detail.starts is None
    gate.touch()
    fleet.wait(holder, "succeeded")
    spent = closed(fleet, other)
    assert (spent.code, spent.params["used"], spent.params["limit"]) == ("gate.quota_starts", 1, 1)
    assert 0 < spent.params["seconds"] <= 61
    found = assembly.queries(fleet.engine).tasks.detail(other)
    assert found is not None
    assert found.starts is not None
    assert 0 < found.starts.low_s <= found.starts.high_s <= 180
