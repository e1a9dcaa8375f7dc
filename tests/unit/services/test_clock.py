"""The clocks: the real one never runs backwards, the one of tests is turned by hand."""

from __future__ import annotations

import threading
import time

import pytest

from services.clock import STEP_S, ManualClock, SystemClock, beat, together


def test_a_wall_clock_that_is_set_back_goes_on_at_half_speed_until_it_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """It neither runs backwards nor stands still: what is delayed becomes due."""
    shows_s, since_s, began_s = 0, 100.0, 1_795_000_000
    monkeypatch.setattr(time, "time_ns", lambda: (began_s + shows_s) * 1_000_000_000)
    monkeypatch.setattr(time, "monotonic", lambda: since_s)
    clock = SystemClock()
    told_ms = clock.now_ms()
    shows_s -= 3600
    found = []
    for _ in range(9):
        found.append((clock.now_ms() - told_ms) // 1000)
        shows_s, since_s = shows_s + 1000, since_s + 1000
    assert found == [0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4400]


@pytest.mark.parametrize("off_ms", [-10_800_000, 10_800_000])
def test_a_wall_clock_that_is_far_off_tells_the_time_of_the_fleet(off_ms: int) -> None:
    clock = SystemClock()
    fleet = clock.now_ms() + off_ms
    clock.agree(fleet)
    assert 0 <= clock.now_ms() - fleet < 60_000
    clock.agree(clock.now_ms() + 500)  # what a round trip takes moves nothing
    assert 0 <= clock.now_ms() - fleet < 60_000


def test_a_machine_whose_clock_is_set_right_is_not_moved_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    hour, fleet = 3_600_000, 1_795_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: (fleet + hour) * 1_000_000)
    clock = SystemClock()
    clock.agree(fleet)
    assert clock.now_ms() == fleet
    monkeypatch.setattr(time, "time_ns", lambda: (fleet + 30_000) * 1_000_000)
    assert clock.now_ms() == fleet, "it never runs backwards"
    clock.agree(fleet + 30_000)
    assert clock.now_ms() == fleet + 30_000


def test_who_agrees_apart_moves_nobody_else() -> None:
    clock = SystemClock()
    before = clock.now_ms()
    mine = clock.apart()
    mine.agree(before + 3_600_000)
    assert clock.now_ms() - before < 60_000 <= mine.now_ms() - before
    assert clock.now_ms() - before < 60_000, "nor does what it tells"


def test_waiting_ends_with_the_event() -> None:
    clock, event = SystemClock(), threading.Event()
    assert clock.wait(event, 0.001) is False
    event.set()
    before = clock.monotonic()
    assert clock.wait(event, 60) is True
    assert clock.monotonic() - before < 30


def test_the_clock_of_tests_moves_when_told() -> None:
    clock, event = ManualClock(1_000), threading.Event()
    clock.advance(1.5)
    assert (clock.now_ms(), clock.monotonic()) == (2_500, 1.5)
    assert clock.wait(event, 2.0) is False
    assert (clock.now_ms(), clock.monotonic()) == (4_500, 3.5)


def steps_off(seconds: float) -> float:
    """How far the end of a wait is from those of 1 s, in parts of a step."""
    other = together(1.0)
    begun = time.monotonic()
    apart = (together(seconds) - other) / STEP_S
    assert time.monotonic() - begun < STEP_S / 4, "this machine stood still"
    return abs(apart - round(apart))


@pytest.mark.parametrize("seconds", [0.6, 1.0, 2.0, 5.0, 30.0])
def test_waits_of_a_process_end_together_and_about_when_they_should(seconds: float) -> None:
    assert steps_off(seconds) < 0.05
    assert seconds - STEP_S <= together(seconds) <= seconds + STEP_S / 4


@pytest.mark.parametrize("seconds", [0.0, 0.005, 0.1, 0.3])
def test_a_short_wait_is_as_long_as_it_says(seconds: float) -> None:
    assert together(seconds) == seconds


def test_waits_end_right_after_the_second_of_the_window() -> None:
    beat()
    after = (together(1.0) + STEP_S / 4) % STEP_S - STEP_S / 4
    assert 0 <= after < 0.04
