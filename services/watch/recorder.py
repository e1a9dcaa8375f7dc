"""Records the fleet every five seconds while this process leads."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from services.domain.errors import ConsoleError, StoreUnavailable
from services.domain.insight import depth, shop
from services.domain.insight.shop import ShopNow
from services.domain.insight.worker import FINE, STOPPED, WorkerNow
from services.domain.past import recorded
from services.domain.past.frame import BROKER, LEADER, SHOP, SWITCH, UNTOLD, WORKER, Frame, Numbers
from services.domain.past.recorded import Recorded
from services.domain.task.event import Event
from services.domain.task.lane import LANES
from services.domain.task.search.query import equals
from services.domain.task.status import WAITING, Status, Triage
from services.engine.lead.duty import DutyThread, OnDuty
from services.engine.registry import Registry
from services.monitor import live
from services.monitor.live import Changes, Snapshot
from services.monitor.numbers.meter import came, went
from services.monitor.numbers.oldest import waited_ms
from services.monitor.past.tape import LEVELS, Tape, set_aside
from services.monitor.shops.states import ShopStates
from services.ports import Broker, Clock, Store
from services.watch.alerts.look import Eyes, Look, NotKnown
from services.watch.alerts.rules import LISTED

log = logging.getLogger(__name__)
EVERY_S = LEVELS[0].step / 1000
#: the store is told so often that this goes on, and at once where that changes
TELL_S = 15.0
#: events of one look. A fleet that makes more is not read event by event: what came and went is reckoned then
MOST_EVENTS = 2_000
#: how every shop does is asked in at most a hundredth of the time
SHOPS_SHARE = 100.0
_BEHIND = "the clock is behind the last record: it was set back"
_ACTIVE = (*sorted(WAITING), Status.RUNNING, Status.RETRYING)
#: what a shop is in while nothing is to be done about it: it goes from one to the other with each task
CALM = frozenset({shop.HEALTHY, shop.RUNNING, shop.WAITING, shop.IDLE, shop.PAUSED_TYPE})


class Recorder(OnDuty):
    """A duty of the leader, in a thread of its own: a slow disk delays nobody."""

    def __init__(
        self,
        store: Store,
        broker: Broker,
        registry: Registry,
        eyes: Eyes,
        clock: Clock,
        path: Path,
        name: str = "",
    ) -> None:
        """``eyes``: what is asked for rules of alerts too is asked by these, and once for both; ``name``: of who leads
        here.
        """
        self._eyes = eyes
        self._store, self._broker, self._registry, self._clock = store, broker, registry, clock
        self._path, self._name = path, name
        self._said: str | None = None  #: why nothing is recorded, as the store was told last
        self._tell_due = 0.0
        self._duty = DutyThread(self.run, "recorder")
        self._cursor = ""
        self._came = self._went = self._failed = 0
        self._counted = False  #: whether all events since the last look were read
        self._before: tuple[int, int, Mapping[str, int]] | None = None  #: active, dead, and done by worker, at that
        self._tried: dict[str, tuple[int, int]] | None = None  #: done and failed by worker, at the last look
        self._failing: set[str] = set()  #: measures of rules whose number could not be found
        self._states: ShopStates | None = None
        self._shops: dict[str, str] = {}
        self._judged: tuple[ShopNow, ...] = ()  #: what they were taken from
        self._shops_due = 0.0

    def run(self, stop: threading.Event) -> None:
        """Until it is told to stop. What cannot be asked or written is a gap."""
        tape: Tape | None = None
        failed = ""
        self._cursor, self._before, self._said, self._tried = "", None, None, None
        while not stop.is_set():
            begun = self._clock.monotonic()
            try:
                if tape is not None and not tape.is_at(self._path):
                    tape.close()
                    tape = None
                tape = tape or Tape(self._path)
                frame = self.look()
                if tape.add(frame):
                    failed = ""
                    self._tell(frame.numbers.at_ms)
                else:
                    self._tell(0, _BEHIND)
            except Exception as exc:  # whatever it read: a recorder that ended would be taken for a fleet at rest
                expected = isinstance(exc, ConsoleError | sqlite3.Error | OSError)
                if str(exc) != failed:
                    log.warning("nothing is recorded: %s", exc, exc_info=not expected)
                failed = str(exc)
                if tape is not None and not isinstance(exc, ConsoleError):
                    tape.close()
                    tape = None
                self._begin_anew(exc)
                self._tell(0, str(getattr(exc, "strerror", None) or exc))
            self._clock.wait(stop, max(0.5, EVERY_S - (self._clock.monotonic() - begun)))
        if tape is not None:
            tape.close()

    def _begin_anew(self, why: Exception) -> None:
        """A file that is damaged never gets well: keep it for whoever wants to look, and record into another one."""
        try:
            if set_aside(self._path, why):
                log.warning("the record is damaged and lies beside %s now; another one begins", self._path)
        except OSError as exc:
            log.warning("the damaged record cannot be put aside: %s", exc)

    def _tell(self, at_ms: int, why: str = "") -> None:
        """Say in the store that this goes on, or why not: who watches may be on another machine."""
        if why == self._said and self._clock.monotonic() < self._tell_due:
            return
        try:
            body = None if at_ms else self._store.documents(recorded.KIND).get(recorded.NAME)
            before = recorded.DOCUMENT.read(body, Recorded())
            note = Recorded(holder=self._name, at=at_ms or before.at, why=why[:200])
            self._store.put_document(recorded.KIND, recorded.NAME, recorded.DOCUMENT.dump(note))
        except ConsoleError as exc:
            log.debug("nobody can be told: %s", exc)
            return
        self._said, self._tell_due = why, self._clock.monotonic() + TELL_S

    def look(self) -> Frame:
        """One look at everything. Raises the errors of the store."""
        with self._eyes.sleeps.work():
            return self._look()

    def _look(self) -> Frame:
        self._follow()
        depths = self._eyes.depths()
        seen = live.look(self._store, self._broker.health())
        told = depths is not None
        look = self._eyes.beside(seen)
        lanes = {one.lane: one.depth if told else UNTOLD for one in depth.lanes(seen.counts, depths or ())}
        status, fleet = seen.counts.status, seen.fleet()
        waiting = sum(status.get(one, 0) for one in WAITING)
        oldest = self._oldest() if waiting else 0
        unacked = UNTOLD if depths is None else sum(one.unacked or 0 for one in depths)
        came, went, failed = self._ends(seen)
        tries, tries_failed = self._tries(seen)
        numbers = Numbers(
            at_ms=seen.at_ms,
            since_ms=seen.at_ms,
            waiting=waiting,
            running=status.get(Status.RUNNING, 0),
            retrying=status.get(Status.RETRYING, 0),
            scheduled=status.get(Status.SCHEDULED, 0),
            held=status.get(Status.HELD, 0),
            dead=seen.counts.triage.get(Triage.OPEN, 0),
            **lanes,
            unacked=unacked,
            oldest_s=oldest,
            workers=fleet.living,
            slots=fleet.slots,
            busy=fleet.busy,
            came=came,
            went=went,
            failed=failed,
            counted=self._counted,
            peak_waiting=waiting,
            peak_unacked=unacked,
            peak_oldest_s=oldest,
            **{f"waits_{lane}_s": self._waits(seen, lane) for lane in LANES},
            held_s=look.held[0].ms // 1000 if look.held else 0,
            broken=max(Counter(one.kind for one in look.breakers).values(), default=0),
            tries=tries,
            tries_failed=tries_failed,
            **self._of_rules(look),
        )
        return Frame(numbers, self._things(seen))

    def _of_rules(self, look: Look) -> dict[str, int]:
        """What rules of alerts are tried on and nothing else is made of; what nobody can say stays untold."""
        found = dict[str, int]()
        for measure in LISTED:
            try:
                found |= measure.keeps(look) if measure.keeps is not None else {}
            except NotKnown:
                continue
            except StoreUnavailable:
                raise
            except Exception:  # a document that cannot be read, too: nothing else that is recorded hangs on it
                if measure.name not in self._failing:
                    log.exception("what rules of %s are tried on is not recorded", measure.name)
                self._failing.add(measure.name)
            else:
                self._failing.discard(measure.name)
        return found

    def _follow(self) -> None:
        """Count what happened since the last look, or start anew behind what is too much to read."""
        self._counted = bool(self._cursor)
        if self._cursor and self._states is not None:
            batch = self._store.events(self._cursor, MOST_EVENTS, 0.0)
            if not batch.gap and len(batch.events) < MOST_EVENTS:
                self._cursor = batch.cursor
                self._count(batch.events)
                self._states.note(Changes(events=batch.events))
                return
            self._counted = False
        self._cursor = self._store.events("", 1, 0.0).cursor
        self._states = ShopStates(self._store, self._registry)
        self._states.prime()

    def _count(self, events: Iterable[Event]) -> None:
        for event in events:
            if event.from_ == event.to:
                continue
            self._came += came(event)
            self._went += went(event)
            self._failed += event.to == Status.DEAD

    def _ends(self, seen: Snapshot) -> tuple[int, int, int]:
        """What came, went and failed since the last look: as counted, else as counters tell that only ever rise."""
        came, went, failed = self._came, self._went, self._failed
        self._came = self._went = self._failed = 0
        status = seen.counts.status
        active = sum(status.get(one, 0) for one in _ACTIVE)
        dead, done = status.get(Status.DEAD, 0), {one.worker: one.done for one in seen.workers}
        before, self._before = self._before, (active, dead, done)
        if not self._counted and before is not None:
            failed = max(0, dead - before[1])
            went = failed + sum(max(0, number - before[2].get(name, 0)) for name, number in done.items())
            came = max(0, went + active - before[0])
        return came, went, failed

    def _tries(self, seen: Snapshot) -> tuple[int, int]:
        """Attempts that ended since the last look, and those of them that failed; a worker that is not listed for a
        moment keeps what it had counted.
        """
        now = {one.worker: (one.done, one.failed) for one in seen.workers}
        before, self._tried = self._tried, {**(self._tried or {}), **now}
        if before is None:
            return 0, 0
        known = [(before.get(name, (0, 0)), counted) for name, counted in now.items()]
        good = sum(max(0, counted[0] - was[0]) for was, counted in known)
        bad = sum(max(0, counted[1] - was[1]) for was, counted in known)
        return good + bad, bad

    def _waits(self, seen: Snapshot, lane: str) -> int:
        if not seen.counts.lanes.get(lane, {}).get(Status.QUEUED, 0):
            return 0
        return waited_ms(self._store, equals("status", Status.QUEUED), equals("lane", lane)) // 1000

    def _oldest(self) -> int:
        return waited_ms(self._store, equals("status", *sorted(WAITING))) // 1000

    def _things(self, seen: Snapshot) -> dict[tuple[str, str], str]:
        found = {(SHOP, key): state for key, state in self._shop_states(seen).items()}
        for worker in seen.fleet().workers:
            if worker.state != STOPPED:
                found[WORKER, worker.name] = worker_state(worker)
        for switch in seen.pauses:
            found[SWITCH, f"{switch.gate} {switch.scope}"] = switch.by or "?"
        if seen.leader:
            found[LEADER, "leader"] = seen.leader
        if not seen.broker.connected:
            found[BROKER, "broker"] = "lost"
        elif seen.broker.blocked:
            found[BROKER, "broker"] = "blocked"
        return found

    def _shop_states(self, seen: Snapshot) -> dict[str, str]:
        begun = self._clock.monotonic()
        if self._states is None or begun < self._shops_due:
            return self._shops
        judged = self._states.shops(seen)
        if judged is not self._judged:  # at rest it is the very same
            self._shops = {one.key: state for one in judged if (state := shop_state(one))}
            self._judged = judged
        self._shops_due = begun + SHOPS_SHARE * (self._clock.monotonic() - begun)
        return self._shops


def shop_state(now: ShopNow) -> str:
    """What is kept of a shop: "" while there is nothing to do about it, ``STATE`` or ``STATE/UNDER``."""
    under = now.under if now.under and now.under not in CALM else ""
    if now.state in CALM:
        return under
    return f"{now.state}/{under}" if under else now.state


def worker_state(now: WorkerNow) -> str:
    """What is kept of a worker: its state, its version and the slots it has."""
    info = now.info
    return f"{now.state if now.state != FINE else 'running'} {info.version or '?'} {len(info.slots)}"
