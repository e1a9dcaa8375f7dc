"""Tasks that wait behind one which will never succeed by itself: dead, cancelled, or without a record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from services.domain.gates import dependency
from services.domain.insight import cause
from services.domain.insight.cause import Worth
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention
from services.monitor.waits import successors

#: so many waiting tasks are asked for what they wait for
ASKED = 200
WORDS = {
    "attention.dependency_dead": Words(
        N_("{tasks_n} waiting for a task that died"),
        N_("{type} of {shop} is a dead letter: republish it, or cancel what waits for it"),
    ),
    "attention.dependency_hopeless": Words(
        N_("{tasks_n} waiting for a task that died"),
        N_("{type} of {shop} is a dead letter: put its reason right, or cancel what waits for it"),
    ),
    "attention.dependency_cancelled": Words(
        N_("{tasks_n} waiting for a task that was cancelled"),
        N_("{type} of {shop} will never succeed: cancel what waits for it"),
    ),
    "attention.dependency_gone": Words(
        N_("{tasks_n} waiting for a task without a record"), N_("{id} is not known any more: cancel what waits for it")
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """One item for each task that others wait for in vain."""
    if not look.number(Status.BLOCKED):
        return
    terms = (equals("status", Status.BLOCKED), equals("gate", dependency.GATE))
    waiting = look.store.query(Query(terms=terms, limit=ASKED, want_total=False)).tasks
    behind: dict[str, list[Task]] = defaultdict(list)
    for task, names in zip(waiting, look.store.needs([task.task_id for task in waiting]), strict=True):
        for needed in names:
            behind[needed].append(task)
    # what they wait for is the one that it was republished as, and so on
    last = successors.latest(look.store, look.store.get(list(behind)))
    for (needed, tasks), found in zip(behind.items(), last, strict=True):
        if found is None or found.status in (Status.DEAD, Status.CANCELLED):
            yield _item(look, needed, found, tasks)


def _item(look: Look, needed: str, found: Task | None, tasks: list[Task]) -> Attention:
    begun = max(min(task.created_at for task in tasks), found.ended_at if found is not None else 0)
    ids = ",".join(task.task_id for task in tasks)
    cancel = ("cancel_tasks", ids)
    if found is None:
        return Attention(
            key=f"dependency:{needed}",
            severity="blocked",
            code="attention.dependency_gone",
            params={"tasks": len(tasks), "id": needed},
            since_ms=begun,
            verbs=(cancel, ("open_tasks", f"id:{ids}")),
        )
    dead = found.status == Status.DEAD
    opening = ("open_task", f"id:{found.task_id}")
    # what would die again is no way out: there the reason stands, and the task itself
    worth, refusal = look.letter(found) if dead else (Worth(), None)
    hopeless = worth.level in (cause.AGAIN, cause.LOGIN, cause.WAIT) or refusal is not None
    ways = [opening, cancel]
    if dead and not hopeless:  # what may run twice goes on without a look at it first
        ways.insert(0 if found.idempotent else 1, ("republish", found.task_id))
    known = refusal or (worth.message if worth.level != cause.UNKNOWN else None)
    return Attention(
        key=f"dependency:{needed}",
        severity="blocked",
        code="attention.dependency_hopeless" if hopeless else f"attention.dependency_{found.status}",
        params={"tasks": len(tasks), "type": found.task_type, "shop": look.name(found.shop)},
        since_ms=begun,
        facts=(known,) if known is not None else (),
        verbs=tuple(ways),
    )
