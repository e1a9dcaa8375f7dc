"""What a worker learns while its tasks run: a lease is lost, a stop was asked for, a record is spoilt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from services.clock import SystemClock
from services.domain.change import UNREADABLE, Answer, Cancel, Op, Renew
from services.domain.fleet.worker import WorkerInfo
from services.workers import keeper as module
from services.workers.keeper import Keeper
from services.workers.slots import ClaimedTask
from tests.contract.waiting import eventually
from tests.unit.services.engine.room import Room


@pytest.fixture
def held(room: Room) -> list[ClaimedTask]:
    """Three tasks that run here."""
    tasks = [room.running(f"w1#{number}", shop_id=f"s{number}") for number in range(3)]
    return [ClaimedTask(task=task, owner=task.owner, delivery=None) for task in tasks]


@pytest.fixture
def beats(room: Room, held: list[ClaimedTask], monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """A keeper at work; how many rounds of renewals it has made."""
    monkeypatch.setattr(module, "BEAT_S", 0.02)
    rounds: list[int] = []
    real = room.store.apply

    def apply(ops: Sequence[Op]) -> list[Answer]:
        answers = real(ops)
        if any(isinstance(op, Renew) for op in ops):
            rounds.append(len(ops))
        return answers

    monkeypatch.setattr(room.store, "apply", apply)
    keeper = Keeper(
        room.store, room.steps, SystemClock(), claimed=lambda: held,
        info=lambda: WorkerInfo(worker="w1", host="h", pid=1),
        hear=lambda _heard: None, lease_s=0.04, name="w1",
    )  # fmt: skip
    yield rounds
    keeper.close()


def again(beats: list[int]) -> None:
    """Two whole rounds from now."""
    number = len(beats)
    eventually(lambda: len(beats) >= number + 2)


def test_who_has_lost_a_task_ends_it_and_who_was_asked_to_stop_does(
    room: Room, held: list[ClaimedTask], beats: list[int]
) -> None:
    lost, stopped, fine = held
    again(beats)
    assert [one.cancel_reason for one in held] == ["", "", ""]
    room.finish(lost.task, "dead")  # as the reconciler does when a lease has run out
    assert room.ask(Cancel(task_id=stopped.task.task_id, by="ann")).code == "requested"
    again(beats)
    assert [one.cancel_reason for one in held] == ["lost", "requested", ""]
    assert (fine.cancelled.is_set(), room.task(fine.task.task_id).status) == (False, "running")


class Turned(SystemClock):
    """Waits as the system does; its seconds are turned by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.at = 0.0

    def monotonic(self) -> float:
        return self.at


def test_a_reply_that_came_late_puts_the_next_renewal_off_by_nothing(
    room: Room, held: list[ClaimedTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease counts from when it was asked for, not from when somebody said so."""
    monkeypatch.setattr(module, "BEAT_S", 0.02)
    clock, asked, real = Turned(), list[float](), room.store.apply

    def apply(ops: Sequence[Op]) -> list[Answer]:
        if any(isinstance(op, Renew) for op in ops):
            asked.append(clock.at)
            clock.at += 9.0 if len(asked) == 1 else 0.0
        return real(ops)

    monkeypatch.setattr(room.store, "apply", apply)
    keeper = Keeper(
        room.store, room.steps, clock, claimed=lambda: held,
        info=lambda: WorkerInfo(worker="w1", host="h", pid=1),
        hear=lambda _heard: None, lease_s=40.0, name="w1",
    )  # fmt: skip
    try:
        clock.at = 10.0
        eventually(lambda: clock.at == 19.0)
        clock.at = 20.0
        eventually(lambda: len(asked) == 2)
    finally:
        keeper.close()
    assert asked == [10.0, 20.0]


def test_a_record_that_cannot_be_read_is_not_a_lost_task(
    room: Room, held: list[ClaimedTask], beats: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, spoilt = room.store.apply, held[0].task.task_id

    def apply(ops: Sequence[Op]) -> list[Answer]:
        answers = zip(ops, real(ops), strict=True)
        return [Answer(UNREADABLE) if getattr(op, "task_id", "") == spoilt else answer for op, answer in answers]

    monkeypatch.setattr(room.store, "apply", apply)
    again(beats)
    assert [one.cancel_reason for one in held] == ["", "", ""], "its end will tell whether it is still ours"


def test_a_round_that_goes_wrong_in_any_way_is_not_the_last(
    room: Room, held: list[ClaimedTask], beats: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    again(beats)
    real, fell = room.steps.apply, [0]

    def apply(ops: Sequence[Op]) -> list[Answer]:
        if fell[0] < 2 and any(isinstance(op, Renew) for op in ops):
            fell[0] += 1
            raise RuntimeError("what nobody thought of")
        return real(ops)

    monkeypatch.setattr(room.steps, "apply", apply)
    eventually(lambda: fell[0] == 2)
    again(beats)
    assert [one.cancel_reason for one in held] == ["", "", ""]
