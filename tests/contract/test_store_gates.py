"""Gates, lots and reservations: why a claimed task waits, and who goes next."""

from __future__ import annotations

import pytest

from services.domain.change import Cancel, Claim, Create, Move, OpenShop
from services.domain.fleet.shop import Pause
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.contract.rig import Rig


def run_count(rig: Rig, shop: str) -> int:
    return rig.store.counts().shops.get(shop, {}).get("running", 0)


# --------------------------------------------------------------------- shop busy
def test_one_task_of_a_shop_at_a_time(rig: Rig) -> None:
    rig.running()
    second = rig.queued()
    start = rig.store.events("", 1, 0).cursor
    answer = rig.claim(second, "w2#1")
    assert answer.code == "blocked"
    record = rig.record(second)
    assert (record.status, record.gate, record.attempt, record.owner) == (Status.BLOCKED, "shop_busy", 0, "")
    assert record == answer.task
    assert [(e.from_, e.to) for e in rig.all_events(start)] == [("queued", "blocked")]
    assert record.steps[-1].note == "shop_busy"
    assert rig.store.parked_shops(10) == ["pdd:s1"]


def test_parked_before_its_confirmation_it_has_no_mark(rig: Rig) -> None:
    rig.running()
    second = rig.create()
    assert rig.claim(second).code == "blocked"
    assert rig.outbox() == set()
    assert rig.confirm(second).code == "stale"
    assert rig.record(second).status == Status.BLOCKED


def test_a_blocked_claim_again_says_the_same(rig: Rig) -> None:
    rig.running()
    parked = rig.blocked()
    start = rig.store.events("", 1, 0).cursor
    answer = rig.claim(parked, "w9#9")
    assert (answer.code, answer.task) == ("blocked", parked)
    assert rig.all_events(start) == []


def test_another_shop_does_not_wait(rig: Rig) -> None:
    rig.running(shop_id="s1")
    rig.running(shop_id="s2")
    rig.running(shop_id="s1", platform="temu")


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_as_many_as_the_shop_allows(rig: Rig, slots: int) -> None:
    rig.shop("s1", concurrency=slots)
    for number in range(slots):
        rig.running(f"w{number}#1")
    assert rig.claim(rig.queued(), "wx#1").code == "blocked"
    assert run_count(rig, "pdd:s1") == slots


def test_the_end_of_a_task_releases_the_best_of_the_lot(rig: Rig) -> None:
    now = rig.store.now_ms()
    first = rig.running(uniq="")
    low = rig.blocked(priority=2, lane="low", created_at=now - 9000)
    young = rig.blocked(priority=6, created_at=now - 100)
    old = rig.blocked(priority=6, created_at=now - 5000)
    answer = rig.finish(first)
    assert [task.task_id for task in answer.released] == [old.task_id]
    (released,) = answer.released
    assert (released.status, released.gate, released.attempt) == (Status.PENDING, "", 0)
    assert rig.record(old) == released
    assert rig.outbox() == {old.task_id}
    assert {rig.record(task).status for task in (low, young)} == {Status.BLOCKED}


def test_equal_rank_is_decided_by_the_id(rig: Rig) -> None:
    first = rig.running()
    now = rig.store.now_ms()
    ids = [rig.blocked(task_id=f"t_{letter}", created_at=now).task_id for letter in "cab"]
    assert [task.task_id for task in rig.finish(first).released] == [sorted(ids)[0]]


def test_nobody_overtakes_a_reservation(rig: Rig) -> None:
    first = rig.running()
    parked = rig.blocked()
    (released,) = rig.finish(first).released
    late = rig.queued(priority=10, lane="high")
    assert rig.claim(late, "w2#1").code == "blocked"
    rig.confirm(released)
    answer = rig.claim(rig.record(parked), "w3#1")
    assert answer.code == "run"


