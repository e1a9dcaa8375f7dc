"""The life of a task."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from tests.support.painted import faults
from views.theme import theme
from views.widgets.timeline import DOOR_ROW, ROW, Timeline, TimelineEntry

ENTRIES = (
    TimelineEntry(time="14:29:02", text="Created by", strong="Orders"),
    TimelineEntry(
        time="14:30:06", text="Attempt 1 on", strong="rpa-04", tail="TimeoutError", span="22.4 s", status="dead"
    ),
    TimelineEntry(time="14:31:48", text="Back-off", span="41 s left", status="retrying", share=0.3),
    TimelineEntry(time="14:32:48", text="Attempt 3", status="waiting", future=True),
)


@pytest.fixture
def timeline(qtbot: QtBot) -> Timeline:
    view = Timeline()
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.set_entries(ENTRIES)
    return view


def test_every_line_has_room_and_is_spoken(timeline: Timeline) -> None:
    assert timeline.sizeHint().height() == timeline.minimumSizeHint().height() == 4 * ROW
    assert "14:30:06 Attempt 1 on rpa-04 TimeoutError 22.4 s" in timeline.accessibleName()
    assert timeline.entries() == ENTRIES
    timeline.set_entries(ENTRIES)


@pytest.mark.parametrize("percent", [100, 130])
def test_times_lie_beside_the_words_in_larger_text_too(timeline: Timeline, percent: int) -> None:
    theme().set_text_size(percent)
    try:
        timeline.show()
        assert not faults(timeline)
    finally:
        theme().set_text_size(100)


def test_narrow_lines_are_cut(timeline: Timeline) -> None:
    wide = timeline.grab().toImage()
    timeline.resize(150, 200)
    assert timeline.grab().toImage() != wide


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_the_whole_line_is_in_the_tool_tip(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, _widget: shown.append(text))
    for y in (ROW + 3, 20 * ROW):
        QApplication.sendEvent(timeline, QHelpEvent(QEvent.Type.ToolTip, QPoint(5, y), QPoint(5, y)))
    assert shown == ["<qt>Attempt 1 on rpa-04 TimeoutError</qt>"]


def test_an_empty_timeline_can_be_drawn(qtbot: QtBot) -> None:
    view = Timeline()
    qtbot.addWidget(view)
    view.grab()


def test_what_is_shown_whole_takes_the_lines_that_it_needs(timeline: Timeline) -> None:
    words = (
        "The shop is busy: shop_crawl is at 3 %, running for 17 s, usually 3 m (pdd_shop_crawl_pdd-1 on vm-1, 1 of 1)"
    )
    timeline.set_entries((*ENTRIES, TimelineEntry(time="", text="", strong=words, whole=True)))
    timeline.resize(300, 300)
    timeline.show()
    narrow = timeline.sizeHint().height()
    assert narrow > 5 * ROW
    timeline.resize(2000, 300)
    assert timeline.sizeHint().height() == 5 * ROW
    assert not timeline.grab().isNull()


def test_lines_that_are_doors_open_by_a_click_and_by_the_keys(qtbot: QtBot) -> None:
    view = Timeline()
    qtbot.addWidget(view)
    view.set_entries(
        (
            TimelineEntry(time="14:29:02", text="A shop", door=True),
            TimelineEntry(time="14:30:00", text="you look here"),
            TimelineEntry(time="14:30:06", text="A worker", closed="it is not there any more"),
            TimelineEntry(time="14:31:48", text="A pause " * 20, whole=True, door=True),
        )
    )
    view.resize(300, view.sizeHint().height())
    view.show()
    opened: list[int] = []
    view.opened.connect(opened.append)
    for y in (4, DOOR_ROW + 4, DOOR_ROW + ROW + 4, view.height() - 4):
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(60, y))
    assert opened == [0, 3], "no other line leads anywhere"
    assert view.height() > 3 * DOOR_ROW + ROW, "words that have no room go on below"
    view.setFocus()
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Return, Qt.Key.Key_End, Qt.Key.Key_Up, Qt.Key.Key_Return):
        qtbot.keyClick(view, key)
    assert opened[2:] == [0]
    assert view.accessibleDescription() == "A worker\nit is not there any more"


def test_a_click_opens_the_line_that_it_is_on_and_no_other(qtbot: QtBot) -> None:
    timeline = Timeline()
    qtbot.addWidget(timeline)
    timeline.set_entries([TimelineEntry(time=f"09:{n:02}", text=f"line {n}", door=True) for n in range(40)])
    timeline.resize(300, timeline.sizeHint().height())
    timeline.show()
    seen: list[int] = []
    reached: list[int] = []
    timeline.opened.connect(seen.append)
    timeline.reached.connect(lambda top, _height: reached.append(top))
    each = timeline.height() // 40
    at = QPoint(60, 34 * each + each // 2)
    qtbot.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=at)
    assert seen == [34]
    assert not reached, "the list stays where the mouse is"
    qtbot.mousePress(timeline, Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseRelease(timeline, Qt.MouseButton.LeftButton, pos=QPoint(60, each // 2))
    assert seen == [34], "let go on another line it opens none"
