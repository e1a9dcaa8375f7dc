"""One worker: takes work orders, runs them in its slots, records their outcomes, and leaves without losing any."""

from __future__ import annotations

import logging
import math
import os
import platform
import secrets
import socket
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

import psutil

from services.domain.change import Finish
from services.domain.errors import ConsoleError, StoreError, UsageError
from services.domain.fleet import worker_order
from services.domain.fleet.autoscale import Load, Range, Scaler
from services.domain.fleet.remote import OrderEnd
from services.domain.fleet.worker import POOL_SHOWN, BrowserState, Heard, LinkState, SlotState, WorkerInfo
from services.domain.fleet.worker_order import WorkerOrder
from services.domain.gates.ability import Ability
from services.domain.gates.lane_share import Share, Sharing
from services.domain.insight import publisher
from services.domain.insight import worker as insight
from services.domain.task import ledger
from services.domain.task.lane import LANE_QUEUE, LANES
from services.domain.task.order import BrokerHealth, QueueDepth
from services.domain.text.said import said
from services.engine import farewells
from services.engine.registry import Registry
from services.ports import Broker, Clock, Consumer
from services.ports.upkeep import Parked
from services.processes import this_process
from services.version import VERSION
from services.workers.abilities import Abilities
from services.workers.burst import Burst
from services.workers.feeder import FOR_EACH_SLOT, Feeder
from services.workers.finisher import Finisher
from services.workers.intake import Intake, Tally
from services.workers.keeper import Keeper
from services.workers.parts import WorkerOptions, WorkerParts
from services.workers.preempt import Preemptor
from services.workers.prefetch import PrefetchWindow
from services.workers.remote import LogShow, ProfileOrders, tidy
from services.workers.runner import Runner
from services.workers.slots import Claimed, ClaimedTask, SlotPool
from services.workers.spool import Spool

log = logging.getLogger(__name__)
#: a worker waits so long for what earlier ones could not record, before it takes (and its leader judges) anything
REPLAY_S = 10.0
#: so long it is watched whether another process still works under the same name, and how often it is looked at
TWIN_S, TWIN_LOOK_S = 3.0, 0.25
#: so long a name is kept for a worker that begins, at most: longer than it waits for what earlier ones left
NAME_MS = 20_000


