"""What is done to schedules from the page; every act is an audited command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services import messages
from services.domain.plans.schedule import Tally
from services.i18n import N_, _, ngettext
from services.monitor.schedules import ScheduleRow
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question, typed_count
from views.pages.schedules import words
from views.support import text
from views.support.acting import TELL_S, UNDO_S
from views.support.operation import Operation
from views.widgets.toast import ToastAction, ToastSpec, failure

T = TypeVar("T")


class ScheduleActions(QObject):
    """Signals:
    changed: something was done; ask again.
    """

    changed = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._operation = Operation(self)

    def switch(self, row: ScheduleRow) -> None:
        """Enable a disabled schedule, disable an enabled one."""
        name, enabled = row.schedule.name, not row.schedule.enabled
        said = _("{name} is enabled.") if enabled else _("{name} is disabled.")
        call = partial(self._context.commands.schedules.switch, [name], enabled=enabled)
        back = partial(self._context.commands.schedules.switch, [name], enabled=not enabled)
        self._act(call, lambda _names: said.format(name=name), back)

    def skip(self, row: ScheduleRow) -> None:
        """Leave the next run out."""
        name = row.schedule.name
        call = partial(self._context.commands.schedules.skip, [name])
        self._act(call, lambda _names: _("The next run of {name} is left out.").format(name=name))

    def run(self, row: ScheduleRow) -> None:
        """Run now, after a look at how many tasks that makes."""
        number = ngettext("{n} task", "{n} tasks", row.shops).format(n=text.count(row.shops))
        question = Question(
            title=N_("Run a schedule now"),
            number=number,
            text=_("{name} runs for {shops}. Its next run stays as planned.").format(
                name=row.schedule.name, shops=words.shops(row.schedule)
            ),
            verb=_("Run now"),
            typed=typed_count(row.shops, self._context.environment),
        )
        call = partial(self._context.commands.schedules.run, row.schedule.name)
        self._ask(question, call, self._ran)

    def remove(self, row: ScheduleRow) -> None:
        """Strike a schedule off; its name must be typed."""
        name = row.schedule.name
        question = Question(
            title=N_("Remove a schedule"),
            text=_("{name} runs no more. The tasks that it has made stay.").format(name=name),
            verb=_("Remove"),
            danger=True,
            typed=name,
        )
        call = partial(self._context.commands.schedules.remove, [name])
        self._ask(question, call, lambda _names: _("{name} is removed.").format(name=name))

    def _ran(self, tally: Tally) -> str:
        return text.listed([words.outcome(tally), messages.own(tally.error)] if tally.error else [words.outcome(tally)])

    def _ask(self, question: Question, call: Callable[[], T], done: Callable[[T], str]) -> None:
        dialog = ConfirmDialog(question, self._owner)
        dialog.confirmed.connect(partial(self._act, call, done))
        dialog.open()

    def _act(self, call: Callable[[], T], done: Callable[[T], str], back: Callable[[], object] | None = None) -> None:
        """``back`` is what the Undo of its toast sends."""

        def succeed(result: T) -> None:
            undo = (ToastAction(text=_("Undo"), call=partial(self._undo, back)),) if back is not None else ()
            seconds = UNDO_S if back is not None else TELL_S
            self._context.toast(ToastSpec(text=done(result), status="succeeded", actions=undo, seconds=seconds))
            self.changed.emit()

        self._operation.start(call, succeed, self._fail)

    def _undo(self, back: Callable[[], object]) -> None:
        self._act(back, lambda _result: _("Taken back."))

    def _fail(self, error: BaseException) -> None:
        self._context.toast(failure(error))
        self.changed.emit()
