"""The contract of a page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QTextLayout
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from services import i18n
from tests.support.painted import painted
from views.page import Page, PageHeader, made_in_parts
from views.support.look import Label
from views.widgets.buttons import Button


def test_title_and_summary(qtbot: QtBot) -> None:
    page = Page("Filters")
    qtbot.addWidget(page)
    page.header.add_action(QPushButton("x"))
    page.header.set_divider(True)
    page.header.set_divider(False)
    with qtbot.waitSignal(page.summary_changed) as signal:
        page.set_summary("1,284 tasks waiting")
    assert signal.args == ["1,284 tasks waiting"]
    assert page.header.summary() == "1,284 tasks waiting"
    i18n.set_language("zh_CN")
    assert page.title == page.accessibleName() == "筛选条件"


def test_a_plain_page_does_nothing(qtbot: QtBot) -> None:
    page = Page("Filters")
    qtbot.addWidget(page)
    page.activate()
    page.refresh()
    page.show_request("status:dead")
    page.deactivate()
    page.grab()


class InParts(Page):
    """Says what was done to it."""

    def __init__(self) -> None:
        super().__init__("Filters")
        self.done: list[str] = []
        self.make(self._build, lambda: self.done.append("connected"))

    def _build(self) -> Iterator[None]:
        self.done.append("a table")
        yield
        self.done.append("a panel")

    def retranslate(self) -> None:
        super().retranslate()
        self.done.append("said again")


def test_a_page_is_whole_when_it_is_made(qtbot: QtBot) -> None:
    page = InParts()
    qtbot.addWidget(page)
    assert page.done == ["a table", "a panel", "connected"]
    assert not page.make_on()


def test_a_page_that_is_made_in_parts_is_made_a_little_at_a_time(qtbot: QtBot) -> None:
    with made_in_parts():
        page, other = InParts(), InParts()
    qtbot.addWidget(page)
    qtbot.addWidget(other)
    assert page.done == []
    assert page.make_on()
    assert page.done == ["a table"]
    page.make_all()
    assert page.done == ["a table", "a panel", "connected"]
    i18n.set_language("zh_CN")
    assert other.done == ["a table", "a panel", "connected", "said again"], "nothing is said again that is not there"


@pytest.mark.parametrize(
    ("summary", "end"),
    [
        ("1,284 个任务等待执行，86 个任务正在执行，12 个任务执行失败；2 个工作进程已有 3 分钟没有消息", "没有消息"),
        ("店铺" * 100, "…"),
        ("x" * 400, "…"),
    ],
)
def test_a_summary_fills_two_lines_and_no_more_whatever_its_script(qtbot: QtBot, summary: str, end: str) -> None:
    header = PageHeader()
    qtbot.addWidget(header)
    header.resize(480, header.height())
    header.set_summary(summary)
    header.show()
    found = painted(header)
    assert "".join(one.text for one in found).endswith(end)
    assert all(one.shown.height() > one.box.height() - 1 for one in found)


def test_no_line_of_a_summary_holds_nothing_but_the_ellipsis(qtbot: QtBot) -> None:
    """At whatever width: the mark that there is more stays with the word before it."""
    header = PageHeader("Overview")
    qtbot.addWidget(header)
    header.set_summary("1,284 waiting; 42 running; 143 dead; 8 silent; 15 paused; 3 stuck; 12 to decide; 7 late")
    label = next(one for one in header.findChildren(Label) if one.text() == header.summary())
    seen = set()
    for width in range(300, 900, 3):
        header.resize(width, header.height())
        header.show()
        words = label.fitting()  # type: ignore[attr-defined]
        layout = QTextLayout(words, label.font())
        layout.beginLayout()
        lines = []
        while (line := layout.createLine()).isValid():
            line.setLineWidth(label.contentsRect().width())
            lines.append(words[line.textStart() : line.textStart() + line.textLength()].strip())
        layout.endLayout()
        seen.add(len(lines))
        assert "…" not in lines, (width, lines)
    assert seen == {1, 2}


def test_a_summary_of_more_than_a_line_is_told_in_brief(qtbot: QtBot) -> None:
    header = PageHeader("Overview")
    qtbot.addWidget(header)
    whole, brief = "66 tasks waiting; 21 of them for a person (21 need a login)", "66 tasks waiting; 21 need a login"
    header.set_summary(whole, brief=brief)
    header.resize(900, header.height())
    header.show()
    assert whole in [one.text for one in painted(header)]
    header.resize(380, header.height())
    assert brief in [one.text for one in painted(header)]
    assert header.summary() == header.summary_tip() == whole


def test_a_summary_that_has_no_room_beside_the_actions_stands_below_them(qtbot: QtBot) -> None:
    header = PageHeader("Schedules")
    qtbot.addWidget(header)
    actions = [Button("Change something"), Button("Take it away"), Button("New schedule")]
    for action in actions:
        header.add_action(action)
    words = "5 schedules, 1 disabled, next orders-10min in 8 min"
    header.set_summary(words)
    header.resize(1200, header.height())
    header.show()
    high = header.height()
    assert [one.text for one in painted(header) if one.text == words]
    header.resize(560, high)
    assert [one.text for one in painted(header) if one.text == words]
    assert header.height() > high
    header.set_summary("5 schedules")
    assert header.height() > high, "what is below the header does not move with the words"
    actions[0].hide()
    header.set_summary(words)
    header.resize(1200, header.height())
    assert header.height() == high
