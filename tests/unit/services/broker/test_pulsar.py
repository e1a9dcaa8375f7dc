"""How an order stands in a message of Pulsar, and what its address says; no broker is needed for it."""

from __future__ import annotations

from typing import Any

import pytest

from services.broker.pulsar import wire
from services.broker.pulsar.address import parse
from services.domain.task.order import Order


class Message:
    """A message as the client hands it out."""

    def __init__(self, **properties: str) -> None:
        self._properties = properties

    def properties(self) -> dict[str, str]:
        return self._properties

    def data(self) -> bytes:
        return b"{}"

    def partition_key(self) -> str:
        return "t1"

    def redelivery_count(self) -> int:
        return 1


def order(kind: str, key: str, **headers: Any) -> Order:
    return Order(kind=kind, routing_key=key, body=b"{}", message_id="t1", priority=9, headers=headers)


@pytest.mark.parametrize(
    ("kind", "key", "queue"),
    [
        ("work", "task.pdd.high", "rpa_tasks_high"),
        ("delay", "task.pdd.low", "rpa_tasks_low"),
        ("work", "task.pdd.shop-1", "single_shop_shop-1"),
        ("work", "task.pdd", ""),
        ("work", "nonsense", ""),
        ("work", "task.pdd.a b", ""),
        ("dead", "dead", "rpa_dead_queue"),
        ("letter", "dead", "rpa_dead_queue"),
        ("result", "result.pdd.sync.dead", "rpa_results"),
    ],
)
def test_which_topic_an_order_goes_to(kind: str, key: str, queue: str) -> None:
    assert wire.queue_of(order(kind, key)) == queue


def test_what_stands_beside_a_body_comes_back_as_it_was() -> None:
    sent = order("work", "task.pdd.high", **{"x-rpa-gen": 3, "x-rpa-error": "404", "x-text": "12"})
    told = wire.properties(sent)
    assert all(isinstance(value, str) for value in told.values())
    got = wire.delivery("rpa_tasks_high", (1, 2, -1), Message(**told), 0.5)
    assert dict(got.headers) == {"x-rpa-gen": 3, "x-rpa-error": "404", "x-text": "12"}
    assert (got.routing_key, got.priority, got.message_id, got.redelivered) == ("task.pdd.high", 9, "t1", True)


@pytest.mark.parametrize(
    ("queue", "route"),
    [("rpa_tasks_low", "task.any.low"), ("single_shop_s1", "task.any.s1"), ("rpa_dead_queue", "dead"), ("theirs", "")],
)
def test_a_message_of_another_program_belongs_where_its_topic_says(queue: str, route: str) -> None:
    got = wire.delivery(queue, (1, 2, -1), Message(), 0.0)
    assert (got.routing_key, got.priority, dict(got.headers)) == (route, None, {})


def test_what_an_address_says() -> None:
    plain = parse("pulsar://h")
    assert (plain.service, plain.topic("q"), plain.delays) == (
        "pulsar://h:6650",
        "persistent://public/default/q",
        False,
    )
    full = parse("pulsar+ssl://:to%2Fken@a:1,[::1]/shops/fleet?delay=broker&cacertfile=/x.pem&ids=50")
    assert (full.service, full.token, full.cacertfile) == ("pulsar+ssl://a:1,[::1]:6651", "to/ken", "/x.pem")
    assert (full.topic("q"), full.delays, full.first_number) == ("persistent://shops/fleet/q", True, 50)
    assert "ken" not in repr(full)
    assert [name for name, file in full.files.items() if file] == ["cacertfile"]
