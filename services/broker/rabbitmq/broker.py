"""The RabbitMQ driver of the Broker port: one connection to publish, another to consume, declare and count."""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

import msgspec

from services.broker.rabbitmq import findings, topology
from services.broker.rabbitmq import url as rabbitmq_url
from services.broker.rabbitmq.connection import Link
from services.broker.rabbitmq.consumer import RabbitConsumer
from services.broker.rabbitmq.control import Control
from services.broker.rabbitmq.declare import NO_ANSWER
from services.broker.rabbitmq.errors import ACCESS_REFUSED, NOT_FOUND, ChannelLost, unreachable
from services.broker.rabbitmq.management import Management, alarms_of
from services.broker.rabbitmq.publisher import NO_EXCHANGE, UNROUTABLE, WINDOW, Publisher, Unfit, exchange_of
from services.broker.rabbitmq.timing import Timing
from services.broker.rabbitmq.topology import Binding, Declarable, Exchange, Queue
from services.broker.rabbitmq.wire import Channel
from services.domain.errors import BrokerError, BrokerUnavailable, TopologyMismatch
from services.domain.task import envelope
from services.domain.task.lane import LANES, shop_queue
from services.domain.task.order import BrokerHealth, Inspection, Order, QueueDepth, Receipt
from services.domain.text.said import said
from services.domain.upkeep.health import Finding
from services.ports import Clock
from services.ports.broker import Capabilities

DEAD_WINDOW, LOG_WINDOW, NOTICE_WINDOW = 50, 200, 400
_NOTICES = (topology.NOTICES, topology.LATE)
ALARMS_EVERY = 5.0  #: seconds between two questions for the broker's alarms
RESTORE_EVERY = 5.0  #: seconds between two restorations asked for by lost orders
RESTORE_WAIT = 5.0  #: seconds that lost orders wait for it
Named = Exchange | Queue
PATIENCE = 6.0  #: seconds for all questions; what nobody has answered for by then counts as out of reach
SILENCE = ChannelLost(0, NO_ANSWER)


