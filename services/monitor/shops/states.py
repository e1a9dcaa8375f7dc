"""How every shop does now: what the store knows of it, and what was learnt from events of its waiting and its ends."""

from __future__ import annotations

import threading
from array import array
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from services.domain.errors import ConsoleError
from services.domain.fleet.shop import Shop, stranger
from services.domain.fleet.worker import SlotState
from services.domain.insight import shop as insight
from services.domain.insight.forecast.durations import Runs
from services.domain.insight.shop import ShopFacts, ShopNow
from services.domain.insight.worker import takes_work
from services.domain.task.order import BrokerHealth
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, each, equals
from services.domain.task.status import TERMINAL, WAITING, Status
from services.engine.lead import run_keeper
from services.engine.registry import Registry
from services.monitor import live
from services.monitor.live import Changes, Live, Snapshot
from services.monitor.numbers.measured import Measured
from services.monitor.waits import hung
from services.ports import Store

HOUR_S = 3600
PRIMED = 1000
PART_MS, DAY_MS = 900_000, 86_400_000
#: of the changes of a day before this program looked, so many are counted, the newest; so many dead ones are looked at
MOST_ENDS, MOST_DEAD = 60_000, 5_000
#: shops that are asked together who ran their last task; and of each so many tasks are looked at for it
ASKED_LAST, LOOKED_LAST = 100, 5
_BEGUN = (Status.RUNNING, Status.SUCCEEDED, Status.DEAD, Status.RETRYING, Status.HELD)
_TO_DO = (*WAITING, Status.RUNNING)
_NOTHING: Mapping[str, int] = {}
_NONE_ENDED: Mapping[str, tuple[int, int]] = {}


class LastHour:
    """Good and bad ends of the last hour, by second. Not thread-safe."""

    def __init__(self) -> None:
        self._seconds: deque[list[int]] = deque()  #: second, good, bad
        self._good = self._bad = 0
        self.since = 0  #: of the time before (UTC ms) not all ends are counted, 0: of no time is one missing

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


