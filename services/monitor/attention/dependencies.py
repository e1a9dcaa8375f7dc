"""Tasks that wait behind one which will never succeed by itself: dead, cancelled, or without a record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from services.domain.gates import dependency
from services.domain.insight import cause
from services.domain.insight.cause import Worth
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Total, equals
from services.domain.task.status import Status, Triage
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.letters.alike import key_of
from services.monitor.overview import Attention
from services.monitor.waits import successors

#: so many waiting tasks are asked for what they wait for
ASKED = 200
#: as many that wait in vain for one reason have an item each; more share one
ALONE = 2
DOOR_TASKS = 50  #: a list is opened by no more ids
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
    "attention.dependencies_dead": Words(
        N_("{tasks_n} waiting for tasks that died"),
        N_("{count_n} in {shops_n} ({cause}): see the cause, or cancel what waits"),
    ),
    "attention.dependencies_died": Words(
        N_("{tasks_n} waiting for tasks that died"),
        N_("{count_n} of {type} in {shops_n}: see the cause, or cancel what waits"),
    ),
    "attention.dependencies_put_aside": Words(
        N_("{tasks_n} waiting for tasks that died"),
        N_("{count_n} of {type} in {shops_n}, which nobody has open: republish them, or cancel what waits"),
    ),
    "attention.dependencies_cancelled": Words(
        N_("{tasks_n} waiting for tasks that were cancelled"),
        N_("{type} in {shops_n} will never succeed: cancel what waits"),
    ),
    "attention.dependencies_gone": Words(
        N_("{tasks_n} waiting for tasks without a record"), N_("They are not known any more: cancel what waits")
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """One item for each task that others wait for in vain; where many are so for one reason, one for all of these."""
    if not look.number(Status.BLOCKED):
        return
    terms = (equals("status", Status.BLOCKED), equals("gate", dependency.GATE))
    waiting = look.store.query(Query(terms=terms, limit=ASKED + 1, want_total=False)).tasks
    exact, waiting = len(waiting) <= ASKED, waiting[:ASKED]
    behind: dict[str, list[Task]] = defaultdict(list)
    for task, names in zip(waiting, look.store.needs([task.task_id for task in waiting]), strict=True):
        for needed in names:
            behind[needed].append(task)
    # what they wait for is the one that it was republished as, and so on
    last = successors.latest(look.store, look.store.get(list(behind)))
    groups: dict[tuple[str, ...], list[_InVain]] = defaultdict(list)
    for (needed, tasks), found in zip(behind.items(), last, strict=True):
        if found is None or found.status in (Status.DEAD, Status.CANCELLED):
            groups[_reason(found)].append((needed, found, tasks))
    for reason, group in groups.items():
        if len(group) > ALONE:
            yield _shared(look, reason, group, exact=exact)
        else:
            yield from (_item(look, *one) for one in group)


#: the id that tasks wait for, its last successor, those tasks
_InVain = tuple[str, Task | None, list[Task]]


def _reason(found: Task | None) -> tuple[str, ...]:
    """What is put right together: a cause of dead letters, or what is to be cancelled."""
    if found is None:
        return ("gone",)
    return found.status, found.task_type, key_of(found) if found.status == Status.DEAD else "", found.triage


def _shared(look: Look, reason: tuple[str, ...], group: Sequence[_InVain], *, exact: bool) -> Attention:
    tasks = {task.task_id: task for _needed, _found, behind in group for task in behind}
    ended = [found for _needed, found, _behind in group if found is not None]
    code, of_open = reason[0], None
    verbs = [("cancel_tasks", ",".join(tasks)), ("open_tasks", _list(list(tasks)))]
    facts = list(look.counted(Total(len(tasks), exact)))
    if code == Status.DEAD:
        _status, _type, print_, triage = reason
        of_open = next((one for one in look.causes if print_ in (one.fingerprint, *one.parts, *one.prints)), None)
        if of_open is None and triage == Triage.OPEN:  # they are grouped a little later than they die
            code = "died"
            verbs.insert(0, ("triage", print_))
        elif of_open is None or triage != Triage.OPEN:
            code, of_open = "put_aside", None
            verbs = [("open_tasks", f"id:{','.join(one.task_id for one in ended[:DOOR_TASKS])}"), verbs[0]]
        else:
            verbs.insert(0, ("triage_now" if of_open.worth.level == cause.NOW else "triage", of_open.fingerprint))
            if of_open.worth.level != cause.UNKNOWN:
                facts.insert(0, of_open.worth.message)
    return Attention(
        key="dependencies:" + ":".join(reason),
        covers="dependency:",
        severity="blocked",
        code=f"attention.dependencies_{code}",
        params={
            "tasks": len(tasks),
            "count": len(group),
            "shops": len({one.shop for one in ended}),
            "type": ended[0].task_type if ended else "",
        },
        cause=of_open.title if of_open is not None else None,
        facts=tuple(facts),
        since_ms=max(min(one.created_at for one in tasks.values()), min((one.ended_at for one in ended), default=0)),
        verbs=tuple(verbs),
    )


def _list(ids: Sequence[str]) -> str:
    """Those alone, or all that wait for others where they are too many to be named."""
    return f"id:{','.join(ids)}" if len(ids) <= DOOR_TASKS else f"gate:{dependency.GATE}"


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
