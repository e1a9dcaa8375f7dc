"""Which letters go."""

from __future__ import annotations

import pytest
from msgspec import structs

from services.commands.bulk.plan import ASKS, DONE, DUPLICATE, GONE, HELD, PAUSED, READY, SCHEMA, Item
from services.commands.bulk.republish import Plan
from services.domain.insight.shop import LOGGED_IN, LOGGED_OUT, ShopNow
from views.dialogs.republish.sorting import CLOSED, RULES, TWIN, Choice, sort_out

STATES = (READY, READY, DUPLICATE, HELD, PAUSED, SCHEMA, GONE)
PLAN = Plan(
    items=tuple(
        Item(task_id=f"t{n}", state=state, shop=f"pdd:{n}", task_type="work", lane="normal")
        for n, state in enumerate(STATES)
    )
)
NOW = {"pdd:0": ShopNow(access=LOGGED_IN), "pdd:1": ShopNow(access=LOGGED_OUT), "pdd:2": ShopNow(access=LOGGED_OUT)}


def going(skip: frozenset[str]) -> list[str]:
    return [item.task_id for item in sort_out(PLAN, NOW, skip).going]


def test_all_reasons_skip_unless_switched_off() -> None:
    every = frozenset(RULES)
    assert going(every) == ["t0"]
    assert going(every - {CLOSED}) == ["t0", "t1"]
    assert going(every - {TWIN}) == ["t0", "t2", "t3"]
    assert going(frozenset()) == ["t0", "t1", "t2", "t3", "t4", "t5"], "what is gone never goes"


def test_each_letter_has_one_reason() -> None:
    found = sort_out(PLAN, NOW, frozenset(RULES))
    assert {why: len(items) for why, items in found.reasons.items()} == {
        CLOSED: 1, TWIN: 2, PAUSED: 1, SCHEMA: 1, GONE: 1,
    }  # fmt: skip
    assert found.total == 7
    assert found.shops() == (1, 7)
    assert [item.task_id for item in found.to_send().items] == ["t0"]
    assert (found.counts("task_type"), found.most_per_shop()) == ({"work": 1}, 1)


def test_work_that_has_succeeded_since_is_skipped_unless_switched_off() -> None:
    plan = Plan(items=(Item(task_id="t0", state=DONE, shop="pdd:0"), Item(task_id="t1", shop="pdd:0")))
    assert [one.task_id for one in sort_out(plan, NOW, frozenset(RULES)).going] == ["t1"]
    assert [one.task_id for one in sort_out(plan, NOW, frozenset(RULES) - {DONE}).going] == ["t0", "t1"]


def test_of_a_twin_whose_work_has_run_too_both_reasons_count() -> None:
    done = Item(task_id="t0", state=DONE, shop="pdd:0")
    plan = Plan(items=(structs.replace(done, state=DUPLICATE, beneath=done),))
    every = frozenset(RULES)
    found = [sort_out(plan, NOW, skip) for skip in (every, every - {DONE}, every - {TWIN}, every - {TWIN, DONE})]
    assert [list(one.reasons) for one in found] == [[TWIN], [TWIN], [DONE], [DONE]]
    assert [len(one.going) for one in found] == [0, 0, 0, 1]


def test_what_asks_for_a_reason_of_its_own_is_no_part_of_many() -> None:
    plan = Plan(items=(Item(task_id="t0", state=ASKS, shop="pdd:0"), Item(task_id="t1", shop="pdd:0")))
    for skip in (frozenset(RULES), frozenset[str]()):
        found = sort_out(plan, NOW, skip)
        assert [one.task_id for one in found.going] == ["t1"]
        assert [one.task_id for one in found.reasons[ASKS]] == ["t0"], "and it is counted by itself"


def test_nothing_is_sorted_out_of_nothing() -> None:
    found = sort_out(Plan(), {}, frozenset(RULES))
    assert (found.going, found.most_per_shop(), found.shops()) == ((), 0, (0, 0))


@pytest.mark.parametrize(("skip", "fate"), [(frozenset(RULES), "reject"), (frozenset(), "queue")])
def test_the_choice_becomes_options(skip: frozenset[str], fate: str) -> None:
    choice = Choice(skip=skip, lane="low", attempts=2, rate=30)
    options = choice.options()
    options.check()
    assert (options.if_duplicate, options.rate, options.lane, options.attempts) == (fate, 30, "low", 2)
    tried = choice.options(probe=3)
    assert (tried.probe, tried.probe_only, tried.rate) == (3, True, 0)
