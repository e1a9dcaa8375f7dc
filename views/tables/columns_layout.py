"""Which columns of a table are shown, how wide and in which order; what gives way when it is narrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QMenu, QTableView

from services.i18n import _
from views.tables.column import TICK, Column
from views.tables.record_model import RecordModel

#: A stretched column gives up to this share of its width before the table scrolls sideways.
_LEAST_SHARE = 0.6


class ColumnsLayout(QObject):
    """The columns of one view."""

    def __init__(self, view: QTableView, model: RecordModel[Any]) -> None:
        super().__init__(view)
        self._view, self._model = view, model
        self._auto_hidden: set[str] = set()
        self._set_up()

    def _set_up(self) -> None:
        for section, column in enumerate(self._model.columns):
            self._view.setColumnWidth(section, column.width)
            self._view.setColumnHidden(section, column.hidden)
        self.fit()

    def shown(self) -> list[Column[Any]]:
        """Return the columns on screen, in the order shown."""
        return [self._model.column(n) for n in self._in_order() if not self._view.isColumnHidden(n)]

    def first_section(self) -> int:
        """Return the first section with content."""
        hidden = self._view.isColumnHidden
        wanted = (n for n in self._in_order() if not hidden(n) and self._model.column(n).key != TICK)
        return next(wanted, 0)

    def _in_order(self) -> list[int]:
        header = self._view.horizontalHeader()
        return [header.logicalIndex(place) for place in range(header.count())]

    # by hand

    def show_column(self, section: int, on: bool) -> None:
        """Show or hide a column by hand; the choice outlives a narrow window."""
        self._auto_hidden.discard(self._model.column(section).key)
        self._view.setColumnHidden(section, not on)
        self._share_room()

    def reset(self) -> None:
        """Return to the order, widths and columns of the design."""
        header = self._view.horizontalHeader()
        for section in range(len(self._model.columns)):
            header.moveSection(header.visualIndex(section), section)
        self._auto_hidden.clear()
        self._set_up()

    def choose(self, place: QPoint) -> None:
        """Offer to show and hide columns, at a global position."""
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def menu(self) -> QMenu:
        """Return the menu of columns."""
        menu = QMenu(self._view)
        for section, column in enumerate(self._model.columns):
            if not column.title:
                continue
            action = menu.addAction(_(column.title))
            action.setCheckable(True)
            action.setChecked(not self._view.isColumnHidden(section))
            action.setData(section)
        menu.triggered.connect(self._on_chosen)
        menu.addSeparator()
        menu.addAction(_("Fit columns to content"), self._view.resizeColumnsToContents)
        menu.addAction(_("Reset columns"), self.reset)
        return menu

    def _on_chosen(self, action: Any) -> None:
        if action.isCheckable():
            self.show_column(int(action.data()), action.isChecked())

    # kept for the next start

    def save(self) -> dict[str, Any]:
        """Return order, widths, hidden columns and sort as plain data."""
        columns = list(enumerate(self._model.columns))
        hidden = [column.key for n, column in columns if self._view.isColumnHidden(n)]
        return {
            "order": [self._model.column(n).key for n in self._in_order()],
            "widths": {c.key: self._view.columnWidth(n) for n, c in columns if self._view.columnWidth(n)},
            "hidden": [key for key in hidden if key not in self._auto_hidden],
            "sorts": [list(sort) for sort in self._model.sorts],
        }

    def restore(self, layout: Mapping[str, Any]) -> None:
        """Take a saved layout; columns it does not know keep the place of the design."""
        header = self._view.horizontalHeader()
        order = [key for key in layout.get("order", ()) if self._model.section_of(key) >= 0]
        for place, key in enumerate(order):
            header.moveSection(header.visualIndex(self._model.section_of(key)), place)
        widths, hidden = layout.get("widths", {}), set(layout.get("hidden", ()))
        for section, column in enumerate(self._model.columns):
            self._view.setColumnWidth(section, int(widths.get(column.key, column.width)))
            if column.key in order:
                self._view.setColumnHidden(section, column.key in hidden)
        sorts = [(str(key), bool(down)) for key, down in layout.get("sorts", ())]
        self._model.set_sorts([sort for sort in sorts if self._model.section_of(sort[0]) >= 0])
        self._auto_hidden.clear()
        self.fit()

    # by the room there is

    def fit(self) -> None:
        """Hide columns by rank until the rest fits, and share what is left."""
        ranked = sorted((c.hide_rank, n, c.key) for n, c in enumerate(self._model.columns) if c.hide_rank)
        for _rank, section, key in reversed(ranked):
            if key in self._auto_hidden:
                self._view.setColumnHidden(section, False)
                self._auto_hidden.discard(key)
        for _rank, section, key in ranked:
            if self._wanted_width() <= self._view.viewport().width():
                break
            if not self._view.isColumnHidden(section):
                self._auto_hidden.add(key)
                self._view.setColumnHidden(section, True)
        self._share_room()

    def _wanted_width(self) -> int:
        columns = enumerate(self._model.columns)
        widths = ((n, c.width if c.stretch else self._view.columnWidth(n)) for n, c in columns)
        return sum(width for n, width in widths if not self._view.isColumnHidden(n))

    def _share_room(self) -> None:
        columns = enumerate(self._model.columns)
        stretched = [(n, c) for n, c in columns if c.stretch and not self._view.isColumnHidden(n)]
        room = self._view.viewport().width() - self._wanted_width()
        for section, column in stretched:
            width = column.width + room // len(stretched)
            self._view.setColumnWidth(section, max(round(column.width * _LEAST_SHARE), width))
