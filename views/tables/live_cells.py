"""Cells that follow the instant of everything on screen: repainted when it moves, while they are seen."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QTableView

from views.support.instant import now_ms, ticks
from views.tables.record_model import RecordModel


class LiveCells(QObject):
    """Of one view; where no column is live they never run."""

    def __init__(self, view: QTableView, model: RecordModel[Any]) -> None:
        super().__init__(view)
        self._view, self._model = view, model
        self._still, self._running = False, False
        ticks().ticked.connect(self._on_tick)
        view.installEventFilter(self)

    @property
    def running(self) -> bool:
        """Whether cells follow the clock now."""
        return self._running

    def set_still(self, still: bool) -> None:
        """Let cells stand still, or follow the clock."""
        self._still = still
        self._follow(self._view.isVisible())

    def repaint(self) -> None:
        """Repaint the cells that change with the clock, in visible rows only."""
        viewport = self._view.viewport()
        for section, column in enumerate(self._model.columns):
            if column.live and not self._view.isColumnHidden(section):
                left = self._view.columnViewportPosition(section)
                viewport.update(left, 0, self._view.columnWidth(section), viewport.height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Run while the view is seen; everything goes on its way."""
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._follow(event.type() == QEvent.Type.Show)
        return False

    def _follow(self, seen: bool) -> None:
        self._running = seen and not self._still and any(column.live for column in self._model.columns)
        if self._running:
            now_ms()  # from now on it moves

    def _on_tick(self) -> None:
        if self._running:
            self.repaint()
