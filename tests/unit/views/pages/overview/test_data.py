"""What the page asks for, and how often."""

from __future__ import annotations

from tests.unit.views.pages.overview.sample_source import NOW_MS, SampleSource
from views.pages.overview.page import OVERLAP_S, OverviewData


def test_a_range_is_asked_for_once_then_only_what_is_new() -> None:
    source = SampleSource()
    data = OverviewData(source)
    data.history(300)
    assert source.asked_series == [300]
    source.at_ms += 3_000
    history = data.history(300)
    assert max(source.asked_series[1:]) <= 3 + OVERLAP_S
    assert history.newest_ms == NOW_MS // 1000 * 1000 + 3_000
    assert len(data.buffer.frame(NOW_MS / 1000 - 400, NOW_MS / 1000 + 10, 5000)) == 303


def test_another_range_is_asked_for_anew() -> None:
    source = SampleSource()
    data = OverviewData(source)
    data.history(300)
    history = data.history(3600)
    assert source.asked_series[-1] == 3600
    assert len(history.curves) <= 242


def test_after_a_pause_the_hole_is_filled() -> None:
    source = SampleSource()
    data = OverviewData(source)
    data.history(3600)
    source.at_ms += 600_000
    data.history(3600)
    frame = data.buffer.frame(NOW_MS / 1000, source.at_ms / 1000, 5000)
    assert frame.gaps == ()
    assert len(frame) >= 600


def test_no_samples_yet() -> None:
    data = OverviewData(SampleSource(empty=True))
    history = data.history(3600)
    assert (history.newest_ms, len(history.curves)) == (0, 0)


def test_shops_are_put_in_order_with_each_look() -> None:
    assert OverviewData(SampleSource()).look().rows.total == 312


def test_it_knows_since_when_there_are_samples() -> None:
    history = OverviewData(SampleSource()).history(300)
    assert NOW_MS - 301_000 <= history.oldest_ms <= NOW_MS - 299_000


def test_a_long_range_is_not_filled_second_by_second() -> None:
    source = SampleSource()
    data = OverviewData(source)
    assert [mark.name for mark in data.history(604_800).marks] == ["0.4.3", "success"]
    source.at_ms += 3_000
    data.history(604_800)
    assert source.asked_series.count(604_800) == 1
    assert max(source.asked_series[1:]) <= OVERLAP_S
