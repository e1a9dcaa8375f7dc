"""Tasks that could not begin before their deadline: they become dead letters, so that a person learns of it."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from services.domain.task import classify, own_words
from services.domain.task.record import Task
from services.engine.steps import Steps, given_up
from services.ports import Store

log = logging.getLogger(__name__)
BATCH = 200


def end_overdue(store: Store, steps: Steps) -> int:
    """Give up what should have begun by now and has not; returns how many.

    A task whose first attempt has begun in time goes on, its retries too. What waits in another form just now (a plan
    whose time has come, a new generation) is looked at again in the next round.
    """
    ids = store.overdue(BATCH)
    if not ids:
        return 0
    found = list(zip(ids, store.get(ids), strict=True))
    late = [task for _id, task in found if task is not None and task.bound]
    done = [task_id for task_id, task in found if task is None or not task.bound]
    ended: list[str] = []
    for task, answer in zip(
        late, steps.apply([given_up(task, classify.EXPIRED, sentence(task)) for task in late]), strict=True
    ):
        if answer.code == "ok":
            log.warning("%s did not begin before its deadline", task.task_id)
            ended.append(task.task_id)
    store.forget_deadlines(done + ended)
    return len(ended)


def missed(task: Task) -> bool:
    """Whether the attempt that has just been claimed is the first and comes too late."""
    return 0 < task.deadline <= task.started_at and task.attempt == 1


def sentence(task: Task) -> str:
    """Why it is dead."""
    by = datetime.fromtimestamp(task.deadline / 1000, UTC).isoformat(timespec="seconds")
    return own_words.write("own.expired", by=by)
