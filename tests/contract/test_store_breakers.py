"""The breaker of a shop: it opens after too many failures, lets one task try, and closes when that succeeds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.domain.change import CloseBreaker
from services.domain.gates.breaker import KINDS, Breaker
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.store.redis import keys
from tests.contract.rig import Rig


def rule(rig: Rig, failures: int = 2, of: int = 4, cooldown_s: int = 600, max_cooldown_s: int = 1500) -> None:
    body = {"failures": failures, "of": of, "cooldown_s": cooldown_s, "max_cooldown_s": max_cooldown_s}
    rig.store.put_document("fleet", "breaker", json.dumps(body))


def ends(rig: Rig, to: str = "dead", kind: str = "captcha", **fields: Any) -> Task:
    """An attempt that ended so."""
    answer = rig.finish(rig.running(**fields), to, error_kind=kind, delay_ms=60_000 if to == "retrying" else 0)
    assert answer.task is not None
    return answer.task


def opened(rig: Rig) -> Breaker:
    (found,) = rig.store.breakers()
    assert found.shop == "pdd:s1"
    return found


def trip(rig: Rig) -> None:
    rule(rig, failures=1, of=1)
    ends(rig)


def cool_down(rig: Rig) -> None:
    """Let the next try be due; Redis has no clock that can be turned."""
    if rig.clock is not None:
        rig.clock.advance(max(0, opened(rig).until - rig.store.now_ms()) / 1000)
        return
    redis, now = rig.store._link, str(rig.store.now_ms() - 1)  # type: ignore[attr-defined]
    outcomes, _, *rest = redis.call("HGET", keys.BREAKERS, "pdd:s1").decode().split(" ")
    redis.call("HSET", keys.BREAKERS, "pdd:s1", " ".join((outcomes, now, *rest)))
    redis.call("ZADD", keys.BREAKERS_OPEN, now, "pdd:s1")


def test_it_opens_when_so_many_of_the_last_attempts_failed(rig: Rig) -> None:
    rule(rig)
    ends(rig, kind="network", to="retrying")
    ends(rig, "succeeded", "")
    assert rig.store.breakers() == []
    before = rig.store.now_ms()
    ends(rig, kind="captcha")
    seen = opened(rig)
    assert (seen.outcomes, seen.failed, seen.kind, seen.times) == ("101", 2, "captcha", 1)
    assert before <= seen.since <= rig.store.now_ms()
    assert seen.until == seen.since + 600_000
    task = rig.blocked()
    assert task.gate == "breaker"
    assert rig.open() == []
    rig.running(shop_id="s2")


def test_the_default_is_five_of_ten(rig: Rig) -> None:
    for _ in range(4):
        ends(rig)
    assert rig.store.breakers() == []
    ends(rig)
    assert opened(rig).until == opened(rig).since + 60_000


def test_one_more_than_those_that_count_is_too_old(rig: Rig) -> None:
    rule(rig, failures=2, of=3)
    for to, kind in (("dead", "captcha"), ("succeeded", ""), ("succeeded", ""), ("dead", "captcha")):
        ends(rig, to, kind)
    assert rig.store.breakers() == []
    ends(rig)
    assert opened(rig).outcomes == "110"


def test_old_attempts_are_forgotten(rig: Rig) -> None:
    rule(rig)
    ends(rig)
    for _ in range(4):
        ends(rig, "succeeded", "")
    ends(rig)
    assert rig.store.breakers() == []


@pytest.mark.parametrize(
    "kind", ["bad_payload", "crashed", "no_browser", "worker_lost", "unknown_type", "missing_secret"]
)
def test_what_says_nothing_about_the_shop_does_not_count(rig: Rig, kind: str) -> None:
    rule(rig, failures=1, of=1)
    ends(rig, kind=kind)
    assert rig.store.breakers() == []


@pytest.mark.parametrize("to", ["retrying", "dead", "held"])
@pytest.mark.parametrize("kind", [KINDS[0], KINDS[-1]])
def test_every_failed_end_counts(rig: Rig, to: str, kind: str) -> None:
    rule(rig, failures=1, of=1)
    ends(rig, to, kind)
    assert opened(rig).kind == kind


@pytest.mark.parametrize("to", ["cancelled", "pending"])
def test_what_was_no_outcome_does_not_count(rig: Rig, to: str) -> None:
    rule(rig, failures=1, of=1)
    ends(rig, to, "timeout")
    assert rig.store.breakers() == []


def test_zero_switches_it_off(rig: Rig) -> None:
    rule(rig, failures=0)
    for _ in range(12):
        ends(rig)
    assert rig.store.breakers() == []


def test_after_the_cool_down_one_task_tries(rig: Rig) -> None:
    rig.shop("s1", concurrency=3)
    trip(rig)
    tasks = [rig.blocked() for _ in range(3)]
    cool_down(rig)
    assert rig.open() == [tasks[0].task_id]
    assert rig.open() == []
    assert rig.claim(rig.record(tasks[0]), "w2#1").code == "run"
    late = rig.queued()
    assert rig.claim(late, "w3#1").code == "blocked"
    assert rig.record(late).gate == "breaker"


def test_a_success_closes_it_and_releases_what_waits(rig: Rig) -> None:
    rig.shop("s1", concurrency=2)
    trip(rig)
    tasks = [rig.blocked() for _ in range(3)]
    cool_down(rig)
    rig.open()
    probe = rig.claim(rig.record(tasks[0]), "w2#1").task
    assert probe is not None
    assert [task.task_id for task in rig.finish(probe).released] == [task.task_id for task in tasks[1:]]
    assert rig.store.breakers() == []


def test_a_failure_opens_it_for_twice_as_long_up_to_a_cap(rig: Rig) -> None:
    trip(rig)
    waiting = rig.blocked()
    lengths = []
    for number in range(2):
        cool_down(rig)
        probe = rig.claim(rig.record(waiting), f"w{number}#2").task
        assert probe is not None
        assert probe.status == Status.RUNNING
        assert rig.finish(probe, "retrying", delay_ms=1, error_kind="timeout").released == ()
        lengths.append(round((opened(rig).until - rig.record(waiting).updated_at) / 1000))
    assert lengths == [1200, 1500]
    assert (opened(rig).times, opened(rig).kind) == (3, "timeout")


def test_an_attempt_that_began_before_says_nothing_new(rig: Rig) -> None:
    rig.shop("s1", concurrency=3)
    old, older, oldest = rig.running("w1#1"), rig.running("w2#1"), rig.running("w3#1")
    rig.pass_time(0.02)
    rig.shop("s1", concurrency=4)
    trip(rig)
    before = opened(rig)
    rig.finish(old)
    assert opened(rig) == before
    cool_down(rig)
    before = opened(rig)
    rig.finish(older)
    rig.finish(oldest, "dead", error_kind="network")
    assert opened(rig) == before, "they are no probes"


def test_a_probe_that_says_nothing_lets_another_one_try(rig: Rig) -> None:
    trip(rig)
    first, second = rig.blocked(), rig.blocked()
    cool_down(rig)
    rig.open()
    probe = rig.claim(rig.record(first), "w2#1").task
    assert probe is not None
    answer = rig.finish(probe, "dead", error_kind="bad_payload")
    assert [task.task_id for task in answer.released] == [second.task_id]
    assert opened(rig).times == 1


def test_a_message_may_be_the_probe(rig: Rig) -> None:
    trip(rig)
    cool_down(rig)
    assert rig.claim(rig.queued()).code == "run"


def test_a_person_closes_it(rig: Rig) -> None:
    rule(rig, failures=1, of=1, cooldown_s=600, max_cooldown_s=600)
    ends(rig)
    waiting = rig.blocked()
    answer = rig.ask(CloseBreaker(shop="pdd:s1"))
    assert (answer.code, [task.task_id for task in answer.released]) == ("ok", [waiting.task_id])
    assert rig.store.breakers() == []
    assert rig.ask(CloseBreaker(shop="pdd:s1")).code == "stale"


def test_a_rule_that_cannot_be_read_is_the_default(rig: Rig) -> None:
    rig.store.put_document("fleet", "breaker", "{not json")
    for _ in range(5):
        ends(rig)
    assert opened(rig).until == opened(rig).since + 60_000
