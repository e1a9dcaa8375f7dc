"""One of many is found by any part of its name or id, however many there are."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from views.widgets.find_field import OFFERED, FindField

MANY = [(f"pdd:{number:05d}", f"家纺旗舰店 {number:05d}") for number in range(10_000)]
TWO = [("pdd:1", "Orbit"), ("temu:1", "Orbit"), ("pdd:2", "Velia")]


@pytest.fixture
def field(qtbot: QtBot) -> FindField:
    made = FindField()
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def typed(field: FindField, words: str) -> None:
    line = field.lineEdit()
    assert isinstance(line, QLineEdit)
    line.clear()
    commit = QInputMethodEvent()  # as Chinese is written
    commit.setCommitString(words)
    QApplication.sendEvent(line, commit)


def offered(field: FindField) -> list[str]:
    finder = field.lineEdit().completer()
    model = finder.completionModel()
    return [str(model.index(at, 0).data()) for at in range(model.rowCount())]


def test_of_many_the_first_are_offered_and_all_of_them_count(field: FindField) -> None:
    field.show_choices(MANY)
    typed(field, "旗舰")
    assert offered(field) == [words for _key, words in MANY[:OFFERED]]
    assert len(field.matches()) == len(MANY)
    typed(field, "0998")
    assert offered(field) == [words for key, words in MANY if "0998" in key]
    typed(field, "pdd:09981")
    assert field.chosen() == "pdd:09981", "by its id too"
    assert offered(field) == ["家纺旗舰店 09981"]


def test_one_of_several_of_a_name_is_taken_from_what_is_offered(qtbot: QtBot, field: FindField) -> None:
    field.show_choices(TWO)
    typed(field, "orb")
    assert field.matches() == ["pdd:1", "temu:1"]
    assert field.chosen() == ""
    finder = field.lineEdit().completer()
    popup = finder.popup()
    qtbot.waitUntil(popup.isVisible)
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert field.chosen() == "temu:1"
    assert field.currentText() == "Orbit"
    field.show_choices([("mall:1", "Amber"), *TWO])
    assert field.chosen() == "temu:1", "whatever is known later"


def test_the_one_of_an_id_is_meant_and_those_that_begin_like_it_are_offered_behind_it(field: FindField) -> None:
    field.show_choices([("shop:temu:t1", "Orbit"), ("shop:temu:t10", "Velia"), ("platform:temu", "all of TEMU")])
    typed(field, "temu")
    assert field.chosen() == "platform:temu"
    assert offered(field) == ["all of TEMU", "Orbit", "Velia"]
    typed(field, "T1")
    assert field.chosen() == "shop:temu:t1"
    assert offered(field) == ["Orbit", "Velia"]
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.currentText() == "Orbit"


def test_what_was_typed_stays_where_other_choices_come(field: FindField) -> None:
    typed(field, "vel")
    assert (field.chosen(), field.currentText()) == ("", "vel")
    field.show_choices(TWO)
    assert (field.chosen(), field.currentText()) == ("pdd:2", "vel")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.currentText() == "Velia"
    typed(field, "velour")
    assert field.chosen() == "", "another word means another shop"


def test_one_that_nobody_knows_can_be_chosen_by_its_key(field: FindField) -> None:
    field.show_choices(TWO)
    field.choose("shein:9")
    assert (field.chosen(), field.currentText()) == ("shein:9", "shein:9")


def test_what_is_not_fit_for_a_line_is_made_visible(field: FindField) -> None:
    field.show_choices([("pdd:1", "two\nlines"), ("pdd:2", "left‮right")])
    typed(field, "two")
    assert "\n" not in offered(field)[0]
    field.choose("pdd:2")
    assert "‮" not in field.currentText()
    assert field.chosen() == "pdd:2"
