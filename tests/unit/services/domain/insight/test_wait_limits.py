"""Why a task waits at a breaker, a busy shop or a limit, with live values, and when it starts."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import SlotState
from services.domain.gates.ability import Supply
from services.domain.gates.breaker import Breaker
from services.domain.gates.limit import Limit, LimitNow
from services.domain.gates.session import ClosedSession
from services.domain.insight.forecast import durations, estimate
from services.domain.insight.wait import CLOSED, NEXT, OK, Facts, GateView, why_waiting
from services.domain.task.status import Status
from services.messages import english
from tests.unit.services.domain.builders import NOW, task

HOLDER = task(task_id="t1", status=Status.RUNNING, worker="w3", started_at=NOW - 90_000)
LATER = task(task_id="t2", status=Status.RUNNING, worker="w4", started_at=NOW - 1000)
ORDERS = "type:sync_order"
FREE = (SlotState(),) * 4
USUAL = durations.measured(range(100, 141, 5))
LASTS = {("sync_order", "pdd:shop017"): USUAL}


def facts(**fields: Any) -> Facts:
    supply = Supply(serving=1, able=1, seen=("w1",))
    return Facts(**({"now_ms": NOW, "supply": supply, "slots": FREE, "usual": USUAL} | fields))


def gate(name: str, known: Facts, **fields: Any) -> GateView:
    views = why_waiting(task(**({"status": Status.BLOCKED, "gate": name} | fields)), known)
    return {view.name: view for view in views}[name]


def limit(scope: str = "platform:pdd", **numbers: int) -> LimitNow:
    return LimitNow(
        limit=Limit(scope=scope, concurrency=numbers.pop("concurrency", 0), per_minute=numbers.pop("per_minute", 0)),
        **numbers,
    )


def test_a_busy_shop_names_who_holds_it_since_when_and_how_many_go_first() -> None:
    view = gate("shop_busy", facts(holders=(LATER, HOLDER), concurrency=2, shop_ahead=3))
    assert (
        english(view.message)
        == "The shop is busy: sync_order runs for 1 m 30 s (t1 on w3, 2 of 2 running); 3 go first."
    )
    assert (view.params["holder"], view.params["since"], view.params["ahead"]) == ("t1", NOW - 90_000, 3)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "sync_order runs for 1 m 30 s of usually 2 min"),
        ({"progress": 40}, "sync_order is at 40.0 %, running for 1 m 30 s, usually 2 min"),
        ({"started_at": NOW - 600_000}, "sync_order runs for 10 min already, usually 2 min"),
    ],
)
def test_how_far_the_one_is_that_holds_the_shop(fields: dict[str, Any], said: str) -> None:
    view = gate("shop_busy", facts(holders=(replace(HOLDER, **fields),), runs=LASTS))
    assert english(view.message) == f"The shop is busy: {said} (t1 on w3, 1 of 1 running)."


def test_a_full_platform_names_its_numbers() -> None:
    full = limit(concurrency=20, running=18, promised=2)
    view = gate("quota", facts(limits=(full,), limit_holders=(HOLDER,), limit_ahead=7))
    assert (
        english(view.message)
        == "platform:pdd is at its limit: 20 of 20 running, first t1 on w3 for 1 m 30 s; 7 go first."
    )


def test_a_full_platform_whose_slots_are_all_promised() -> None:
    view = gate("quota", facts(limits=(limit(concurrency=2, promised=2),), limit_ahead=1))
    assert english(view.message) == "platform:pdd is at its limit: 2 of 2 released to run; 1 go first."


def test_spent_starts_name_when_the_next_one_may() -> None:
    spent = limit(ORDERS, per_minute=300, started=299, promised=1, resets_at=NOW + 12_300)
    view = gate("quota", facts(limits=(limit(concurrency=9), spent), limit_ahead=4))
    assert view.state == CLOSED
    assert view.params["resets_at"] == NOW + 12_300
    assert english(view.message) == (
        "type:sync_order is at its limit: 300 of 300 started within a minute, the next may in 13 s; 4 go first."
    )


def test_limits_with_room_and_none_at_all() -> None:
    assert gate("quota", facts(limits=(limit(concurrency=9),)), gate="", status=Status.QUEUED).code == "gate.quota"
    assert gate("quota", facts(), gate="", status=Status.QUEUED).code == "gate.no_quota"
    waiting = limit(ORDERS, concurrency=9, running=2, waiting=1)
    assert gate("quota", facts(limits=(waiting,))).code == "gate.parked", "it opened a moment ago"


def test_an_open_breaker_names_its_failures_and_the_next_try() -> None:
    found = Breaker(shop="pdd:shop017", outcomes="1101", until=NOW + 30_000, since=NOW - 1, times=1, kind="captcha")
    view = gate("breaker", facts(breaker=found))
    assert english(view.message) == (
        "Too many attempts of the shop failed (3 of the last 4, last captcha); one task tries again in 30 s."
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"kind": "login_expired", "task_id": "t1", "worker": "w3"},
            "The shop must be logged in again; then its tasks go on. Its login page was met 2 min ago (t1 on w3).",
        ),
        (
            {"kind": "captcha", "task_id": "t1", "worker": "w3"},
            "The shop shows a captcha: somebody must log in there; then its tasks go on."
            " It was met 2 min ago (t1 on w3).",
        ),
        (
            {"kind": "captcha", "by": "ann", "note": "no phone"},
            "ann said 2 min ago that somebody must log the shop in first: no phone. Then its tasks go on.",
        ),
        (
            {"kind": "login_expired", "by": "ann"},
            "ann said 2 min ago that somebody must log the shop in first. Then its tasks go on.",
        ),
    ],
)
def test_a_closed_session_names_what_closed_it(fields: dict[str, Any], said: str) -> None:
    closed = ClosedSession(shop="pdd:shop017", since=NOW - 120_000, **fields)
    view = gate("session", facts(session=closed, breaker=Breaker(shop="pdd:shop017", until=NOW + 1000)))
    assert (view.state, english(view.message)) == (CLOSED, said)
    assert gate("session", facts(), gate="", status=Status.QUEUED).state == OK


@pytest.mark.parametrize(
    ("known", "state", "code"),
    [
        ({"holders": (HOLDER,)}, CLOSED, "gate.breaker_tried"),
        ({"shop_ahead": 2}, CLOSED, "gate.breaker_try"),
        ({}, CLOSED, "gate.breaker_try"),
    ],
)
def test_a_breaker_whose_cool_down_is_over(known: dict[str, Any], state: str, code: str) -> None:
    found = Breaker(shop="pdd:shop017", outcomes="1", until=NOW - 1, since=NOW - 60_000, times=1, kind="timeout")
    view = gate("breaker", facts(breaker=found, **known))
    assert (view.state, view.code) == (state, code)
    assert "{" not in english(view.message)


def test_the_one_that_was_sent_to_try_does_not_wait_at_the_breaker() -> None:
    found = Breaker(shop="pdd:shop017", outcomes="1", until=NOW - 1, since=NOW - 60_000, times=1, kind="timeout")
    assert gate("breaker", facts(breaker=found), gate="", status=Status.QUEUED).state == OK


def test_the_first_of_several_closed_gates_is_what_it_waits_for() -> None:
    known = facts(
        pauses=(Pause(scope="all", by="ann"),),
        holders=(HOLDER,),
        limits=(limit(concurrency=1, running=1),),
        limit_holders=(HOLDER,),
    )
    views = {view.name: view for view in why_waiting(task(status=Status.BLOCKED, gate="paused"), known)}
    states = {name: view.state for name, view in views.items() if view.state != OK}
    assert states == {"paused": CLOSED, "shop_busy": NEXT, "quota": NEXT}
    assert list(states) == ["paused", "shop_busy", "quota"]


QUEUED: dict[str, Any] = {"status": Status.QUEUED}
BUSY: dict[str, Any] = {"status": Status.BLOCKED, "gate": "shop_busy"}
SPENT = limit(per_minute=60, started=60, resets_at=NOW + 20_000)


#: what of 1 m 30 s to 2 m 20 s is left for one that runs for 1 m 30 s
LEFT, EACH = (9, 52), (94, 146)


@pytest.mark.parametrize(
    ("fields", "known", "low", "high"),
    [
        (QUEUED, {}, 0, 0),
        (QUEUED, {"ahead": 3}, 0, 0),
        ({"status": Status.PENDING, "updated_at": NOW - 900}, {}, 0, 0),
        (QUEUED, {"ahead": 4}, *EACH),
        (QUEUED, {"ahead": 40, "lane_usual": USUAL}, 1000, 1300),
        ({"status": Status.SCHEDULED, "due_at": NOW + 61_000}, {}, 61, 61),
        (BUSY, {"holders": (HOLDER,)}, *LEFT),
        (BUSY, {"holders": (HOLDER,), "shop_ahead": 2}, LEFT[0] + 2 * EACH[0], LEFT[1] + 2 * EACH[1]),
        (BUSY, {"holders": (replace(HOLDER, progress=90),)}, 5, 20),
        (QUEUED, {"holders": (HOLDER,)}, *LEFT),
        ({"status": Status.BLOCKED, "gate": "quota"}, {"limits": (SPENT,), "limit_ahead": 30}, 50, 50),
        (BUSY, {"holders": (HOLDER,), "limits": (SPENT,), "limit_ahead": 60}, 80, 80),
    ],
)
def test_when_it_starts(fields: dict[str, Any], known: dict[str, Any], low: float, high: float) -> None:
    usual = {"runs": LASTS, "lane_usual": USUAL}
    found = estimate.starts(task(**fields), facts(**(usual | known)))
    assert found is not None
    assert low <= found.low_s <= found.mid_s <= found.high_s <= high
    if low < high:
        assert found.basis in (durations.MEASURED, durations.PROGRESS)
        assert found.low_s < found.high_s, "a spread is stated"


@pytest.mark.parametrize(
    ("fields", "known"),
    [
        (BUSY, {"holders": (HOLDER,), "usual": durations.NOTHING}),
        (BUSY, {"holders": (replace(HOLDER, lease_until=NOW - 1),)}),
        ({"status": Status.BLOCKED, "gate": "paused"}, {"pauses": (Pause(scope="all", by="a"),)}),
        (QUEUED, {"supply": Supply()}),
        (QUEUED, {"slots": ()}),
        ({"status": Status.SCHEDULED, "due_at": NOW - 61_000}, {}),
        ({"status": Status.PENDING, "updated_at": NOW - 20_000}, {}),
    ],
    ids=[
        *("nothing is known", "its worker is silent", "a person", "no worker", "no living slot", "no leader"),
        "a broker that confirms nothing",
    ],
)
def test_nobody_can_tell_when_it_starts(fields: dict[str, Any], known: dict[str, Any]) -> None:
    assert estimate.starts(task(**fields), facts(**known)) is None


def test_what_a_type_says_counts_only_until_something_was_measured() -> None:
    says = {("sync_order", "pdd:shop017"): durations.declared(120)}
    found = estimate.starts(task(**BUSY), facts(holders=(HOLDER,), runs=says))
    assert found is not None
    assert found.basis == durations.DECLARED
    assert found.high_s > 150, "a word is less sure than a measurement"
    assert "what its type says" in english(estimate.sentence(found))


def test_the_same_facts_give_the_same_numbers() -> None:
    known = facts(holders=(HOLDER,), shop_ahead=3, runs=LASTS, shop_arrivals=0.01)
    assert estimate.starts(task(**BUSY), known) == estimate.starts(task(**BUSY), known)


def test_more_urgent_arrivals_make_it_later() -> None:
    known = {"holders": (HOLDER,), "shop_ahead": 3, "runs": LASTS}
    calm = estimate.starts(task(**BUSY), facts(**known))
    rush = estimate.starts(task(**BUSY), facts(**known, shop_arrivals=0.005))
    assert calm is not None
    assert rush is not None
    assert rush.mid_s > calm.mid_s * 1.2


def test_the_estimate_in_words() -> None:
    def said(low: float, mid: float, high: float, basis: str) -> str:
        return english(estimate.sentence(estimate.Estimate(low_s=low, mid_s=mid, high_s=high, basis=basis)))

    assert said(0, 0, 0.2, "instant") == "It starts at any moment: nothing is before it and a slot is free."
    assert said(62, 62, 62, "instant") == "It starts in 1 m 02 s."
    expected = "It starts in about 4–8 min, by how long such tasks took lately."
    assert said(230, 300, 431, "measured") == expected
