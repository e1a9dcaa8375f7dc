"""One leads; the lease is renewed beside the rounds, and given up in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from services.clock import SystemClock
from services.engine.leader import RENEW_S, ROLE, TTL_MS, Leader
from tests.contract.waiting import eventually
from tests.unit.services.engine.room import Room


@pytest.fixture
def leaders(room: Room) -> Iterator[Callable[..., Leader]]:
    """Makes candidates on the real clock of threads; the lease lives by the clock of the store."""
    made: list[Leader] = []

    def make(holder: str, tick: Callable[[], None] = lambda: None, **marks: Callable[[], None]) -> Leader:
        leader = Leader(room.store, SystemClock(), holder, tick=tick, tick_s=0.01, **marks)
        made.append(leader)
        leader.start()
        return leader

    yield make
    for leader in made:
        leader.close()


def test_one_leads_ticks_and_hands_over(room: Room, leaders: Callable[..., Leader]) -> None:
    ticks: list[str] = []
    first = leaders("a", lambda: ticks.append("a"))
    eventually(lambda: first.leading and "a" in ticks)
    second = leaders("b", lambda: ticks.append("b"))
    assert room.store.leader(ROLE) == "a"
    assert "b" not in ticks
    first.close()
    assert not first.leading
    eventually(lambda: second.leading and "b" in ticks, RENEW_S * 3)
    ticks.clear()
    eventually(lambda: len(ticks) > 3)
    assert set(ticks) == {"b"}, "who left ticks no more"


def test_the_marks_are_told_once_each(leaders: Callable[..., Leader]) -> None:
    told: list[str] = []
    leader = leaders("a", lead=lambda: told.append("lead"), follow=lambda: told.append("follow"))
    eventually(lambda: leader.leading)
    leader.close()
    assert told == ["lead", "follow"]
    leader.close()
    assert told == ["lead", "follow"]


def test_a_round_that_hangs_does_not_cost_the_lease(room: Room, leaders: Callable[..., Leader]) -> None:
    hang, entered = threading.Event(), threading.Event()

    def tick() -> None:
        entered.set()
        hang.wait(30)

    leader = leaders("a", tick)
    assert entered.wait(10)
    room.clock.advance(TTL_MS / 1000 - 1)
    leader._asked = None  # it is time to renew
    eventually(lambda: leader._asked is not None)
    room.clock.advance(2)
    assert room.store.leader(ROLE) == "a", "renewed while the round hung"
    hang.set()


def test_a_failing_round_is_told_and_the_next_one_comes(
    leaders: Callable[..., Leader], caplog: pytest.LogCaptureFixture
) -> None:
    rounds: list[int] = []

    def tick() -> None:
        rounds.append(1)
        raise RuntimeError("something unforeseen")

    leaders("a", tick)
    eventually(lambda: len(rounds) > 2)
    assert "something unforeseen" in caplog.text


def test_who_was_overtaken_follows(room: Room, leaders: Callable[..., Leader]) -> None:
    leader = leaders("a")
    eventually(lambda: leader.leading)
    room.clock.advance(TTL_MS / 1000 + 1)
    assert room.store.lead(ROLE, "other", TTL_MS)
    leader._asked = None
    eventually(lambda: not leader.leading)
    leader.close()
    assert room.store.leader(ROLE) == "other", "only its own lease is given up"
