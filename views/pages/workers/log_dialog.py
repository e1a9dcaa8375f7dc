"""The last lines that the program of a worker has logged on its machine, as they come."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from services.domain.fleet.remote import LOG_S, WorkerLog
from services.domain.fleet.worker_order import LOG
from services.i18n import N_, _
from services.messages import told
from views.context import PageContext
from views.dialogs.frame import DialogFrame
from views.support import instant, safe, shown, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.theme import theme
from views.widgets.buttons import Button
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip

SIZE, LEAST = (980, 620), (560, 360)
LOOK_MS, PATIENCE_MS = 1_000, 20_000
_BAD = ("warning", "error", "critical")


class LogDialog(DialogFrame):
    """Asks the worker for its log when it is opened, and again while it stays open.

    Signals:
        looked: another look has come.
    """

    looked = Signal()

    def __init__(self, context: PageContext, worker: str, parent: QWidget | None = None) -> None:
        super().__init__(N_("Log of a worker"), icon="ph.article", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._worker = context, worker
        self._log: WorkerLog | None = None
        self._stumbled = False
        self._began = self._asked = instant.now_ms()
        self._acting, self._asking = Operation(self), Operation(self, latest=True)
        self.error = ErrorStrip()
        self.error.retry.connect(self._wish)
        self.levels = Segmented((("all", N_("All lines")), ("bad", N_("Warnings and errors"))), N_("Which lines"))
        self.levels.chosen.connect(lambda _key: self._say(whole=True))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(theme().font("monosmall"))
        self.hint = Label("", "label", "text3", wrap=True)
        head, body = QVBoxLayout(), QVBoxLayout()
        head.addWidget(self.error)
        body.setContentsMargins(16, 12, 16, 12)
        body.addWidget(self.text)
        self.fill(head, body, size=SIZE, least=LEAST)
        self.copy_button = Button(N_("Copy"), icon="ph.copy")
        self.copy_button.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        self.close_button = Button(N_("Close"), hint="Esc")
        self.close_button.clicked.connect(self.reject)
        self.foot.addWidget(self.levels)
        self.foot.addWidget(self.hint, 1)
        self.foot.addWidget(self.copy_button)
        self.foot.addWidget(self.close_button)
        self.set_note(safe.one_line(worker, 60))
        on_language_changed(self._say)
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()
        self._wish()
        self._say()

    def _wish(self) -> None:
        """Ask the worker to show it; it does so for a while."""
        self.error.clear()
        self._began = self._asked = instant.now_ms()
        call = partial(self._context.commands.fleet.tell_worker, self._worker, f"{LOG}={LOG_S}")
        self._acting.start(call, lambda _none: self._look(), self._fail)

    def _look(self) -> None:
        if instant.now_ms() - self._asked > (LOG_S - 30) * 1000:
            self._wish()
        if self._asking.busy:  # a store that is slow is not asked by all threads of the window
            return
        self._asking.start(partial(self._context.remote.log, self._worker), self._take, self._stumble)

    def _take(self, found: WorkerLog | None) -> None:
        if self._stumbled:
            self._stumbled = False
            self.error.clear()
        if found is not None and found != self._log:
            self._log = found
            self._say(whole=True)
        else:
            self._say()
        self.looked.emit()

    def _stumble(self, error: BaseException) -> None:
        self._stumbled = True  # the next look that is answered takes it away
        self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.error.show_error(told(error))

    def _say(self, *, whole: bool = False) -> None:
        self.text.setAccessibleName(_("Lines of the log"))
        log = self._log
        if log is None:
            late = instant.now_ms() - self._began > PATIENCE_MS
            said = _("{worker} does not show its log: is it alive?") if late else _("{worker} is asked for its log.")
            self.hint.setText(said.format(worker=safe.one_line(self._worker, 60)))
            self.copy_button.disable(_("Nothing is shown yet"))
            return
        self.hint.setText(_("The last {n} lines of that program, secrets as dots; new ones come by themselves.").format(
            n=text.count(len(log.lines))
        ))  # fmt: skip
        self.copy_button.disable("")
        if not whole:
            return
        bar = self.text.verticalScrollBar()
        at, end = bar.value(), bar.value() >= bar.maximum() - 4
        now, bad = instant.now_ms(), self.levels.current() == "bad"
        lines = [line for line in log.lines if not bad or line.level in _BAD]
        said_lines = [f"{shown.clock(line.at, now)}  {line.level:<8} {safe.one_line(line.text, 400)}" for line in lines]
        self.text.setPlainText("\n".join(said_lines))
        bar.setValue(bar.maximum() if end else at)
