"""Why a task waits at a breaker, a busy shop or a limit, with live values, and when it starts."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain import estimate
from services.domain.ability import Supply
from services.domain.breaker import Breaker
from services.domain.explain import CLOSED, NEXT, OK, Facts, GateView, why_waiting
from services.domain.limit import Limit, LimitNow
from services.domain.session import ClosedSession
from services.domain.shop import Pause
from services.domain.status import Status
from services.domain.task import Task
from services.messages import english
from tests.unit.services.domain.builders import NOW, task

HOLDER = task(task_id="t1", status=Status.RUNNING, worker="w3", started_at=NOW - 90_000)
LATER = task(task_id="t2", status=Status.RUNNING, worker="w4", started_at=NOW - 1000)
ORDERS = "type:sync_order"


def facts(**fields: Any) -> Facts:
    supply = Supply(serving=1, able=1, seen=("w1",))
    return Facts(**({"now_ms": NOW, "supply": supply, "slots": 4, "usual_s": 120.0} | fields))


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
    assert english(view.message) == "The shop is busy: 2 of 2 running, first t1 on w3 for 1 m 30 s; 3 go first."
    assert (view.params["holder"], view.params["since"], view.params["ahead"]) == ("t1", NOW - 90_000, 3)


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
    assert gate("quota", facts()).code == "gate.parked", "it opened a moment ago"


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
            "The shop must be logged in again: t1 met its login page on w3 2 m 00 s ago."
            " After shop login pdd:shop017 its tasks go on.",
        ),
        (
            {"kind": "captcha", "task_id": "t1", "worker": "w3"},
            "The shop shows a captcha: t1 met it on w3 2 m 00 s ago. After shop login pdd:shop017 its tasks go on.",
        ),
        (
            {"kind": "captcha", "by": "ann", "note": "no phone"},
            "ann said 2 m 00 s ago that somebody must log the shop in first: no phone."
            " After shop login pdd:shop017 its tasks go on.",
        ),
        (
            {"kind": "login_expired", "by": "ann"},
            "ann said 2 m 00 s ago that somebody must log the shop in first."
            " After shop login pdd:shop017 its tasks go on.",
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
        ({}, OK, "gate.breaker_try"),
    ],
)
def test_a_breaker_whose_cool_down_is_over(known: dict[str, Any], state: str, code: str) -> None:
    found = Breaker(shop="pdd:shop017", outcomes="1", until=NOW - 1, since=NOW - 60_000, times=1, kind="timeout")
    view = gate("breaker", facts(breaker=found, **known))
    assert (view.state, view.code) == (state, code)
    assert "{" not in english(view.message)


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


@pytest.mark.parametrize(
    ("fields", "known", "seconds"),
    [
        (QUEUED, {}, 0.0),
        (QUEUED, {"ahead": 8}, 240.0),
        ({"status": Status.SCHEDULED, "due_at": NOW + 61_000}, {}, 61.0),
        (BUSY, {"holders": (HOLDER,)}, 30.0),
        (BUSY, {"holders": (HOLDER,), "shop_ahead": 2}, 270.0),
        (BUSY, {"holders": (HOLDER,), "usual_s": 0.0}, None),
        ({"status": Status.BLOCKED, "gate": "quota"}, {"limits": (SPENT,), "limit_ahead": 30}, 50.0),
        (BUSY, {"holders": (HOLDER,), "limits": (SPENT,), "limit_ahead": 60}, 80.0),
        ({"status": Status.BLOCKED, "gate": "paused"}, {"pauses": (Pause(scope="all", by="a"),)}, None),
        (QUEUED, {"supply": Supply()}, None),
    ],
)
def test_when_it_starts(fields: dict[str, Any], known: dict[str, Any], seconds: float | None) -> None:
    record: Task = task(**fields)
    assert estimate.starts_in_s(record, facts(**known)) == seconds


def test_the_estimate_in_words() -> None:
    assert english(estimate.sentence(0.2)) == "It starts at any moment, as far as one can tell."
    assert english(estimate.sentence(62)) == "It starts in about 1 m 02 s, as far as one can tell."
