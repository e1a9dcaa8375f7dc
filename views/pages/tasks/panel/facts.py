"""What the record and the message of a task say, as names and values."""

from __future__ import annotations

import json
from collections.abc import Sequence

from services import messages
from services.domain.insight import attempts
from services.domain.task.record import Task
from services.domain.text.mask import masked, masked_text
from services.i18n import _
from services.ports import Letter
from views.support import shown, text
from views.support.words import origins


def facts(task: Task, letter: Letter | None, now: int, again: str = "") -> Sequence[tuple[str, str]]:
    """Names and values; what is empty is left out, what is named like a secret is dots."""
    rows = [
        (_("task id"), task.task_id),
        (_("shop"), task.shop),
        (_("lane and priority"), f"{shown.lane_word(task.lane)} {task.priority}"),
        (_("created"), shown.clock(task.created_at, now)),
        (_("must start by"), shown.clock(task.deadline, now) if task.deadline else ""),
        (_("created by"), task.created_by),
        (_("origin"), origins.name(task.origin)),
        (_("attempts"), _attempts(task)),
        (_("time-out"), text.coarse(shown.span(task.timeout_s * 1000))),
        (_("worker"), task.worker),
        (_("batch"), task.batch),
        (_("created again from") if task.origin == "again" else _("republished from"), task.parent),
        (_("created again as"), again),
        (_("republished as"), task.successor),
        (_("marks"), ", ".join(task.marks)),
        (_("reason"), messages.own(task.reason)),
        (_("note"), task.triage_note),
        (_("routing key"), f"task.{task.platform}.{task.queue or task.lane}"),
        ("x-rpa-gen", str(task.gen)),
        ("x-rpa-attempt", str(task.attempt)),
    ]
    known = {name for name, _value in rows}
    rows += [(name, value) for name, value in _headers(letter) if name not in known]
    return [(name, value) for name, value in rows if value]


def _attempts(task: Task) -> str:
    """How many of how many, and that no other follows."""
    number = f"{task.attempt} / {task.max_retries + 1}"
    said = attempts.last(task)
    return f"{number} · {shown.say(said)}" if said is not None else number


def _headers(letter: Letter | None) -> list[tuple[str, str]]:
    """The headers the message had when it was dead-lettered."""
    if letter is None:
        return []
    try:
        found = masked(json.loads(letter.headers))
    except ValueError:
        return []
    if not isinstance(found, dict):
        return []
    return [
        (str(name), masked_text(value if isinstance(value, str) else json.dumps(value)))
        for name, value in found.items()
    ]
