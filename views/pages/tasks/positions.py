"""What waiting tasks on screen wait for: how many go first, asked for a few at a time, and what their shop asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, QPoint, QTimer, Signal

from services.domain import session
from services.domain.status import Status
from services.domain.task import Task
from services.monitor.tasks import TaskQueries
from views.pages.tasks.rows import NO_WORKER, TaskRow
from views.support.feed import Feed
from views.support.operation import Operation
from views.tables.table_view import TableView

ASK_MS = 2500
#: rows asked for at once, and how long a lane may be for counting in it
MOST_ROWS, LONGEST_LANE = 40, 20_000


class Positions(QObject):
    """Signals:
    changed: rows (tuple of ``TaskRow``) with another place in their lane.
    """

    changed = Signal(object)

    def __init__(self, queries: TaskQueries, feed: Feed, table: TableView) -> None:
        super().__init__(table)
        self._queries, self._feed, self._table = queries, feed, table
        self._known: dict[str, int] = {}
        self._ask = Operation(self)
        self._timer = QTimer(self, interval=ASK_MS)
        self._timer.timeout.connect(self.refresh)

    def set_active(self, active: bool) -> None:
        """Ask only while the page is seen."""
        if active:
            self._timer.start()
        else:
            self._timer.stop()

    def refresh(self) -> None:
        """Ask for the waiting rows on screen."""
        wanted = [row.task for row in self._visible() if self._counts(row.task)][:MOST_ROWS]
        if wanted and not self._ask.busy:
            # the place is a help, not the truth: an error of it must not cover the list
            self._ask.start(partial(self._queries.ahead, wanted), self._take, lambda _error: None)

    def fill(self, rows: Iterable[TaskRow]) -> tuple[TaskRow, ...]:
        """The rows with what is known about their places."""
        served = self._served()
        asking = {one.shop: one.kind for one in self._feed.latest.sessions}
        return tuple(self._asked(self._filled(row, served), asking) for row in rows)

    def _filled(self, row: TaskRow, served: frozenset[str] | None) -> TaskRow:
        if row.task.status != Status.QUEUED:
            self._known.pop(row.key, None)
            return row
        known = served is None or row.task.lane in served
        ahead = self._known.get(row.key, row.ahead) if known else NO_WORKER
        return row if ahead == row.ahead else replace(row, ahead=ahead)

    def _asked(self, row: TaskRow, asking: Mapping[str, str]) -> TaskRow:
        asks = asking.get(row.task.shop, "") if row.task.gate == session.GATE else ""
        return row if asks == row.asks else replace(row, asks=asks)

    def _take(self, found: dict[str, int]) -> None:
        self._known = found
        rows = self._table.records.records()
        changed = tuple(new for row, new in zip(rows, self.fill(rows), strict=True) if new is not row)
        if changed:
            self.changed.emit(changed)

    def _counts(self, task: Task) -> bool:
        queued = self._feed.latest.counts.lanes.get(task.lane, {}).get(Status.QUEUED, 0)
        return task.status == Status.QUEUED and queued <= LONGEST_LANE

    def _served(self) -> frozenset[str] | None:
        """The lanes that somebody takes from; None while that is not known."""
        latest = self._feed.latest
        if not latest.at_ms:
            return None
        return frozenset(lane for info in latest.workers if info.state == "running" for lane in info.lanes)

    def _visible(self) -> Sequence[TaskRow]:
        table = self._table
        first = max(0, table.rowAt(0))
        last = table.indexAt(QPoint(0, table.viewport().height() - 1)).row()
        return table.records.records()[first : last + 1 if last >= 0 else None]
