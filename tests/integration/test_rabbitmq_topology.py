"""What the driver declares on a real broker, and what that does to messages."""

from __future__ import annotations

import json
import time
from typing import Any

import pika
import pytest

from services.broker.rabbitmq import topology
from services.broker.rabbitmq.broker import RabbitBroker
from services.broker.rabbitmq.given_up import STRIPPED_HEADERS
from services.clock import SystemClock
from services.domain.errors import BrokerUnavailable, TopologyMismatch
from tests.contract.waiting import eventually
from tests.integration.rabbitmq_rig import collect, depth, evaluate, names, opened, order, raw, vhost
from tests.support.services import RabbitMQ

LANE = {"x-max-priority": 10, "x-dead-letter-exchange": "rpa_dlx_exchange", "x-queue-type": "classic"}


def bindings(rabbitmq: RabbitMQ, url: str) -> set[tuple[str, str, str]]:
    rows = rabbitmq.api("GET", f"/api/bindings/{vhost(url)}")
    return {(row["source"], row["routing_key"], row["destination"]) for row in rows if row["source"]}


def test_everything_of_the_wire_contract_is_there_with_its_arguments(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost, platforms=["pdd", "temu"], delays=[30]):
        queues = {row["name"]: row for row in rabbitmq.api("GET", f"/api/queues/{vhost(amqp_vhost)}")}
        exchanges = {row["name"]: row for row in rabbitmq.api("GET", f"/api/exchanges/{vhost(amqp_vhost)}")}
        for lane in ("high", "normal", "low"):
            assert queues[f"rpa_tasks_{lane}"]["arguments"] == LANE
        assert queues["rpa_dead_queue"]["arguments"] == {"x-queue-type": "classic"}
        waits = {"x-message-ttl": 30_000, "x-dead-letter-exchange": "rpa_task_exchange", "x-queue-type": "classic"}
        assert queues["rpa_delay_30s"]["arguments"] == waits
        stream = {"x-queue-type": "stream", "x-max-length-bytes": 1 << 30}
        assert queues["rpa_dead_log"]["arguments"] == stream
        assert all(row["durable"] for row in queues.values())
        kinds = {name: exchanges[name]["type"] for name in exchanges if name.startswith("rpa_")}
        assert kinds == {
            "rpa_task_exchange": "topic",
            "rpa_dlx_exchange": "direct",
            "rpa_result_exchange": "topic",
            "rpa_delay_30s": "fanout",
            "rpa_own_exchange": "topic",
            "rpa_notice_late": "fanout",
        }
        assert all(exchanges[name]["durable"] for name in kinds)
        bound = bindings(rabbitmq, amqp_vhost)
        for lane in ("high", "normal", "low"):
            assert ("rpa_task_exchange", f"task.*.{lane}", f"rpa_tasks_{lane}") in bound
            assert ("rpa_own_exchange", f"task.*.{lane}", f"rpa_tasks_{lane}") in bound
            assert ("rpa_task_exchange", f"task.*.{lane}", "rpa_notice_queue") in bound
            for platform in ("pdd", "temu"):
                assert ("rpa_dlx_exchange", f"task.{platform}.{lane}", "rpa_dead_queue") in bound
                assert ("rpa_dlx_exchange", f"task.{platform}.{lane}", "rpa_dead_log") in bound
        assert ("rpa_dlx_exchange", "dead", "rpa_dead_queue") in bound
        assert any((source, queue) == ("rpa_delay_30s", "rpa_delay_30s") for source, _key, queue in bound)


@pytest.mark.parametrize("waits", [0, 1])
def test_notices_of_before_are_made_anew_once_they_are_empty(rabbitmq: RabbitMQ, amqp_vhost: str, waits: int) -> None:
    """Those that ended with their message; a queue in use, or with something in it, is used as it is."""
    old = topology.NOTICE_LIMITS | topology.CLASSIC
    with raw(amqp_vhost) as channel:
        channel.queue_declare("rpa_notice_queue", durable=True, arguments=old)
        if waits:
            channel.basic_publish("", "rpa_notice_queue", b"{}")
        with opened(rabbitmq, amqp_vhost) as broker:
            (queue,) = [
                row
                for row in rabbitmq.api("GET", f"/api/queues/{vhost(amqp_vhost)}")
                if row["name"] == "rpa_notice_queue"
            ]
            assert queue["arguments"] == old | ({} if waits else {"x-dead-letter-exchange": "rpa_notice_late"})
            assert broker.inspect().missing == ()
            assert broker.publish([order()])[0].ok
            assert depth(broker, "rpa_notice_queue")[0] == waits, "own work goes past them"


