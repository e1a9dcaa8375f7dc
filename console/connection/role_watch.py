"""Which role the person at this window has now: somebody else may change it while the window is open."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from console.main_window import MainWindow
from services.commands.operator import Operator
from services.domain.errors import ConsoleError
from services.domain.fleet.role import VIEWER
from services.monitor.roles import RoleQueries
from views.support.operation import Operation, report

EVERY_MS = 2000


class RoleWatch(QObject):
    """Asks now and then, off the GUI thread. What a role permits is decided by the commands, each time anew.

    Signals:
        changed: it is another one than before.
    """

    changed = Signal()

    def __init__(self, operator: Operator, queries: RoleQueries) -> None:
        super().__init__()
        self._operator, self._queries = operator, queries
        self._role = operator.role
        self.read_only = operator.read_only  #: why nothing can be changed, "" where the role alone decides
        self._asking = Operation(self)
        self._timer = QTimer(self, interval=EVERY_MS)
        self._timer.timeout.connect(self.ask)

    @property
    def role(self) -> str:
        """viewer, operator or admin, as it was heard last and as the connection permits it."""
        return VIEWER if self.read_only else self._role

    def close(self, why: str) -> None:
        """Take in why the connection permits no change from now on; "" where it does."""
        why = self._operator.read_only or why
        if why != self.read_only:
            self.read_only = why
            self.changed.emit()

    def serve(self, window: MainWindow) -> None:
        """Ask for as long as this window is open; what others of the program show follows."""
        self.setParent(window)
        window.closing.connect(self._timer.stop)
        if self._operator.known:  # through a connection that is read-only one only looks, whoever one is
            self._timer.start()

    def ask(self) -> None:
        """Ask once, unless an answer is under way."""
        if self._operator.known and not self._asking.busy:
            self._asking.start(partial(self._queries.role_of, self._operator.who), self._take, _unless_lost)

    def _take(self, role: str) -> None:
        if role != self._role:
            self._role = role
            self.changed.emit()


def _unless_lost(error: BaseException) -> None:
    """A store that does not answer is told elsewhere, and nothing can be changed meanwhile."""
    if not isinstance(error, ConsoleError):
        report(error)
