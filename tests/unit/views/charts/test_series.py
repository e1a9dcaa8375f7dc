"""Samples in rings, and how they are thinned."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Container, Iterable
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.monitor.history import History
from services.monitor.overview import Sample
from views.charts.series import EMPTY, Frame, Ring, SampleBuffer, filled, holed, level, looks_same, success, thin

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


def quiet(upto: int, **newest: int) -> Frame:
    """Of an hour in which something happened at first and nothing since, up to a second of it; a pixel is four."""
    buffer = SampleBuffer()
    rows = [Sample(at_ms=(START + at) * 1000, high=at % 7 if at < 1800 else 3) for at in range(upto)]
    buffer.append([*rows, Sample(at_ms=(START + upto) * 1000, **{"high": 3, **newest})])
    return buffer.frame(START + upto - 3600, START + upto, 900)


def test_a_second_in_which_nothing_happens_shows_the_same_until_a_pixel_has_gone_by() -> None:
    before, names = quiet(4000), ("high", "low")
    assert all(looks_same(before, quiet(upto), names, 4.0) for upto in (4000, 4001, 4003))
    assert not looks_same(before, quiet(4004), names, 4.0)
    assert not looks_same(before, quiet(4001), names, 0.5)
    assert not looks_same(before, quiet(4001, high=4), names, 4.0)
    assert looks_same(before, quiet(4001, unacked=4), names, 4.0), "no curve in sight"
    assert not looks_same(before, EMPTY, names, 4.0)


def test_curves_are_level_where_they_are_known_and_one_value_throughout() -> None:
    lately = quiet(5500)
    assert level(lately, ("high", "low"))
    assert not level(quiet(5500, high=4), ("high",))
    assert level(quiet(5500, high=4), ("low",))
    assert not any(level(one, ("high",)) for one in (EMPTY, Frame(lately.at[:1], {"high": lately["high"][:1]})))
    assert not level(Frame(lately.at, {"high": lately["high"]}, gaps=((START, START + 9),)), ("high",))
    lately["high"][5] = np.nan
    assert not level(lately, ("high",))


def test_what_was_told_late_of_an_older_second_is_seen() -> None:
    before, later = quiet(4000), quiet(4001)
    later["high"][len(later) // 2] += 1
    assert not looks_same(before, later, ("high",), 4.0)


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
    rows = np.zeros((100, 16))
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
    rows = np.zeros((10, 16))
    rows[:, 0] = np.arange(10) * 60
    assert thin(rows, 10.0) is rows


def recorded(
    path: Path, *runs: Iterable[int], untold: Container[int] = (), fields: Callable[[int], int] = int
) -> History:
    """What a recorder holds after programs that watched in these seconds, one after the other; the last is open."""
    for number, run in enumerate(runs):
        recorder = History(path)
        for second in run:
            told = second not in untold
            recorder.add(
                Sample(at_ms=(START + second) * 1000, high=fields(second) if told else 0, unacked=7, told=told)
            )
        if number < len(runs) - 1:
            recorder.close()
    return recorder


def drawn(recorder: History, first: int, last: int, points: int = 1000) -> Frame:
    """The frame of these seconds, as a page gets it."""
    buffer = SampleBuffer()
    buffer.append(recorder.series(90_000, 16_384, (START + last) * 1000))
    recorder.close()
    return buffer.frame(START + first, START + last, points)


@pytest.mark.parametrize("points", [1000, 240, 30, 5])
def test_an_absence_of_a_few_seconds_stays_a_gap_at_every_zoom(tmp_path: Path, points: int) -> None:
    """24 s between two programs, and 5 s in which one of them did not look."""
    seconds = (range(600), [*range(624, 900), *range(905, 1200)])
    for last in (1200, 7200, 86_400):
        frame = drawn(recorded(tmp_path / f"{last}.sqlite", *seconds), 0, last, points)
        assert frame.gaps == ((START + 599, START + 624), (START + 899, START + 905))
        assert {START + 599, START + 624, START + 899, START + 905} <= set(frame.at.tolist())


def test_a_gap_outlives_the_rolling_up(tmp_path: Path) -> None:
    long_ago = (range(30), range(54, 90), [*range(100, 120), *range(124, 140)])
    frame = drawn(recorded(tmp_path / "h.sqlite", *long_ago, range(4000, 4010)), 0, 4010)
    assert frame.gaps == tuple((START + a, START + b) for a, b in ((29, 54), (89, 100), (119, 124), (139, 4000)))


def test_ten_seconds_after_ten_seconds_are_no_gap(tmp_path: Path) -> None:
    """Nor is the place where the fine samples of the last hour begin."""
    frame = drawn(recorded(tmp_path / "h.sqlite", range(1000), range(1001, 6000)), 0, 6000)
    assert frame.gaps == ()
    assert frame.at[0] == START + 9


def test_a_machine_that_takes_a_sample_in_four_seconds_is_not_absent(tmp_path: Path) -> None:
    frame = drawn(recorded(tmp_path / "h.sqlite", [*range(0, 200, 4), *range(230, 300, 4)]), 0, 300)
    assert frame.gaps[-1] == (START + 196, START + 230)
    assert all(last <= START + 60 for _first, last in frame.gaps[:-1])


def test_what_an_older_program_recorded_is_joined_where_its_steps_are(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    History(path).close()
    with closing(sqlite3.connect(path)) as db, db:
        for second in (*range(9, 100, 10), *range(133, 200, 10)):
            row = msgspec.msgpack.encode([(START + second) * 1000, *[0] * 14])
            db.execute("INSERT INTO samples VALUES (?, ?)", (second, row))
    assert drawn(History(path), 0, 200).gaps == ((START + 99, START + 133),)


def test_what_the_broker_did_not_tell_is_not_known_and_the_rest_is(tmp_path: Path) -> None:
    lost = range(100, 140)
    recorder = recorded(tmp_path / "h.sqlite", range(300), untold=lost, fields=lambda second: 100 + second)
    for points in (1000, 20):
        frame = drawn(recorder, 0, 300, points)
        assert frame.untold == ((START + 99, START + 140),)
        assert frame.gaps == ()
        inside = (frame.at > START + 99) & (frame.at < START + 140)
        assert np.isnan(frame["high"][inside]).all()
        assert np.isnan(frame["unacked"][inside]).all()
        assert np.isfinite(frame["running"]).all()
        assert np.isfinite(frame["high"][~inside]).all()
    again = drawn(History(tmp_path / "h.sqlite"), 0, 300)
    assert again.untold == ((START + 99, START + 149),), "so says the file, to the end of its ten seconds"


def test_a_curve_without_instants_leaves_as_many_places_as_steps_are_missing(tmp_path: Path) -> None:
    frame = drawn(recorded(tmp_path / "h.sqlite", [*range(100), *range(130, 200)]), 0, 200)
    values = holed(frame, frame["running"])
    assert np.isnan(values[100:130]).all()
    assert np.isfinite(values).sum() == len(frame)


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


def test_a_peak_between_two_points_is_kept() -> None:
    buffer = SampleBuffer()
    buffer.append([Sample(at_ms=second * 1000, unacked=90 if second == 1133 else 4) for second in range(1000, 1600)])
    assert buffer.frame(1000, 1600, 60)["unacked"].max() == 90
