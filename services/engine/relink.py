"""Compares what waiting tasks wait for with the records, for repair and for who only looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from services.domain.change import Op, Relink
from services.domain.query import Query, equals
from services.domain.status import Status
from services.domain.task import Task
from services.ports import Store

PAGE = 1000


def relink(store: Store, send: Callable[[Sequence[Task]], Any] | None = None) -> list[str]:
    """Ids of the tasks whose dependencies are noted wrongly. With ``send`` (who publishes the tasks that it is given)
    they are set right, else nothing is changed.
    """
    wrong: list[str] = []
    terms, cursor = (equals("status", Status.BLOCKED, Status.SCHEDULED),), ""
    while True:
        page = store.query(Query(terms=terms, sort="created", limit=PAGE, cursor=cursor, want_total=False))
        ops: list[Op] = [Relink(task_id=task.task_id, look=send is None) for task in page.tasks if task.depends_on]
        for answer in store.apply(ops) if ops else ():
            if answer.code == "ok" and answer.task is not None:
                wrong.append(answer.task.task_id)
                if send is not None:
                    send(answer.released)
        if page.next is None:
            return wrong
        cursor = page.next
