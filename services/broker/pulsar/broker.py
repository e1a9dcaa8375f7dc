"""The Pulsar driver of the Broker port: a topic for each queue, a shared subscription for all who work."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from services import tls
from services.broker.pulsar import wire
from services.broker.pulsar.about import SENTENCES
from services.broker.pulsar.address import parse
from services.broker.pulsar.admin import Admin, Backlog
from services.broker.pulsar.consumer import PulsarConsumer
from services.broker.pulsar.link import SEND_MS, Link
from services.domain.errors import BrokerUnavailable
from services.domain.task.lane import LANE_QUEUE, LANES, shop_queue
from services.domain.task.order import BrokerHealth, Inspection, Order, QueueDepth, Receipt
from services.domain.upkeep.health import NOTE, WARNING, Finding, finding
from services.ports import Clock, Consumer
from services.ports.broker import Capabilities

log = logging.getLogger(__name__)
DEAD_WINDOW, OTHER_WINDOW = 50, 400
LANE_QUEUES = {str(lane): LANE_QUEUE + lane for lane in LANES}
TICK_S, PING_S = 0.25, 2.0
#: how long an empty queue is listened to before it counts as empty
QUIET_S = 0.5
#: so many are under way at once
WINDOW = 1_000
GONE, LATE = Receipt(False, "disconnected"), Receipt(False, "timeout")
#: how the client calls what is no fault of the message; the rest is a refusal
_ERRORS = {
    "Timeout": LATE,
    "ProducerQueueIsFull": Receipt(False, "blocked"),
    "ProducerBlockedQuotaExceededError": Receipt(False, "blocked"),
    "ProducerBlockedQuotaExceededException": Receipt(False, "blocked"),
    "MemoryBufferIsFull": Receipt(False, "blocked"),
    "AlreadyClosed": GONE,
    "NotConnected": GONE,
    "Disconnected": GONE,
    "ConnectError": GONE,
    "Retryable": GONE,
}


class PulsarBroker:
    """Pulsar behind the port, pulsar-lite too. Nothing is asked of the broker before it is needed."""

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        management_url: str = "",
        insecure: bool = False,
        recorded: Callable[[], Mapping[str, int]] = dict,
    ) -> None:
        """``management_url``: of the admin API, which counts; ``insecure``: the certificate of the server is not
        checked; ``recorded``: how many tasks wait by the records, by queue.

        Raises:
            UsageError: the client of Pulsar is not installed, or a file of certificates cannot be used.
        """
        self.address = parse(url)
        tls.check_files(self.address.files, tls.PULSAR, "broker.url")
        self.capabilities = Capabilities(
            priority=False,
            delay=self.address.delays,
            depth=bool(management_url),
            unroutable=False,
            dead_log=False,
            others=True,
        )
        self._clock, self._recorded = clock, recorded
        self._link = Link(self.address, clock, insecure=insecure)
        self._admin = Admin(self.address, management_url, clock, insecure=insecure)
        self._publisher = Publisher(self._link)
        self._lock = threading.Lock()
        self._consumers: list[PulsarConsumer] = []
        self._shops: set[str] = set()
        self._ending = threading.Event()
        self._keeper: threading.Thread | None = None

    # ------------------------------------------------------------------------------------------------- messages
    def ensure(self, platforms: Iterable[str] = (), delays: Iterable[int] = ()) -> None:
        """A subscription on every lane and on the dead letters, so that nothing sent there is dropped."""
        self._use()
        for queue in (*LANE_QUEUES.values(), wire.DEAD):
            self._publisher.declare(queue)

    def publish(self, orders: Sequence[Order]) -> list[Receipt]:
        """Send, and wait for the confirms."""
        if self._ending.is_set():
            return [GONE] * len(orders)
        self._use()
        return self._publisher.publish(orders)

    def consumer(self, lanes: Sequence[str], *, window: int, name: str) -> PulsarConsumer:
        """Start consuming lanes."""
        return self._consume([LANE_QUEUES.get(str(one), str(one)) for one in lanes], window, name)

    def dead_letters(self, *, name: str) -> PulsarConsumer:
        """Start consuming the dead letters."""
        return self._consume([wire.DEAD], DEAD_WINDOW, name)

    def notices(self, *, name: str) -> Consumer | None:
        """There are none: what another program sent is recorded when a worker takes it."""
        return None

    def work_queue(self, queue: str, *, name: str) -> PulsarConsumer | None:
        """Consume a topic of another program, in the namespace of the fleet."""
        return self._consume([queue], OTHER_WINDOW, name)

    def dead_log(self, *, name: str) -> Consumer | None:
        """There is no second copy."""
        return None

    def _consume(self, queues: Sequence[str], window: int, name: str) -> PulsarConsumer:
        self._use()
        consumer = PulsarConsumer(self._link, self._clock, list(dict.fromkeys(queues)), window=window, name=name)
        with self._lock:
            self._consumers = [one for one in self._consumers if not one.closed] + [consumer]
        return consumer

    # ----------------------------------------------------------------------------------------- queues of single shops
    def open_shop(self, platform: str, shop_id: str) -> None:
        """Make the queue of a shop; whatever names the shop comes into it, for which platform ever."""
        self._use()
        self._publisher.declare(shop_queue(shop_id))
        with self._lock:
            self._shops.add(shop_queue(shop_id))

    def close_shop(self, platform: str, shop_id: str) -> bool:
        """Forget the queue if nothing waits in it; the topic itself is left to Pulsar, which removes idle ones."""
        self._use()
        queue = shop_queue(shop_id)
        found = self._consume([queue], 1, "closing")
        try:
            waits = found.take(1, QUIET_S)
            found.requeue(waits)
        finally:
            found.close()
        if waits:
            return False
        with self._lock:
            self._shops.discard(queue)
        return True

    def know(self, shops: Iterable[str], delays: Iterable[int] = ()) -> None:
        """The shops whose queues are counted."""
        with self._lock:
            self._shops = set(map(shop_queue, shops))

    # ------------------------------------------------------------------------------------------------------ looking
    def depths(self) -> list[QueueDepth]:
        """By the admin API, else what the records tell."""
        self._use()
        self._link.ping()
        with self._lock:
            shops = sorted(self._shops)
        kinds = {**dict.fromkeys(LANE_QUEUES.values(), "lane"), wire.DEAD: "dead", **dict.fromkeys(shops, "shop")}
        recorded = self._recorded()
        found = []
        for queue, kind in kinds.items():
            told = self._admin.backlog(queue)
            if told is None:
                found.append(QueueDepth(name=queue, ready=recorded.get(queue, 0), unacked=None, consumers=0, kind=kind))
            else:
                found.append(_told(queue, kind, told))
        return found

    def inspect(self, delays: Iterable[int] = ()) -> Inspection:
        """Topics come by themselves; it is only asked whether the broker answers."""
        self._use()
        self._link.ping()
        return Inspection(present=len(LANE_QUEUES) + 1)

    def health(self) -> BrokerHealth:
        """What is known."""
        link = self._link
        return BrokerHealth(
            connected=link.used and link.up,
            latency_ms=link.latency_ms if link.up else -1.0,
            error=link.error,
            since_ms=link.since_ms,
            version=f"Pulsar (client {link.pulsar.__version__})",
        )

    def dial_anew(self) -> None:
        """Nothing: its client gives up by itself what brings no answer."""

    def facts(self) -> Mapping[str, str]:
        """Pulsar does not tell its clients its version; this is the client's."""
        return {"kind": "Pulsar", "version": f"(client {self._link.pulsar.__version__})"}

    def findings(self, longest: tuple[str, int]) -> list[Finding]:
        """What this kind of broker cannot, and what is done instead."""
        found = [finding(NOTE, "broker", "doctor.pulsar_order", SENTENCES)]
        if not self.capabilities.depth:
            found.append(finding(NOTE, "broker", "doctor.pulsar_uncounted", SENTENCES))
        elif self._admin.backlog(wire.DEAD) is None:
            found.append(finding(WARNING, "broker", "doctor.pulsar_admin", SENTENCES, error=self._admin.error))
        return found

    def close(self) -> None:
        """Leave; what is unsettled goes to others."""
        with self._lock:
            if self._ending.is_set():
                return
            self._ending.set()
            consumers, self._consumers, keeper = self._consumers, [], self._keeper
        for consumer in consumers:
            consumer.close()
        self._link.close()
        if keeper is not None and keeper is not threading.current_thread():
            keeper.join(1.0)

    # -------------------------------------------------------------------------------------------------------- keeping
    def _use(self) -> None:
        with self._lock:
            if self._keeper is None and not self._ending.is_set():
                self._keeper = threading.Thread(target=self._keep, name="pulsar-keeper", daemon=True)
                self._keeper.start()

    def _keep(self) -> None:
        """A few times a second: what nobody took goes back; every two seconds: does it answer?"""
        asked = self._clock.monotonic()
        while not self._ending.wait(TICK_S):
            try:
                with self._lock:
                    consumers = list(self._consumers)
                for consumer in consumers:
                    consumer.tick()
                if self._clock.monotonic() - asked < PING_S:
                    continue
                self._link.ping()
                for consumer in consumers:
                    consumer.renew()
            except BrokerUnavailable as exc:
                log.debug("%s", exc)
            except Exception:  # the edge of the thread: without it nobody would hear that the broker is back
                log.exception("Pulsar is looked after again in a moment")
                self._ending.wait(PING_S)
            asked = self._clock.monotonic()


