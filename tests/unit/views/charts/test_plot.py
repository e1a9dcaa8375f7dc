"""Charts: what they draw, say and do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QContextMenuEvent, QImage, QPainter, QPaintEvent, QPixmap, QWheelEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.monitor.overview import Sample
from tests.support.painted import painted
from tests.unit.views.pages.overview.sample_source import NOW_MS, SampleSource
from views.charts import curves  # noqa: F401  (loaded, so that charts draw at once)
from views.charts.depth_chart import DepthChart
from views.charts.legend import Marker
from views.charts.line import Line
from views.charts.loading import scene_loader
from views.charts.plot import Plot, limit_room, paint_limit, paint_markers
from views.charts.rates_chart import RatesChart
from views.charts.series import EMPTY, Frame, SampleBuffer
from views.charts.time_window import TimeWindow
from views.charts.tooltip import Card, Reading, paint_card
from views.charts.unacked_chart import UnackedChart
from views.pages.past.then import ThenDepth
from views.pages.queues.panel import FlowPlot
from views.support import shown
from views.theme import theme
from views.theme.tokens import LANES as TOKENS

NOW = NOW_MS / 1000
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[TimeWindow]:
    shown.set_zone("Asia/Shanghai")
    window = TimeWindow(3600)
    window.set_now(NOW)
    yield window
    shown.set_zone("")


@pytest.fixture(scope="module")
def buffer() -> SampleBuffer:
    buffer = SampleBuffer()
    buffer.append(SampleSource().series(3600, 5000))
    return buffer


def show(qtbot: QtBot, plot: Plot, window: TimeWindow, buffer: SampleBuffer | None) -> Plot:
    qtbot.addWidget(plot)
    plot.resize(900, 260)
    if buffer is not None:
        plot.set_frame(buffer.frame(*window.bounds()))
    plot.show()
    return plot


@pytest.fixture
def depth(qtbot: QtBot, window: TimeWindow, buffer: SampleBuffer) -> DepthChart:
    chart = DepthChart(window)
    show(qtbot, chart, window, buffer)
    return chart


def picture(plot: Plot) -> QImage:
    return plot.grab().toImage()


@pytest.mark.parametrize(
    ("rate", "labels"),
    [(0.03, ["0", "1/min", "2/min"]), (0.5, ["0", "0.20", "0.40"]), (7.0, ["0", "5.0"])],
)
def test_the_axis_of_a_slow_queue_has_numbers(qtbot: QtBot, window: TimeWindow, rate: float, labels: list[str]) -> None:
    chart = FlowPlot(window)
    at = np.arange(NOW - 600, NOW, 5)
    rates = np.full(len(at), rate)
    qtbot.addWidget(chart)
    chart.resize(900, 260)
    chart.set_frame(Frame(at, {"in": rates, "out": rates}))
    chart.show()
    picture(chart)
    top = rate * 1.16
    assert [chart.say(one) for one in chart.grid(top, 3)] == labels


def test_areas_are_told_apart_without_their_colours(depth: DepthChart, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a glyph of each lane in its area; of the legend see there."""
    assert len({one.glyph for one in depth.series}) == len(depth.series)
    theme_pixmap, drawn = theme().pixmap, list[str]()

    def pixmap(name: str, *args: Any, **more: Any) -> QPixmap:
        drawn.append(name)
        return theme_pixmap(name, *args, **more)

    monkeypatch.setattr(theme(), "pixmap", pixmap)
    depth.resize(880, 250)
    picture(depth)
    assert {one.glyph for one in depth.series} >= set(drawn) >= {TOKENS["normal"].glyph}


def test_a_chart_without_samples_says_what_it_waits_for(qtbot: QtBot, window: TimeWindow, language: str) -> None:
    chart = show(qtbot, DepthChart(window), window, None)
    unasked = picture(chart)
    chart.set_frame(EMPTY)
    assert picture(chart) != unasked
    assert chart.card() is None
    assert chart.summary()


