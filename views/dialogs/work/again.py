"""The same work once more, asked for in place: at once where that is safe, else with the reason that is recorded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from services.commands.tasks import Submitted, TaskSpec, same_work
from services.domain.task.record import Task
from services.i18n import N_, _
from services.messages import told
from views.context import PageContext
from views.dialogs.new_task.created import Creator
from views.support import safe
from views.support.language import say_in_language
from views.support.look import Label, line
from views.support.operation import Operation
from views.widgets.buttons import Button
from views.widgets.layout import put
from views.widgets.toast import ToastSpec, lasting

REASON_MOST = 200


class _Once(msgspec.Struct, frozen=True):
    """One task, as a batch of its own."""

    spec: TaskSpec

    def specs(self, batch: str) -> list[TaskSpec]:
        """It alone."""
        return [replace(self.spec, batch=batch)]


class Meant(msgspec.Struct, frozen=True):
    """A task whose work is meant once more; its words are already translated."""

    task_id: str
    work: str  #: type and shop
    title: str  #: what is asked, and what that repeats


class _Repeat(QObject):
    """Reads what a task was and creates its work once more. It outlives the bar: what became of a work that nobody
    looks at any more is told by a message.

    Signals:
    made: a task was created, its ``Meant``.
    refused: it was not, of the work that is looked at: what says why.
    unknown: nothing tells what the work was that is looked at.
    left: the Tasks page shows what was created.
    changed: it is under way, or over.
    """

    made = Signal(object)
    refused = Signal(object)
    unknown = Signal()
    left = Signal()
    changed = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._meant, self._seen = Meant("", "", ""), ""
        self._reading, self._creator = Operation(self), Creator(context, self)
        self._creator.done.connect(self._on_done)
        self._creator.failed.connect(self._on_failed)
        self._creator.tasks_wanted.connect(self._on_open)

    @property
    def busy(self) -> bool:
        """Whether a task is being created."""
        return self._reading.busy or self._creator.busy

    def look_at(self, task_id: str) -> None:
        """Whose answer is on the screen, "" for none."""
        self._seen = task_id

    def start(self, meant: Meant, reason: str) -> None:
        """Do it once more."""
        self._meant = meant
        get = partial(self._context.tasks.get, [meant.task_id])
        self._reading.start(get, lambda found: self._create(next(iter(found), None), reason), self._on_failed)
        self.changed.emit()

    def _create(self, task: Task | None, reason: str) -> None:
        spec = same_work(task, reason) if task is not None else None
        if spec is not None:
            self._creator.create(_Once(spec), 1, self._owner)
        elif self._seen == self._meant.task_id:
            self.unknown.emit()
        elif task is None:
            self._refuse(lambda: _("Its record was removed, for its time was over."))
        else:
            self._refuse(lambda: _("Its payload cannot be read."))
        self.changed.emit()

    def _on_done(self, result: Submitted) -> None:
        if result.created:
            self.made.emit(self._meant)
        else:
            self._refuse(partial(_why_not, result))
        self.changed.emit()

    def _on_failed(self, error: BaseException) -> None:
        self._refuse(partial(told, error))
        self.changed.emit()

    def _refuse(self, why: Callable[[], str]) -> None:
        if self._seen == self._meant.task_id:
            self.refused.emit(why)
        elif why():
            self._context.toast(lasting(partial(_not_done, self._meant.work, why)))

    def _on_open(self, query: str) -> None:
        self.left.emit()
        self._context.way_out("open_tasks", query)


class AgainBar(QWidget):
    """Signals:
    made: a task was created.
    unknown: nothing tells what the work was, so all of it has to be filled in.
    closed: it went away.
    left: the Tasks page shows what was created.
    changed: whether it is busy.
    """

    made = Signal()
    unknown = Signal()
    closed = Signal()
    left = Signal()
    changed = Signal()

    def __init__(self, context: PageContext, owner: QWidget | None = None) -> None:
        """``owner`` outlives the bar: what was created can be taken back after it."""
        super().__init__()
        self._meant = Meant("", "", "")
        self._repeat = _Repeat(context, owner or self)
        self.title, self.problem = Label("", "body", "text2", wrap=True), Label("", "label", "dead", wrap=True)
        self.reason = QLineEdit()
        self.reason.setMaxLength(REASON_MOST)
        self.run_button = Button(N_("Run again"), kind="warning", icon="ph.arrow-clockwise", shortcut="dialog.main")
        self.leave_button = Button(N_("Do not run"), kind="ghost", hint="Esc")
        row, column = QHBoxLayout(), QVBoxLayout(self)
        row.setContentsMargins(18, 8, 18, 8)
        row.setSpacing(8)
        put(row, (self.reason, 1), self.leave_button, self.run_button)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(line())
        for label in (self.title, self.problem):
            label.setContentsMargins(18, 8, 18, 0)
            column.addWidget(label)
        column.addLayout(row)
        self._connect()
        say_in_language(self._say)
        self.hide()

    def _connect(self) -> None:
        self.reason.textChanged.connect(lambda _text: self._check())
        self.reason.returnPressed.connect(self._on_run)
        self.run_button.clicked.connect(self._on_run)
        self.leave_button.clicked.connect(self.leave)
        self._repeat.made.connect(self._on_made)
        self._repeat.refused.connect(self._on_refused)
        self._repeat.unknown.connect(self._on_unknown)
        self._repeat.left.connect(self.left)
        self._repeat.changed.connect(self._on_changed)

    @property
    def busy(self) -> bool:
        """Whether a task is being created."""
        return self._repeat.busy

    def ask(self, meant: Meant) -> None:
        """Ask why this work is done once more; nothing while one is being created."""
        if self.busy:
            return
        self._take(meant)
        self._tell("")
        self.show()
        self.reason.setFocus()

    def run(self, meant: Meant) -> None:
        """Do this work once more, where nobody has to say why; nothing while one is being created."""
        if not self.busy:
            self._take(meant)
            self._start("")

    def look_away(self) -> None:
        """The work that was meant is not on the screen any more: what becomes of it is told elsewhere."""
        self._repeat.look_at("")
        self.leave()

    def leave(self) -> None:
        """Go away; what was typed is kept until another work is meant."""
        if self.isVisible():
            self.hide()
            self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave by Esc, and leave the dialog where it is."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
            return
        super().keyPressEvent(event)

    def _take(self, meant: Meant) -> None:
        if meant.task_id != self._meant.task_id:
            self.reason.clear()
        self._meant = meant
        self.title.setText(meant.title)
        self._repeat.look_at(meant.task_id)

    def _on_run(self) -> None:
        if self.run_button.isEnabled():
            self._start(self.reason.text().strip())

    def _start(self, reason: str) -> None:
        self._tell("")
        self._repeat.start(self._meant, reason)

    def _on_made(self, meant: Meant) -> None:
        if meant.task_id == self._meant.task_id:
            self.reason.clear()
            self.leave()
        self.made.emit()

    def _on_unknown(self) -> None:
        self.leave()
        self.unknown.emit()

    def _on_refused(self, why: Callable[[], str]) -> None:
        self._tell(why())
        self.show()
        self.reason.setFocus()

    def _on_changed(self) -> None:
        self._check()
        self.changed.emit()

    def _tell(self, problem: str) -> None:
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self._check()

    def _check(self) -> None:
        busy = _("It is being created") if self.busy else ""
        self.run_button.disable(busy or ("" if self.reason.text().strip() else _("Say why first")))

    def _say(self) -> None:
        words = _("Why it must be done again; kept with the task and in the audit trail")
        self.reason.setPlaceholderText(words)
        self.reason.setAccessibleName(words)
        self._check()


def _why_not(result: Submitted) -> str:
    """Why nothing was created."""
    if result.duplicates:
        return _("It is active already: {id}").format(id=safe.one_line(result.duplicates[0][1].task_id, 60))
    if result.done:
        return _("It has succeeded meanwhile: say why it must be done again.")
    return told(result.errors[0][2]) if result.errors else ""


def _not_done(work: str, why: Callable[[], str]) -> ToastSpec:
    """What tells who went on to something else that nothing was created."""
    words = _("{work} once more: that did not work.").format(work=safe.one_line(work, 120))
    return ToastSpec(text=words, detail=why(), status="warning", sticky=True)
