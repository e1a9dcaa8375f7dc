"""One leads; the lease is renewed beside the rounds, and given up in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from services import assembly
from services.clock import SystemClock
from services.domain.errors import BrokerUnavailable, StoreUnavailable, UsageError
from services.engine.lead import leader_link
from services.engine.lead.leader import RENEW_S, ROLE, TTL_MS, Leader
from services.settings import Settings
from tests.contract.waiting import eventually
from tests.unit.services.engine.room import Room


@pytest.fixture
def leaders(room: Room) -> Iterator[Callable[..., Leader]]:
    """Makes candidates on the real clock of threads; the lease lives by the clock of the store."""
    made: list[Leader] = []

    def make(holder: str, tick: Callable[[], None] = lambda: None, **marks: Any) -> Leader:
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


def test_an_answer_that_comes_after_the_end_makes_no_leader(
    room: Room, leaders: Callable[..., Leader], monkeypatch: pytest.MonkeyPatch
) -> None:
    lead, asked, answer, told = room.store.lead, threading.Event(), threading.Event(), list[str]()

    def slow(*words: Any) -> bool:
        asked.set()
        assert answer.wait(60)
        return lead(*words)

    monkeypatch.setattr(room.store, "lead", slow)
    late = leaders("late", lead=lambda: told.append("lead"))
    assert asked.wait(60)
    late.close(0.0)
    monkeypatch.setattr(room.store, "lead", lead)
    answer.set()
    late.close()
    assert (late.leading, told, room.store.leader(ROLE)) == (False, [], "")


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


class Health:
    """Fit, unless a test says otherwise."""

    def __init__(self) -> None:
        self.why, self.looks = "", 0

    def look(self) -> str:
        self.looks += 1
        return self.why

    def doubt(self) -> None:
        """Each look is a fresh one here."""


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Minutes in tenths of a second."""
    for name, seconds in {"LEAST_S": 0.05, "PAUSE_S": 0.05, "RENEW_S": 0.05}.items():
        monkeypatch.setattr(f"services.engine.lead.leader.{name}", seconds)


@pytest.mark.usefixtures("hasty")
def test_who_cannot_work_gives_the_lead_up_and_stands_again_when_he_can(
    room: Room, leaders: Callable[..., Leader]
) -> None:
    health, told, marks = Health(), [], []
    leader = leaders("a", fitness=health, told=told.append, follow=lambda: marks.append("follow"))
    eventually(lambda: leader.leading)
    health.why = "the broker is gone"
    eventually(lambda: not leader.leading)
    assert (room.store.leader(ROLE), told, marks) == ("", ["the broker is gone"], ["follow"])
    before = health.looks
    eventually(lambda: health.looks > before + 2)
    assert room.store.leader(ROLE) == "", "it looks first, and stands when all is well"
    other = leaders("b", fitness=Health())
    eventually(lambda: other.leading)
    health.why = ""
    other.close()
    eventually(lambda: leader.leading)


