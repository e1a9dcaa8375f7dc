"""Asks why a work is done once more that has succeeded since: the answer goes into the audit trail and to the task."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from services.commands.outcome import Outcome
from services.i18n import N_, _
from views.dialogs.confirm import ConfirmDialog, Question
from views.support import shown

#: of the refusal that a reason overcomes
NEEDS_REASON = "task.done"


def ask_why(outcome: Outcome, go: Callable[[str], None], left_it: Callable[[], None], owner: QWidget) -> bool:
    """Ask where one was refused for that, and ``go`` with the reason; tell whether it was. ``left_it``: the person
    gave none, so the refusal stands and is to be told.
    """
    left = (*outcome.skipped, *outcome.failed)
    if outcome.done or outcome.pending or len(left) != 1 or left[0].why.code != NEEDS_REASON:
        return False
    question = Question(
        title=N_("Do the same work once more?"),
        rows=((_("task id"), left[0].task_id),),
        text=shown.say(left[0].why),
        verb=_("Do it once more"),
        danger=True,
        note=_("Why it must be done again; kept with the task and in the audit trail"),
        note_needed=_("Write down first why it must be done again"),
    )
    dialog = ConfirmDialog(question, owner)
    dialog.confirmed.connect(lambda: go(dialog.note))
    dialog.rejected.connect(left_it)
    # it opens by itself, seconds after the act: a Space or Enter meant for what stands behind it must not be its Cancel
    dialog.note_field.setFocus()
    dialog.open()
    return True
