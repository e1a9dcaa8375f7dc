"""What a worker does beside its tasks: renew leases, say that it lives, hear orders, show progress and logs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from services.domain.change import UNREADABLE, Answer, Op, Progress, Renew
from services.domain.errors import StoreError
from services.domain.fleet.worker import Heard, WorkerInfo
from services.engine import recipe
from services.engine.steps import Steps
from services.ports import Clock, LogLine, Store
from services.workers.slots import ClaimedTask

log = logging.getLogger(__name__)
BEAT_S = 1.0
#: so often the clock of this machine is compared with that of the fleet
AGREE_S = 30.0
#: who watches a flow sees a line within a second of its printing: a quarter of it until it is stored
LOG_S = 0.25


class Keeper:
    """Two threads that never run task code, so that a busy task cannot make its worker look dead.

    One does nothing but renew leases: what else is asked of a store behind a slow line may take longer than a lease.
    """

    def __init__(
        self,
        store: Store,
        steps: Steps,
        clock: Clock,
        *,
        claimed: Callable[[], list[ClaimedTask]],
        info: Callable[[], WorkerInfo],
        hear: Callable[[Heard], None],
        lease_s: float,
        name: str,
    ) -> None:
        self._store, self._steps, self._clock = store, steps, clock
        self._claimed, self._info, self._hear = claimed, info, hear
        self._lease_s = lease_s
        self._renewed = self._agreed = clock.monotonic()
        self._answers = True
        self._life = self._renewed_in = ""  #: which data of the store were met last, and last renewed in
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._keep_leases, name=f"{name}-leases", daemon=True),
            threading.Thread(target=self._loop, name=f"{name}-keeper", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Leave after the present beat."""
        self._stop.set()
        for thread in self._threads:
            thread.join(10.0)

    def flush(self, claimed: ClaimedTask) -> None:
        """Store the log lines of one attempt now."""
        lines, claimed.lines = claimed.lines, []
        if not lines:
            return
        try:
            self._store.append_log(claimed.task.task_id, claimed.task.attempt, [LogLine(*line) for line in lines])
        except StoreError as exc:
            log.warning("%d log lines of %s are lost: %s", len(lines), claimed.task.task_id, exc)

    def _keep_leases(self) -> None:
        while not self._clock.wait(self._stop, BEAT_S):
            due = self._clock.monotonic() - self._renewed >= self._lease_s / 4
            if not due and self._renewed_in == self._life:
                continue
            try:
                self._renew()
            except StoreError as exc:
                log.warning("leases are not renewed: %s", exc)
            except Exception:  # without this thread every lease of the worker runs out
                log.exception("leases")

    def _loop(self) -> None:
        beat = self._clock.monotonic()
        while not self._clock.wait(self._stop, LOG_S):
            try:
                if self._answers:  # lines are kept while the store is silent
                    self._logs()
                    self._show_stopping()
                if self._clock.monotonic() - beat >= BEAT_S - LOG_S / 2:
                    beat = self._clock.monotonic()
                    self._beat()
            except StoreError as exc:
                self._answers = False
                log.warning("heartbeat is late: %s", exc)
            except Exception:  # without this thread the worker is given up as dead
                log.exception("heartbeat")

    def _beat(self) -> None:
        if self._clock.monotonic() - self._agreed >= AGREE_S:
            self._clock.agree(self._store.now_ms())
            self._agreed = self._clock.monotonic()
        self._show(self._claimed())
        heard = self._store.heartbeat(self._info())
        self._answers, self._life = True, heard.life
        self._hear(heard)

    def _show_stopping(self) -> None:
        """At once: the grace of a flow that is asked to end may be no longer than a beat."""
        claimed = [one for one in self._claimed() if one.stopping and not one.stopping_shown]
        if claimed:
            self._show(claimed)

    def _logs(self) -> None:
        for one in self._claimed():
            if one.lines:
                self.flush(one)

    def _renew(self) -> None:
        claimed, lease_ms, began = self._claimed(), round(self._lease_s * 1000), self._clock.monotonic()
        life = self._life
        ops: list[Op] = [_renewal(one, lease_ms) for one in claimed]
        answers = self._steps.apply(ops)
        for one, answer in zip(claimed, self._recovered(claimed, ops, answers), strict=True):
            if answer.code == UNREADABLE:  # whether it is still ours, its end will tell
                continue
            if answer.code != "ok":
                one.cancel("lost")
            elif answer.task is not None and answer.task.cancel:
                one.cancel("requested")
        self._renewed, self._renewed_in = began, life

    def _recovered(
        self, claimed: Sequence[ClaimedTask], ops: Sequence[Op], answers: Sequence[Answer]
    ) -> Sequence[Answer]:
        """The same, with those tasks recorded again whose records the store has lost: what they do goes on."""
        doubted = [place for place, answer in enumerate(answers) if answer.code == "fenced"]
        if not doubted:
            return answers
        records = self._store.get([claimed[place].task.task_id for place in doubted])
        lost = [place for place, record in zip(doubted, records, strict=True) if record is None]
        again: list[Op] = [op for place in lost for op in (recipe.begun(claimed[place].task), ops[place])]
        found = dict(zip(lost, self._steps.apply(again)[1::2], strict=True))
        return [found.get(place, answer) for place, answer in enumerate(answers)]

    def _show(self, claimed: list[ClaimedTask]) -> None:
        ops: list[Op] = []
        for one in claimed:
            news, one.progress = one.progress, None
            stopping = one.stopping and not one.stopping_shown
            if news is None and not stopping:
                continue
            one.shown = news[0] if news is not None else one.shown
            one.stopping_shown = one.stopping_shown or stopping
            ops.append(
                Progress(
                    task_id=one.task.task_id,
                    owner=one.owner,
                    progress=one.shown,
                    note=news[1] if news is not None else "",
                    stopping=stopping,
                )
            )
        self._steps.apply(ops)


def _renewal(claimed: ClaimedTask, lease_ms: int) -> Renew:
    task = claimed.task
    return Renew(
        task_id=task.task_id,
        owner=claimed.owner,
        lease_ms=lease_ms,
        attempt=task.attempt,
        worker=task.worker,
        started_at=task.started_at,
    )
