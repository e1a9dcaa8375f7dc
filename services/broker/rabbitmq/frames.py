"""An order as AMQP frames, made in the thread that publishes, so that the I/O thread only writes bytes."""

from __future__ import annotations

import struct
from functools import lru_cache

from pika import exceptions, frame, spec

from services.broker.rabbitmq import topology
from services.broker.rabbitmq.given_up import STRIPPED_HEADERS
from services.domain.task.order import Order

PERSISTENT, MAX_AMQP_PRIORITY = 2, 255
CHANNEL = 1  #: the publisher's channel, the only one of its connection
#: what pika's encoder raises on values that do not fit
UNFIT = (ValueError, TypeError, AttributeError, AssertionError, struct.error, exceptions.AMQPError)
_head = struct.Struct(">BHI").pack
_CONTENT = struct.Struct(">HxxQ").pack  #: class, weight 0, size of the body
_END = bytes((spec.FRAME_END,))
SHORT_STRING = 255


class Unfit(Exception):
    """The order cannot be written as an AMQP message."""


def exchange_of(order: Order) -> str:
    """Where an order is published.

    Raises:
        Unfit: its kind is unknown.
    """
    match order.kind:
        case "work":
            return topology.TASKS
        case "own":
            return topology.OWN
        case "delay":
            return topology.delay_queue(order.delay_s)
        case "dead":
            return topology.DEAD_LETTERS
        case "letter":
            return ""  # the default exchange, which knows queues by their names
        case "result":
            return topology.RESULTS
    raise Unfit(f"unknown kind of order {order.kind!r:.40}")


def head(order: Order, exchange: str) -> bytes:
    """Method and header frame of an order.

    Raises:
        Unfit: a name is too long for AMQP, or a header has a type it does not know.
    """
    try:
        properties = _before_the_name(order)
        name = order.message_id.encode()
        if len(name) > SHORT_STRING:
            raise exceptions.ShortStringTooLong(order.message_id)
        header = _CONTENT(spec.BasicProperties.INDEX, len(order.body)) + properties + bytes((len(name),)) + name
        method = _method(exchange, order.routing_key, order.kind != "result")
        return method + _head(spec.FRAME_HEADER, CHANNEL, len(header)) + header + _END
    except UNFIT as exc:
        raise Unfit(f"{type(exc).__name__}: {exc}"[:200]) from exc


def _before_the_name(order: Order) -> bytes:
    """The properties up to the message id, which is the last of them: of nearly all messages the same."""
    priority = min(max(order.priority, 0), MAX_AMQP_PRIORITY)
    headers = tuple((name, type(value), value) for name, value in order.headers.items())  # 1 and True differ
    try:
        hash(headers)
    except TypeError:
        return _properties.__wrapped__(priority, headers)
    return _properties(priority, headers)


@lru_cache(maxsize=256)
def _properties(priority: int, headers: tuple[tuple[str, type, str | int], ...]) -> bytes:
    properties = spec.BasicProperties(
        content_type="application/json",
        delivery_mode=PERSISTENT,
        priority=priority,
        message_id="",
        headers={name: value for name, _, value in headers if name not in STRIPPED_HEADERS} or None,
    )
    return b"".join(properties.encode())[:-1]


def body(data: bytes, limit: int) -> bytes:
    """Body frames of at most ``limit`` bytes each."""
    if len(data) <= limit:
        return _body(data) if data else b""
    return b"".join(_body(data[start : start + limit]) for start in range(0, len(data), limit))


def _body(data: bytes) -> bytes:
    return _head(spec.FRAME_BODY, CHANNEL, len(data)) + data + _END


@lru_cache(maxsize=4096)
def _method(exchange: str, routing_key: str, mandatory: bool) -> bytes:
    method = spec.Basic.Publish(exchange=exchange, routing_key=routing_key, mandatory=mandatory)
    data: bytes = frame.Method(CHANNEL, method).marshal()
    return data
