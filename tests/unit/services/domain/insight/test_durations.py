"""How long tasks take of late, also where that changes."""

from __future__ import annotations

import pytest

from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Ran

USUAL = (55.0, 58.0, 60.0, 62.0, 65.0)


def ended(*seconds: float, since: int = 0) -> list[Ran]:
    """One began after the other."""
    return [Ran(since + place, one) for place, one in enumerate(seconds)]


def running(*seconds: float) -> list[Ran]:
    """They have begun last."""
    return [Ran(10**6 + place, one, ended=False) for place, one in enumerate(seconds)]


def test_the_newest_tell_and_not_what_was_long_ago() -> None:
    assert durations.of_late(ended(*[60.0] * 44, *[600.0] * 6)).usual_s == 600.0
    assert durations.of_late(ended(*[600.0] * 44, *[60.0] * 6)).usual_s == 60.0
    assert not durations.of_late([]).known


def test_what_runs_longer_than_any_before_counts_before_it_has_ended() -> None:
    usual = durations.of_late(ended(*USUAL))
    assert usual.seconds == USUAL
    assert durations.of_late(ended(*USUAL) + running(5.0, 7.0)).usual_s == pytest.approx(usual.usual_s, rel=0.05)
    late = durations.of_late(ended(*USUAL * 3) + running(*[900.0] * 4))
    assert late.overdue
    assert late.usual_s == pytest.approx(900.0), "a page has become slow"
    one = durations.of_late(ended(*USUAL * 3) + running(900.0))
    assert one.usual_s == pytest.approx(60.0, rel=0.1), "one that is slow says little of the others"
    assert one.at(0.99) >= 900.0


def test_long_ones_that_are_seen_running_do_not_make_all_of_them_long() -> None:
    uneven = (60.0, 20.0, 400.0, 30.0, 120.0, 40.0, 200.0, 80.0) * 2
    found = durations.of_late(ended(*uneven) + running(90.0, 150.0, 210.0))
    assert found.usual_s < 140.0
    assert found.at(0.2) < 45.0, "those that end soon end soon still"


def test_what_the_type_says_stands_for_runs_that_are_missing() -> None:
    found = durations.measured(one.seconds for one in durations.filled(ended(100.0, 1700.0), 90.0))
    assert len(found.seconds) == durations.ENOUGH
    assert found.usual_s == pytest.approx(100.0, rel=0.2)
    assert list(durations.filled(ended(*[1.0] * 7), 90.0)) == ended(*[1.0] * 7)
    assert list(durations.filled(ended(1.0), 0.0)) == ended(1.0), "it says nothing"
