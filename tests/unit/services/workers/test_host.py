"""How whoever leads leaves."""

from __future__ import annotations

import threading

from services.clock import SystemClock
from services.domain.task.retry import RetryPolicy
from services.engine.lead import leader
from services.workers.host import Steward
from tests.unit.services.engine.room import Room


class Slow:
    """A duty that computes until it is let go, however it is asked to end."""

    def __init__(self) -> None:
        self.begun, self.asked, self.gate = threading.Event(), threading.Event(), threading.Event()
        self.over = threading.Event()

    def start(self) -> None:
        """Begin."""
        self.begun.set()

    def stop(self) -> None:
        """Ask it to end, and wait."""
        self.asked.set()
        self.gate.wait(60)
        self.over.set()


def test_all_are_asked_to_end_though_the_first_computes_on(room: Room) -> None:
    watch, first, second = Slow(), Slow(), Slow()
    steward = Steward(
        room.store, room.broker, room.steps, room.registry, room.clock,
        policy=RetryPolicy(), holder="console", watchers=(first, second), always=(watch,),
    )  # fmt: skip
    steward.start()
    assert second.begun.wait(20)
    try:
        steward.close(1.0)
        assert all(one.asked.is_set() for one in (watch, first, second))
        assert not any(one.over.is_set() for one in (watch, first, second)), "none of them holds it up"
        assert room.store.leader(leader.ROLE) == "", "the next one leads at once"
    finally:
        for one in (watch, first, second):
            one.gate.set()


def test_the_lead_is_handed_over_when_the_duties_have_ended(room: Room) -> None:
    seen: list[str] = []

    class Duty:
        def start(self) -> None:
            begun.set()

        def stop(self) -> None:
            seen.append(room.store.leader(leader.ROLE))

    begun = threading.Event()
    steward = Steward(
        room.store, room.broker, room.steps, room.registry, SystemClock(),
        policy=RetryPolicy(), holder="console", watchers=(Duty(),),
    )  # fmt: skip
    steward.start()
    assert begun.wait(20)
    steward.close(20.0)
    assert seen[0] == "console"
    assert room.store.leader(leader.ROLE) == ""
