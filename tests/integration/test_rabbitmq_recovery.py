"""What a lost connection, a lost queue and a lost broker do to the driver: it comes back, and nothing is confused."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import pytest
from msgspec import structs

from services.broker.rabbitmq.broker import RabbitBroker
from services.broker.rabbitmq.timing import Timing
from services.clock import SystemClock
from services.domain.errors import BrokerUnavailable, UsageError
from tests.contract.waiting import eventually
from tests.integration.rabbitmq_rig import (
    QUICK,
    break_connections,
    collect,
    depth,
    names,
    opened,
    order,
    orders,
    raw,
    vhost,
)
from tests.support.proxy import Proxy
from tests.support.services import RabbitMQ

HIGH = "rpa_tasks_high"


def at_rest(broker: RabbitBroker) -> bool:
    """Whether the lanes are seen to be empty; a question that met a loss is asked again."""
    with contextlib.suppress(BrokerUnavailable):
        return all(depth(broker, f"rpa_tasks_{lane}")[:2] == (0, 0) for lane in ("high", "normal", "low"))
    return False


@pytest.fixture(autouse=True)
def _threads_end() -> Iterator[None]:
    """No test may leave one of the driver's threads."""
    yield
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("rabbitmq-")]
    assert not left


def test_connections_closed_by_force_come_back_and_old_acks_are_counted_not_sent(
    rabbitmq: RabbitMQ, amqp_vhost: str
) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish(orders(10))
        consumer = broker.consumer(["high"], window=10, name="w")
        held = collect(consumer, 10)
        break_connections(rabbitmq, amqp_vhost, 2)
        again = collect(consumer, 10)
        assert all(delivery.redelivered for delivery in again)
        consumer.ack(held)
        assert consumer.ack_lost == 10
        assert consumer.unacked() == 10, "a stale ack settles nothing"
        consumer.ack(again)
        assert eventually(lambda: depth(broker, HIGH) == (0, 0, 1))
        assert broker.publish([order("after")])[0].ok
        assert eventually(lambda: broker.health().connected)


