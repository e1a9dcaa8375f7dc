"""What came in, was started and went out, and how long it took: counted from events, begun with the newest records."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence

from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Measured
from services.domain.insight.forecast.flow import WINDOW_PARTS as PARTS
from services.domain.insight.forecast.flow import Rates, steady
from services.domain.task.event import Event
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import TERMINAL, WAITING, Status
from services.ports import Store

#: seconds that are counted, and those that are enough where much happens
LONG_S, SHORT_S, MUCH = 300, 60, 20
#: records that it begins with, newest ended and newest created
PRIMED = 500
#: durations kept of each shop, each type, and of all
KEPT, KEPT_OF_ALL = 30, 200
#: an event may be noted so much later than others that happened after it
LATE_MS = 5_000
_Row = Sequence[int]
_WORK = WAITING | {Status.RUNNING, Status.RETRYING}


def came(event: Event) -> bool:
    """Whether a task became work by this (see ``insight.flow``): created, due, or given back by a person."""
    return event.from_ in ("", Status.SCHEDULED, Status.HELD) and event.to in _WORK


def went(event: Event) -> bool:
    """Whether its work ended by this: well, badly, unknown how, or broken off while it ran."""
    if event.to in (Status.SUCCEEDED, Status.DEAD, Status.HELD):
        return event.from_ in _WORK
    return event.to == Status.CANCELLED and event.from_ == Status.RUNNING


class Meter:
    """Thread-safe. Instants are those of the store, UTC ms."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since = 0
        self._seconds: deque[list[int]] = deque()  #: second, in, out
        self._arrivals: deque[tuple[int, str, str]] = deque()  #: instant, shop, lane; retries that come back too
        self._begun: dict[str, int] = {}
        self._of_shop: dict[str, deque[float]] = {}
        self._summaries: dict[str, Measured] = {}  #: of those, by shop
        self._of_type: dict[str, deque[float]] = {}
        self._of_all: deque[float] = deque(maxlen=KEPT_OF_ALL)
        self._by_type: dict[str, Measured] | None = None  #: of both, until something else ends

    def prime(self, store: Store) -> None:
        """Begin anew with what the newest records tell of the last minutes. Blocking."""
        now = store.now_ms()
        ended = equals("status", Status.SUCCEEDED, Status.DEAD)
        done = store.query(Query(terms=(ended,), sort="updated", limit=PRIMED, want_total=False)).tasks
        created = store.query(Query(limit=PRIMED, want_total=False)).tasks
        running = store.query(Query(terms=(equals("status", Status.RUNNING),), limit=PRIMED, want_total=False)).tasks
        since = now - LONG_S * 1000
        if len(done) == PRIMED:
            since = max(since, done[-1].ended_at)
        if len(created) == PRIMED:
            since = max(since, created[-1].created_at)
        with self._lock:
            self._seconds.clear()
            self._arrivals.clear()
            self._since = min(since, now - 1)
            self._begun = {task.task_id: task.started_at for task in running}
            rows = [(became, 1, task) for task in created if (became := _became_work(task))]
            rows += [(task.ended_at, 2, task) for task in done]
            for at, place, task in sorted(rows, key=lambda row: row[0]):
                if at < self._since:
                    continue
                self._count(at, place)
                if place == 1:
                    self._arrivals.append((at, task.shop, task.lane))
            for task in reversed(done):
                if task.started_at:
                    self._took(task.shop, task.task_type, task.ended_at - task.started_at)

    def note(self, events: Sequence[Event]) -> None:
        """Take in events in their order."""
        with self._lock:
            for event in events:
                if event.from_ == event.to:
                    continue
                shop = f"{event.platform}:{event.shop_id}"
                if came(event):
                    self._count(event.at, 1)
                    self._arrivals.append((event.at, shop, event.lane))
                elif event.from_ == Status.RETRYING and event.to not in TERMINAL:
                    self._arrivals.append((event.at, shop, event.lane))
                if went(event):
                    self._count(event.at, 2)
                self._time(event, shop)

    def _time(self, event: Event, shop: str) -> None:
        if event.to == Status.RUNNING:
            self._begun[event.task_id] = event.at
            return
        begun = self._begun.pop(event.task_id, 0) if event.from_ == Status.RUNNING else 0
        if begun and event.to not in WAITING:  # what was given back is no measure
            self._took(shop, event.task_type, event.at - begun)

    def rates(self, now_ms: int) -> Rates:
        """In and out a second: of one minute where much happens, else of up to five."""
        with self._lock:
            window, rows = self._window(now_ms)
        if not window:
            return Rates()
        came = [row for row in rows if row[1]]
        last_s = came[-1][0] if came else now_ms / 1000 - window
        recent = [row for row in rows if row[0] > now_ms / 1000 - window / 3]
        return Rates(
            in_s=sum(row[1] for row in rows) / window,
            out_s=sum(row[2] for row in rows) / window,
            recent_in=sum(row[1] for row in recent) / (window / 3),
            recent_out=sum(row[2] for row in recent) / (window / 3),
            steady_in=steady(_parts(rows, now_ms / 1000, window), window / PARTS),
            window_s=window,
            quiet_s=min(window, max(0.0, now_ms / 1000 - last_s)),
            parts_in=sum(1 for number in _parts(rows, now_ms / 1000, window) if number),
        )

    def arrivals(self, now_ms: int, lane: str = "") -> dict[str, float]:
        """New tasks and returning retries a second by shop, over the same seconds as ``rates``: what is multiplied with
        each other must be of one time. ``lane``: only those of this lane.
        """
        with self._lock:
            window, _rows = self._window(now_ms)
            since = now_ms - 1000 * window
            found: Counter[str] = Counter()
            for at, shop, its in reversed(self._arrivals):
                if at < since - LATE_MS:
                    break
                if at >= since and lane in ("", its):
                    found[shop] += 1
        return {shop: number / window for shop, number in found.items()} if window else {}

    def _window(self, now_ms: int) -> tuple[float, list[list[int]]]:
        """The seconds that are looked at, 0 for none yet, and what is counted in them."""
        self._forget(now_ms)
        known_s = max(1.0, (now_ms - self._since) / 1000) if self._since else 0.0
        short = [row for row in self._seconds if row[0] > now_ms // 1000 - SHORT_S]
        much = sum(row[1] + row[2] for row in short) >= MUCH
        return min(known_s, SHORT_S if much else LONG_S), short if much else list(self._seconds)

    def took_by_type(self) -> Mapping[str, Measured]:
        """How long tasks of each type take, and under "" all of them."""
        with self._lock:
            if self._by_type is None:
                found = {name: durations.measured(kept).summary for name, kept in self._of_type.items()}
                self._by_type = {**found, "": durations.measured(self._of_all).summary}
            return self._by_type

    def took_by_shop(self, shops: Iterable[str]) -> dict[str, Measured]:
        """The same for many shops at once."""
        with self._lock:
            of_all = durations.measured(self._of_all).summary
            own = {shop: self._summary(shop) for shop in shops}
            nothing = durations.pooled(
                durations.measured(()).summary, of_all
            )  # most of a large fleet ended nothing yet
            return {
                shop: durations.pooled(summary, of_all) if summary is not None else nothing
                for shop, summary in own.items()
            }

    def _summary(self, shop: str) -> Measured | None:
        """Of what a shop did itself, kept until it ends something else; None: nothing."""
        found, kept = self._summaries.get(shop), self._of_shop.get(shop)
        if found is None and kept:
            found = self._summaries[shop] = durations.measured(kept).summary
        return found

    def _took(self, shop: str, task_type: str, milliseconds: int) -> None:
        seconds = max(0, milliseconds) / 1000
        self._of_shop.setdefault(shop, deque(maxlen=KEPT)).append(seconds)
        self._summaries.pop(shop, None)
        self._by_type = None
        self._of_type.setdefault(task_type, deque(maxlen=KEPT)).append(seconds)
        self._of_all.append(seconds)

    def _count(self, at_ms: int, place: int) -> None:
        second = at_ms // 1000
        if not self._seconds or second > self._seconds[-1][0]:
            self._seconds.append([second, 0, 0])
        self._seconds[-1][place] += 1

    def _forget(self, now_ms: int) -> None:
        edge = now_ms - LONG_S * 1000
        while self._seconds and self._seconds[0][0] * 1000 < edge:
            self._seconds.popleft()
        while self._arrivals and self._arrivals[0][0] < edge:
            self._arrivals.popleft()


def _became_work(task: Task) -> int:
    """When the record became work, 0 for not yet."""
    if task.status == Status.SCHEDULED:
        return 0
    return next((step.at for step in task.steps if step.from_ == Status.SCHEDULED), task.created_at)


def _parts(rows: Sequence[_Row], now_s: float, window: float) -> list[int]:
    """What came in each part of the window, the newest first."""
    found = [0] * PARTS
    for second, number, _out in rows:
        found[min(PARTS - 1, max(0, int((now_s - second) / (window / PARTS))))] += number
    return found
