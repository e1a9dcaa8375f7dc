"""Asks for the rows of the task table off the GUI thread and keeps them true to the event feed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import LOG, PAYLOAD, Page
from services.domain.text.message import Message
from services.monitor.live import Changes
from services.monitor.tasks import TaskQueries
from views.kit.list_source import Ask, ListSource
from views.pages.tasks.rows import TaskRow
from views.support.operation import Operation
from views.tables.task_columns import task_id

_SORT_KEYS: dict[str, Callable[[Task], int]] = {
    "created": lambda task: task.created_at,
    "updated": lambda task: task.updated_at,
    "priority": lambda task: task.priority,
    "due": lambda task: task.due_at,
}
FIRST, MOST = 200, 5000
#: rows in sight are brought up to date one by one; the whole list tells besides what came and went
PATCH_MS, LIST_MS = 60, 600
#: so often where time alone lets tasks match or match no more: of a fleet at rest the feed tells nothing
BY_CLOCK_MS = 5000
#: how often more logs are looked into for one answer, a second each
LOOKS = 4


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the table shows."""

    filter: str = ""
    sort: str = "created"
    descending: bool = True


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """One answer. ``settle``: a person asked, so order and departures take effect."""

    rows: tuple[TaskRow, ...] = ()
    total: int | None = None
    at_least: int = 0  #: where there is no total: so many match for certain
    more: str | None = None
    searched: tuple[str, ...] = ()  #: fields of payloads for which ``among`` tasks are looked into
    among: int = 0
    logs: int | None = None  #: the logs of so many of them were looked into; None where nobody asked for that
    settle: bool = False
    wanted: Wanted = Wanted()


class TaskLister(QObject):
    """Rows on demand, patched by events: changed rows are fetched by id, the whole page again at most once a second.

    Signals:
        listed: a ``Listing``.
        patched: rows (tuple of ``TaskRow``) that changed in place.
        failed: the error of a question.
    """

    listed = Signal(object)
    patched = Signal(object)
    failed = Signal(object)

    def __init__(self, queries: TaskQueries, parent: QObject, *, by_clock_ms: int = BY_CLOCK_MS) -> None:
        super().__init__(parent)
        self._queries = queries
        self._rows: Sequence[TaskRow] = ()
        self._shown: set[str] = set()
        self._stale: set[str] = set()
        self._source = ListSource(self._call, Wanted(), self, most=MOST, soon_ms=LIST_MS)
        self._source.listed.connect(self.listed)
        self._source.failed.connect(self.failed)
        self._clock = QTimer(self, interval=by_clock_ms)
        self._clock.timeout.connect(self._source.soon)
        self._by_clock = False
        self._patch = Operation(self)
        self._patch_timer = QTimer(self, singleShot=True, interval=PATCH_MS)
        self._patch_timer.timeout.connect(self._fetch_stale)

    @property
    def wanted(self) -> Wanted:
        """What is asked for now."""
        return self._source.wanted

    def ask(self, wanted: Wanted) -> None:
        """Show something else."""
        self._by_clock = filter.by_clock(wanted.filter)
        self._source.ask(wanted, FIRST)
        self._keep_time()

    def again(self) -> None:
        """Ask the same once more and put everything in its place."""
        self._source.again()

    def more(self) -> None:
        """Load the next rows."""
        self._source.more(len(self._shown))

    def set_active(self, active: bool) -> None:
        """Follow the feed only while the page is seen."""
        self._source.set_active(active)
        self._keep_time()
        if not active:
            self._patch_timer.stop()

    def note_shown(self, rows: Sequence[TaskRow]) -> None:
        """Remember which rows are on screen."""
        self._rows, self._shown = rows, set(map(task_id, rows))

    def touch(self, keys: Iterable[str]) -> None:
        """Fetch these rows again soon (progress of running tasks has no event)."""
        self._stale.update(key for key in keys if key in self._shown)
        if self._stale and not self._patch_timer.isActive():
            self._patch_timer.start()

    def on_changes(self, changes: Changes) -> None:
        """Take in a batch of the feed."""
        if not self._source.active:
            return
        if changes.gap:
            self._source.again(settle=False)
            return
        self.touch(event.task_id for event in changes.events)
        self._source.soon()

    def _keep_time(self) -> None:
        if not (self._by_clock and self._source.active):
            self._clock.stop()
        elif not self._clock.isActive():
            self._clock.start()

    def _call(self, ask: Ask[Wanted]) -> Callable[[], Listing]:
        return partial(_list, self._queries, ask.wanted, ask.limit, ask.settle, self._rows)

    def _fetch_stale(self) -> None:
        if self._patch.busy:
            self._patch_timer.start()
            return
        keys, self._stale = sorted(self._stale), set()
        if keys:
            self._patch.start(partial(_of_keys, self._queries, keys), self.patched.emit, self.failed.emit)


