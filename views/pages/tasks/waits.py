"""What waiting tasks on screen wait for and when they start, asked for a few at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, QPoint, QTimer, Signal

from services.monitor.tasks import TaskQueries
from services.monitor.waits.waiting import Wait
from views.pages.tasks.rows import TaskRow
from views.support.operation import Operation
from views.tables.table_view import TableView

ASK_MS = 2500
#: rows asked for at once
MOST_ROWS = 40


class Waits(QObject):
    """Signals:
    changed: rows (tuple of ``TaskRow``) of which something else is known.
    """

    changed = Signal(object)

    def __init__(
        self, queries: TaskQueries, table: TableView, panel: Callable[[], tuple[str, Wait | None]] = lambda: ("", None)
    ) -> None:
        """``panel``: what another view says of a task: its row says the same, though the list was asked before or
        after.
        """
        super().__init__(table)
        self._panel = panel
        self._queries, self._table = queries, table
        self._known: Mapping[str, Wait] = {}
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
        wanted = [row.task for row in self._visible() if row.gate][:MOST_ROWS]
        if wanted and not self._ask.busy:
            # when it starts is a help: an error of it must not cover the list
            self._ask.start(partial(self._queries.waits, wanted), self._take, lambda _error: None)

    def agree(self) -> None:
        """Say what the other view says now."""
        row = self._table.records.find(self._panel()[0])
        fresh = self._filled(self._moved(row)) if row is not None else None
        if fresh is not row:
            self.changed.emit((fresh,))

    def fill(self, rows: Iterable[TaskRow]) -> tuple[TaskRow, ...]:
        """The rows with what is known about their waits."""
        return tuple(map(self._filled, rows))

    def _filled(self, row: TaskRow) -> TaskRow:
        known = self._of(row.key)
        if known is None or not row.gate:
            return row if row.wait is None or row.gate == row.wait.gate.name else replace(row, wait=None)
        if known.gate.name != row.gate:  # the list was asked later
            return row if row.wait is None else replace(row, wait=None)
        return row if known == row.wait else replace(row, wait=known)

    def _moved(self, row: TaskRow) -> TaskRow:
        known = self._of(row.key)
        moved = known is not None and row.gate and known.gate.name != row.gate
        return replace(row, gate=known.gate.name) if moved and known is not None else row

    def _of(self, task_id: str) -> Wait | None:
        beside, wait = self._panel()
        return wait if beside == task_id and wait is not None else self._known.get(task_id)

    def _take(self, found: Mapping[str, Wait]) -> None:
        self._known = found
        rows = self._table.records.records()
        fresh = self.fill(self._moved(row) for row in rows)
        changed = tuple(new for row, new in zip(rows, fresh, strict=True) if new is not row)
        if changed:
            self.changed.emit(changed)

    def _visible(self) -> Sequence[TaskRow]:
        table = self._table
        first = max(0, table.rowAt(0))
        last = table.indexAt(QPoint(0, table.viewport().height() - 1)).row()
        return table.records.records()[first : last + 1 if last >= 0 else None]
