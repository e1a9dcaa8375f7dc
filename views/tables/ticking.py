"""Ticks by hand: one row, a range from where a person began, all loaded rows."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from PySide6.QtCore import QObject, Qt

from views.tables.record_model import RecordModel


class Ticking(QObject):
    """Remembers the row where a range begins, by its key: rows may have moved since."""

    def __init__(self, model: RecordModel[Any]) -> None:
        super().__init__(model)
        self._records = model
        self._anchor: Hashable = None

    def begin_at(self, row: int, *, again: bool = True) -> None:
        """A range begins here; without `again` only where none has begun."""
        if again or self._anchor is None or not self._records.ticked():
            self._anchor = self._records.key_at(row) if row >= 0 else None

    def toggle(self, row: int) -> None:
        """Tick or untick a row and begin there."""
        self._records.toggle(row)
        self.begin_at(row)

    def extend_to(self, row: int) -> None:
        """Tick everything from the beginning of the range to `row`."""
        if row < 0:
            return
        start = self._records.row_of(self._anchor)
        start = row if start < 0 else start
        self._records.set_ticked([self._records.key_at(at) for at in range(min(start, row), max(start, row) + 1)])

    def toggle_all(self) -> None:
        """Tick all loaded rows, or untick everything where they are."""
        if self._records.tick_state() == Qt.CheckState.Checked:
            self._records.untick_all()
        else:
            self._records.tick_all()
