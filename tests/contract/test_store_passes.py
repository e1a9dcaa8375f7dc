"""Try one anyway: one attempt passes a pause, quiet hours or an open breaker, and nothing else, on every store."""

from __future__ import annotations

import threading

import msgspec
import pytest

from services.domain.change import Answer, Cancel, CloseSession, Create, OpenLimit, OpenSession, TakeBackTry, Try
from services.domain.fleet.shop import Pause
from services.domain.gates import breaker, passing, quiet_hours
from services.domain.gates.limit import Limit
from services.domain.gates.quiet_hours import Windows
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.contract.rig import Rig

WHY = "the buyer is on the phone"


def let_through(rig: Rig, task: Task, by: str = "ann@desk", why: str = WHY) -> Answer:
    return rig.ask(Try(task_id=task.task_id, by=by, reason=why))


def pause(rig: Rig, scope: str = "shop:pdd:s1") -> None:
    rig.store.set_pause(Pause(scope=scope, by="bob@desk", reason="audit"))


def quiet(rig: Rig, scope: str = "shop:pdd:s1") -> None:
    now = rig.store.now_ms()
    found = Windows(scope=scope, windows=((now - 1000, now + 3_600_000),), until=now + 86_400_000, by="bob@desk")
    rig.store.put_document(quiet_hours.WINDOWS, "night", msgspec.json.encode(found).decode())


def trip(rig: Rig, shop_id: str = "s1") -> None:
    """Open the breaker of a shop for an hour."""
    rule = breaker.Rule(failures=1, of=1, cooldown_s=3600, max_cooldown_s=3600)
    rig.store.put_document(breaker.DOCUMENT, breaker.NAME, msgspec.json.encode(rule).decode())
    task = rig.running(shop_id=shop_id)
    rig.finish(task, "dead", error="late", error_kind="timeout")


def parked(rig: Rig, gate: str, **fields: object) -> Task:
    answer = rig.claim(rig.queued(**fields), "w9#9")
    assert answer.task is not None
    assert (answer.code, answer.task.gate) == ("blocked", gate)
    return answer.task


def given(rig: Rig) -> dict[str, passing.Pass]:
    return passing.DOCUMENT.readable(rig.store.documents(passing.KIND))


CLOSED = {"paused": pause, "quiet_hours": quiet, "breaker": trip}


@pytest.mark.parametrize("gate", sorted(CLOSED))
def test_one_attempt_passes_and_the_next_one_waits_again(rig: Rig, gate: str) -> None:
    CLOSED[gate](rig)
    task, other = parked(rig, gate), parked(rig, gate)
    answer = let_through(rig, task)
    assert answer.code == "ok"
    assert [one.task_id for one in answer.released] == [task.task_id]
    running = rig.claim(rig.record(task))
    assert running.task is not None
    assert running.code == "run"
    assert given(rig) == {}
    rig.shop(concurrency=5)
    assert rig.claim(rig.record(other)).code == "blocked"
    rig.finish(running.task, "retrying", delay_ms=0, error="net", error_kind="network")
    again = rig.record(task)
    assert rig.claim(again).code == "blocked"
    assert rig.record(task).gate == gate
    assert rig.open() == []


@pytest.mark.parametrize("gate", sorted(CLOSED))
def test_it_passes_with_the_message_that_is_under_way(rig: Rig, gate: str) -> None:
    CLOSED[gate](rig)
    task = rig.queued()
    answer = let_through(rig, task)
    assert (answer.code, answer.released) == ("ok", ())
    assert rig.claim(task).code == "run"


def test_the_gate_stays_closed_and_a_success_reopens_nothing(rig: Rig) -> None:
    trip(rig)
    task = parked(rig, "breaker")
    let_through(rig, task)
    running = rig.claim(rig.record(task)).task
    assert running is not None
    rig.finish(running)
    assert [one.shop for one in rig.store.breakers()] == ["pdd:s1"]
    assert rig.claim(rig.queued()).code == "blocked"


