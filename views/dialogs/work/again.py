"""The same work once more, asked for in place: at once where that is safe, else with the reason that is recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from services.commands.tasks import Submitted, TaskSpec
from services.domain.task.record import Task
from services.i18n import N_, _
from services.messages import told
from views.context import PageContext
from views.dialogs.new_task.created import Creator
from views.support import safe
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.operation import Operation
from views.widgets.buttons import Button

REASON_MOST = 200


@dataclass(frozen=True, slots=True)
class _Once:
    """One task, as a batch of its own."""

    spec: TaskSpec

    def specs(self, batch: str) -> list[TaskSpec]:
        """It alone."""
        return [replace(self.spec, batch=batch)]


class AgainBar(QWidget):
    """Signals:
    wanted: a filter that the Tasks page shall show.
    made: a task was created.
    unknown: nothing tells what the work was, so all of it has to be filled in.
    closed: it went away.
    """

    wanted = Signal(str)
    made = Signal()
    unknown = Signal()
    closed = Signal()

    def __init__(self, context: PageContext, owner: QObject | None = None) -> None:
        """``owner`` outlives the bar: what was created can be taken back after it."""
        super().__init__()
        self._context, self._task_id = context, ""
        self._reading = Operation(self, latest=True)
        self._creator = Creator(context, owner or self)
        self.title, self.problem = Label("", "body", "text2", wrap=True), Label("", "label", "dead", wrap=True)
        self.reason = QLineEdit()
        self.reason.setMaxLength(REASON_MOST)
        self.run_button = Button(N_("Run again"), kind="warning", icon="ph.arrow-clockwise", shortcut="Ctrl+Return")
        self.leave_button = Button(N_("Do not run"), kind="ghost", hint="Esc")
        row, column = QHBoxLayout(), QVBoxLayout(self)
        row.setContentsMargins(18, 8, 18, 8)
        row.setSpacing(8)
        row.addWidget(self.reason, 1)
        row.addWidget(self.leave_button)
        row.addWidget(self.run_button)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(line())
        for label in (self.title, self.problem):
            label.setContentsMargins(18, 8, 18, 0)
            column.addWidget(label)
        column.addLayout(row)
        self.reason.textChanged.connect(lambda _text: self._check())
        self.reason.returnPressed.connect(self._on_run)
        self.run_button.clicked.connect(self._on_run)
        self.leave_button.clicked.connect(self.leave)
        self._creator.done.connect(self._on_done)
        self._creator.failed.connect(self._on_failed)
        self._creator.tasks_wanted.connect(self.wanted)
        on_language_changed(self._say)
        self._say()
        self.hide()

    @property
    def busy(self) -> bool:
        """Whether a task is being created."""
        return self._reading.busy or self._creator.busy

    def ask(self, task_id: str, title: str) -> None:
        """Ask why the work of this task is done once more; ``title``: what that repeats, already translated."""
        if task_id != self._task_id:
            self.reason.clear()
        self._task_id = task_id
        self.title.setText(title)
        self._tell("")
        self.show()
        self.reason.setFocus()

    def run(self, task_id: str) -> None:
        """Do the work of this task once more, where nobody has to say why."""
        if not self.busy:
            self._task_id = task_id
            self._start("")

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

    def _on_run(self) -> None:
        if self.run_button.isEnabled():
            self._start(self.reason.text().strip())

    def _start(self, reason: str) -> None:
        self._tell("")
        get = partial(self._context.tasks.get, [self._task_id])
        self._reading.start(get, lambda found: self._create(next(iter(found), None), reason), self._on_failed)
        self._check()

    def _create(self, task: Task | None, reason: str) -> None:
        spec = _spec(task, reason) if task is not None else None
        if spec is None:
            self.leave()
            self.unknown.emit()
            return
        self._creator.create(_Once(spec), 1, self)
        self._check()

    def _on_done(self, result: Submitted) -> None:
        if result.created:
            self.reason.clear()
            self.leave()
            self.made.emit()
        elif result.duplicates:
            twin = safe.one_line(result.duplicates[0][1].task_id, 60)
            self._refuse(_("It is active already: {id}").format(id=twin))
        elif result.done:
            self._refuse(_("It has succeeded meanwhile: say why it must be done again."))
        elif result.errors:
            self._refuse(told(result.errors[0][2]))

    def _on_failed(self, error: BaseException) -> None:
        self._refuse(told(error))

    def _refuse(self, why: str) -> None:
        self._tell(why)
        self.show()
        self.reason.setFocus()

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


def _spec(task: Task, reason: str) -> TaskSpec | None:
    """The same work under a new id; None where its parameters cannot be read."""
    try:
        payload = json.loads(task.payload)
    except ValueError:
        return None
    return TaskSpec(
        platform=task.platform,
        shop_id=task.shop_id,
        task_type=task.task_type,
        payload=payload,
        priority=task.priority,
        max_retries=task.max_retries,
        extra=task.extra,
        reason=reason,
    )