def test_connections_are_made_anew_when_somebody_asks_for_it(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish(orders(3))
        consumer = broker.consumer(["high"], window=3, name="w")
        collect(consumer, 3)
        broker.dial_anew()
        again = collect(consumer, 3)
        assert [delivery.redelivered for delivery in again] == [True] * 3, "what was not settled comes again"
        consumer.ack(again)
        assert eventually(lambda: broker.health().connected)
        assert broker.publish([order("after")])[0].ok
        facts = broker.facts()
        nodes = [words.split()[0] for name, words in facts.items() if name.startswith("node ")]  # others may alarm it
        assert nodes == ["up"] * int(facts["nodes"])


@pytest.mark.slow
@pytest.mark.fault
def test_a_restart_of_the_broker_keeps_messages_and_brings_everyone_back(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish(orders(10_000))
        consumer = broker.consumer(["high"], window=50, name="w")
        first = collect(consumer, 50)
        consumer.ack(first)
        eventually(lambda: depth(broker, HIGH)[0] <= 9_950)
        rabbitmq.stop()
        assert eventually(lambda: not broker.health().connected)
        assert "lost" in broker.health().error or "Nothing listens" in broker.health().error
        assert consumer.take(1, 0.1) == []
        rabbitmq.start()
        started = time.monotonic()
        found = set(names(first))
        while len(found) < 10_000:
            taken = collect(consumer, 50)
            assert taken, f"{len(found)} of 10000"
            if time.monotonic() - started > 12:
                assert found - set(names(first)), "back within ten seconds"
            found |= set(names(taken))
            consumer.ack(taken)
        assert eventually(lambda: broker.publish([order("after")])[0].ok)
        assert eventually(lambda: broker.health().connected)


@pytest.mark.slow
@pytest.mark.fault
def test_killing_the_broker_under_load_loses_nothing_that_was_confirmed(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        confirmed: set[str] = set()
        stop = threading.Event()

        def produce() -> None:
            number = 0
            while not stop.is_set():
                batch = [order(f"m{number + place}") for place in range(200)]
                number += 200
                answers = broker.publish(batch)
                confirmed.update(item.message_id for item, answer in zip(batch, answers, strict=True) if answer.ok)

        producer = threading.Thread(target=produce)
        producer.start()
        try:
            eventually(lambda: len(confirmed) > 3000, 20)
            rabbitmq.kill()
            time.sleep(1)
            rabbitmq.start()
            before = len(confirmed)
            eventually(lambda: len(confirmed) > before + 1000, 40)
        finally:
            stop.set()
            producer.join(20)
        assert not producer.is_alive()
        consumer = broker.consumer(["high"], window=500, name="w")
        found: set[str] = set()
        while confirmed - found:
            taken = collect(consumer, 500)
            assert taken, f"{len(confirmed - found)} confirmed orders are gone"
            found |= set(names(taken))
            consumer.ack(taken)


def test_a_queue_deleted_under_its_consumer_is_declared_and_consumed_again(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker, raw(amqp_vhost) as channel:
        consumer = broker.consumer(["high", "low"], window=5, name="w")
        eventually(lambda: depth(broker, HIGH)[2] == 1)
        channel.queue_delete(HIGH)
        assert eventually(lambda: broker.publish([order("reborn")])[0].ok)
        assert names(collect(consumer, 1)) == ["reborn"]
        broker.publish([order("other", "low")])
        assert names(collect(consumer, 1)) == ["other"]


def test_an_order_whose_queue_was_deleted_does_not_wait_for_the_outbox(
    rabbitmq: RabbitMQ, amqp_vhost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.broker.rabbitmq.broker.RESTORE_WAIT", 60.0)
    with opened(rabbitmq, amqp_vhost) as broker, raw(amqp_vhost) as channel:
        assert broker.publish([order("one")])[0].ok
        channel.queue_delete(HIGH)
        assert [receipt.ok for receipt in broker.publish([order("two"), order("three", "low")])] == [True, True]


def test_a_dedicated_queue_that_is_missing_is_consumed_once_it_is_there(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker, raw(amqp_vhost) as channel:
        consumer = broker.consumer(["single_shop_s7"], window=5, name="w")
        time.sleep(0.5)
        channel.queue_declare("single_shop_s7", durable=True)
        channel.queue_bind("single_shop_s7", "rpa_task_exchange", "task.pdd.s7")
        broker.publish([order("mine", "s7")])
        assert names(collect(consumer, 1, 15)) == ["mine"]


@pytest.mark.slow
@pytest.mark.fault
def test_a_frozen_broker_is_noticed_by_its_silence(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost, Timing(heartbeat=1, connect=2, publish=3, reconnect=1)) as broker:
        consumer = broker.consumer(["high"], window=5, name="w")
        broker.publish([order("before")])
        collect(consumer, 1)
        rabbitmq.pause()
        try:
            assert eventually(lambda: not broker.health().connected, 20)
            with pytest.raises(BrokerUnavailable, match=r"did not answer in time|lost"):
                broker.ensure()
        finally:
            rabbitmq.resume()
        assert names(collect(consumer, 1, 30)) == ["before"]


@pytest.mark.slow
@pytest.mark.fault
def test_a_broker_that_is_down_at_first_gets_its_topology_when_it_comes(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    rabbitmq.stop()
    broker = RabbitBroker(amqp_vhost, SystemClock(), management_url=rabbitmq.management_url, timing=QUICK)
    try:
        started = time.monotonic()
        with pytest.raises(BrokerUnavailable, match=r"Nothing listens at 127\.0\.0\.1"):
            broker.ensure(platforms=["pdd"])
        assert time.monotonic() - started < QUICK.call - 1, "refused is known at once"
        consumer = broker.consumer(["high"], window=5, name="w")
        rabbitmq.start()
        assert eventually(lambda: broker.publish([order()])[0].ok, 30)
        assert names(collect(consumer, 1)) == ["m"]
    finally:
        rabbitmq.start()
        broker.close()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("guest:guest@", "guest:mistaken@"), "refused user 'guest': check the user name and password"),
        (("guest:guest@", "nobody:x@"), "refused user 'nobody'"),
        (("127.0.0.1:{port}/", "127.0.0.1:9/"), "Nothing listens at 127.0.0.1:9: start RabbitMQ"),
        (("127.0.0.1:{port}/", "no-such-host.invalid:{port}/"), "host name 'no-such-host.invalid' is unknown"),
        (("127.0.0.1:{port}/", "127.0.0.1:{management}/"), "does not speak AMQP|did not answer in time"),
        (("amqp://", "amqps://"), "does not speak TLS"),
        (("/{vhost}", "/other%2Fvhost"), "no vhost 'other/vhost': create it"),
    ],
)
def test_a_wrong_address_is_explained_and_the_password_never_shown(
    rabbitmq: RabbitMQ, amqp_vhost: str, change: tuple[str, str], sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    parts = {"port": rabbitmq.port, "management": rabbitmq.management_port, "vhost": amqp_vhost.rsplit("/", 1)[1]}
    old, new = (text.format(**parts) for text in change)
    url = amqp_vhost.replace(old, new)
    assert url != amqp_vhost
    broker = RabbitBroker(url, SystemClock(), timing=QUICK)
    try:
        with pytest.raises(BrokerUnavailable, match=sentence) as caught:
            broker.ensure()
        assert broker.health().error == str(caught.value)
        for text in (str(caught.value), caplog.text, repr(broker.address), broker.address.shown):
            assert "mistaken" not in text
            assert "guest:guest" not in text
    finally:
        broker.close()


def test_a_user_without_rights_on_the_vhost_is_told(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    rabbitmq.api("PUT", "/api/users/outsider", {"password": "x", "tags": ""})
    broker = RabbitBroker(amqp_vhost.replace("guest:guest", "outsider:x"), SystemClock(), timing=QUICK)
    try:
        with pytest.raises(BrokerUnavailable, match="may not use vhost"):
            broker.ensure()
    finally:
        broker.close()
        rabbitmq.api("DELETE", "/api/users/outsider")


def test_a_lane_that_a_user_may_not_read_keeps_the_others_going(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    rights = f"/api/permissions/{vhost(amqp_vhost)}/reader"
    rabbitmq.api("PUT", "/api/users/reader", {"password": "x", "tags": ""})
    rabbitmq.api("PUT", rights, {"configure": ".*", "write": ".*", "read": "^(?!rpa_tasks_normal).*$"})
    try:
        with (
            opened(rabbitmq, amqp_vhost) as whole,
            opened(rabbitmq, amqp_vhost.replace("guest:guest", "reader:x"), QUICK) as broker,
        ):
            consumer = broker.consumer(["high", "normal", "low"], window=5, name="w")
            eventually(lambda: broker.health().closed == ("rpa_tasks_normal",), 30)
            assert "rpa_tasks_normal" in broker.health().error
            for number in range(3):
                assert whole.publish([order(f"m{number}")])[0].ok
            assert [one.message_id for one in collect(consumer, 3)] == ["m0", "m1", "m2"]
            consumer.close()
    finally:
        rabbitmq.api("DELETE", "/api/users/reader")


@pytest.mark.parametrize("name", ["a/b", "with space", "ünïcode", "100%"])
def test_vhosts_of_any_name_are_reached(rabbitmq: RabbitMQ, name: str) -> None:
    from urllib.parse import quote

    rabbitmq.api("PUT", f"/api/vhosts/{quote(name, safe='')}")
    url = rabbitmq.amqp_url_of("x").removesuffix("x") + quote(name, safe="")
    try:
        with opened(rabbitmq, url) as broker:
            assert broker.publish([order()])[0].ok
            assert depth(broker, HIGH) == (1, 0, 0)
    finally:
        rabbitmq.api("DELETE", f"/api/vhosts/{quote(name, safe='')}")


def test_closing_a_frozen_broker_is_bounded(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost, Timing(close=2.0)) as broker:
        broker.publish([order()])
        consumers = [broker.consumer(["high"], window=1, name=name) for name in ("one", "two", "three")]
        collect(consumers[0], 1, 0.2)
        rabbitmq.pause()
        try:
            started = time.monotonic()
            broker.close()
            assert time.monotonic() - started < 5.9, "all wait together, not one after the other"
        finally:
            rabbitmq.resume()


def test_what_keeps_a_consumer_from_its_queue_is_told(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker, raw(amqp_vhost) as channel:
        broker.consumer(["single_shop_s9"], window=1, name="w")
        assert eventually(lambda: "no queue 'single_shop_s9'" in broker.health().error)
        channel.queue_declare("single_shop_s9", durable=True)
        assert eventually(lambda: broker.health().error == "", 15)


def test_closing_is_quick_at_every_moment(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    patient = structs.replace(QUICK, close=20.0)
    for use in ("nothing", "connecting", "connected", "consuming"):
        broker = RabbitBroker(amqp_vhost, SystemClock(), timing=patient)
        if use == "connecting":
            broker._in.start()
            broker._out.start()
        if use in ("connected", "consuming"):
            broker.ensure()
            broker.publish([order()])
        if use == "consuming":
            broker.consumer(["high"], window=5, name="w")
        started = time.monotonic()
        broker.close()
        broker.close()
        assert time.monotonic() - started < 15, use
        with pytest.raises(BrokerUnavailable, match="closed by this program"):
            broker.ensure()


def test_nonsense_addresses_are_a_usage_error() -> None:
    for url in ("", "http://x", "amqp://", "amqp://h:port/", "amqp://u:p#w@h/"):
        with pytest.raises(UsageError):
            RabbitBroker(url, SystemClock())


def test_a_caller_waits_for_a_connection_that_was_lost_as_soon_as_it_was_made(
    rabbitmq: RabbitMQ, amqp_vhost: str
) -> None:
    """Whoever asks in that moment is served by the next connection, and not told of the loss."""
    with Proxy(rabbitmq.port) as proxy, opened(rabbitmq, proxy.of(amqp_vhost)) as broker:
        for _ in range(5):
            before = broker._in.changed_at
            proxy.drop()
            eventually(lambda: broker._in.changed_at > before, 30)  # noqa: B023 - asked within this round
            assert depth(broker, HIGH) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.fault
def test_under_repeated_losses_no_message_is_missing_and_none_is_left(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    count, stop = 6_000, threading.Event()
    with opened(rabbitmq, amqp_vhost) as broker:
        consumer = broker.consumer(["high", "normal", "low"], window=64, name="w")
        settled: list[str] = []
        confirmed: set[str] = set()

        def produce() -> None:
            waiting = [order(f"m{number}", ("high", "normal", "low")[number % 3]) for number in range(count)]
            while waiting:
                batch, waiting = waiting[:300], waiting[300:]
                for item, answer in zip(batch, broker.publish(batch), strict=True):
                    if answer.ok:
                        confirmed.add(item.message_id)
                    else:
                        waiting.append(item)

        def consume() -> None:
            turn = 0
            while not stop.is_set():
                turn += 1
                taken = consumer.take(50, 0.2)
                settled.extend(names(taken))
                consumer.ack(taken)
                if turn % 40 == 0:
                    consumer.set_window((8, 64, 1)[turn // 40 % 3])
                if turn % 90 == 0:
                    consumer.pause()
                    consumer.resume()

        workers = [threading.Thread(target=work) for work in (produce, consume, consume)]
        for worker in workers:
            worker.start()
        try:
            for _ in range(3):
                time.sleep(0.5)
                break_connections(rabbitmq, amqp_vhost)
            workers[0].join(60)
            assert len(confirmed) == count
            eventually(lambda: not set(settled) ^ confirmed and consumer.unacked() == 0, 60)
            eventually(lambda: at_rest(broker), 60)
        finally:
            stop.set()
            for worker in workers:
                worker.join(10)
        assert len(settled) - count < count / 5, "repeats are what was on its way at a loss, not more"
        assert eventually(lambda: broker.health().connected)
