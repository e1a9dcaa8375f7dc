"""*Try one anyway*: one attempt of one task starts although a pause, quiet hours or an open breaker holds it back.

Somebody gives the task a pass, with a reason. It holds as long as the record has made no further attempt: the claim
that starts the next one uses it up in the same step, and a retry after that waits again. The gates stay closed for all
others, and every other gate for this task too.
"""

from __future__ import annotations

import msgspec

from services.domain.errors import UsageError
from services.domain.gates import breaker, listed
from services.domain.task.record import Task
from services.domain.task.status import CLAIMABLE
from services.domain.text.message import Message
from services.domain.text.said import Said
from services.domain.upkeep.stored import Count, Document, Instant

#: kind of the documents, each by the id of its task
KIND = "pass"
#: what it passes: the gates that are closed for a scope, and an open breaker
GATES = frozenset({*listed.SWITCHES, breaker.GATE})
REASON_LIMIT = 400
#: so many may be given at a time; whoever needs more wants to resume
MOST = 100
#: the note of the step that gives it begins so
NOTED = "anyway "
#: and that of the one that takes it back
NOTED_BACK = "not anyway "


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """What was given to a task."""

    shop: str  #: platform:shop_id
    attempt: Count  #: attempts that it had made by then
    by: str = ""
    at: Instant = 0
    reason: str = ""

    def holds_for(self, task: Task) -> bool:
        """Whether its attempt is still to come."""
        return task.status in CLAIMABLE and task.attempt == self.attempt and task.shop == self.shop


#: by task; one that cannot be read lets nobody through
DOCUMENT = Document(Pass)


def note(by: str, reason: str) -> str:
    """The note of the step in the record that gives one."""
    return f"{NOTED}{by}: {reason}"


def told(step_note: str) -> tuple[str, str] | None:
    """By whom and why, if a step has given one."""
    if not step_note.startswith(NOTED):
        return None
    by, _, reason = step_note.removeprefix(NOTED).partition(": ")
    return by, reason


def note_back(by: str) -> str:
    """The note of the step in the record that takes one back."""
    return f"{NOTED_BACK}{by}"


def told_back(step_note: str) -> str:
    """By whom, if a step has taken one back, else ""."""
    return step_note.removeprefix(NOTED_BACK) if step_note.startswith(NOTED_BACK) else ""


def check_reason(reason: str) -> str:
    """The reason without what stands around it.

    Raises:
        UsageError: there is none, or it is too long.
    """
    reason = " ".join(reason.split())
    if not 0 < len(reason) <= REASON_LIMIT:
        text = Said(listed.SENTENCES["quiet.reason"].format(most=REASON_LIMIT))
        text.message = Message("quiet.reason", {"most": REASON_LIMIT})
        raise UsageError(text, field="reason")
    return reason
