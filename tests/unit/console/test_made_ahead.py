"""Pages are made a little at a time, and between two parts of one anything may happen to the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from console.main_window import MainWindow
from console.navigation import PageSpec
from services import i18n
from views.page import Page
from views.theme import theme

#: a machine may be busy
LONG_MS = 30_000
WHOLE = ["table", "panel", "connected"]


class InParts(Page):
    """Is put together in parts; ``between`` is called in a turn of its own after the first one."""

    def __init__(self, name: str, fails: str, between: Callable[[], object]) -> None:
        super().__init__(name)
        self.parts: list[str] = []
        self.label = QLabel("a part that lies in no page yet")
        self.seen: list[object] = []
        self.wrong: list[str] = []
        self.barred = ""
        self._fails, self._between = fails, between
        self.make(self._build, lambda: self._part("connected"))

    def _build(self) -> Iterator[None]:
        self._part("table")
        QTimer.singleShot(0, self._between)
        yield
        self._part("panel")
        self.body.addWidget(self.label)

    def _part(self, name: str) -> None:
        if self._fails == name:
            raise KeyError(name)
        self.parts.append(name)

    def _note(self, what: str) -> None:
        if self.parts != WHOLE:
            self.wrong.append(what)

    def activate(self) -> None:
        self._note("activate")

    def set_acting(self, reason: str) -> None:
        self._note("set_acting")
        self.barred = reason

    def show_request(self, request: object) -> None:
        self._note("show_request")
        self.seen.append(request)

    def retranslate(self) -> None:
        super().retranslate()
        self._note("retranslate")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._note("resizeEvent")


class Desk:
    """A window with a page that is seen and two that are made ahead."""

    def __init__(self) -> None:
        self.made: dict[str, InParts] = {}
        self.begun: list[str] = []
        self.labels: list[QLabel] = []
        self.fails = self.halfway = ""
        self.between: Callable[[], object] = lambda: None
        self.window = MainWindow(
            [PageSpec(id=name, title=name, icon="ph.gauge", factory=self._of(name)) for name in "abc"]
        )

    def _of(self, name: str) -> Callable[[], Page]:
        def factory() -> Page:
            self.begun.append(name)
            page = InParts(name, self.fails if name == "b" else "", lambda: self._pause(name))
            self.made[name] = page
            self.labels.append(page.label)
            return page

        return factory

    def _pause(self, name: str) -> None:
        if name == "b" and not self.halfway:
            self.halfway = ",".join(self.made["b"].parts)
            self.between()


@pytest.fixture
def desk(qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    theme().install(qapp)
    monkeypatch.setattr("console.main_window.SLICE_S", 0.0)  # one part in each turn
    while popup := QApplication.activePopupWidget():  # nothing is made ahead beside a menu, an earlier one too
        popup.close()
    desk = Desk()
    qtbot.addWidget(desk.window)
    for button in (Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton):  # nor below one that a test has left pressed
        qtbot.mouseRelease(desk.window, button)
    desk.window.show()
    desk.window.open_page("a")
    yield desk
    for label in filter(isValid, desk.labels):
        label.deleteLater()
    i18n.set_language("en")
    theme().set_mode("dark")


def look(desk: Desk) -> None:
    desk.window.resize(1100, 700)
    desk.window.grab()


def speak(_desk: Desk) -> None:
    i18n.set_language("zh_CN")


def restyle(_desk: Desk) -> None:
    theme().set_mode("light")


def bar(desk: Desk) -> None:
    desk.window.set_acting("Not while the connection is lost")


def follow(desk: Desk) -> None:
    desk.window.page("a").navigate.emit("b", "status:dead")


@pytest.mark.parametrize("happens", [look, speak, restyle, bar, follow])
def test_half_a_page_is_nowhere(qtbot: QtBot, desk: Desk, happens: Callable[[Desk], None]) -> None:
    desk.between = lambda: happens(desk)
    desk.window.prepare_pages()
    qtbot.waitUntil(lambda: [*desk.made] == ["a", "b", "c"] and desk.made["c"].parts == WHOLE, timeout=LONG_MS)
    desk.window.open_page("b")
    desk.window.grab()
    assert desk.halfway == "table"
    assert {name: (page.parts, page.wrong) for name, page in desk.made.items()} == dict.fromkeys("abc", (WHOLE, []))
    assert desk.begun == ["a", "b", "c"], "what was begun is what is shown"
    assert desk.made["b"].seen == (["status:dead"] if happens is follow else [])
    assert desk.made["b"].barred == ("Not while the connection is lost" if happens is bar else "")


def test_a_window_that_is_closed_takes_what_was_begun_with_it_and_begins_nothing_more(qtbot: QtBot, desk: Desk) -> None:
    desk.between = desk.window.close
    desk.window.prepare_pages()
    with qtbot.waitSignal(desk.window.closing, timeout=LONG_MS):
        pass
    assert (desk.made["b"].parts, desk.made["b"].label.window()) == (WHOLE, desk.window)
    qtbot.wait(60)
    assert desk.begun == ["a", "b"]


@pytest.mark.parametrize("part", ["table", "panel", "connected"])
def test_what_cannot_be_made_ahead_is_left_to_who_opens_it(qtbot: QtBot, desk: Desk, part: str) -> None:
    desk.fails = part
    with qtbot.captureExceptions() as raised:
        desk.window.prepare_pages()
        qtbot.waitUntil(lambda: "c" in desk.made and desk.made["c"].parts == WHOLE, timeout=LONG_MS)
    assert [kind for kind, *_ in raised] == [KeyError]
    for _time in range(2):
        with pytest.raises(KeyError):
            desk.window.open_page("b")
    assert desk.window.current == "a"
    desk.fails = ""
    desk.window.open_page("b")
    assert desk.made["b"].parts == WHOLE


def test_a_page_that_fails_while_the_language_changes_is_never_shown(qtbot: QtBot, desk: Desk) -> None:
    desk.fails, desk.between = "panel", lambda: i18n.set_language("zh_CN")
    with qtbot.captureExceptions() as raised:
        desk.window.prepare_pages()
        qtbot.waitUntil(lambda: "c" in desk.made and desk.made["c"].parts == WHOLE, timeout=LONG_MS)
    assert raised
    with pytest.raises(KeyError):
        desk.window.open_page("b")
    assert desk.window.current == "a"


@pytest.mark.parametrize("opened", [True, False])
def test_what_failed_with_the_language_is_made_anew(qtbot: QtBot, desk: Desk, *, opened: bool) -> None:
    def speaks() -> None:
        with qtbot.captureExceptions() as raised:
            i18n.set_language("zh_CN")
        assert [kind for kind, *_ in raised] == [KeyError]
        if opened:
            with pytest.raises(KeyError):  # why it fails, not that it is half a page
                desk.window.open_page("b")
        desk.fails = ""

    desk.fails, desk.between = "panel", speaks
    desk.window.prepare_pages()
    qtbot.waitUntil(lambda: "c" in desk.made and desk.made["c"].parts == WHOLE, timeout=LONG_MS)
    assert desk.made["b"].parts == WHOLE
    assert desk.made["b"].window() is desk.window


def test_a_window_that_is_about_to_go_begins_no_more_pages(qtbot: QtBot, desk: Desk) -> None:
    desk.between = desk.window.stop_preparing
    desk.window.prepare_pages()
    qtbot.waitUntil(lambda: bool(desk.halfway), timeout=LONG_MS)
    qtbot.wait(60)
    assert desk.made["b"].parts == ["table"]
    desk.window.close()
    assert desk.made["b"].label.window() is desk.window


def test_a_window_closes_whatever_cannot_be_made(qtbot: QtBot, desk: Desk) -> None:
    desk.fails, desk.between = "panel", desk.window.close
    desk.window.prepare_pages()
    with qtbot.waitSignal(desk.window.closing, timeout=LONG_MS):
        pass
    assert not desk.window.isVisible()
