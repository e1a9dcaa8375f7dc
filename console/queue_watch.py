"""The number at the rail of queues that need somebody, asked for off the GUI thread, wherever a person is."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from console.main_window import MainWindow
from services.domain.insight import queue as insight
from services.i18n import _
from services.monitor.queues.board import Needing, QueueBoard
from views.support import text
from views.support.language import on_language_changed
from views.support.operation import Operation

EVERY_MS = 10_000
PAGE = "queues"


class QueueWatch(QObject):
    """Signals:
    looked: an answer is shown.
    """

    looked = Signal()

    def __init__(self, window: MainWindow, board: QueueBoard) -> None:
        super().__init__(window)
        self._window, self._board = window, board
        self._needing = Needing()
        self._asking = Operation(self, latest=True)
        self._timer = QTimer(self, interval=EVERY_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        window.closing.connect(self._timer.stop)
        on_language_changed(self._say)
        self.look()

    def look(self) -> None:
        """Ask now, unless an answer is under way."""
        if not self._asking.busy:
            self._asking.start(self._board.needing, self._show, _wait)

    def _show(self, needing: Needing) -> None:
        self._needing = needing
        self._say()
        self.looked.emit()

    def _say(self) -> None:
        number = self._needing.number
        tone = "stuck" if self._needing.worst == insight.STUCK else "retrying"
        badge = text.compact(number) if number else ""
        self._window.rail.set_badge(PAGE, badge, tone, _("queues that need somebody"))


def _wait(_error: BaseException) -> None:
    """The window tells a lost store above all pages; the next look comes by itself."""
