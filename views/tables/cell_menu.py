"""What the menu of a cell offers in every table: copying, and filtering by its value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtWidgets import QMenu

from services.i18n import _
from views.tables.column import TICK, Column


def add_cell_actions(
    menu: QMenu,
    column: Column[Any],
    text: str,
    *,
    copy_cell: Callable[[], object],
    copy_rows: Callable[[], object],
    filter_by: Callable[[str, str, bool], object],
) -> None:
    """Add copying, and filtering by `text` for a cell of `column`; ``filter_by``: column, text, whether to include."""
    if menu.actions():
        menu.addSeparator()
    menu.addAction(_("Copy cell"), copy_cell)
    menu.addAction(_("Copy row"), copy_rows)
    if column.key == TICK or not (text or column.kind == "glyph"):
        return
    menu.addSeparator()
    for words, include in ((_("Filter by this value"), True), (_("Exclude this value"), False)):
        menu.addAction(words, partial(filter_by, column.key, text, include))
