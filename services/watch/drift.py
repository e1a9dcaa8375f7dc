"""Compares what flows did with their own past, while this process leads, and keeps in the store what has drifted."""

from __future__ import annotations

import logging

from services.domain.insight import drift
from services.domain.insight.drift import Flow
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, equals, pages
from services.domain.task.status import Status
from services.engine.lead.duty import OnDuty, Rounds
from services.ports import Clock, Store

log = logging.getLogger(__name__)
EVERY_S = 10.0
#: records that are read in a round, and at the beginning: of more, the newest
MOST, AT_FIRST, PAGE = 3_000, 6_000, 500
#: so far back is looked again: what ended a moment ago may be seen a moment later
AGAIN_MS = 2_000
#: what nobody has run for so long is forgotten
GONE_MS = 4 * 86_400_000


class DriftKeeper(OnDuty):
    """Started and stopped with the leadership. What is usual is learned from the records, by each leader anew."""

    def __init__(self, store: Store, clock: Clock, name: str) -> None:
        self._store = store
        self._duty = Rounds(
            self.tick,
            EVERY_S,
            clock,
            f"{name}-drift",
            log=log,
            waits="drift is not looked for",
            begin=self._forget,  # what happened while others led is in no past
        )
        self._forget()

    def _forget(self) -> None:
        self._flows: dict[tuple[str, str], Flow] = {}
        self._ran: dict[tuple[str, str], int] = {}
        self._seen: dict[str, int] = {}  #: ids and ends of the last records
        self._since = 0

    def tick(self) -> int:
        """Take in what has ended since; how many figures have drifted.

        Raises:
            StoreUnavailable: nothing can be read or recorded now.
        """
        for task in self._ended():
            run = drift.run_of(task)
            if run is not None:
                key = (task.task_type, task.platform)
                self._flows.setdefault(key, Flow(*key)).add(run)
                self._ran[key] = run.at
        now = self._store.now_ms()
        for key in [key for key, at in self._ran.items() if at < now - GONE_MS]:
            del self._flows[key], self._ran[key]
        return self._tell(now)

    def _ended(self) -> list[Task]:
        """What has succeeded since the last round, oldest first."""
        looked_at = self._store.now_ms()
        terms = [equals("status", Status.SUCCEEDED)]
        if self._since:
            terms.append(Term(field="updated", op=">=", number=self._since - AGAIN_MS))
        most, found = MOST if self._since else AT_FIRST, list[Task]()
        query = Query(terms=tuple(terms), sort="updated", limit=PAGE, want_total=False)
        for page in pages(self._store.query, query, most):
            found += page.tasks
            if self._duty.stopped:
                break
        fresh = [task for task in found if task.task_id not in self._seen]
        # not the last end: where nothing ends any more, what ended last would be read again in every round
        self._since = looked_at
        self._seen = {task.task_id: task.updated_at for task in found if task.updated_at >= self._since - AGAIN_MS}
        return sorted(fresh, key=lambda task: (task.updated_at, task.task_id))

    def _tell(self, now: int) -> int:
        number = 0
        stored = self._store.documents(drift.KIND)
        wanted: dict[str, drift.Drifts] = {}
        for (task_type, platform), flow in self._flows.items():
            found = flow.found(now)
            if found.found:
                wanted[f"{task_type}:{platform}"] = found
                number += len(found.found)
        for name in stored.keys() - wanted.keys():
            self._store.remove_document(drift.KIND, name)
        for name, found in wanted.items():
            self._store.put_document(drift.KIND, name, drift.DOCUMENT.dump(found))
        return number
