"""Fills the Overview: numbers, shop cells and what needs a person, from snapshots and a few cheap questions."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import structs

from services.domain.errors import StoreUnavailable
from services.domain.insight import attempts, depth, shop
from services.domain.insight.forecast import flow
from services.domain.past.marks import Mark, gathered
from services.domain.task.record import Task
from services.domain.task.search.query import Counts, Query, equals
from services.domain.task.status import WAITING, Status, Triage
from services.engine.registry import Registry
from services.monitor.attention import AttentionFinder, BrokenRun
from services.monitor.forecast.flow import FlowQueries, numbers
from services.monitor.history import History, Sample
from services.monitor.letters.causes import CauseQueries
from services.monitor.live import Live, Snapshot
from services.monitor.overview import DUE, RETRIES, OverviewNow
from services.monitor.past.joined import joined
from services.monitor.past.queries import PastQueries
from services.monitor.shops.states import ShopStates
from services.ports import Clock, Store

SAMPLE_EVERY_MS = 800
#: of less than this the samples of this window tell enough; rows of the recorder at most; marks side by side at most
LATELY_S, RECORDED, MARKS = 60, 2_000, 40
#: for so long a look is made again until nothing changed meanwhile; a fleet that never stands still is told as it was,
#: and not looked at twice again until it does
AGREE_S = 0.1


class OverviewQueries:
    """``now`` and ``series`` block; call them off the GUI thread. Listens to the live feed between calls."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        live: Live,
        history: History,
        causes: CauseQueries,
        clock: Clock,
        states: ShopStates | None = None,
        broken_run: Callable[[], BrokenRun | None] = lambda: None,
        past: PastQueries | None = None,
    ) -> None:
        """``states``: what others learn of the shops too, so that all screens know the same; ``broken_run`` tells of a
        bulk republish that ended in the middle; ``past``: the flight recorder, which knows what no window has seen.
        """
        self._past = past
        self._store, self._registry, self._live = store, registry, live
        self._history, self._clock = history, clock
        self._stands_still = True  #: whether nothing was counted otherwise between the last two looks
        self._shops = states or ShopStates(store, registry)
        self._attention = AttentionFinder(store, causes, clock, registry.shop_name, registry, broken_run, apart=True)
        self._flow = FlowQueries(store, registry, live.meter, clock)
        self._oldest: Task | None = None
        self._sampled_ms = 0
        self._shops.follow(live)
        causes.follow(live)
        live.on_snapshot(self._sample)

    def series(self, range_s: int, max_points: int) -> Sequence[Sample]:
        """Samples of the last ``range_s`` seconds, oldest first; what this window has not seen is taken from the flight
        recorder, where it lies on this machine.
        """
        now = self._live.now_ms()
        seen = self._history.series(range_s, max_points, now)
        if self._past is None or range_s <= LATELY_S:
            return seen
        with contextlib.suppress(StoreUnavailable):  # looking back tells it; the charts show what is known besides
            return joined(seen, self._past.series(now - range_s * 1000, now, RECORDED))
        return seen

    def marks(self, range_s: int) -> tuple[Mark, ...]:
        """What the charts of the last ``range_s`` seconds mark; so few that each can be told from the next."""
        now = self._live.now_ms()
        if self._past is None:
            return ()
        with contextlib.suppress(StoreUnavailable):  # the curves are worth having without them
            return gathered(self._past.marks(now - range_s * 1000, now), range_s * 1000 // MARKS)
        return ()

    def now(self) -> OverviewNow:
        """Everything the page shows, of one moment: what changed while it was asked is asked again, where that is
        cheap.
        """
        self._shops.prime()
        snapshot, begun = self._live.snapshot(), self._clock.monotonic()
        if not snapshot.at_ms or not snapshot.store.connected:
            return self._of(snapshot)
        patience = AGREE_S if self._stands_still else 0.0
        # as it is when it is asked, not as it was at the snapshot
        seen, snapshot = snapshot.counts, self._counted(snapshot)
        self._stands_still = _same(seen, snapshot.counts)
        while True:
            found = self._of(snapshot)
            if not self._stands_still and not patience:
                return found
            if self._store.events("", 1, 0.0).cursor == snapshot.counts.cursor:
                self._stands_still = True  # without an event nothing is counted otherwise
                return found
            after = self._counted(snapshot)
            self._stands_still = _same(after.counts, snapshot.counts)
            if self._stands_still or self._clock.monotonic() - begun >= patience:
                return found
            snapshot = after

    def _counted(self, snapshot: Snapshot) -> Snapshot:
        """The same, counted now, and what workers hold with it: one tile must not tell of fewer messages with them than
        another of tasks that they run.
        """
        counts = self._store.counts()
        depths = depth.moved_on(snapshot.depths, snapshot.counts, counts)
        return dataclasses.replace(snapshot, counts=counts, depths=depths, at_ms=self._live.now_ms())

    def _of(self, seen: Snapshot) -> OverviewNow:
        oldest = self._oldest = self._ask_oldest()
        retrying = self._retrying()
        snapshot = self._attention.agreed(seen)
        shops, flow_now = self._shops.shops(snapshot), self._flow.look(snapshot)
        return OverviewNow(
            **self._numbers(snapshot),
            flow=flow_now,
            oldest_waiting_shop=self._registry.shop_name(oldest.shop) if oldest is not None else None,
            retry_levels=_levels(retrying, snapshot.at_ms),
            retry_last=sum(attempts.last(task) is not None for task in retrying),
            shops=shops,
            attention=self._attention.find(snapshot, shops, oldest, flow_now),
            owed_s=self._attention.owed_s,
        )

    def fresh(self, now: OverviewNow) -> OverviewNow:
        """The same with what is known of the servers at this moment; its numbers stay those of its own. Asks nobody, so
        any thread may call it.
        """
        snapshot = self._live.snapshot()
        before, told = now.flow.facts, numbers(snapshot)
        names = ("store", "writes", "broker", "blocked")
        servers = {name: getattr(told, name) for name in names}
        if servers == {name: getattr(before, name) for name in names}:
            return now if now.told == snapshot.told else structs.replace(now, told=snapshot.told)
        facts = structs.replace(before, known=before.known or told.known, **servers)
        shops = now.shops
        if before.store and not told.store:
            shops = tuple(shop.unknown(one, shop.NO_STORE) for one in shops)
        return structs.replace(now, flow=flow.again(now.flow, facts), shops=shops, told=snapshot.told)

    def _numbers(self, snapshot: Snapshot) -> Mapping[str, Any]:
        counts, oldest = snapshot.counts, self._oldest
        succeeded, failed, since = self._shops.last_hour(snapshot.at_ms)
        running = counts.status.get(Status.RUNNING, 0)
        fleet = snapshot.fleet()
        lanes = depth.lanes(counts, snapshot.depths)
        return {
            "at_ms": snapshot.at_ms,
            "lanes": lanes,
            "told": snapshot.told,
            "ahead": depth.ahead(lanes, snapshot.workers, told=depth.unacked_told(snapshot.depths)),
            "status_counts": dict(counts.status),
            "running": running,
            "slots_total": fleet.slots,
            "slots_busy": min(fleet.slots, fleet.busy),
            "dead_open": counts.triage.get(Triage.OPEN, 0),
            "succeeded_1h": succeeded,
            "failed_1h": failed,
            "ended_since_ms": since,
            "oldest_waiting_ms": max(0, snapshot.at_ms - oldest.created_at) if oldest is not None else None,
        }

    def _ask_oldest(self) -> Task | None:
        page = self._store.query(
            Query(terms=(equals("status", *sorted(WAITING)),), descending=False, limit=1, want_total=False)
        )
        return page.tasks[0] if page.tasks else None

    def _retrying(self) -> Sequence[Task]:
        if not self._live.snapshot().counts.status.get(Status.RETRYING, 0):
            return ()
        return self._store.query(
            Query(terms=(equals("status", Status.RETRYING),), limit=RETRIES, want_total=False)
        ).tasks

    def _sample(self, snapshot: Snapshot) -> None:
        if not snapshot.store.connected or snapshot.at_ms - self._sampled_ms < SAMPLE_EVERY_MS:
            return
        self._sampled_ms = snapshot.at_ms
        told = snapshot.told
        # what the broker holds is not known while it is lost, so what it said last is not kept as if it said it again
        rows = depth.lanes(snapshot.counts, snapshot.depths) if told else ()
        lanes = {lane.lane: lane.depth for lane in rows}
        status = snapshot.counts.status
        oldest = self._oldest
        self._history.add(
            Sample(
                at_ms=snapshot.at_ms,
                **lanes,
                unacked=sum(lane.unacked for lane in rows),
                running=status.get(Status.RUNNING, 0),
                retrying=status.get(Status.RETRYING, 0),
                dead=snapshot.counts.triage.get(Triage.OPEN, 0),
                publish=snapshot.rates.publish,
                deliver=snapshot.rates.deliver,
                ack=snapshot.rates.ack,
                succeeded=self._shops.succeeded,
                failed=self._shops.failed,
                oldest_waiting_s=max(0, snapshot.at_ms - oldest.created_at) / 1000 if oldest is not None else 0.0,
                told=told,
                waiting=sum(status.get(one, 0) for one in WAITING),
            )
        )


def _same(one: Counts, other: Counts) -> bool:
    """Whether they count the same; an event may have changed nothing that is counted."""
    return structs.replace(one, cursor="") == structs.replace(other, cursor="")


def _levels(retrying: Sequence[Task], now_ms: int) -> tuple[tuple[int, int], ...]:
    """How many wait for how long, by the seconds of the delay; those whose delay is over are back in their lanes."""
    levels = Counter(
        round((task.due_at - task.updated_at) / 1000) if task.due_at > now_ms else DUE
        for task in retrying
        if task.due_at
    )
    return tuple(sorted(levels.items()))
