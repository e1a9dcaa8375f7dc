"""Columns give way when it is narrow and come back as the user left them."""

from __future__ import annotations

import pytest
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
    view.show()
    resize(view, 1200)
    return view


def resize(table: TableView, width: int) -> None:
    table.resize(width, 300)
    QApplication.processEvents()


def hidden(table: TableView) -> set[str]:
    return {c.key for n, c in enumerate(table.records.columns) if table.isColumnHidden(n)}


def width(table: TableView, key: str) -> int:
    return table.columnWidth(table.records.section_of(key))


def test_the_stretched_column_takes_what_is_left(table: TableView) -> None:
    assert table.horizontalScrollBar().maximum() == 0
    assert width(table, "error") > 200
    resize(table, 1500)
    assert width(table, "error") > 500


def test_columns_leave_by_rank_and_return(table: TableView) -> None:
    resize(table, 850)
    assert hidden(table) == {"worker", "duration"}
    resize(table, 700)
    assert hidden(table) == {"worker", "duration", "platform"}
    resize(table, 1200)
    assert hidden(table) == set()


def test_a_column_hidden_by_hand_stays_hidden(table: TableView) -> None:
    menu = table.layout_of_columns.menu()
    next(action for action in menu.actions() if action.text() == "Worker").trigger()
    assert hidden(table) == {"worker"}
    resize(table, 700)
    resize(table, 1200)
    assert hidden(table) == {"worker"}


def test_a_layout_is_kept(table: TableView, qtbot: QtBot) -> None:
    columns = table.layout_of_columns
    columns.show_column(table.records.section_of("lane"), False)
    table.header.moveSection(table.header.visualIndex(table.records.section_of("shop")), 1)
    table.setColumnWidth(table.records.section_of("type"), 222)
    table.records.set_sorts([("age", True)])
    saved = table.layout_of_columns.save()
    other = TableView(RecordModel(COLUMNS, lambda row: row.id, tickable=True), "Tasks")
    qtbot.addWidget(other)
    other.resize(1200, 300)
    other.layout_of_columns.restore(saved)
    assert hidden(other) >= {"lane"}
    assert width(other, "type") == 222
    assert other.records.sorts == (("age", True),)
    assert [c.key for c in other.layout_of_columns.shown()][1] == "shop"


def test_a_layout_of_another_version_does_no_harm(table: TableView) -> None:
    table.layout_of_columns.restore(
        {"order": ["gone", "type"], "widths": {"gone": 5}, "hidden": ["gone"], "sorts": [["gone", True]]}
    )
    assert table.records.sorts == ()
    assert hidden(table) == set()


def test_what_the_room_hid_is_not_saved(table: TableView) -> None:
    resize(table, 700)
    assert table.layout_of_columns.save()["hidden"] == []


def test_the_design_comes_back(table: TableView) -> None:
    table.layout_of_columns.show_column(2, False)
    table.header.moveSection(2, 5)
    next(a for a in table.layout_of_columns.menu().actions() if a.text() == "Reset columns").trigger()
    assert hidden(table) == set()
    assert [c.key for c in table.layout_of_columns.shown()] == [c.key for c in table.records.columns]
    assert table.layout_of_columns.first_section() == 1


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_the_chooser_opens(table: TableView, qtbot: QtBot) -> None:
    table.layout_of_columns.choose(table.mapToGlobal(table.rect().center()))
    popup = QApplication.activePopupWidget()
    assert popup is not None
    popup.close()