def test_a_reservation_of_two_slots_leaves_the_other_free(rig: Rig) -> None:
    rig.shop("s1", concurrency=2)
    first = rig.running("w1#1")
    rig.running("w2#1")
    rig.blocked()
    assert len(rig.finish(first).released) == 1
    assert rig.open() == []


def test_a_reservation_expires_and_whoever_it_was_for_may_still_come(rig: Rig) -> None:
    """Two shops, because the half minute passes in real time where the clock is a server's."""
    firsts = {shop: rig.running(f"{shop}#1", shop_id=shop) for shop in ("s1", "s2")}
    parked = {shop: rig.blocked(shop_id=shop) for shop in ("s1", "s2")}
    late = rig.queued()
    assert len(rig.finish(firsts["s1"]).released) == 1
    assert rig.claim(late, "w2#1").code == "blocked"
    rig.finish(firsts["s2"])
    rig.pass_time(31)
    assert rig.open() == [late.task_id]
    assert rig.claim(rig.record(parked["s2"]), "w2#1").code == "run"


def test_the_same_finish_again_releases_nobody_else(rig: Rig) -> None:
    first = rig.running()
    rig.blocked()
    rig.blocked()
    assert len(rig.finish(first).released) == 1
    assert rig.finish(first).released == ()


def test_cancelling_the_reserved_task_passes_the_slot_on(rig: Rig) -> None:
    first = rig.running()
    rig.blocked(priority=9)
    second = rig.blocked(priority=5)
    (released,) = rig.finish(first).released
    answer = rig.ask(Cancel(task_id=released.task_id, by="ann"))
    assert answer.code == "ok"
    assert [task.task_id for task in answer.released] == [second.task_id]


def test_more_slots_release_more(rig: Rig) -> None:
    rig.running()
    parked = {rig.blocked().task_id for _ in range(3)}
    assert rig.open() == []
    rig.shop("s1", concurrency=3)
    released = rig.open()
    assert len(released) == 2
    assert set(released) < parked
    assert rig.open() == []


def test_a_shop_with_an_empty_lot_has_nothing_to_open(rig: Rig) -> None:
    assert rig.open() == []
    assert rig.open("nobody:knows") == []
    assert rig.store.parked_shops(10) == []


@pytest.mark.parametrize("to", ["succeeded", "dead", "retrying", "held", "cancelled", "pending"])
def test_every_end_of_an_attempt_frees_the_slot(rig: Rig, to: str) -> None:
    first = rig.running()
    parked = rig.blocked()
    answer = rig.finish(first, to)
    assert answer.code == "ok"
    assert [task.task_id for task in answer.released] == [parked.task_id]


def test_a_task_given_back_waits_behind_the_lot(rig: Rig) -> None:
    first = rig.running()
    rig.blocked()
    back = rig.finish(first, "pending").task
    assert back is not None
    assert rig.claim(back, "w2#1").code == "blocked"


def test_a_parked_task_whose_message_comes_again_runs_if_its_gate_is_open(rig: Rig) -> None:
    rig.store.set_pause(Pause(scope="all", by="ann"))
    task = rig.queued()
    assert rig.claim(task).code == "blocked"
    rig.store.clear_pause("all")
    answer = rig.claim(task, "w2#1")
    assert answer.code == "run"
    assert rig.record(task).gate == ""
    assert rig.store.parked_shops(10) == []


def test_claims_in_one_batch_respect_each_other(rig: Rig) -> None:
    rig.shop("s1", concurrency=2)
    tasks = [rig.queued() for _ in range(4)]
    ops = [
        Claim(task_id=task.task_id, gen=0, attempt=0, owner=f"w#{number}", worker="w", lease_ms=60_000)
        for number, task in enumerate(tasks)
    ]
    assert [answer.code for answer in rig.store.apply(ops)] == ["run", "run", "blocked", "blocked"]


# ------------------------------------------------------------------------- pauses
SCOPES = ["all", "platform:pdd", "shop:pdd:s1", "type:sync_order"]


