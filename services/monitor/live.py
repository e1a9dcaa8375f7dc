"""The console's eyes: follows the event stream and takes snapshots, in its own threads, and tells listeners."""

from __future__ import annotations

import logging
import random
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from queue import SimpleQueue

import msgspec

from services.domain.errors import ConsoleError
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import NOBODY, Farewell, LinkState, WorkerInfo
from services.domain.gates.session import ClosedSession
from services.domain.insight import connection, publisher
from services.domain.insight import worker as insight
from services.domain.insight.forecast import flow
from services.domain.insight.forecast.durations import Measured
from services.domain.insight.publisher import PublisherNow
from services.domain.insight.worker import Fate, FleetNow
from services.domain.task.event import Event
from services.domain.task.order import BrokerHealth, QueueDepth
from services.domain.task.search.query import Counts
from services.domain.task.status import Status
from services.domain.text.said import words_of
from services.domain.upkeep import health
from services.engine import farewells
from services.engine.fates import Fates
from services.engine.lead import leader, leader_link
from services.monitor.numbers.meter import Meter, came, went
from services.ports import Broker, Clock, Store

log = logging.getLogger(__name__)
EVENT_BATCH = 2000
#: for how long it waits for events; whoever closes waits so long at most
EVENTS_S = 0.6
#: a snapshot at once when something happened, at most this often and for at most an eighth of the time; else twice a
#: second while something goes on, once where nothing does, and every other second where nothing has for a while
PACE_S, SNAPSHOT_S, SLOW_S = 0.1, 0.5, 1.0
REST_S, REST_AFTER_S = 2.0, 10.0
PACE_SHARE, PACE_AT_MOST_S = 8.0, 1.0
RATE_WINDOW_S = 5.0
DEPTHS_SHARE, DEPTHS_AT_MOST_S = 50.0, 5.0
#: a snapshot waits so long for the broker; one that has not told its depths after the other does not tell them
DEPTHS_WAIT_S, DEPTHS_UNTOLD_S = 1.0, 3.0
BACKOFF_S = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
#: and so much less of it: windows that lost a server at one moment shall not all come back to it at one
SPREAD = 0.2


def backoff_s(failures: int) -> float:
    """How long is waited after so many tries in vain, before the next one."""
    return BACKOFF_S[min(failures, len(BACKOFF_S) - 1)] * random.uniform(1 - SPREAD, 1)


class StoreHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the store answers now; where it answers with an ``error``, it takes no writes."""

    connected: bool = True
    latency_ms: float = -1.0
    error: str = ""


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks a second, of the last few seconds as the charts show them: come in, started, gone out. ``flow``: In and Out
    over a minute or more, the numbers that are told; ``insight.flow`` says what In and Out mean.
    """

    publish: float = 0.0
    deliver: float = 0.0
    ack: float = 0.0
    flow: flow.Rates = flow.NOT_SEEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One consistent look; immutable, so it may be read from any thread."""

    at_ms: int
    taken: float  #: monotonic seconds, for its age
    counts: Counts = field(default_factory=Counts)
    depths: tuple[QueueDepth, ...] = ()
    depths_fresh: bool = True  #: False: the broker did not answer, and they are as it told them before
    depths_taken: float = 0.0  #: monotonic seconds at which the broker was asked for them, 0 where it never was
    workers: tuple[WorkerInfo, ...] = ()
    fates: Mapping[str, tuple[Fate, ...]] = field(default_factory=dict)  #: what late workers held, by worker
    links: Mapping[str, LinkState] = field(default_factory=dict)  #: what the leader's connections meet, by its name
    pauses: tuple[Pause, ...] = ()  #: closed switches of all gates
    sessions: tuple[ClosedSession, ...] = ()  #: shops that wait for a login
    broker: BrokerHealth = field(default_factory=lambda: BrokerHealth(connected=False))
    store: StoreHealth = field(default_factory=StoreHealth)
    newer: str = ""  #: that a newer program wrote the data, so that this one only reads; "" where none did
    rates: Rates = field(default_factory=Rates)
    took: Mapping[str, Measured] = field(default_factory=dict)  #: what tasks of a type took of late; "": all
    lag_ms: float = 0.0  #: age of the newest event when it arrived
    skew_ms: int = 0  #: how far this machine's clock is surely from the store's, 0 where they agree well enough
    farewell: Farewell = NOBODY  #: of the last worker that left, asked for while none lives
    leader: str = ""
    leaderless_ms: int = 0  #: since when nobody leads, UTC ms; 0 while somebody does, or since before that was watched
    retry_in_s: float = 0.0  #: until the next try to connect, 0 while connected
    tries: int = 0  #: in vain since the store answered last
    #: the workers as they were judged at its moment, once somebody asked
    _judged: list[FleetNow] = field(default_factory=list, init=False, repr=False, compare=False)

    def fleet(self, now_ms: int = 0) -> FleetNow:
        """What is true of the workers at the moment of the snapshot, or a little later. At its own moment they are
        judged once, whoever asks: a thousand of them take a turn of the window.
        """
        if now_ms and now_ms != self.at_ms:
            return self._judge(now_ms)
        if not self._judged:
            self._judged.append(self._judge(self.at_ms))
        return self._judged[0]

    def _judge(self, at_ms: int) -> FleetNow:
        return insight.look(self.workers, at_ms, self.fates, leader=self.leader, farewell=self.farewell)

    @property
    def told(self) -> bool:
        """Whether the broker tells what it holds."""
        return self.depths_fresh and self.broker.connected

    @property
    def broker_serves(self) -> bool:
        """Whether the broker serves the fleet, as far as one can tell: one that refuses only this program does."""
        if self.broker.connected or not self.at_ms:
            return True
        return connection.refused(self.broker.error) and self.fleet().number(insight.FINE) > 0

    @property
    def no_writes(self) -> str:
        """Why the store, which answers, takes no writes; "" where it does."""
        return self.store.error if self.store.connected else ""

    def heard(self) -> object:
        """What it says but for the time: where that stays the same, nobody need be asked anew."""
        takes = insight.takes_work
        workers = tuple(
            (
                one.worker,
                one.state,
                one.slots,
                one.ahead,
                one.link,
                one.open_lanes,
                one.executors,
                takes(one, self.at_ms),
            )
            for one in self.workers
        )
        servers = (self.broker.connected, self.store.connected, self.leader, self.links)
        counted = (self.counts.cursor, self.counts.unsent, self.depths, self.pauses, self.sessions)
        return counted, workers, servers, tuple(sorted(self.fates))

    def publisher(self) -> PublisherNow:
        """What is true of the way to the broker."""
        unsent = self.counts.unsent
        return publisher.look(self.broker, self.workers, self.at_ms, unsent=unsent, others=self.links)


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """Events since the last call. ``gap``: some were missed, so whoever keeps rows asks for them anew."""

    events: tuple[Event, ...]
    gap: bool = False


def look(store: Store, broker: BrokerHealth | None = None) -> Snapshot:
    """One look at the fleet now, for who follows nothing; a broker that was not asked is taken to answer. Blocking."""
    asked = broker is not None and (broker.connected or broker.error)
    now, workers, leads = store.now_ms(), tuple(store.workers()), store.leader(leader.ROLE)
    answers, latency, error = store.health()
    return Snapshot(
        at_ms=now,
        taken=0.0,
        counts=store.counts(),
        workers=workers,
        fates=Fates(store).find(workers, now),
        farewell=farewells.asked_for(store, workers, now),
        pauses=tuple(store.switches()),
        sessions=tuple(store.sessions()),
        leader=leads,
        links=leader_link.links(store, leads),
        store=StoreHealth(connected=answers, latency_ms=latency, error=error),
        newer=store.newer(),
        broker=broker if broker is not None and asked else BrokerHealth(connected=True),
    )


def _told_by(ask: Callable[[], Mapping[str, str]]) -> Mapping[str, str]:
    try:
        return ask()
    except ConsoleError:  # its pill says so
        return {}


class Live:
    """Two threads, one for events and one for snapshots; listeners are called in those threads. A third asks the
    broker, which may take its time.
    """

    def __init__(self, store: Store, broker: Broker, clock: Clock) -> None:
        self._store, self._broker, self._clock = store, broker, clock
        self.meter = Meter()
        self._stop = threading.Event()
        self._now = threading.Event()
        self._follows = threading.Event()
        self._lock = threading.Lock()
        self._change_listeners: list[Callable[[Changes], None]] = []
        self._snapshot_listeners: list[Callable[[Snapshot], None]] = []
        self._recent: deque[tuple[float, int, int, int]] = deque()
        self._lag_ms = 0.0
        self._skew_ms = 0
        self._fates = Fates(store)
        self._snapshot = Snapshot(at_ms=0, taken=clock.monotonic())
        self._slow_at = -SLOW_S
        self._moved_at = clock.monotonic()  #: when a snapshot last said something else than the one before
        self._depths_due = 0.0
        self._questions: SimpleQueue[Future[tuple[QueueDepth, ...]] | None] = SimpleQueue()
        self._asked: Future[tuple[QueueDepth, ...]] | None = None  #: what the broker has not answered yet
        self._asked_at = 0.0
        self._failures = 0
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to watch."""
        self._threads = [
            threading.Thread(target=self._follow, name="live-events", daemon=True),
            threading.Thread(target=self._watch, name="live-snapshots", daemon=True),
            threading.Thread(target=self._ask, name="live-depths", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop watching and wait for the threads, but not for a broker that does not answer."""
        self._stop.set()
        self._now.set()
        self._questions.put(None)
        for thread, most_s in zip(self._threads, (10.0, 10.0, DEPTHS_WAIT_S), strict=False):
            thread.join(most_s)

    def wait_following(self, seconds: float) -> bool:
        """Wait until no event that happens from now on can be missed."""
        return self._follows.wait(seconds)

    def on_changes(self, listener: Callable[[Changes], None]) -> None:
        """Call ``listener`` with each batch of events."""
        self._change_listeners.append(listener)

    def on_snapshot(self, listener: Callable[[Snapshot], None]) -> None:
        """Call ``listener`` with each snapshot, about ten times a second while things change."""
        self._snapshot_listeners.append(listener)

    def snapshot(self) -> Snapshot:
        """The newest snapshot."""
        return self._snapshot

    def now_ms(self) -> int:
        """The store's time, by which leases, heartbeats and events are stamped; this machine's clock may differ."""
        return self._clock.now_ms() + self._skew_ms

    def try_now(self) -> None:
        """Do not wait for the back-off."""
        self._now.set()

    def dial_anew(self) -> None:
        """Give the connection to a broker up that brings no answer; the next look asks it by a new one."""
        self._broker.dial_anew()
        self.try_now()

    def facts(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """What broker and store say about themselves, nothing of the one that brings no answer. Blocking."""
        return _told_by(self._broker.facts), _told_by(self._store.facts)

    def _follow(self) -> None:
        cursor = ""
        lost = False
        while not self._stop.is_set():
            try:
                if not cursor:
                    cursor = self._store.events("", 1, 0.0).cursor
                    self._follows.set()
                    self.meter.prime(self._store)
                    # also at the start: what was listed before this moment may have changed unseen
                    self._tell(Changes(events=(), gap=True))
                    lost = False
                    continue
                batch = self._store.events(cursor, EVENT_BATCH, EVENTS_S)
                if batch.gap:
                    self.meter.prime(self._store)
            except Exception as exc:  # whatever it read: a screen that follows nothing any more must be impossible
                if not lost:
                    log.warning("events: %s", exc, exc_info=not isinstance(exc, ConsoleError))
                    self._now.set()  # that it is lost is told at once
                cursor, lost = "", True
                self._clock.wait(self._stop, 1.0)
                continue
            cursor = batch.cursor
            if batch.events or batch.gap:
                self._note(batch.events)
                self._tell(Changes(events=batch.events, gap=batch.gap))
                self._now.set()
                # at most about ten batches a second reach the listeners; more events only make a batch larger
                self._clock.wait(self._stop, 0.08)

    def _note(self, events: Sequence[Event]) -> None:
        self.meter.note(events)
        published = sum(1 for event in events if came(event))
        delivered = sum(1 for event in events if event.to == Status.RUNNING and event.from_ != Status.RUNNING)
        acked = sum(1 for event in events if went(event))
        now = self._clock.monotonic()
        with self._lock:
            self._recent.append((now, published, delivered, acked))
            if events:
                self._lag_ms = max(0.0, float(self.now_ms() - events[-1].at))

    def _tell(self, changes: Changes) -> None:
        for listener in self._change_listeners:
            listener(changes)

    def _watch(self) -> None:
        while not self._stop.is_set():
            begun = self._clock.monotonic()
            wait = self._look()
            least = 0.0
            if not self._failures:
                spent = self._clock.monotonic() - begun
                least = min(PACE_AT_MOST_S, max(PACE_S, PACE_SHARE * spent))
            looked = self._clock.monotonic()
            self._rest(max(wait, least))
            soonest = looked + least - self._clock.monotonic()
            if soonest > 0:
                self._clock.wait(self._stop, soonest)
            self._now.clear()

    def _rest(self, seconds: float) -> None:
        """Wait for the next look. While the store is lost that may be half a minute; a broker that is lost or back
        meanwhile is told all the same.
        """
        if not self._failures:
            self._clock.wait(self._now, seconds)
            return
        end = self._clock.monotonic() + seconds
        while (left := end - self._clock.monotonic()) > 0 and not self._now.is_set():
            self._clock.wait(self._now, min(left, SLOW_S))
            broker = self._broker.health()
            if broker.connected != self._snapshot.broker.connected:
                self._show(replace(self._snapshot, broker=broker, retry_in_s=max(0.1, left - SLOW_S)))

    def _look(self) -> float:
        now = self._clock.monotonic()
        try:
            counts = self._store.counts()
            depths, depths_fresh, depths_taken = self._depths(now)
            if now - self._slow_at >= SLOW_S or self._failures:
                self._slow()
                self._slow_at = now
            self._failures = 0
            fresh = replace(
                self._snapshot,
                at_ms=self.now_ms(),
                taken=self._clock.monotonic(),
                counts=counts,
                depths=depths,
                depths_fresh=depths_fresh,
                depths_taken=depths_taken,
                broker=self._broker.health(),
                rates=self._rates(now, self.now_ms()),
                lag_ms=self._lag_ms,
                retry_in_s=0.0,
                tries=0,
            )
        except Exception as exc:  # likewise: what cannot be read is shown as lost, and looked at again
            if not isinstance(exc, ConsoleError):
                log.exception("snapshot")
            wait = backoff_s(self._failures)
            self._failures += 1
            lost = StoreHealth(connected=False, error=words_of(exc) or type(exc).__name__)
            fresh = replace(
                self._snapshot, store=lost, broker=self._broker.health(), retry_in_s=wait, tries=self._failures
            )
            self._show(fresh)
            return wait
        quiet = (counts.cursor, depths) == (self._snapshot.counts.cursor, self._snapshot.depths)
        self._show(fresh)
        if not quiet or not fresh.told:
            self._moved_at = now
        if not quiet:
            return SNAPSHOT_S
        return SLOW_S if now - self._moved_at < REST_AFTER_S else REST_S

    def _depths(self, now: float) -> tuple[tuple[QueueDepth, ...], bool, float]:
        """Depths of the same moment as the counts, but never for more than a fiftieth of the broker's time; whether the
        broker answered when it was asked last; and when it was asked for these.
        """
        kept = self._snapshot
        asked = self._asked
        if asked is None or (asked.done() and now - self._asked_at > DEPTHS_UNTOLD_S):  # that is of another moment
            if asked is None and now < self._depths_due and not self._failures:
                return kept.depths, kept.depths_fresh, kept.depths_taken
            asked, self._asked_at = Future(), self._clock.monotonic()
            self._questions.put(asked)
            wait((asked,), DEPTHS_WAIT_S)
        spent = self._clock.monotonic() - self._asked_at
        if not asked.done():
            self._asked = asked
            return kept.depths, kept.depths_fresh and spent < DEPTHS_UNTOLD_S, kept.depths_taken
        self._asked = None
        self._depths_due = now + min(DEPTHS_AT_MOST_S, DEPTHS_SHARE * spent)
        try:
            return asked.result(), True, self._asked_at
        except ConsoleError as exc:
            log.info("depths are old: %s", exc)
            return kept.depths, False, kept.depths_taken

    def _ask(self) -> None:
        while (asked := self._questions.get()) is not None:
            try:
                asked.set_result(tuple(self._broker.depths()))
            except Exception as exc:  # noqa: BLE001 - who asked judges it
                asked.set_exception(exc)

    def _slow(self) -> None:
        answers, latency, error = self._store.health()
        asked = self._clock.now_ms()
        there, here = self._store.now_ms(), self._clock.now_ms()
        self._skew_ms = there - here
        # a clock on the wall that was set back is behind what this process and a store on this machine go by
        skew = health.skew(self._clock.wall_ms() - there, here - asked)
        workers, leads = tuple(self._store.workers()), self._store.leader(leader.ROLE)
        self._snapshot = replace(
            self._snapshot,
            workers=workers,
            took=self.meter.took_by_type(),
            fates=self._fates.find(workers, self.now_ms()),
            farewell=farewells.asked_for(self._store, workers, self.now_ms()),
            pauses=tuple(self._store.switches()),
            sessions=tuple(self._store.sessions()),
            leader=leads,
            leaderless_ms=0 if leads else self._snapshot.leaderless_ms or self.now_ms(),
            links=leader_link.links(self._store, leads),
            store=StoreHealth(connected=answers, latency_ms=latency, error=error),
            newer=self._store.newer(),
            skew_ms=skew if skew >= health.SKEW_WARNING_MS else 0,
        )

    def _show(self, fresh: Snapshot) -> None:
        self._snapshot = fresh
        for listener in self._snapshot_listeners:
            listener(fresh)

    def _rates(self, now: float, now_ms: int) -> Rates:
        with self._lock:
            while self._recent and now - self._recent[0][0] > RATE_WINDOW_S:
                self._recent.popleft()
            published, delivered, acked = (sum(row[place] for row in self._recent) for place in (1, 2, 3))
        return Rates(
            publish=published / RATE_WINDOW_S,
            deliver=delivered / RATE_WINDOW_S,
            ack=acked / RATE_WINDOW_S,
            flow=self.meter.rates(now_ms),
        )
