"""What the keys of a table do, beyond moving the cursor.

Keys: arrows, PgUp, PgDn, Home, End move; Space peeks; Enter opens; Ctrl+Space ticks; Shift with an
arrow ticks on the way; Ctrl+A ticks all loaded rows; Ctrl+C copies the cell, Ctrl+Shift+C the rows;
Esc clears the ticks; Menu or Shift+F10 opens the context menu.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from views.tables.record_model import RecordModel
from views.tables.ticking import Ticking

_CTRL = Qt.KeyboardModifier.ControlModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)


class Keyed(Protocol):
    """What the keys do to a table."""

    @property
    def records(self) -> RecordModel[Any]: ...
    def currentIndex(self) -> QModelIndex: ...
    def copy_cell(self) -> None: ...
    def copy_rows(self) -> None: ...
    def move_cursor(self, event: QKeyEvent) -> None: ...
    def peek(self, key: Hashable) -> None: ...
    def open_row(self, key: Hashable) -> None: ...


class TableKeys:
    """The keys of one table."""

    def __init__(self, table: Keyed, ticking: Ticking) -> None:
        self._table, self._ticking = table, ticking

    def handle(self, event: QKeyEvent) -> bool:
        """Do what a key means; False where it means nothing here."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self._table.copy_cell()
        elif event.key() == Qt.Key.Key_C and event.modifiers() == _CTRL | _SHIFT:
            self._table.copy_rows()
        elif event.matches(QKeySequence.StandardKey.SelectAll) and self._table.records.tickable:
            self._table.records.tick_all()
        elif event.key() == Qt.Key.Key_Escape and self._table.records.ticked():
            self._table.records.untick_all()
        else:
            return self._handle_row_key(event)
        return True

    def _handle_row_key(self, event: QKeyEvent) -> bool:
        index = self._table.currentIndex()
        if not index.isValid():
            return False
        key = self._table.records.key_at(index.row())
        if event.key() == Qt.Key.Key_Space and event.modifiers() & _CTRL:
            if self._table.records.tickable:
                self._table.records.toggle(index.row())
        elif event.key() == Qt.Key.Key_Space:
            self._table.peek(key)
        elif event.key() in _ENTER and not event.modifiers() & _CTRL:
            self._table.open_row(key)
        elif event.key() in _MOVES and event.modifiers() == _SHIFT and self._table.records.tickable:
            self._extend(event)
        else:
            return False
        return True

    def _extend(self, event: QKeyEvent) -> None:
        self._ticking.begin_at(self._table.currentIndex().row(), again=False)
        plain = QKeyEvent(event.type(), event.key(), Qt.KeyboardModifier.NoModifier)
        self._table.move_cursor(plain)
        self._ticking.extend_to(self._table.currentIndex().row())
