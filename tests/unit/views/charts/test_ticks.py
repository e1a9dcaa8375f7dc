"""Round numbers and round times."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from views.charts import ticks

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOON_UTC = 1_795_262_400  # 2026-11-21 12:00 UTC


@pytest.mark.parametrize(
    ("top", "lines", "expected"),
    [(2320, 5, [0, 500, 1000, 1500, 2000]), (10.6, 3, [0, 5, 10]), (139, 3, [0, 50, 100]), (4, 3, [0, 2, 4])],
)
def test_lines_stand_at_round_values(top: float, lines: int, expected: list[float]) -> None:
    assert ticks.values(top, lines) == expected


def test_what_is_not_counted_has_lines_below_one() -> None:
    assert ticks.values(0.464, 3) == [0]
    assert ticks.values(0.464, 3, whole=False) == pytest.approx([0, 0.2, 0.4])


@given(st.floats(1, 1e9), st.integers(1, 6))
def test_never_more_lines_than_asked_for(top: float, lines: int) -> None:
    assert 1 <= len(ticks.values(top, lines)) <= lines + 1


def test_a_limit_far_above_does_not_press_the_curve_flat() -> None:
    assert ticks.top_of(1400, 2000, 4) > 2000
    assert ticks.top_of(20, 2000, 4) < 30
    assert ticks.top_of(0, None, 4) > 4


def test_an_axis_stays_while_it_fits() -> None:
    assert ticks.keep_top(100, 90) == 100
    assert ticks.keep_top(100, 110) == 110
    assert ticks.keep_top(100, 40) == 40


def test_times_are_round_in_the_zone_of_the_profile() -> None:
    labels = [label for _at, label in ticks.times(NOON_UTC - 3600, NOON_UTC, 8, SHANGHAI)]
    assert labels == ["19:00", "19:10", "19:20", "19:30", "19:40", "19:50", "20:00"]
    fine = ticks.times(NOON_UTC - 60, NOON_UTC, 6, SHANGHAI)
    assert [label for _at, label in fine][-1] == "20:00:00"


def test_midnight_is_a_date_on_a_coarse_axis() -> None:
    labels = [label for _at, label in ticks.times(NOON_UTC - 86_400, NOON_UTC, 8, SHANGHAI)]
    assert "11-21" in labels
    assert len(labels) <= 9


@pytest.mark.parametrize(
    ("zone", "turn"),
    [("America/New_York", (2026, 11, 1)), ("Europe/Berlin", (2026, 10, 25)), ("America/New_York", (2026, 3, 8))],
)
@pytest.mark.parametrize("days", [1, 3, 7, 30])
def test_days_begin_at_midnight_also_before_the_clock_was_put_forward_or_back(
    zone: str, turn: tuple[int, int, int], days: int
) -> None:
    place = ZoneInfo(zone)
    end = datetime(*turn, 18, 20, tzinfo=place).timestamp()
    found = ticks.times(end - days * 86_400, end, 7, place)
    hours = [datetime.fromtimestamp(at, place).hour for at, _label in found]
    assert all(hour % (24 if days > 3 else 2) == 0 for hour in hours), found
    assert sorted(set(found)) == found
