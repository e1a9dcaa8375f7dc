"""Held tasks: nobody knows how they ended, or others did or do their work. Only a person can say whether they run."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.insight import attempts
from services.domain.task import own_words
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.domain.text.message import Param
from services.monitor.attention.look import NAMED, Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

WORDS = {
    "attention.held_task": Words(
        N_("{type} of {shop}: did it run?"),
        N_(
            "Worker {worker} was lost while it ran. Look in the shop's backend whether it was done, then decide;"
            " nothing runs until then"
        ),
    ),
    "attention.held_late": Words(
        N_("{type} of {shop}: confirm that it ran"),
        N_(
            "Worker {worker} came back and says that it ended well. Look in the shop's backend, then decide; nothing"
            " runs until then"
        ),
    ),
    "attention.held_unknown": Words(
        N_("{type} of {shop}: did it run?"),
        N_(
            "Nobody knows how it ended. Look in the shop's backend whether it was done, then decide; nothing runs"
            " until then"
        ),
    ),
    "attention.held_done": Words(
        N_("{type} of {shop}: run it once more?"),
        N_("The same work succeeded as {id}, by {by}, and nothing was run. Decide whether it is to be done once more"),
    ),
    "attention.held_unread": Words(
        N_("{type} of {shop}: was it done already?"),
        N_(
            "What is known of the same work cannot be read, and nothing was run. Look in the shop's backend whether it"
            " was done, then decide; `repair` sets the entry {work} of the ledger aside"
        ),
    ),
    "attention.held_twin": Words(
        N_("{type} of {shop}: run it too?"),
        N_(
            "Another program sent it while the same work waited or ran, and nothing was run. Decide whether it runs,"
            " too"
        ),
    ),
    "attention.held": Words(
        N_("{tasks_n} to decide: did they run?"),
        N_(
            "{names} and {more} more. Look in each shop's backend whether it was done, then decide; nothing runs"
            " until then"
        ),
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """Each task by itself, or many in one, as old as the one that was held first."""
    number = look.number(Status.HELD)
    if not number:
        return
    query = Query(
        terms=(equals("status", Status.HELD),), sort="updated", descending=False, limit=NAMED + 1, want_total=False
    )
    tasks = look.store.query(query).tasks
    if len(tasks) > NAMED:
        yield Attention(
            key="held",
            covers="held:",
            severity="held",
            code="attention.held",
            params={
                "tasks": number,
                "names": look.named(list(dict.fromkeys(task.shop for task in tasks))),
                "more": number - NAMED,
            },
            since_ms=min(task.updated_at for task in tasks),
            verbs=(("decide", f"status:{Status.HELD}"),),
        )
        return
    for task in tasks:
        yield _one(task, look)


#: what the engine wrote into a task that did not run, and the item that says so
_NOT_RUN = {
    "own.already_done": "attention.held_done",
    "own.work_unreadable": "attention.held_unread",
    "own.held_twin": "attention.held_twin",
}


def _one(task: Task, look: Look) -> Attention:
    end = attempts.unknown_end(task)
    worker = end.worker if end is not None and end.lost else ""
    lost = "attention.held_late" if end is not None and end.late else "attention.held_task"
    told = own_words.find(task.error)
    of_others = _NOT_RUN.get(told.code, "") if told is not None else ""
    params: dict[str, Param] = {"type": task.task_type, "shop": look.name(task.shop)}
    to_decide = ("decide", f"id:{task.task_id}")
    if told is not None and of_others:
        return Attention(
            key=f"held:{task.task_id}",
            severity="held",
            code=of_others,
            params=params | dict(told.params),
            since_ms=task.updated_at,
            verbs=(to_decide,),
        )
    return Attention(
        key=f"held:{task.task_id}",
        severity="held",
        code=lost if worker else "attention.held_unknown",
        params=params | {"worker": worker},
        since_ms=task.updated_at,
        verbs=(to_decide, ("look_shop", task.shop)),
    )
