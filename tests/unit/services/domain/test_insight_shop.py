"""What is true of one shop: its state, why, and what its own tasks tell of its login."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from services.domain.fleet.shop import Pause, Shop
from services.domain.gates.breaker import Breaker
from services.domain.gates.session import ClosedSession
from services.domain.insight import shop as insight
from services.domain.insight.shop import ShopFacts, ShopNow
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from services.messages import english
from tests.unit.services.domain.builders import NOW, task

KEY = "pdd:shop017"


def failed(kind: str, ended_at: int) -> Task:
    one = Attempt(number=1, worker="w", started_at=NOW, ended_at=ended_at, outcome="failed", error_kind=kind)
    return task(status=Status.DEAD, attempts=(one,), ended_at=ended_at)


def succeeded(ended_at: int) -> Task:
    return task(status=Status.SUCCEEDED, ended_at=ended_at)


CAPTCHA = ClosedSession(shop=KEY, kind="captcha", since=NOW)
OPEN = Breaker(shop=KEY, since=NOW, until=NOW + 60_000, times=1, outcomes="111", kind="timeout")


def pause(scope: str, reason: str = "") -> Pause:
    return Pause(scope=scope, by="ann", at=NOW, reason=reason)


def judged(**facts: Any) -> ShopNow:
    usual = {"shop": Shop(platform="pdd", shop_id="shop017")}
    return insight.judge(ShopFacts(**(usual | facts)), NOW)


@pytest.mark.parametrize(
    ("tasks", "state"),
    [
        ([], insight.NOT_KNOWN),
        ([succeeded(NOW)], insight.LOGGED_IN),
        ([failed("login_expired", NOW)], insight.LOGGED_OUT),
        ([failed("captcha", NOW)], insight.CAPTCHA),
        ([failed("login_expired", NOW), succeeded(NOW + 1)], insight.LOGGED_IN),
        ([succeeded(NOW), failed("login_expired", NOW + 1)], insight.LOGGED_OUT),
        ([succeeded(NOW), failed("network", NOW + 1)], insight.LOGGED_IN),
        ([failed("network", NOW)], insight.NOT_KNOWN),
        ([task(status=Status.RUNNING)], insight.TRYING),
        ([task(status=Status.RUNNING), failed("login_expired", NOW)], insight.LOGGED_OUT),
    ],
)
def test_the_newest_evidence_counts(tasks: list[Task], state: str) -> None:
    for some in (tasks, tasks[::-1]):
        assert judged(tasks=tuple(some), counts=Counter(str(one.status) for one in some)).access == state


def test_a_pause_hides_everything_and_a_switch_the_rest() -> None:
    off = Shop(platform="pdd", shop_id="shop017", enabled=False)
    assert judged(shop=off, success_at=NOW).access == insight.OFF
    for scope in ("all", "platform:pdd", f"shop:{KEY}"):
        assert judged(shop=off, success_at=NOW, pauses=(pause(scope),)).access == insight.PAUSED
    assert judged(success_at=NOW, pauses=(pause("shop:pdd:other"),)).access == insight.LOGGED_IN


@pytest.mark.parametrize("facts", [{}, {"counts": {"queued": 3}}, {"counts": {"dead": 1}}, {"success_at": NOW}])
@pytest.mark.parametrize("scopes", [(), ("all",), ("platform:pdd", f"shop:{KEY}")])
def test_a_shop_that_is_switched_off_is_told_as_that_also_under_a_pause(
    facts: dict[str, Any], scopes: tuple[str, ...]
) -> None:
    pauses = tuple(pause(scope) for scope in scopes)
    for enabled in (True, False):
        shop = Shop(platform="pdd", shop_id="shop017", enabled=enabled)
        told = [one.code for one in insight.reasons(judged(shop=shop, pauses=pauses, **facts), NOW)]
        assert told.count("shop.off") == (not enabled)
        assert len([code for code in told if code.startswith("shop.paused")]) == len(scopes)


def test_a_closed_session_is_the_truth_and_a_login_opens_it() -> None:
    now = judged(success_at=NOW + 1, session=CAPTCHA)
    assert (now.access, now.failure_at, now.failure_kind) == (insight.CAPTCHA, NOW, "captcha")
    now = judged(tasks=(failed("captcha", NOW),), login_at=NOW + 1)
    assert now.access == insight.LOGGED_IN


def test_the_evidence_is_told() -> None:
    now = judged(tasks=(succeeded(NOW), failed("network", NOW + 5)))
    assert (now.success_at, now.failure_at, now.failure_kind) == (NOW, NOW + 5, "network")
    assert not now.closed
    assert judged(tasks=(failed("captcha", NOW),)).closed


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({}, "idle"),
        ({"success_at": NOW}, "healthy"),
        ({"success_at": NOW - 2 * 86_400_000}, "idle"),
        ({"counts": {"queued": 3}, "success_at": NOW}, "waiting"),
        ({"counts": {"queued": 3, "running": 1}}, "running"),
        ({"counts": {"retrying": 1, "running": 1}}, "retrying"),
        ({"counts": {"retrying": 1}, "breaker": OPEN}, "breaker"),
        ({"counts": {"blocked": 1}, "breaker": OPEN, "waits_at": NOW - 2_000_000}, "breaker"),
        ({"counts": {"blocked": 1}, "waits_at": NOW - 2_000_000}, "stuck"),
        ({"counts": {"dead": 1}, "breaker": OPEN}, "dead"),
        ({"counts": {"dead": 1, "blocked": 1}, "session": CAPTCHA}, "login"),
        ({"counts": {"held": 1}, "session": CAPTCHA}, "held"),
        ({"counts": {"running": 1}, "lost": "workers"}, "unknown"),
        ({"counts": {"running": 1}, "lost": "word"}, "unknown"),
        ({"counts": {"running": 1}, "lost": "broker"}, "running"),
        ({"counts": {"queued": 1}, "lost": "workers"}, "waiting"),
        ({"counts": {"queued": 1}, "lost": "broker"}, "waiting"),
        ({"lost": "workers", "success_at": NOW}, "healthy"),
        ({"counts": {"dead": 1, "queued": 1}, "lost": "workers"}, "dead"),
        ({"lost": "store"}, "unknown"),
    ],
)
def test_the_worst_that_a_person_must_do_is_the_state(facts: dict[str, Any], state: str) -> None:
    assert judged(**facts).state == state


def test_a_pause_covers_the_rest_but_what_only_a_person_can_end() -> None:
    paused = (pause("platform:pdd"),)
    covered = judged(pauses=paused, counts={"dead": 2})
    assert (covered.state, covered.under) == ("paused", "dead")
    assert judged(pauses=paused, session=CAPTCHA).state == "login"
    assert judged(pauses=paused, counts={"held": 1}).state == "held"


def test_a_shop_that_is_paused_on_two_levels_says_both_and_offers_both() -> None:
    now = judged(pauses=(pause(f"shop:{KEY}", ""), pause("platform:pdd", "new page"), pause("platform:temu")))
    told = [english(one) for one in insight.reasons(now, NOW + 65_000)]
    assert told == [
        "All of pdd is paused by ann for 1 m 05 s: new page",
        "The shop is paused by ann for 1 m 05 s",
    ]
    assert insight.acts(now) == (("resume", "platform:pdd"), ("resume", f"shop:{KEY}"))


def test_reasons_tell_everything_that_is_true_the_decisive_first() -> None:
    now = judged(counts={"held": 2}, held_at=NOW - 120_000, session=CAPTCHA, pauses=(pause("all"),))
    assert [one.code for one in insight.reasons(now, NOW)] == ["shop.held_since", "shop.captcha", "shop.paused_all"]
    assert english(insight.reasons(now, NOW)[0]) == "2 to decide, for 2 min now: nobody knows how they ended"
    assert [verb for verb, _ in insight.acts(now)] == ["open_tasks", "login_shop", "open_session", "resume"]


def test_every_state_has_a_sentence() -> None:
    for state in insight.STATES:
        now = ShopNow(state=state, session=CAPTCHA, breaker=OPEN, pauses=(pause("all"),), lost="workers")
        for message in insight.reasons(now, NOW):
            assert "{" not in english(message)


def test_a_judgement_stands_as_long_as_is_said_and_no_longer_where_the_time_decides() -> None:
    dice, ended = Random(14), 0
    for _ in range(3_000):
        now = NOW + dice.choice((0, insight.STUCK_MS, insight.HEALTHY_MS, dice.randrange(2 * insight.HEALTHY_MS)))
        facts = ShopFacts(
            shop=Shop(platform="pdd", shop_id="s1"),
            counts={dice.choice(("queued", "running", "dead", "retrying")): dice.randrange(3)},
            success_at=dice.choice((0, NOW, NOW + dice.randrange(insight.HEALTHY_MS))),
            waits_at=dice.choice((0, NOW, NOW + dice.randrange(insight.STUCK_MS))),
            hangs_at=dice.choice((0, NOW)),
            moves=dice.random() < 0.2,
        )
        until, first = insight.stands_until(facts, now), insight.judge(facts, now)
        assert until >= now
        latest = min(until, now + 3 * insight.HEALTHY_MS)
        for at in (now + 1, latest, dice.randint(now, latest)):
            assert at > until or insight.judge(facts, at) == first, (facts, now, at)
        ended += until < insight.FOREVER_MS and insight.judge(facts, until + 1) != first
    assert ended > 100
