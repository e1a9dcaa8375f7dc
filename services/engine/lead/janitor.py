"""The janitor: removes records whose time is over, a few at a time, so that nobody waits for it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import msgspec

from services.domain.change import Forget, Op
from services.domain.step.transitions import NOTICED
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from services.engine.steps import Steps
from services.ports import Clock, Store

log = logging.getLogger(__name__)
DAY_MS = 86_400_000
#: records of one call, what one tick may take, and how long all is left alone once there was nothing to remove
BATCH, TICK_S, REST_S = 100, 0.1, 60.0
#: how long a task is kept at least whose message may still come out of its lane: it must be known that it has ended
NOTICED_MS = 30 * DAY_MS


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long what has ended is kept, in milliseconds since its last change; 0 keeps it for ever."""

    finished_ms: int = 3 * DAY_MS  #: succeeded and cancelled tasks
    finished_count: int = 1_000_000  #: and at most so many of each, the newest; 0 for no limit
    tombstone_ms: int = 30 * DAY_MS  #: after the record; 0 keeps none
    open_ms: int = 0  #: dead letters by what a person did about them
    republished_ms: int = 90 * DAY_MS
    archived_ms: int = 90 * DAY_MS
    ignored_ms: int = 30 * DAY_MS


class _Duty(msgspec.Struct, frozen=True):
    """Records of one status that have not changed since an instant, ``most`` of them."""

    status: str
    triage: str
    before: int
    most: int | None = None


class Janitor:
    """One ``tick`` does a little; the leader calls it about once a second."""

    def __init__(self, store: Store, steps: Steps, clock: Clock, retention: Retention | None = None) -> None:
        self._store, self._steps, self._clock, self._keep = store, steps, clock, retention or Retention()
        self._work: Iterator[int] | None = None
        self._rest_until = clock.monotonic()
        self.removed = 0

    def tick(self) -> int:
        """Go on for a moment; how many records are gone. Raises only the errors of the store."""
        now = self._clock.monotonic()
        if self._work is None and now < self._rest_until:
            return 0
        gone = 0
        try:
            self._work = self._work or self._round()
            for removed in self._work:
                gone += removed
                if self._clock.monotonic() - now >= TICK_S:
                    break
            else:
                self._work, self._rest_until = None, self._clock.monotonic() + REST_S
        except BaseException:
            self._work = None  # a generator that raised is over; the next one begins anew
            raise
        self.removed += gone
        if gone:
            log.debug("%d records that ended long ago are removed", gone)
        return gone

    def _round(self) -> Iterator[int]:
        """All duties once, in small steps; each step's number of removed records."""
        now = self._store.now_ms()
        for duty in self._by_age(now):
            yield from self._remove(duty)
        for duty in self._by_count(now):
            yield from self._remove(duty)
        while self._store.tidy():
            yield 0

    def _by_age(self, now: int) -> Iterator[_Duty]:
        keep = self._keep
        for status, triage, age in (
            (Status.SUCCEEDED, "", keep.finished_ms),
            (Status.CANCELLED, "", keep.finished_ms),
            (Status.DEAD, Triage.REPUBLISHED, keep.republished_ms),
            (Status.DEAD, Triage.OVERTAKEN, keep.republished_ms),
            (Status.DEAD, Triage.ARCHIVED, keep.archived_ms),
            (Status.DEAD, Triage.IGNORED, keep.ignored_ms),
            (Status.DEAD, Triage.OPEN, keep.open_ms),
        ):
            if age > 0:
                yield _Duty(status, triage, now - age)

    def _by_count(self, now: int) -> Iterator[_Duty]:
        if not self._keep.finished_count:
            return
        counts = self._store.counts().status
        for status in (Status.SUCCEEDED, Status.CANCELLED):
            more = counts.get(status, 0) - self._keep.finished_count
            if more > 0:
                yield _Duty(status, "", now, more)

    def _remove(self, duty: _Duty) -> Iterator[int]:
        left = duty.most
        cursor: str | None = ""
        while cursor is not None and left != 0:
            limit = BATCH if left is None else min(BATCH, left)
            page = self._store.ended(duty.status, duty.triage, duty.before, limit, cursor)
            cursor = page.next
            gone = self._forget(page.tasks)
            left = None if left is None else left - gone
            yield gone

    def _forget(self, tasks: tuple[Task, ...]) -> int:
        now = self._store.now_ms()
        ops: list[Op] = [
            Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=self._keep.tombstone_ms)
            for task in tasks
            if NOTICED not in task.marks or task.updated_at <= now - NOTICED_MS
        ]
        return sum(answer.code == "ok" for answer in self._steps.apply(ops))
