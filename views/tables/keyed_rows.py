"""Rows of keyed, frozen records as an item model that is updated by difference, never by reset.

Live updates never move a row: a record that left the result stays, dimmed; arrivals are counted in ``pending`` until
``show_new``. With ``hold_new=False`` (short lists such as worker nodes) arrivals and departures show at once, but the
order still stays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Signal

from views.tables import roles
from views.tables.column import TICK, Column
from views.tables.diff import Diff, diff, merge_in_place, unique

R = TypeVar("R")
Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
_MANY = 64


class KeyedRows(QAbstractTableModel, Generic[R]):
    """Records under columns; a subclass answers what Qt asks of a cell.

    Signals:
        pending_changed: how many arrivals are held back.
        applied: a new list of records has been taken in.
    """

    pending_changed = Signal(int)
    applied = Signal()

    def __init__(
        self, columns: Sequence[Column[R]], key: Callable[[R], Hashable], *, hold_new: bool, parent: QObject | None
    ) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._key = key
        self._hold_new = hold_new
        self._rows: list[R] = []
        self._latest: list[R] = []
        self._positions: dict[Hashable, int] = {}
        self._dimmed: set[Hashable] = set()
        self._pending = 0

    # what is shown

    @property
    def columns(self) -> tuple[Column[R], ...]:
        """The columns, the tick column included."""
        return self._columns

    @property
    def pending(self) -> int:
        """How many arrivals are held back."""
        return self._pending

    @property
    def departed(self) -> int:
        """How many rows are shown dimmed because they no longer match."""
        return len(self._dimmed)

    def column(self, section: int) -> Column[R]:
        """Return the column at `section`."""
        return self._columns[section]

    def section_of(self, key: str) -> int:
        """Return the section of the column `key`, -1 when there is none."""
        return next((n for n, column in enumerate(self._columns) if column.key == key), -1)

    def records(self) -> tuple[R, ...]:
        """Return the records shown, in the order shown."""
        return tuple(self._rows)

    def record(self, row: int) -> R:
        """Return the record in `row`."""
        return self._rows[row]

    def key_at(self, row: int) -> Hashable:
        """Return the key of `row`."""
        return self._key(self._rows[row])

    def row_of(self, key: Hashable) -> int:
        """Return the row of `key`, -1 when it is not shown."""
        return self._positions.get(key, -1)

    def find(self, key: Hashable) -> R | None:
        """Return the record of `key`, if it is shown."""
        row = self.row_of(key)
        return self._rows[row] if row >= 0 else None

    def is_dimmed(self, row: int) -> bool:
        """Tell whether `row` no longer matches and waits for a refresh."""
        return bool(self._dimmed) and self.key_at(row) in self._dimmed

    # taking in records

    def apply(self, rows: Iterable[R], *, settle: bool = False) -> None:
        """Take in a new list: live, or in full when the user asked for it (`settle`)."""
        self._latest = unique(rows, self._key)
        if settle or not self._rows:
            self._settle()
        elif self._hold_new:
            self._update_in_place()
        else:
            self._move_to(merge_in_place(self._rows, self._latest, self._key))
        self.applied.emit()

    def patch(self, fresh: Mapping[Any, R]) -> None:
        """Replace shown records by key; nothing arrives, leaves or moves."""
        self._latest = [fresh.get(self._key(row), row) for row in self._latest]
        self._move_to([fresh.get(self._key(row), row) for row in self._rows])

    def show_new(self) -> None:
        """Let arrivals, departures and the order take effect."""
        self._settle()
        self.applied.emit()

    def _settle(self) -> None:
        self._undim(())
        self._move_to(self.arranged(self._latest))
        self._set_pending(0)

    def _update_in_place(self) -> None:
        fresh = {self._key(row): row for row in self._latest}
        target = [fresh.get(self._key(row), row) for row in self._rows]
        self._undim([name for name in self._positions if name not in fresh])
        self._move_to(target)
        self._set_pending(sum(name not in self._positions for name in fresh))

    def _undim(self, departed: Iterable[Hashable]) -> None:
        departed = set(departed)
        changed = departed ^ self._dimmed
        self._dimmed = departed
        last = len(self._columns) - 1
        for name in changed:
            row = self._positions[name]
            self.dataChanged.emit(self.index(row, 0), self.index(row, last), roles.DIM_ROLES)

    def _set_pending(self, number: int) -> None:
        if number != self._pending:
            self._pending = number
            self.pending_changed.emit(number)

    def _move_to(self, target: Sequence[R]) -> None:
        steps = diff(self._rows, target, self._key)
        if not steps:
            return
        self._remove(steps)
        self._reorder(steps)
        self._insert(steps)
        self._change(steps)

    def _remove(self, steps: Diff[R]) -> None:
        for removal in steps.removals:
            self.beginRemoveRows(NO_PARENT, removal.first, removal.last)
            del self._rows[removal.first : removal.last + 1]
            self._number_rows()
            self.endRemoveRows()

    def _reorder(self, steps: Diff[R]) -> None:
        if steps.order is None:
            return
        self.layoutAboutToBeChanged.emit()
        moved = {old: new for new, old in enumerate(steps.order)}
        before = self.persistentIndexList()
        self._rows = [self._rows[position] for position in steps.order]
        self._number_rows()
        after = [self.index(moved[index.row()], index.column()) for index in before]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _insert(self, steps: Diff[R]) -> None:
        for insertion in steps.insertions:
            last = insertion.first + len(insertion.rows) - 1
            self.beginInsertRows(NO_PARENT, insertion.first, last)
            self._rows[insertion.first : insertion.first] = insertion.rows
            self._number_rows()
            self.endInsertRows()

    def _change(self, steps: Diff[R]) -> None:
        if len(steps.changes) > _MANY:
            # One signal over the span: per-cell signals would cost more than the repaint.
            for change in steps.changes:
                self._rows[change.position] = change.row
            first, last = steps.changes[0].position, steps.changes[-1].position
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self._columns) - 1), roles.CELL_ROLES)
            return
        for change in steps.changes:
            old = self._rows[change.position]
            self._rows[change.position] = change.row
            self._announce_cells(change.position, old, change.row)

    def _announce_cells(self, row: int, old: R, new: R) -> None:
        changed = [
            section
            for section, column in enumerate(self._columns)
            if column.key != TICK and column.fingerprint(old) != column.fingerprint(new)
        ]
        if changed:
            top, bottom = self.index(row, changed[0]), self.index(row, changed[-1])
            self.dataChanged.emit(top, bottom, roles.CELL_ROLES)

    def _number_rows(self) -> None:
        self._positions = {self._key(row): position for position, row in enumerate(self._rows)}

    def arranged(self, rows: list[R]) -> list[R]:
        """The order in which rows settle; as they came."""
        return rows

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self._columns)