def _told(queue: str, kind: str, told: Backlog) -> QueueDepth:
    return QueueDepth(name=queue, ready=told.ready, unacked=told.unacked, consumers=told.consumers, kind=kind)


class _Batch:
    """Receipts that are awaited."""

    def __init__(self, count: int) -> None:
        self.receipts: list[Receipt] = [LATE] * count
        self._left = count
        self._state = threading.Condition()

    def answer(self, place: int, receipt: Receipt) -> None:
        with self._state:
            self.receipts[place] = receipt
            self._left -= 1
            if not self._left:
                self._state.notify_all()

    def wait(self, seconds: float) -> None:
        with self._state:
            self._state.wait_for(lambda: not self._left, seconds)


class Publisher:
    """Any thread may publish; a queue's messages keep the order in which one caller gave them."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._lock = threading.Lock()
        self._producers: dict[str, Any] = {}
        self._known: set[str] = set()

    def publish(self, orders: Sequence[Order]) -> list[Receipt]:
        """One receipt each in their order; raises nothing."""
        receipts: list[Receipt] = []
        for start in range(0, len(orders), WINDOW):
            part = orders[start : start + WINDOW]
            batch = _Batch(len(part))
            for place, order in enumerate(part):
                self._send(order, batch, place)
            batch.wait(SEND_MS / 1000 + 5.0)
            receipts += batch.receipts
        return receipts

    def _send(self, order: Order, batch: _Batch, place: int) -> None:
        queue = wire.queue_of(order)
        if not queue:
            batch.answer(place, Receipt(False, "unroutable"))
            return
        if not self._link.up:  # waiting for each would hold everybody up; the outbox has it
            batch.answer(place, GONE)
            return
        delay = timedelta(seconds=order.delay_s) if self._link.address.delays and order.delay_s else None
        try:
            self._producer(queue).send_async(
                order.body,
                partial(self._sent, batch, place),
                properties=wire.properties(order),
                partition_key=order.message_id or None,
                deliver_after=delay,
            )
        except BrokerUnavailable:
            batch.answer(place, GONE)
        except (self._link.pulsar.PulsarException, ValueError, TypeError) as exc:  # one must not keep back the others
            batch.answer(place, _receipt(type(exc).__name__))

    def _sent(self, batch: _Batch, place: int, result: Any, _message: Any) -> None:
        ok = result == self._link.pulsar.Result.Ok
        batch.answer(place, Receipt(True) if ok else _receipt(result.name))

    def _producer(self, queue: str) -> Any:
        with self._lock:
            found = self._producers.get(queue)
            if found is not None and not found.is_connected():  # left to itself it waits up to a minute
                self._producers.pop(queue).close()
                found = None
            if found is None:
                self.declare(queue)
                found = self._producers[queue] = self._link.producer(queue)
            return found

    def declare(self, queue: str) -> None:
        """See that what is sent there is kept: Pulsar drops what no subscription waits for. Results are for others,
        who bring subscriptions of their own.

        Raises:
            BrokerUnavailable: the broker does not answer.
        """
        if queue in self._known or queue == wire.RESULTS:
            return
        self._link.subscribe(queue, "").close()
        self._known.add(queue)


def _receipt(error: str) -> Receipt:
    """What an error of the client means for the message."""
    return _ERRORS.get(error, Receipt(False, f"refused: {error}"))
