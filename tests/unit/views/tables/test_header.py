"""Titles, arrows and the box."""

from __future__ import annotations

import dataclasses

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.unit.views.samples import COLUMNS, sample_rows
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView


@pytest.fixture
def table(qtbot: QtBot) -> TableView:
    model = RecordModel(COLUMNS, lambda row: row.id, tickable=True)
    model.apply(sample_rows(5))
    view = TableView(model, "Tasks")
    qtbot.addWidget(view)
    view.resize(1200, 300)
    view.show()
    return view


def place(table: TableView, key: str) -> QPoint:
    section = table.records.section_of(key)
    return QPoint(table.columnViewportPosition(section) + 20, 14)


def test_a_click_sorts_and_shift_adds(qtbot: QtBot, table: TableView) -> None:
    viewport = table.header.viewport()
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place(table, "age"))
    assert table.records.sorts == (("age", False),)
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, place(table, "type"))
    assert table.records.sorts == (("age", False), ("type", False))


def test_the_box_ticks(qtbot: QtBot, table: TableView) -> None:
    with qtbot.waitSignal(table.header.tick_clicked):
        qtbot.mouseClick(table.header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(12, 14))


def test_arrows_and_boxes_are_drawn(table: TableView) -> None:
    plain = table.header.grab().toImage()
    table.records.set_sorts([("age", True)])
    down = table.header.grab().toImage()
    table.records.set_sorts([("duration", False)])
    up = table.header.grab().toImage()
    table.records.tick_all()
    assert len({image.cacheKey() for image in (plain, down, up)}) == 3
    assert plain != down != up != table.header.grab().toImage()


def test_the_usual_order_has_its_arrow_and_a_click_turns_it_round(qtbot: QtBot, table: TableView) -> None:
    plain = table.header.grab().toImage()
    table.records.set_usual(("age", False))
    assert table.header.grab().toImage() != plain
    assert not table.records.sorts
    qtbot.mouseClick(table.header.viewport(), Qt.MouseButton.LeftButton, pos=place(table, "age"))
    assert table.records.sorts == (("age", True),)


def test_the_arrow_points_by_what_is_read(qtbot: QtBot) -> None:
    def drawn(*, turned: bool, descending: bool) -> QImage:
        columns = tuple(dataclasses.replace(one, turned=turned) if one.key == "age" else one for one in COLUMNS)
        view = TableView(RecordModel(columns, lambda row: row.id), "Tasks")
        qtbot.addWidget(view)
        view.resize(1200, 300)
        view.show()
        view.records.set_sorts([("age", descending)])
        return view.header.grab().toImage()

    assert drawn(turned=True, descending=True) == drawn(turned=False, descending=False)
    assert drawn(turned=True, descending=False) == drawn(turned=False, descending=True)
    assert drawn(turned=True, descending=True) != drawn(turned=True, descending=False)


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_the_menu_of_columns_is_asked_for(qtbot: QtBot, table: TableView) -> None:
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, QPoint(5, 5), QPoint(50, 50))
    with qtbot.waitSignal(table.header.chooser_requested) as signal:
        table.header.contextMenuEvent(event)
    assert signal.args == [QPoint(50, 50)]
    popup = QApplication.activePopupWidget()
    assert popup is not None
    popup.close()


def test_the_height_is_that_of_the_design(table: TableView) -> None:
    assert table.header.sizeHint().height() == 28
