"""Group commit of outcomes: record, publish, acknowledge, in this order, whatever is silent in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from services.clock import SystemClock
from services.domain.change import UNREADABLE, Answer, Finish, Forget, Op
from services.domain.errors import StoreError
from services.domain.task.order import Delivery
from services.domain.task.record import Attempt, Task
from services.workers import finisher as module
from services.workers.finisher import Finisher
from services.workers.spool import Spool
from tests.contract.waiting import eventually
from tests.unit.services.engine.room import Room


class Settled:
    """Notes what is settled; the rest of a consumer is not asked for."""

    def __init__(self) -> None:
        self.acked: list[str] = []
        self.back: list[str] = []

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        self.acked += [one.message_id for one in deliveries]

    def requeue(self, deliveries: Sequence[Delivery]) -> None:
        self.back += [one.message_id for one in deliveries]


@pytest.fixture
def settled() -> Settled:
    return Settled()


@pytest.fixture
def finisher(room: Room, settled: Settled, monkeypatch: pytest.MonkeyPatch) -> Iterator[Finisher]:
    monkeypatch.setattr(module, "RETRY_S", (0.01,))
    monkeypatch.setattr(module, "OWED_EVERY_S", 0.05)
    consumer: Any = settled
    made = Finisher(room.store, room.steps, consumer, SystemClock(), "test")
    yield made
    made.close(10)


def outcome(task: Task, to: str = "succeeded", **fields: Any) -> Finish:
    done = Attempt(number=1, worker="w1", started_at=task.started_at, ended_at=task.started_at, outcome=to)
    return Finish(**({"task_id": task.task_id, "owner": task.owner, "to": to, "attempt": done} | fields))


def message(task: Task) -> Delivery:
    return Delivery(token=1, queue="rpa_tasks_normal", body=b"", message_id=task.task_id)


def running(room: Room, count: int) -> list[Task]:
    return [room.running(f"w1#{number}", shop_id=f"s{number}") for number in range(count)]


def test_outcomes_are_recorded_then_acknowledged(room: Room, finisher: Finisher, settled: Settled) -> None:
    good, bad = running(room, 2)
    finisher.put(outcome(good), message(good))
    finisher.put(outcome(bad, "retrying", delay_ms=30_000, error_kind="network"), message(bad))
    eventually(lambda: len(settled.acked) == 2)
    assert (room.task(good.task_id).status, room.task(bad.task_id).status) == ("succeeded", "retrying")
    assert room.ready("rpa_delay_30s") == 1
    assert room.store.executed([good.task_id, bad.task_id]) == [True, False]
    assert (finisher.done, finisher.failed) == (1, 1)
    eventually(lambda: finisher.unrecorded() == 0)


def test_who_renews_leases_hears_what_is_recorded_and_nothing_sooner(room: Room, settled: Settled) -> None:
    told: list[str] = []
    consumer: Any = settled
    made = Finisher(room.store, room.steps, consumer, SystemClock(), "test", recorded=told.extend)
    try:
        one, two = running(room, 2)
        room.store.silent = 10_000
        made.put(outcome(one), message(one))
        eventually(lambda: made.away)
        assert told == []
        room.store.silent = 0
        made.put(outcome(two, "retrying", delay_ms=30_000), message(two))
        eventually(lambda: {one.owner, two.owner} <= set(told))
        assert {room.task(task.task_id).status for task in (one, two)} == {"succeeded", "retrying"}
    finally:
        made.close(10)


def test_what_was_given_back_or_cancelled_is_no_failure(room: Room, finisher: Finisher, settled: Settled) -> None:
    back, ended = running(room, 2)
    finisher.put(outcome(back, "pending"), message(back))
    finisher.put(outcome(ended, "cancelled"), message(ended))
    eventually(lambda: len(settled.acked) == 2)
    assert (finisher.done, finisher.failed) == (0, 0)


def test_a_silent_store_is_waited_for(room: Room, finisher: Finisher, settled: Settled) -> None:
    (task,) = running(room, 1)
    room.store.silent = 5
    finisher.put(outcome(task), message(task))
    eventually(lambda: settled.acked == [task.task_id])
    assert room.task(task.task_id).status == "succeeded"


def test_a_lost_reply_records_once(room: Room, finisher: Finisher, settled: Settled) -> None:
    (task,) = running(room, 1)
    room.store.forgetful = 1
    finisher.put(outcome(task), message(task))
    eventually(lambda: settled.acked == [task.task_id])
    assert len(room.task(task.task_id).attempts) == 1
    assert finisher.done == 1


def test_what_must_be_published_first_is_acknowledged_later(room: Room, finisher: Finisher, settled: Settled) -> None:
    failed, fine = running(room, 2)
    room.broker.refuses = "blocked"
    finisher.put(outcome(failed, "retrying", delay_ms=30_000), message(failed))
    finisher.put(outcome(fine), message(fine))
    eventually(lambda: settled.acked == [fine.task_id])
    assert room.task(failed.task_id).status == "retrying"
    eventually(lambda: finisher.unrecorded() == 0)
    room.broker.refuses = ""
    another = room.running("w1#9", shop_id="s9")
    finisher.put(outcome(another), message(another))  # any work wakes it; else it looks once a second
    eventually(lambda: failed.task_id in settled.acked)
    assert room.ready("rpa_delay_30s") == 1


def test_a_store_that_falls_silent_before_the_publish_ends_no_thread(
    room: Room, finisher: Finisher, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, later = running(room, 2)
    real = room.store.apply

    def apply(ops: Sequence[Op]) -> list[Answer]:
        answers = real(ops)
        if any(isinstance(op, Finish) and op.to == "retrying" for op in ops):
            room.store.silent = 1  # the very next question, which the publish asks
        return answers

    monkeypatch.setattr(room.store, "apply", apply)
    finisher.put(outcome(task, "retrying", delay_ms=30_000), message(task))
    eventually(lambda: room.task(task.task_id).status == "retrying")
    eventually(lambda: finisher.unrecorded() == 0)
    finisher.put(outcome(later), message(later))
    eventually(lambda: set(settled.acked) == {task.task_id, later.task_id})


def test_an_outcome_that_meets_something_spoilt_is_recorded_once_that_is_repaired(
    room: Room, finisher: Finisher, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, other = running(room, 2)
    real, spoilt = room.store.apply, [True]

    def apply(ops: Sequence[Op]) -> list[Answer]:
        if spoilt and any(isinstance(op, Finish) and op.task_id == task.task_id for op in ops):
            answers = real([op for op in ops if getattr(op, "task_id", "") != task.task_id])
            at = next(at for at, op in enumerate(ops) if getattr(op, "task_id", "") == task.task_id)
            return [*answers[:at], Answer(UNREADABLE), *answers[at:]]
        return real(ops)

    monkeypatch.setattr(room.store, "apply", apply)
    finisher.put(outcome(task), message(task))
    finisher.put(outcome(other), message(other))
    eventually(lambda: settled.acked == [other.task_id])
    assert (room.task(task.task_id).status, finisher.unrecorded()) == ("running", 1)
    spoilt.clear()
    eventually(lambda: settled.acked == [other.task_id, task.task_id])
    assert room.task(task.task_id).status == "succeeded"


def test_one_outcome_that_the_store_refuses_takes_no_other_with_it(
    room: Room, finisher: Finisher, settled: Settled, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tasks = running(room, 5)
    real = room.store.apply

    def apply(ops: Sequence[Op]) -> list[Answer]:
        if any(isinstance(op, Finish) and op.task_id == tasks[2].task_id for op in ops):
            raise StoreError("this one cannot be kept")
        return real(ops)

    monkeypatch.setattr(room.store, "apply", apply)
    finisher._commit([module._Item(outcome(task), message(task)) for task in tasks])
    assert [room.task(task.task_id).status for task in tasks] == [
        "succeeded", "succeeded", "running", "succeeded", "succeeded",
    ]  # fmt: skip
    assert len(settled.acked) == 5, "its lease runs out, and its message would only be a twin"
    assert "its lease runs out" in caplog.text


def test_something_unforeseen_does_not_end_the_finisher(
    room: Room, finisher: Finisher, settled: Settled, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = running(room, 2)

    def bug(*_: object) -> None:
        raise RuntimeError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(finisher, "_count", bug)
        finisher.put(outcome(first), message(first))
        eventually(lambda: "a bug" in caplog.text)
        eventually(lambda: finisher.unrecorded() == 0)
    finisher.put(outcome(second), message(second))
    eventually(lambda: settled.acked == [second.task_id])


def test_a_late_result_is_acknowledged_and_counts_as_nothing(
    room: Room, finisher: Finisher, settled: Settled, caplog: pytest.LogCaptureFixture
) -> None:
    (task,) = running(room, 1)
    finisher.put(outcome(task, owner="somebody#else"), message(task))
    eventually(lambda: settled.acked == [task.task_id])
    assert room.task(task.task_id).status == "running"
    assert (finisher.done, finisher.failed) == (0, 0)
    assert "evidence" in caplog.text


def test_closing_records_what_is_left_or_says_that_it_could_not(
    room: Room, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_S", (0.01,))
    consumer: Any = settled

    def made() -> Finisher:
        return Finisher(room.store, room.steps, consumer, SystemClock(), "test")

    tasks = running(room, 20)
    one = made()
    for task in tasks:
        one.put(outcome(task), message(task))
    assert one.close(10) is True
    assert len(settled.acked) == 20
    last = room.running("w1#x", shop_id="x")
    room.store.silent = 10_000
    two = made()
    two.put(outcome(last), message(last))
    assert two.close(0.2) is False
    room.store.silent = 0
    assert last.task_id not in settled.acked


def at_work(room: Room, settled: Settled, folder: Path) -> Finisher:
    """The finisher of a worker, with its spool."""
    consumer: Any = settled
    return Finisher(room.store, room.steps, consumer, SystemClock(), "test", Spool(folder))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "RETRY_S", (0.01,))
    return tmp_path / "spool"


def silenced(room: Room, settled: Settled, folder: Path, ops: Sequence[Finish]) -> None:
    """A worker has these outcomes while the store is away, and ends before it is back."""
    room.store.silent = 10_000
    one = at_work(room, settled, folder)
    for op in ops:
        one.put(op, None)
        eventually(lambda: one.away)
    assert one.close(0.05) is False
    room.store.silent = 0


def test_an_outcome_outlives_its_worker(room: Room, settled: Settled, folder: Path) -> None:
    good, bad = running(room, 2)
    outcomes = [
        outcome(good, result='{"orders": 3}'),
        outcome(bad, "retrying", delay_ms=30_000, error="no net", error_kind="network"),
    ]
    silenced(room, settled, folder, outcomes)
    assert {room.task(task.task_id).status for task in (good, bad)} == {"running"}
    two = at_work(room, settled, folder)
    assert two.wait_replayed(10)
    assert (room.task(good.task_id).status, room.task(good.task_id).result) == ("succeeded", '{"orders": 3}')
    assert (room.task(bad.task_id).status, room.task(bad.task_id).retries) == ("retrying", 1)
    assert room.ready("rpa_delay_30s") == 1, "what follows from it is published"
    assert room.store.executed([good.task_id]) == [True]
    assert not list(folder.glob("*"))
    assert two.close(10) is True


def test_an_outcome_that_meets_something_spoilt_outlives_its_worker_too(
    room: Room, settled: Settled, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever repairs the store may end the workers first."""
    (task,) = running(room, 1)
    with monkeypatch.context() as patch:
        patch.setattr(room.store, "apply", lambda ops: [Answer(UNREADABLE) for _ in ops])
        one = at_work(room, settled, folder)
        one.put(outcome(task, result='{"orders": 3}'), message(task))
        one.close(0.05)
    assert (room.task(task.task_id).status, settled.acked) == ("running", [])
    two = at_work(room, settled, folder)
    assert two.wait_replayed(10)
    assert (room.task(task.task_id).status, room.task(task.task_id).result) == ("succeeded", '{"orders": 3}')
    assert two.close(10) is True


