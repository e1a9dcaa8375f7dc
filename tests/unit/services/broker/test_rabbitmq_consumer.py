"""Taking and settling from any thread over one channel."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from types import MappingProxyType
from typing import Any

import pytest

from services.broker.rabbitmq.consumer import RabbitConsumer
from services.domain.task.order import Delivery
from tests.unit.services.broker.rabbitmq_fakes import FakeChannel, FakeLink

QUEUES = ("rpa_tasks_high", "rpa_tasks_low")


class FakeControl:
    unreachable: Mapping[str, str] = MappingProxyType({})

    def restore(self, then: Any) -> None:
        then()

    def counting(self, _names: Any, answer: Future[Any]) -> None:
        answer.set_result({})


class Rig:
    def __init__(self) -> None:
        self.link = FakeLink(close=0.5)
        self.consumer = RabbitConsumer(self.link, FakeControl(), QUEUES, window=8, name="w")  # type: ignore[arg-type]
        self.channel = self.open()
        self.tag = 0

    def open(self) -> FakeChannel:
        channel = self.link.open()
        channel.answer()
        return channel

    def deliver(self, count: int = 1, queue: str = QUEUES[0], **fields: Any) -> None:
        consumer_tag = self.consumer._subscription._active[queue].tag
        for _ in range(count):
            self.tag += 1
            self.channel.deliver(consumer_tag, self.tag, **fields)
        self.link.data()

    def settled(self) -> list[tuple[Any, ...]]:
        self.link.run()
        return self.channel.told("ack", "nack")


@pytest.fixture
def rig() -> Rig:
    return Rig()


def ids(deliveries: list[Delivery]) -> list[str]:
    return [delivery.message_id for delivery in deliveries]


def test_deliveries_are_taken_in_order_urgent_queue_first(rig: Rig) -> None:
    rig.deliver(2, QUEUES[1])
    rig.deliver(1)
    assert rig.consumer.unacked() == 3
    assert ids(rig.consumer.take(2, 0)) == ["m3", "m1"]
    assert ids(rig.consumer.take(5, 0)) == ["m2"]
    assert rig.consumer.unacked() == 3
    assert rig.consumer.take(5, 0) == []


def test_take_wakes_with_the_first_delivery(rig: Rig) -> None:
    found: list[Delivery] = []
    waiting = threading.Thread(target=lambda: found.extend(rig.consumer.take(5, 10)))
    waiting.start()
    time.sleep(0.05)
    rig.deliver(3)
    waiting.join(5)
    assert ids(found) == ["m1", "m2", "m3"]


def test_fields_of_the_wire_become_plain_values(rig: Rig) -> None:
    rig.deliver(
        message_id=b"\xff", content_type="application/json", headers={b"k": 1, "x-rpa-gen": 2}, priority=3, body=b"x"
    )
    (delivery,) = rig.consumer.take(1, 0)
    assert (delivery.message_id, delivery.content_type, delivery.content_encoding) == ("�", "application/json", "")
    assert (dict(delivery.headers), delivery.priority, delivery.body) == ({"k": 1, "x-rpa-gen": 2}, 3, b"x")
    assert delivery.received == rig.link.now()
    assert (delivery.queue, delivery.routing_key) == (QUEUES[0], "task.pdd.high")


def test_a_burst_of_acks_wakes_the_io_thread_once_and_leaves_in_one_write(rig: Rig) -> None:
    rig.deliver(5)
    taken = rig.consumer.take(5, 0)
    for delivery in taken:
        rig.consumer.ack([delivery])
    assert len(rig.link.posted) == 1
    assert rig.settled() == [("ack", 5, True)]
    assert rig.link.connection.corks == 1
    assert rig.consumer.unacked() == 0
    rig.consumer.ack(taken)
    assert not rig.link.posted


def test_acks_out_of_order_leave_alone(rig: Rig) -> None:
    rig.deliver(4)
    first, second, third, fourth = rig.consumer.take(4, 0)
    rig.consumer.ack([third])
    rig.consumer.requeue([second])
    assert rig.settled() == [("nack", 2, False), ("ack", 3, False)]
    rig.consumer.ack([first, fourth])
    assert rig.settled()[2:] == [("ack", 4, True)]


def test_a_pause_takes_nothing_and_gives_back_the_rest(rig: Rig) -> None:
    rig.deliver(3)
    (taken,) = rig.consumer.take(1, 0)
    rig.consumer.pause()
    assert rig.consumer.take(1, 0.01) == []
    rig.link.run()
    rig.deliver_late()
    rig.channel.answer()
    assert rig.settled() == [("nack", 2, False), ("nack", 3, False), ("nack", 4, False)]
    assert rig.consumer.unacked() == 1
    rig.consumer.ack([taken])
    assert rig.settled()[-1] == ("ack", 1, False)
    rig.consumer.resume()
    rig.link.run()
    rig.channel.answer()
    rig.deliver()
    assert len(rig.consumer.take(1, 0)) == 1


def _deliver_late(self: Rig) -> None:
    """A delivery that was on its way when its consumer was cancelled."""
    self.tag += 1
    self.channel.deliver(next(iter(self.channel.receivers)), self.tag)
    self.link.data()


Rig.deliver_late = _deliver_late  # type: ignore[attr-defined]


def test_old_deliveries_are_dropped_and_counted_after_a_loss(rig: Rig) -> None:
    rig.deliver(4)
    old = rig.consumer.take(2, 0)
    rig.link.fail()
    assert rig.consumer.unacked() == 0
    assert rig.consumer.take(5, 0) == [], "what nobody took comes again by itself"
    rig.link.come_back()
    rig.channel, rig.tag = rig.open(), 0
    rig.deliver(2)
    rig.consumer.ack(old)
    assert rig.consumer.ack_lost == 2
    assert rig.settled() == []
    rig.consumer.ack(rig.consumer.take(2, 0))
    assert rig.settled() == [("ack", 2, True)]


def test_acks_decided_before_a_loss_are_forgotten_with_it(rig: Rig) -> None:
    rig.deliver(1)
    rig.consumer.ack(rig.consumer.take(1, 0))
    rig.link.fail()
    rig.link.run()
    assert rig.channel.told("ack") == []


def test_close_sends_what_is_decided_gives_back_and_wakes_who_waits(rig: Rig) -> None:
    rig.deliver(3)
    taken = rig.consumer.take(2, 0)
    rig.consumer.ack(taken[:1])
    waiting = threading.Thread(target=rig.consumer.take, args=(1, 30))
    closing = threading.Thread(target=rig.consumer.close)
    rig.link.run()
    closing.start()
    while not rig.link.posted:
        pass
    rig.link.run()
    waiting.start()
    rig.channel.answer()
    closing.join(5)
    waiting.join(5)
    assert not waiting.is_alive()
    assert rig.channel.told("ack", "nack", "cancel", "close")[0] == ("ack", 1, False)
    assert rig.channel.told("nack") == [("nack", 3, False)]
    assert not rig.channel.is_open
    rig.consumer.ack(taken[1:])
    assert rig.consumer.ack_lost == 1
    rig.consumer.close()


def test_closing_a_consumer_of_a_silent_broker_is_bounded(rig: Rig) -> None:
    started = time.monotonic()
    rig.consumer.close()
    assert time.monotonic() - started < 2


def test_a_window_of_nothing_is_a_window_of_one(rig: Rig) -> None:
    rig.consumer.set_window(0)
    rig.link.run()
    rig.channel.answer()
    assert rig.channel.told("qos")[-1] == ("qos", 1)
