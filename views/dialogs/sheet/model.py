"""The rows of a file as a grid: what becomes of each, its cells as they can be corrected, why a cell is not good."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import msgspec
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from services.commands.sheet import cells
from services.commands.sheet.orders import Fault, Orders
from services.commands.sheet.table import Row, blank
from services.domain.gates import listed
from services.i18n import N_, _, ngettext
from views.support import safe, shown, text
from views.tables import roles

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
STATE = 0  #: the column before those of the file: what becomes of the row
LONGEST = 400
ALL, ERRORS, BARRED = "", "errors", "barred"  #: which rows are shown
_FLAGS = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren

#: what becomes of a row: its words, its status
_GOES: Mapping[str, tuple[str, str]] = {
    "new": (N_("becomes a task"), "succeeded"),
    "before": (N_("done before, goes again"), "succeeded"),
    "barred": (N_("cannot start now"), "waiting"),
    "twin": (N_("same as another row"), "warning"),
    "active": (N_("active already"), "warning"),
    "done": (N_("done already"), "warning"),
    "empty": ("", ""),
    "looking": (N_("is looked at"), "waiting"),
}


class Found(msgspec.Struct, frozen=True):
    """What is to be said of each row; all by its number."""

    faults: Mapping[int, tuple[Fault, ...]] = msgspec.field(default_factory=dict)  #: of bad rows
    left_out: Mapping[int, Fault] = msgspec.field(default_factory=dict)  #: good ones that become no task
    before: Mapping[int, str] = msgspec.field(
        default_factory=dict
    )  #: ids of tasks that did the work of a row some time ago


class SheetModel(QAbstractTableModel):
    """Rows by their place in the file; with ``only`` those alone of which that was true when it was chosen.

    Signals:
        written: cells that a person filled, as {(number of the row, column): text}.
    """

    written = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._orders: Orders | None = None
        self._found = Found()
        self._targets: dict[str, int] = {}
        self._rows: list[Row] = []
        self._only = ALL
        self._barred: Mapping[int, str] = {}
        self._looking: frozenset[int] = frozenset()

    # what is shown

    def show_orders(self, orders: Orders) -> None:
        """Show what a file asks for; rows stay in their places where only cells have changed."""
        before = self._orders
        self._found = _found(orders)
        self._targets = {one.target: one.at for one in orders.columns if one.target}
        self._looking = frozenset()
        kept = before is not None and before.table.columns == orders.table.columns
        numbers = [row.number for row in _all_rows(orders)]
        if kept and before is not None and numbers == [row.number for row in _all_rows(before)]:
            self._orders = orders
            wanted = {row.number for row in self._rows}
            self._rows = [row for row in _all_rows(orders) if not self._only or row.number in wanted]
            self._tell_all()
            return
        self.beginResetModel()
        self._orders = orders
        self._rows = self._chosen()
        self.endResetModel()

    def set_only(self, which: str) -> None:
        """Show the bad rows only, or those that cannot start now, as they are now; one that is corrected meanwhile
        stays till this is chosen again.
        """
        self.beginResetModel()
        self._only = which
        self._rows = self._chosen()
        self.endResetModel()

    def set_barred(self, barred: Mapping[int, str]) -> None:
        """By number, of the rows whose tasks could not start now: the gate that would keep them."""
        if barred == self._barred:
            return
        self._barred = barred
        if self._rows:  # of the first column alone: what is being written in a cell stays there
            first, last = self.index(0, STATE), self.index(len(self._rows) - 1, STATE)
            self.dataChanged.emit(first, last, [roles.DISPLAY, roles.TOOLTIP, roles.ACCESSIBLE])

    def set_looking(self, numbers: frozenset[int]) -> None:
        """Rows that were changed and are not judged yet."""
        self._looking = numbers
        self._tell_all()

    @property
    def orders(self) -> Orders | None:
        """What is shown."""
        return self._orders

    @property
    def only(self) -> str:
        """Which rows are shown."""
        return self._only

    def number(self, row: int) -> int:
        """The number of a row in its file."""
        return self._rows[row].number

    def row_of(self, number: int) -> int:
        """Where a row of the file is shown, -1 for nowhere."""
        return next((at for at, row in enumerate(self._rows) if row.number == number), -1)

    def numbers_from(self, number: int, count: int) -> list[int]:
        """Numbers of so many rows of the file, from one on: those that are shown, and where nothing is hidden those
        that come behind the last one. Fewer where there is no room for them.
        """
        at = self.row_of(number)
        found = [row.number for row in self._rows[max(at, 0) :] if row.cells][:count]
        if self._only:
            return found
        last = max((row.number for row in self._rows), default=number - 1)
        return found + list(range(last + 1, last + 1 + count - len(found)))

    def fault_at(self, row: int, section: int) -> Fault | None:
        """What is wrong with a cell; of the first column with the row as a whole."""
        return next((one for one in self.faults(row) if self._section_of(one) == section), None)

    def faults(self, row: int) -> tuple[Fault, ...]:
        """All that is wrong with a row."""
        return self._found.faults.get(self.number(row), ())

    def bad_cells(self) -> list[tuple[int, int]]:
        """Places of what is wrong, from top to bottom."""
        found = self._found.faults
        return [
            (at, section)
            for at, row in enumerate(self._rows)
            if row.number in found
            for section in sorted({self._section_of(one) for one in found[row.number]})
        ]

    def cell(self, row: int, section: int) -> str:
        """What stands in a cell of the file."""
        return cells.text_of(self._rows[row].cells[section - 1]) if section > STATE else ""

    def same(self, row: int, section: int) -> list[tuple[int, int]]:
        """All cells of the column that say the same as this one and are wrong too, as (number of the row, column)."""
        if self._orders is None or section == STATE:
            return []
        wanted, found = self.cell(row, section), self._found.faults
        return [
            (one.number, section - 1)
            for one in self._orders.table.rows
            if one.number in found and cells.text_of(one.cells[section - 1]) == wanted
        ]

    def fates(self) -> list[str]:
        """What becomes of its good rows, in the present language."""
        # which rows cannot start now comes a moment later, and moves no column
        found = {"new", "looking", "barred", *map(_fate, self._found.left_out.values())}
        return [_(_GOES[name][0]) for name in sorted(found | ({"before"} if self._found.before else set()))]

    def goes(self, row: int) -> str:
        """What becomes of a row: ``bad``, or a key of the words for it."""
        number = self.number(row)
        if number in self._looking:
            return "looking"
        if number in self._found.faults:
            return "bad"
        if (why := self._found.left_out.get(number)) is not None:
            return _fate(why)
        if all(map(blank, self._rows[row].cells)):
            return "empty"
        if number in self._found.before:  # weighs more: the work is done a second time
            return "before"
        return "barred" if number in self._barred else "new"

    def why(self, row: int, section: int) -> str:
        """The whole of what is to be said of a cell or, where that is good, of its row."""
        fault = self.fault_at(row, section)
        if fault is not None:
            return _placed(fault)
        if faults := self.faults(row):
            return "; ".join(map(_placed, faults))
        left_out = self._found.left_out.get(self.number(row))
        if left_out is not None:
            return shown.say(left_out.reason)
        parts = []
        if gate := self._barred.get(self.number(row)):
            parts.append(
                _("It becomes a task that cannot start now: {gate}.").format(gate=_(listed.BY_NAME[gate].short))
            )
        if task_id := self._found.before.get(self.number(row)):
            parts.append(_("Its work succeeded before, as {id}; the type lets it be done again.").format(id=task_id))
        return text.sentences(parts)

    # what Qt asks

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        """The columns of the file and the one before them."""
        return 0 if parent.isValid() or self._orders is None else len(self._orders.table.columns) + 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        """What can be done with a cell; a row that could not be read at all has none."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        editable = index.column() > STATE and bool(self._rows[index.row()].cells)
        return _FLAGS | Qt.ItemFlag.ItemIsEditable if editable else _FLAGS

    def data(self, index: Index, role: int = roles.DISPLAY) -> Any:
        if not index.isValid():
            return None
        row, section = index.row(), index.column()
        if role == roles.DISPLAY:
            return self.words(row, section)
        if role == int(Qt.ItemDataRole.EditRole):
            return self.cell(row, section) if section > STATE else self.words(row, section)
        if role == roles.TOOLTIP:
            return safe.tooltip(self.why(row, section)) or None
        if role == roles.ACCESSIBLE:
            title = self.headerData(section, roles.HORIZONTAL)
            said = _("{title}: {value}").format(title=title, value=self.words(row, section))
            return f"{said}. {self.why(row, section)}".removesuffix(". ")
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = roles.DISPLAY) -> Any:
        """Titles of the columns, and numbers of the rows as the file counts them."""
        if role != roles.DISPLAY or self._orders is None:
            return None
        if orientation != roles.HORIZONTAL:
            return str(self._rows[section].number) if section < len(self._rows) else None
        names = self._orders.table.columns
        return (
            _("Row") if section == STATE else safe.one_line(names[section - 1], 60) if section <= len(names) else None
        )

    def setData(self, index: Index, value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Tell what a person has written; it stands in the grid once it was looked at."""
        row, section = index.row(), index.column()
        if role != int(Qt.ItemDataRole.EditRole) or str(value) == self.cell(row, section):
            return False
        self.written.emit({(self.number(row), section - 1): str(value)})
        return True

    # inside

    def words(self, row: int, section: int) -> str:
        """What is read in a cell."""
        if section > STATE:
            values = self._rows[row].cells
            if values:
                return safe.one_line(self.cell(row, section), LONGEST)
            return safe.one_line(self.faults(row)[0].value, LONGEST) if section == 1 and self.faults(row) else ""
        goes = self.goes(row)
        if goes == "bad":
            number = len(self.faults(row))
            return ngettext("{n} error", "{n} errors", number).format(n=text.count(number))
        return _(_GOES[goes][0]) if _GOES[goes][0] else ""

    def status(self, row: int) -> str:
        """The status name of what becomes of a row."""
        goes = self.goes(row)
        return "dead" if goes == "bad" else _GOES[goes][1]

    def _section_of(self, fault: Fault) -> int:
        names = self._orders.table.columns if self._orders is not None else ()
        at = self._targets.get(fault.field, names.index(fault.column) if fault.column in names else -1)
        return at + 1

    def _chosen(self) -> list[Row]:
        if self._orders is None:
            return []
        rows = _all_rows(self._orders)
        wanted: Mapping[int, object] = {ERRORS: self._found.faults, BARRED: self._barred}.get(self._only, {})
        return [row for row in rows if row.number in wanted] if self._only else rows

    def _tell_all(self) -> None:
        if self._rows:
            last = self.index(len(self._rows) - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last, [roles.DISPLAY, roles.TOOLTIP, roles.ACCESSIBLE])


def _all_rows(orders: Orders) -> list[Row]:
    """With those that could not be read, which have no cells."""
    if not orders.table.bad:
        return list(orders.table.rows)
    lost = [Row(number=bad.number, cells=()) for bad in orders.table.bad]
    return sorted([*orders.table.rows, *lost], key=lambda row: row.number)


def _found(orders: Orders) -> Found:
    faults: dict[int, list[Fault]] = defaultdict(list)
    for one in orders.faults:
        faults[one.row].append(one)
    return Found(
        faults={number: tuple(found) for number, found in faults.items()},
        left_out={one.row: one for one in orders.left_out if one.row not in faults},
        before={one.spec.line: one.done.task_id for one in orders.before},
    )


def _placed(fault: Fault) -> str:
    words = shown.say(fault.reason)
    return _("{name}: {value}").format(name=safe.one_line(fault.where, 60), value=words) if fault.where else words


def _fate(left_out: Fault) -> str:
    """Key of the words for a good row that becomes no task."""
    return left_out.field if left_out.field in _GOES else "twin"
