"""The log of a task: follows the newest attempt, or shows an earlier one that was chosen."""

from __future__ import annotations

from functools import partial

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QPlainTextEdit

from services.domain.task.record import Task
from services.domain.task.status import Status
from services.i18n import N_, _
from services.monitor.tasks import LogTail, TaskQueries
from views.support import heard, instant, safe, shown
from views.support.operation import Operation
from views.theme import theme
from views.widgets.buttons import IconButton
from views.widgets.section import Section

LINES, HEIGHT = 5000, 150


class LogSection(Section):
    """Stays at the end while a person has not scrolled up; hidden where nothing ran yet."""

    def __init__(self, queries: TaskQueries) -> None:
        super().__init__(N_("Log"))
        self._queries = queries
        self._task_id, self._attempt, self._newest = "", 0, 0
        self._chosen = 0  #: an earlier attempt, 0 follows the newest
        self._place = 0
        self._live = False  #: the newest attempt runs, so more lines may come
        self._ask = Operation(self)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setMaximumBlockCount(LINES)
        self.text.setFixedHeight(HEIGHT)
        self.text.setFont(theme().font("monosmall"))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName(_("Log"))
        self.text.verticalScrollBar().valueChanged.connect(self._say)
        self._attempts = IconButton("ph.list-numbers", N_("Other attempts"))
        self._attempts.clicked.connect(self._choose_attempt)
        copy = IconButton("ph.copy", N_("Copy the log"))
        copy.clicked.connect(self._copy)
        self.add_action(self._attempts)
        self.add_action(copy)
        self.body.addWidget(self.text)
        self.hide()

    def clear(self) -> None:
        """Show nothing; another task comes."""
        self._task_id, self._attempt, self._newest, self._chosen, self._place = "", 0, 0, 0, 0
        self.text.clear()

    def follow(self, task: Task) -> None:
        """Show what came since the last time."""
        self._task_id, self._newest = task.task_id, task.attempt
        self._live = task.status == Status.RUNNING and not heard.unconfirmed(task, instant.now_ms())
        self.setVisible(bool(task.attempt))
        self._attempts.setVisible(task.attempt > 1)
        wanted = self._chosen or task.attempt
        if wanted != self._attempt:
            self._attempt, self._place = wanted, 0
            self.text.clear()
        self._say()
        if self._attempt and not self._ask.busy:
            call = partial(self._queries.log, task.task_id, self._attempt, self._place)
            self._ask.start(call, partial(self._append, task.task_id, self._attempt))

    def attempts_menu(self) -> QMenu:
        """The attempts, newest first."""
        menu = QMenu(self)
        for number in range(self._newest, 0, -1):
            action = menu.addAction(_("Attempt {n}").format(n=number), partial(self._show_attempt, number))
            action.setCheckable(True)
            action.setChecked(number == self._attempt)
        return menu

    def _choose_attempt(self) -> None:
        self.attempts_menu().popup(self._attempts.mapToGlobal(self._attempts.rect().bottomLeft()))

    def _show_attempt(self, number: int) -> None:
        self._chosen = 0 if number == self._newest else number
        self._attempt, self._place = number, 0
        self.text.clear()
        self._say()
        call = partial(self._queries.log, self._task_id, number, 0)
        self._ask.start(call, partial(self._append, self._task_id, number))

    def _append(self, task_id: str, attempt: int, tail: LogTail) -> None:
        if task_id != self._task_id or attempt != self._attempt or tail.place <= self._place:
            return
        self._place = tail.place
        at_end = self._at_end()
        now = instant.now_ms()
        lines = [f"{shown.clock(line.at, now)}  {safe.one_line(line.text, 2000)}" for line in tail.lines]
        self.text.appendPlainText("\n".join(lines))
        if at_end:
            bar = self.text.verticalScrollBar()
            bar.setValue(bar.maximum())
        self._say()

    def _at_end(self) -> bool:
        bar = self.text.verticalScrollBar()
        return bar.value() >= bar.maximum() - 4

    def _say(self) -> None:
        place = _("attempt {n} of {total}").format(n=self._attempt, total=self._newest) if self._attempt else ""
        if self._live and self._attempt == self._newest and self._at_end():
            self.set_note(_("following, {place}").format(place=place), "succeeded")
        else:
            self.set_note(place)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())
