"""Orders as bytes, read back by pika itself."""

from __future__ import annotations

from typing import Any

import pytest
from pika import frame, spec

from services.broker.rabbitmq import publisher
from services.broker.rabbitmq.given_up import STRIPPED_HEADERS
from services.domain.task.order import Order


def order(**fields: Any) -> Order:
    base = {"kind": "work", "routing_key": "task.pdd.high", "body": b"{}", "message_id": "m"}
    return Order(**(base | fields))


def decoded(data: bytes) -> list[Any]:
    found = []
    while data:
        length, item = frame.decode_frame(data)
        found.append(item)
        data = data[length:]
    return found


@pytest.mark.parametrize(
    ("fields", "exchange"),
    [
        ({}, "rpa_task_exchange"),
        ({"kind": "own"}, "rpa_own_exchange"),
        ({"kind": "delay", "delay_s": 30}, "rpa_delay_30s"),
        ({"kind": "dead"}, "rpa_dlx_exchange"),
        ({"kind": "result"}, "rpa_result_exchange"),
    ],
)
def test_the_kind_picks_the_exchange(fields: dict[str, Any], exchange: str) -> None:
    assert publisher.exchange_of(order(**fields)) == exchange


def test_an_unknown_kind_is_unfit() -> None:
    with pytest.raises(publisher.Unfit, match="unknown kind"):
        publisher.exchange_of(order(kind="gossip"))


def test_a_message_carries_what_the_contract_says_and_no_history() -> None:
    history = dict.fromkeys(STRIPPED_HEADERS, "forged")
    method, header = decoded(publisher.head(order(priority=9, headers={"x-rpa-gen": 2, **history}), "e"))
    assert isinstance(method.method, spec.Basic.Publish)
    assert (method.method.exchange, method.method.routing_key, method.method.mandatory) == ("e", "task.pdd.high", True)
    properties = header.properties
    assert (properties.content_type, properties.delivery_mode, properties.priority) == ("application/json", 2, 9)
    assert (properties.message_id, properties.headers, properties.expiration) == ("m", {"x-rpa-gen": 2}, None)
    assert header.body_size == 2
    assert method.channel_number == header.channel_number == publisher.CHANNEL


@pytest.mark.parametrize("headers", [{}, {"n": 1}, {"n": True}, {"n": "1", "m": 2}, {"many": [1, "a"]}])
@pytest.mark.parametrize("name", ["", "m", "订单_1"])
def test_it_is_what_pika_writes(headers: dict[str, Any], name: str) -> None:
    for size in (0, 70_000):
        plain = spec.BasicProperties(
            content_type="application/json", delivery_mode=2, priority=3, message_id=name, headers=headers or None
        )
        written = publisher.head(order(priority=3, headers=headers, message_id=name, body=b"x" * size), "e")
        assert written.endswith(frame.Header(publisher.CHANNEL, size, plain).marshal())


def test_results_are_not_mandatory() -> None:
    method, _header = decoded(publisher.head(order(kind="result"), "rpa_result_exchange"))
    assert not method.method.mandatory


@pytest.mark.parametrize(("priority", "sent"), [(-1, 0), (0, 0), (9, 9), (1000, 255)])
def test_a_priority_fits_its_octet(priority: int, sent: int) -> None:
    assert decoded(publisher.head(order(priority=priority), "e"))[1].properties.priority == sent


@pytest.mark.parametrize(
    "fields",
    [
        {"routing_key": "x" * 256},
        {"message_id": "店" * 100},
        {"headers": {"x": object()}},
        {"headers": {"n" * 300: 1}},
        {"headers": {"big": 1 << 70}},
    ],
)
def test_what_amqp_cannot_say_is_unfit(fields: dict[str, Any]) -> None:
    with pytest.raises(publisher.Unfit):
        publisher.head(order(**fields), "e")


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 25])
def test_a_body_is_cut_to_the_negotiated_size(size: int) -> None:
    data = bytes(range(size))
    pieces = [item.fragment for item in decoded(publisher.body(data, 10))]
    assert b"".join(pieces) == data
    assert all(0 < len(piece) <= 10 for piece in pieces)
    assert len(pieces) == -(-size // 10)
