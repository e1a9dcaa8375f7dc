"""Fills the Overview: numbers, shop cells and what needs a person, from snapshots and a few cheap questions."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

from services.domain.errors import ConsoleError
from services.domain.query import Query, equals
from services.domain.shop import SCOPE_ALL, Shop
from services.domain.status import TERMINAL, WAITING, Status, Triage
from services.domain.task import Task
from services.domain.worker import SILENT_AFTER_MS, WorkerInfo
from services.engine.registry import Registry
from services.monitor.causes import CauseQueries
from services.monitor.history import History, Sample
from services.monitor.live import Changes, Live, Snapshot
from services.monitor.overview import Attention, LaneDepth, OverviewNow, ShopCell
from services.ports import Clock, Store

STUCK_MS = 30 * 60_000
HOUR_MS = 3_600_000
ATTENTION_CAUSES = 6


class OverviewQueries:
    """``now`` and ``series`` block; call them off the GUI thread. Listens to the live feed between calls."""

    def __init__(
        self, store: Store, registry: Registry, live: Live, history: History, causes: CauseQueries, clock: Clock
    ) -> None:
        self._store, self._registry, self._live = store, registry, live
        self._history, self._causes, self._clock = history, causes, clock
        self._lock = threading.Lock()
        self._finished: dict[str, int] = {}
        self._waits: dict[str, int] = {}
        self._ends: dict[int, Counter[bool]] = {}  #: ends by second, True for succeeded
        self._begun = clock.now_ms()
        self._totals = Counter[bool]()
        self._primed = False
        self._oldest: Task | None = None
        live.on_changes(self._note)
        live.on_snapshot(self._sample)

    def series(self, range_s: int, max_points: int) -> Sequence[Sample]:
        """Samples of the last ``range_s`` seconds, oldest first."""
        return self._history.series(range_s, max_points, self._clock.now_ms())

    def now(self) -> OverviewNow:
        """Everything the page shows at this moment."""
        self._prime()
        snapshot = self._live.snapshot()
        counts = snapshot.counts
        oldest = self._oldest = self._ask_oldest()
        succeeded, failed = self._last_hour()
        waiting = self._store.now_ms() - oldest.created_at if oldest is not None else None
        slots = [slot for info in snapshot.workers for slot in info.slots]
        return OverviewNow(
            at_ms=snapshot.at_ms,
            lanes=_lanes(snapshot),
            status_counts=dict(counts.status),
            running=counts.status.get(Status.RUNNING, 0),
            slots_total=len(slots),
            # heartbeats are a second old; the counter of the same moment keeps the tile true to itself
            slots_busy=min(len(slots), counts.status.get(Status.RUNNING, 0)),
            dead_open=counts.triage.get(Triage.OPEN, 0),
            succeeded_1h=succeeded,
            failed_1h=failed,
            oldest_waiting_ms=waiting,
            oldest_waiting_shop=self._name(oldest.shop) if oldest is not None else None,
            retry_levels=self._retry_levels(),
            publish_rate=snapshot.rates.publish,
            deliver_rate=snapshot.rates.deliver,
            ack_rate=snapshot.rates.ack,
            shops=self._cells(snapshot),
            attention=self._attention(snapshot),
        )

    def _note(self, changes: Changes) -> None:
        with self._lock:
            for event in changes.events:
                if event.from_ == event.to:
                    continue
                shop = f"{event.platform}:{event.shop_id}"
                if event.to in (Status.SUCCEEDED, Status.DEAD):
                    good = event.to == Status.SUCCEEDED
                    self._count_end(event.at, good=good)
                    self._totals[good] += 1
                if event.to == Status.SUCCEEDED:
                    self._finished[shop] = event.at
                if event.to in (Status.PENDING, Status.RUNNING, Status.BLOCKED):
                    self._waits.setdefault(shop, event.at)
                elif event.to in TERMINAL:
                    self._waits.pop(shop, None)

    def _prime(self) -> None:
        """Learn from the records what ended before this program looked; later ends come with the feed."""
        if self._primed:
            return
        rows: list[Task] = []
        for status in (Status.SUCCEEDED, Status.DEAD):
            query = Query(terms=(equals("status", status),), sort="updated", limit=1000, want_total=False)
            rows += [task for task in self._store.query(query).tasks if task.ended_at < self._begun]
        with self._lock:
            for task in rows:
                if task.status == Status.SUCCEEDED:
                    self._finished.setdefault(task.shop, task.ended_at)
                self._count_end(task.ended_at, good=task.status == Status.SUCCEEDED)
        self._primed = True

    def _count_end(self, at: int, *, good: bool) -> None:
        self._ends.setdefault(at // 1000, Counter())[good] += 1

    def _last_hour(self) -> tuple[int, int]:
        start = (self._store.now_ms() - HOUR_MS) // 1000
        with self._lock:
            self._ends = {second: ends for second, ends in self._ends.items() if second >= start}
            good = sum(ends[True] for ends in self._ends.values())
            return good, sum(ends[False] for ends in self._ends.values())

    def _ask_oldest(self) -> Task | None:
        page = self._store.query(
            Query(terms=(equals("status", *sorted(WAITING)),), descending=False, limit=1, want_total=False)
        )
        return page.tasks[0] if page.tasks else None

    def _retry_levels(self) -> tuple[tuple[int, int], ...]:
        page = self._store.query(Query(terms=(equals("status", Status.RETRYING),), limit=500, want_total=False))
        levels = Counter(round((task.due_at - task.updated_at) / 1000) for task in page.tasks if task.due_at)
        return tuple(sorted(levels.items()))

    def _sample(self, snapshot: Snapshot) -> None:
        if not snapshot.store.connected or not snapshot.at_ms:
            return
        lanes = {lane.lane: lane for lane in _lanes(snapshot)}
        status = snapshot.counts.status
        oldest = self._oldest
        self._history.add(
            Sample(
                at_ms=snapshot.at_ms,
                high=_waiting(lanes["high"]),
                dedicated=_waiting(lanes["dedicated"]),
                normal=_waiting(lanes["normal"]),
                low=_waiting(lanes["low"]),
                unacked=sum(lane.unacked for lane in lanes.values()),
                running=status.get(Status.RUNNING, 0),
                retrying=status.get(Status.RETRYING, 0),
                dead=snapshot.counts.triage.get(Triage.OPEN, 0),
                publish=snapshot.rates.publish,
                deliver=snapshot.rates.deliver,
                ack=snapshot.rates.ack,
                succeeded=self._totals[True],
                failed=self._totals[False],
                oldest_waiting_s=(snapshot.at_ms - oldest.created_at) / 1000 if oldest is not None else 0.0,
            )
        )

    def _cells(self, snapshot: Snapshot) -> tuple[ShopCell, ...]:
        scopes = {pause.scope for pause in snapshot.pauses}
        now = snapshot.at_ms
        rows = []
        with self._lock:
            finished, waits = dict(self._finished), dict(self._waits)
        for shop in sorted(self._registry.shops().values(), key=lambda one: one.key):
            counts = snapshot.counts.shops.get(shop.key, {})
            since = max(waits.get(shop.key, now), finished.get(shop.key, 0))
            state = _state(counts, done=shop.key in finished, quiet_ms=now - since if shop.key in waits else 0)
            paused = bool(scopes & {SCOPE_ALL, f"platform:{shop.platform}", f"shop:{shop.key}"})
            rows.append(
                ShopCell(
                    platform=shop.platform,
                    shop_id=shop.shop_id,
                    name=shop.name or shop.shop_id,
                    state="paused" if paused else state,
                    under=state if paused else "",
                    waiting=sum(counts.get(status, 0) for status in WAITING),
                    running=counts.get(Status.RUNNING, 0),
                    dead=counts.get(Status.DEAD, 0),
                    detail="",
                )
            )
        return tuple(rows)

    def _attention(self, snapshot: Snapshot) -> tuple[Attention, ...]:
        return (
            *self._from_workers(snapshot),
            *self._from_broker(snapshot),
            *self._from_stuck(snapshot),
            *self._from_causes(),
        )

    def _from_stuck(self, snapshot: Snapshot) -> list[Attention]:
        stuck = [cell for cell in self._cells(snapshot) if cell.state == "stuck"]
        if not stuck:
            return []
        names = ", ".join(cell.name for cell in stuck[:3])
        since = min(self._waits.get(f"{cell.platform}:{cell.shop_id}", snapshot.at_ms) for cell in stuck)
        return [
            Attention(
                key="stuck",
                severity="stuck",
                code="attention.shops_stuck",
                params={"shops": len(stuck), "names": names, "more": max(0, len(stuck) - 3)},
                since_ms=since,
                verbs=(("open_tasks", f"shop:{stuck[0].platform}:{stuck[0].shop_id} status:active"),),
            )
        ]

    def _from_workers(self, snapshot: Snapshot) -> list[Attention]:
        now = snapshot.at_ms
        silent = [info for info in snapshot.workers if now - info.seen_at > SILENT_AFTER_MS and info.state != "stopped"]
        found = [
            Attention(
                key=f"silent:{info.worker}",
                severity="warning",
                code="attention.worker_silent",
                params={"worker": info.worker, "tasks": info.busy},
                since_ms=info.seen_at,
                verbs=(("open_worker", info.worker),),
            )
            for info in silent
        ]
        waiting = sum(snapshot.counts.status.get(status, 0) for status in WAITING)
        if waiting and not _alive(snapshot.workers, now):
            since = self._oldest.created_at if self._oldest is not None else now
            found.append(
                Attention(
                    key="no_workers",
                    severity="dead",
                    code="attention.no_workers",
                    params={"tasks": waiting},
                    since_ms=since,
                    verbs=(("open_workers", ""),),
                )
            )
        return found

    def _from_broker(self, snapshot: Snapshot) -> list[Attention]:
        found = []
        broker = snapshot.broker
        if broker.blocked:
            found.append(
                Attention(
                    key="blocked",
                    severity="blocked",
                    code="attention.publisher_blocked",
                    params={"tasks": snapshot.counts.status.get(Status.PENDING, 0)},
                    since_ms=broker.since_ms,
                    verbs=(("open_tasks", "status:pending"),),
                )
            )
        if not snapshot.leader and _alive(snapshot.workers, snapshot.at_ms):
            found.append(
                Attention(
                    key="no_leader", severity="warning", code="attention.no_leader", params={}, since_ms=0, verbs=()
                )
            )
        return found

    def _from_causes(self) -> list[Attention]:
        try:
            causes = self._causes.causes().rows
        except ConsoleError:
            return []
        return [
            Attention(
                key=f"cause:{cause.fingerprint}",
                severity="dead",
                code=f"attention.cause_{cause.scope}",
                params={
                    # equal errors of two task types are two causes; without the type they read alike
                    "headline": f"{cause.headline} · {cause.types[0]}" if cause.types else cause.headline,
                    "count": cause.count,
                    "shops": cause.shops,
                    "platform": ", ".join(cause.platforms),
                },
                since_ms=cause.last_at,
                verbs=(("triage", cause.fingerprint), ("open_tasks", f"status:dead fp:{cause.fingerprint}")),
            )
            for cause in causes[:ATTENTION_CAUSES]
        ]

    def _name(self, key: str) -> str:
        shop: Shop | None = self._registry.shops().get(key)
        return (shop.name or shop.shop_id) if shop is not None else key


def _lanes(snapshot: Snapshot) -> tuple[LaneDepth, ...]:
    by_name = {depth.name.removeprefix("rpa_tasks_"): depth for depth in snapshot.depths if depth.kind == "lane"}
    rows = []
    for lane in ("high", "dedicated", "normal", "low"):
        own = snapshot.counts.lanes.get(lane, {})
        depth = by_name.get(lane)
        unacked = depth.unacked if depth is not None else None
        rows.append(
            LaneDepth(
                lane=lane,
                ready=own.get(Status.QUEUED, 0) + own.get(Status.PENDING, 0),
                blocked=own.get(Status.BLOCKED, 0),
                unacked=own.get(Status.RUNNING, 0) if unacked is None else unacked,
                retrying=own.get(Status.RETRYING, 0),
            )
        )
    return tuple(rows)


def _waiting(lane: LaneDepth) -> int:
    return lane.ready + lane.blocked


def _state(counts: dict[str, int], *, done: bool, quiet_ms: int) -> str:
    if counts.get(Status.DEAD, 0):
        return "dead"
    if quiet_ms > STUCK_MS:
        return "stuck"
    if counts.get(Status.RETRYING, 0):
        return "retrying"
    if counts.get(Status.RUNNING, 0):
        return "running"
    return "healthy" if done or counts else "idle"


def _alive(workers: Sequence[WorkerInfo], now: int) -> bool:
    return any(info.state == "running" and now - info.seen_at <= SILENT_AFTER_MS for info in workers)
