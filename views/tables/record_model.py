"""An item model over keyed, frozen records that is updated by difference, never by reset.

    model = RecordModel(COLUMNS, key=lambda row: row.task_id)
    model.apply(rows)                 # live: cells change in place, new rows are held back
    model.apply(rows, settle=True)    # the user asked: order, arrivals and departures take effect
    model.show_new()                  # the "12 new rows" pill

Live updates never move a row: a record that left the result stays, dimmed; arrivals are counted in
``pending`` until ``show_new``. With ``hold_new=False`` (short lists such as worker nodes) arrivals
and departures show at once, but the order still stays. Ticks are a set of keys and survive all of it.

What Qt asks of a cell and of a title, answered from record and column.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import msgspec
from PySide6.QtCore import QCollator, QCollatorSortKey, QLocale, QObject, Qt, Signal

from services.domain.text.ordering import as_read
from services.i18n import _, is_chinese
from views.support import safe
from views.tables import roles
from views.tables.column import TICK, Column, tick_column
from views.tables.keyed_rows import Index, KeyedRows

#: thousands of names are put in order beside the thread of the window, which asks the same collator
_ORDERING = threading.Lock()


class Records(Protocol):
    """What is asked of the model."""

    @property
    def tickable(self) -> bool: ...
    @property
    def sentence(self) -> Callable[[Any], str] | None: ...
    def record(self, row: int) -> Any: ...
    def column(self, section: int) -> Column[Any]: ...
    def key_at(self, row: int) -> Any: ...
    def is_ticked(self, row: int) -> bool: ...
    def is_dimmed(self, row: int) -> bool: ...


def cell(model: Records, row: int, column: Column[Any], role: int) -> Any:
    """What `role` asks of the cell of `column` in `row`; None for what nobody answers."""
    if column.key == TICK:
        return _tick(model, row, role)
    if role == roles.DISPLAY:
        return column.display(model.record(row))
    if role == roles.ALIGNMENT:
        return roles.ALIGN_RIGHT if column.to_right else roles.ALIGN_LEFT
    answer = _ANSWERS.get(role)
    return answer(model, row, column) if answer is not None else None


def title(column: Column[Any], role: int) -> Any:
    """What `role` asks of the title of `column`."""
    if role == roles.DISPLAY:
        return _(column.title)
    if role == roles.TOOLTIP and (column.title_tip or column.title):
        return _(column.title_tip or column.title)
    if role == roles.ALIGNMENT:
        return roles.ALIGN_RIGHT if column.to_right else roles.ALIGN_LEFT
    return None


def _tick(model: Records, row: int, role: int) -> Any:
    if role == roles.CHECK:
        return roles.CHECKED if model.is_ticked(row) else roles.UNCHECKED
    if role == roles.ACCESSIBLE:
        return _("selected") if model.is_ticked(row) else _("not selected")
    if role == roles.KEY:
        return model.key_at(row)
    return None


def _tooltip(model: Records, row: int, column: Column[Any]) -> str | None:
    return safe.tooltip(column.tip(model.record(row))) or None


def _speech(model: Records, row: int, column: Column[Any]) -> str:
    record = model.record(row)
    lead = model.column(1 if model.tickable else 0)
    if model.sentence is not None and column.key == lead.key:
        return safe.masked(model.sentence(record))
    words = column.spoken(record)
    title = _(column.title)
    return _("{title}: {value}").format(title=title, value=words) if title else words


_ANSWERS: dict[int, Callable[[Records, int, Column[Any]], Any]] = {
    roles.TOOLTIP: _tooltip,
    roles.ACCESSIBLE: _speech,
    roles.KEY: lambda model, row, _column: model.key_at(row),
    roles.RECORD: lambda model, row, _column: model.record(row),
    roles.VALUE: lambda model, row, column: column.value(model.record(row)),
    roles.DIMMED: lambda model, row, _column: model.is_dimmed(row),
}


Sort = tuple[str, bool]  #: column key, descending


def next_sorts(now: Sequence[Sort], key: str, *, descending_first: bool, add: bool) -> tuple[Sort, ...]:
    """Return the order after a click on the column `key`; `add` keeps the earlier keys before it."""
    known = dict(now)
    descending = not known[key] if key in known else descending_first
    others = [sort for sort in now if sort[0] != key] if add else []
    return (*others, (key, descending))


def sorted_rows(rows: Sequence[R], sorts: Sequence[Sort], value_of: Callable[[str], Callable[[R], Any]]) -> list[R]:
    """Return `rows` in the order of `sorts`; nothing sorts first, texts without regard to case."""
    result = list(rows)
    for key, descending in reversed(sorts):
        value = value_of(key)
        result.sort(key=lambda row, value=value: comparable(value(row)), reverse=descending)  # type: ignore[misc]
    return result


def comparable(value: object) -> tuple[int, Any]:
    """Return a value that can be compared with its like, None included; ``shop 2`` before ``shop 10``, in Chinese
    names by their pinyin.
    """
    if value is None:
        return (0, 0)
    if not isinstance(value, str):
        return (1, value)
    return (1, _by_pinyin(value) if is_chinese() else as_read(value))


@lru_cache(maxsize=16_384)
def _by_pinyin(words: str) -> QCollatorSortKey:
    with _ORDERING:
        return _chinese().sortKey(words)


@lru_cache(maxsize=1)
def _chinese() -> QCollator:
    order = QCollator(QLocale(QLocale.Language.Chinese, QLocale.Country.China))
    order.setNumericMode(True)
    order.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    return order


R = TypeVar("R")
_CELL_FLAGS = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren


class Heading(msgspec.Struct, frozen=True):
    """What stands above the first row of a group: what its rows have in common, and how many they are."""

    title: str
    note: str = ""


def parted(rows: Iterable[R], key: Callable[[R], Hashable], groups: Mapping[Any, object]) -> list[list[R]]:
    """Rows of one group that stand together; one that came since the groups were made is of that before it, and above
    all others of that after it.
    """
    known = list(rows)
    parts: list[list[R]] = []
    before = next((groups[key(row)] for row in known if key(row) in groups), None)
    for row in known:
        group = groups.get(key(row), before)
        if not parts or group != before:
            parts.append([])
        parts[-1].append(row)
        before = group
    return parts


class RecordModel(KeyedRows[R]):
    """Rows of records with ticks, an order and the words of every cell.

    Signals:
        ticked_changed: the set of ticked keys changed.
        sort_requested: a tuple of ``(column key, descending)``; the first one is the main key.
        headed: other words stand above rows.
    """

    ticked_changed = Signal()
    sort_requested = Signal(object)
    headed = Signal()

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
        super().__init__((*((tick_column(),) if tickable else ()), *columns), key, hold_new=hold_new, parent=parent)
        self._local_sort = local_sort
        self.sentence = sentence  #: a whole row in one sentence, for a screen reader
        self._ticked: frozenset[Hashable] = frozenset()
        self._sorts: tuple[Sort, ...] = ()
        self._usual: tuple[Sort, ...] = ()
        self._headings: Mapping[Hashable, Heading] = {}

    def clear(self) -> None:
        """Show nothing and forget the ticks; for a new profile or a changed filter."""
        self.set_ticked(self._ticked, on=False)
        self.apply((), settle=True)

    # groups

    @property
    def headings(self) -> Mapping[Hashable, Heading]:
        """What stands above rows, by their keys."""
        return self._headings

    def set_headings(self, headings: Mapping[Hashable, Heading]) -> None:
        """Say what stands above the first row of each group."""
        if headings != self._headings:
            self._headings = headings
            self.headed.emit()

    # ticks

    @property
    def tickable(self) -> bool:
        """Whether rows have a check box."""
        return bool(self._columns) and self._columns[0].key == TICK

    def ticked(self) -> frozenset[Hashable]:
        """Return the ticked keys, also those of rows not loaded now."""
        return self._ticked

    def ticked_in_order(self) -> tuple[Hashable, ...]:
        """Return the ticked keys, those on screen first in their order."""
        shown = [name for name in self._positions if name in self._ticked]
        return (*shown, *self._ticked.difference(shown))

    def ticked_beyond(self) -> int:
        """Return how many ticked keys have no row here: another filter is shown, or they are not loaded."""
        return len(self._ticked) - len(self._positions.keys() & self._ticked)

    def is_ticked(self, row: int) -> bool:
        """Tell whether `row` is ticked."""
        return bool(self._ticked) and self.key_at(row) in self._ticked

    def set_ticked(self, keys: Iterable[Hashable], *, on: bool = True) -> None:
        """Tick or untick `keys`."""
        wanted, before, none = frozenset(keys), self._ticked, frozenset[Hashable]()
        if not before:  # a hundred thousand are taken as they are, not gone through
            changed, after = (wanted, wanted) if on else (none, none)
        elif wanted is before:
            changed, after = (none, before) if on else (before, none)
        elif on:
            changed, after = wanted - before, before | wanted
        else:
            changed, after = wanted & before, before - wanted
        if not changed or not self.tickable:
            return
        self._ticked = after
        rows = [self._positions[name] for name in self._positions.keys() & changed]
        if rows:
            last = len(self._columns) - 1
            self.dataChanged.emit(self.index(min(rows), 0), self.index(max(rows), last), roles.TICK_ROLES)
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
        self.set_ticked(self._ticked, on=False)

    def tick_state(self) -> Qt.CheckState:
        """Return the state of the box in the header."""
        if not self._ticked:
            return roles.UNCHECKED
        return roles.CHECKED if self._rows and self._positions.keys() <= self._ticked else roles.PARTLY

    # order

    @property
    def sorts(self) -> tuple[Sort, ...]:
        """The order shown by the header."""
        return self._sorts

    def set_sorts(self, sorts: Sequence[Sort]) -> None:
        """Show `sorts` in the header, without asking for anything."""
        self._sorts = tuple(sorts)
        self.headerDataChanged.emit(roles.HORIZONTAL, 0, len(self._columns) - 1)

    @property
    def order(self) -> tuple[Sort, ...]:
        """In which order rows stand: as the header was clicked, else the usual one."""
        return self._sorts or self._usual

    def set_usual(self, usual: Sort) -> None:
        """Say in which order rows come where nobody has clicked the header."""
        if self._usual != (usual,):
            self._usual = (usual,)
            self.headerDataChanged.emit(roles.HORIZONTAL, 0, len(self._columns) - 1)

    def request_sort(self, section: int, *, add: bool = False) -> None:
        """Order by the column in `section`; `add` keeps the earlier keys before it."""
        column = self._columns[section]
        if not column.sortable:
            return
        self.set_sorts(
            next_sorts(
                self._sorts if add else self.order, column.key, descending_first=column.descending_first, add=add
            )
        )
        if self._local_sort:
            self.show_new()
        self.sort_requested.emit(self._sorts)

    def arranged(self, rows: list[R]) -> list[R]:
        """In the order of the header, where the model sorts by itself."""
        if not self._local_sort or not self._sorts:
            return rows
        return sorted_rows(rows, self._sorts, lambda key: self._columns[self.section_of(key)].value)

    # what Qt asks

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return what can be done with a cell."""
        return _CELL_FLAGS if index.isValid() else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = roles.DISPLAY) -> Any:
        """Return what `role` asks of a cell."""
        return cell(self, index.row(), self._columns[index.column()], role) if index.isValid() else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = roles.DISPLAY) -> Any:
        """Return title and explanation of a column."""
        if orientation != roles.HORIZONTAL or not 0 <= section < len(self._columns):
            return None
        return title(self._columns[section], role)
