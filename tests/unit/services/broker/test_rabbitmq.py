"""The driver's front, without a broker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from services.broker.rabbitmq.broker import RabbitBroker
from services.broker.rabbitmq.timing import Timing
from services.clock import SystemClock
from services.domain.errors import BrokerUnavailable, UsageError
from services.domain.task.order import Order
from services.ports import Broker


@pytest.fixture
def broker() -> Iterator[RabbitBroker]:
    made = RabbitBroker("amqp://127.0.0.1:9/fleet", SystemClock(), timing=Timing(connect=0.5, reconnect=0.5, close=0.5))
    yield made
    made.close()


def test_it_is_a_broker(broker: RabbitBroker) -> None:
    port: Broker = broker
    assert port is broker


def test_nothing_is_opened_before_it_is_used(broker: RabbitBroker) -> None:
    health = broker.health()
    assert (health.connected, health.error, health.latency_ms, health.version) == (False, "", -1.0, "")


def test_without_a_broker_each_call_says_so_in_time(broker: RabbitBroker) -> None:
    order = Order(kind="delay", routing_key="task.pdd.high", body=b"{}", message_id="m", delay_s=30)
    assert [answer.error for answer in broker.publish([order])] == ["disconnected"]
    for call in (broker.ensure, broker.depths):
        with pytest.raises(BrokerUnavailable, match="Nothing listens at 127"):
            call()
    consumer = broker.consumer(["high"], window=1, name="w")
    assert consumer.take(1, 0.01) == []
    assert consumer.unacked() == 0
    assert "Nothing listens" in broker.health().error


def test_depths_know_their_queues_by_name(broker: RabbitBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    totals = {"rpa_tasks_high": (5, 2), "single_shop_s1": (1, 0), "foreign": (9, 9)}
    asked: list[str] = []

    def count(names: Any) -> dict[str, tuple[int, int]]:
        asked.extend(names)
        return {name: (5, 1) for name in asked if name != "rpa_tasks_low"}

    monkeypatch.setattr(broker.management, "totals", lambda: totals)
    monkeypatch.setattr(broker._control, "count", count)
    broker.consumer(["high", "rpa_node_desk"], window=1, name="w")
    found = {item.name: item for item in broker.depths()}
    assert set(asked) == set(found) | {"rpa_tasks_low"}
    assert set(found) == {"rpa_tasks_high", "rpa_tasks_normal", "rpa_dead_queue", "single_shop_s1", "rpa_node_desk"}
    high = found["rpa_tasks_high"]
    assert (high.ready, high.unacked, high.consumers, high.kind) == (5, 2, 1, "lane")
    assert found["rpa_tasks_normal"].unacked is None
    assert found["rpa_node_desk"].kind == "other"


@pytest.mark.parametrize(
    ("url", "management"), [("redis://h", ""), ("amqp://h", "ftp://h"), ("amqp://u:s3cret#@h", "")]
)
def test_a_wrong_address_is_a_usage_error_without_the_password(url: str, management: str) -> None:
    with pytest.raises(UsageError) as caught:
        RabbitBroker(url, SystemClock(), management_url=management)
    assert "s3cret" not in str(caught.value)
