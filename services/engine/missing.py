"""Why there is no record of a task: it never was, or nobody can read it."""

from __future__ import annotations

from services.domain.text.message import Message
from services.ports import Store


def missing(store: Store, task_id: str) -> Message:
    """What to say of an id that gave no record; of one that nobody can read, or that was set aside for that, what to
    do. Blocking: one or two questions.
    """
    found = store.unread(task_id)
    if not found:
        return Message("task.unknown", {"id": task_id})
    return Message("task.unreadable" if found == "there" else "task.set_aside", {"id": f"{task_id!r:.220}"})
