"""What is called every second and looks only so often."""

from __future__ import annotations

from services.clock import ManualClock
from services.engine.lead.duty import Seldom


def test_it_is_time_at_once_and_then_only_after_so_long() -> None:
    clock = ManualClock()
    seldom = Seldom(clock, 5.0)
    assert [seldom.due(), seldom.due()] == [True, False]
    clock.advance(4.9)
    assert not seldom.due()
    clock.advance(0.1)
    assert [seldom.due(), seldom.due()] == [True, False]


def test_who_asks_late_waits_as_long_again() -> None:
    clock = ManualClock()
    seldom = Seldom(clock, 5.0)
    seldom.due()
    clock.advance(9.0)
    assert seldom.due()
    clock.advance(1.0)
    assert not seldom.due()
