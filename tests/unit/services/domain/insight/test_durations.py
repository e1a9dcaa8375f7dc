"""How long tasks take of late, also where that changes."""

from __future__ import annotations

import pytest

from services.domain.insight.forecast import durations


def test_the_newest_tell_and_not_what_was_long_ago() -> None:
    assert durations.of_late([600.0] * 6 + [60.0] * 44).usual_s == 600.0
    assert durations.of_late([60.0] * 6 + [600.0] * 44).usual_s == 60.0
    assert not durations.of_late([]).known


def test_what_runs_longer_than_any_before_counts_before_it_has_ended() -> None:
    usual = [55.0, 58.0, 60.0, 62.0, 65.0]
    assert durations.of_late(usual, [30.0, 64.0]).seconds == tuple(usual), "as long as others did"
    late = durations.of_late(usual * 2, [900.0] * 6)
    assert late.overdue
    assert late.usual_s == pytest.approx(900.0)
    assert len(late.seconds) == durations.LATE


def test_what_the_type_says_stands_for_runs_that_are_missing() -> None:
    found = durations.measured(durations.filled([100.0, 1700.0], 90.0))
    assert len(found.seconds) == durations.ENOUGH
    assert found.usual_s == pytest.approx(100.0, rel=0.2)
    assert list(durations.filled([1.0] * 7, 90.0)) == [1.0] * 7
    assert list(durations.filled([1.0], 0.0)) == [1.0], "it says nothing"
