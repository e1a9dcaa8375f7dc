"""What a file of tasks asks for, found off the GUI thread: reading, mapping, judging each row."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from datetime import tzinfo
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from services import whole_file
from services.commands.sheet import columns, table
from services.commands.sheet.cells import text_of
from services.commands.sheet.columns import Column
from services.commands.sheet.orders import Defaults, Fault, Known, Orders, checked, look, orders
from services.commands.sheet.shop_index import ShopIndex
from services.commands.sheet.table import Table, blank
from services.commands.tasks import TaskSpec
from services.domain.task.lane import parse_priority
from services.domain.text.cells import guarded
from services.i18n import _
from services.monitor.files import sheet as workbook
from views.context import PageContext
from views.dialogs.new_task.draft import ALL, Draft
from views.support import instant, safe, shown
from views.support.operation import Operation

#: under which the choices for files with the same columns are remembered, and of how many such sets
MAPPINGS, MOST_MAPPINGS = "newtask.columns", 40


class SheetRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A file, or rows without one, and what a person has chosen about it."""

    path: Path | None = None  #: None where the rows were pasted or typed
    encoding: str = ""  #: "" is found
    sheet: str = ""
    mapped: tuple[Column, ...] = ()  #: () is guessed
    read: Table | None = None  #: read before, with the same encoding and sheet
    stamp: tuple[int, int] | None = None  #: size and time of the file as it was read, None before that
    edited: bool = False  #: its cells are others than those of the file


def kept_file(wish: SheetRequest) -> dict[str, object]:
    """The file as it can be kept and read again: not its cells, which may be anything."""
    names = {"path": str(wish.path), "encoding": wish.encoding, "sheet": wish.sheet}
    return {**names, "stamp": list(wish.stamp or ()), "edited": wish.edited}


def file_of(kept: object) -> SheetRequest | None:
    """What ``kept_file`` kept, None for nothing."""
    if not isinstance(kept, Mapping) or not kept.get("path"):
        return None
    path, encoding, sheet = (str(kept.get(name, "")) for name in ("path", "encoding", "sheet"))
    stamp: tuple[int, int] | None = None
    match kept.get("stamp"):
        case [int(size), int(at)]:
            stamp = (size, at)
    edited = bool(kept.get("edited"))
    return SheetRequest(path=Path(path), encoding=encoding, sheet=sheet, stamp=stamp, edited=edited)


class SheetDraft(msgspec.Struct, frozen=True, kw_only=True):
    """The good rows of a file as tasks to be created."""

    orders: Orders

    @property
    def number(self) -> int:
        """How many tasks will come of it."""
        return len(self.orders.going)

    def specs(self, batch: str) -> list[TaskSpec]:
        """One task for each good row, each of its own type."""
        return [replace(spec, batch=batch) for spec in self.orders.going]


#: what ``SheetRequest.stamp`` is by now, and what is asked for
Judged = tuple[tuple[int, int] | None, Orders]


