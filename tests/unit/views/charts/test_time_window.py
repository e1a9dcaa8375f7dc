"""The span of time the charts share."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from views.charts.time_window import MIN_SPAN_S, TimeWindow

NOW = 1_000_000.0


@pytest.fixture
def window(qtbot: QtBot) -> TimeWindow:
    window = TimeWindow(3600)
    window.set_now(NOW)
    return window


def test_it_follows_the_present(window: TimeWindow) -> None:
    window.set_now(NOW + 5)
    assert window.live
    assert window.bounds() == (NOW - 3595, NOW + 5)


def test_zoom_keeps_the_instant_under_the_mouse(window: TimeWindow) -> None:
    window.zoom(0.5, NOW - 1800)
    start, end = window.bounds()
    assert (start + end) / 2 == pytest.approx(NOW - 1800)
    assert end - start == pytest.approx(1800)
    assert not window.live


def test_zoom_at_the_right_edge_stays_live(window: TimeWindow) -> None:
    window.zoom(0.5, NOW)
    assert window.live
    assert window.bounds() == (NOW - 1800, NOW)


def test_zoom_ends_at_the_range_and_at_the_least_span(window: TimeWindow) -> None:
    window.zoom(100, NOW - 10)
    assert window.bounds() == (NOW - 3600, NOW)
    for _turn in range(60):
        window.zoom(0.5, NOW - 1800)
    start, end = window.bounds()
    assert end - start == pytest.approx(MIN_SPAN_S)


def test_pan_ends_at_both_ends_and_coming_back_is_live_again(window: TimeWindow) -> None:
    window.zoom(0.5, NOW - 1800)
    window.pan(-1e9)
    assert window.bounds() == (NOW - 3600, NOW - 1800)
    window.pan(1e9)
    assert window.live


def test_reset_and_another_range(qtbot: QtBot, window: TimeWindow) -> None:
    window.zoom(0.2, NOW - 1800)
    window.set_cursor(NOW - 1800)
    with qtbot.waitSignal(window.moved):
        window.reset()
    assert window.bounds() == (NOW - 3600, NOW)
    window.set_range(300)
    assert window.bounds() == (NOW - 300, NOW)
    assert window.cursor is None


def test_a_cursor_that_stays_is_not_told(qtbot: QtBot, window: TimeWindow) -> None:
    window.set_cursor(5.0)
    with qtbot.assertNotEmitted(window.cursor_changed):
        window.set_cursor(5.0)


def test_a_young_history_ends_at_the_present_and_shows_no_future(window: TimeWindow) -> None:
    window.set_now(NOW, NOW - 20)
    assert window.bounds() == (NOW - 60, NOW)
    window.set_now(NOW + 280, NOW - 20)
    assert window.bounds() == (NOW - 20, NOW + 280)
    window.set_now(NOW + 8000, NOW - 20)
    assert window.bounds() == (NOW + 4400, NOW + 8000)


def test_a_young_history_can_be_zoomed_and_shown_whole_again(window: TimeWindow) -> None:
    window.set_now(NOW, NOW - 600)
    window.zoom(0.5, NOW - 300)
    start, end = window.bounds()
    assert end - start == pytest.approx(300)
    window.zoom(100, NOW - 300)
    assert window.live
    assert window.bounds() == (NOW - 600, NOW)