def test_who_and_why_stand_in_the_record_and_nothing_else_changes(rig: Rig) -> None:
    pause(rig)
    task = rig.queued()
    before = rig.record(task)
    assert let_through(rig, task).code == "ok"
    after = rig.record(task)
    step = after.steps[-1]
    assert (step.from_, step.to) == (Status.QUEUED, Status.QUEUED)
    assert passing.told(step.note) == ("ann@desk", WHY)
    assert (after.gen, after.attempt, after.status) == (before.gen, before.attempt, before.status)
    assert given(rig)[task.task_id].reason == WHY
    assert let_through(rig, task, by="bob@desk").code == "ok"  # it has one
    assert len(rig.record(task).steps) == len(after.steps)


def test_without_such_a_gate_there_is_nothing_to_pass(rig: Rig) -> None:
    keeper = rig.running(owner="keeps#busy")
    task = parked(rig, "shop_busy")
    assert let_through(rig, task).code == "open"
    assert rig.record(task) == task
    assert given(rig) == {}
    assert rig.record(keeper).status == Status.RUNNING


@pytest.mark.parametrize("status", [Status.SCHEDULED, Status.RUNNING, Status.HELD, Status.DEAD, Status.SUCCEEDED])
def test_what_does_not_wait_to_start_is_refused(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    pause(rig)
    assert let_through(rig, task).code == "refused"
    assert given(rig) == {}
    assert rig.ask(Try(task_id="nobody", by="a", reason=WHY)).code == "missing"


def test_it_does_not_pass_a_busy_shop_and_goes_when_that_is_free(rig: Rig) -> None:
    keeper = rig.running(owner="keeps#busy")
    pause(rig)
    task = parked(rig, "paused")
    assert let_through(rig, task).released == ()
    assert rig.claim(rig.record(task), "w9#9").code in ("blocked", "stale")
    freed = rig.finish(keeper)
    assert [one.task_id for one in freed.released] == [task.task_id]
    assert rig.claim(rig.record(task)).code == "run"


def test_it_does_not_pass_a_login(rig: Rig) -> None:
    pause(rig)
    task = parked(rig, "paused")
    rig.ask(CloseSession(shop="pdd:s1", kind="captcha", by="ann@desk"))
    assert let_through(rig, task).released == ()
    assert rig.open() == []
    rig.ask(OpenSession(shop="pdd:s1", by="ann@desk"))
    assert rig.open() == [task.task_id]
    assert rig.claim(rig.record(task)).code == "run"


def test_it_does_not_pass_its_twin(rig: Rig) -> None:
    rig.shop(concurrency=3)
    first = rig.running(uniq="same")
    pause(rig)
    task = rig.ask(Create(task=rig.task(uniq="same"), on_duplicate="queue")).task
    assert task is not None
    rig.confirm(task)
    assert rig.claim(rig.record(task)).code == "blocked"
    assert let_through(rig, task).released == ()
    assert [one.task_id for one in rig.finish(first).released] == [task.task_id]


def test_it_does_not_pass_a_limit_and_goes_when_that_has_room(rig: Rig) -> None:
    rig.store.put_limit(Limit(scope="type:sync_order", concurrency=1))
    elsewhere = rig.running(shop_id="s2", owner="keeps#busy")
    pause(rig)
    task = parked(rig, "paused")
    assert let_through(rig, task).released == ()
    assert rig.ask(OpenLimit(scope="type:sync_order", most=5)).released == ()
    freed = rig.finish(elsewhere)
    assert [one.task_id for one in freed.released] == [task.task_id]
    assert rig.claim(rig.record(task)).code == "run"


def test_room_at_a_limit_lets_none_pass_a_login(rig: Rig) -> None:
    rig.store.put_limit(Limit(scope="type:sync_order", concurrency=1))
    elsewhere = rig.running(shop_id="s2", owner="keeps#busy")
    pause(rig)
    task = parked(rig, "paused")
    let_through(rig, task)
    rig.ask(CloseSession(shop="pdd:s1", kind="captcha", by="ann@desk"))
    assert rig.finish(elsewhere).released == ()
    rig.ask(OpenSession(shop="pdd:s1", by="ann@desk"))
    assert rig.open() == [task.task_id]


def test_a_type_may_be_paused_while_its_shop_works(rig: Rig) -> None:
    pause(rig, "type:sync_order")
    task, other = parked(rig, "paused"), parked(rig, "paused")
    assert [one.task_id for one in let_through(rig, task).released] == [task.task_id]
    assert rig.claim(rig.record(task)).code == "run"
    assert rig.record(other).status == Status.BLOCKED


def test_a_pass_that_no_attempt_can_use_any_more_is_forgotten(rig: Rig) -> None:
    pause(rig)
    ended, gone_on, waits = (rig.queued() for _ in range(3))
    for task in (ended, gone_on, waits):
        let_through(rig, task)
    rig.ask(Cancel(task_id=ended.task_id, by="ann@desk"))
    rig.store.clear_pause("shop:pdd:s1")
    assert rig.claim(gone_on).code == "run"  # nothing was in its way
    rig.open()
    assert set(given(rig)) == {waits.task_id}


def test_so_many_at_a_time(rig: Rig) -> None:
    pause(rig)
    now = rig.store.now_ms()
    for number in range(passing.MOST):
        one = passing.Pass(shop="pdd:s9", attempt=0, by="a", at=now, reason="b")
        rig.store.put_document(passing.KIND, f"t{number}", msgspec.json.encode(one).decode())
    assert let_through(rig, rig.queued()).code == "many"


def test_what_is_taken_back_stands_in_the_record_and_the_gate_holds_again(rig: Rig) -> None:
    pause(rig)
    task = rig.queued()
    let_through(rig, task)
    cursor, op = rig.store.counts().cursor, TakeBackTry(task_id=task.task_id, by="bob@desk")
    answer = rig.ask(op)
    assert (answer.code, given(rig)) == ("ok", {})
    after = rig.record(task)
    assert [passing.told_back(step.note) for step in after.steps[-2:]] == ["", "bob@desk"]
    assert passing.told(after.steps[-1].note) is None
    assert (after.status, after.gen, after.attempt) == (Status.QUEUED, task.gen, task.attempt)
    assert [(event.task_id, event.from_, event.to) for event in rig.all_events(cursor)] == [
        (task.task_id, Status.QUEUED, Status.QUEUED)
    ]
    assert rig.ask(op).code == "ok"  # a repeated one
    assert rig.record(task) == after
    assert rig.claim(task).code == "blocked"
    assert rig.ask(op).code == "no_pass"
    let_through(rig, task)
    assert rig.ask(op).code == "ok"
    assert (rig.record(task).status, rig.record(task).gate) == (Status.PENDING, "")
    assert rig.ask(TakeBackTry(task_id="nobody", by="bob@desk")).code == "missing"


def test_what_an_attempt_has_begun_with_is_not_taken_back(rig: Rig) -> None:
    pause(rig)
    task = rig.queued()
    let_through(rig, task)
    rig.claim(task)
    running = rig.record(task)
    assert rig.ask(TakeBackTry(task_id=task.task_id, by="bob@desk")).code == "no_pass"
    assert rig.record(task) == running


def test_what_cannot_be_read_lets_nobody_through(rig: Rig) -> None:
    pause(rig)
    task = rig.queued()
    rig.store.put_document(passing.KIND, task.task_id, '{"shop": 7}')
    assert rig.claim(task).code == "blocked"


def test_of_many_claims_of_one_attempt_one_uses_it(rig: Rig) -> None:
    rig.shop(concurrency=9)
    pause(rig)
    task = rig.queued()
    let_through(rig, task)
    codes: list[str] = []
    start = threading.Barrier(4)

    def claim(number: int) -> None:
        start.wait()
        codes.append(rig.claim(task, f"w{number}#1").code)

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(codes) == ["duplicate"] * 3 + ["run"]
    assert given(rig) == {}
