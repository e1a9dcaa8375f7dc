"""A live broker under test: orders, raw access beside the driver, and the broker's own command line."""

from __future__ import annotations

import subprocess
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pika

from services.broker.rabbitmq import RabbitBroker
from services.broker.rabbitmq_consumer import RabbitConsumer
from services.broker.rabbitmq_timing import Timing
from services.clock import SystemClock
from services.domain.order import Delivery, Order
from tests.support.services import RabbitMQ

T = TypeVar("T")
#: short, so that a test of a loss takes seconds
QUICK = Timing(connect=3.0, publish=5.0, grace=0.5, reconnect=1.0, call=10.0)


def order(name: str = "m", lane: str = "high", **fields: Any) -> Order:
    """A work order of pdd."""
    base = {"kind": "work", "routing_key": f"task.pdd.{lane}", "body": b'{"n": 1}', "message_id": name}
    return Order(**(base | fields))


def orders(count: int, lane: str = "high") -> list[Order]:
    """Several, named by their number."""
    return [order(f"m{number}", lane) for number in range(count)]


def eventually(ask: Callable[[], T], seconds: float = 10.0) -> T:
    """Ask until the answer is truthy."""
    deadline = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < deadline, f"still {answer!r} after {seconds} s"
        time.sleep(0.02)
    return answer


def collect(consumer: RabbitConsumer, count: int, seconds: float = 10.0) -> list[Delivery]:
    """Take until so many came."""
    found: list[Delivery] = []
    deadline = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < deadline:
        found += consumer.take(count - len(found), 0.2)
    return found


def names(deliveries: list[Delivery]) -> list[str]:
    return [delivery.message_id for delivery in deliveries]


@contextmanager
def opened(rabbitmq: RabbitMQ, url: str, timing: Timing = QUICK, **ensure: Any) -> Iterator[RabbitBroker]:
    """A driver with its topology declared."""
    broker = RabbitBroker(url, SystemClock(), management_url=rabbitmq.management_url, timing=timing)
    try:
        broker.ensure(**({"platforms": ["pdd"]} | ensure))
        yield broker
    finally:
        broker.close()


@contextmanager
def raw(url: str) -> Iterator[Any]:
    """A channel of bare pika."""
    connection = pika.BlockingConnection(pika.URLParameters(url))
    try:
        yield connection.channel()
    finally:
        if connection.is_open:
            connection.close()


def depth(broker: RabbitBroker, queue: str) -> tuple[int, int | None, int]:
    """Ready, unacknowledged, consumers."""
    (found,) = [item for item in broker.depths() if item.name == queue]
    return found.ready, found.unacked, found.consumers


def vhost(url: str) -> str:
    return urllib.parse.unquote(urllib.parse.urlsplit(url).path[1:])


def connections(rabbitmq: RabbitMQ, url: str) -> list[dict[str, Any]]:
    """Open connections of this virtual host, as the broker sees them."""
    return [item for item in rabbitmq.api("GET", "/api/connections") if item.get("vhost") == vhost(url)]


def break_connections(rabbitmq: RabbitMQ, url: str, count: int = 1) -> None:
    """Close every connection of this virtual host by force, once the late statistics tell of at least ``count``."""
    found = eventually(lambda: few if len(few := connections(rabbitmq, url)) >= count else None, 30)
    for item in found:
        rabbitmq.api("DELETE", f"/api/connections/{urllib.parse.quote(item['name'], safe='')}")


def ctl(rabbitmq: RabbitMQ, *words: str) -> str:
    """Run rabbitmqctl on this node."""
    done = subprocess.run(
        ["/usr/lib/rabbitmq/bin/rabbitmqctl", *words],
        env=rabbitmq._environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
