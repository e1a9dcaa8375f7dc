"""Sections fold."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from views.widgets.section import Section


@pytest.fixture
def section(qtbot: QtBot) -> Section:
    section = Section("Filters")
    section.body.addWidget(QLabel("content"))
    section.add_action(QWidget())
    qtbot.addWidget(section)
    section.show()
    return section


def test_click_and_keys_fold(qtbot: QtBot, section: Section) -> None:
    head = section.head
    with qtbot.waitSignal(section.folded) as signal:
        qtbot.mouseClick(head, Qt.MouseButton.LeftButton)
    assert signal.args == [True]
    assert section.is_folded
    qtbot.keyClick(head, Qt.Key.Key_Space)
    assert not section.is_folded
    qtbot.keyClick(head, Qt.Key.Key_A)
    assert not section.is_folded


def test_it_says_whether_it_is_open(section: Section) -> None:
    assert section.head.accessibleName() == "Filters, open"
    section.set_folded(True)
    assert section.head.accessibleName() == "Filters, folded"
    i18n.set_language("zh_CN")
    assert section.head.accessibleName() == "筛选条件, 已折叠"
    section.set_note("3 m 05 s", "retrying")
    section.grab()


def test_a_fixed_section_does_not_fold(qtbot: QtBot) -> None:
    section = Section("Filters", foldable=False, divider=False)
    qtbot.addWidget(section)
    section.toggle()
    assert not section.is_folded
    assert section.head.accessibleName() == "Filters"
