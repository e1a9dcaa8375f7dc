"""Limits of platforms and types: who waits at them, who goes next of all shops, and how starts are counted."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from services.clock import ManualClock
from services.domain.change import Cancel, Create, Move, OpenLimit, OpenShop
from services.domain.fleet.shop import Pause
from services.domain.gates.limit import Limit, LimitNow
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.store.redis import keys
from tests.contract.conftest import open_store
from tests.contract.rig import Rig

PDD, ORDERS = "platform:pdd", "type:sync_order"


def limit(rig: Rig, scope: str = PDD, concurrency: int = 0, per_minute: int = 0) -> None:
    rig.store.put_limit(Limit(scope=scope, concurrency=concurrency, per_minute=per_minute))


def now(rig: Rig, scope: str = PDD) -> LimitNow:
    (found,) = [one for one in rig.store.limits() if one.limit.scope == scope]
    return found


def released(rig: Rig, scope: str = PDD, most: int = 20) -> list[str]:
    answer = rig.ask(OpenLimit(scope=scope, most=most))
    assert answer.code == "ok"
    return [task.task_id for task in answer.released]


def starts_age(rig: Rig, seconds: int) -> None:
    """Let the starts of the minute lie so much further back; Redis has no clock that can be turned."""
    if rig.clock is not None:
        rig.clock.advance(seconds)
        return
    redis = rig.store._link  # type: ignore[attr-defined]
    for key in redis.call("KEYS", keys.LIMIT_STARTS + "*"):
        found = redis.call("HGETALL", key)
        redis.call("DEL", key)
        for second, n in found.items():
            redis.call("HSET", key, int(second) - seconds, n)


def parked(rig: Rig, shop_id: str, gate: str = "quota", **fields: object) -> Task:
    task = rig.blocked(shop_id=shop_id, **fields)
    assert task.gate == gate
    return task


# ------------------------------------------------------------------------ concurrency
@pytest.mark.parametrize("scope", [PDD, ORDERS])
def test_no_more_run_than_the_limit_allows(rig: Rig, scope: str) -> None:
    limit(rig, scope, 2)
    for number in range(2):
        rig.running(f"w{number}#1", shop_id=f"s{number}")
    parked(rig, "s2")
    assert (now(rig, scope).running, now(rig, scope).full, now(rig, scope).waiting) == (2, True, 1)


@pytest.mark.parametrize("scope", ["platform:temu", "type:other"])
def test_others_do_not_count(rig: Rig, scope: str) -> None:
    limit(rig, scope, 1)
    rig.running(shop_id="s1")
    rig.running(shop_id="s2")
    assert now(rig, scope).running == 0


def test_what_runs_when_the_limit_is_set_counts(rig: Rig) -> None:
    rig.running(shop_id="s1")
    limit(rig, concurrency=1)
    assert now(rig).running == 1
    parked(rig, "s2")


def test_a_busy_shop_comes_before_the_limit(rig: Rig) -> None:
    limit(rig, concurrency=1)
    rig.running(shop_id="s1")
    parked(rig, "s1", "shop_busy")


def test_a_slot_that_frees_goes_to_the_best_of_all_shops(rig: Rig) -> None:
    limit(rig, concurrency=1)
    at = rig.store.now_ms()
    first = rig.running(shop_id="s0")
    parked(rig, "s1", priority=2, lane="low", created_at=at - 9000)
    young = parked(rig, "s2", priority=6, created_at=at - 100)
    old = parked(rig, "s3", priority=6, created_at=at - 5000)
    answer = rig.finish(first)
    assert [task.task_id for task in answer.released] == [old.task_id]
    assert rig.outbox() == {old.task_id}
    running = rig.claim(rig.record(old), "w2#1").task
    assert running is not None
    assert [task.task_id for task in rig.finish(running).released] == [young.task_id]


def test_own_shop_has_no_advantage(rig: Rig) -> None:
    limit(rig, concurrency=1)
    first = rig.running(shop_id="s1")
    parked(rig, "s1", "shop_busy", priority=5)
    best = parked(rig, "s2", priority=6)
    assert [task.task_id for task in rig.finish(first).released] == [best.task_id]


def test_own_shop_goes_first_if_it_is_the_best(rig: Rig) -> None:
    limit(rig, concurrency=1)
    first = rig.running(shop_id="s1")
    parked(rig, "s2", priority=5)
    best = parked(rig, "s1", "shop_busy", priority=6)
    assert [task.task_id for task in rig.finish(first).released] == [best.task_id]


def test_nobody_overtakes_the_promised_one(rig: Rig) -> None:
    limit(rig, concurrency=1)
    first = rig.running(shop_id="s1")
    waiting = parked(rig, "s2")
    rig.finish(first)
    assert now(rig).promised == 1
    parked(rig, "s3", priority=10, lane="high")
    assert rig.claim(rig.record(waiting), "w2#1").code == "run"
    assert (now(rig).running, now(rig).promised) == (1, 0)


def test_a_promise_expires(rig: Rig) -> None:
    limit(rig, concurrency=1)
    first = rig.running(shop_id="s1")
    parked(rig, "s2")
    late = parked(rig, "s3")
    rig.finish(first)
    assert released(rig) == []
    rig.pass_time(31)
    assert released(rig) == [late.task_id]


def test_a_busy_shop_is_passed_over_and_its_task_is_not_lost(rig: Rig) -> None:
    limit(rig, concurrency=2)
    one, two = rig.running("w1#1", shop_id="s1"), rig.running("w2#1", shop_id="s2")
    best = parked(rig, "s3", priority=9, lane="high")
    second = parked(rig, "s3", priority=8, lane="high")
    plain = parked(rig, "s4", priority=5)
    assert [task.task_id for task in rig.finish(one).released] == [best.task_id]
    assert [task.task_id for task in rig.finish(two).released] == [plain.task_id], "s3 has its one slot promised"
    running = rig.claim(rig.record(best), "w3#1").task
    assert running is not None
    assert [task.task_id for task in rig.finish(running).released] == [second.task_id]


def test_a_paused_shop_is_passed_over(rig: Rig) -> None:
    limit(rig, concurrency=1)
    first = rig.running(shop_id="s1")
    best = parked(rig, "s2", priority=9, lane="high")
    plain = parked(rig, "s3", priority=5)
    rig.store.set_pause(Pause(scope="shop:pdd:s2", by="ann"))
    assert [task.task_id for task in rig.finish(first).released] == [plain.task_id]
    rig.store.clear_pause("shop:pdd:s2")
    assert rig.open("pdd:s2") == [], "the limit is used up"
    assert rig.record(best).status == Status.BLOCKED
    running = rig.claim(rig.record(plain), "w2#1").task
    assert running is not None
    assert [task.task_id for task in rig.finish(running).released] == [best.task_id]


def test_both_limits_must_have_room(rig: Rig) -> None:
    limit(rig, PDD, 2)
    limit(rig, ORDERS, 1)
    first = rig.running("w1#1", shop_id="s1")
    waiting = parked(rig, "s2")
    other = rig.running("w2#1", shop_id="s3", task_type="batch_reply")
    parked(rig, "s4", task_type="batch_reply")
    assert rig.finish(other).released != ()
    assert (now(rig, PDD).promised, now(rig, ORDERS).promised) == (1, 0)
    assert [task.task_id for task in rig.finish(first).released] == [waiting.task_id]
    assert (now(rig, PDD).promised, now(rig, ORDERS).promised) == (2, 1)


def test_a_lot_behind_the_other_limit_waits_there(rig: Rig) -> None:
    limit(rig, PDD, 2)
    limit(rig, ORDERS, 1)
    rig.running("w1#1", shop_id="s1")
    other = rig.running("w2#1", shop_id="s2", task_type="t")
    orders = parked(rig, "s3", priority=9, lane="high")
    plain = parked(rig, "s4", task_type="t")
    assert [task.task_id for task in rig.finish(other).released] == [plain.task_id]
    assert rig.record(orders).status == Status.BLOCKED


def test_a_higher_limit_releases_more_when_asked(rig: Rig) -> None:
    limit(rig, concurrency=1)
    rig.running(shop_id="s0")
    tasks = [parked(rig, f"s{number}") for number in range(1, 5)]
    assert released(rig) == []
    limit(rig, concurrency=3)
    assert released(rig, most=1) == [tasks[0].task_id]
    assert released(rig) == [tasks[1].task_id]
    limit(rig)
    assert rig.store.limits() == []
    assert rig.store.waiting_limits() == [PDD]
    assert released(rig) == [task.task_id for task in tasks[2:]]
    assert released(rig) == []
    assert rig.store.waiting_limits() == []


def test_a_shop_of_many_tasks_keeps_its_place(rig: Rig) -> None:
    limit(rig, concurrency=2)
    rig.shop("s1", concurrency=5)
    one, two = rig.running("w1#1", shop_id="s8"), rig.running("w2#1", shop_id="s9")
    many = [parked(rig, "s1") for _ in range(3)]
    assert [task.task_id for task in rig.finish(one).released] == [many[0].task_id]
    assert [task.task_id for task in rig.finish(two).released] == [many[1].task_id]
    limit(rig, concurrency=3)
    assert released(rig) == [many[2].task_id]


def test_a_new_priority_counts_at_the_limit(rig: Rig) -> None:
    limit(rig, concurrency=1)
    first = rig.running(shop_id="s1")
    parked(rig, "s2", priority=6)
    last = parked(rig, "s3", priority=5)
    rig.ask(Move(task_id=last.task_id, by="ann", lane="high", priority=10))
    assert [task.task_id for task in rig.finish(first).released] == [last.task_id]


def test_a_cancelled_head_leaves_its_place_to_what_is_next(rig: Rig) -> None:
    limit(rig, concurrency=1)
    first = rig.running(shop_id="s1")
    best = parked(rig, "s2", priority=9, lane="high")
    low = parked(rig, "s2", priority=2, lane="low")
    plain = parked(rig, "s3", priority=5)
    assert rig.ask(Cancel(task_id=best.task_id, by="ann")).released == ()
    assert [task.task_id for task in rig.finish(first).released] == [plain.task_id]
    assert rig.record(low).status == Status.BLOCKED


def test_cancelling_the_promised_one_passes_the_place_on(rig: Rig) -> None:
    limit(rig, concurrency=1)
    first = rig.running(shop_id="s1")
    best, second = parked(rig, "s2", priority=9, lane="high"), parked(rig, "s3")
    rig.finish(first)
    answer = rig.ask(Cancel(task_id=best.task_id, by="ann"))
    assert [task.task_id for task in answer.released] == [second.task_id]


def test_a_promised_task_that_meets_another_gate_passes_the_place_on(rig: Rig) -> None:
    limit(rig, concurrency=1)
    first = rig.running(shop_id="s1")
    best, second = parked(rig, "s2", priority=9, lane="high"), parked(rig, "s3")
    rig.finish(first)
    rig.store.set_pause(Pause(scope="shop:pdd:s2", by="ann"))
    answer = rig.claim(rig.record(best), "w2#1")
    assert (answer.code, rig.record(best).gate) == ("blocked", "paused")
    assert [task.task_id for task in answer.released] == [second.task_id]


def test_a_twin_behind_the_limit_does_not_hold_up_its_lot(rig: Rig) -> None:
    limit(rig, concurrency=2)
    rig.shop("s1", concurrency=3)
    rig.running("w1#1", uniq="U")
    other = rig.running("w2#1", shop_id="s2")
    twin = rig.ask(Create(task=rig.task(uniq="U", priority=9, lane="high"), on_duplicate="queue")).task
    assert twin is not None
    assert rig.claim(twin, "w3#1").code == "blocked"
    assert rig.record(twin).gate == "quota"
    plain = parked(rig, "s1", uniq="")
    assert [task.task_id for task in rig.finish(other).released] == [plain.task_id]


def test_many_busy_shops_are_looked_at_once(rig: Rig) -> None:
    """Lots of shops that became busy leave the limit; the task behind them is found within a few steps."""
    limit(rig, concurrency=1)
    first = rig.running(shop_id="s0")
    for number in range(30):
        parked(rig, f"b{number}", priority=9, lane="high")
    plain = parked(rig, "s1", priority=5)
    for number in range(30):
        rig.store.set_pause(Pause(scope=f"shop:pdd:b{number}", by="ann"))
    found = [task.task_id for task in rig.finish(first).released] or released(rig)
    assert found == [plain.task_id]
    assert now(rig).waiting == 0
    for number in range(30):
        rig.store.clear_pause(f"shop:pdd:b{number}")
        assert rig.open(f"pdd:b{number}") == []
    assert now(rig).waiting == 30


def test_limits_survive_and_a_recount_changes_nothing(rig: Rig) -> None:
    limit(rig, concurrency=7, per_minute=9)
    rig.running(shop_id="s1")
    before = rig.store.limits()
    rig.store.recount_limits()
    assert rig.store.limits() == before
    assert before[0].limit == Limit(scope=PDD, concurrency=7, per_minute=9)


# ---------------------------------------------------------------------------- rate
def test_starts_are_counted_and_the_next_one_waits(rig: Rig) -> None:
    limit(rig, per_minute=2)
    for number in range(2):
        rig.finish(rig.running(f"w{number}#1", shop_id=f"s{number}"))
    task = parked(rig, "s3")
    seen = now(rig)
    assert (seen.running, seen.started, seen.full) == (0, 2, True)
    assert 30_000 <= seen.resets_at - rig.store.now_ms() <= 61_000
    assert seen.opens_by_itself
    assert released(rig) == []
    starts_age(rig, 62)
    assert now(rig).started == 0
    assert released(rig) == [task.task_id]
    assert rig.claim(rig.record(task), "w9#1").code == "run"
    assert now(rig).started == 1


def test_a_start_is_counted_when_the_claim_is_granted_only(rig: Rig) -> None:
    limit(rig, per_minute=1)
    rig.queued(shop_id="s1")
    assert now(rig).started == 0
    rig.store.set_pause(Pause(scope="all", by="ann"))
    parked(rig, "s2", "paused")
    assert now(rig).started == 0
    rig.store.clear_pause("all")
    rig.running(shop_id="s3")
    assert now(rig).started == 1


def test_promises_count_as_starts(rig: Rig) -> None:
    limit(rig, per_minute=3)
    rig.finish(rig.running(shop_id="s1"))
    rig.store.set_pause(Pause(scope="all", by="ann"))
    for number in range(4):
        parked(rig, f"p{number}", "paused")
    rig.store.clear_pause("all")
    assert sum(len(rig.open(f"pdd:p{number}")) for number in range(4)) == 2
    assert now(rig).waiting == 2


def test_the_window_slides(rig: Rig) -> None:
    limit(rig, per_minute=2)
    rig.running("w1#1", shop_id="s1")
    starts_age(rig, 40)
    rig.running("w2#1", shop_id="s2")
    waiting = [parked(rig, f"p{number}") for number in range(2)]
    starts_age(rig, 22)
    assert released(rig) == [waiting[0].task_id]
    assert released(rig) == []


def test_a_start_counts_for_a_whole_minute(rig: Rig) -> None:
    """However late in its second it was: never more than so many within any 60 s."""
    limit(rig, per_minute=1)
    rig.finish(rig.running("w1#1", shop_id="s1"))
    if rig.clock is None:
        starts_age(rig, 58)  # and two seconds for a machine that compiles beside the tests
        assert now(rig).full
        assert rig.claim(rig.queued(shop_id="s2"), "w2#1").code == "blocked"
        return
    rig.clock.advance(60)
    assert now(rig).full
    waiting = parked(rig, "s2")
    rig.clock.advance(1)
    assert not now(rig).full
    assert released(rig) == [waiting.task_id]


def test_starts_of_a_clock_that_was_ahead_do_not_count(rig: Rig, store_kind: str, store_place: Any) -> None:
    """Set right, it would have to reach them first, and nothing could start until then."""
    limit(rig, per_minute=1)
    if rig.clock is None:
        rig.finish(rig.running("w1#1", shop_id="s1"))
        starts_age(rig, -600)
    else:  # a file's own time stands still where a clock was set back by less
        ahead = ManualClock(rig.clock.now_ms() + 11 * 366 * 86_400_000)
        with closing(open_store(store_kind, store_place, ahead)) as store:
            early = Rig(store, ahead)
            early.finish(early.running("w1#1", shop_id="s1"))
    assert (now(rig).started, now(rig).full) == (0, False)
    assert rig.claim(rig.queued(shop_id="s2"), "w2#1").code == "run"
    assert now(rig).started == 1
    assert rig.claim(rig.queued(shop_id="s3"), "w3#1").code == "blocked", "those of the clock that is right do"


def test_who_waits_goes_before_a_message_that_comes_when_the_window_allows(rig: Rig) -> None:
    limit(rig, per_minute=1)
    rig.finish(rig.running(shop_id="s1"))
    waiting = parked(rig, "s2")
    late = rig.queued(shop_id="s3", created_at=rig.store.now_ms() + 1000)
    starts_age(rig, 62)
    answer = rig.claim(late, "w2#1")
    assert answer.code == "blocked"
    assert [task.task_id for task in answer.released] == [waiting.task_id]
    assert rig.claim(rig.record(waiting), "w3#1").code == "run"


def test_promised_counts_all_shops(rig: Rig) -> None:
    first, second = rig.running("w1#1", shop_id="s1"), rig.running("w2#1", shop_id="s2")
    rig.blocked(shop_id="s1")
    rig.blocked(shop_id="s2")
    assert rig.store.promised() == 0
    (one,) = rig.finish(first).released
    rig.finish(second)
    assert rig.store.promised() == 2
    rig.claim(one, "w3#1")
    assert rig.store.promised() == 1


def test_opening_a_shop_releases_no_more_than_asked_for(rig: Rig) -> None:
    """Who goes first at the limit counts too, though it is another shop's."""
    rig.shop("s1", concurrency=2)
    rig.shop("s2", concurrency=2)
    limit(rig, concurrency=1)
    keeper = rig.running(shop_id="s9", owner="w#0")
    first = rig.claim(rig.queued(shop_id="s2", priority=9), "w#1").task
    second = rig.claim(rig.queued(shop_id="s1", priority=3), "w#2").task
    assert first is not None
    assert second is not None
    limit(rig, concurrency=3)
    answer = rig.ask(OpenShop(shop="pdd:s1", most=1))
    assert [task.task_id for task in answer.released] == [first.task_id]
    assert rig.finish(keeper).code == "ok"