def with_rows_beyond(listing: Listing, shown: Sequence[TaskRow]) -> tuple[TaskRow, ...]:
    """The rows of a live answer, and the shown ones that only lie beyond its end.

    An answer is cut at the number of rows loaded. While new rows wait unseen, the last ones shown fall out of it, but
    they match as before and must not look as if they had left.
    """
    if listing.settle or listing.more is None or not listing.rows:
        return listing.rows
    key = _SORT_KEYS[listing.wanted.sort]
    edge = key(listing.rows[-1].task)
    known = set(map(task_id, listing.rows))
    beyond = [row for row in shown if row.key not in known and _is_beyond(key(row.task), edge, listing.wanted)]
    return (*listing.rows, *beyond)


def _is_beyond(value: int, edge: int, wanted: Wanted) -> bool:
    return value <= edge if wanted.descending else value >= edge


def _list(queries: TaskQueries, wanted: Wanted, limit: int, settle: bool, shown: Sequence[TaskRow]) -> Listing:
    page = queries.page(wanted.filter, sort=wanted.sort, descending=wanted.descending, limit=limit)
    tasks: list[Task] = list(page.tasks)
    cursor = page.next
    # a scan may give short pages; a person expects rows, so a few more are fetched at once
    tries, looked = 0, page.looked
    most = LOOKS if LOG in page.searched else 20
    while cursor is not None and len(tasks) < min(limit, 50) and tries < most:
        further = queries.page(
            wanted.filter, sort=wanted.sort, descending=wanted.descending, limit=limit, cursor=cursor
        )
        tasks += further.tasks
        looked += further.looked
        cursor = further.next
        tries += 1
    rows = _same(rows_of(queries, tasks), shown)
    least = max(page.at_least, len(tasks))
    total = len(tasks) if page.total is None and cursor is None else page.total  # all of them were met
    return Listing(
        rows=rows, total=total, at_least=least, more=cursor, searched=_of_payloads(page), among=page.among,
        logs=looked if LOG in page.searched else None, settle=settle, wanted=wanted,
    )  # fmt: skip


def _of_payloads(page: Page) -> tuple[str, ...]:
    return tuple(field for field in page.searched if field.startswith(PAYLOAD))


def _same(rows: Iterable[TaskRow], shown: Iterable[TaskRow]) -> tuple[TaskRow, ...]:
    """The rows, and for each that has not changed the very one on screen: looking for changes among thousands of
    records, field by field, is done here and not in the GUI thread.
    """
    before = {row.key: row for row in shown}
    return tuple(
        old if (old := before.get(row.key)) is not None and _listed(old) == _listed(row) else row for row in rows
    )


def _listed(row: TaskRow) -> tuple[Task, str, str, Message | None]:
    return row.task, row.shop_name, row.gate, row.refusal


def _of_keys(queries: TaskQueries, keys: Sequence[str]) -> tuple[TaskRow, ...]:
    return rows_of(queries, queries.get(keys))


def rows_of(queries: TaskQueries, tasks: Sequence[Task]) -> tuple[TaskRow, ...]:
    """With what a row tells besides."""
    shops, gates, refusals = queries.shops(), queries.gates(tasks), queries.refusals(tasks)
    return tuple(
        TaskRow(
            task=task,
            shop_name=shop.name if (shop := shops.get(task.shop)) is not None else "",
            gate=gates.get(task.task_id, ""),
            refusal=refusals.get(task.task_id),
        )
        for task in tasks
    )
