"""An item model over keyed, frozen records that is updated by difference, never by reset.

    model = RecordModel(COLUMNS, key=lambda row: row.task_id)
    model.apply(rows)                 # live: cells change in place, new rows are held back
    model.apply(rows, settle=True)    # the user asked: order, arrivals and departures take effect
    model.show_new()                  # the "12 new rows" pill

Live updates never move a row: a record that left the result stays, dimmed; arrivals are counted in
``pending`` until ``show_new``. With ``hold_new=False`` (short lists such as worker nodes) arrivals
and departures show at once, but the order still stays. Ticks are a set of keys and survive all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from services.i18n import _
from views.support import safe
from views.tables import roles
from views.tables.column import TICK, Column, tick_column
from views.tables.diff import Diff, diff, merge_in_place, unique
from views.tables.sorting import Sort, next_sorts, sorted_rows

R = TypeVar("R")
Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()
_MANY = 64


class RecordModel(QAbstractTableModel, Generic[R]):
    """Rows of records under columns.

    Signals:
        pending_changed: how many arrivals are held back.
        ticked_changed: the set of ticked keys changed.
        sort_requested: a tuple of ``(column key, descending)``; the first one is the main key.
        applied: a new list of records has been taken in.
    """

    pending_changed = Signal(int)
    ticked_changed = Signal()
    sort_requested = Signal(object)
    applied = Signal()

    def __init__(
        self,
        columns: Sequence[Column[R]],
        key: Callable[[R], Hashable],
        *,
        tickable: bool = False,
        hold_new: bool = True,
        local_sort: bool = False,
        sentence: Callable[[R], str] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._columns: tuple[Column[R], ...] = (*((tick_column(),) if tickable else ()), *columns)
        self._key = key
        self._hold_new = hold_new
        self._local_sort = local_sort
        self._sentence = sentence
        self._rows: list[R] = []
        self._latest: list[R] = []
        self._positions: dict[Hashable, int] = {}
        self._dimmed: set[Hashable] = set()
        self._ticked: set[Hashable] = set()
        self._pending = 0
        self._sorts: tuple[Sort, ...] = ()

    # what is shown

    @property
    def columns(self) -> tuple[Column[R], ...]:
        """The columns, the tick column included."""
        return self._columns

    @property
    def tickable(self) -> bool:
        """Whether rows have a check box."""
        return bool(self._columns) and self._columns[0].key == TICK

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

    def clear(self) -> None:
        """Show nothing and forget the ticks; for a new profile or a changed filter."""
        self.set_ticked(self._ticked.copy(), on=False)
        self.apply((), settle=True)

    def _settle(self) -> None:
        target = self._latest
        if self._local_sort and self._sorts:
            target = self._sorted(target)
        self._undim(())
        self._move_to(target)
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
            self.beginRemoveRows(_NO_PARENT, removal.first, removal.last)
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
            self.beginInsertRows(_NO_PARENT, insertion.first, last)
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

    # ticks

    def ticked(self) -> frozenset[Hashable]:
        """Return the ticked keys, also those of rows not loaded now."""
        return frozenset(self._ticked)

    def is_ticked(self, row: int) -> bool:
        """Tell whether `row` is ticked."""
        return bool(self._ticked) and self.key_at(row) in self._ticked

    def set_ticked(self, keys: Iterable[Hashable], *, on: bool = True) -> None:
        """Tick or untick `keys`."""
        wanted = set(keys)
        after = self._ticked | wanted if on else self._ticked - wanted
        changed = after ^ self._ticked
        if not changed or not self.tickable:
            return
        self._ticked = after
        rows = sorted(self._positions[name] for name in changed if name in self._positions)
        if rows:
            last = len(self._columns) - 1
            self.dataChanged.emit(self.index(rows[0], 0), self.index(rows[-1], last), roles.TICK_ROLES)
        self.headerDataChanged.emit(roles.HORIZONTAL, 0, 0)
        self.ticked_changed.emit()

    def toggle(self, row: int) -> None:
        """Tick or untick `row`."""
        self.set_ticked([self.key_at(row)], on=not self.is_ticked(row))

    def tick_all(self) -> None:
        """Tick every loaded row."""
        self.set_ticked(self._positions)

    def untick_all(self) -> None:
        """Untick everything, loaded or not."""
        self.set_ticked(self._ticked.copy(), on=False)

    def tick_state(self) -> Qt.CheckState:
        """Return the state of the box in the header."""
        if not self._ticked:
            return roles.UNCHECKED
        shown = sum(name in self._ticked for name in self._positions)
        return roles.CHECKED if shown and shown == len(self._rows) else roles.PARTLY

    # order

    @property
    def sorts(self) -> tuple[Sort, ...]:
        """The order shown by the header."""
        return self._sorts

    def set_sorts(self, sorts: Sequence[Sort]) -> None:
        """Show `sorts` in the header, without asking for anything."""
        self._sorts = tuple(sorts)
        self.headerDataChanged.emit(roles.HORIZONTAL, 0, len(self._columns) - 1)

    def request_sort(self, section: int, *, add: bool = False) -> None:
        """Order by the column in `section`; `add` keeps the earlier keys before it."""
        column = self._columns[section]
        if not column.sortable:
            return
        self.set_sorts(next_sorts(self._sorts, column.key, descending_first=column.descending_first, add=add))
        if self._local_sort:
            self.show_new()
        self.sort_requested.emit(self._sorts)

    def _sorted(self, rows: Sequence[R]) -> list[R]:
        return sorted_rows(rows, self._sorts, lambda key: self._columns[self.section_of(key)].value)

    # QAbstractTableModel

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NO_PARENT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self._columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return what can be done with a cell."""
        return _CELL_FLAGS if index.isValid() else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = roles.DISPLAY) -> Any:
        """Return what `role` asks of a cell."""
        if not index.isValid():
            return None
        record, column = self._rows[index.row()], self._columns[index.column()]
        if column.key == TICK:
            return self._tick_data(index.row(), role)
        if role == roles.DISPLAY:
            return column.display(record)
        if role == roles.ALIGNMENT:
            return roles.ALIGN_RIGHT if column.to_right else roles.ALIGN_LEFT
        answer = _ANSWERS.get(role)
        return answer(self, index.row(), column) if answer is not None else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = roles.DISPLAY) -> Any:
        """Return title and explanation of a column."""
        if orientation != roles.HORIZONTAL or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        if role == roles.DISPLAY:
            return _(column.title)
        if role == roles.TOOLTIP and (column.title_tip or column.title):
            return _(column.title_tip or column.title)
        if role == roles.ALIGNMENT:
            return roles.ALIGN_RIGHT if column.to_right else roles.ALIGN_LEFT
        return None

    def _tick_data(self, row: int, role: int) -> Any:
        if role == roles.CHECK:
            return roles.CHECKED if self.is_ticked(row) else roles.UNCHECKED
        if role == roles.ACCESSIBLE:
            return _("selected") if self.is_ticked(row) else _("not selected")
        if role == roles.KEY:
            return self.key_at(row)
        return None

    def _tooltip(self, row: int, column: Column[R]) -> str | None:
        if column.tooltip is None:
            return None
        return safe.tooltip(column.tooltip(self._rows[row])) or None

    def _speech(self, row: int, column: Column[R]) -> str:
        record = self._rows[row]
        lead = self._columns[1 if self.tickable else 0]
        if self._sentence is not None and column.key == lead.key:
            return self._sentence(record)
        words = column.speech(record) if column.speech is not None else column.display(record)
        title = _(column.title)
        return _("{title}: {value}").format(title=title, value=words) if title else words


_CELL_FLAGS = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
_ANSWERS: dict[int, Callable[[RecordModel[Any], int, Column[Any]], Any]] = {
    roles.TOOLTIP: RecordModel._tooltip,  # noqa: SLF001
    roles.ACCESSIBLE: RecordModel._speech,  # noqa: SLF001
    roles.KEY: lambda model, row, _column: model.key_at(row),
    roles.RECORD: lambda model, row, _column: model.record(row),
    roles.VALUE: lambda model, row, column: column.value(model.record(row)),
    roles.DIMMED: lambda model, row, _column: model.is_dimmed(row),
}
