"""What is done about dead letters: republish as they are or corrected, ignore, archive, reopen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.commands.outcome import Outcome
from services.domain.insight.cause import Worth
from services.domain.task.record import Task
from services.domain.task.status import Triage
from services.i18n import N_, _, ngettext
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Finding, Question
from views.dialogs.republish.dialog import RepublishDialog
from views.dialogs.republish.runner import BulkRunner
from views.dialogs.republish.telling import Telling, republished
from views.support import shown, text
from views.support.acting import REPUBLISH, Acting
from views.support.operation import Operation
from views.support.words import verdicts
from views.widgets.toast import ToastAction, ToastSpec, failure

#: up to this many are sent after a moment in which they can be taken back; above it a preview is shown first
FEW = 9
UNDO_S = 10


class LetterActions(QObject):
    """Signals:
    acted: something was decided; lists may be asked again.
    tasks_wanted: a filter that the Tasks page shall show.
    runs_wanted: show how what was sent ends.
    """

    acted = Signal()
    tasks_wanted = Signal(str)
    runs_wanted = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._acting = Acting(self, context.toast, context.pending)
        self._operation = Operation(self)
        self.runner = BulkRunner(lambda: context.commands.bulk, self)
        self.runner.changed.connect(self._note_run)
        self._telling = Telling(self.runner, context.toast, self.runs_wanted.emit, self)

    def republish(
        self,
        ids: Sequence[str],
        note: str = "",
        then: Callable[[], None] = lambda: None,
        *,
        whole: bool = False,
        worth: Worth | None = None,
    ) -> None:
        """Make new tasks; many, or the ``whole`` of a cause, only after a look at what becomes of each.

        ``note`` names what they share; ``then`` is called once it is decided. What is known to fail again by their
        ``worth`` is asked about however few they are.
        """
        doubtful = verdicts.hopeless(worth)
        if doubtful and worth is not None and len(ids) == 1:
            if self._free(ids):
                self._ask_all_the_same(ids, worth, then)
            return
        if len(ids) <= FEW and not ((whole or doubtful) and len(ids) > 1):
            self._hold(ids)
            then()
            return
        dialog = RepublishDialog(self._context, ids, self.runner, note=note, parent=self._owner)
        dialog.started.connect(then)
        dialog.open()

    def _ask_all_the_same(self, ids: Sequence[str], worth: Worth, then: Callable[[], None]) -> None:
        question = Question(
            title=N_("Republish all the same?"),
            rows=((_("task id"), ids[0]),),
            findings=(Finding(verdicts.look(worth).status, verdicts.word(worth, 1), verdicts.why(worth)),),
            verb=_("Republish all the same"),
        )

        def go() -> None:
            self._hold(ids)
            then()

        dialog = ConfirmDialog(question, self._owner)
        dialog.confirmed.connect(go)
        dialog.open()

    def republish_edited(self, task: Task, payload: Mapping[str, Any]) -> None:
        """Make a new task with a corrected payload."""
        if self._free([task.task_id]):
            call = partial(self._context.commands.dead_letters.republish, [task.task_id], payload=dict(payload))
            about = [(REPUBLISH, task.task_id)]
            self._acting.held(_("Republishing with your changes in 5 s"), call, _republished, about=about)

    def reveal(self, task_id: str, then: Callable[[], None]) -> None:
        """Write down that somebody looks at the secrets of a letter; ``then`` shows them."""
        call = partial(self._context.commands.records.reveal, task_id)
        self._operation.start(call, lambda _none: then(), self._fail)

    def triage(self, ids: Sequence[str], to: str, before: str) -> None:
        """Ignore, archive or reopen at once; the toast offers to take it back."""
        call = partial(self._context.commands.dead_letters.set_triage, list(ids), to)
        self._operation.start(call, partial(self._tell_triage, to=to, before=before), self._fail)

    def _free(self, ids: Sequence[str]) -> list[str]:
        """Those that nobody republishes already, neither one by one nor with many."""
        return self._acting.free(REPUBLISH, ids)

    def _note_run(self) -> None:
        job = self.runner.job
        many = job.plan.items if job is not None and not job.options.probe_only else ()
        self._context.pending.put(self.runner, [(REPUBLISH, item.task_id) for item in many])

    def _hold(self, ids: Sequence[str]) -> None:
        ids = self._free(ids)
        if not ids:
            return
        announce = ngettext("Republishing {n} task in 5 s", "Republishing {n} tasks in 5 s", len(ids)).format(
            n=text.count(len(ids))
        )
        call = partial(self._context.commands.dead_letters.republish, list(ids))
        self._acting.held(announce, call, _republished, about=[(REPUBLISH, one) for one in ids])

    def _tell_triage(self, outcome: Outcome, *, to: str, before: str) -> None:
        self.acted.emit()
        left = outcome.skipped
        detail = shown.say(left[0].why) if left else ""
        actions: tuple[ToastAction, ...] = ()
        if outcome.done and before != Triage.OVERTAKEN:  # only a success overtakes
            undo = partial(self.triage_back, outcome.done, before)
            actions = (ToastAction(text=_("Undo"), call=undo),)
        self._context.toast(
            ToastSpec(
                text=_triaged(len(outcome.done), to) if outcome.done else _("Nothing was changed."),
                status="warning" if left else "healthy",
                detail=detail,
                actions=actions,
                seconds=UNDO_S,
            )
        )

    def triage_back(self, ids: Sequence[str], to: str) -> None:
        """The reverse of a decision."""
        call = partial(self._context.commands.dead_letters.set_triage, list(ids), to)
        self._operation.start(call, self._tell_back, self._fail)

    def _tell_back(self, _outcome: Outcome) -> None:
        self.acted.emit()
        self._context.toast(ToastSpec(text=_("Taken back."), status="cancelled"))

    def _fail(self, error: BaseException) -> None:
        self._context.toast(failure(error))


def _republished(outcome: Outcome) -> str:
    return republished(len(outcome.done))


def _triaged(number: int, to: str) -> str:
    count = text.count(number)
    if to == Triage.ARCHIVED:
        return ngettext("{n} dead letter archived", "{n} dead letters archived", number).format(n=count)
    if to == Triage.IGNORED:
        return ngettext("{n} dead letter ignored", "{n} dead letters ignored", number).format(n=count)
    return ngettext("{n} dead letter open again", "{n} dead letters open again", number).format(n=count)
