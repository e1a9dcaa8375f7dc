"""Tasks that failed and whose next attempt is the last: what fails then needs a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from services.domain.insight import attempts, cause
from services.domain.task.search import filter
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

#: so many retrying tasks are looked at, those that start first
LOOKED_AT = 500
#: so many are named by the filter behind the item; of more it shows all that retry
DOOR_TASKS = 50
WORDS = {
    "attention.last_try": Words(
        N_("{type} of {shop}: the last try starts in {left}"), N_("It goes by itself; if it fails, it is a dead letter")
    ),
    "attention.last_try_now": Words(
        N_("{type} of {shop}: the last try starts now"), N_("It goes by itself; if it fails, it is a dead letter")
    ),
    "attention.last_tries": Words(
        N_("{tasks_n} before the last try, the first in {left}"),
        N_("{names}. They go by themselves; what fails is a dead letter"),
    ),
    "attention.last_tries_now": Words(
        N_("{tasks_n} before the last try, the first now"),
        N_("{names}. They go by themselves; what fails is a dead letter"),
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """At most one, as old as the first that waits for its last attempt."""
    if not look.number(Status.RETRYING):
        return
    terms = (equals("status", Status.RETRYING),)
    page = look.store.query(Query(terms=terms, sort="due", descending=False, limit=LOOKED_AT, want_total=False))
    found = [task for task in page.tasks if task.max_retries and attempts.last(task) is not None]
    if not found:
        return
    first, alone = min(found, key=lambda task: task.due_at), len(found) == 1
    over = "_now" if first.due_at <= look.now_ms else ""
    kinds = Counter(task.error_kind for task in found if task.error_kind)
    ids = (equals("id", *(task.task_id for task in found)),)
    yield Attention(
        key="last_tries",
        severity="retrying",
        code=("attention.last_try" if alone else "attention.last_tries") + over,
        params={
            "tasks": len(found),
            "type": first.task_type,
            "shop": look.name(first.shop),
            "names": look.named(list(dict.fromkeys(task.shop for task in found))),
            "left_ms": max(0, first.due_at - look.now_ms),
            "until": first.due_at,
        },
        facts=tuple(cause.title(kind) for kind, _number in kinds.most_common(1)),
        since_ms=min(task.updated_at for task in found),
        verbs=(("open_tasks", filter.format_terms(ids if len(found) <= DOOR_TASKS else terms)),),
        end_open=True,
    )
