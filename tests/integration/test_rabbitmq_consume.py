"""Consuming from a real broker: windows, pauses, urgency, odd messages, acks in bursts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pika
import pytest

from services.broker.rabbitmq.broker import RabbitBroker
from services.domain.task.order import Delivery
from tests.contract.waiting import eventually
from tests.integration.rabbitmq_rig import (
    collect,
    depth,
    evaluate,
    names,
    opened,
    order,
    orders,
    raw,
    vhost,
)
from tests.support.rabbit_cluster import NODES
from tests.support.services import RabbitMQ

HIGH = "rpa_tasks_high"
#: what a consumer that has stopped counts until it holds nothing: in a quorum queue as one still
STOPPED = int(NODES > 1)


def settled(broker: RabbitBroker, queue: str = HIGH) -> bool:
    return depth(broker, queue)[:2] == (0, 0)


def test_the_most_urgent_lane_comes_first_each_in_its_order(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        for lane in ("low", "normal", "high"):
            broker.publish([order(f"{lane}{number}", lane) for number in range(3)])
        consumer = broker.consumer(["high", "normal", "low"], window=10, name="w")
        eventually(lambda: consumer.unacked() == 9)
        taken = consumer.take(9, 0)
        assert names(taken) == [f"{lane}{number}" for lane in ("high", "normal", "low") for number in range(3)]
        consumer.ack(taken[::2])
        consumer.ack(taken)  # what is settled already is left alone: a second ack would cost the channel
        assert consumer.unacked() == 0
        assert eventually(lambda: all(settled(broker, f"rpa_tasks_{lane}") for lane in ("high", "normal", "low")))
        assert consumer.ack_lost == 0


def test_take_waits_for_the_first_and_not_longer_than_asked(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        consumer = broker.consumer(["high"], window=10, name="w")
        started = time.monotonic()
        assert consumer.take(5, 0.3) == []
        assert 0.25 < time.monotonic() - started < 10
        threading.Timer(0.2, lambda: broker.publish([order()])).start()
        assert names(consumer.take(5, 30)) == ["m"]


def test_the_window_bounds_what_is_held_and_can_change(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish(orders(100))
        consumer = broker.consumer(["high"], window=4, name="w")
        eventually(lambda: consumer.unacked() == 4)
        taken = consumer.take(10, 0)
        assert names(taken) == ["m0", "m1", "m2", "m3"]
        time.sleep(0.2)
        assert consumer.unacked() == 4
        consumer.set_window(20)
        consumer.ack(taken)
        assert eventually(lambda: 20 <= consumer.unacked() <= 24), "what the old consumer brought meanwhile stays"
        assert eventually(lambda: depth(broker, HIGH)[2] in (1, 1 + STOPPED)), "the old consumer is gone"
        consumer.set_window(2)
        seen = 3 if NODES == 1 else 1  # of a quorum queue the rest is told seconds later
        assert eventually(lambda: depth(broker, HIGH)[:seen] == (94, 2, 1)[:seen]), (
            "what exceeds the smaller window goes back"
        )
        found = []
        while got := consumer.take(5, 0.5):
            assert len(got) <= 2
            found += names(got)
            consumer.ack(got)
        assert sorted(found) == sorted(f"m{number}" for number in range(4, 100))


def test_many_changes_of_the_window_lose_nothing_and_leave_one_consumer(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish(orders(3000))
        consumer = broker.consumer(["high"], window=1, name="w")
        found: list[str] = []
        for number in range(60):
            consumer.set_window((1, 8, 64)[number % 3])
            if number % 7 == 3:
                consumer.pause()
                consumer.resume()
            taken = consumer.take(50, 1)
            found += names(taken)
            consumer.ack(taken)
        while taken := consumer.take(500, 1):
            found += names(taken)
            consumer.ack(taken)
        assert sorted(found) == sorted(f"m{number}" for number in range(3000))
        assert eventually(lambda: depth(broker, HIGH) == (0, 0, 1))


def test_pause_gives_back_what_nobody_took_and_resume_goes_on(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish(orders(10))
        consumer = broker.consumer(["high"], window=6, name="w")
        eventually(lambda: consumer.unacked() == 6)
        taken = consumer.take(2, 0)
        consumer.pause()
        assert consumer.take(5, 0.2) == []
        assert eventually(lambda: depth(broker, HIGH) == (8, 2, STOPPED))
        assert consumer.unacked() == 2
        consumer.ack(taken)
        assert eventually(lambda: depth(broker, HIGH) == (8, 0, 0))
        consumer.resume()
        found = []
        while again := consumer.take(1, 1):
            found += names(again)
            consumer.ack(again)
        assert found == [f"m{number}" for number in range(2, 10)], "in their old places"


def test_what_is_given_back_comes_again_marked(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish(orders(3))
        consumer = broker.consumer(["high"], window=3, name="w")
        first = collect(consumer, 3)
        assert not any(delivery.redelivered for delivery in first)
        consumer.requeue(first)
        second = collect(consumer, 3)
        assert sorted(names(second)) == ["m0", "m1", "m2"]
        assert all(delivery.redelivered for delivery in second)


def test_close_gives_back_and_a_late_ack_is_counted(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish(orders(10))
        consumer = broker.consumer(["high"], window=10, name="w")
        taken = collect(consumer, 4)
        consumer.ack(taken[:3])
        consumer.close()
        assert eventually(lambda: depth(broker, HIGH) == (7, 0, 0))
        consumer.ack(taken[3:])
        assert consumer.ack_lost == 1
        assert consumer.take(5, 0.1) == []
        consumer.close()


def test_two_consumers_share_a_queue_and_one_keeps_what_the_other_cannot_hold(
    rabbitmq: RabbitMQ, amqp_vhost: str
) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        one, two = (broker.consumer(["high"], window=5, name=name) for name in ("one", "two"))
        eventually(lambda: depth(broker, HIGH)[2] == 2)
        broker.publish(orders(30))
        eventually(lambda: one.unacked() + two.unacked() == 10)
        assert one.unacked() == two.unacked() == 5


def test_acks_from_many_threads_settle_everything(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish(orders(4000))
        consumer = broker.consumer(["high"], window=200, name="w")
        left = threading.Semaphore(4000)

        def work() -> None:
            while left.acquire(blocking=False):
                taken = consumer.take(1, 5)
                if not taken:
                    left.release()
                    return
                consumer.ack(taken)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert eventually(lambda: settled(broker))
        assert consumer.ack_lost == 0


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("a date beyond year 9999", {"headers": {"when": 1}, "timestamp": 1}),
        ("nothing set", {}),
        (
            "odd types",
            {"headers": {"void": None, "table": {"a": [1, {"b": True}]}, "when": datetime(2026, 1, 1, tzinfo=UTC)}},
        ),
        ("priority beyond the queue's", {"priority": 255}),
        ("an unknown encoding", {"content_encoding": "gzip", "content_type": "application/x-python-serialize"}),
    ],
)
def test_a_foreign_message_is_delivered_however_odd(
    rabbitmq: RabbitMQ, amqp_vhost: str, name: str, fields: dict[str, Any]
) -> None:
    with opened(rabbitmq, amqp_vhost) as broker, raw(amqp_vhost) as channel:
        channel.basic_publish("rpa_task_exchange", "task.pdd.high", b"\xff\x00", pika.BasicProperties(**fields))
        consumer = broker.consumer(["high"], window=1, name="w")
        (delivery,) = collect(consumer, 1)
        assert delivery.body == b"\xff\x00"
        assert delivery.priority == fields.get("priority")
        assert delivery.content_encoding == fields.get("content_encoding", "")
        assert set(delivery.headers) == set(fields.get("headers", {}))
        consumer.ack([delivery])
        assert eventually(lambda: settled(broker))


def test_properties_that_cannot_be_read_do_not_end_the_connection(
    rabbitmq: RabbitMQ, amqp_vhost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = 253_402_300_800_000  # milliseconds where AMQP has seconds: the year 10,000 and far beyond
    with opened(rabbitmq, amqp_vhost) as broker, raw(amqp_vhost) as channel:
        with monkeypatch.context() as patch:
            patch.setattr("pika.data.calendar.timegm", lambda _tuple: far)
            odd = pika.BasicProperties(message_id="odd", headers={"when": datetime(2026, 1, 1, tzinfo=UTC)})
            channel.basic_publish("rpa_task_exchange", "task.pdd.high", b"body kept", odd)
        broker.publish([order("next")])
        consumer = broker.consumer(["high"], window=10, name="w")
        taken = {delivery.body: delivery for delivery in collect(consumer, 2)}
        assert "x-rpa-unreadable" in taken[b"body kept"].headers
        assert not taken[b"body kept"].redelivered
        consumer.ack(taken.values())
        assert eventually(lambda: settled(broker))


def test_names_that_are_not_utf8_are_shown_with_marks(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker, raw(amqp_vhost) as channel:
        odd = pika.BasicProperties(message_id=b"\xff\xfe", headers={"k": b"\xff"})
        channel.basic_publish("rpa_task_exchange", "task.pdd.high", b"x", odd)
        consumer = broker.consumer(["high"], window=1, name="w")
        (delivery,) = collect(consumer, 1)
        assert delivery.message_id == "��"


@contextmanager
def short_patience(rabbitmq: RabbitMQ) -> Iterator[None]:
    """The broker takes back what is held for 1.5 s, and looks every half second instead of every minute."""

    def set_to(tick: int, patience: int) -> None:
        settings = {"channel_tick_interval": tick, "consumer_timeout": patience}
        evaluate(rabbitmq, ", ".join(f"application:set_env(rabbit, {k}, {v})" for k, v in settings.items()) + ".")

    set_to(500, 1500)
    try:
        yield
    finally:
        set_to(60_000, 1_800_000)


def test_a_delivery_held_longer_than_the_broker_allows_costs_the_channel_not_the_consumer(
    rabbitmq: RabbitMQ, amqp_vhost: str, caplog: pytest.LogCaptureFixture
) -> None:
    with short_patience(rabbitmq), opened(rabbitmq, amqp_vhost) as broker:
        broker.publish([order()])
        consumer = broker.consumer(["high"], window=5, name="w")
        held = collect(consumer, 1)
        (again,) = collect(consumer, 1, 20)
        assert again.redelivered
        assert "consumer_timeout" in caplog.text
        consumer.ack(held)
        assert consumer.ack_lost == 1
        consumer.ack([again])
        assert eventually(lambda: settled(broker))


def test_a_dedicated_queue_is_consumed_by_its_name(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker, raw(amqp_vhost) as channel:
        channel.queue_declare("single_shop_s7", durable=True)
        channel.queue_bind("single_shop_s7", "rpa_task_exchange", "task.pdd.s7")
        assert broker.publish([order("mine", "s7")])[0].ok
        consumer = broker.consumer(["high", "single_shop_s7"], window=5, name="w")
        (delivery,) = collect(consumer, 1)
        assert (delivery.queue, delivery.message_id) == ("single_shop_s7", "mine")


def test_the_window_is_what_the_broker_was_told(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        consumer = broker.consumer(["high", "low"], window=8, name="w1")
        eventually(lambda: depth(broker, HIGH)[2] == 1)
        consumer.set_window(64)

        def told() -> set[tuple[str, int, bool]]:
            rows = rabbitmq.api("GET", f"/api/consumers/{vhost(amqp_vhost)}")
            return {(row["queue"]["name"], row["prefetch_count"], row["ack_required"]) for row in rows}

        assert eventually(lambda: told() == {(HIGH, 64, True), ("rpa_tasks_low", 64, True)}, 20)


def test_dead_letters_have_a_window_of_fifty(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish([order(f"d{number}", kind="dead", routing_key="dead") for number in range(60)])
        archiver = broker.dead_letters(name="archiver")
        eventually(lambda: archiver.unacked() == 50)
        taken: list[Delivery] = []
        while len(taken) < 60:
            fresh = archiver.take(100, 2)
            archiver.ack(fresh)
            taken += fresh
        assert len(set(names(taken))) == 60
