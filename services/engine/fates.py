"""How the workers stand: heartbeats, and for those that are not heard of what became of each task they held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import publisher
from services.domain.insight import worker as insight
from services.domain.insight.publisher import PublisherNow
from services.domain.insight.worker import Fate, FleetNow
from services.domain.task.order import BrokerHealth
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.engine import farewells
from services.engine.lead import leader, leader_link
from services.ports import Store

#: so many late workers are followed, those that were heard of last, and so many tasks of theirs
LATE, FOLLOWED = 100, 2_000


class Fates:
    """Follows the tasks of late workers; it remembers which ones they were, for after a take-over only the heartbeat
    still tells.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[str, dict[str, int]] = {}  #: by worker: task and attempt

    def find(self, workers: Sequence[WorkerInfo], now_ms: int) -> Mapping[str, tuple[Fate, ...]]:
        """What became of the tasks of each late worker that is followed, by its name. Blocking: two questions, however
        many are late, and none while all are heard of.
        """
        missed = (info for info in workers if insight.missed(info, now_ms))
        late = sorted(missed, key=lambda info: -info.seen_at)[:LATE]
        self._held = {info.worker: self._held.get(info.worker, {}) for info in late}
        self._note(late)
        wanted = [(name, task_id) for name, held in self._held.items() for task_id in held][:FOLLOWED]
        tasks = self._store.get([task_id for _, task_id in wanted]) if wanted else []
        found: dict[str, list[Fate]] = {info.worker: [] for info in late}
        for (name, task_id), task in zip(wanted, tasks, strict=True):
            fate = insight.fate_of(task, name, self._held[name][task_id], now_ms) if task is not None else None
            if fate is not None:
                found[name].append(fate)
        return {name: tuple(fates) for name, fates in found.items()}

    def _note(self, late: Sequence[WorkerInfo]) -> None:
        """The tasks of their last heartbeats, and those that they claimed after that."""
        if not late:
            return
        for info in late:
            for slot in info.slots:
                if slot.task_id:
                    self._held[info.worker].setdefault(slot.task_id, slot.attempt)
        began = {info.worker: info.started_at for info in late}
        terms = (equals("worker", *began), equals("status", Status.RUNNING, Status.HELD))
        for task in self._store.query(Query(terms=terms, limit=FOLLOWED, want_total=False)).tasks:
            if task.updated_at >= began.get(task.worker, task.updated_at + 1):
                self._held[task.worker].setdefault(task.task_id, task.attempt)


def way(store: Store, now_ms: int, leads: str, health: BrokerHealth | None = None) -> PublisherNow:
    """The way to the broker as workers and the leader tell it, and this process where it has one. Blocking."""
    return publisher.look(
        health or BrokerHealth(connected=True),
        store.workers(),
        now_ms,
        unsent=store.counts().unsent,
        others=leader_link.links(store, leads),
    )


def unheard(store: Store, task: Task) -> tuple[Message, ...]:
    """Why nobody knows whether a task still runs, and what becomes of it when; () where that is known. Blocking."""
    if task.status != Status.RUNNING:
        return ()
    now = store.now_ms()
    return insight.unheard(task, insight.look(store.workers(), now), now, store.leader(leader.ROLE))


def look(store: Store) -> FleetNow:
    """The workers at this moment. Blocking."""
    workers, now = store.workers(), store.now_ms()
    left = farewells.asked_for(store, workers, now)
    return insight.look(workers, now, Fates(store).find(workers, now), leader=store.leader(leader.ROLE), farewell=left)
