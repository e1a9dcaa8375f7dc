"""The cluster profile on a real node: quorum lanes, no priorities as arguments, what comes back too often."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pika
import pytest

from services.broker.rabbitmq.broker import RabbitBroker
from services.clock import SystemClock
from services.domain.errors import TopologyMismatch
from services.domain.task.order import Order
from services.messages import english
from services.monitor.doctor import Doctor
from tests.contract.waiting import eventually
from tests.integration import fleet_rig
from tests.integration.fleet_rig import Fleet
from tests.integration.rabbitmq_rig import opened, raw, vhost
from tests.support.services import RabbitMQ

QUORUM = {"x-queue-type": "quorum", "x-dead-letter-exchange": "rpa_dlx_exchange"}

pytestmark = [pytest.mark.rabbitmq]


@pytest.fixture
def cluster(rabbitmq: RabbitMQ, amqp_vhost: str, redis_url: str, tmp_path: Path) -> Iterator[Fleet]:
    """A fleet whose broker has the cluster profile."""
    place = fleet_rig.settings_for(
        "fleet", tmp_path, amqp=amqp_vhost, redis=redis_url, management=rabbitmq.management_url
    )
    place = msgspec.structs.replace(place, broker=msgspec.structs.replace(place.broker, profile="cluster"))
    with fleet_rig.opened("fleet", place, tmp_path) as fleet:
        yield fleet


@pytest.mark.redis
def test_tasks_run_through_quorum_lanes(cluster: Fleet, rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    cluster.worker()
    ids = [cluster.create(f"s{n}", priority=priority, n=n) for n, priority in enumerate((1, 5, 6, 7, 10))]
    again = cluster.create("s9", fail="network", fail_first=1)
    cluster.wait_ended([*ids, again])
    assert cluster.task(again).attempt == 2
    queues = {row["name"]: row["arguments"] for row in rabbitmq.api("GET", f"/api/queues/{vhost(amqp_vhost)}")}
    assert {name: queues[f"rpa_tasks_{name}"] for name in ("high", "normal", "low")} == {
        "high": QUORUM,
        "normal": QUORUM,
        "low": QUORUM,
    }
    unlimited = {} if cluster.engine.broker.health().version.startswith("3.") else {"x-delivery-limit": -1}
    assert queues["rpa_dead_queue"] == {"x-queue-type": "quorum", **unlimited}
    kinds = {name: arguments["x-queue-type"] for name, arguments in queues.items()}
    assert {name for name, kind in kinds.items() if kind != "quorum"} == {"rpa_dead_log"}
    assert queues["rpa_delay_1s"] == {
        "x-queue-type": "quorum",
        "x-message-ttl": 1000,
        "x-dead-letter-exchange": "rpa_task_exchange",
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
    }


@pytest.mark.parametrize(
    ("lane", "priority", "wanted"),
    [("high", 9, 9), ("high", 7, 7), ("normal", 6, 4), ("normal", 5, 3), ("normal", 3, 1), ("low", 1, 1), ("s1", 9, 9)],
)
def test_only_the_high_lane_is_above_the_normal_class(
    rabbitmq: RabbitMQ, amqp_vhost: str, lane: str, priority: int, wanted: int
) -> None:
    broker = RabbitBroker(amqp_vhost, SystemClock(), management_url=rabbitmq.management_url, profile="cluster")
    try:
        broker.ensure(platforms=["pdd"])
        broker.open_shop("pdd", "s1")
        key = f"task.pdd.{lane}"
        order = Order(kind="work", routing_key=key, body=b"{}", message_id="m", priority=priority)
        assert broker.publish([order])[0].ok
        with raw(amqp_vhost) as channel:
            queue = "single_shop_s1" if lane == "s1" else f"rpa_tasks_{lane}"
            _, properties, _ = eventually(lambda: found if (found := channel.basic_get(queue))[0] else None)
        assert properties.priority == wanted
    finally:
        broker.close()


def test_the_other_profile_is_named_and_nothing_is_changed(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    with opened(rabbitmq, amqp_vhost, profile="single") as single:
        order = Order(kind="work", routing_key="task.pdd.high", body=b"{}", message_id="m")
        assert single.publish([order])[0].ok
        other = RabbitBroker(amqp_vhost, SystemClock(), management_url=rabbitmq.management_url, profile="cluster")
        try:
            with pytest.raises(TopologyMismatch, match=r"broker\.profile = single, here it is cluster") as told:
                other.ensure(platforms=["pdd"])
            with pytest.raises(TopologyMismatch, match=r"broker\.profile = single"):
                other.inspect()
        finally:
            other.close()
        assert "nothing was changed" in str(told.value)
        assert {one.name: one.ready for one in single.depths()}["rpa_tasks_high"] == 1


def test_queues_from_before_replication_are_used_and_named_by_doctor(
    rabbitmq: RabbitMQ, amqp_vhost: str, redis_url: str, tmp_path: Path
) -> None:
    """With the way on: what is deleted comes back replicated."""
    waits = {"x-queue-type": "classic", "x-message-ttl": 1000, "x-dead-letter-exchange": "rpa_task_exchange"}
    with raw(amqp_vhost) as channel:
        channel.queue_declare("rpa_dead_queue", durable=True, arguments={"x-queue-type": "classic"})
        channel.queue_declare("rpa_delay_1s", durable=True, arguments=waits)
    place = fleet_rig.settings_for(
        "fleet", tmp_path, amqp=amqp_vhost, redis=redis_url, management=rabbitmq.management_url
    )
    place = msgspec.structs.replace(place, broker=msgspec.structs.replace(place.broker, profile="cluster"))
    with fleet_rig.opened("fleet", place, tmp_path) as fleet:
        fleet.worker()
        fleet.archiver()
        again = fleet.create("s9", fail="network", fail_first=1)
        dead = fleet.create("s8", fail="missing_secret")
        assert fleet.wait(again, "succeeded").attempt == 2
        fleet.wait(dead, "dead")
        eventually(lambda: fleet.engine.store.get_letter(dead))

        def told() -> list[str]:
            engine = fleet.engine
            doctor = Doctor(engine.store, engine.broker, engine.clock, version="", production=False)
            found = doctor.look(tmp_path, place.delays)
            assert not [one for one in found if one.message.code == "doctor.topology"]
            return [english(one.message) for one in found if one.message.code == "doctor.one_node"]

        (sentence,) = told()
        assert "rpa_dead_queue" in sentence
        assert "rpa_delay_1s" in sentence
        with raw(amqp_vhost) as channel:
            channel.queue_delete("rpa_dead_queue", if_empty=True)
            channel.queue_delete("rpa_delay_1s", if_empty=True)
        ids = [fleet.create(f"d{n}", fail="network", fail_first=1) for n in range(3)]
        dead = fleet.create("s7", fail="missing_secret")
        fleet.wait_ended([*ids, dead])
        eventually(lambda: fleet.engine.store.get_letter(dead))
        eventually(lambda: told() == [], 20)


def limited(rabbitmq: RabbitMQ, url: str, times: int) -> None:
    body = {"pattern": "^rpa_tasks_", "definition": {"delivery-limit": times}, "apply-to": "queues"}
    rabbitmq.api("PUT", f"/api/policies/{vhost(url)}/limit", body)


@pytest.mark.redis
def test_what_came_back_too_often_is_sent_again(cluster: Fleet, rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    """As RabbitMQ 4 does by itself after 20 returns."""
    task_id = cluster.create(n=1)
    limited(rabbitmq, amqp_vhost, 1)

    def returned() -> bool:
        connection = pika.BlockingConnection(pika.URLParameters(amqp_vhost))
        channel = connection.channel()
        channel.basic_get("rpa_tasks_normal")
        connection.close()
        return cluster.ready("rpa_dead_queue") == 1

    eventually(returned, 20)
    cluster.archiver()
    cluster.worker()
    done = cluster.wait(task_id, "succeeded")
    assert (done.attempt, done.retries) == (1, 0)
    assert cluster.engine.store.get_letter(task_id) is None


def test_a_dedicated_queue_goes_only_when_it_is_empty_and_nobody_serves_it(rabbitmq: RabbitMQ, amqp_vhost: str) -> None:
    """A quorum queue knows no deletion on a condition: the broker would end the connection instead."""
    broker = RabbitBroker(amqp_vhost, SystemClock(), management_url=rabbitmq.management_url, profile="cluster")
    order = Order(kind="work", routing_key="task.pdd.s1", body=b"{}", message_id="m")
    try:
        broker.ensure(platforms=["pdd"])
        broker.open_shop("pdd", "s1")
        assert broker.publish([order])[0].ok
        assert not broker.close_shop("pdd", "s1")
        assert broker.publish([order])[0].ok, "it leads there still"
        with raw(amqp_vhost) as channel:
            channel.queue_purge("single_shop_s1")
            channel.basic_consume("single_shop_s1", lambda *_: None)
            assert not broker.close_shop("pdd", "s1")
        assert eventually(lambda: broker.close_shop("pdd", "s1"))
        assert broker.close_shop("pdd", "s1")
        assert not broker.publish([order])[0].ok
    finally:
        broker.close()