def test_a_chart_waits_for_the_library_of_its_curves_without_holding_up_anything(
    qtbot: QtBot, window: TimeWindow, buffer: SampleBuffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "views.charts.curves")
    chart = show(qtbot, DepthChart(window), window, buffer)
    with qtbot.waitSignal(scene_loader().ready):
        bare = picture(chart)
    assert picture(chart) != bare


def test_lanes_are_stacked_from_the_most_urgent_up(depth: DepthChart) -> None:
    assert [one.key for one in depth.series] == ["high", "dedicated", "normal", "low"]
    areas = depth.lines(depth.frame_shown)
    tops = [float(area.values[-1]) for area in areas]
    assert tops == sorted(tops, reverse=True)
    assert tops[0] == 42 + 158 + 768 + 316
    heights = [height for _role, height in depth.heights(depth.frame_shown, len(depth.frame_shown) - 1)]
    assert heights == [42, 200, 968, 1284]


def test_the_areas_have_the_colours_of_their_lanes(depth: DepthChart) -> None:
    image, rect = picture(depth), depth.plot_rect()
    top = depth._top
    for role, share, height in (("high", 60, 15), ("dedicated", 50, 110), ("normal", 38, 500), ("low", 42, 1150)):
        y = round(rect.bottom() - height / top * rect.height())
        assert image.pixelColor(round(rect.right()) - 20, y) == theme().tint(f"lane.{role}", share)


def test_a_hidden_lane_leaves_the_stack(depth: DepthChart) -> None:
    depth.set_hidden(frozenset({"normal", "low"}))
    assert depth.highest(depth.frame_shown) < 300
    assert [one.role for one in depth.lines(depth.frame_shown)] == ["lane.dedicated", "lane.high"]
    depth.set_hidden(frozenset({"high", "normal", "low"}))
    assert depth.total(depth.frame_shown, 0) is None


def test_the_card_reads_from_top_to_base_and_sums_up(depth: DepthChart, window: TimeWindow) -> None:
    window.set_cursor(NOW - 60)
    card = depth.card()
    assert card is not None
    assert [reading.label for reading in card.readings] == ["Low", "Normal", "Dedicated", "High"]
    assert card.total is not None
    total = sum(int(reading.value.replace(",", "")) for reading in card.readings)
    assert card.total.value == f"{total:,}"
    assert card.title.startswith("14:31:0")
    assert card.note.endswith(" ago")
    assert "Total" in card.sentence()


def test_the_mouse_moves_one_crosshair_for_all(
    qtbot: QtBot, depth: DepthChart, window: TimeWindow, buffer: SampleBuffer
) -> None:
    other = show(qtbot, UnackedChart(window), window, buffer)
    plain = picture(other)
    qtbot.mouseMove(depth, QPoint(400, 100))
    assert window.cursor == pytest.approx(depth.instant_at(400), abs=2)
    assert picture(other) != plain
    QApplication.sendEvent(depth, QEvent(QEvent.Type.Leave))
    assert window.cursor is None
    assert picture(other) == plain


def test_following_the_mouse_draws_no_curve_again(depth: DepthChart, window: TimeWindow) -> None:
    depth.grab()
    drawn = depth._picture
    window.set_cursor(NOW - 100)
    depth.grab()
    assert depth._picture is drawn


class Counted(DepthChart):
    """Knows how often its curves were drawn."""

    drawn = 0

    def lines(self, frame: Frame) -> list[Line]:
        self.drawn += 1
        return super().lines(frame)


def test_a_quiet_second_draws_no_curve_again_and_a_lively_one_does(qtbot: QtBot) -> None:
    window, quiet = TimeWindow(3600), SampleBuffer()
    quiet.append([Sample(at_ms=NOW_MS + at * 1000) for at in range(-3600, 1)])
    window.set_now(NOW, NOW - 3600)
    chart = Counted(window)
    show(qtbot, chart, window, quiet)
    chart.grab()
    drawn = chart.drawn

    def a_second_later(at: int, high: int = 0) -> int:
        quiet.append([Sample(at_ms=NOW_MS + at * 1000, high=high)])
        window.set_now(NOW + at, NOW - 3600)
        chart.set_frame(quiet.frame(*window.bounds()))
        chart.grab()
        return chart.drawn

    assert a_second_later(1) == drawn
    assert a_second_later(5) == drawn + 1, "a pixel has gone by"
    assert a_second_later(6, high=9) == drawn + 2


