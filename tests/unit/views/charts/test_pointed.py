"""A chart that draws itself is read point by point: by keys, by the mouse, by who does not see it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow, QTableView
from pytestqt.qtbot import QtBot

from services.domain.insight.forecast.outlook import Load, forecast
from tests.support.controls import entries_of
from tests.unit.views.pages.batches.test_forecast import batch
from views.charts.pointed import Head, Point, PointedChart
from views.dialogs.republish.speed import WaitingPlot
from views.pages.batches.forecast import BatchForecast


class Samples(PointedChart):
    """Three points, of which the last one knows only one of two values."""

    many = 3

    def heads(self) -> tuple[Head, ...]:
        """Two values."""
        return Head("Time"), Head("Done", "succeeded"), Head("Waiting", "lane.normal")

    def points(self) -> list[Point]:
        """A third of the width apart."""
        said = [("09:00", "1", "9"), ("09:05", "4", "6"), ("09:10", "8", "")]
        return [Point(50 + 100 * place, cells) for place, cells in enumerate(said[: self.many])]

    def summary(self) -> str:
        """What it comes to."""
        return "8 done"

    def room(self) -> QRectF:
        """All of it."""
        return QRectF(self.rect())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """What is pointed at alone."""
        self.paint_pointed(QPainter(self))


@pytest.fixture
def chart(qtbot: QtBot) -> Iterator[Samples]:
    """In a window that has the keyboard; the chart has it, too."""
    made, window = Samples(), QMainWindow()
    qtbot.addWidget(window)
    window.setCentralWidget(made)
    window.resize(300, 120)
    made.retell()
    window.show()
    window.activateWindow()
    made.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(made.hasFocus)
    yield made
    window.close()


def picture(chart: PointedChart) -> QImage:
    """As it is seen now."""
    return chart.grab().toImage()


def test_the_keyboard_shows_a_ring_and_goes_from_point_to_point(chart: Samples) -> None:
    assert chart.focusPolicy() == Qt.FocusPolicy.StrongFocus
    ring = picture(chart)
    said = [chart.accessibleDescription()]
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_Left, Qt.Key.Key_End, Qt.Key.Key_Right):
        QTest.keyClick(chart, key)
        said.append(chart.accessibleDescription())
    assert said == [
        "8 done",
        "09:10: Done 8",
        "09:05: Done 4, Waiting 6",
        "09:00: Done 1, Waiting 9",
        "09:00: Done 1, Waiting 9",
        "09:10: Done 8",
        "09:10: Done 8",
    ]
    assert picture(chart) != ring
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    assert (chart.accessibleDescription(), picture(chart)) == ("8 done", ring)
    chart.clearFocus()
    assert picture(chart) != ring


def test_what_is_read_stays_as_points_go(chart: Samples) -> None:
    QTest.keyClick(chart, Qt.Key.Key_End)
    chart.many = 2
    chart.retell()
    assert chart.accessibleDescription() == "09:05: Done 4, Waiting 6"
    chart.many = 0
    chart.retell()
    QTest.keyClick(chart, Qt.Key.Key_Left)
    assert chart.accessibleDescription() == "8 done"


def test_the_mouse_reads_what_is_near(chart: Samples) -> None:
    chart.clearFocus()
    QTest.mouseMove(chart, QPoint(158, 40))
    assert chart.accessibleDescription() == "09:05: Done 4, Waiting 6"
    QTest.mouseMove(chart, QPoint(200, 40))
    assert chart.accessibleDescription() == "8 done"


def test_all_of_it_is_a_table(chart: Samples, qtbot: QtBot) -> None:
    entries_of(chart, QPoint(1, 1))["Show as table"].trigger()
    (table,) = (one for one in chart.window().findChildren(QTableView) if one.isVisible())
    model = table.model()
    assert [[model.index(row, at).data() for at in range(3)] for row in range(3)] == [
        ["09:10", "8", ""],
        ["09:05", "4", "6"],
        ["09:00", "1", "9"],
    ]
    table.window().close()


def test_forecasts_are_read_in_this_way(qtbot: QtBot) -> None:
    waiting, ends = WaitingPlot(), BatchForecast()
    for one in (waiting, ends):
        qtbot.addWidget(one)
        one.resize(400, 168)
    waiting.show_outlook(forecast(Load(slots=2, busy=2, waiting=10), 5))
    ends.show_batch(batch())
    QTest.keyClick(waiting, Qt.Key.Key_Home)
    assert waiting.accessibleDescription() == "now: with these tasks 15, without these tasks 10"
    QTest.keyClick(ends, Qt.Key.Key_Left)
    assert ends.accessibleDescription().endswith(": Forecast 9")
    QTest.keyClick(ends, Qt.Key.Key_Home)
    assert ends.accessibleDescription().endswith(": Succeeded 1")
    for one in (waiting, ends):
        places = [point.x for point in one.points()]
        assert places == sorted(places)
        assert one.room().left() - 1 <= places[0]
        assert places[-1] <= one.width()
        assert not one.grab().isNull()


def test_the_points_are_asked_for_once_while_they_stand_still(chart: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    tell = Samples.points

    def counted(self: Samples) -> list[Point]:
        asked.append(1)
        return tell(self)

    monkeypatch.setattr(Samples, "points", counted)
    chart.retell()
    assert not asked, "nobody points at them"
    for x in (50, 150, 250, 50):
        QTest.mouseMove(chart, QPoint(x, 40))
        picture(chart)
    assert len(asked) == 1
    chart.resize(chart.width() + 20, chart.height())
    picture(chart)
    assert len(asked) == 2