@pytest.mark.parametrize("scope", SCOPES)
def test_a_pause_parks(rig: Rig, scope: str) -> None:
    task = rig.queued()
    rig.store.set_pause(Pause(scope=scope, by="ann"))
    assert rig.claim(task).code == "blocked"
    assert rig.record(task).gate == "paused"
    assert rig.open() == []
    assert rig.store.clear_pause(scope)
    assert rig.open() == [task.task_id]


@pytest.mark.parametrize("scope", ["platform:temu", "shop:pdd:s2", "shop:temu:s1", "type:other"])
def test_a_pause_of_others_parks_nobody(rig: Rig, scope: str) -> None:
    rig.store.set_pause(Pause(scope=scope, by="ann"))
    rig.running()


def test_the_first_closed_gate_is_named(rig: Rig) -> None:
    rig.running(uniq="U")
    twin = rig.ask(Create(task=rig.task(uniq="U"), on_duplicate="queue")).task
    assert twin is not None
    assert rig.claim(twin, "w2#1").code == "blocked"
    assert rig.record(twin).gate == "shop_busy"
    rig.store.set_pause(Pause(scope="all", by="ann"))
    other = rig.queued()
    assert rig.claim(other, "w3#1").code == "blocked"
    assert rig.record(other).gate == "paused"


def test_a_running_task_goes_on_under_a_pause(rig: Rig) -> None:
    first = rig.running()
    rig.store.set_pause(Pause(scope="all", by="ann"))
    answer = rig.finish(first)
    assert answer.code == "ok"


def test_an_ended_task_releases_nobody_into_a_pause(rig: Rig) -> None:
    first = rig.running()
    parked = rig.blocked()
    rig.store.set_pause(Pause(scope="shop:pdd:s1", by="ann"))
    assert rig.finish(first).released == ()
    rig.store.clear_pause("shop:pdd:s1")
    assert rig.open() == [parked.task_id]


def test_a_paused_type_does_not_hold_up_the_lot(rig: Rig) -> None:
    first = rig.running()
    rig.blocked(task_type="batch_reply", priority=10, lane="high")
    plain = rig.blocked(priority=2, lane="low")
    rig.store.set_pause(Pause(scope="type:batch_reply", by="ann"))
    assert [task.task_id for task in rig.finish(first).released] == [plain.task_id]


def test_paused_after_its_release_it_is_parked_again_and_gives_its_slot_on(rig: Rig) -> None:
    first = rig.running()
    rig.blocked(task_type="batch_reply", priority=9)
    plain = rig.blocked(priority=5)
    (released,) = rig.finish(first).released
    rig.store.set_pause(Pause(scope="type:batch_reply", by="ann"))
    assert rig.claim(released, "w2#1").code == "blocked"
    assert rig.open() == [plain.task_id]


# -------------------------------------------------------------------------- twins
def twins(rig: Rig, count: int = 2) -> list[Task]:
    """Queued tasks of one uniqueness in a shop with room, created a second apart."""
    rig.shop("s1", concurrency=10)
    now = rig.store.now_ms()
    made = []
    for number in range(count):
        task = rig.task(uniq="U", created_at=now - 10_000 + number * 1000)
        answer = rig.ask(Create(task=task, on_duplicate="queue"))
        assert answer.task is not None
        rig.confirm(answer.task)
        made.append(rig.record(task))
    return made


def test_a_twin_waits_until_the_first_has_ended(rig: Rig) -> None:
    first, second, third = twins(rig, 3)
    running = rig.claim(first, "w1#1").task
    assert running is not None
    for twin in (second, third):
        assert rig.claim(twin, "w2#1").code == "blocked"
        assert (rig.record(twin).gate, rig.record(twin).marks) == ("twin", ("twin",))
    assert rig.open() == []
    answer = rig.finish(running)
    assert [task.task_id for task in answer.released] == [second.task_id]
    (released,) = answer.released
    assert rig.claim(released, "w3#1").code == "run"
    assert rig.record(third).status == Status.BLOCKED