class RabbitBroker:
    """RabbitMQ behind the port. An alarm of the broker blocks the publishing connection only.

    Both connections open when first needed and come back by themselves; what ``ensure`` declared is declared again.
    """

    capabilities = Capabilities(priority=True, delay=True, depth=True, unroutable=True, dead_log=True, others=True)

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        management_url: str = "",
        profile: str = topology.SINGLE,
        timing: Timing | None = None,
        window: int = WINDOW,
        insecure: bool = False,
        foreign: Iterable[str] = (),
    ) -> None:
        """``profile``: single (classic lanes with priorities) or cluster (quorum lanes); ``insecure``: the certificate
        of the server is not checked; ``foreign``: plain work queues of other programs, which are counted too.
        """
        self._foreign = frozenset(foreign)
        self._profile = profile
        self.address = replace(rabbitmq_url.parse(url), insecure=insecure)
        self._clock, self._timing = clock, timing or Timing()
        self.management = Management(self.address, management_url, clock)
        self._out = Link(self.address, clock, self._timing, name="publish")
        self._in = Link(self.address, clock, self._timing, name="consume")
        self._control = Control(self._in, self.management, profile)
        self._publisher = Publisher(self._out, clock, self._restore, window=window, cluster=profile == topology.CLUSTER)
        self._lock = threading.Lock()
        self._consumers: list[RabbitConsumer] = []
        self._dedicated: set[str] = set()
        self._waits: set[int] = set()  #: delays that somebody else declared
        self._missed: frozenset[str] = frozenset()  #: exchanges that were not there when something was sent to them
        self._restored_at = float("-inf")
        self._alarms_at = float("-inf")
        self._alarms: tuple[str, ...] = ()
        self._alarms_ms = 0  #: since when there are some
        self._restoration = threading.Event()  #: clear while it is under way
        self._restoration.set()
        self._used: set[Link] = set()
        self._noticed = False  #: somebody has declared the queue of notices

    # -------------------------------------------------------------------------------------------------- messages
    def ensure(self, platforms: Iterable[str] = (), delays: Iterable[int] = ()) -> None:
        self._use(self._in)
        self._control.ensure(platforms, delays)

    def publish(self, orders: Sequence[Order]) -> list[Receipt]:
        self._use(self._out)
        delays = {order.delay_s for order in orders if order.kind == "delay" and order.delay_s > 0}
        if delays and (unknown := delays - self._control.delays):
            self._add_delays(unknown)
        if self._profile == topology.CLUSTER:
            orders = [_for_quorum(order) for order in orders]
        orders = [_for_queue(order) if order.kind == "letter" else order for order in orders]
        if self._control.own_way:
            orders = [_own(order) for order in orders]
        receipts = self._published(orders)
        lost = [place for place, receipt in enumerate(receipts) if receipt == UNROUTABLE]
        if lost and self._restoration.wait(RESTORE_WAIT):
            # somebody may have deleted a queue: it is there again, and nobody has to wait for the turn of the outbox
            again = [_by_all(orders[place]) for place in lost]
            for place, receipt in zip(lost, self._published(again), strict=True):
                receipts[place] = receipt
        return receipts

    def _published(self, orders: Sequence[Order]) -> list[Receipt]:
        """An exchange that is not there leads nowhere, as one without a queue: it is declared again, too. Until it is
        there nothing more is sent to it, for that closes the channel of all orders.
        """
        away = self._still_missed(orders) if self._missed else frozenset()
        places = [place for place, order in enumerate(orders) if not away or _exchange(order) not in away]
        receipts = [UNROUTABLE] * len(orders)
        for place, receipt in zip(places, self._publisher.publish([orders[place] for place in places]), strict=True):
            if receipt.error.startswith(NO_EXCHANGE):
                with self._lock:
                    self._missed |= {_exchange(orders[place])}
            else:
                receipts[place] = receipt
        return receipts

    def _still_missed(self, orders: Sequence[Order]) -> frozenset[str]:
        """Which exchanges of these orders are still not there, looked for on channels of their own."""
        asked = [Exchange(name, "") for name in self._missed & {_exchange(order) for order in orders}]
        if not asked:
            return frozenset()
        self._use(self._in)
        try:
            reasons: list[ChannelLost | None] = self._in.call(
                lambda answer: _ask_all(self._in, asked, answer), self._in.timing.call
            )
        except BrokerUnavailable:  # sending tells
            return frozenset()
        away = frozenset(
            part.name for part, reason in zip(asked, reasons, strict=True) if reason and reason.code == NOT_FOUND
        )
        with self._lock:
            self._missed -= {part.name for part in asked} - away
        if away:
            self._restore()
        return away

    def _add_delays(self, unknown: set[int]) -> None:
        try:
            self.ensure(delays=unknown)
        except BrokerError:  # each order says by itself what became of it
            return

    def consumer(self, lanes: Sequence[str], *, window: int, name: str) -> RabbitConsumer:
        queues = list(dict.fromkeys(topology.lane_queue(lane) for lane in lanes))
        with self._lock:
            self._dedicated.update(queue for queue in queues if topology.kind_of(queue) in ("shop", "other"))
        return self._consume(queues, window, name)

    def dead_letters(self, *, name: str) -> RabbitConsumer:
        return self._consume([topology.DEAD_QUEUE], DEAD_WINDOW, name)

    def notices(self, *, name: str) -> RabbitConsumer | None:
        self._use(self._in)
        there = self._control.count(_NOTICES)
        if topology.NOTICES not in there:
            return None
        return self._consume([queue for queue in _NOTICES if queue in there], NOTICE_WINDOW, name)

    def work_queue(self, queue: str, *, name: str) -> RabbitConsumer | None:
        return self._consume([queue], NOTICE_WINDOW, name)

    def dead_log(self, *, name: str) -> RabbitConsumer | None:
        self._use(self._in)
        if topology.DEAD_LOG not in self._control.count([topology.DEAD_LOG]):
            return None
        return self._consume([topology.DEAD_LOG], LOG_WINDOW, name, offset="first")

    # ------------------------------------------------------------------------------------------- queues of single shops
    def open_shop(self, platform: str, shop_id: str) -> None:
        self._use(self._in)
        self._control.open_shop(platform, shop_id)
        with self._lock:
            self._dedicated.add(shop_queue(shop_id))

    def close_shop(self, platform: str, shop_id: str) -> bool:
        self._use(self._in)
        gone = self._control.close_shop(platform, shop_id)
        if gone:
            with self._lock:
                self._dedicated.discard(shop_queue(shop_id))
        return gone

    def know(self, shops: Iterable[str], delays: Iterable[int] = ()) -> None:
        with self._lock:
            self._dedicated = set(map(shop_queue, shops))
            self._waits |= set(delays)

    def _consume(self, queues: Sequence[str], window: int, name: str, offset: str = "") -> RabbitConsumer:
        self._use(self._in)
        consumer = RabbitConsumer(self._in, self._control, queues, window=window, name=name, offset=offset)
        with self._lock:
            self._consumers = [item for item in self._consumers if not item.closed] + [consumer]
        return consumer

    # --------------------------------------------------------------------------------------------------- numbers
    def depths(self) -> list[QueueDepth]:
        self._use(self._in)
        self._look_for_alarms()
        totals = self.management.totals()
        names = self._known() | self._foreign | {name for name in totals or () if topology.kind_of(name)}
        counted = self._control.count(sorted(names))
        return [
            QueueDepth(
                name=name,
                ready=ready,
                unacked=totals[name][1] if totals is not None and name in totals else None,
                consumers=consumers,
                kind="foreign" if name in self._foreign else topology.kind_of(name) or "other",
            )
            for name, (ready, consumers) in counted.items()
        ]

    def inspect(self, delays: Iterable[int] = ()) -> Inspection:
        self._use(self._in)
        waits = [part for seconds in sorted(delays) for part in topology.delay(seconds, self._profile)]
        parts = topology.base(self._profile, topology.NO_LIMIT_SINCE)
        seen = look_at(self._in, self.management, [*parts, *waits, *topology.own_way(self._profile)])
        self._noticed = topology.NOTICES not in seen.missing
        return seen

    def health(self) -> BrokerHealth:
        with self._lock:
            used = sorted(self._used, key=lambda link: link.name)
            consumers = list(self._consumers)
        with self._lock:
            # a message that was confirmed since tells that the alarm is over
            stands = self._publisher.answered_at < self._alarms_at
            alarms, alarms_ms = (self._alarms, self._alarms_ms) if stands else ((), 0)
        refused, refused_ms = self._publisher.refused
        rejecting, rejecting_ms = self._publisher.rejecting
        errors = [*(link.error for link in used), self._control.error, *(item.error for item in consumers)]
        return BrokerHealth(
            connected=bool(used) and all(link.up for link in used),
            blocked=self._out.blocked or bool(alarms or refused),
            latency_ms=self._control.latency_ms if self._in.up else -1.0,
            error=next(filter(None, errors), ""),
            since_ms=max((link.since_ms for link in used), default=0),
            version=self._in.version or self._out.version,
            blocked_ms=min(filter(None, (self._out.blocked_ms, alarms_ms, refused_ms)), default=0),
            why=", ".join(alarms) or self._out.why or refused,
            unanswered=self._publisher.unanswered,
            unanswered_ms=self._publisher.unanswered_ms,
            rejecting=rejecting,
            rejecting_ms=rejecting_ms,
            closed=tuple(queue for one in consumers if not one.closed for queue in one.refused),
        )

    def dial_anew(self) -> None:
        """On a cluster by another node: the one that is silent would stay so."""
        with self._lock:
            used = tuple(self._used)
        for link in used:
            link.post(partial(link.abort, "it brings no answer"))
            link.post(link.nudge)

    def facts(self) -> dict[str, str]:
        nodes = self.management.nodes()
        told = {f"node {one.name}": " ".join(("up" if one.up else "down", *one.alarms)) for one in nodes or ()}
        return told | {
            "kind": "rabbitmq",
            "profile": self._profile,
            "nodes": str(len(nodes or ())),
            "version": self._in.version or self._out.version,
            "alarms": ", ".join(alarms_of(nodes or ())),
            "management_error": self.management.problem() if nodes is None else "",
        }

    def findings(self, longest: tuple[str, int]) -> list[Finding]:
        facts = self.facts()
        seen = [one for one in self.management.queues() if one.name.startswith(topology.OURS)]
        return [
            *findings.of_facts(facts, seen),
            *findings.of_patience(facts, longest),
            *findings.of_copies(seen, facts),
            *findings.of_policies(seen),
            *findings.of_alternates(self.management.alternates((topology.TASKS, topology.OWN, topology.DEAD_LETTERS))),
        ]

    def missing_rights(self) -> str:
        """That this user may not work here, with the words that give it the rights; "" where it may."""
        return self._control.missing_rights()

    def close(self) -> None:
        with self._lock:
            consumers, self._consumers = self._consumers, []
        self._out.leave()
        until = self._clock.monotonic() + self._timing.close
        for consumer in [consumer for consumer in consumers if consumer.leave()]:
            consumer.left(max(0.0, until - self._clock.monotonic()))
        for link in (self._in, self._out):
            link.close()
        self.management.close()

    # --------------------------------------------------------------------------------------------------- helpers
    def _use(self, link: Link) -> None:
        with self._lock:
            self._used.add(link)
        link.start()

    def _look_for_alarms(self) -> None:
        """Whoever has not published is not told that publishers are held back, and must ask."""
        now = self._clock.monotonic()
        with self._lock:
            if now - self._alarms_at < ALARMS_EVERY:
                return
            self._alarms_at = now
        alarms = tuple(alarms_of(self.management.nodes() or ()))
        with self._lock:
            self._alarms_ms = (self._alarms_ms or self._clock.now_ms()) if alarms else 0
            self._alarms = alarms

    def _known(self) -> set[str]:
        lanes = {topology.lane_queue(lane) for lane in LANES}
        with self._lock:
            dedicated, waits = set(self._dedicated), self._waits | self._control.delays
        delays = {topology.delay_queue(seconds) for seconds in waits}
        notices = _NOTICES if self._control.own_way or self._noticed else ()
        return lanes | delays | dedicated | {*notices, topology.DEAD_QUEUE}

    def _restore(self) -> None:
        """An order found no queue or exchange: declare again what is wanted, at most every few seconds."""
        now = self._clock.monotonic()
        if self._in.up and now - self._restored_at >= RESTORE_EVERY:
            self._restored_at = now
            self._restoration.clear()
            self._in.post(lambda: self._control.restore(self._restoration.set))


