"""Publishing to a real broker: every order gets its own answer, whatever happens."""

from __future__ import annotations

import contextlib
import threading
import time

import msgspec
import pytest

from services import assembly
from services import settings as config
from services.assembly import BROKER
from services.broker.rabbitmq.broker import RabbitBroker
from services.broker.rabbitmq.timing import Timing
from services.clock import SystemClock
from services.domain.insight import publisher
from services.domain.task.order import Order, Receipt
from services.messages import english
from tests.contract.waiting import eventually
from tests.integration.rabbitmq_rig import (
    QUICK,
    collect,
    depth,
    names,
    opened,
    order,
    orders,
    raw,
    set_memory_limit,
    vhost,
)
from tests.support.services import RabbitMQ


def test_answers_stand_at_the_places_of_their_orders(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        batch = [order(f"m{number}", "nowhere" if number % 3 == 0 else "high") for number in range(3000)]
        batch[7] = order("long", routing_key="task.pdd." + "x" * 300)
        batch[8] = Order(kind="gossip", routing_key="x", body=b"", message_id="x")
        answers = broker.publish(batch)
        assert answers[7].error.startswith("refused: ShortStringTooLong")
        assert answers[8].error == "refused: unknown kind of order 'gossip'"
        for place, answer in enumerate(answers):
            if place not in (7, 8):
                assert answer == (Receipt(False, "unroutable") if place % 3 == 0 else Receipt(True)), place
        assert depth(broker, "rpa_tasks_high")[0] == sum(answer.ok for answer in answers)


def test_the_same_id_twice_in_one_batch_gets_two_answers(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        answers = broker.publish([order("a"), order("a", "nowhere"), order("a"), order("a", "nowhere")])
        assert [answer.ok for answer in answers] == [True, False, True, False]
        assert broker.publish([]) == []


def test_a_message_is_persistent_json_with_its_id_and_without_history(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker, raw(amqp_vhost) as channel:
        broker.publish([order("m", priority=7, headers={"x-rpa-gen": 2, "x-death": "forged", "BCC": "x"})])
        _method, properties, body = channel.basic_get("rpa_tasks_high", auto_ack=True)
        assert (properties.content_type, properties.delivery_mode, properties.priority) == ("application/json", 2, 7)
        assert (properties.message_id, properties.expiration, properties.headers) == ("m", None, {"x-rpa-gen": 2})
        assert body == b'{"n": 1}'


@pytest.mark.parametrize("size", [0, 1, 131_063, 131_064, 131_065, 1_000_000])
def test_bodies_of_every_size_arrive_whole(rabbitmq: RabbitMQ, amqp_vhost: str, size: int) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        body = bytes(number % 251 for number in range(size))
        assert broker.publish([order(body=body)])[0].ok
        consumer = broker.consumer(["high"], window=1, name="w")
        (delivery,) = collect(consumer, 1)
        assert delivery.body == body
        consumer.ack([delivery])


def test_two_threads_of_5000_share_the_window_and_lose_nothing(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        found: dict[str, list[Receipt]] = {}

        def work(name: str) -> None:
            found[name] = broker.publish([order(f"{name}{number}") for number in range(5000)])

        threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(answer.ok for answers in found.values() for answer in answers)
        consumer = broker.consumer(["high"], window=500, name="w")
        got: list[str] = []
        while len(got) < 10_000:
            taken = collect(consumer, 500)
            assert taken
            got += names(taken)
            consumer.ack(taken)
        assert sorted(got) == sorted(f"{name}{number}" for name in "ab" for number in range(5000))
        assert eventually(lambda: depth(broker, "rpa_tasks_high")[:2] == (0, 0))


def test_a_full_queue_says_nack(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    rule = {
        "pattern": "rpa_tasks_low",
        "apply-to": "queues",
        "definition": {"max-length": 2, "overflow": "reject-publish"},
    }
    with opened(rabbitmq, amqp_vhost) as broker:
        rabbitmq.api("PUT", f"/api/policies/{vhost(amqp_vhost)}/full", rule)
        answers = eventually(lambda: [a for a in broker.publish(orders(5, "low")) if not a.ok])
        assert {answer.error for answer in answers} == {"nack"}
        assert broker.publish([order()])[0].ok


def test_an_exchange_that_was_deleted_is_declared_again_and_the_others_go_through(
    rabbitmq: RabbitMQ, amqp_vhost: str
) -> None:
    with opened(rabbitmq, amqp_vhost, delays=[1]) as broker:
        with raw(amqp_vhost) as channel:
            channel.exchange_delete("rpa_result_exchange")
        batch = orders(200)
        batch[50] = order("late", kind="result", routing_key="result.pdd.sync_order.succeeded")
        assert all(answer.ok for answer in broker.publish(batch))
        assert {f"m{number}" for number in range(200) if number != 50} == set(names_of(broker, 150))


def names_of(broker: RabbitBroker, at_least: int) -> list[str]:
    """Ids in the high lane; twins of what was sent again are harmless."""
    consumer = broker.consumer(["high"], window=1000, name="reader")
    found = collect(consumer, 1000, 2)
    assert len(found) >= at_least
    consumer.ack(found)
    return names(found)


def test_a_poisonous_order_among_many_is_found_by_sending_one_at_a_time(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    rabbitmq.api("PUT", "/api/users/picky", {"password": "picky", "tags": ""})
    rights = {"configure": ".*", "write": ".*", "read": ".*"}
    rabbitmq.api("PUT", f"/api/permissions/{vhost(amqp_vhost)}/picky", rights)
    topics = {"exchange": "rpa_own_exchange", "write": r"^task\.(pdd|\*)\.(high|low|normal)$", "read": ".*"}
    rabbitmq.api("PUT", f"/api/topic-permissions/{vhost(amqp_vhost)}/picky", topics)
    try:
        with opened(rabbitmq, amqp_vhost.replace("guest:guest", "picky:picky")) as broker:
            batch = orders(100)
            batch[30] = order("bad", routing_key="task.temu.high")
            batch[60] = order("bad", routing_key="task.temu.high")
            answers = broker.publish(batch)
            refused = [
                place for place, answer in enumerate(answers) if answer.error.startswith("refused: ACCESS_REFUSED")
            ]
            assert refused == [30, 60]
            assert sum(answer.ok for answer in answers) == 98
    finally:
        rabbitmq.api("DELETE", "/api/users/picky")


def test_a_user_who_may_not_send_any_more_is_told_until_something_goes_through(
    rabbitmq: RabbitMQ, amqp_vhost: str
) -> None:
    place = f"/api/permissions/{vhost(amqp_vhost)}/reader"
    all_rights = {"configure": ".*", "write": ".*", "read": ".*"}
    rabbitmq.api("PUT", "/api/users/reader", {"password": "reader", "tags": ""})
    rabbitmq.api("PUT", place, all_rights)
    try:
        with opened(rabbitmq, amqp_vhost.replace("guest:guest", "reader:reader")) as broker:
            assert broker.publish([order("before")])[0].ok
            rabbitmq.api("PUT", place, all_rights | {"write": "^$"})
            while (answer := broker.publish([order("refused")])[0]).ok:
                time.sleep(2)  # a channel remembers what it was let do until it rests for a second
            assert answer.error.startswith("refused: ACCESS_REFUSED")
            health = broker.health()
            assert (health.connected, health.blocked) == (True, True)
            way = publisher.look(health, (), 0)
            assert english(way.message).startswith("The broker does not let this user send: ACCESS_REFUSED")
            assert "set_permissions" in english(way.remedy)
            rabbitmq.api("PUT", place, all_rights)
            assert eventually(lambda: broker.publish([order("after")])[0].ok, 30)
            assert not broker.health().blocked
    finally:
        rabbitmq.api("DELETE", "/api/users/reader")


@pytest.mark.parametrize("lacks", ["write", "read", ""])
@pytest.mark.parametrize("made", [True, False])
def test_a_user_who_may_connect_and_not_work_is_told_when_the_connection_is_tried(
    rabbitmq: RabbitMQ, amqp_vhost: str, lacks: str, made: bool
) -> None:
    place = f"/api/permissions/{vhost(amqp_vhost)}/guest_of_some"
    rabbitmq.api("PUT", "/api/users/guest_of_some", {"password": "pw", "tags": ""})
    rabbitmq.api("PUT", place, dict.fromkeys(("configure", "write", "read"), ".*") | ({lacks: ""} if lacks else {}))
    settings = config.Settings(
        broker=config.BrokerSettings(url=amqp_vhost.replace("guest:guest", "guest_of_some:pw")),
        store=config.StoreSettings(url="redis://127.0.0.1:1/0"),
    )
    try:
        with contextlib.ExitStack() as stack:
            if made:
                stack.enter_context(opened(rabbitmq, amqp_vhost))
            found = [str(answer.words) for answer in assembly.probe(settings) if answer.part == BROKER]
            looks = msgspec.structs.replace(settings, read_only=True)
            only = [str(answer.words) for answer in assembly.probe(looks) if answer.part == BROKER]
    finally:
        rabbitmq.api("DELETE", "/api/users/guest_of_some")
    assert ["rabbitmqctl set_permissions -p" in words for words in found] == [bool(lacks)]
    assert only == [""], "who only looks needs neither"


def test_an_alarm_blocks_publishers_only_and_says_so(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        assert all(answer.ok for answer in broker.publish(orders(20)))
        consumer = broker.consumer(["high"], window=5, name="w")
        set_memory_limit(rabbitmq, '{absolute, "1MB"}')
        try:
            started = time.monotonic()
            assert eventually(lambda: broker.publish([order("held")])[0].error == "blocked", 30)
            assert time.monotonic() - started < 25, "not the patience of the question"
            assert broker.health().blocked
            assert broker.health().connected
            assert "holds publishers back (low on memory)" in broker.health().error
            started = time.monotonic()
            assert broker.publish([order("at once")])[0].error == "blocked"
            assert time.monotonic() - started < QUICK.publish - 1
            for _ in range(4):  # consumption goes on
                taken = collect(consumer, 5)
                assert len(taken) == 5
                consumer.ack(taken)
            assert depth(broker, "rpa_tasks_normal") == (0, 0, 0)  # and so do numbers
        finally:
            set_memory_limit(rabbitmq)
        assert eventually(lambda: broker.publish([order("free")])[0].ok, 30)
        assert not broker.health().blocked
        assert broker.health().error == ""


def test_closing_while_the_broker_blocks_does_not_hang(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish([order()])
        set_memory_limit(rabbitmq, '{absolute, "1MB"}')
        try:
            assert eventually(lambda: broker.publish([order()])[0].error == "blocked", 30)
            waiting = threading.Thread(target=broker.publish, args=([order()],))
            waiting.start()
            started = time.monotonic()
            broker.close()
            waiting.join(30)
            assert not waiting.is_alive()
            assert time.monotonic() - started < 25
        finally:
            set_memory_limit(rabbitmq)


def test_a_frozen_broker_makes_orders_time_out(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost, Timing(publish=1.0, heartbeat=30)) as broker:
        assert broker.publish([order()])[0].ok
        rabbitmq.pause()
        try:
            started = time.monotonic()
            assert {answer.error for answer in broker.publish(orders(1500))} == {"timeout"}
            assert 0.9 < time.monotonic() - started < 20
        finally:
            rabbitmq.resume()
        assert eventually(lambda: broker.publish([order("after")])[0].ok, 20)


def test_a_result_nobody_wants_is_not_an_error(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        assert broker.publish([order(kind="result", routing_key="result.pdd.sync_order.succeeded")])[0].ok


def test_without_a_connection_orders_are_answered_in_time(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    nowhere = amqp_vhost.replace(f":{rabbitmq.port}/", ":9/")
    broker = RabbitBroker(nowhere, SystemClock(), timing=QUICK)
    try:
        started = time.monotonic()
        assert {answer.error for answer in broker.publish(orders(100))} == {"disconnected"}
        assert time.monotonic() - started < 30, "all wait together"

        def at_once() -> bool:
            started = time.monotonic()
            assert broker.publish([order()])[0].error == "disconnected"
            return time.monotonic() - started < QUICK.reconnect

        assert eventually(at_once)
    finally:
        broker.close()
    assert broker.publish([order()])[0].error == "disconnected"
