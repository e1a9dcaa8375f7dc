"""The number at the rail of queues that need somebody, asked for off the GUI thread, wherever a person is."""

from __future__ import annotations

from console.main_window import MainWindow
from console.watch import Watch
from services.domain.insight import queue as insight
from services.i18n import _
from services.monitor.queues.board import Needing, QueueBoard
from views.support import text
from views.support.language import on_language_changed

EVERY_MS = 10_000
PAGE = "queues"


class QueueWatch(Watch[Needing]):
    """Keeps that number."""

    def __init__(self, window: MainWindow, board: QueueBoard) -> None:
        super().__init__(window, EVERY_MS, board.needing, self._count)
        self._window, self._needing = window, Needing()
        on_language_changed(self._say)
        self.look()

    def _count(self, needing: Needing) -> None:
        self._needing = needing
        self._say()

    def _say(self) -> None:
        number = self._needing.number
        tone = "stuck" if self._needing.worst == insight.STUCK else "retrying"
        badge = text.compact(number) if number else ""
        self._window.rail.set_badge(PAGE, badge, tone, _("queues that need somebody"))
