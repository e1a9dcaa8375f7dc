"""What a working process runs beside its workers: the candidate for leader with reconciler and archiver."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from services.domain.task import retry
from services.engine.homes import Homes
from services.engine.lead.archiver import Archiver
from services.engine.lead.artifact_keeper import ArtifactKeeper
from services.engine.lead.cause_keeper import CauseKeeper
from services.engine.lead.duty import LEAVE_S, together
from services.engine.lead.fitness import Fitness
from services.engine.lead.janitor import Janitor, Retention
from services.engine.lead.leader import Leader
from services.engine.lead.leader_link import LinkNote
from services.engine.lead.ledger_keeper import LedgerKeeper
from services.engine.lead.notice_reader import NoticeReader
from services.engine.lead.payload_indexer import PayloadIndexer
from services.engine.lead.reconcile import LEASE_S, Reconciler
from services.engine.lead.results import ResultRelay
from services.engine.lead.run_keeper import RunKeeper
from services.engine.lead.shop_queues import ShopQueues
from services.engine.notices import Notices
from services.engine.quiet import QuietKeeper
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.engine.work_queue import WorkQueue
from services.engine.zone import found_zone
from services.ports import ArtifactStore, Broker, Clock, Store
from services.workers.parts import WorkerOptions, WorkerParts
from services.workers.worker import Worker


class Duty(Protocol):
    """What runs in a thread of its own while this process leads."""

    def start(self) -> None: ...
    def stop(self) -> None: ...


class Steward:
    """Leads when nobody else does: reconciler, archiver, scheduler and janitor of the fleet."""

    def __init__(
        self,
        store: Store,
        broker: Broker,
        steps: Steps,
        registry: Registry,
        clock: Clock,
        *,
        policy: retry.RetryPolicy,
        holder: str,
        results: bool = False,
        scheduler: Duty | None = None,
        foreign_consumers: bool = False,
        lifo: Container[str] = (),
        retention: Retention | None = None,
        artifacts: ArtifactStore | None = None,
        lease_s: float = LEASE_S,
        disk: Callable[[], str] = lambda: "",
        notices: Notices | None = None,
        queues: Mapping[str, WorkQueue] | None = None,
        watchers: Sequence[Duty] = (),
        always: Sequence[Duty] = (),
        zone: Callable[[], str] = lambda: "",
    ) -> None:
        """``results``: tell other programs how tasks ended, where the broker has room for other programs.
        ``foreign_consumers``: some of them take tasks too. ``lifo``: lanes in which the youngest task goes first.
        ``disk``: why what this process writes is not kept, "" while it is. ``notices``: of what other programs send.
        ``queues``: those of other programs, by name, whose messages become tasks.
        ``artifacts``: where this process keeps files; they go when their records are gone, whoever leads.
        ``watchers``: what watches the fleet for people. ``always``: the same as long as this process is a candidate,
        which finds out itself whether it is its turn. ``zone``: of this machine, for a fleet that has none yet.
        """
        self._store, self._zone = store, zone
        self.files = ArtifactKeeper(store, artifacts, clock) if artifacts is not None else None
        self.reconciler = Reconciler(
            store, broker, steps, registry, clock, policy,
            foreign_consumers=foreign_consumers, lifo=lifo, lease_s=lease_s,
        )  # fmt: skip
        self.link = LinkNote(store, broker, holder)
        self.shop_queues = ShopQueues(store, broker, steps, registry, clock)
        self.homes = Homes(store, steps, clock)
        self.quiet = QuietKeeper(store, clock)
        self.causes = CauseKeeper(store, steps, clock)
        self.runs = RunKeeper(store, clock)
        self.janitor = Janitor(store, steps, clock, retention)
        self.archiver = Archiver(store, broker, steps, registry, clock, holder)
        self.results = ResultRelay(store, broker, clock, holder) if results else None
        self.notices = NoticeReader(notices, clock, holder, beside=notices.look_beside) if notices is not None else None
        taken = [NoticeReader(one, clock, f"{holder}-{name}") for name, one in (queues or {}).items()]
        ledger = LedgerKeeper(store, clock)
        duties: tuple[Duty | None, ...] = (
            self.archiver,
            self.results,
            scheduler,
            self.notices,
            ledger,
            PayloadIndexer(store, clock),
            *taken,
            *watchers,
        )
        self._always = tuple(always)
        self._duties = tuple(duty for duty in duties if duty is not None)
        self._closing = False
        self.leader = Leader(
            store,
            clock,
            holder,
            tick=self._tick,
            lead=self._lead,
            follow=self._follow,
            fitness=Fitness(broker, clock, disk),
            told=self.link.resigned,
        )

    def _tick(self) -> None:
        self.link.tick()
        self.reconciler.tick()
        self.shop_queues.tick()
        self.homes.tick()
        self.quiet.tick()
        self.causes.tick()
        self.runs.tick()
        self.janitor.tick()

    def _lead(self) -> None:
        if self._closing:
            return
        self.link.forget()
        for duty in self._duties:
            duty.start()
        found_zone(self._store, self._zone())  # last: a store that fails here keeps no duty from its start

    def _follow(self) -> None:
        if self._closing:
            together([duty.stop for duty in self._duties], 0.0)  # asked before; those that began since are asked now
            return
        for duty in self._duties:
            duty.stop()

    def start(self) -> None:
        """Become a candidate."""
        self.leader.start()
        for watch in self._always:
            watch.start()
        if self.files is not None:
            self.files.start()

    def close(self, grace_s: float = LEAVE_S) -> None:
        """Stop leading and hand over, which comes last: nobody else shall begin what still goes on here. All are asked
        to end at once and get so long; what computes longer is left to itself, and does no more than it began.
        """
        self._closing = True
        self.leader.ask()
        files = [self.files.stop] if self.files is not None else []
        watches = [duty.stop for duty in (*self._always, *self._duties)]
        together([*files, *watches], grace_s / 2)
        self.leader.close(grace_s / 2)


class LocalWorkers:
    """Workers inside this process, started and stopped by an operator; at most one at a time."""

    def __init__(self, parts: WorkerParts, options: WorkerOptions) -> None:
        self._parts, self._options = parts, options
        self._worker: Worker | None = None
        self._leaving: tuple[Worker, ...] = ()  #: told to stop from elsewhere: their tasks have their grace
        self._lock = threading.Lock()

    @property
    def worker(self) -> Worker | None:
        """The running worker."""
        return self._worker

    @property
    def busy(self) -> tuple[Worker, ...]:
        """Those that may still have tasks: the running worker, and what was told to stop and has not ended yet."""
        worker = self._worker  # without the lock, which a start holds while the broker is silent; and before the others
        leaving = self._leaving
        return leaving if worker is None or worker in leaving else (*leaving, worker)

    def _all(self) -> tuple[Worker, ...]:
        return self._leaving if self._worker is None else (*self._leaving, self._worker)

    def start(self, slots: int, lanes: tuple[str, ...] = ("high", "normal", "low")) -> Worker:
        """Start working here; does nothing more when a worker runs already."""
        with self._lock:
            if self._worker is not None and self._worker.state != "stopped":
                return self._worker
            options = replace(self._options, slots=slots, lanes=lanes)
            worker = Worker(self._parts, options)
            worker.start()
            self._worker = worker
            threading.Thread(target=self._obey, args=(worker,), name=f"{worker.name}-orders", daemon=True).start()
            return worker

    def stop(self, grace_s: float | None = None) -> bool:
        """Stop working here; unstarted work goes back, running work gets its grace, also of a worker that leaves."""
        with self._lock:
            ending, self._worker = self._all(), None
        clean = [worker.stop(grace_s) for worker in ending]  # each, whatever the others left
        return all(clean)

    def close(self, grace_s: float | None = None) -> bool:
        """Stop for good: the children that handlers ran in end too."""
        clean = self.stop(grace_s)
        for executor in self._parts.executors.values():
            executor.close()
        return clean

    def _obey(self, worker: Worker) -> None:
        """An operator elsewhere may order this worker to stop: then it has to leave, not only to stop taking."""
        worker.wait_stop_ordered(None)
        with self._lock:
            if self._worker is not worker:
                return  # who took it away stops it
            self._leaving = (*self._leaving, worker)  # first: at each moment it stands in one of both
            self._worker = None
        try:
            worker.stop()
        finally:
            with self._lock:
                self._leaving = tuple(one for one in self._leaving if one is not worker)
