"""Gathers what ran where while a cause raged: the attempts of its task types, and the machines that made them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from services.domain.fleet.worker import NOBODY, Farewell
from services.domain.insight import reach
from services.domain.insight import worker as insight
from services.domain.insight.reach import Ran, Reach
from services.domain.task.fingerprint import fingerprint
from services.domain.task.record import Attempt, Task
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status
from services.engine import farewells
from services.ports import Store

#: records of a type that are looked at, the newest first, and types of a cause
MOST, PAGE, TYPES = 2_000, 1_000, 4
#: what is counted begins so long before the first failure, and ends so long after the last; where nothing went well in
#: that time it begins an hour before
AROUND_MS, WIDE_MS, LONGEST_MS = 5 * 60_000, 3_600_000, 24 * 3_600_000
_ENDS = frozenset({"succeeded", "failed", "timeout", "lost"})
_STATUSES = (Status.SUCCEEDED, Status.DEAD, Status.RETRYING, Status.RUNNING, Status.HELD)
#: what a worker adds to the name of its machine where it names itself
_OWN = re.compile(r"(?:-\d+-[0-9a-f]{2,}|[/#].*)\Z")


class Reaches:
    """Made for one answer: what it has asked it does not ask again. Blocking."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._workers: dict[str, Farewell] | None = None
        self._known: dict[str, tuple[int, int, Sequence[Task]]] = {}  #: by type: asked since, told since, records
        #: by record: when its attempts failed, and of what
        self._failed: dict[tuple[str, int], tuple[tuple[int, str], ...]] = {}

    def of_cause(self, fingerprints: Collection[str], letters: Sequence[Task]) -> Reach:
        """Where the cause of these letters lies, judged by all that ran their types in its time."""
        if not letters:
            return Reach()
        newest = max(letters, key=lambda task: task.ended_at)
        last = newest.ended_at
        floor = last - LONGEST_MS
        failed_at = [at for task in letters for at in self._failures(task, fingerprints) if at >= floor]
        first, until = min(failed_at, default=last), last + AROUND_MS
        types = sorted({task.task_type for task in letters})[:TYPES]
        own = {task.task_id: task for task in letters if task.ended_at >= floor}
        since = first - AROUND_MS
        runs = self._runs(types, own, fingerprints, since, until)
        if all(one.failed for one in runs):
            since = first - WIDE_MS
            runs = self._runs(types, own, fingerprints, since, until)
        return reach.judge(runs, newest.error_kind, since=since, until=until)

    def _runs(
        self, types: Iterable[str], own: dict[str, Task], fingerprints: Collection[str], since: int, until: int
    ) -> list[Ran]:
        found: list[Ran] = []
        for name in types:
            told_since, tasks = self._of_type(name, since)
            begins = max(since, told_since)
            others = [task for task in tasks if task.task_id not in own]
            for task in (*others, *(one for one in own.values() if one.task_type == name)):
                found += self._of_task(task, fingerprints, begins, until)
        return found

    def _of_task(self, task: Task, fingerprints: Collection[str], since: int, until: int) -> Iterable[Ran]:
        failed = set(self._failures(task, fingerprints))
        for attempt in task.attempts:
            if attempt.outcome in _ENDS and since <= attempt.ended_at <= until:
                yield self._ran(task, attempt, attempt.ended_at in failed)

    def _failures(self, task: Task, fingerprints: Collection[str]) -> Iterable[int]:
        """When attempts of a task failed of the cause, UTC ms."""
        record = (task.task_id, task.updated_at)
        failed = self._failed.get(record)
        if failed is None:  # each of the causes asks for the same records
            failed = self._failed[record] = tuple(_failed(task))
        return (at for at, mark in failed if mark in fingerprints)

    def _ran(self, task: Task, attempt: Attempt, failed: bool) -> Ran:
        by = self._worker(attempt.worker)
        return Ran(
            shop=task.shop,
            platform=task.platform,
            node=by.machine or _OWN.sub("", attempt.worker),
            proxy=by.proxies.get(task.shop, by.proxies.get("", "")),
            version=by.version,
            failed=failed,
        )

    def _worker(self, name: str) -> Farewell:
        """What is known of a worker, also of one that has left since."""
        if self._workers is None:
            self._workers = farewells.gone(self._store)
            for info in self._store.workers():
                self._workers[info.worker] = Farewell(
                    worker=info.worker, machine=insight.machine(info), version=info.version, proxies=info.proxies
                )
        return self._workers.get(name, NOBODY)

    def _of_type(self, name: str, since: int) -> tuple[int, Sequence[Task]]:
        """Records of a type that changed since then, as many as are looked at, and since when they are all there."""
        asked, told, known = self._known.get(name, (0, 0, ()))
        if name in self._known and (asked <= since or told > asked):  # of further back there would be no more of them
            return told, known
        terms = (equals("type", name), equals("status", *_STATUSES), Term(field="updated", op=">=", number=since))
        found: list[Task] = []
        cursor: str | None = ""
        while cursor is not None and len(found) < MOST:
            page = self._store.query(Query(terms=terms, sort="updated", limit=PAGE, cursor=cursor, want_total=False))
            found += page.tasks
            cursor = page.next
        told = since if cursor is None or not found else found[-1].updated_at
        self._known[name] = (since, told, found)
        return told, found


def key_of(task: Task) -> str:
    """What names the cause of a dead letter: its fingerprint, or its kind where it never was a readable task."""
    return task.fingerprint or task.error_kind or "unknown"


def _failed(task: Task) -> Iterable[tuple[int, str]]:
    """When attempts of a task failed, UTC ms, and the fingerprint of each failure."""
    for attempt in task.attempts:
        if attempt.outcome in _ENDS and attempt.outcome != "succeeded":
            ended_it = task.status == Status.DEAD and attempt.number == task.attempt
            mark = key_of(task) if ended_it else fingerprint(task.task_type, attempt.error_kind, attempt.error)
            yield attempt.ended_at, mark
