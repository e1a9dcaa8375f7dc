"""Asks for the reason without which something was refused: why a work is done once more that has succeeded since, or
why one is given up that may be done. The answer goes into the audit trail and to the task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from PySide6.QtWidgets import QWidget

from services.commands.outcome import Outcome, Refusal
from services.domain.insight.verdict import SAY_WHY_GIVEN_UP
from services.domain.text.refusals import UNSURE
from services.i18n import N_, _
from views.dialogs.confirm import Question, ask_for_note
from views.support import shown
from views.support.operation import Start


class _Words(NamedTuple):
    """Source texts of the question."""

    title: str
    verb: str
    note: str
    needed: str


_ONCE_MORE = _Words(
    N_("Do the same work once more?"),
    N_("Do it once more"),
    N_("Why it must be done again; kept with the task and in the audit trail"),
    N_("Write down first why it must be done again"),
)
#: the refusals that a reason overcomes
ASKED: Mapping[str, _Words] = {
    "task.done": _ONCE_MORE,
    UNSURE: _ONCE_MORE,
    SAY_WHY_GIVEN_UP: _Words(
        N_("Give up what may be done?"),
        N_("Give it up"),
        N_("Why it is given up; kept with the task and in the audit trail"),
        N_("Write down first why it is given up"),
    ),
}


def ask_why(outcome: Outcome, go: Callable[[str, Start], None], left_it: Callable[[], None], owner: QWidget) -> bool:
    """Ask where one was refused for that, and ``go`` with the reason and what runs it; tell whether it was.
    ``left_it``: the person gave none, so the refusal stands and is to be told.
    """
    left = (*outcome.skipped, *outcome.failed)
    words = ASKED.get(left[0].why.code) if len(left) == 1 else None
    if outcome.done or outcome.pending or words is None:
        return False
    ask_for_note(partial(_question, words, left[0]), owner, go, left_it)
    return True


def _question(words: _Words, left: Refusal) -> Question:
    return Question(
        title=words.title,
        rows=((_("task id"), left.task_id),),
        text=shown.say(left.why),
        verb=_(words.verb),
        danger=True,
        note=_(words.note),
        note_needed=_(words.needed),
    )