class SheetWork(QObject):
    """Signals:
    done: the ``Orders`` of the file.
    failed: why it cannot be read.
    barred: by number, of the rows whose tasks could not start now, the gate that would keep them.
    """

    done = Signal(object)
    failed = Signal(object)
    barred = Signal(object)

    def __init__(self, context: PageContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._operation = Operation(self, latest=True)
        self._writing = Operation(self)
        self._starting = Operation(self, latest=True)
        self._before: Orders | None = None
        self.wish: SheetRequest | None = None  #: the file last read, with what it was found to be
        self.is_other = False  #: whether the file is another one than when it was read the time before

    @property
    def busy(self) -> bool:
        """Whether a file is being read or judged."""
        return self._operation.awaited

    def ask(self, wish: SheetRequest, draft: Draft) -> None:
        """Read a file, or judge its rows again after another choice; what a row leaves open is that of the draft."""
        call = partial(_judge, wish, draft, self._context, shown.zone(), self._before, self._remembered())
        self._operation.start(call, partial(self._on_done, wish), self.failed.emit)

    def paste(self, words: str, draft: Draft) -> None:
        """Read rows that were copied out of a spreadsheet."""
        wish = SheetRequest()
        name, memory = _("Pasted rows"), self._remembered()

        def call() -> Judged:
            read = table.pasted(words, name, columns.is_heading)
            return _judge(replace(wish, read=read), draft, self._context, shown.zone(), None, memory)

        self._operation.start(call, partial(self._on_done, wish), self.failed.emit)

    def ask_starts(self, found: Orders) -> None:
        """Ask which rows could not start now; without an answer nothing is said of it."""
        self._starting.start(
            partial(_barred, found, self._context), self.barred.emit, lambda _error: self.barred.emit({})
        )

    def forget(self) -> None:
        """The file is not wanted any more."""
        self._operation.drop()
        self._starting.drop()
        self.wish = self._before = None

    def remember(self, mapped: tuple[Column, ...]) -> None:
        """Keep what a person has chosen for files with these columns."""
        known = dict(self._remembered())
        key = columns.headings([one.title for one in mapped])
        known.pop(key, None)
        self._context.memory.put(MAPPINGS, dict([*known.items(), (key, columns.choices(mapped))][-MOST_MAPPINGS:]))

    def _remembered(self) -> Mapping[str, Mapping[str, str]]:
        found = self._context.memory.get(MAPPINGS, {})
        return found if isinstance(found, dict) else {}

    def keep(
        self, path: Path, found: Orders, told: Callable[[int], None], failed: Callable[[BaseException], None]
    ) -> None:
        """Write the rows with errors into a file as they are, each with its reasons behind it."""
        self._writing.start(partial(write_bad, path, found), told, failed)

    def export(
        self,
        path: Path,
        faults: tuple[Fault, ...],
        told: Callable[[int], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        """Write the rows that are left out, with their reasons, into a file."""
        self._writing.start(partial(write, path, faults), told, failed)

    def _on_done(self, wish: SheetRequest, judged: Judged) -> None:
        stamp, found = judged
        self.is_other = wish.stamp not in (None, stamp)
        self.wish = replace(wish, read=found.table, mapped=found.columns, stamp=stamp)
        self._before = found
        self.done.emit(found)


def write(path: Path, faults: tuple[Fault, ...]) -> int:
    """Rows, columns, values and reasons as CSV; how many. Blocking.

    Raises:
        OSError: the file cannot be written.
    """
    with whole_file.written(path, encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream).writerows((row, *map(guarded, words)) for row, *words in _lines(faults))
    return len(faults)


def left_out_text(faults: tuple[Fault, ...]) -> str:
    """The same for the clipboard, cells with tabs between them."""
    cells = ([safe.one_line(word) for word in line] for line in _lines(faults))
    return "\n".join("\t".join(words) for words in cells)


def _lines(faults: tuple[Fault, ...]) -> Iterator[tuple[str, str, str, str]]:
    yield _("Row"), _("Column"), _("Value"), _("Reason")
    for fault in faults:
        yield str(fault.row), fault.column, fault.value, shown.say(fault.reason)


def write_bad(path: Path, found: Orders) -> int:
    """The rows with errors under the header of their file, with their reasons in a last column that is passed over when
    they are read again; how many. As a workbook or, where the path ends so, as CSV. Blocking.

    Raises:
        OSError: the file cannot be written.
    """
    reasons: dict[int, list[str]] = {}
    for fault in found.faults:
        reasons.setdefault(fault.row, []).append(": ".join(filter(None, (fault.where, shown.say(fault.reason)))))
    lost = {fault.row: fault.value for fault in found.faults if fault.field == "line"}
    there = {row.number: list(map(text_of, row.cells)) for row in found.table.rows if row.number in reasons}
    width = len(found.table.columns)
    lines = [[*found.table.columns, _("Reason")]]
    for number, why in reasons.items():
        cells = there.get(number, [lost.get(number, ""), *[""] * (width - 1)])
        lines.append([*cells, "; ".join(why)])
    if path.suffix.lower() == ".csv":
        with whole_file.written(path, encoding="utf-8-sig", newline="") as stream:
            csv.writer(stream).writerows([guarded(cell) for cell in line] for line in lines)
    else:
        workbook.write(path, "rows", lines)
    return len(lines) - 1


def _judge(
    wish: SheetRequest,
    draft: Draft,
    context: PageContext,
    zone: tzinfo,
    before: Orders | None,
    remembered: Mapping[str, Mapping[str, str]],
) -> Judged:
    known = Known(shops=context.shops(), types=context.types())
    stamp = wish.stamp if wish.read is not None else _stamp(_path(wish))
    read = wish.read or table.read(_path(wish), known=columns.is_heading, encoding=wish.encoding, sheet=wish.sheet)
    index = ShopIndex(known.shops)
    mapped = wish.mapped
    if len(mapped) != len(read.columns):  # not chosen yet, or columns came to it
        mapped = columns.guess(read, known.types, index, draft.task_type)
        mapped = columns.recalled(mapped, remembered.get(columns.headings(read.columns), {}))
    found = orders(
        read,
        mapped,
        known,
        zone=zone,
        now_ms=instant.now_ms(),
        defaults=defaults_of(draft, mapped, read),
        shops=index,
        before=before,
    )
    answer = look(found, context.commands.tasks.check, before)
    return stamp, checked(found, answer, now_ms=instant.now_ms()).counted()


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        there = path.stat()
    except OSError:  # who reads it says so
        return None
    return there.st_size, there.st_mtime_ns


def _barred(found: Orders, context: PageContext) -> dict[int, str]:
    """Of a task that is for later, or waits for others, nobody knows what is closed then."""
    types = context.types()
    specs = (*found.specs, *(one.spec for one in found.active), *(one.spec for one in found.again))
    alike: dict[tuple[str, int], dict[str, list[int]]] = {}
    for spec in specs:
        if not (spec.delay_s or spec.at_ms > found.now_ms or spec.depends_on):
            own = spec.priority != "" or spec.task_type not in types
            _lane, priority = parse_priority(spec.priority if own else types[spec.task_type].lane)
            shops = alike.setdefault((spec.task_type, priority), {})
            shops.setdefault(f"{spec.platform}:{spec.shop_id}", []).append(spec.line)
    return {
        number: gate
        for (kind, priority), shops in alike.items()
        for shop, gate in context.tasks.barred(kind, list(shops), priority).items()
        for number in shops[shop]
    }


def _path(wish: SheetRequest) -> Path:
    assert wish.path is not None, "rows without a file were read before"
    return wish.path


def defaults_of(draft: Draft, mapped: tuple[Column, ...], read: Table) -> Defaults:
    """What the dialog says for rows that say nothing; the type only where no column says it, else a gap is a fault. A
    column of blanks names no platform.
    """
    typed = any(one.target == columns.TYPE for one in mapped)
    placed = any(
        one.target == columns.PLATFORM and any(not blank(row.cells[one.at]) for row in read.rows) for one in mapped
    )
    return Defaults(
        platform="" if placed or draft.platform == ALL else draft.platform,
        task_type="" if typed else draft.task_type,
        payload_type=draft.task_type,
        priority=draft.priority,
        deadline_ms=draft.deadline_ms,
        delay_s=draft.delay_min * 60,
        at_ms=draft.at_ms,
        depends_on=draft.depends_on,
        max_retries=draft.attempts - 1 if draft.attempts else None,
        payload=draft.payload,
    )
