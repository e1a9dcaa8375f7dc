"""How each shop does: what it finished last, since when it waits, and how the last hour ended; learnt from events."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from services.domain.breaker import Breaker
from services.domain.query import Query, equals
from services.domain.session import ClosedSession
from services.domain.shop import SCOPE_ALL, Shop
from services.domain.status import TERMINAL, WAITING, Status
from services.domain.task import Task
from services.engine.registry import Registry
from services.monitor.live import Changes, Snapshot
from services.monitor.overview import ShopCell
from services.ports import Store

STUCK_MS = 30 * 60_000
HOUR_S = 3600
PRIMED = 1000


class LastHour:
    """Good and bad ends of the last hour, by second. Not thread-safe."""

    def __init__(self) -> None:
        self._seconds: deque[list[int]] = deque()  #: second, good, bad
        self._good = self._bad = 0

    def add(self, at_ms: int, *, good: bool) -> None:
        """Count one end; an instant before the newest counts with the newest."""
        second = at_ms // 1000
        if not self._seconds or second > self._seconds[-1][0]:
            self._seconds.append([second, 0, 0])
        self._seconds[-1][1 if good else 2] += 1
        self._good, self._bad = self._good + good, self._bad + (not good)

    def prepend(self, ends: Iterable[tuple[int, bool]]) -> None:
        """Count ends (UTC ms, good) that are older than all counted so far."""
        for at_ms, good in sorted(ends, reverse=True):
            second = at_ms // 1000
            if not self._seconds or second < self._seconds[0][0]:
                self._seconds.appendleft([second, 0, 0])
            self._seconds[0][1 if good else 2] += 1
            self._good, self._bad = self._good + good, self._bad + (not good)

    def counts(self, now_ms: int) -> tuple[int, int]:
        """Good and bad ends of the hour before this instant."""
        edge = now_ms // 1000 - HOUR_S
        while self._seconds and self._seconds[0][0] < edge:
            _second, good, bad = self._seconds.popleft()
            self._good, self._bad = self._good - good, self._bad - bad
        return self._good, self._bad


class ShopStates:
    """Thread-safe. ``note`` takes the feed, ``prime`` learns once what happened before."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry = store, registry
        self._lock = threading.Lock()
        self._finished: dict[str, int] = {}
        self._waits: dict[str, int] = {}
        self._hour = LastHour()
        self._begun = store.now_ms()
        self._primed = False
        self.succeeded = self.failed = 0  #: ends seen since the start

    def note(self, changes: Changes) -> None:
        """Take in events."""
        with self._lock:
            for event in changes.events:
                if event.from_ == event.to:
                    continue
                shop = f"{event.platform}:{event.shop_id}"
                if event.to in (Status.SUCCEEDED, Status.DEAD):
                    good = event.to == Status.SUCCEEDED
                    self._hour.add(event.at, good=good)
                    self.succeeded, self.failed = self.succeeded + good, self.failed + (not good)
                if event.to == Status.SUCCEEDED:
                    self._finished[shop] = event.at
                if event.to in (Status.PENDING, Status.RUNNING, Status.BLOCKED):
                    self._waits.setdefault(shop, event.at)
                elif event.to in TERMINAL:
                    self._waits.pop(shop, None)

    def prime(self) -> None:
        """Learn from the records what ended or began to wait before this program looked. Blocking."""
        if self._primed:
            return
        ended = [task for status in (Status.SUCCEEDED, Status.DEAD) for task in self._newest(status)]
        page = self._store.query(
            Query(terms=(equals("status", *sorted(WAITING)),), descending=False, limit=PRIMED, want_total=False)
        )
        with self._lock:
            self._hour.prepend((task.ended_at, task.status == Status.SUCCEEDED) for task in ended)
            for task in ended:
                if task.status == Status.SUCCEEDED:
                    self._finished[task.shop] = max(self._finished.get(task.shop, 0), task.ended_at)
            for task in page.tasks:
                self._waits.setdefault(task.shop, task.created_at)
        self._primed = True

    def _newest(self, status: str) -> list[Task]:
        query = Query(terms=(equals("status", status),), sort="updated", limit=PRIMED, want_total=False)
        return [task for task in self._store.query(query).tasks if task.ended_at < self._begun]

    def last_hour(self, now_ms: int) -> tuple[int, int]:
        """Good and bad ends of the last hour."""
        with self._lock:
            return self._hour.counts(now_ms)

    def waits_since(self, shop: str, otherwise: int) -> int:
        """Since when a shop has something to do and has finished nothing."""
        with self._lock:
            return max(self._waits.get(shop, otherwise), self._finished.get(shop, 0))

    def cells(self, snapshot: Snapshot) -> tuple[ShopCell, ...]:
        """Every shop in a fixed order."""
        scopes = {pause.scope for pause in snapshot.pauses}
        open_ = {one.shop: one for one in self._store.breakers()}
        closed = {one.shop: one for one in snapshot.sessions}
        with self._lock:
            finished, waits = dict(self._finished), dict(self._waits)
        rows = []
        for shop in sorted(self._registry.shops().values(), key=lambda one: one.key):
            since = max(waits.get(shop.key, snapshot.at_ms), finished.get(shop.key, 0))
            quiet = snapshot.at_ms - since if shop.key in waits else 0
            cell = _cell(shop, snapshot, scopes, done=shop.key in finished, quiet_ms=quiet)
            cell = _held(cell, open_[shop.key]) if shop.key in open_ else cell
            rows.append(_logged_out(cell, closed[shop.key]) if shop.key in closed else cell)
        return tuple(rows)


def _cell(shop: Shop, snapshot: Snapshot, scopes: set[str], *, done: bool, quiet_ms: int) -> ShopCell:
    counts = snapshot.counts.shops.get(shop.key, {})
    state = _state(counts, done=done, quiet_ms=quiet_ms)
    paused = bool(scopes & {SCOPE_ALL, f"platform:{shop.platform}", f"shop:{shop.key}"})
    return ShopCell(
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


def _held(cell: ShopCell, found: Breaker) -> ShopCell:
    """A shop that waits because it fails too often: at least as bad as one that retries."""
    state = "retrying" if cell.state in ("running", "healthy", "idle") else cell.state
    return replace(cell, state=state, failed=found.failed, of=len(found.outcomes), next_try_ms=found.until)


def _logged_out(cell: ShopCell, closed: ClosedSession) -> ShopCell:
    """A shop that waits for a person; that it finishes nothing meanwhile is no matter of its own."""
    state = "retrying" if cell.state in ("running", "healthy", "idle", "stuck") else cell.state
    return replace(cell, state=state, session=closed.kind, session_ms=closed.since)


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
