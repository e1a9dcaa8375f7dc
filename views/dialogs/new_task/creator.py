"""Creates the tasks of a draft off the GUI thread, tells of it, and takes it back on request."""

from __future__ import annotations

import secrets
from dataclasses import replace
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.commands.outcome import Outcome
from services.commands.tasks import Submitted, TaskSpec
from services.domain.plans.schedule import Planned, Schedule
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.i18n import N_, _, ngettext, pgettext
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question, typed_count
from views.support import text
from views.support.operation import Operation
from views.widgets.toast import ToastAction, ToastSpec

UNDO_S = 10


class Wanted(Protocol):
    """Tasks to be created, as one batch."""

    def specs(self, batch: str) -> list[TaskSpec]: ...


class Creator(QObject):
    """Signals:
    done: the ``Submitted`` of a creation.
    settled: a ``TaskSpec`` decided about one by one, and what became of it in words.
    failed: nothing was created, and why.
    tasks_wanted: a filter that the Tasks page shall show.
    planned: the name of a schedule that was kept.
    """

    planned = Signal(str)
    done = Signal(object)
    settled = Signal(object, str)
    failed = Signal(object)
    tasks_wanted = Signal(str)

    def __init__(self, context: PageContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._operation = Operation(self)
        self._batch = ""

    @property
    def busy(self) -> bool:
        """Whether a creation is under way: a second click creates nothing."""
        return self._operation.busy

    def create(self, draft: Wanted, number: int, owner: QWidget) -> None:
        """Create the tasks; very many only after the number was typed."""
        typed = typed_count(number, self._context.environment)
        if not typed:
            self._create(draft)
            return
        count = text.count(number)
        verb = ngettext("Create {n} task", "Create {n} tasks", number).format(n=count)
        total = ngettext("{n} task", "{n} tasks", number).format(n=count)
        dialog = ConfirmDialog(Question(title=N_("Create tasks"), number=total, verb=verb, typed=typed), owner)
        dialog.confirmed.connect(partial(self._create, draft))
        dialog.open()

    def plan(self, schedule: Schedule) -> None:
        """Keep a schedule in the place of tasks."""
        call = partial(self._context.commands.schedules.add, schedule)
        self._operation.start(call, self._on_planned, self.failed.emit)

    def _on_planned(self, kept: Planned) -> None:
        name = kept.schedule.name
        remove = partial(self._context.commands.schedules.remove, [name])
        undo = partial(self._operation.start, remove, self._on_unplanned, self.failed.emit)
        words = _("{name} is kept; see Schedules.").format(name=name)
        self._context.toast(ToastSpec(text=words, actions=(ToastAction(text=_("Undo"), call=undo),), seconds=UNDO_S))
        self.planned.emit(name)

    def _on_unplanned(self, names: tuple[str, ...]) -> None:
        self._context.toast(ToastSpec(text=_("{name} is removed.").format(name=text.listed(names)), status="cancelled"))

    def _create(self, draft: Wanted) -> None:
        if self.busy:
            return
        self._batch = f"console-{secrets.token_hex(4)}"
        specs = draft.specs(self._batch)
        call = partial(self._context.commands.tasks.create, specs, origin="console")
        self._operation.start(call, self._on_done, self.failed.emit)

    def create_one(self, spec: TaskSpec, *, if_duplicate: str, reason: str = "") -> None:
        """Create a task that was left out as a duplicate."""
        again = replace(spec, batch=self._batch, if_duplicate=if_duplicate, reason=reason)
        call = partial(self._context.commands.tasks.create, [again], origin="console")
        self._operation.start(call, partial(self._on_one, spec), self.failed.emit)

    def _on_done(self, result: Submitted) -> None:
        if result.created:
            self._tell(result)
        self.done.emit(result)

    def _on_one(self, spec: TaskSpec, result: Submitted) -> None:
        words = (
            pgettext("task", "created")
            if result.created
            else result.errors[0][2]
            if result.errors
            else _("still active")
        )
        self.settled.emit(spec, words)

    def _tell(self, result: Submitted) -> None:
        number = len(result.created)
        ids = [task.task_id for task in result.created]
        show = partial(self.tasks_wanted.emit, filter.format_terms((equals("batch", self._batch),)))
        undo = partial(self._undo, ids)
        self._context.toast(
            ToastSpec(
                text=ngettext("{n} task created", "{n} tasks created", number).format(n=text.count(number)),
                actions=(
                    ToastAction(text=pgettext("button", "Open"), call=show),
                    ToastAction(text=_("Undo"), call=undo),
                ),
                seconds=UNDO_S,
            )
        )

    def _undo(self, ids: list[str]) -> None:
        self._operation.start(partial(self._context.commands.tasks.cancel, ids), self._on_undone, self.failed.emit)

    def _on_undone(self, outcome: Outcome) -> None:
        number = len(outcome.done) + len(outcome.pending)
        words = ngettext("{n} task cancelled", "{n} tasks cancelled", number).format(n=text.count(number))
        self._context.toast(ToastSpec(text=words, status="cancelled"))