def test_a_look_finds_what_is_missing_and_makes_nothing(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    broker = RabbitBroker(amqp_vhost, SystemClock(), management_url=rabbitmq.management_url)
    try:
        seen = broker.inspect([30])
        exchanges = {"rpa_task_exchange", "rpa_dlx_exchange", "rpa_result_exchange", "rpa_delay_30s"}
        exchanges |= {"rpa_own_exchange", "rpa_notice_queue", "rpa_notice_late"}
        queues = {"rpa_dead_queue", "rpa_tasks_high", "rpa_tasks_normal", "rpa_tasks_low", "rpa_delay_30s"}
        assert (set(seen.missing), seen.present) == (exchanges | queues, 0)
        with raw(amqp_vhost) as channel:
            channel.queue_declare("rpa_tasks_low", durable=True, arguments=LANE)
        again = broker.inspect([30])
        assert (set(seen.missing) - set(again.missing), again.present) == ({"rpa_tasks_low"}, 1)
        assert [row["name"] for row in rabbitmq.api("GET", f"/api/queues/{vhost(amqp_vhost)}")] == ["rpa_tasks_low"]
        assert not [row for row in rabbitmq.api("GET", f"/api/exchanges/{vhost(amqp_vhost)}") if "rpa" in row["name"]]
        broker.ensure(delays=[30])
        found = broker.inspect([30])
        assert (found.missing, found.unbound) == ((), ())
        with raw(amqp_vhost) as channel:
            channel.queue_unbind("rpa_tasks_low", "rpa_task_exchange", "task.*.low")
        assert broker.inspect([30]).unbound == ("rpa_task_exchange (task.*.low) → rpa_tasks_low",)
    finally:
        broker.close()


@pytest.mark.parametrize(
    "other", [{"x-queue-type": "classic"}, LANE | {"x-max-length": 5}, LANE | {"x-max-priority": 5}]
)
def test_a_look_names_other_arguments(rabbitmq: RabbitMQ, amqp_vhost: str, other: dict[str, Any]) -> None:
    broker = RabbitBroker(amqp_vhost, SystemClock(), management_url=rabbitmq.management_url)
    try:
        with raw(amqp_vhost) as channel:
            channel.queue_declare("rpa_tasks_high", durable=True, arguments=other)
        with pytest.raises(TopologyMismatch, match="rpa_tasks_high exists with other arguments"):
            broker.inspect()
    finally:
        broker.close()


@pytest.mark.parametrize("first_says", [{}, {"x-queue-type": "classic"}])
def test_a_queue_declared_by_another_program_without_or_with_its_type_is_the_same_queue(
    rabbitmq: RabbitMQ, amqp_vhost: str, first_says: dict[str, Any]
) -> None:
    arguments = {"x-max-priority": 10, "x-dead-letter-exchange": "rpa_dlx_exchange", **first_says}
    with raw(amqp_vhost) as channel:
        channel.queue_declare("rpa_tasks_high", durable=True, arguments=arguments)
        with opened(rabbitmq, amqp_vhost) as broker:
            assert broker.publish([order()])[0].ok
        channel.queue_declare("rpa_tasks_high", durable=True, arguments=arguments)


def test_other_arguments_stop_with_both_sets_and_change_nothing(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with raw(amqp_vhost) as channel:
        channel.queue_declare("rpa_tasks_normal", durable=True, arguments={"x-max-priority": 3})
        channel.basic_publish("", "rpa_tasks_normal", b"keep me")
    broker = RabbitBroker(amqp_vhost, SystemClock(), management_url=rabbitmq.management_url)
    try:
        with pytest.raises(TopologyMismatch) as caught:
            broker.ensure()
        text = str(caught.value)
        assert "rpa_tasks_normal" in text
        assert "nothing was changed" in text
        assert "'x-max-priority': 10" in text
        assert "'x-max-priority': 3" in text
    finally:
        broker.close()
    with raw(amqp_vhost) as channel:
        assert channel.basic_get("rpa_tasks_normal")[2] == b"keep me"


def test_an_account_that_may_not_configure_uses_what_is_there(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    rabbitmq.api("PUT", "/api/users/operator", {"password": "p%/ss", "tags": ""})
    rights = {"configure": "^$", "write": ".*", "read": ".*"}
    rabbitmq.api("PUT", f"/api/permissions/{vhost(amqp_vhost)}/operator", rights)
    mine = amqp_vhost.replace("guest:guest", "operator:p%25%2Fss")
    broker = RabbitBroker(mine, SystemClock())
    try:
        with pytest.raises(BrokerUnavailable, match="missing and user 'operator' may not create"):
            broker.ensure()
        with opened(rabbitmq, amqp_vhost):
            broker.ensure()
            assert broker.publish([order()])[0].ok
    finally:
        broker.close()
        rabbitmq.api("DELETE", "/api/users/operator")


def test_urgent_orders_of_a_lane_come_first(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        broker.publish([order(f"p{priority}", priority=priority) for priority in (1, 9, 0, 5, 7)])
        consumer = broker.consumer(["high"], window=1, name="w")
        found = []
        for _ in range(5):
            delivery = collect(consumer, 1)
            found += names(delivery)
            consumer.ack(delivery)
        assert found == ["p9", "p7", "p5", "p1", "p0"]


def test_a_delayed_order_comes_back_under_its_own_routing_key(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost, delays=[1]) as broker:
        started = time.monotonic()
        waits = order("later", "low", kind="delay", delay_s=1, headers={"x-rpa-attempt": 2}, priority=4)
        assert broker.publish([waits])[0].ok
        assert depth(broker, "rpa_delay_1s")[0] == 1
        consumer = broker.consumer(["high", "low"], window=5, name="w")
        (delivery,) = collect(consumer, 1)
        assert time.monotonic() - started >= 0.95
        assert (delivery.queue, delivery.routing_key, delivery.priority) == ("rpa_tasks_low", "task.pdd.low", 4)
        assert delivery.headers["x-rpa-attempt"] == 2
        consumer.ack([delivery])


def test_a_delay_nobody_declared_is_declared_on_the_way(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker:
        assert broker.publish([order(kind="delay", delay_s=2)])[0].ok
        assert depth(broker, "rpa_delay_2s")[0] == 1


def test_a_forged_history_does_not_make_the_broker_drop_a_retry(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    forged = [{"queue": "rpa_delay_1s", "reason": "expired", "count": 1, "exchange": "rpa_delay_1s"}]
    with opened(rabbitmq, amqp_vhost, delays=[1]) as broker:
        consumer = broker.consumer(["high"], window=5, name="w")
        headers = {"x-death": json.dumps(forged), "x-first-death-queue": "rpa_delay_1s", "CC": "other", "x-rpa-gen": 3}
        with raw(amqp_vhost) as channel:  # as a foreign program that copies headers would do it
            kept = pika.BasicProperties(message_id="foreign", headers={"x-death": forged + _lane_death()})
            channel.basic_publish("rpa_delay_1s", "task.pdd.high", b"{}", kept)
        assert broker.publish([order("ours", kind="delay", delay_s=1, headers=headers)])[0].ok
        time.sleep(2)
        found = {delivery.message_id: delivery for delivery in collect(consumer, 2, 3)}
        assert "ours" in found
        if broker.health().version.startswith("3."):  # 4.x does not believe what a client says about a message's past
            assert "foreign" not in found
        assert found["ours"].headers["x-rpa-gen"] == 3
        assert not (set(found["ours"].headers) & STRIPPED_HEADERS) - {
            "x-death",
            "x-first-death-exchange",
            "x-first-death-queue",
            "x-first-death-reason",
            "x-last-death-exchange",
            "x-last-death-queue",
            "x-last-death-reason",
        }, "only what this broker wrote itself"
        consumer.ack(found.values())


def _lane_death() -> list[dict[str, Any]]:
    """A second entry: the message claims to have died in the queue that the delay leads to."""
    return [{"queue": "rpa_tasks_high", "reason": "expired", "count": 1, "exchange": "rpa_task_exchange"}]


def test_what_the_broker_dead_letters_itself_reaches_the_dead_queue(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker, raw(amqp_vhost) as channel:
        broker.publish([order("rejected", "normal")])
        method, _properties, _body = channel.basic_get("rpa_tasks_normal")
        channel.basic_reject(method.delivery_tag, requeue=False)
        archiver = broker.dead_letters(name="archiver")
        (letter,) = collect(archiver, 1)
        assert (letter.queue, letter.message_id, letter.routing_key) == (
            "rpa_dead_queue",
            "rejected",
            "task.pdd.normal",
        )
        archiver.ack([letter])
        assert eventually(lambda: depth(broker, "rpa_dead_queue")[:2] == (0, 0))


def test_a_dead_letter_is_also_in_the_log_that_reading_does_not_empty(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost) as broker, raw(amqp_vhost) as channel:
        assert broker.publish([order("letter", kind="dead", routing_key="dead")])[0].ok
        for _ in range(2):
            channel.basic_qos(prefetch_count=10)
            for method, properties, _body in channel.consume(
                "rpa_dead_log", arguments={"x-stream-offset": "first"}, inactivity_timeout=5
            ):
                assert properties is not None, "the log is empty"
                assert properties.message_id == "letter"
                channel.basic_ack(method.delivery_tag)
                break
            channel.cancel()


def test_what_was_deleted_is_declared_again(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost, delays=[1]) as broker, raw(amqp_vhost) as channel:
        channel.queue_delete("rpa_tasks_low")
        channel.exchange_delete("rpa_delay_1s")
        assert eventually(lambda: broker.publish([order(lane="low")])[0].ok)
        assert eventually(lambda: broker.publish([order(kind="delay", delay_s=1)])[0].ok)


def test_depths_tell_ready_unacked_and_consumers_now(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost, delays=[1]) as broker, raw(amqp_vhost) as channel:
        channel.queue_declare("single_shop_s7", durable=True)
        channel.queue_declare("somebody_elses", durable=True)
        broker.publish([order(f"m{number}") for number in range(5)])
        assert depth(broker, "rpa_tasks_high") == (5, 0, 0)
        consumer = broker.consumer(["high"], window=2, name="w")
        held = collect(consumer, 2)
        assert depth(broker, "rpa_tasks_high") == (3, 2, 1)
        kinds = {item.name: item.kind for item in broker.depths()}
        assert kinds == {
            "rpa_tasks_high": "lane",
            "rpa_tasks_normal": "lane",
            "rpa_tasks_low": "lane",
            "rpa_dead_queue": "dead",
            "rpa_notice_queue": "notice",
            "rpa_notice_late": "late",
            "rpa_delay_1s": "delay",
            "single_shop_s7": "shop",
        }
        consumer.ack(held)


def test_depths_without_the_management_api_leave_unacked_open(amqp_vhost: str) -> None:
    broker = RabbitBroker(amqp_vhost, SystemClock(), management_url="http://127.0.0.1:9")
    try:
        broker.ensure()
        broker.publish([order()])
        assert depth(broker, "rpa_tasks_high") == (1, None, 0)
        assert broker.health().latency_ms > 0
    finally:
        broker.close()


def test_a_broker_whose_default_type_is_quorum_still_gets_classic_lanes(rabbitmq: RabbitMQ) -> None:
    name = "quorum-default"
    rabbitmq.api("PUT", f"/api/vhosts/{name}", {"default_queue_type": "quorum"})
    url = rabbitmq.amqp_url_of(name)
    try:
        with opened(rabbitmq, url) as broker:
            assert broker.publish([order()])[0].ok
    finally:
        rabbitmq.drop_vhost(url)


def test_of_a_queue_that_was_silent_no_channel_is_left(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    """A connection has only so many, and one more would wait each time that something is declared."""
    place = vhost(amqp_vhost)
    queue = f'{{ok, Q}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"{place}">>, queue, <<"rpa_tasks_high">>))'
    ours = f'[C || C <- rabbit_channel:list_local(), rabbit_channel:info(C, [vhost]) =:= [{{vhost, <<"{place}">>}}]]'
    with opened(rabbitmq, amqp_vhost) as broker:
        evaluate(rabbitmq, f"{queue}, sys:suspend(amqqueue:get_pid(Q)).")
        try:
            broker.ensure(platforms=["pdd"])
        finally:
            evaluate(rabbitmq, f"{queue}, sys:resume(amqqueue:get_pid(Q)).")
        assert eventually(lambda: evaluate(rabbitmq, f"length({ours}).") == "0")
