"""Compares what waiting tasks wait for with the records, for repair and for who only looks."""

from __future__ import annotations

from services.domain.change import Op, Relink
from services.domain.task.search.query import Query, equals, pages
from services.domain.task.status import Status
from services.engine.steps import Steps
from services.ports import Store

PAGE = 1000


def relink(store: Store, steps: Steps, *, look: bool) -> list[str]:
    """Ids of the tasks whose dependencies are noted wrongly; unless asked only to ``look`` they are set right."""
    wrong: list[str] = []
    terms = (equals("status", Status.BLOCKED, Status.SCHEDULED),)
    for page in pages(store.query, Query(terms=terms, sort="created", limit=PAGE, want_total=False)):
        ops: list[Op] = [Relink(task_id=task.task_id, look=look) for task in page.tasks if task.depends_on]
        answers = steps.apply(ops)
        wrong += [answer.task.task_id for answer in answers if answer.code == "ok" and answer.task is not None]
    return wrong
