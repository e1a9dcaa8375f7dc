"""A row that goes on in the next line."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QLineEdit, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from views.support.look import Label
from views.widgets.buttons import LinkLabel
from views.widgets.fields import Labelled
from views.widgets.flow_row import FlowRow, Sentences
from views.widgets.layout import in_column, in_row


class Block(QWidget):
    """100 by 20."""

    def sizeHint(self) -> QSize:
        return QSize(100, 20)


def test_what_does_not_fit_stands_in_the_next_line(qtbot: QtBot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    row = FlowRow(owner, across=10, down=5)
    for _ in range(3):
        row.addWidget(Block())
    owner.resize(220, 60)
    owner.show()
    places = [(item.geometry().left(), item.geometry().top()) for item in map(row.itemAt, range(3)) if item is not None]
    assert places == [(0, 0), (110, 0), (0, 25)]
    assert [row.heightForWidth(width) for width in (320, 210, 90)] == [20, 45, 70]
    assert row.takeAt(0) is not None
    assert (row.count(), row.heightForWidth(210)) == (2, 20)
    assert row.heightForWidth(200) == 45
    last = owner.findChildren(Block)[-1]
    for shown, height in ((False, 20), (True, 45)):
        last.setVisible(shown)
        assert row.heightForWidth(200) == height


def test_words_longer_than_the_place_are_cut_and_told_and_do_not_widen_it(qtbot: QtBot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    row = FlowRow(owner)
    link = LinkLabel("Copy the report for whoever creates all of these tasks every morning")
    row.addWidget(link)
    owner.resize(220, 60)
    owner.show()
    assert owner.minimumSizeHint().width() <= 200
    assert link.geometry().right() < 220
    at = link.rect().center()
    QApplication.sendEvent(link, QHelpEvent(QEvent.Type.ToolTip, at, link.mapToGlobal(at)))
    assert link.text() in (QToolTip.text(), link.toolTip())


def test_what_stands_beside_each_other_has_one_middle(qtbot: QtBot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    row = FlowRow(owner, down=4)
    button, link, below = LinkLabel("Log them in", filled=True), LinkLabel("Show tasks"), LinkLabel("Cancel what waits")
    for one in (button, link, below):
        row.addWidget(one)
    owner.resize(200, 80)
    owner.show()
    assert button.height() > link.height(), "a filled one has a ground around its words"
    assert abs(button.geometry().center().y() - link.geometry().center().y()) <= 1
    assert below.geometry().top() > button.geometry().bottom()


def test_no_line_begins_with_a_closing_mark(qtbot: QtBot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    row = FlowRow(owner, across=10, down=5)
    comma = Label("，", "body")
    for widget in (Block(), Block(), comma, Block()):
        row.addWidget(widget)
    owner.resize(215, 80)
    owner.show()
    tops = [item.geometry().center().y() for item in map(row.itemAt, range(4)) if item is not None]
    assert tops[0] < tops[1], "the block goes along"
    assert abs(tops[1] - tops[2]) <= 1
    comma.setText("and")
    row.activate()
    tops = [item.geometry().center().y() for item in map(row.itemAt, range(4)) if item is not None]
    assert tops[0] == tops[1] < tops[2]


def test_tab_goes_through_the_fields_of_sentences_as_they_are_read(qtbot: QtBot) -> None:
    first, name, owner, days = QLineEdit(), QLineEdit(), QLineEdit(), [QCheckBox() for _day in range(2)]
    week = QWidget()
    in_row(*days, owner=week)
    fields = {"name": Labelled("Name", name), "owner": Labelled("Owner", owner), "days": Labelled("Days", week)}
    page, sentences = QWidget(), Sentences(2)
    in_column(first, sentences, owner=page)
    qtbot.addWidget(page)
    sentences.show_words(("{name} on {days}", "of {owner}"), fields, before=first)
    page.show()

    def order() -> list[QWidget]:
        found: list[QWidget] = [first]
        for _field in range(4):
            QTest.keyClick(page, Qt.Key.Key_Tab)
            found.append(page.focusWidget())
        return found

    first.setFocus()
    assert order() == [first, name, *days, owner]
    sentences.show_words(("{owner}: {name}", "{days}"), fields, before=first)
    first.setFocus()
    assert order() == [first, owner, name, *days]
