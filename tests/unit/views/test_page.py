"""The contract of a page."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from services import i18n
from views.page import Page


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
