"""Asks the trail for its entries off the GUI thread: a first page, further ones, and what came since."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.monitor.trail import AuditQueries
from views.pages.audit.rows import AuditLine, line_of
from views.support.operation import Dropped, Operation
from views.support.refresher import Refresher

PAGE, EVERY_MS = 200, 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """An answer: rows of ``expression``, the newest first; ``more``: whether older ones are left."""

    rows: tuple[AuditLine, ...]
    expression: str
    more: bool
    settle: bool


class AuditLister(QObject):
    """Keeps what was loaded; live answers bring what is newer and how open acts ended.

    Signals:
        listed: a ``Listing`` with all rows loaded so far.
        failed: an error of the newest question.
    """

    listed = Signal(object)
    failed = Signal(object)

    def __init__(self, queries: AuditQueries, owner: QWidget) -> None:
        super().__init__(owner)
        self._queries = queries
        self._expression, self._next = "", ""
        self._rows: tuple[AuditLine, ...] = ()
        self._asking = Operation(self, latest=True, lasting=True)  # a rare word is looked for through years
        self._stop = threading.Event()
        self._live = Refresher(owner, self._newest, self._merge, EVERY_MS)

    def set_active(self, active: bool) -> None:
        """Ask now and then what is new, or no more."""
        if active:
            self._live.start()
        else:
            self._live.stop()

    def ask(self, expression: str) -> None:
        """Show what matches from the newest entry on."""
        self._expression = expression
        self._start(expression, "", ())

    def again(self) -> None:
        """The same again."""
        self.ask(self._expression)

    def more(self) -> None:
        """Load older entries."""
        if self._next and not self._asking.busy:
            self._start(self._expression, self._next, self._rows)

    def _start(self, expression: str, before: str, known: tuple[AuditLine, ...]) -> None:
        self._stop.set()  # the question before is wanted no more
        self._stop = threading.Event()
        call = partial(_page, self._queries, expression, before, self._stop)

        def show(answer: tuple[tuple[AuditLine, ...], str]) -> None:
            rows, self._next = answer
            self._rows = (*known, *rows)
            self._tell(expression, settle=True)

        def fail(error: BaseException) -> None:
            if not isinstance(error, Dropped):
                self.failed.emit(error)

        self._asking.start(call, show, fail)

    def _tell(self, expression: str, *, settle: bool) -> None:
        self.listed.emit(Listing(rows=self._rows, expression=expression, more=bool(self._next), settle=settle))

    def _newest(self) -> tuple[str, tuple[AuditLine, ...]]:
        """In a thread: the newest page of what is shown now; short, however rare that is."""
        expression = self._expression
        entries = self._queries.entries(expression, limit=PAGE, scan=PAGE).entries
        now_ms = self._queries.now_ms()
        return expression, tuple(line_of(entry, now_ms) for entry in entries)

    def _merge(self, answer: tuple[str, tuple[AuditLine, ...]]) -> None:
        expression, newest = answer
        if expression != self._expression or self._asking.busy or not newest:
            return
        known = {row.key for row in self._rows}
        fresh = {row.key: row for row in newest}
        oldest = self._rows[0].key if self._rows else ""
        if oldest and oldest not in fresh and len(newest) >= PAGE:
            self._rows, self._next = newest, newest[-1].key  # more than a page of news: what lies between is not known
        else:
            kept = tuple(fresh.get(row.key, row) for row in self._rows)
            self._rows = (*(row for row in newest if row.key not in known), *kept)
        self._tell(expression, settle=False)


def _page(
    queries: AuditQueries, expression: str, before: str, stop: threading.Event
) -> tuple[tuple[AuditLine, ...], str]:
    found = queries.page(expression, limit=PAGE, before=before, stop=stop)
    now_ms = queries.now_ms()
    return tuple(line_of(entry, now_ms) for entry in found.entries), found.next
