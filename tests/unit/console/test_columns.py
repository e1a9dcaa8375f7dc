"""Columns of every page stand in the next window as a person left them, also after a kill."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from console.main_window import MainWindow
from console.navigation import PageSpec
from console.wiring import KeptColumns
from tests.unit.views.samples import COLUMNS, sample_rows
from views.page import Page
from views.support.memory import ShortMemory
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme


class Listed(Page):
    """A page with two tables, of which it keeps one itself."""

    def __init__(self) -> None:
        super().__init__("Shops")
        self.make(self._build)

    def _build(self) -> None:
        self.table, self.own = self._table("Shops"), self._table("Limits")
        self.own.layout_of_columns.kept_by_page = True

    def _table(self, name: str) -> TableView:
        model = RecordModel(COLUMNS, lambda row: row.id)
        model.apply(sample_rows(3))
        table = TableView(model, name)
        self.body.addWidget(table)
        return table

    def widths(self) -> tuple[int, int]:
        section = self.table.records.section_of("type")
        return self.table.columnWidth(section), self.own.columnWidth(section)


@pytest.fixture
def memory() -> ShortMemory:
    return ShortMemory()


def opened(qtbot: QtBot, memory: ShortMemory) -> Listed:
    theme().install(QApplication.instance())  # type: ignore[arg-type]
    window = MainWindow([PageSpec(id="shops", title="Shops", icon="ph.gauge", factory=Listed)])
    KeptColumns(window, memory)
    qtbot.addWidget(window)
    window.resize(1600, 900)
    window.show()
    window.open_page("shops")
    QApplication.processEvents()
    page = window.page("shops")
    assert isinstance(page, Listed)
    return page


def drag(table: TableView, by: int) -> None:
    """Pull the right edge of the column of types."""
    header, section = table.header, table.records.section_of("type")
    edge = QPoint(header.sectionViewportPosition(section) + header.sectionSize(section) - 1, header.height() // 2)
    QTest.mouseMove(header.viewport(), edge)
    QTest.mousePress(header.viewport(), Qt.MouseButton.LeftButton, pos=edge)
    QTest.mouseMove(header.viewport(), edge + QPoint(by, 0))
    QTest.mouseRelease(header.viewport(), Qt.MouseButton.LeftButton, pos=edge + QPoint(by, 0))


def test_a_column_that_was_made_wider_is_so_in_the_next_window(qtbot: QtBot, memory: ShortMemory) -> None:
    first = opened(qtbot, memory)
    before = first.widths()
    drag(first.table, 40)
    drag(first.own, 40)
    assert first.widths() == (before[0] + 40, before[1] + 40)
    assert opened(qtbot, memory).widths() == (before[0] + 40, before[1]), "the first window was not even closed"


def test_what_was_chosen_in_the_menu_is_kept_and_so_is_the_way_back(qtbot: QtBot, memory: ShortMemory) -> None:
    def choose(page: Listed, words: str) -> None:
        next(one for one in page.table.layout_of_columns.menu().actions() if one.text() == words).trigger()

    def is_hidden(page: Listed) -> bool:
        return page.table.isColumnHidden(page.table.records.section_of("lane"))

    first = opened(qtbot, memory)
    choose(first, "Lane")
    second = opened(qtbot, memory)
    assert (is_hidden(first), is_hidden(second)) == (True, True)
    choose(second, "Reset columns")
    assert not is_hidden(opened(qtbot, memory))


def test_a_window_that_only_changes_its_size_remembers_nothing(qtbot: QtBot, memory: ShortMemory) -> None:
    page = opened(qtbot, memory)
    page.window().resize(1000, 700)
    QApplication.processEvents()
    assert memory.get("columns.shops.Shops") is None
