"""Samples in rings, and how they are thinned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.monitor.overview import Sample
from views.charts.series import EMPTY, Frame, Ring, SampleBuffer, filled, find_gaps, success, thin

START = 1_795_000_000


def samples(first: int, count: int, step: int = 1) -> list[Sample]:
    return [Sample(at_ms=(START + first + n * step) * 1000, high=n, publish=float(n % 4)) for n in range(count)]


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 12))
def test_a_ring_keeps_the_newest_rows_in_order(chunks: list[int], capacity: int) -> None:
    ring, said = Ring(1, capacity), 0
    for size in chunks:
        ring.extend(np.arange(said, said + size, dtype=float)[:, None])
        said += size
    expected = list(range(max(0, said - capacity), said))
    assert ring.rows()[:, 0].tolist() == expected
    assert len(ring) == len(expected)


def test_a_buffer_takes_only_newer_samples() -> None:
    buffer = SampleBuffer()
    buffer.append(samples(0, 10))
    buffer.append(samples(5, 10))
    frame = buffer.frame(START - 1, START + 100)
    assert frame.at.tolist() == [START + n for n in range(15)]
    assert buffer.newest_ms() == (START + 14) * 1000


def test_replacing_forgets() -> None:
    buffer = SampleBuffer()
    buffer.append(samples(50, 10))
    buffer.replace(samples(0, 3))
    assert len(buffer.frame(START - 1, START + 100)) == 3


def test_a_frame_reaches_over_both_edges() -> None:
    buffer = SampleBuffer()
    buffer.append(samples(0, 60))
    frame = buffer.frame(START + 10.5, START + 20.5)
    assert (frame.at[0], frame.at[-1]) == (START + 10, START + 21)


def test_a_day_becomes_a_thousand_points_and_the_newest_stays() -> None:
    buffer = SampleBuffer()
    buffer.append(samples(0, 8640, step=10))
    frame = buffer.frame(START, START + 86_400, 1000)
    assert len(frame) <= 1002
    assert frame.at[-1] == START + 86_390


def test_thinning_keeps_the_peak_of_depth_and_the_mean_of_rates() -> None:
    rows = np.zeros((100, 15))
    rows[:, 0] = np.arange(1000, 1100)
    rows[37, 1] = 500
    rows[:, 9] = [n % 4 for n in range(100)]
    thinned = thin(rows, 10.0)
    assert thinned[:, 1].max() == 500
    assert 1037 in thinned[:, 0]
    assert 1 <= thinned[:, 9].mean() <= 2


def test_a_moving_window_shows_the_same_points_again() -> None:
    buffer = SampleBuffer()
    buffer.append(samples(0, 7200))
    first = buffer.frame(START + 100, START + 3700, 200)
    later = buffer.frame(START + 150, START + 3750, 200)
    inner = first.at[(first.at > START + 300) & (first.at < START + 3600)]
    assert set(inner.tolist()) <= set(later.at.tolist())


def test_nothing_is_thinned_below_its_own_distance() -> None:
    rows = np.zeros((10, 15))
    rows[:, 0] = np.arange(10) * 60
    assert thin(rows, 10.0) is rows


def test_a_hole_is_found_and_a_coarse_history_is_none() -> None:
    assert find_gaps(np.array([0.0, 1, 2, 3, 120, 121])) == ((3.0, 120.0),)
    assert find_gaps(np.concatenate([np.arange(0, 3000, 10.0), np.arange(3000, 3060, 1.0)])) == ()
    assert find_gaps(np.array([0.0, 1.0])) == ()


@pytest.mark.parametrize(("instant", "index"), [(-5, 0), (0, 0), (1.4, 1), (1.6, 2), (99, 3)])
def test_the_nearest_point(instant: float, index: int) -> None:
    frame = Frame(np.array([0.0, 1, 2, 3]), {})
    assert frame.index_at(instant) == index
    assert EMPTY.index_at(instant) == -1


def test_success_is_a_share_of_what_ended_and_survives_a_restart_of_the_counters() -> None:
    at = np.arange(6) * 60.0
    columns = {"succeeded": np.array([100.0, 109, 118, 3, 12, 12]), "failed": np.array([10.0, 11, 12, 0, 1, 1])}
    share = success(Frame(at, columns), 60)
    assert np.isnan(share[0])
    assert share[1] == pytest.approx(0.9)
    assert share[3] == pytest.approx(1.0)
    assert np.isnan(share[5])


def test_unknown_values_are_filled_from_before() -> None:
    nan = np.nan
    assert filled(np.array([nan, 1, nan, 3])).tolist() == [1, 1, 1, 3]
    assert filled(np.array([nan, nan])).tolist() == []


def test_a_short_time_off_is_a_gap_also_after_a_restart() -> None:
    coarse = [Sample(at_ms=second * 1000) for second in range(1000, 1300, 10)]
    fine = [Sample(at_ms=second * 1000) for second in range(1330, 1400)]
    buffer = SampleBuffer()
    buffer.append([*coarse, *fine])
    assert buffer.frame(1000, 1400).gaps == ((1290.0, 1330.0),)


def test_a_peak_between_two_points_is_kept() -> None:
    buffer = SampleBuffer()
    buffer.append([Sample(at_ms=second * 1000, unacked=90 if second == 1133 else 4) for second in range(1000, 1600)])
    assert buffer.frame(1000, 1600, 60)["unacked"].max() == 90
