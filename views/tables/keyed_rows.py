"""Rows of keyed, frozen records as an item model that is updated by difference, never by reset.

Live updates never move a row: a record that left the result stays, dimmed; arrivals are counted in ``pending`` until
``show_new``. With ``hold_new=False`` (short lists such as worker nodes) arrivals and departures show at once, but the
order still stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Signal

from views.support.instant import ticks
from views.tables import roles
from views.tables.column import TICK, Column

R = TypeVar("R")


class Removal(msgspec.Struct, frozen=True):
    """Rows `first` to `last`, both included, leave."""

    first: int
    last: int


class Insertion(msgspec.Struct, Generic[R], frozen=True):
    """`rows` come in before position `first`."""

    first: int
    rows: tuple[R, ...]


class Change(msgspec.Struct, Generic[R], frozen=True):
    """The row at `position` of the new list has other content than before."""

    position: int
    row: R


class Diff(msgspec.Struct, Generic[R], frozen=True):
    """The steps from one list to another."""

    removals: tuple[Removal, ...]
    order: tuple[int, ...] | None  #: for each kept row of the new order, where it stands now
    insertions: tuple[Insertion[R], ...]
    changes: tuple[Change[R], ...]

    def __bool__(self) -> bool:
        return bool(self.removals or self.order or self.insertions or self.changes)


def keyed(rows: Iterable[R], key: Callable[[R], Hashable]) -> dict[Hashable, R]:
    """Return `rows` by key in their order, without later rows of a key already seen."""
    first: dict[Hashable, R] = {}
    for row in rows:
        first.setdefault(key(row), row)
    return first


def diff(old: Mapping[Hashable, R], new: Mapping[Hashable, R]) -> Diff[R]:
    """Return the steps from `old` to `new`, rows by key in the order of each."""
    before, after = list(old), list(new)
    if before == after:  # nearly always: rows change far more often than they come, leave or move
        return Diff((), None, (), changes(enumerate(zip(old.values(), new.values(), strict=True))))
    rows = list(new.values())
    removals = _runs([position for position, name in enumerate(before) if name not in new])
    arrivals = [position for position, name in enumerate(after) if name not in old]
    stayed = ((n, (old[name], row)) for n, (name, row) in enumerate(new.items()) if name in old)
    return Diff(
        removals=tuple(Removal(first, last) for first, last in reversed(removals)),
        order=_order([name for name in before if name in new], [name for name in after if name in old]),
        insertions=tuple(Insertion(first, tuple(rows[first : last + 1])) for first, last in _runs(arrivals)),
        changes=changes(stayed),
    )


def changes(pairs: Iterable[tuple[int, tuple[R, R]]]) -> tuple[Change[R], ...]:
    """Return what differs of position, row before and row after."""
    return tuple(Change(position, row) for position, (was, row) in pairs if was is not row and was != row)


def merge_in_place(shown: Iterable[Hashable], incoming: Mapping[Hashable, R]) -> dict[Hashable, R]:
    """Return `incoming` in the order of the keys `shown`, each new row after the row it follows now.

    This is how a live list grows without moving what people look at.
    """
    merged = {name: incoming[name] for name in shown if name in incoming}
    if len(merged) == len(incoming):
        return merged
    followers: dict[Hashable, list[Hashable]] = {}
    anchor: Hashable = None
    order: list[Hashable] = []
    for name in incoming:
        if name in merged:
            anchor = name
        elif anchor is None:
            order.append(name)
        else:
            followers.setdefault(anchor, []).append(name)
    for name in merged:
        order.append(name)
        order.extend(followers.get(name, ()))
    return {name: incoming[name] for name in order}


def _order(kept: list[Hashable], wanted: list[Hashable]) -> tuple[int, ...] | None:
    if kept == wanted:
        return None
    at = {name: position for position, name in enumerate(kept)}
    return tuple(at[name] for name in wanted)


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for position in positions:
        if runs and runs[-1][1] == position - 1:
            runs[-1] = (runs[-1][0], position)
        else:
            runs.append((position, position))
    return runs


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
        self._latest: dict[Hashable, R] = {}
        self._places: dict[Hashable, int] | None = {}
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

    def apply(self, rows: Iterable[R], *, settle: bool = False, departed: Collection[Hashable] = ()) -> None:
        """Take in a new list: live, or in full when the user asked for it (`settle`). `departed`: keys of rows that
        stand there dimmed where departures show at once.
        """
        self._latest = keyed(rows, self._key)
        if settle or not self._rows:
            self._settle()
        elif self._hold_new:
            self._update_in_place()
        else:
            left = self._latest.keys() & set(departed)
            self._undim(self._dimmed & left)
            self._move_to(merge_in_place(self._positions, self._latest))
            self._undim(left)
        self.applied.emit()

    def patch(self, fresh: Mapping[Any, R]) -> None:
        """Replace shown records by key; nothing arrives, leaves or moves."""
        self._latest.update((name, row) for name, row in fresh.items() if name in self._latest)
        shown = sorted((self._positions[name], row) for name, row in fresh.items() if name in self._positions)
        self._change(changes((position, (self._rows[position], row)) for position, row in shown))

    def show_new(self) -> None:
        """Let arrivals, departures and the order take effect."""
        self._settle()
        self.applied.emit()

    def _settle(self) -> None:
        self._undim(set())
        rows = list(self._latest.values())
        order = self.arranged(rows)
        self._move_to(self._latest if order is rows else keyed(order, self._key))
        self._set_pending(0)

    def _update_in_place(self) -> None:
        shown, fresh = self._positions.keys(), self._latest
        self._undim(shown - fresh.keys())
        pairs = enumerate(zip(shown, self._rows, strict=True))
        self._change(changes((position, (row, fresh.get(name, row))) for position, (name, row) in pairs))
        self._set_pending(len(fresh.keys() - shown))

    def _undim(self, departed: set[Hashable]) -> None:
        rows = sorted(self._positions[name] for name in departed ^ self._dimmed)
        self._dimmed = departed
        for first, last in [(rows[0], rows[-1])] if len(rows) > _MANY else zip(rows, rows, strict=True):
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self._columns) - 1), roles.DIM_ROLES)

    def _set_pending(self, number: int) -> None:
        if number != self._pending:
            self._pending = number
            self.pending_changed.emit(number)

    def _move_to(self, target: Mapping[Hashable, R]) -> None:
        steps = diff(dict(zip(self._positions, self._rows, strict=True)), target)
        if len(steps.removals) + len(steps.insertions) > _MANY:
            self._move_at_once(target)
        else:
            self._move_by_runs(steps)
        if self._places is None:  # asking thousands of rows for their keys takes longer than all else
            self._places = {name: position for position, name in enumerate(target)}
        self._change(steps.changes)

    def _move_by_runs(self, steps: Diff[R]) -> None:
        for removal in steps.removals:
            self._remove(removal.first, removal.last)
        if steps.order is not None:
            self._reorder(steps.order)
        for insertion in steps.insertions:
            self._insert(insertion.first, insertion.rows)

    def _move_at_once(self, wanted: Mapping[Hashable, R]) -> None:
        """One removal, one insertion, both at the end, and a new order: the header counts all rows again with each run
        of rows that leaves or comes, and thousands of runs would hold up the window for seconds.
        """
        known = self._positions
        stay = [known[name] for name in wanted if name in known]
        leave = [position for name, position in known.items() if name not in wanted]
        came = [name for name in wanted if name not in known]
        self._reorder([*stay, *leave])
        self._remove(len(stay), len(stay) + len(leave) - 1)
        self._insert(len(stay), [wanted[name] for name in came])
        places = {name: position for position, name in enumerate([*(n for n in wanted if n in known), *came])}
        self._reorder([places[name] for name in wanted])

    def _remove(self, first: int, last: int) -> None:
        if first > last:
            return
        self.beginRemoveRows(NO_PARENT, first, last)
        del self._rows[first : last + 1]
        self._places = None
        self.endRemoveRows()

    def _insert(self, first: int, rows: Sequence[R]) -> None:
        if not rows:
            return
        self.beginInsertRows(NO_PARENT, first, first + len(rows) - 1)
        self._rows[first:first] = rows
        self._places = None
        self.endInsertRows()

    def _reorder(self, order: Sequence[int]) -> None:
        if all(old == new for new, old in enumerate(order)):
            return
        self.layoutAboutToBeChanged.emit()
        moved = {old: new for new, old in enumerate(order)}
        before = self.persistentIndexList()
        self._rows = [self._rows[position] for position in order]
        self._places = None
        after = [self.index(moved[index.row()], index.column()) for index in before]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _change(self, found: Sequence[Change[R]]) -> None:
        if len(found) > _MANY:
            # One signal over the span: per-cell signals would cost more than the repaint.
            for change in found:
                self._rows[change.position] = change.row
            first, last = found[0].position, found[-1].position
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self._columns) - 1), roles.CELL_ROLES)
            return
        for change in found:
            old = self._rows[change.position]
            self._rows[change.position] = change.row
            self._announce_cells(change.position, old, change.row)

    def _announce_cells(self, row: int, old: R, new: R) -> None:
        sections = range(len(self._columns))
        with ticks().painting(self):
            first = next((section for section in sections if self._differs(section, old, new)), None)
            if first is None:
                return
            # what lies between is painted with them: it need not be looked at
            last = next((one for one in reversed(sections[first + 1 :]) if self._differs(one, old, new)), first)
        self.dataChanged.emit(self.index(row, first), self.index(row, last), roles.CELL_ROLES)

    def _differs(self, section: int, old: R, new: R) -> bool:
        column = self._columns[section]
        return column.key != TICK and column.differs(old, new)

    @property
    def _positions(self) -> dict[Hashable, int]:
        """Where each key stands, in the order shown; counted again only when somebody asks after rows moved."""
        if self._places is None:
            self._places = {self._key(row): position for position, row in enumerate(self._rows)}
        return self._places

    def arranged(self, rows: list[R]) -> list[R]:
        """The order in which rows settle; as they came."""
        return rows

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._columns)