class Worker:
    """Threads: one intake, ``slots`` slots, one finisher, one keeper. Started by ``start``, ended by ``stop``."""

    def __init__(self, parts: WorkerParts, options: WorkerOptions) -> None:
        self._parts, self._options = parts, options
        self.name = options.name or f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
        self._session = secrets.token_hex(4)
        self._state = "running"
        self._stopping = threading.Event()
        self._claimed = Claimed()
        self._heartbeat = Heartbeat(self.name, options)
        self._sharing = Sharing(options.lanes, options.slots, options.shares)
        self._grace_s: float | None = None  #: as it was ordered to stop with
        self._last: WorkerInfo | None = None
        self._started, self._ending = False, threading.Lock()
        self._latest = math.inf  #: when running tasks are stopped at last, once it is being stopped
        self._clean = True  #: whether everything was recorded when it was stopped

    def start(self) -> None:
        """Begin to take work.

        Raises:
            BrokerUnavailable: the broker cannot be reached at all.
            UsageError: another process works under the name that was given to this one.
        """
        with self._own_name():
            self._begin()

    def _begin(self) -> None:
        parts, options = self._parts, self._options
        self._agree()
        self._consumer = parts.broker.consumer(options.lanes, window=options.slots * FOR_EACH_SLOT, name=self.name)
        spool = Spool(options.spool) if options.spool is not None else None
        self._finisher = Finisher(
            parts.store, parts.steps, self._consumer, parts.clock, self.name, spool, self._claimed.drop
        )
        self._abilities = Abilities(
            parts.executors, parts.registry, handlers=parts.handlers, strict_types=options.strict_types
        )
        self._runner = Runner(
            parts.store,
            parts.clock,
            parts.registry,
            parts.executors,
            worker=self.name,
            abilities=self._abilities,
            policy=parts.policy,
            artifacts=parts.artifacts,
        )
        self._pool = SlotPool(self._work, options.slots, self.name)
        self._prefetch = PrefetchWindow(self._pool, parts.clock)
        self._burst = Burst(parts.clock, self._prefetch)
        self._intake = Intake(
            parts.store,
            self._consumer,
            parts.steps,
            parts.registry,
            parts.clock,
            worker=self.name,
            session=self._session,
            lease_ms=round(options.lease_s * 1000),
            put=self._put,
            stopping=self._stopping,
            able=self._abilities.takes,
            home=lambda name: options.node if self._abilities.needs_profile(name) else "",
            burst=self._burst,
            strict_shops=options.strict_shops,
            hold_foreign=options.hold_foreign,
        )
        self._abilities.decline(options.declines)
        self._autoscaler = self._make_autoscaler()
        self._autoscaler.within(options.auto)
        self._feeder = self._make_feeder()
        self._subscriptions = Subscriptions(
            self._consumer, parts.registry, self._abilities, self._pool, options, name=self.name
        )
        self._profiles = ProfileOrders(parts.store, parts.profiles, self.name)
        self._life = ""  #: see ``Heard``
        self._log_show = LogShow(parts.store, parts.clock, self.name)
        self._keeper = Keeper(
            parts.store,
            parts.steps,
            parts.clock,
            claimed=self._claimed.all,
            info=self.info,
            hear=self._hear,
            lease_s=options.lease_s,
            name=self.name,
        )
        self._started = True
        self._finisher.wait_replayed(REPLAY_S)
        self._feeder.start()
        self._announce()

    def _agree(self) -> None:
        """What this worker tells of itself, of its lines and of its files is told by the time of the fleet."""
        try:
            self._parts.clock.agree(self._parts.store.now_ms())
        except StoreError as exc:
            log.warning("what time it is for the fleet is not known: %s", exc)
        self._heartbeat.began = self._parts.clock.now_ms()

    @contextmanager
    def _own_name(self) -> Iterator[None]:
        """Nobody else begins under a name that was given to this worker until its first heartbeat is there."""
        if not self._options.name:  # made for this process alone
            yield
            return
        role, store = f"worker:{self.name}", self._parts.store
        try:
            try:
                # another begins, or was killed as it did
                while not self._stopping.is_set() and not store.lead(role, self._heartbeat.process, NAME_MS):
                    self._parts.clock.wait(self._stopping, TWIN_LOOK_S)
                self._need_no_twin()
            except StoreError as exc:
                log.warning("whether another worker is called %s is not known: %s", self.name, exc)
            yield
        finally:
            try:
                store.resign(role, self._heartbeat.process)
            except StoreError as exc:
                log.warning("the name %s is free in %d s: %s", self.name, NAME_MS // 1000, exc)

    def _need_no_twin(self) -> None:
        """Two of one name would be one line for everybody who looks, and each take orders of the other. One that was
        killed a moment ago is told by its silence.
        """
        first = self._twin()
        ends = self._parts.clock.monotonic() + TWIN_S
        while first is not None and self._parts.clock.monotonic() < ends and not self._stopping.is_set():
            self._parts.clock.wait(self._stopping, TWIN_LOOK_S)
            other = self._twin()
            if other is not None and other.seen_at > first.seen_at:
                raise UsageError(
                    said("worker.twin", worker=self.name, host=other.host, pid=other.pid), field="worker.name"
                )

    def _twin(self) -> WorkerInfo | None:
        """Who else worked under this name a moment ago."""
        store = self._parts.store
        found = next((one for one in store.workers() if one.worker == self.name), None)
        if found is None or found.state == insight.STOPPED or insight.missed(found, store.now_ms()):
            return None
        return None if self._heartbeat.is_own(found) else found

    def _make_autoscaler(self) -> Autoscaler:
        return Autoscaler(
            self._parts.broker,
            self._parts.clock,
            lanes=self._options.lanes,
            state=lambda: (self._pool.slots, self._pool.claimed()),
            resize=self._resize,
            stopping=self._stopping,
            name=self.name,
        )

    def _make_feeder(self) -> Feeder:
        parts, options = self._parts, self._options
        preemptor = Preemptor(
            self._pool,
            self._intake,
            parts.store,
            parts.registry,
            parts.clock,
            lanes=options.lanes,
            limit=options.preemptions,
            fetches=self._abilities.fetches,
            sharing=lambda: self._sharing,
        )
        return Feeder(
            self._pool,
            self._consumer,
            self._intake,
            parts.clock,
            prefetch=self._prefetch,
            burst=self._burst,
            sharing=lambda: self._sharing,
            give_back=self._give_back,
            preemptor=preemptor,
            takes=lambda: self._state == "running",
            stopping=self._stopping,
            name=self.name,
        )

    @property
    def state(self) -> str:
        """running | draining | stopping | stopped."""
        return self._state

    @property
    def tally(self) -> Tally:
        """What became of the deliveries so far, in numbers."""
        return self._intake.tally

    @property
    def done(self) -> int:
        """Tasks that succeeded here, as recorded."""
        return self._finisher.done

    def busy(self) -> int:
        """Claimed tasks whose outcome is not recorded yet."""
        return max(len(self._claimed), self._finisher.unrecorded())

    def info(self) -> WorkerInfo:
        """The heartbeat."""
        ability = self._abilities.refresh()
        self._last = self._heartbeat.draw(
            state=self._state,
            slots=self._pool.states(lambda claimed: claimed.task.started_at),
            shares=self._sharing.shares(),
            ability=ability,
            prefetched=max(0, self._consumer.unacked() - self._claimed.delivered()),
            ahead=self._consumer.untouched(),
            done=self._finisher.done,
            failed=self._finisher.failed,
            auto=self._autoscaler.words,
            browsers=self._abilities.browsers,
            pool=(*self._profiles.windows(), *self._abilities.pool)[:POOL_SHOWN],
            versions=self._abilities.versions,
            answers=self._profiles.answers,
            broker=self._parts.broker.health(),
            wall_ms=self._parts.clock.wall_ms(),
        )
        return self._last

    @property
    def last_info(self) -> WorkerInfo:
        """The last heartbeat; to ask for it costs nothing."""
        return self._last if self._last is not None else self.info()

    def obey(self, order: str) -> None:
        """Do what an operator asked of this worker; unknown orders are logged and left."""
        obey(self, order)

    def leave(self, grace_s: float | None) -> None:
        """Take nothing more and let whoever runs this worker stop it, with this grace; None: its own."""
        self._grace_s = grace_s
        self._state = "stopping"
        self._stopping.set()

    def refuse(self, types: Iterable[str]) -> None:
        """Start no task of these types, and only of these, from now on; others may have them."""
        self._abilities.decline(types)

    def about_profile(self, order: WorkerOrder, words: str) -> None:
        """Do something with the browser profile of a shop; how it ended stands in the heartbeat."""
        self._profiles.obey(order, words)

    def show_log(self, seconds: float) -> None:
        """Show the last lines of this process to whoever asked, for so long."""
        self._log_show.show(seconds)

    def cancel(self, task_id: str) -> None:
        """Ask the attempt of a task to end."""
        for claimed in self._claimed.all():
            if claimed.task.task_id == task_id:
                claimed.cancel("requested")

    def drain(self) -> None:
        """Take nothing more; running tasks go on."""
        if self._state == "running":
            self._state = "draining"
            self._consumer.pause()

    def resume(self) -> None:
        """Take work again after a drain."""
        if self._state == "draining":
            self._state = "running"
            self._consumer.resume()

    def set_slots(self, slots: int, shares: Mapping[str, Share] | None = None) -> None:
        """Change the number of slots, and the shares of the lanes that are named; fewer applies as tasks end."""
        self.scale_within(None)
        self._resize(slots, shares)

    def scale_within(self, bounds: Range | None) -> None:
        """Let the number of slots follow what waits and what the machine has left; None: leave it as it is."""
        self._autoscaler.within(bounds)

    def _resize(self, slots: int, shares: Mapping[str, Share] | None = None) -> None:
        self._sharing = self._sharing.changed(slots, shares or {})
        self._pool.resize(slots)

    def wait_stop_ordered(self, seconds: float | None) -> bool:
        """Wait until somebody orders this worker to stop, for ever with None."""
        return self._stopping.wait(seconds)

    def stop(self, grace_s: float | None = None) -> bool:
        """Give back what has not started, let running tasks end within the grace, then give those back too.

        Returns whether everything was recorded. Nothing counts as a failure. Where it is being stopped already, this
        waits for that, and running tasks get no more than the shorter grace.
        """
        if grace_s is not None:
            self._latest = min(self._latest, self._parts.clock.monotonic() + grace_s)
        with self._ending:
            return self._stop(grace_s)

    def _stop(self, grace_s: float | None) -> bool:
        if not self._started or self._state == "stopped":
            return self._clean
        self._state = "stopping"
        self._stopping.set()
        self._feeder.join(10.0)
        self._consumer.pause()
        self._feeder.let_all_go()
        given = self._grace_s if grace_s is None else grace_s
        grace = self._options.grace_s if given is None else given
        end = self._parts.clock.monotonic() + grace
        while self._pool.claimed() and self._parts.clock.monotonic() < min(end, self._latest):
            self._pool.wait_room(1 - self._pool.slots, 0.1)
        for claimed in self._claimed.all():
            claimed.cancel("shutdown")
        self._pool.close(30.0)
        self._profiles.close()
        self._log_show.close()
        self._clean = self._finisher.close(30.0)
        self._keeper.close()
        self._consumer.close()
        self._state = "stopped"
        try:
            farewells.leave(self._parts.store, self.last_info)
        except StoreError as exc:
            log.warning("this worker stays listed until its heartbeat is old: %s", exc)
        return self._clean

    def _announce(self) -> None:
        try:
            self._hear(self._parts.store.heartbeat(self.info()))
            tidy(self._parts.store)
        except StoreError as exc:
            log.warning("first heartbeat failed: %s", exc)

    def fetches(self, lane: str, task_type: str, node: str = "") -> bool:
        """Whether this worker fetches parked tasks of this kind; ``node``: that they wait for."""
        return self._subscriptions.fetches(lane, task_type, node)

    def _hear(self, heard: Heard) -> None:
        self._subscriptions.follow()
        for order in heard.orders:
            self.obey(order)
        if wanted := self._subscriptions.wanted(heard):
            self._feeder.want(wanted)
        if heard.life != self._life:
            if self._life:
                self._finisher.tell_again()
            self._life = heard.life

    def _put(self, claimed: ClaimedTask) -> None:
        self._claimed.add(claimed)
        claimed.put_at = self._parts.clock.monotonic()
        self._pool.put(claimed)

    def _give_back(self, claimed: ClaimedTask) -> None:
        """It was claimed and did not start; whoever has a free slot may."""
        self._record(self._runner.unstarted(claimed), claimed)

    def _work(self, claimed: ClaimedTask, slot: int) -> None:
        op = self._runner.run(claimed, slot)
        self._prefetch.took(claimed.task.task_type, self._parts.clock.monotonic() - claimed.started)
        try:
            if claimed.lines and not self._finisher.away:
                self._keeper.flush(claimed)
        finally:  # whatever becomes of its log, the outcome must be recorded
            self._record(op, claimed)

    def _record(self, op: Finish, claimed: ClaimedTask) -> None:
        self._finisher.put(op, claimed.delivery, claimed.task)
        if claimed.lines:
            self._keeper.flush(claimed)


class Ordered(Protocol):
    """Who can be told."""

    def drain(self) -> None: ...
    def resume(self) -> None: ...
    def leave(self, grace_s: float | None) -> None: ...
    def refuse(self, types: Iterable[str]) -> None: ...
    def cancel(self, task_id: str) -> None: ...
    def scale_within(self, bounds: Range | None) -> None: ...
    def about_profile(self, order: WorkerOrder, words: str) -> None: ...
    def show_log(self, seconds: float) -> None: ...
    def set_slots(self, slots: int, shares: Mapping[str, Share] | None = None) -> None: ...


def obey(worker: Ordered, order: str) -> None:
    """Do it; what cannot be understood, from a newer program perhaps, is logged and left."""
    verb, _, value = order.partition("=")
    if verb == "cancel":  # the engine's own, with the id of any task
        worker.cancel(value)
        return
    try:
        told = worker_order.parse(order)
    except ValueError as exc:
        log.warning("order not understood: %r: %s", order, exc)
        return
    if told.auto is not None:
        worker.scale_within(told.auto)
        return
    do: dict[str, Callable[[], None]] = {
        "drain": worker.drain,
        "resume": worker.resume,
        "stop": lambda: worker.leave(told.grace_s),
        "refuse": lambda: worker.refuse(told.types),
        "slots": lambda: worker.set_slots(told.slots, told.shares),
        worker_order.LOG: lambda: worker.show_log(told.log_s),
    }
    do.get(verb, lambda: worker.about_profile(told, order))()


class Subscriptions:
    """Follows the queues of single shops as they come and go. Used by one thread at a time."""

    def __init__(
        self,
        consumer: Consumer,
        registry: Registry,
        abilities: Abilities,
        pool: SlotPool,
        options: WorkerOptions,
        *,
        name: str,
    ) -> None:
        """``name`` is the worker's."""
        self._consumer, self._registry, self._abilities, self._pool = consumer, registry, abilities, pool
        self._lanes, self._node = frozenset(map(str, options.lanes)), options.node
        self._turn = zlib.crc32(name.encode())
        self._wanted: tuple[tuple[str, ...], int] = ((), 0)

    def follow(self) -> None:
        """Take from the queues that single shops have now; only who takes all lanes, for their messages are of all."""
        known = self._registry.subscribed_shops() if self._lanes.issuperset(LANES) else ()
        cut = self._turn % len(known) if known else 0
        wanted = ((*known[cut:], *known[:cut]), self._pool.slots)  # workers begin at different ends
        if wanted != self._wanted:
            self._wanted = wanted
            self._consumer.serve(*wanted)

    def fetches(self, lane: str, task_type: str, node: str = "") -> bool:
        """Whether this worker fetches parked tasks of this kind; ``node``: that they wait for."""
        return node in ("", self._node) and lane in self._lanes and self._abilities.fetches(task_type)

    def wanted(self, heard: Heard) -> tuple[Parked, ...]:
        """What to fetch of that which waits for a capable worker, and for this node."""
        any_ = [kind for kind in sorted(heard.unserved) if self.fetches(*kind)]
        return (*any_, *((*kind, self._node) for kind in sorted(heard.homebound) if self.fetches(*kind)))


class Heartbeat:
    """Of one worker; ``began``: UTC ms."""

    def __init__(self, name: str, options: WorkerOptions) -> None:
        self._name, self._options, self.began = name, options, 0
        self._me = psutil.Process()

    @property
    def process(self) -> str:
        """Which process this is, among all of the fleet."""
        host, pid, started = this_process()
        return f"{host} {pid} {started:.2f}"

    def is_own(self, info: WorkerInfo) -> bool:
        """Whether a worker of this process told it, as one that leaves while the next one begins."""
        return (info.host, info.pid, info.pid_started) == this_process()

    def draw(
        self,
        *,
        state: str,
        slots: tuple[SlotState, ...],
        shares: Mapping[str, Share],
        ability: Ability,
        prefetched: int,
        ahead: Mapping[str, int],
        done: int,
        failed: int,
        auto: str = "",
        browsers: int = 0,
        pool: tuple[BrowserState, ...] = (),
        versions: Mapping[str, str] | None = None,
        answers: tuple[OrderEnd, ...] = (),
        broker: BrokerHealth | None = None,
        wall_ms: int = 0,
    ) -> WorkerInfo:
        """The heartbeat."""
        with self._me.oneshot():
            cpu, memory = self._me.cpu_percent(None), self._me.memory_info().rss / 1e6
        closed = broker.closed if broker is not None else ()
        host, pid, started = this_process()
        return WorkerInfo(
            worker=self._name,
            host=host,
            pid=pid,
            pid_started=started,
            version=VERSION,
            ledger=ledger.FORM,
            notes_runs=True,
            system=f"{platform.system()} {platform.release()}",
            kind=self._options.kind,
            node=self._options.node,
            started_at=self.began,
            wall_at=wall_ms,
            slots=slots,
            lanes=self._options.lanes,
            closed=tuple(lane for lane in self._options.lanes if f"{LANE_QUEUE}{lane}" in closed),
            shares={lane: (share.least, share.most) for lane, share in shares.items()},
            state=state,
            prefetched=prefetched,
            ahead=dict(ahead),
            done=done,
            failed=failed,
            cpu=cpu,
            memory_mb=memory,
            executors=tuple(ability.executors),
            handlers=tuple(ability.handlers),
            commands=tuple(ability.commands),
            lends=tuple(ability.lends),
            lacks=dict(ability.lacks),
            declines=tuple(ability.declines),
            proxies=dict(self._options.proxies),
            auto=auto,
            browsers=browsers,
            pool=pool,
            versions={"python": platform.python_version(), **(versions or {})},
            answers=answers,
            cpu_machine=psutil.cpu_percent(None),
            memory_machine=psutil.virtual_memory().percent,
            link=publisher.of_health(broker) if broker is not None else LinkState(),
        )


LOOK_S = 5.0


class Autoscaler:
    """A thread that looks every five seconds while there is a range to stay within."""

    def __init__(
        self,
        broker: Broker,
        clock: Clock,
        *,
        lanes: Sequence[str],
        state: Callable[[], tuple[int, int]],
        resize: Callable[[int], None],
        stopping: threading.Event,
        name: str,
    ) -> None:
        """``state``: slots and tasks in hand."""
        self._broker, self._clock, self._state, self._resize = broker, clock, state, resize
        self._queues = frozenset(f"rpa_tasks_{lane}" for lane in lanes)
        self._stopping, self._name = stopping, name
        self._bounds: Range | None = None
        self._scaler: Scaler | None = None
        self._thread: threading.Thread | None = None

    @property
    def words(self) -> str:
        """The range to stay within, as it is written; "" for none."""
        return str(self._bounds or "")

    def within(self, bounds: Range | None) -> None:
        """Stay within these from now on; None: leave the slots alone."""
        self._bounds = bounds
        self._scaler = Scaler(bounds, os.cpu_count() or 1) if bounds is not None else None
        if bounds is not None and self._thread is None:
            psutil.cpu_percent(None)  # what the first look compares with
            self._thread = threading.Thread(target=self._loop, name=f"{self._name}-autoscale", daemon=True)
            self._thread.start()

    def look(self) -> None:
        """Look once, and change the slots where it is time."""
        scaler = self._scaler
        if scaler is None:
            return
        slots, busy = self._state()
        may_read = self._queues - set(self._broker.health().closed)  # what waits elsewhere more slots would not start
        load = Load(
            at=self._clock.monotonic(),
            slots=slots,
            busy=busy,
            waiting=waiting(self._broker.depths(), may_read),
            cpu=psutil.cpu_percent(None),
            memory=psutil.virtual_memory().percent,
        )
        wanted = scaler.decide(load)
        if wanted != slots:
            log.info(
                "%s: %d slots become %d (%d busy, %d waiting, processor %.0f %%, memory %.0f %%)",
                self._name, slots, wanted, busy, load.waiting, load.cpu, load.memory,
            )  # fmt: skip
            self._resize(wanted)

    def _loop(self) -> None:
        while not self._clock.wait(self._stopping, LOOK_S):
            try:
                self.look()
            except ConsoleError as exc:
                log.warning("%s: the queues cannot be seen, the slots stay as they are: %s", self._name, exc)
            except Exception:  # the next look may go well, and the slots stay as they are
                log.exception("%s", self._name)


def waiting(depths: Sequence[QueueDepth], queues: frozenset[str]) -> int:
    """Messages in the lanes that nobody holds: what waits behind a gate could not start with more slots either."""
    return sum(depth.ready for depth in depths if depth.name in queues)
