"""What the rules of alerts look at: one moment of the fleet, taken once for all of them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple

import msgspec

from services.domain.alerts.incident import Words
from services.domain.alerts.rule import Rule
from services.domain.errors import ConsoleError
from services.domain.fleet.worker import SlotState
from services.domain.gates.breaker import Breaker
from services.domain.insight import depth
from services.domain.insight.depth import LaneDepth
from services.domain.insight.forecast.durations import Runs
from services.domain.task.order import QueueDepth
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status, Triage
from services.domain.text.message import Message
from services.domain.upkeep.stored import Instant
from services.engine.registry import Registry
from services.monitor import attention, live
from services.monitor.alerts import wording
from services.monitor.letters.causes import Cause, CauseQueries
from services.monitor.live import Snapshot
from services.monitor.numbers.measured import Measured
from services.ports import Broker, Clock, Store

#: causes are grouped anew when the number of dead letters changed, in at most a twentieth of the time, and now and then
CAUSES_SHARE, CAUSES_S = 20, 60.0
#: the store is asked for its own settings now and then, the broker for its depths in at most a fiftieth of the time
FACTS_S, DEPTHS_SHARE, DEPTHS_AT_MOST_S = 60.0, 50.0, 30.0
#: so far back are attempts counted at most
ATTEMPTS_MS = 3_600_000
#: failed tasks that are asked for what they failed of
KINDS_OF = 200
STATE, LED = "alert_state", "led"
_TYPES = ("type", "types", "work")  #: parameters that name task types


class NotKnown(Exception):
    """A rule cannot look now: what it saw last stays as it is."""


class Attempts(NamedTuple):
    """Finished attempts of a span of time."""

    done: int
    failed: int
    span_ms: int


class Led(msgspec.Struct, frozen=True, kw_only=True):
    """Who led last, and when that was seen (UTC ms)."""

    holder: str = ""
    at: Instant = 0


class Gap(NamedTuple):
    """Nobody led from one instant to another (UTC ms); ``until`` is 0 while that lasts. ``led``: who had led;
    ``no_store``: nobody could, for the store took nothing.
    """

    since: int
    until: int
    unfinished: int
    led: str = ""
    no_store: bool = False


class Held(NamedTuple):
    """A task that a worker is at: for how long it could be, ms."""

    ms: int
    slot: SlotState
    worker: str


#: a task that ran through more of them is told as held for all of the first
KEPT_SLEEPS = 50
#: looks come every few seconds: where more time went by, it did so for all of this machine
JUMP_MS = 10_000


class Sleeps:
    """When this machine slept, or its clock was set ahead; for any thread. What passes while one is at work is none of
    it, as where the store is slow: workers took that too. A sleep amid that shows where the clock does not count it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._found: deque[tuple[int, int]] = deque(maxlen=KEPT_SLEEPS)
        self._at_work = 0  #: threads that are
        self._seen: tuple[int, float] | None = None  #: UTC ms and monotonic s, when one began or ended

    @contextmanager
    def work(self) -> Iterator[None]:
        """Whoever is at work from time to time says so."""
        self._step(1)
        try:
            yield
        finally:
            self._step(-1)

    def _step(self, more: int) -> None:
        with self._lock:
            now, then = self._clock.now_ms(), self._clock.monotonic()
            before, began = self._seen or (now, then)
            lasted = now - before - (round((then - began) * 1000) if self._at_work else 0)
            if lasted > JUMP_MS:
                self._found.append((now, lasted))
            self._seen, self._at_work = (now, then), self._at_work + more

    def since(self, since_ms: int) -> int:
        """For how long since an instant; ms."""
        with self._lock:
            return sum(min(lasted, at - since_ms) for at, lasted in self._found if at > since_ms)