def test_curves_on_which_nothing_happens_are_drawn_every_few_seconds_unless_somebody_points_at_them(
    qtbot: QtBot,
) -> None:
    window, buffer = TimeWindow(3600), SampleBuffer()
    buffer.append([Sample(at_ms=NOW_MS + at * 1000, high=7) for at in range(-30, 1)])
    window.set_now(NOW, NOW - 30)
    chart = Counted(window)
    show(qtbot, chart, window, buffer)
    chart.grab()
    drawn = chart.drawn

    def second(at: int, high: int = 7) -> int:
        nonlocal drawn
        buffer.append([Sample(at_ms=NOW_MS + at * 1000, high=high)])
        window.set_now(NOW + at, NOW - 30)
        chart.set_frame(buffer.frame(*window.bounds()))
        chart.grab()
        before, drawn = drawn, chart.drawn
        return drawn - before

    assert [second(at) for at in range(1, 11)] == [0, 0, 0, 0, 1] * 2
    assert (second(11), second(12)) == (0, 0)
    window.set_cursor(NOW)
    chart.grab()
    assert chart.drawn == drawn + 1, "what is pointed at is where it is said to be"
    drawn += 1
    assert (second(13), second(14)) == (1, 1)
    window.set_cursor(None)
    assert second(15, high=8) == 1
    assert second(16) == 1


def test_curves_at_rest_come_back_after_nothing_was_known(qtbot: QtBot, window: TimeWindow) -> None:
    buffer = SampleBuffer()
    buffer.append([Sample(at_ms=NOW_MS + at * 1000, high=7) for at in range(-3600, 1)])
    chart = show(qtbot, DepthChart(window), window, buffer)
    drawn, frame = picture(chart), chart.frame_shown
    chart.set_frame(EMPTY)
    assert picture(chart) != drawn
    chart.set_frame(frame)
    assert picture(chart) == drawn


def test_arrows_step_by_a_sample(qtbot: QtBot, depth: DepthChart, window: TimeWindow) -> None:
    depth.setFocus()
    qtbot.keyClick(depth, Qt.Key.Key_Left)
    assert window.cursor == depth.frame_shown.at[-1]
    qtbot.keyClick(depth, Qt.Key.Key_Left)
    assert window.cursor == depth.frame_shown.at[-2]
    qtbot.keyClick(depth, Qt.Key.Key_Right)
    qtbot.keyClick(depth, Qt.Key.Key_Right)
    assert window.cursor == depth.frame_shown.at[-1]
    qtbot.keyClick(depth, Qt.Key.Key_Home)
    assert window.cursor == depth.frame_shown.at[0]
    qtbot.keyClick(depth, Qt.Key.Key_Escape)
    assert window.cursor is None


def test_a_screen_reader_hears_the_sample_under_the_keys(qtbot: QtBot, depth: DepthChart) -> None:
    assert depth.accessibleName() == "Queued or held up, by lane"
    depth.setFocus()
    depth.activateWindow()
    qtbot.waitUntil(depth.hasFocus)
    qtbot.keyClick(depth, Qt.Key.Key_End)
    assert "Total 1,284" in depth.accessibleDescription()


