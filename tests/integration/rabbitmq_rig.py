"""A live broker under test: orders, raw access beside the driver, and the broker's own command line."""

from __future__ import annotations

import subprocess
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pika

from services.broker.rabbitmq.broker import RabbitBroker
from services.broker.rabbitmq.consumer import RabbitConsumer
from services.broker.rabbitmq.timing import Timing
from services.clock import SystemClock
from services.domain.task.order import Delivery, Order
from tests.contract.waiting import PATIENCE_S, eventually
from tests.support.rabbit_cluster import PROFILE
from tests.support.services import RabbitMQ

#: short, so that a test of a loss takes seconds
QUICK = Timing(connect=3.0, publish=5.0, grace=0.5, reconnect=1.0, call=10.0)


def order(name: str = "m", lane: str = "high", **fields: Any) -> Order:
    """A work order of pdd, with the header that every message of ours has."""
    base = {"kind": "work", "routing_key": f"task.pdd.{lane}", "body": b'{"n": 1}', "message_id": name}
    return Order(**(base | {"headers": {"x-rpa-gen": 0}} | fields))


def orders(count: int, lane: str = "high") -> list[Order]:
    """Several, named by their number."""
    return [order(f"m{number}", lane) for number in range(count)]


def collect(consumer: RabbitConsumer, count: int, seconds: float = PATIENCE_S) -> list[Delivery]:
    """Take until so many came."""
    found: list[Delivery] = []
    deadline = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < deadline:
        found += consumer.take(count - len(found), 0.2)
    return found


def names(deliveries: list[Delivery]) -> list[str]:
    return [delivery.message_id for delivery in deliveries]


@contextmanager
def opened(
    rabbitmq: RabbitMQ, url: str, timing: Timing = QUICK, *, profile: str = PROFILE, **ensure: Any
) -> Iterator[RabbitBroker]:
    """A driver with its topology declared."""
    broker = RabbitBroker(url, SystemClock(), management_url=rabbitmq.management_url, timing=timing, profile=profile)
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


def break_connections(rabbitmq: RabbitMQ, url: str, count: int = 1) -> None:
    """Close every connection of this virtual host by force, once there are at least ``count``."""
    found = f'[C || T <- rabbit_connection_tracking:list(<<"{vhost(url)}">>), C <- [element(6, T)]]'
    alive = f"[C || C <- {found}, lists:member(C, rabbit_networking:connections())]"
    eventually(lambda: int(evaluate(rabbitmq, f"length({alive}).")) >= count, 30)
    evaluate(rabbitmq, f'[rabbit_networking:close_connection(C, "closed by force") || C <- {alive}].')


def set_memory_limit(rabbitmq: RabbitMQ, limit: str = "0.6") -> None:
    """The share of the memory, or a term such as ``{absolute, "1MB"}``, above which publishers are held back."""
    evaluate(rabbitmq, f"vm_memory_monitor:set_vm_memory_high_watermark({limit}).")


def set_disk_limit(rabbitmq: RabbitMQ, limit: str = "1MB") -> None:
    """The free disk below which publishers are held back."""
    evaluate(rabbitmq, f'rabbit_disk_monitor:set_disk_free_limit("{limit}").')


def evaluate(rabbitmq: RabbitMQ, code: str) -> str:
    """The value of an Erlang expression in this node; ``rabbitmqctl`` would take seconds of processor to start."""
    environment = rabbitmq.environment()
    done = subprocess.run(
        ["erl_call", "-R", "-n", environment["RABBITMQ_NODENAME"], "-e"],
        input=f"{code}\n",
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{ok, "), (code, done.stdout)
    return done.stdout[5:-1]
