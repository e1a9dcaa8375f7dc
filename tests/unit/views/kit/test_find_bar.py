"""Words are found in a log that grows."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from views.kit.find_bar import MOST, FindBar
from views.support.keys import bind

LINES = [f"row {number} {'Needle <b>' if number % 20 == 0 else 'hay'}" for number in range(60)]


class Log(QWidget):
    """A text with its search; tells when Esc or Enter went past it."""

    def __init__(self) -> None:
        super().__init__()
        self.past: list[str] = []
        self.text = QPlainTextEdit("\n".join(LINES))
        self.text.setReadOnly(True)
        self.bar = FindBar(self.text)
        column = QVBoxLayout(self)
        column.addWidget(self.bar)
        column.addWidget(self.text)
        bind(self, {"Esc": lambda: self.past.append("Esc"), "Return": lambda: self.past.append("Return")})

    def look_for(self, words: str, qtbot: QtBot) -> None:
        """Open the search and type."""
        self.bar.open()
        qtbot.keyClicks(self.bar.field, words)

    def line(self) -> str:
        """Where the cursor of the text is."""
        return self.text.textCursor().block().text()


@pytest.fixture
def log(qtbot: QtBot) -> Log:
    made = Log()
    qtbot.addWidget(made)
    made.resize(420, 200)
    made.show()
    return made


def test_enter_goes_from_hit_to_hit_and_round(log: Log, qtbot: QtBot) -> None:
    assert not log.bar.isVisible()
    log.look_for("needle <B>", qtbot)
    assert (log.bar.count.text(), log.line()) == ("1 of 3", LINES[0])
    assert len(log.text.extraSelections()) == 3
    qtbot.keyClick(log.bar.field, Qt.Key.Key_Return)
    assert (log.bar.count.text(), log.line()) == ("2 of 3", LINES[20])
    shift = Qt.KeyboardModifier.ShiftModifier
    for _turn in range(2):
        qtbot.keyClick(log.bar.field, Qt.Key.Key_Return, shift)
    assert (log.bar.count.text(), log.line()) == ("3 of 3", LINES[40])
    log.bar.next.click()
    assert log.line() == LINES[0]


def test_what_is_in_sight_comes_first(log: Log, qtbot: QtBot) -> None:
    log.text.verticalScrollBar().setValue(30)
    log.look_for("needle", qtbot)
    assert (log.bar.count.text(), log.line()) == ("3 of 3", LINES[40])


def test_new_lines_are_found_and_move_nothing(log: Log, qtbot: QtBot) -> None:
    log.look_for("needle", qtbot)
    qtbot.keyClick(log.bar.field, Qt.Key.Key_Return)
    at = log.text.verticalScrollBar().value()
    log.text.appendPlainText("one more needle")
    assert (log.bar.count.text(), log.text.verticalScrollBar().value()) == ("2 of 4", at)
    log.text.setPlainText("\n".join([*LINES, "needle", "and needle"]))
    assert log.bar.count.text() == "2 of 5"


def test_nothing_found_says_so_and_offers_no_step(log: Log, qtbot: QtBot) -> None:
    log.look_for("nowhere", qtbot)
    assert (log.bar.count.text(), log.bar.next.isEnabled(), log.text.extraSelections()) == ("not found", False, [])
    log.text.appendPlainText("nowhere, at last")
    assert (log.bar.count.text(), log.bar.next.isEnabled()) == ("1 of 1", True)


def test_esc_closes_the_search_alone_and_it_remembers_the_words(log: Log, qtbot: QtBot) -> None:
    log.activateWindow()
    log.look_for("needle", qtbot)
    qtbot.keyClick(log.bar.field, Qt.Key.Key_Return)
    qtbot.keyClick(log.bar.field, Qt.Key.Key_Escape)
    assert not log.bar.isVisible()
    assert (log.past, log.text.extraSelections()) == ([], [])
    log.bar.open()
    assert (log.bar.field.selectedText(), log.bar.count.text()) == ("needle", "2 of 3")


def test_more_hits_than_anybody_counts(log: Log, qtbot: QtBot) -> None:
    log.text.setPlainText("e" * (MOST + 50))
    log.look_for("e", qtbot)
    assert (log.bar.count.text(), len(log.text.extraSelections())) == (f"1 of {MOST}+", MOST)