def test_the_later_twin_waits_even_if_its_message_comes_first(rig: Rig) -> None:
    first, second = twins(rig)
    assert rig.claim(second, "w1#1").code == "blocked"
    assert rig.claim(first, "w2#1").code == "run"


def test_a_retrying_first_still_goes_first(rig: Rig) -> None:
    first, second = twins(rig)
    running = rig.claim(first, "w1#1").task
    assert running is not None
    rig.finish(running, "retrying", delay_ms=60_000)
    assert rig.claim(second, "w2#1").code == "blocked"


def test_a_scheduled_twin_does_not_hold_up(rig: Rig) -> None:
    now = rig.store.now_ms()
    rig.create(status=Status.SCHEDULED, due_at=now + 3_600_000, uniq="U", created_at=now - 60_000)
    second = rig.ask(Create(task=rig.task(uniq="U"), on_duplicate="queue")).task
    assert second is not None
    assert rig.claim(second).code == "run"


def test_an_older_task_does_not_start_beside_a_running_twin(rig: Rig) -> None:
    rig.shop("s1", concurrency=10)
    now = rig.store.now_ms()
    plan = rig.create(status=Status.SCHEDULED, due_at=now + 3_600_000, uniq="U", created_at=now - 60_000)
    second = rig.ask(Create(task=rig.task(uniq="U"), on_duplicate="queue")).task
    assert second is not None
    running = rig.claim(second, "w1#1").task
    assert running is not None
    moved = rig.ask(Move(task_id=plan.task_id, by="ann", lane=plan.lane, priority=plan.priority, run_now=True)).task
    assert moved is not None
    assert rig.claim(moved, "w2#1").code == "blocked"
    assert rig.record(plan).gate == "twin"
    assert [task.task_id for task in rig.finish(running).released] == [plan.task_id]


def test_a_held_twin_keeps_the_gate_closed(rig: Rig) -> None:
    first, second = twins(rig)
    running = rig.claim(first, "w1#1").task
    assert running is not None
    rig.finish(running, "held")
    assert rig.claim(second, "w2#1").code == "blocked"


def test_cancelling_the_first_lets_the_twin_go(rig: Rig) -> None:
    first, second = twins(rig)
    assert rig.claim(second, "w1#1").code == "blocked"
    answer = rig.ask(Cancel(task_id=first.task_id, by="ann"))
    assert answer.code == "ok"
    assert [task.task_id for task in answer.released] == [second.task_id]


def test_a_foreign_twin_is_never_refused_but_waits(rig: Rig) -> None:
    rig.shop("s1", concurrency=10)
    rig.running(uniq="U")
    foreign = rig.task(uniq="U", status=Status.QUEUED, origin="foreign", marks=("foreign",))
    answer = rig.claim(foreign, "w2#1", adopt=foreign)
    assert answer.code == "blocked"
    assert answer.task is not None
    assert (answer.task.gate, set(answer.task.marks)) == ("twin", {"foreign", "twin"})


def test_forced_runs_beside_it(rig: Rig) -> None:
    rig.shop("s1", concurrency=2)
    rig.running(uniq="U")
    forced = rig.ask(Create(task=rig.task(uniq="U"), on_duplicate="force")).task
    assert forced is not None
    assert rig.claim(forced, "w2#1").code == "run"


def test_a_closed_twin_gate_does_not_hold_up_the_lot(rig: Rig) -> None:
    rig.shop("s1", concurrency=2)
    rig.running("w1#1", uniq="U")
    other = rig.running("w2#1")
    twin = rig.ask(Create(task=rig.task(uniq="U", priority=10, lane="high"), on_duplicate="queue")).task
    assert twin is not None
    assert rig.claim(twin, "w3#1").code == "blocked"
    plain = rig.blocked(priority=2, lane="low")
    assert [task.task_id for task in rig.finish(other).released] == [plain.task_id]