def test_what_somebody_else_has_taken_meanwhile_is_evidence(room: Room, settled: Settled, folder: Path) -> None:
    (task,) = running(room, 1)
    silenced(room, settled, folder, [outcome(task)])
    lost = outcome(task, "pending", lost=True)
    assert room.ask(structs.replace(lost, attempt=structs.replace(lost.attempt, outcome="lost"))).code == "ok"
    room.claim(room.task(task.task_id), "w2#1")
    two = at_work(room, settled, folder)
    assert two.wait_replayed(10)
    after = room.task(task.task_id)
    assert (after.status, after.owner, [one.outcome for one in after.attempts]) == (
        "running", "w2#1", ["lost", "fenced"],
    )  # fmt: skip
    assert two.close(10) is True


def test_what_was_recorded_before_the_end_leaves_no_evidence(room: Room, settled: Settled, folder: Path) -> None:
    """Killed between record and the file's end, and the next attempt runs already."""
    (task,) = running(room, 1)
    done = outcome(task, "retrying", delay_ms=0, error_kind="network")
    silenced(room, settled, folder, [done])
    assert room.ask(done).code == "ok"
    room.claim(room.task(task.task_id), "w2#1")
    two = at_work(room, settled, folder)
    assert two.wait_replayed(10)
    assert [one.outcome for one in room.task(task.task_id).attempts] == ["retrying"]
    assert not list(folder.glob("*"))
    assert two.close(10) is True