class Turned(SystemClock):
    """Threads wait for real; how long that was is what the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.at, self.waits = 1000.0, 0

    def monotonic(self) -> float:
        return self.at

    def wait(self, event: threading.Event, seconds: float) -> bool:
        self.waits += 1
        return event.wait(0.002)


def test_who_cannot_work_again_and_again_stays_away_for_longer_each_time(room: Room) -> None:
    """Another one gets the chance meanwhile; who has led well for a while is trusted as at first."""
    health, clock = Health(), Turned()
    leader = Leader(room.store, clock, "a", tick=lambda: None, fitness=health)

    def rounds() -> None:
        before = clock.waits
        eventually(lambda: clock.waits > before + 10)

    def fails_and_is_back_after(seconds: int) -> None:
        before = health.looks
        health.why = "the broker is gone"
        eventually(lambda: health.looks > before + 1)
        clock.at += 16  # too long for a pause of the broker
        eventually(lambda: not leader.leading)
        health.why = ""
        clock.at += seconds - 2
        rounds()
        assert not leader.leading, f"it stands again before {seconds} s are over"
        clock.at += 2 + RENEW_S
        eventually(lambda: leader.leading)

    leader.start()
    try:
        eventually(lambda: leader.leading)
        for seconds in (5, 10, 20, 40, 60, 60):
            fails_and_is_back_after(seconds)
        clock.at += 61
        before = health.looks
        eventually(lambda: health.looks > before + 1)
        fails_and_is_back_after(5)
    finally:
        leader.close()


def after_rounds(clock: Turned) -> None:
    """Each of its threads has come round a few times."""
    before = clock.waits
    eventually(lambda: clock.waits > before + 10)


def test_who_waits_for_the_place_does_not_ask_the_servers_whether_he_could_fill_it(room: Room) -> None:
    """Else every waiting worker opens connections to a broker that is just coming back."""
    health, clock = Health(), Turned()
    assert room.store.lead(ROLE, "other", TTL_MS)
    leader = Leader(room.store, clock, "a", tick=lambda: None, fitness=health)
    leader.start()
    try:
        for _round in range(3):
            clock.at += RENEW_S
            after_rounds(clock)
        assert (leader.leading, health.looks) == (False, 0)
        room.store.resign(ROLE, "other")
        clock.at += RENEW_S
        eventually(lambda: leader.leading)
    finally:
        leader.close()


def test_without_the_store_it_leads_as_long_as_its_lease_and_not_longer(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Turned()
    leader = Leader(room.store, clock, "a", tick=lambda: None)

    def silent(*_: object) -> bool:
        raise StoreUnavailable("nobody answers")

    leader.start()
    try:
        eventually(lambda: leader.leading)
        with monkeypatch.context() as gone:
            gone.setattr(room.store, "lead", silent)
            clock.at += TTL_MS / 1000 - 1
            after_rounds(clock)
            assert leader.leading, "nobody else can have the lease yet"
            clock.at += 2
            after_rounds(clock)
            assert not leader.leading
    finally:
        leader.close()


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    ("error", "leads"),
    [
        (BrokerUnavailable("nobody answers"), False),
        (StoreUnavailable("nobody answers"), False),
        (UsageError("a bad document", field="x"), True),
        (RuntimeError("something unforeseen"), True),
    ],
)
def test_only_rounds_that_nobody_could_finish_from_here_cost_the_lead(
    leaders: Callable[..., Leader], error: Exception, leads: bool
) -> None:
    """Whatever stands in the data would meet the next leader too."""
    rounds: list[int] = []

    def tick() -> None:
        rounds.append(1)
        raise error

    leader = leaders("a", tick, fitness=Health())
    if leads:
        eventually(lambda: len(rounds) > 20)
        assert leader.leading
    else:
        eventually(lambda: rounds and not leader.leading)
        assert len(rounds) >= 3


@pytest.mark.usefixtures("hasty")
def test_without_the_store_the_lead_ends_with_the_lease(
    room: Room, leaders: Callable[..., Leader], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.engine.lead.leader.TTL_MS", 200)
    leader = leaders("a")
    eventually(lambda: leader.leading)

    def silent(*_: object) -> bool:
        raise StoreUnavailable("nobody answers")

    with monkeypatch.context() as gone:
        gone.setattr(room.store, "lead", silent)
        eventually(lambda: not leader.leading)
    eventually(lambda: leader.leading)


def test_why_one_gave_the_lead_up_is_no_cause_any_more_once_it_leads_again(tmp_path: Path) -> None:
    engine = assembly.open_engine(Settings(home=str(tmp_path)))
    first, second = (leader_link.LinkNote(engine.store, engine.broker, name) for name in ("first", "second"))
    try:
        first.resigned("the broker is silent")
        second.tick()
        assert leader_link.last_resigned(engine.store).holder == "first", "another may be able to where it is not"
        first.tick()
        assert not leader_link.last_resigned(engine.store).holder
    finally:
        engine.close()
