"""Marks on lines."""

from __future__ import annotations

from PySide6.QtGui import QColor, QTextDocument
from pytestqt.qtbot import QtBot

from views.widgets.json.editor import ground, wave


def test_a_wave_leaves_the_indentation_out(qtbot: QtBot) -> None:
    document = QTextDocument('{\n  "a": 1  \n}')
    mark = wave(document, 2)
    assert mark is not None
    assert mark.cursor.selectedText() == '"a": 1'
    assert ground(document, 3, QColor("red")) is not None


def test_a_line_that_is_gone_has_no_mark(qtbot: QtBot) -> None:
    document = QTextDocument("{}")
    assert wave(document, 2) is None
    assert ground(document, 0, QColor("red")) is None
