"""What becomes of a message whose claim meets something spoilt in the store."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from services.domain.change import UNREADABLE, Answer, Claim, Nudge, Op
from services.domain.task.lane import LANES
from services.workers.burst import Burst
from services.workers.burst import Room as Free
from services.workers.intake import Intake
from services.workers.prefetch import PrefetchWindow
from services.workers.slots import ClaimedTask, SlotPool
from tests.unit.services.engine.room import DELAYS, Room

HELD_S = DELAYS[-1]


class Desk:
    """A worker's intake over a store in which every claim meets something spoilt, until that is repaired."""

    def __init__(self, room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room, self.spoilt, self.claimed = room, True, list[ClaimedTask]()
        real = room.store.apply

        def apply(ops: Sequence[Op]) -> list[Answer]:
            if self.spoilt and all(isinstance(op, Claim) for op in ops):
                return [Answer(UNREADABLE) for _ in ops]
            return real(ops)

        monkeypatch.setattr(room.store, "apply", apply)
        self._consumer = room.broker.consumer(list(LANES), window=9, name="test")
        pool = SlotPool(lambda held, slot: None, 9, "test")
        self._intake = Intake(
            room.store, self._consumer, room.steps, room.registry, room.clock, worker="w1", session="s",
            lease_ms=60_000, put=self.claimed.append, burst=Burst(room.clock, PrefetchWindow(pool, room.clock)),
        )  # fmt: skip

    def look(self, after: float = 0.0) -> int:
        """Take what is there so many seconds later; how many messages there were."""
        self.room.clock.advance(after)
        found = self._consumer.take(9, 0.0)
        if found:
            self._intake.accept(found, Free(9, 9, {}))
        return len(found)


def test_a_message_waits_until_what_it_met_is_repaired(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    desk, task = Desk(room, monkeypatch), room.create()
    assert [desk.look(), desk.look(1), desk.look(HELD_S), desk.look(HELD_S)] == [1, 0, 1, 1]
    desk.spoilt = False
    assert desk.look(HELD_S) == 1
    assert [held.task.task_id for held in desk.claimed] == [task.task_id]
    assert desk.look(HELD_S) == 0


def test_a_message_that_waits_goes_once_another_one_was_sent_in_its_place(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks for lost messages finds none while it waits; each look would make one more that never goes."""
    desk, task = Desk(room, monkeypatch), room.create()
    assert desk.look() == 1
    room.clock.advance(60)
    room.steps.apply([Nudge(task_id=task.task_id, gen=task.gen, attempt=task.attempt)])
    assert desk.look(HELD_S) == 2, "the first one and its successor"
    assert desk.look(HELD_S) == 1, "the successor alone"
