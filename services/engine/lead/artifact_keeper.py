"""Removes the files of tasks whose records are gone: what a person can no longer look up, nobody can find."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Iterator

from services.domain.errors import ArtifactError, ConsoleError
from services.engine.lead.duty import DutyThread, OnDuty
from services.ports import ArtifactStore, Clock, Store

log = logging.getLogger(__name__)
#: tasks of one look, a look a second, and how long a place is left alone before the first and when all were looked at
BATCH, TICK_S, FIRST_S, REST_S = 50, 1.0, 60.0, 600.0
#: files may be older than the end of their attempt; so long a record that nobody removed may come back from a message
YOUNG_MS, LOST_MS = 3_600_000, 30 * 86_400_000


class ArtifactKeeper(OnDuty):
    """Every process that keeps files looks, leader or not: nobody else sees a folder of this machine.

    The janitor removes the records and leaves a tombstone of each; the files follow. Those of a record that vanished in
    another way (a store that was wiped) stay for a month. Two that share a place remove the same, which is safe.
    """

    def __init__(self, store: Store, artifacts: ArtifactStore, clock: Clock) -> None:
        self._store, self._artifacts, self._clock = store, artifacts, clock
        self._work: Iterator[tuple[str, bool]] | None = None
        self._next = clock.monotonic() + FIRST_S
        self._duty = DutyThread(self._run, "artifact-keeper")

    def tick(self) -> int:
        """Go on with some; the files of how many tasks are gone. Raises the errors of the store."""
        if self._work is None and self._clock.monotonic() < self._next:
            return 0
        try:
            self._work = self._work or self._candidates()
            chosen = list(itertools.islice(self._work, BATCH))
            gone = self._remove(chosen)
        except ArtifactError as exc:
            log.warning("files of removed tasks stay for now: %s", exc)
            chosen, gone = [], 0
        except BaseException:
            self._work = None
            raise
        if len(chosen) < BATCH:
            self._work, self._next = None, self._clock.monotonic() + REST_S
        return gone

    def _rest_s(self) -> float:
        return max(TICK_S, self._next - self._clock.monotonic())

    def _candidates(self) -> Iterator[tuple[str, bool]]:
        """Tasks, and whether only a tombstone lets their files go."""
        now = self._clock.now_ms()
        for task_id in self._artifacts.tasks(now - YOUNG_MS):
            yield task_id, True
        for task_id in self._artifacts.tasks(now - LOST_MS):
            yield task_id, False

    def _remove(self, chosen: list[tuple[str, bool]]) -> int:
        if not chosen:
            return 0
        ids = [task_id for task_id, _ in chosen]
        known = zip(chosen, self._store.get(ids), self._store.tombstones(ids), strict=True)
        gone = [
            task_id
            for (task_id, needs_stone), record, stone in known
            if record is None and (stone is not None or not needs_stone)
        ]
        for task_id in gone:
            self._artifacts.remove(task_id)
        return len(gone)

    def _run(self, stop: threading.Event) -> None:
        while not self._clock.wait(stop, TICK_S if self._work is not None else self._rest_s()):
            try:
                self.tick()
            except ConsoleError as exc:
                log.warning("artifact keeper: %s", exc)
            except Exception:  # the next look may go well, and nobody else sees these files
                log.exception("artifact keeper")