def test_who_sees_the_store_again_speaks_for_the_dead_beside_it(room: Room, settled: Settled, folder: Path) -> None:
    first, second = running(room, 2)
    living = at_work(room, settled, folder)
    assert living.wait_replayed(10)
    silenced(room, settled, folder, [outcome(first)])
    room.store.silent = 3
    living.put(outcome(second), message(second))
    eventually(lambda: {room.task(task.task_id).status for task in (first, second)} == {"succeeded"})
    assert settled.acked == [second.task_id]
    eventually(lambda: not list(folder.glob("*")))
    assert living.close(10) is True


def test_where_the_record_is_gone_the_message_goes_back(room: Room, finisher: Finisher, settled: Settled) -> None:
    """A store that was wiped: the message is all that is left of the task."""
    (known,) = running(room, 1)
    gone = structs.replace(known, task_id="nobody", owner="w1#9")
    finisher.put(outcome(gone), message(gone))
    finisher.put(outcome(known), message(known))
    eventually(lambda: settled.acked == [known.task_id])
    assert settled.back == ["nobody"]


def test_what_the_store_has_forgotten_is_told_again_and_what_was_removed_is_not(
    room: Room, finisher: Finisher, settled: Settled, caplog: pytest.LogCaptureFixture
) -> None:
    removed, lost = running(room, 2)
    for task in (removed, lost):
        finisher.put(outcome(task), message(task), task)
    eventually(lambda: len(settled.acked) == 2 and finisher.unrecorded() == 0)
    for task, kept_ms in ((removed, 60_000), (lost, 0)):
        at = room.task(task.task_id).updated_at
        assert room.ask(Forget(task_id=task.task_id, updated_at=at, tomb_ms=kept_ms)).code == "ok"
    finisher.tell_again()
    eventually(lambda: room.store.get([lost.task_id])[0] is not None and finisher.unrecorded() == 0)
    assert room.task(lost.task_id).status == "succeeded"
    assert room.store.get([removed.task_id]) == [None]
    assert removed.task_id not in caplog.text