def _exchange(order: Order) -> str:
    """Where it is sent, "" where it cannot be."""
    try:
        return exchange_of(order)
    except Unfit:
        return ""


def _own(order: Order) -> Order:
    """By the exchange that leads past the notices; what has no record yet is another program's."""
    own = order.kind == "work" and envelope.GEN in order.headers
    return msgspec.structs.replace(order, kind="own") if own else order


def _by_all(order: Order) -> Order:
    """By the exchange of all programs what ours leads nowhere: an older program made the queue of that shop. Not what
    is for a lane, for there a notice would be taken for an arrival.
    """
    if order.kind != "own" or order.routing_key.rpartition(".")[2] in LANES:
        return order
    return msgspec.structs.replace(order, kind="work")


def _for_queue(order: Order) -> Order:
    return msgspec.structs.replace(order, routing_key=topology.DEAD_QUEUE)


def _for_quorum(order: Order) -> Order:
    priority = topology.quorum_priority(order.routing_key, order.priority)
    return order if priority == order.priority else msgspec.structs.replace(order, priority=priority)


def look_at(link: Link, management: Management, parts: Sequence[Declarable]) -> Inspection:
    """Which of these are there, and whether their arguments are the right ones; bindings only by the management API.

    Raises:
        TopologyMismatch: one has other arguments.
        BrokerUnavailable: no connection.
    """
    named = [part for part in parts if isinstance(part, Exchange | Queue)]
    away: dict[str, str] = {}
    reasons: list[ChannelLost | None] = link.call(lambda answer: _ask_all(link, named, answer), link.timing.call)
    present = [part for part, reason in zip(named, reasons, strict=True) if _is_there(part, reason, away)]
    seen = [_compared(management, part) for part in present if part.name not in away]
    missing = tuple(dict.fromkeys(part.name for part in named if part not in present))
    return Inspection(
        missing=missing,
        present=len(present),
        compared=all(seen),
        unreachable=tuple(away.items()),
        unbound=_unbound(management, [part for part in parts if isinstance(part, Binding)], {*missing, *away}),
    )


