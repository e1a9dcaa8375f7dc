"""What a file of tasks asks for, found off the GUI thread: reading, mapping, judging each row."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from services import whole_file
from services.clock import SystemClock
from services.commands.sheet import columns, table
from services.commands.sheet.columns import Column
from services.commands.sheet.orders import Defaults, Fault, Known, Orders, checked, orders
from services.commands.sheet.shop_index import ShopIndex
from services.commands.sheet.table import Table
from services.commands.tasks import TaskSpec
from services.domain.text.cells import guarded
from services.i18n import _
from views.context import PageContext
from views.dialogs.new_task.draft import ALL, Draft
from views.support import shown
from views.support.operation import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A file and what a person has chosen about it."""

    path: Path
    encoding: str = ""  #: "" is found
    sheet: str = ""
    mapped: tuple[Column, ...] = ()  #: () is guessed
    read: Table | None = None  #: read before, with the same encoding and sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetDraft:
    """The good rows of a file as tasks to be created."""

    orders: Orders

    @property
    def number(self) -> int:
        """How many tasks will come of it."""
        return len(self.orders.going)

    def specs(self, batch: str) -> list[TaskSpec]:
        """One task for each good row, each of its own type."""
        return [replace(spec, batch=batch) for spec in self.orders.going]


class SheetWork(QObject):
    """Signals:
    done: the ``Orders`` of the file.
    failed: why it cannot be read.
    """

    done = Signal(object)
    failed = Signal(object)

    def __init__(self, context: PageContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._operation = Operation(self, latest=True)
        self._writing = Operation(self)
        self._asked: Wish | None = None
        self.wish: Wish | None = None  #: the file last read, with what it was found to be

    @property
    def busy(self) -> bool:
        """Whether a file is being read or judged."""
        return self._operation.busy

    def ask(self, wish: Wish, draft: Draft) -> None:
        """Read a file, or judge its rows again after another choice; what a row leaves open is that of the draft."""
        self._asked = wish
        call = partial(_judge, wish, draft, self._context, shown.zone())
        self._operation.start(call, partial(self._on_done, wish), self.failed.emit)

    def forget(self) -> None:
        """The file is not wanted any more."""
        self.wish = self._asked = None

    def export(
        self,
        path: Path,
        faults: tuple[Fault, ...],
        told: Callable[[int], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        """Write the rows that are left out, with their reasons, into a file."""
        self._writing.start(partial(write, path, faults), told, failed)

    def _on_done(self, wish: Wish, found: Orders) -> None:
        if self._asked is wish:
            self.wish = replace(wish, read=found.table, mapped=found.columns)
            self.done.emit(found)


def write(path: Path, faults: tuple[Fault, ...]) -> int:
    """Rows, columns, values and reasons as CSV; how many. Blocking.

    Raises:
        OSError: the file cannot be written.
    """
    with whole_file.written(path, encoding="utf-8-sig", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow((_("Row"), _("Column"), _("Value"), _("Reason")))
        rows.writerows(
            (fault.row, guarded(fault.column), guarded(fault.value), guarded(shown.say(fault.reason)))
            for fault in faults
        )
    return len(faults)


def _judge(wish: Wish, draft: Draft, context: PageContext, zone: tzinfo) -> Orders:
    known = Known(shops=context.shops(), types=context.types())
    read = wish.read or table.read(wish.path, known=columns.is_heading, encoding=wish.encoding, sheet=wish.sheet)
    index = ShopIndex(known.shops)
    mapped = wish.mapped or columns.guess(read, known.types, index, draft.task_type)
    found = orders(
        read,
        mapped,
        known,
        zone=zone,
        now_ms=SystemClock().now_ms(),
        defaults=defaults_of(draft, mapped),
        shops=index,
    )
    return checked(found, context.commands.tasks.check(found.specs), now_ms=SystemClock().now_ms())


def defaults_of(draft: Draft, mapped: tuple[Column, ...]) -> Defaults:
    """What the dialog says for rows that say nothing; the type only where no column says it, else a gap is a fault."""
    typed, placed = (any(one.target == target for one in mapped) for target in (columns.TYPE, columns.PLATFORM))
    return Defaults(
        platform="" if placed or draft.platform == ALL else draft.platform,
        task_type="" if typed else draft.task_type,
        payload_type=draft.task_type,
        priority=draft.priority,
        delay_s=draft.delay_min * 60,
        at_ms=draft.at_ms,
        depends_on=draft.depends_on,
        max_retries=draft.attempts - 1 if draft.attempts else None,
        payload=draft.payload,
    )