# --------------------------------------------------------------------------- lots
def test_a_new_priority_is_a_new_place_in_the_lot(rig: Rig) -> None:
    first = rig.running()
    one, two = rig.blocked(priority=5), rig.blocked(priority=5)
    last = max(one, two, key=lambda task: (task.created_at, task.task_id))
    moved = rig.ask(Move(task_id=last.task_id, by="ann", lane="high", priority=10))
    assert moved.code == "ok"
    assert moved.task is not None
    assert (moved.task.status, moved.task.gen, moved.task.priority, moved.released) == (Status.BLOCKED, 1, 10, ())
    assert [task.task_id for task in rig.finish(first).released] == [last.task_id]


def test_moving_a_parked_task_opens_an_open_gate(rig: Rig) -> None:
    rig.store.set_pause(Pause(scope="all", by="ann"))
    task = rig.queued()
    assert rig.claim(task).code == "blocked"
    rig.store.clear_pause("all")
    answer = rig.ask(Move(task_id=task.task_id, by="ann", lane="high", priority=10))
    assert [(t.task_id, t.status, t.gen) for t in answer.released] == [(task.task_id, Status.PENDING, 1)]
    assert answer.task == answer.released[0]
    assert rig.outbox() == {task.task_id}


def test_cancelling_in_the_lot_frees_no_slot(rig: Rig) -> None:
    rig.running()
    one, two = rig.blocked(), rig.blocked()
    answer = rig.ask(Cancel(task_id=one.task_id, by="ann"))
    assert (answer.code, answer.released) == ("ok", ())
    assert rig.record(two).status == Status.BLOCKED


def test_parked_shops_names_every_lot(rig: Rig) -> None:
    for number in range(5):
        rig.running(shop_id=f"s{number}")
        rig.blocked(shop_id=f"s{number}")
    assert sorted(rig.store.parked_shops(10)) == [f"pdd:s{number}" for number in range(5)]
    assert len(rig.store.parked_shops(3)) == 3


def test_a_long_lot_drains_in_order(rig: Rig) -> None:
    now = rig.store.now_ms()
    running = rig.running()
    parked = [rig.blocked(priority=1 + number % 3, created_at=now - 1000 + number) for number in range(12)]
    order = [task.task_id for task in sorted(parked, key=lambda task: (-task.priority, task.created_at))]
    drained = []
    while (answer := rig.finish(running)).released:
        (released,) = answer.released
        drained.append(released.task_id)
        claimed = rig.claim(released, f"w#{len(drained)}")
        assert claimed.code == "run"
        assert claimed.task is not None
        running = claimed.task
    assert drained == order
    assert rig.store.counts().status == {"succeeded": 13}


def test_behind_very_many_twins_a_paused_type_waits_too(rig: Rig) -> None:
    rig.shop("s1", concurrency=3)
    first = rig.running(uniq="U")
    many = [Create(task=rig.task(uniq="U"), on_duplicate="queue") for _ in range(450)]
    for answer in rig.store.apply(many):
        assert answer.task is not None
        if answer.task.status == Status.PENDING:
            rig.confirm(answer.task)
            assert rig.claim(rig.record(answer.task), "w2#1").code == "blocked"
    rig.store.set_pause(Pause(scope="type:report", by="ann"))
    paused = [rig.claim(rig.queued(task_type="report", priority=10, lane="high"), "w2#1").task for _ in range(2)]
    assert [task.gate if task is not None else "" for task in paused] == ["paused", "paused"]
    for _ in range(3):
        assert rig.open() == []
    assert rig.record(first).status == Status.RUNNING


def test_open_shop_is_safe_to_repeat(rig: Rig) -> None:
    rig.shop("s1", concurrency=3)
    rig.store.set_pause(Pause(scope="all", by="ann"))
    for _ in range(5):
        rig.claim(rig.queued())
    rig.store.clear_pause("all")
    answers = rig.store.apply([OpenShop(shop="pdd:s1"), OpenShop(shop="pdd:s1")])
    assert [len(answer.released) for answer in answers] == [3, 0]
