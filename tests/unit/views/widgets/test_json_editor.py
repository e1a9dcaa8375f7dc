"""The JSON editor: parses, validates, marks and moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from views.support.keymap import keymap
from views.support.memory import ShortMemory
from views.theme import theme
from views.widgets.json.editor import JsonEditor
from views.widgets.json.problems import Problem


@pytest.fixture
def editor(qtbot: QtBot) -> JsonEditor:
    editor = JsonEditor("Payload")
    qtbot.addWidget(editor)
    editor.resize(500, 300)
    editor.load({"page_size": 20, "status": ["paid"]})
    editor.show()
    return editor


def page_size(document: Any) -> Sequence[Problem]:
    return [Problem(text="page_size: 100 at most", path=("page_size",))] if document["page_size"] > 100 else []


def test_what_is_loaded_can_be_read_back(editor: JsonEditor) -> None:
    assert editor.document_value() == {"page_size": 20, "status": ["paid"]}
    assert editor.is_valid
    assert not editor.is_edited
    assert editor.accessibleName() == "Payload"


def test_broken_text_is_marked_after_a_pause(qtbot: QtBot, editor: JsonEditor) -> None:
    with qtbot.waitSignal(editor.validity_changed) as signal:
        editor.setPlainText('{"a": }')
    assert signal.args == [False]
    assert editor.document_value() is None
    assert editor.problems()[0].line == 1
    assert "Line 1" in editor.accessibleDescription()
    with qtbot.waitSignal(editor.validity_changed):
        editor.setPlainText("{}")


def test_a_validator_names_the_line(editor: JsonEditor) -> None:
    editor.set_validator(page_size)
    assert editor.is_valid
    clean = editor.grab().toImage()
    editor.setPlainText('{\n  "page_size": 500\n}')
    editor.validate()
    assert [problem.line for problem in editor.problems()] == [2]
    assert editor.grab().toImage() != clean
    editor.set_validator(None)
    assert editor.is_valid


def test_editing_is_told_and_can_be_taken_back(qtbot: QtBot, editor: JsonEditor) -> None:
    with qtbot.waitSignal(editor.edited) as signal:
        editor.insertPlainText(" ")
    assert signal.args == [True]
    assert editor.is_edited
    with qtbot.waitSignal(editor.edited) as signal:
        editor.revert()
    assert signal.args == [False]


def test_f8_goes_round_the_problems(qtbot: QtBot, editor: JsonEditor) -> None:
    assert not editor.go_to_next_problem()
    editor.set_validator(lambda _doc: [Problem(text="a", line=2), Problem(text="b", line=4)])
    lines = []
    for _ in range(3):
        qtbot.keyClick(editor, Qt.Key.Key_F8)
        lines.append(editor.textCursor().blockNumber() + 1)
    assert lines == [2, 4, 2]


def test_new_lines_are_indented(qtbot: QtBot, editor: JsonEditor) -> None:
    editor.setPlainText("{")
    editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.keyClicks(editor, '"a": 1,')
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.toPlainText() == '{\n  "a": 1,\n  '


def test_whoever_walks_by_the_keyboard_comes_through_and_changes_nothing(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    before, editor, after = QLineEdit(), JsonEditor("Message"), QLineEdit()
    for one in (before, editor, after):
        column.addWidget(one)
    editor.load_text("{}")
    window.show()
    before.setFocus()
    walked = []
    for key in (Qt.Key.Key_Tab, Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Backtab):
        qtbot.keyClick(window.focusWidget(), key)
        walked.append(window.focusWidget())
    assert walked == [editor, after, editor, before]
    assert editor.toPlainText() == "{}"


def test_the_problem_is_in_the_tool_tip(editor: JsonEditor, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, _widget: shown.append(text))
    editor.set_validator(lambda _doc: [Problem(text="too <many>", line=1)])
    place = QPoint(5, 5)
    QApplication.sendEvent(editor.viewport(), QHelpEvent(QEvent.Type.ToolTip, place, place))
    assert shown == ["<qt>too &lt;many&gt;</qt>"]


def test_it_scrolls_and_follows_theme_and_language(qtbot: QtBot, editor: JsonEditor) -> None:
    editor.load(list(range(300)))
    editor.verticalScrollBar().setValue(100)
    dark = editor.grab().toImage()
    theme().set_mode("light")
    i18n.set_language("zh_CN")
    assert editor.grab().toImage() != dark
    nameless = JsonEditor()
    qtbot.addWidget(nameless)
    assert nameless.accessibleName() == "JSON 编辑器"


def test_the_line_of_the_cursor_is_lit_while_editing(qtbot: QtBot, editor: JsonEditor) -> None:
    with qtbot.waitActive(editor):
        editor.activateWindow()
    editor.setFocus()
    editor.moveCursor(QTextCursor.MoveOperation.Down)
    assert editor.extraSelections()
    editor.setReadOnly(True)
    editor.moveCursor(QTextCursor.MoveOperation.Down)
    assert not editor.extraSelections()


def test_a_letter_that_leads_to_errors_elsewhere_is_written_here(qtbot: QtBot, editor: JsonEditor) -> None:
    keymap().choose("parts.next_error", "N")
    editor.clear()
    qtbot.keyClicks(editor, "null")
    keymap().follow(ShortMemory())
    assert editor.toPlainText() == "null"
