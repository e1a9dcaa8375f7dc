"""Publish: what a receipt promises, and what a delivery carries."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from services.clock import SystemClock
from services.domain.task.order import Order, Receipt
from services.ports import Broker
from tests.contract.conftest import open_broker
from tests.contract.posts import collect, order
from tests.contract.waiting import eventually


def test_a_confirmed_message_arrives_as_it_was_sent(broker: Broker) -> None:
    sent = Order(
        kind="work",
        routing_key="task.pdd.high",
        body='{"task_id": "t1", "text": "\u5e97\u94fa"}'.encode(),
        message_id="t1",
        priority=9,
        headers={"x-rpa-gen": 3, "x-rpa-attempt": 0, "x-text": "\u5e97"},
        platform="pdd",
    )
    assert broker.publish([sent]) == [Receipt(True)]
    consumer = broker.consumer(["high"], window=5, name="c")
    (got,) = collect(consumer, 1)
    assert (got.body, got.routing_key, got.message_id, got.priority) == (sent.body, "task.pdd.high", "t1", 9)
    assert {key: got.headers[key] for key in sent.headers} == dict(sent.headers)
    assert not got.redelivered
    consumer.ack([got])
    consumer.close()


def test_nothing_to_publish(broker: Broker) -> None:
    assert broker.publish([]) == []


@pytest.mark.needs("unroutable")
@pytest.mark.parametrize("key", ["task.pdd.nowhere", "task.pdd", "nonsense", "task.pdd.high.more"])
def test_a_key_that_no_queue_wants_is_unroutable(broker: Broker, key: str) -> None:
    receipts = broker.publish([order(1), Order(kind="work", routing_key=key, body=b"{}", message_id="x"), order(2)])
    assert [receipt.ok for receipt in receipts] == [True, False, True]
    assert receipts[1].error == "unroutable"


def test_a_long_batch_is_confirmed_one_by_one(broker: Broker) -> None:
    assert all(receipt.ok for receipt in broker.publish([order(number) for number in range(2500)]))
    consumer = broker.consumer(["normal"], window=500, name="c")
    got = collect(consumer, 2500, settle=True, seconds=20)
    assert [delivery.message_id for delivery in got] == [f"m{number}" for number in range(2500)]
    consumer.close()


def test_concurrent_publishers(broker: Broker) -> None:
    receipts: list[Receipt] = []

    def work(start: int) -> None:
        for number in range(start, start + 50):
            receipts.extend(broker.publish([order(number)]))

    threads = [threading.Thread(target=work, args=(start,)) for start in range(0, 400, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receipts) == 400
    assert all(receipt.ok for receipt in receipts)
    consumer = broker.consumer(["normal"], window=100, name="c")
    assert {delivery.message_id for delivery in collect(consumer, 400, settle=True)} == {f"m{n}" for n in range(400)}
    consumer.close()


@pytest.mark.parametrize("body", [b"", b"\x00\xff not json", b"x" * 500_000], ids=["empty", "bytes", "large"])
def test_bodies_are_only_bytes(broker: Broker, body: bytes) -> None:
    sent = Order(kind="dead", routing_key="dead", body=body, message_id="", headers={"x-rpa-error": "e" * 900})
    assert broker.publish([sent])[0].ok
    consumer = broker.dead_letters(name="archiver")
    (got,) = collect(consumer, 1)
    assert got.body == body
    assert got.headers["x-rpa-error"] == "e" * 900
    consumer.ack([got])
    consumer.close()


def test_messages_survive_their_publisher(broker: Broker, broker_kind: str, broker_place: Any) -> None:
    other = open_broker(broker_kind, broker_place, SystemClock())
    other.ensure(platforms=["pdd"])
    assert other.publish([order(1)])[0].ok
    other.close()
    consumer = broker.consumer(["normal"], window=5, name="c")
    assert [delivery.message_id for delivery in collect(consumer, 1, settle=True)] == ["m1"]
    consumer.close()


def test_a_closed_broker_confirms_nothing(broker: Broker) -> None:
    broker.close()
    assert [receipt.ok for receipt in broker.publish([order(1)])] == [False]


def test_the_topology_may_be_declared_again(broker: Broker) -> None:
    for _ in range(2):
        broker.ensure(platforms=["pdd", "new-one"], delays=[1, 2])
    assert broker.publish([order(1)])[0].ok


# -------------------------------------------------------------------------- delays
@pytest.mark.needs("delay")
def test_a_delayed_message_comes_to_its_lane_in_time(broker: Broker) -> None:
    consumer = broker.consumer(["low", "high"], window=5, name="c")
    clock = SystemClock()
    begun = clock.monotonic()
    assert broker.publish([order(1, "low", delay_s=1)]) == [Receipt(True)]
    assert consumer.take(5, 0.5) == []
    (got,) = collect(consumer, 1)
    assert 0.9 <= clock.monotonic() - begun < 30
    assert (got.message_id, got.routing_key) == ("m1", "task.pdd.low")
    consumer.ack([got])
    consumer.close()


@pytest.mark.needs("delay", "depth")
def test_waiting_messages_are_shown_by_their_delay(broker: Broker) -> None:
    broker.publish([order(1, delay_s=2), order(2, delay_s=2), order(3, delay_s=1)])
    waiting = {depth.name: depth.ready for depth in broker.depths() if depth.kind == "delay"}
    assert waiting == {"rpa_delay_1s": 1, "rpa_delay_2s": 2}
    eventually(lambda: sum(depth.ready for depth in broker.depths() if depth.kind == "lane") == 3, 6)
    assert not any(depth.ready for depth in broker.depths() if depth.kind == "delay")
