"""What the menu of a cell offers in every table: copying, and filtering by its value."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QMenu

from services.i18n import _
from views.tables.column import TICK

if TYPE_CHECKING:
    from views.tables.table_view import TableView


def add_cell_actions(menu: QMenu, table: TableView, index: QModelIndex) -> None:
    """Add copying and filtering for the cell at `index`."""
    if menu.actions():
        menu.addSeparator()
    menu.addAction(_("Copy cell"), table.copy_cell)
    menu.addAction(_("Copy row"), table.copy_rows)
    column = table.records.column(index.column())
    text = column.display(table.records.record(index.row()))
    if column.key == TICK or not (text or column.kind == "glyph"):
        return
    menu.addSeparator()
    for words, include in ((_("Filter by this value"), True), (_("Exclude this value"), False)):
        menu.addAction(words, partial(table.filter_requested.emit, column.key, text, include))
