"""What is done about dead letters: republish as they are or corrected, ignore, archive, reopen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.commands.outcome import Outcome
from services.domain.status import Triage
from services.domain.task import Task
from services.i18n import N_, _, ngettext
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question, typed_count
from views.pages.dead_letters.rows import LetterRow
from views.support import shown, text
from views.support.acting import Acting
from views.support.operation import Operation
from views.theme.tokens import platform_badge
from views.widgets.toast import ToastAction, ToastSpec

#: up to this many are sent after a moment in which they can be taken back; above it a preview is shown first
FEW = 9
UNDO_S = 10
PREVIEW_ROWS = 40


class LetterActions(QObject):
    """Signals:
    acted: something was decided; lists may be asked again.
    """

    acted = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._acting = Acting(self, context.toast)
        self._operation = Operation(self)

    def republish(self, rows: Sequence[LetterRow], ids: Sequence[str] = ()) -> None:
        """Make new tasks; ``ids`` may name more than the rows that are loaded."""
        chosen = tuple(ids) or tuple(row.key for row in rows)
        if len(chosen) <= FEW:
            self._hold(chosen)
            return
        dialog = ConfirmDialog(preview(rows, len(chosen), self._context.environment), self._owner)
        dialog.confirmed.connect(partial(self._hold, chosen))
        dialog.open()

    def republish_edited(self, task: Task, payload: Mapping[str, Any]) -> None:
        """Make a new task with a corrected payload."""
        call = partial(self._context.commands.dead_letters.republish, [task.task_id], payload=dict(payload))
        self._acting.held(_("Republishing with your changes in 5 s"), call, _republished)

    def triage(self, ids: Sequence[str], to: str, before: str) -> None:
        """Ignore, archive or reopen at once; the toast offers to take it back."""
        call = partial(self._context.commands.dead_letters.set_triage, list(ids), to)
        self._operation.start(call, partial(self._tell_triage, to=to, before=before), self._fail)

    def _hold(self, ids: Sequence[str]) -> None:
        announce = ngettext("Republishing {n} task in 5 s", "Republishing {n} tasks in 5 s", len(ids)).format(
            n=text.count(len(ids))
        )
        call = partial(self._context.commands.dead_letters.republish, list(ids))
        self._acting.held(announce, call, _republished)

    def _tell_triage(self, outcome: Outcome, *, to: str, before: str) -> None:
        self.acted.emit()
        left = outcome.skipped
        detail = shown.say(left[0].why) if left else ""
        actions: tuple[ToastAction, ...] = ()
        if outcome.done:
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
        self._context.toast(ToastSpec(text=_("That did not work."), detail=str(error), status="error", copy=str(error)))


def preview(rows: Sequence[LetterRow], number: int, environment: str) -> Question:
    """What a bulk republish will do, counted by type and by shop."""
    types = Counter(row.task.task_type for row in rows)
    shops = Counter((row.shop_name or row.task.shop_id, row.task.platform) for row in rows)
    lines = [(name, _tasks(count)) for name, count in types.most_common()]
    lines += [(f"{name}  {platform_badge(platform)}", _tasks(count)) for (name, platform), count in shops.most_common()]
    if len(lines) > PREVIEW_ROWS:
        rest = len(lines) - PREVIEW_ROWS
        more = ngettext("{n} more shop", "{n} more shops", rest).format(n=rest)
        lines = [*lines[:PREVIEW_ROWS], (more, "")]
    if number > len(rows):
        lines.append((_("Not loaded here"), _tasks(number - len(rows))))
    words = _("Each becomes a new task, linked to its dead letter. What is active already is left out and named.")
    return Question(
        title=N_("Republish dead letters"),
        number=_tasks(number),
        text=words,
        rows=tuple(lines),
        verb=ngettext("Republish {n} task", "Republish {n} tasks", number).format(n=text.count(number)),
        typed=typed_count(number, environment),
    )


def _tasks(number: int) -> str:
    return ngettext("{n} task", "{n} tasks", number).format(n=text.count(number))


def _republished(outcome: Outcome) -> str:
    number = len(outcome.done)
    return ngettext("{n} task republished", "{n} tasks republished", number).format(n=text.count(number))


def _triaged(number: int, to: str) -> str:
    count = text.count(number)
    if to == Triage.ARCHIVED:
        return ngettext("{n} dead letter archived", "{n} dead letters archived", number).format(n=count)
    if to == Triage.IGNORED:
        return ngettext("{n} dead letter ignored", "{n} dead letters ignored", number).format(n=count)
    return ngettext("{n} dead letter open again", "{n} dead letters open again", number).format(n=count)