def wheel(plot: Plot, x: float, turned: int) -> None:
    where = QPointF(x, 100)
    event = QWheelEvent(
        where,
        QPointF(plot.mapToGlobal(where.toPoint())),
        QPoint(),
        QPoint(0, turned),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(plot, event)


def test_wheel_zooms_drag_pans_double_click_resets(qtbot: QtBot, depth: DepthChart, window: TimeWindow) -> None:
    wheel(depth, 400, 240)
    start, end = window.bounds()
    assert end - start == pytest.approx(3600 * 0.64)
    qtbot.mousePress(depth, LEFT, pos=QPoint(300, 100))
    qtbot.mouseMove(depth, QPoint(400, 100))
    qtbot.mouseRelease(depth, LEFT, pos=QPoint(400, 100))
    assert window.bounds()[0] < start
    qtbot.mouseDClick(depth, LEFT, pos=QPoint(300, 100))
    assert window.bounds() == (NOW - 3600, NOW)
    assert window.live


def test_shift_and_drag_choose_a_span(qtbot: QtBot, depth: DepthChart, window: TimeWindow) -> None:
    shift = Qt.KeyboardModifier.ShiftModifier
    with qtbot.waitSignal(depth.span_chosen) as signal:
        qtbot.mousePress(depth, LEFT, shift, QPoint(500, 100))
        qtbot.mouseMove(depth, QPoint(300, 100))
        qtbot.mouseRelease(depth, LEFT, shift, QPoint(300, 100))
    first, last = signal.args
    assert first < last
    assert window.live


def test_limit_and_markers_are_drawn(depth: DepthChart) -> None:
    plain = picture(depth)
    depth.set_limit(2000)
    limited = picture(depth)
    assert limited != plain
    depth.set_markers([Marker(NOW_MS - 1_200_000, "2.14.1 on rpa-03"), Marker(NOW_MS - 1_190_000, "rpa-06 silent")])
    assert picture(depth) != limited


class _TopOfAChart(QWidget):
    """A limit out of sight, named at the top left, and a mark just there."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        taken = limit_room(QRectF(40, 8, 400, 100), 20.0, "limit 2,000 ↑")
        paint_markers(painter, QRectF(40, 8, 400, 100), [(70.0, "Timed out: 58, shops: 20", "dead")], taken)
        paint_limit(painter, taken, "limit 2,000 ↑", "text3")


def test_the_words_of_a_mark_do_not_meet_those_of_the_limit(qtbot: QtBot) -> None:
    top = _TopOfAChart()
    qtbot.addWidget(top)
    top.resize(460, 140)
    top.show()
    mark, limit = painted(top)
    assert (mark.text, limit.text) == ("Timed out: 58, shops: 20", "limit 2,000 ↑")
    assert not mark.box.intersects(limit.box)


def test_a_gap_is_not_drawn_as_a_line(qtbot: QtBot, window: TimeWindow) -> None:
    buffer = SampleBuffer()
    every = SampleSource().series(3600, 5000)
    buffer.append(every[:1000])
    buffer.append(every[2000:])
    chart = show(qtbot, DepthChart(window), window, buffer)
    image, rect = picture(chart), chart.plot_rect()
    spot = QPointF(chart.x_of(every[1500].at_ms / 1000), rect.bottom() - 6).toPoint()
    assert image.pixelColor(spot) == theme().tint("text3", 7)


def test_a_gap_between_zeros_is_no_line_of_zeros(qtbot: QtBot, window: TimeWindow) -> None:
    every = [replace(one, unacked=0) for one in SampleSource().series(3600, 5000)]
    buffer = SampleBuffer()
    buffer.append(every[:1000])
    buffer.append(every[2000:])
    chart = show(qtbot, UnackedChart(window), window, buffer)
    image, rect = picture(chart), chart.plot_rect()
    at = round(chart.x_of(every[1500].at_ms / 1000))
    below = [image.pixelColor(at, round(rect.bottom()) + down).name() for down in range(3)]
    assert set(below) <= {theme().color("surface").name(), theme().tint("text3", 7).name()}


@pytest.mark.parametrize("range_s", [300, 3600, 86_400])
def test_an_absence_of_seconds_cuts_the_curve_whatever_is_in_sight(
    qtbot: QtBot, window: TimeWindow, range_s: int
) -> None:
    window.set_range(range_s)
    every = SampleSource().series(3600, 5000)
    buffer = SampleBuffer()
    buffer.append([*every[:-150], *every[-126:]])
    chart = show(qtbot, DepthChart(window), window, buffer)
    image, rect = picture(chart), chart.plot_rect()
    spot = QPointF(chart.x_of(every[-139].at_ms / 1000), rect.bottom() - 6).toPoint()
    assert image.pixelColor(spot) == theme().tint("text3", 7)


def test_what_the_broker_did_not_tell_is_a_hole_in_its_charts_alone(qtbot: QtBot, window: TimeWindow) -> None:
    every = list(SampleSource().series(3600, 5000))
    buffer = SampleBuffer()
    buffer.append([replace(one, told=not 1000 <= place < 2000) for place, one in enumerate(every)])
    middle = every[1500].at_ms / 1000
    for chart, hole in ((DepthChart(window), True), (UnackedChart(window), True), (RatesChart(window), False)):
        show(qtbot, chart, window, buffer)
        rect = chart.plot_rect()
        spot = QPointF(chart.x_of(middle), rect.bottom() - 6).toPoint()
        assert (picture(chart).pixelColor(spot) == theme().tint("text3", 7)) is hole
        window.set_cursor(middle)
        card = chart.card()
        assert card is not None
        assert ({reading.value for reading in card.readings} == {"not known"}) is hole
        assert "nan" not in chart.summary()
        window.set_cursor(None)


def test_rates_read_with_one_decimal_and_slots_are_words(
    qtbot: QtBot, window: TimeWindow, buffer: SampleBuffer
) -> None:
    rates = RatesChart(window)
    show(qtbot, rates, window, buffer)
    assert [rates.say(value) for value in (0, 4.77, 5.0, 12.3, 1234)] == ["0", "4.8", "5", "12", "1,234"]
    assert "a second" in rates.summary()
    unacked = UnackedChart(window)
    show(qtbot, unacked, window, buffer)
    unacked.set_limit(120)
    assert unacked.limit_text(120) == "120 slots"
    assert unacked.limit_text(1) == "1 slot"


def test_the_numbers_can_be_read_as_a_table(depth: DepthChart, monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[list[str]] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, _place: offered.append([a.text() for a in menu.actions()]))
    depth.contextMenuEvent(QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), QPoint(5, 5)))
    assert offered == [["Show as table", "Show the whole range"]]
    depth.set_hidden(frozenset({"high"}))
    dialog = depth.show_table()
    model = dialog.model
    assert model.rowCount() == len(depth.frame_shown)
    headers = [model.headerData(at, Qt.Orientation.Horizontal) for at in range(model.columnCount())]
    assert headers == ["Time", "Dedicated", "Normal", "Low"]
    assert [model.index(0, at).data() for at in (1, 2, 3)] == ["158", "768", "316"]
    dialog.close()


def test_it_follows_theme_and_language(qtbot: QtBot, depth: DepthChart) -> None:
    dark = picture(depth)
    theme().set_mode("light")
    assert picture(depth) != dark
    i18n.set_language("zh_CN")
    assert depth.accessibleName()


@pytest.mark.parametrize("height", [112, 150, 400])
def test_the_card_of_the_crosshair_fits_a_low_chart(height: int, qapp: QApplication) -> None:
    lanes = tuple(Reading(word, "1,284", "text") for word in ("Low", "Normal", "Dedicated", "High"))
    card = Card("11-15 14:00", "11 days ago", lanes, Reading("Total", "5,136"))
    picture = QPixmap(600, height)
    painter = QPainter(picture)
    box = paint_card(painter, card, QRectF(0, 2, 600, height - 2), 300)
    painter.end()
    assert box.bottom() <= height


def test_what_is_read_off_after_a_moment_of_the_past_lies_over_what_dims_that(
    qtbot: QtBot, window: TimeWindow, buffer: SampleBuffer
) -> None:
    then = ThenDepth(window)
    then.moment_ms = NOW_MS - 1_800_000
    show(qtbot, then, window, buffer)
    qtbot.mouseMove(then, QPoint(700, 100))
    seen, ground = picture(then), theme().color("raised").rgb()
    clear = sum(seen.pixel(x, y) == ground for x in range(seen.width()) for y in range(seen.height()))
    assert clear > 10_000, "the ground of the card is its own colour"
