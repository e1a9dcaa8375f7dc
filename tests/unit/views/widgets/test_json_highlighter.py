"""Keys, strings, numbers and words differ in colour."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QTextDocument
from PySide6.QtWidgets import QApplication, QPlainTextDocumentLayout
from pytestqt.qtbot import QtBot

from views.theme import theme
from views.widgets.json import highlighter as json_highlighter
from views.widgets.json.editor import JsonEditor
from views.widgets.json.highlighter import JsonHighlighter


def colours(text: str) -> dict[str, QColor]:
    document = QTextDocument()
    document.setDocumentLayout(QPlainTextDocumentLayout(document))
    document.setPlainText(text)
    highlighter = JsonHighlighter(document)
    highlighter.rehighlight()
    found = {}
    for span in document.firstBlock().layout().formats():
        found[text[span.start : span.start + span.length]] = span.format.foreground().color()
    return found


def test_kinds_of_words(qapp: QApplication) -> None:
    found = colours('"key": "va: 12 true", "n": -1.5e3, "b": [true, null, "x"]')
    assert found['"key"'] == theme().color("text")
    assert found['"va: 12 true"'] == found['"x"'] == theme().color("succeeded")
    assert found["-1.5e3"] == theme().color("running")
    assert found["true"] == found["null"] == theme().color("scheduled")
    assert "12" not in found


def test_what_stands_behind_a_picture_is_coloured_where_it_stands(qapp: QApplication) -> None:
    document = QTextDocument()
    document.setDocumentLayout(QPlainTextDocumentLayout(document))
    document.setPlainText('"\U0001f600": 12')  # two places of Qt's, and one letter
    highlighter = JsonHighlighter(document)
    highlighter.rehighlight()
    spans = [(span.start, span.length) for span in document.firstBlock().layout().formats()]
    assert spans == [(0, 4), (6, 2)]


@pytest.mark.parametrize(("lines", "coloured"), [(1_000, True), (2_000, False)])
def test_many_lines_stay_plain(qtbot: QtBot, lines: int, coloured: bool) -> None:
    editor = JsonEditor()
    qtbot.addWidget(editor)
    editor.load_text("[\n" + "1,\n" * lines + "1]")
    QApplication.processEvents()  # colours come in a turn of their own
    assert bool(editor.document().findBlockByNumber(1).layout().formats()) is coloured


def test_huge_texts_stay_plain(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_highlighter, "PLAIN_ABOVE", 3)
    assert colours('"key": 1') == {}
