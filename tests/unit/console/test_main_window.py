"""The window: pages come and go, nothing else."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from console.main_window import MainWindow
from console.navigation import PageSpec
from tests.unit.views.pages.overview.sample_source import NOW_MS, SampleSource
from views.charts import curves  # noqa: F401  (loaded, so that charts draw at once)
from views.charts.depth_chart import DepthChart
from views.charts.series import Frame, SampleBuffer
from views.charts.time_window import TimeWindow
from views.page import Page
from views.support import safe
from views.support.throttle import turns
from views.theme import theme


class Noted(Page):
    """Remembers what was asked of it."""

    made: list[str] = []  # noqa: RUF012

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        self.seen: list[object] = []
        self.barred, self.painted = "", False
        Noted.made.append(name)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.painted = True

    def activate(self) -> None:
        self.seen.append("activate")

    def deactivate(self) -> None:
        self.seen.append("deactivate")

    def refresh(self) -> None:
        self.seen.append("refresh")

    def set_acting(self, reason: str) -> None:
        self.barred = reason

    def show_request(self, request: object) -> None:
        self.seen.append(request)


def spec(name: str) -> PageSpec:
    return PageSpec(id=name, title=name, icon="ph.gauge", factory=lambda: Noted(name))


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> MainWindow:
    theme().install(qapp)
    Noted.made = []
    window = MainWindow([spec("a"), spec("b"), spec("c")])
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    return window


def seen(window: MainWindow, name: str) -> list[object]:
    page = window.page(name)
    assert isinstance(page, Noted)
    return page.seen


def test_pages_are_made_when_first_opened(qtbot: QtBot, window: MainWindow) -> None:
    assert Noted.made == []
    assert window.current == ""
    with qtbot.waitSignal(window.page_changed) as signal:
        window.open_page("a")
    assert signal.args == ["a"]
    window.open_page("b")
    window.open_page("a")
    assert Noted.made == ["a", "b"]
    assert seen(window, "a") == ["activate", "deactivate", "activate"]


def test_a_page_opens_another_with_a_request(window: MainWindow) -> None:
    window.open_page("a")
    window.page("a").navigate.emit("b", "status:dead")
    assert window.current == "b"
    assert seen(window, "b") == ["activate", "status:dead"]
    window.open_page("b", "status:held")
    assert seen(window, "b")[-1] == "status:held"
    window.open_page("nobody")
    assert window.current == "b"


def test_a_page_that_is_opened_while_nothing_may_be_changed_is_told(window: MainWindow) -> None:
    window.open_page("a")
    window.set_acting("Not while the connection is lost")
    window.open_page("b")
    reasons = [page.barred for page in map(window.page, ("a", "b", "c")) if isinstance(page, Noted)]
    assert reasons == ["Not while the connection is lost"] * 3
    window.set_acting("")
    assert [page.barred for page in map(window.page, ("a", "b", "c")) if isinstance(page, Noted)] == [""] * 3


def test_back_and_forward(qtbot: QtBot, window: MainWindow) -> None:
    for name in ("a", "b", "c"):
        window.open_page(name)
    qtbot.keyClick(window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert window.current == "b"
    window.back()
    window.back()
    assert window.current == "a"
    assert QToolTip.text() == safe.tooltip("There is no page to go back to")
    qtbot.keyClick(window, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert window.current == "b"
    window.open_page("a")
    window.forward()
    assert window.current == "a"
    assert QToolTip.text() == safe.tooltip("There is no page to go forward to")


def test_the_rail_opens_pages(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.AltModifier)
    assert window.current == "b"


def test_f5_refreshes_or_reconnects(qtbot: QtBot, window: MainWindow) -> None:
    window.refresh()
    window.open_page("a")
    qtbot.keyClick(window, Qt.Key.Key_F5)
    assert seen(window, "a")[-1] == "refresh"
    window.banner.show_loss("Redis lost at 14:32:07.", "As it was then.", 5.0, 5.0)
    with qtbot.waitSignal(window.banner.try_now):
        qtbot.keyClick(window, Qt.Key.Key_F5)
    window.banner.clear()


def test_narrow_windows_fold_the_rail_for_a_while(window: MainWindow) -> None:
    window.resize(1600, 900)
    assert not window.rail.collapsed
    window.resize(1200, 800)
    assert window.rail.collapsed
    window.resize(1600, 900)
    assert not window.rail.collapsed
    window.rail.toggle()
    window.resize(1500, 900)
    assert window.rail.collapsed


def test_state_is_kept(qtbot: QtBot, window: MainWindow) -> None:
    window.open_page("b")
    window.resize(1600, 900)
    window.rail.toggle()
    other = MainWindow([spec("a"), spec("b")])
    qtbot.addWidget(other)
    other.restore_state(window.save_state())
    assert other.current == "b"
    assert other.geometry() == window.geometry() or other.width() >= 960
    assert other.rail.collapsed


def test_a_click_is_heard_before_a_page_that_was_opened_is_painted(qtbot: QtBot, window: MainWindow) -> None:
    window.open_page("a")
    page = window.page("a")
    assert isinstance(page, Noted)
    QApplication.sendPostedEvents()  # all that is due in this turn, as paintings are
    assert not page.painted
    qtbot.waitUntil(lambda: page.painted)
    page.painted = False
    page.update()
    QApplication.sendPostedEvents()
    assert not page.painted, "nor before whatever changes on it"
    qtbot.waitUntil(lambda: page.painted)


class Slow(DepthChart):
    """Takes longer to draw than others are to wait."""

    def __init__(self, window: TimeWindow, done: list[str], name: str) -> None:
        super().__init__(window)
        self._done, self._said = done, name

    def highest(self, frame: Frame) -> float:
        end = time.thread_time() + 0.005
        while time.thread_time() < end:
            pass
        self._done.append(self._said)
        return super().highest(frame)


def test_a_click_is_heard_between_the_pictures_of_two_charts(qtbot: QtBot, qapp: QApplication) -> None:
    theme().install(qapp)
    done: list[str] = []
    span, page, buffer = TimeWindow(3600), Page("a"), SampleBuffer()
    span.set_now(NOW_MS / 1000)
    buffer.append(SampleSource().series(3600, 5000))
    charts = [Slow(span, done, name) for name in ("first", "second")]
    for chart in charts:
        page.body.addWidget(chart)
    window = MainWindow([PageSpec(id="a", title="a", icon="ph.gauge", factory=lambda: page)])
    qtbot.addWidget(window)
    window.show()
    window.open_page("a")
    empty: list[bool] = []
    turns().later(lambda: empty.append(True))
    qtbot.waitUntil(lambda: bool(empty))  # what the opening led to is painted
    for chart in charts:
        chart.set_frame(buffer.frame(*span.bounds()))
    beat = QTimer(interval=1)
    beat.timeout.connect(lambda: done.append("heard"))
    beat.start()
    qtbot.waitUntil(lambda: "second" in done)
    beat.stop()
    assert "heard" in done[done.index("first") : done.index("second")]
    assert (done.count("first"), done.count("second")) == (1, 1)


def test_stale_pages_are_grey(window: MainWindow) -> None:
    window.set_stale(True)
    assert window.stack.graphicsEffect() is not None
    window.set_stale(False)
    assert window.stack.graphicsEffect() is None


def test_closing_stops_the_page_and_tells(qtbot: QtBot, window: MainWindow) -> None:
    window.show()
    window.open_page("a")
    still: list[bool] = []
    window.closing.connect(lambda: still.append(window.isVisible()))
    with qtbot.waitSignal(window.closing):
        window.close()
    assert seen(window, "a")[-1] == "deactivate"
    assert still == [False], "nobody sees a window that stands still"


def test_pages_are_made_ahead_one_at_a_time_and_do_nothing(qtbot: QtBot, window: MainWindow) -> None:
    window.open_page("a")
    window.prepare_pages()
    assert Noted.made == ["a"]
    qtbot.waitUntil(lambda: Noted.made == ["a", "b", "c"])
    page = window.page("c")
    assert isinstance(page, Noted)
    assert page.seen == []
    assert window.current == "a"