class Eyes:
    """Takes looks, and remembers between them what a single one cannot tell. Blocking. One thread takes them; any may
    look at a moment of its own by the same answers (``beside``), so that what costs much is asked once for all.
    """

    def __init__(
        self,
        store: Store,
        broker: Broker,
        registry: Registry,
        causes: CauseQueries,
        clock: Clock,
        *,
        production: bool,
        alone: bool = False,
    ) -> None:
        """``alone``: all of the fleet is on this machine, which may sleep or be switched off."""
        self._store, self._broker, self._registry, self._clock = store, broker, registry, clock
        self.production, self.alone = production, alone
        self._causes = causes
        self._measured = Measured(store)
        self._grouping, self._telling = threading.Lock(), threading.Lock()
        self._grouped: tuple[Cause, ...] = ()
        self._dead, self._due, self._grouped_at = -1, 0.0, float("-inf")
        self._facts: Mapping[str, str] = {}
        self._facts_at = float("-inf")
        self._queues: Sequence[QueueDepth] | None = None
        self._silent = ""  #: why the broker told no depths
        self._depths_due = self._told_at = float("-inf")
        self._counted: deque[tuple[int, dict[str, tuple[int, int]]]] = deque()
        self.gap: Gap | None = None
        self.sleeps = Sleeps(clock)

    def look(self) -> Look:
        """The fleet at this moment.

        Raises:
            ConsoleError: the store does not answer.
        """
        self.depths()
        snapshot = live.look(self._store, self._broker.health())
        self._count(snapshot)
        return Look(self, snapshot)

    def beside(self, snapshot: Snapshot) -> Look:
        """A moment that somebody else has seen; from any thread."""
        return Look(self, snapshot)

    # ------------------------------------------------------------------------------------------- asked when wanted
    def causes(self, snapshot: Snapshot) -> tuple[Cause, ...]:
        """Causes of the open dead letters, grouped a moment ago."""
        dead = snapshot.counts.triage.get(Triage.OPEN, 0)
        with self._grouping:  # who comes second waits, and has what the first was told
            begun = self._clock.monotonic()
            if not dead:
                self._grouped, self._dead = (), 0
            elif begun >= self._due and (dead != self._dead or begun >= self._grouped_at + CAUSES_S):
                self._grouped, self._dead, self._grouped_at = self._causes.causes().rows, dead, begun
                self._due = begun + CAUSES_SHARE * (self._clock.monotonic() - begun)
            return self._grouped

    def usual(self, task_type: str, shop: str) -> Runs:
        """How long a type runs in a shop (``platform:shop_id``), as far as it was measured."""
        return self._measured.usual(task_type, shop, 0)

    def usual_there(self, task_type: str, platform: str) -> Runs:
        """The same of a platform."""
        return self._measured.on_platform(task_type, platform, 0)

    def lanes(self, snapshot: Snapshot) -> tuple[LaneDepth, ...]:
        """Every lane. Raises NotKnown where the broker does not answer."""
        queues = self._queues
        if queues is None:
            raise NotKnown(self._silent)
        return depth.lanes(snapshot.counts, queues)

    def depths(self) -> Sequence[QueueDepth] | None:
        """How deep its queues are or were a moment ago, None where the broker does not answer. A process that publishes
        nothing hears of an alarm, and that the broker is gone, by asking alone, whichever rules there are.
        """
        came = self._clock.monotonic()
        with self._telling:
            if self._told_at > came:  # it was asked while this one waited: one that is silent is so for long
                return self._queues
            begun = self._clock.monotonic()
            if self._queues is not None and begun < self._depths_due and self._broker.health().connected:
                return self._queues
            try:
                self._queues = self._broker.depths()
            except ConsoleError as exc:
                self._queues, self._silent = None, str(exc)
            self._told_at = self._clock.monotonic()
            self._depths_due = begun + min(DEPTHS_AT_MOST_S, DEPTHS_SHARE * (self._told_at - begun))
            return self._queues

    def store_facts(self) -> Mapping[str, str]:
        """What the store says of itself, a minute old at most."""
        if self._clock.monotonic() - self._facts_at >= FACTS_S:
            self._facts, self._facts_at = self._store.facts(), self._clock.monotonic()
        return self._facts

    def attempts(self, span_ms: int, now_ms: int) -> Attempts:
        """Attempts that ended within a span, or since this process watches where that is less."""
        counted = [one for one in self._counted if one[0] >= now_ms - span_ms]
        if len(counted) < 2:
            return Attempts(0, 0, 0)
        (begun, first), (ended, last) = counted[0], counted[-1]
        done = failed = 0
        for worker, (good, bad) in last.items():
            before = first.get(worker, (0, 0))
            done += max(0, good - before[0])
            failed += max(0, bad - before[1])
        return Attempts(done, failed, ended - begun)

    def _count(self, snapshot: Snapshot) -> None:
        """Workers count what they ended; one that is not listed any more keeps its last numbers."""
        now = snapshot.at_ms
        known = dict(self._counted[-1][1]) if self._counted else {}
        if not self._counted:
            known = {info.worker: (info.done, info.failed) for info in snapshot.workers}
        known |= {info.worker: (info.done, info.failed) for info in snapshot.workers}
        self._counted.append((now, known))
        while self._counted and self._counted[0][0] < now - ATTEMPTS_MS:
            self._counted.popleft()

    # ------------------------------------------------------------------------------------------------- the store's
    def name(self, shop: str) -> str:
        """What a shop is called."""
        return self._registry.shop_name(shop)

    def names(self, shops: Collection[str], most: int = 20) -> tuple[str, ...]:
        """What the first few of these are called; one question for all."""
        return tuple(map(self._registry.shop_name, sorted(shops)[:most]))

    def titled(self, words: Words) -> Words:
        """With what task types are called in Chinese beside their codes (``wording.TITLED``)."""
        cause = None if words.cause is None else self._titled(words.cause)
        then = None if words.next is None else self._titled(words.next)
        facts = tuple(map(self._titled, words.facts))
        return Words(title=self._titled(words.title), facts=facts, cause=cause, next=then)

    def _titled(self, message: Message) -> Message:
        known, params = self._registry.types(), dict(message.params)
        names = (*_TYPES, "name") if message.code == "alert.next_pause_type" else _TYPES
        for name in names:
            codes = str(params.get(name, "")).split(", ")
            titles = [(known[code].title.get("zh_CN") if code in known else "") or code for code in codes]
            if titles != codes:
                params[name + wording.TITLED] = "、".join(titles)
        return Message(message.code, params) if len(params) > len(message.params) else message

    @property
    def store(self) -> Store:
        """The records."""
        return self._store

    @property
    def registry(self) -> Registry:
        """Types and shops."""
        return self._registry