def _unbound(management: Management, parts: Sequence[Binding], without: Container[str]) -> tuple[str, ...]:
    """``EXCHANGE (KEY) → QUEUE`` of what is not bound, where both are there and the management API tells."""
    wanted = [part for part in parts if part.queue not in without and part.exchange not in without]
    bound = management.bindings() if wanted else None
    if bound is None:
        return ()
    return tuple(
        f"{part.exchange} ({part.key}) → {part.queue}" if part.key else f"{part.exchange} → {part.queue}"
        for part in wanted
        if (part.exchange, part.key, part.queue) not in bound
    )


def _is_there(part: Named, reason: ChannelLost | None, away: dict[str, str]) -> bool:
    """``reason``: what was answered instead of yes; ``away`` takes up what is there and cannot be reached."""
    if reason is None:
        return True
    if isinstance(part, Queue) and (unreachable(reason) or reason is SILENCE):
        away[part.name] = reason.text
        return True
    if reason.code == ACCESS_REFUSED:
        return True  # there, and not ours to look into
    if reason.code != NOT_FOUND:
        raise BrokerUnavailable(said("broker.not_looked", name=part.name, error=reason.text)) from reason
    return False


def _ask_all(link: Link, parts: Sequence[Named], answer: Future[list[ChannelLost | None]]) -> None:
    """In the I/O thread, all at once: one that nobody answers for must not keep the others waiting."""
    answers: list[Future[None]] = [Future() for _ in parts]

    def end() -> None:
        if answer.done():
            return
        link.forget(watch)
        found = [one.exception() if one.done() else SILENCE for one in answers]
        reasons = [one if isinstance(one, ChannelLost) else None for one in found]
        lost = next((one for one in reasons if one is not None and one is not SILENCE and not one.code), None)
        if lost is not None or all(one is SILENCE for one in reasons):
            answer.set_exception(lost or SILENCE)
        else:
            answer.set_result(reasons)

    def answered(_one: Future[None]) -> None:
        if all(one.done() for one in answers):
            end()

    watch = link.later(PATIENCE, end)
    for part, one in zip(parts, answers, strict=True):
        one.add_done_callback(answered)
        _ask(link, part, one)


def _ask(link: Link, part: Named, answer: Future[None]) -> None:
    """On a channel of its own: a missing part closes it."""

    def ask(opened: Channel) -> None:
        if isinstance(part, Queue):
            opened.find_queue(part.name, found)
        else:
            opened.find_exchange(part.name, found)

    def found(_frame: object) -> None:
        answer.set_result(None)
        channel.close()

    def lost(reason: ChannelLost) -> None:
        if not answer.done():
            answer.set_exception(reason)

    channel = link.channel(ask, lost)


def _compared(management: Management, part: Named) -> bool:
    """Whether the management API told what this was declared with."""
    if isinstance(part, Exchange):
        kind = management.exchange_kind(part.name)
        if kind not in (None, part.kind):
            raise TopologyMismatch(topology.mismatch(part, f"its type is {kind}", None))
        return kind is not None
    theirs = management.arguments(part.name)
    fitting = [_with_type(arguments) for arguments in (part.arguments, *part.accepted)]
    if theirs is not None and _with_type(theirs) not in fitting:
        raise TopologyMismatch(topology.mismatch(part, "its arguments differ", theirs))
    return theirs is not None


def _with_type(arguments: Mapping[str, object]) -> dict[str, object]:
    return {**topology.CLASSIC, **arguments}