class LastDay:
    """Ends of each shop in the last 24 hours, by quarters of an hour. Not thread-safe."""

    def __init__(self, begun: int) -> None:
        """``begun``: from then on (UTC ms) events tell of each end; of those before the records are asked."""
        self.begun, self.whole = begun, False
        self._places: dict[str, int] = {}  #: of shops in the rows below: how many ended, and how many well
        self._parts: dict[int, array[int]] = {}  #: of thousands of shops a pair of numbers each would be a hundred MB
        self._sums = array("I")
        self._told: dict[str, tuple[int, int]] | None = {}  #: the answer, until something else is counted

    def add(self, at_ms: int, shop: str, ended: int, well: int) -> None:
        """Count ends of a shop."""
        if not ended:
            return
        self._told = None
        place = 2 * self._places.setdefault(shop, len(self._places))
        for row in (self._parts.setdefault(at_ms // PART_MS, array("I")), self._sums):
            row.frombytes(bytes(row.itemsize * max(0, place + 2 - len(row))))
            row[place] += ended
            row[place + 1] += well

    def of_each(self, now_ms: int) -> Mapping[str, tuple[int, int]]:
        """How many tasks of each shop ended, and how many of these well; shops of which none did are left out."""
        for part in [part for part in self._parts if (part + 1) * PART_MS <= now_ms - DAY_MS]:
            self._told = None
            for place, number in enumerate(self._parts.pop(part)):
                self._sums[place] -= number
        if self._told is None:
            sums = self._sums
            self._told = {shop: (sums[2 * n], sums[2 * n + 1]) for shop, n in self._places.items() if sums[2 * n]}
        return self._told


class ShopStates:
    """Thread-safe. ``note`` takes the feed, ``prime`` learns once what happened before."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        health: Callable[[], BrokerHealth] | None = None,
        keeps_ms: int = 0,
    ) -> None:
        """``health``: how the broker stands, asked by who follows no events; without it it is taken to answer.
        ``keeps_ms``: so long tasks that succeeded are kept, 0 for ever.
        """
        self._store, self._registry, self._health = store, registry, health
        self._looked_back_ms = min(DAY_MS, keeps_ms or DAY_MS)
        self._lock, self._priming = threading.Lock(), threading.Lock()
        self._finished: dict[str, int] = {}
        self._waits: dict[str, int] = {}  #: since the first of its tasks that began to wait after the last end
        self._ended: dict[str, int] = {}  #: what waits beside the one that ended has waited since then at least
        self._hour = LastHour()
        self._begun = store.now_ms()
        self._primed = threading.Event()
        self._measured = Measured(store)
        self._further: dict[str, tuple[int, int]] = {}  #: progress of what runs, and since when (UTC ms) it is so
        self._day: LastDay | None = None  #: None while nobody has asked for it
        self._ran_by: dict[str, tuple[int, str]] = {}  #: when (UTC ms) and by whom it was served last, "" by none
        self._live: Live | None = None
        self._judged = _Judged()
        self.succeeded = self.failed = 0  #: ends seen since the start

    def follow(self, eyes: Live) -> None:
        """Learn from events from now on."""
        self._live = eyes
        eyes.on_changes(self.note)

    def look(self, others: Collection[str] = (), *, seen: Snapshot | None = None) -> tuple[ShopNow, ...]:
        """Every shop as it is at this moment, and these others of which nothing else may be known; ``seen``: what who
        follows no events has learnt of this moment already. Blocking.
        """
        if self._live is None:  # nobody tells what happened since the last look
            self._learn_waits(anew=True)
            if seen is None:
                seen = live.look(self._store, self._health() if self._health is not None else None)
            return self.shops(seen, others)
        self.prime()
        last = self._live.snapshot()
        return self.shops(live.look(self._store, last.broker if last.at_ms else None), others)

    def note(self, changes: Changes) -> None:
        """Take in events."""
        with self._lock:
            if changes.gap:  # whoever asks has the records looked through again
                self._day = None
                self._ran_by = {}
            for event in changes.events:
                if event.from_ == event.to:
                    continue
                shop = f"{event.platform}:{event.shop_id}"
                if event.to == Status.RUNNING:
                    self._ran_by[shop] = event.at, event.worker
                if event.to in (Status.SUCCEEDED, Status.DEAD):
                    self._note_end(shop, event.at, good=event.to == Status.SUCCEEDED)
                if event.to in (Status.PENDING, Status.RUNNING, Status.BLOCKED):
                    self._waits.setdefault(shop, event.at)
                elif event.to in TERMINAL:
                    self._waits.pop(shop, None)
                    self._ended[shop] = event.at

    def _note_end(self, shop: str, at_ms: int, *, good: bool) -> None:
        """The lock is held."""
        self._hour.add(at_ms, good=good)
        self.succeeded, self.failed = self.succeeded + good, self.failed + (not good)
        if self._day is not None and at_ms >= self._day.begun:
            self._day.add(at_ms, shop, 1, int(good))
        if good:
            self._finished[shop] = at_ms

    def prime(self) -> None:
        """Learn from the records what ended or began to wait before this program looked. Blocking."""
        if self._primed.is_set():  # else each look would wait for who learns of a day
            return
        with self._priming:
            if self._primed.is_set():
                return
            self._learn_waits()
            newest = [self._newest(status) for status in (Status.SUCCEEDED, Status.DEAD)]
            ended = [task for tasks in newest for task in tasks if task.ended_at < self._begun]
            # of one kind it may reach further back than of the other: only what is counted of both makes a share
            since = max((min(task.ended_at for task in tasks) for tasks in newest if len(tasks) >= PRIMED), default=0)
            since = min(since, self._begun)  # from then on events tell of each
            with self._lock:
                self._hour.since = since
                self._hour.prepend(
                    (task.ended_at, task.status == Status.SUCCEEDED) for task in ended if task.ended_at >= since
                )
                for task in ended:
                    if task.status == Status.SUCCEEDED:
                        self._finished[task.shop] = max(self._finished.get(task.shop, 0), task.ended_at)
            self._primed.set()

    def learn_day(self) -> None:
        """Learn how the tasks of each shop have ended in 24 hours, which ``ShopNow`` tells from then on; some questions
        for all shops together, and none once it is known. Blocking.
        """
        with self._priming:
            if self._day is not None:
                return
            begun = self._store.now_ms()
            day = LastDay(begun)
            with self._lock:
                self._day = day
            try:
                found = list(self._ends(begun))
            except ConsoleError:
                with self._lock:
                    self._day = None
                raise
            with self._lock:
                for at_ms, shop, ended, well in found:
                    day.add(at_ms, shop, ended, well)
                day.whole = True

    def _ends(self, begun: int) -> Iterator[tuple[int, str, int, int]]:
        """Ends of the day before: instant, shop, how many, and how many of these good ones."""
        since, left = begun - self._looked_back_ms, MOST_ENDS
        terms = (equals("status", Status.DEAD), Term(field="updated", op=">=", number=float(since)))
        dead = Query(terms=terms, sort="updated", limit=PRIMED, want_total=False)
        letters = list(each(self._store.query, dead, MOST_DEAD))
        if len(letters) >= MOST_DEAD:  # of one kind alone no share can be told
            since = max(since, letters[-1].updated_at)
        ends = begun
        while ends > since and left > 0:
            begins = max(since, (ends - 1) // PART_MS * PART_MS)
            span = (("<", ends), (">=", begins))
            # of any status: with one asked for, SQLite looks at each task of that status
            changed = tuple(Term(field="updated", op=op, number=float(at)) for op, at in span)
            found = self._store.grouped(changed, "shop", MOST_ENDS)
            if not found.whole:
                break
            for one in found.groups:
                good = one.counts.get(Status.SUCCEEDED, 0)
                left -= one.total
                yield begins, one.value, good, good
            ends = begins
        # one by one: what a person does to a letter changes it, too; no further back than the good ones were counted
        yield from ((task.ended_at, task.shop, 1, 0) for task in letters if ends <= task.ended_at < begun)

    def ran_by(self, shops: Collection[str]) -> Mapping[str, str]:
        """The worker that ran the last task of each of these shops, "" where none did. Asked once for each shop: of
        what claims have noted, else of the records; events tell of it from then on. Blocking.
        """
        with self._lock:
            kept = self._ran_by  # another one from a gap on, which what was read before it is not put into
            known = dict(kept) if self._live is not None else {}
        if any(shop not in known for shop in shops):
            noted = run_keeper.last_runs(self._store)
            known = {**noted, **known}
            with self._lock:
                for key, last in noted.items():
                    kept.setdefault(key, last)
        missing = [shop for shop in shops if shop not in known]
        for start in range(0, len(missing), ASKED_LAST):
            found = self._last_runs(missing[start : start + ASKED_LAST])
            known |= found
            with self._lock:
                for key, last in found.items():
                    kept.setdefault(key, last)
        return {shop: known[shop][1] for shop in shops}

    def _last_runs(self, shops: Sequence[str]) -> dict[str, tuple[int, str]]:
        """When and by whom the last task of each of these shops was run."""
        terms = (equals("shop", *shops), equals("status", *_BEGUN))
        query = Query(terms=terms, sort="updated", limit=LOOKED_LAST * len(shops), want_total=False)
        if len(shops) == 1:
            return {shops[0]: max(map(_last_run, each(self._store.query, query, LOOKED_LAST)), default=(0, ""))}
        page = self._store.query(query)
        found, numbers = dict.fromkeys(shops, (0, "")), Counter(task.shop for task in page.tasks)
        for task in page.tasks:
            found[task.shop] = max(found[task.shop], _last_run(task))
        # the busy ones may have left no room for others, and a store that looks at many others stops before the end
        left = [key for key in shops if numbers[key] < LOOKED_LAST] if page.next is not None else []
        half = len(left) if len(left) < len(shops) else len(left) // 2
        for part in (left[:half], left[half:]):
            found |= self._last_runs(part) if part else {}
        return found

    def _learn_waits(self, *, anew: bool = False) -> None:
        page = self._store.query(
            Query(terms=(equals("status", *sorted(WAITING)),), descending=False, limit=PRIMED, want_total=False)
        )
        with self._lock:
            if anew:
                self._waits.clear()
            for task in page.tasks:
                self._waits.setdefault(task.shop, task.created_at)

    def _newest(self, status: str) -> list[Task]:
        query = Query(terms=(equals("status", status),), sort="updated", limit=PRIMED, want_total=False)
        return list(self._store.query(query).tasks)

    def last_hour(self, now_ms: int) -> tuple[int, int, int]:
        """Good and bad ends of the last hour, and since when (UTC ms) they are counted, 0 for all of it."""
        with self._lock:
            since = self._hour.since
            return (*self._hour.counts(now_ms), since if since > now_ms - HOUR_S * 1000 else 0)

    def shops(self, snapshot: Snapshot, others: Collection[str] = ()) -> tuple[ShopNow, ...]:
        """Every shop that anything is known of, in a fixed order. Blocking."""
        known, counts = self._registry.shops(), snapshot.counts.shops
        fleet = FleetFacts(self._store, snapshot)
        with self._lock:
            finished = dict(self._finished)
            waits = {**self._ended, **self._waits}
            self._watch_progress(snapshot)
            further = self._further
            day = self._day.of_each(snapshot.at_ms) if self._day is not None and self._day.whole else _NONE_ENDED
        late_ms = snapshot.at_ms - insight.STUCK_MS
        hanging = {
            slot.shop: slot.since for slot in reversed(hung.slots(snapshot.fleet(), self._usual, snapshot.at_ms))
        }
        moving = self._moving(snapshot, {key for key, since in waits.items() if since < late_ms}, further)
        learnt = known, waits, finished, moving, hanging, day, tuple(others)
        last = self._judged  # once: another thread may put its own there
        if last.learnt == learnt and last.fleet == fleet.all_told and last.since_ms <= snapshot.at_ms <= last.until_ms:
            return last.all
        before = last if last.fleet[0] == fleet.of_all else _Judged()
        judged: dict[str, _One] = {}
        for key in sorted({*known, *counts, *fleet.breakers, *fleet.sessions, *fleet.successes, *others}):
            shop, ended = known.get(key), day.get(key, (0, 0))
            own = (waits.get(key, 0), finished.get(key, 0), key in moving, hanging.get(key, 0), *ended)
            told = fleet.told(key, shop, own)
            one = before.shops.get(key)
            if one is None or one.told != told or not one.since_ms <= snapshot.at_ms <= one.until_ms:
                waits_at, success_at, moves, hangs_at, *_ended = own
                facts = fleet.of(
                    shop or stranger(key),
                    waits_at=waits_at,
                    success_at=success_at,
                    moves=bool(moves),
                    hangs_at=hangs_at,
                    ended=ended,
                )
                until_ms = insight.stands_until(facts, snapshot.at_ms)
                one = _One(told, snapshot.at_ms, until_ms, insight.judge(facts, snapshot.at_ms))
            judged[key] = one
        self._judged = found = _Judged(
            learnt=learnt,
            fleet=fleet.all_told,
            shops=judged,
            since_ms=max((one.since_ms for one in judged.values()), default=snapshot.at_ms),
            until_ms=min((one.until_ms for one in judged.values()), default=snapshot.at_ms),
            all=tuple(one.now for one in judged.values()),
        )
        return found.all

    def _usual(self, task_type: str, shop: str) -> Runs:
        return self._measured.usual(task_type, shop, 0)

    def _watch_progress(self, snapshot: Snapshot) -> None:
        """Note since when each running task is as far as it is; the lock is held."""
        found = {}
        for slot in _busy(snapshot):
            if slot.progress >= 0:
                before = self._further.get(slot.task_id)
                same = before is not None and before[0] == slot.progress
                found[slot.task_id] = before if same and before is not None else (slot.progress, snapshot.at_ms)
        self._further = found

    def _moving(
        self, snapshot: Snapshot, shops: Collection[str], further: Mapping[str, tuple[int, int]]
    ) -> Collection[str]:
        """Those of these shops in which something runs that is on its way. Blocking."""
        found: set[str] = set()
        for slot in _busy(snapshot):
            if slot.shop in shops and slot.shop not in found:
                says_s = self._registry.task_type(slot.task_type).expected_s
                usual = self._measured.usual(slot.task_type, slot.shop, says_s)
                seen = further.get(slot.task_id)
                quiet_s = (snapshot.at_ms - seen[1]) / 1000 if seen is not None else None
                if usual.moves((snapshot.at_ms - slot.since) / 1000, quiet_s, insight.STUCK_MS / 1000):
                    found.add(slot.shop)
        return found


class _Told(msgspec.Struct, frozen=True, gc=False):
    """What a shop is judged by. One tuple of it would be gone through with each collection of cycles: of ten thousand
    shops that held the window up.
    """

    shop: Shop | None
    own: tuple[int, ...]  #: of its waiting and its ends
    counts: Mapping[str, int]
    session: object
    breaker: object
    login: object
    success: object
    held: object
    types: object


class _One(msgspec.Struct, frozen=True, gc=False):
    """A shop as it was judged: by what, and from when to when (UTC ms) that stands."""

    told: _Told
    since_ms: int
    until_ms: int
    now: ShopNow


class _Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What was judged at the last look: most shops of a fleet are as they were then, and at rest all of them."""

    learnt: object = None  #: by what beside the facts of the fleet
    fleet: tuple[object, ...] = (None,)  #: ``FleetFacts.all_told``
    shops: Mapping[str, _One] = {}
    since_ms: int = 0  #: from when to when (UTC ms) all of it stands
    until_ms: int = 0
    all: tuple[ShopNow, ...] = ()


class FleetFacts:
    """What is known of all shops at one moment, asked for once. Blocking."""

    def __init__(self, store: Store, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.sessions = {one.shop: one for one in snapshot.sessions}
        self.breakers = {one.shop: one for one in store.breakers()}
        self.logins, self.successes = store.logins(), store.successes()
        self._held = _held_since(store, snapshot)
        self._types = _paused_types(store, snapshot)
        self._pauses = {one.scope for one in snapshot.pauses if one.gate == insight.PAUSED}
        self._lost = lost(snapshot)
        self._unheard = _unheard(snapshot)

    @property
    def of_all(self) -> object:
        """What is known of all shops together; where it and ``told`` are equal, ``of`` says the same of a shop."""
        return self._snapshot.pauses, self._lost, self._unheard

    @property
    def all_told(self) -> tuple[object, ...]:
        """``of_all``, and what is known of each: where it is equal, ``told`` is so for every shop."""
        counts = self._snapshot.counts.shops
        each = (self.sessions, self.breakers, self.logins, self.successes, self._held, self._types)
        return self.of_all, counts, *each

    def told(self, key: str, shop: Shop | None, own: tuple[int, ...]) -> _Told:
        """What is known of one alone."""
        return _Told(
            shop,
            own,
            self._snapshot.counts.shops.get(key, _NOTHING),
            self.sessions.get(key),
            self.breakers.get(key),
            self.logins.get(key),
            self.successes.get(key),
            self._held.get(key),
            self._types.get(key),
        )

    def of(
        self,
        shop: Shop,
        *,
        waits_at: int = 0,
        success_at: int = 0,
        moves: bool = False,
        hangs_at: int = 0,
        ended: tuple[int, int] = (0, 0),
        tasks: Sequence[Task] = (),
    ) -> ShopFacts:
        """What is known of one; ``waits_at`` counts only while it has something to do."""
        key = shop.key
        counts = self._snapshot.counts.shops.get(key, _NOTHING)
        login = self.logins.get(key)
        return ShopFacts(
            shop=shop,
            counts=counts,
            pauses=self._snapshot.pauses,
            paused_types=tuple(self._types.get(key, ())),
            paused_waiting=self._behind_pauses(key),
            session=self.sessions.get(key),
            breaker=self.breakers.get(key),
            success_at=max(success_at, self.successes.get(key, 0)),
            login_at=login.at if login is not None else 0,
            held_at=self._held.get(key, 0),
            waits_at=waits_at if any(counts.get(status, 0) for status in _TO_DO) else 0,
            moves=moves,
            hangs_at=hangs_at,
            ended=ended,
            lost=insight.NO_WORD if key in self._unheard and self._lost != insight.NO_STORE else self._lost,
            tasks=tuple(tasks),
        )

    def _behind_pauses(self, key: str) -> int:
        """Tasks of a shop that wait for the end of a pause of their type."""
        return sum(n for name, n in self._types.get(key, _NOTHING).items() if f"type:{name}" in self._pauses)


def _busy(snapshot: Snapshot) -> list[SlotState]:
    """The slots at work of all workers that are heard of."""
    return [slot for one in snapshot.fleet().workers if one.living for slot in one.slots if slot.task_id]


def _last_run(task: Task) -> tuple[int, str]:
    """When and by whom it was run last; (0, "") for one that no worker began."""
    last = task.attempts[-1] if task.attempts else None
    if task.worker or last is None:
        return (task.started_at, task.worker) if task.worker else (0, "")
    return last.started_at, last.worker


def lost(snapshot: Snapshot) -> str:
    """What is lost for all shops, "" for nothing."""
    if not snapshot.store.connected:
        return insight.NO_STORE
    if not snapshot.broker.connected:
        return insight.NO_BROKER
    alive = any(takes_work(info, snapshot.at_ms) for info in snapshot.workers)
    return "" if alive else insight.NO_WORKER


def _unheard(snapshot: Snapshot) -> frozenset[str]:
    """Shops with a task of which nobody knows whether it still runs."""
    return frozenset(
        slot.shop for one in snapshot.fleet().workers for slot in one.slots if slot.task_id in one.unconfirmed
    )


def _held_since(store: Store, snapshot: Snapshot) -> dict[str, int]:
    """Since when the oldest held task of each shop is held."""
    if not snapshot.counts.status.get(Status.HELD, 0):
        return {}
    found: dict[str, int] = {}
    query = Query(terms=(equals("status", Status.HELD),), descending=False, limit=PRIMED, want_total=False)
    for task in store.query(query).tasks:
        found[task.shop] = min(found.get(task.shop, task.updated_at), task.updated_at)
    return found


def _paused_types(store: Store, snapshot: Snapshot) -> dict[str, Counter[str]]:
    """The types whose switch keeps tasks of a shop waiting, and how many."""
    types = [pause.scope.partition(":")[2] for pause in snapshot.pauses if pause.scope.startswith("type:")]
    found: dict[str, Counter[str]] = {}
    if types and snapshot.counts.status.get(Status.BLOCKED, 0):
        terms = (equals("status", Status.BLOCKED), equals("type", *types))
        for task in store.query(Query(terms=terms, limit=PRIMED, want_total=False)).tasks:
            found.setdefault(task.shop, Counter())[task.task_type] += 1
    return found