class Look:
    """One moment; what costs a question is asked when a rule wants it first."""

    def __init__(self, eyes: Eyes, snapshot: Snapshot) -> None:
        self.eyes, self.snapshot = eyes, snapshot

    @property
    def now_ms(self) -> int:
        """UTC ms by the store's clock."""
        return self.snapshot.at_ms

    def attempts(self, rule: Rule) -> Attempts:
        """Attempts that ended in the last minutes, as many as the rule says."""
        return self.eyes.attempts(round(rule.limit("minutes") * 60_000), self.now_ms)

    @cached_property
    def items(self) -> attention.Look:
        """What families of attention items look at."""
        eyes = self.eyes
        return attention.Look(
            snapshot=self.snapshot,
            store=eyes.store,
            causes=self.causes,
            name=eyes.name,
            kind=eyes.registry.task_type,
        )

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """Of the open dead letters."""
        return self.eyes.causes(self.snapshot)

    @cached_property
    def held(self) -> Sequence[Held]:
        """What workers that are heard of are at, the longest first; a machine that sleeps holds nothing back."""
        sleeps = self.eyes.sleeps if self.eyes.alone else None
        found = [
            Held(max(0, self.now_ms - slot.since - (sleeps.since(slot.since) if sleeps else 0)), slot, worker.name)
            for worker in self.snapshot.fleet().workers
            if not worker.missing
            for slot in worker.slots
            if slot.task_id and slot.since
        ]
        return sorted(found, key=lambda one: one.slot.since)

    @cached_property
    def lanes(self) -> tuple[LaneDepth, ...]:
        """Every lane; raises NotKnown where the broker does not answer."""
        return self.eyes.lanes(self.snapshot)

    @cached_property
    def breakers(self) -> Sequence[Breaker]:
        """Shops that fail too often."""
        return [one for one in self.eyes.store.breakers() if one.is_open]

    @cached_property
    def failing(self) -> Sequence[Task]:
        """The tasks that failed last and are tried again or dead."""
        terms = (equals("status", Status.DEAD, Status.RETRYING),)
        return self.eyes.store.query(Query(terms=terms, sort="updated", limit=KINDS_OF, want_total=False)).tasks

    def number(self, status: str) -> int:
        """How many tasks have this status."""
        return self.snapshot.counts.status.get(status, 0)
