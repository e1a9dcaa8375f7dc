"""A consumer of other make hears how tasks end: bare pika, a queue of its own, nothing but the wire contract."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pika
import pytest
from msgspec import structs

from services.domain.errors import BrokerUnavailable
from services.engine.lead.results import ResultRelay
from tests.contract.rollback import of_redis
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, channel, opened, settings_for, vhost
from tests.integration.rabbitmq_rig import break_connections
from tests.support.services import RabbitMQ


@pytest.fixture
def fleet(tmp_path: Path, amqp_vhost: str, redis_url: str, rabbitmq: RabbitMQ) -> Iterator[Fleet]:
    """A fleet on RabbitMQ and Redis."""
    settings = settings_for("fleet", tmp_path, amqp=amqp_vhost, redis=redis_url, management=rabbitmq.management_url)
    with opened("fleet", settings, tmp_path) as found:
        yield found


class Listener:
    """A queue bound to some results."""

    def __init__(self, fleet: Fleet, key: str) -> None:
        self._url = fleet.settings.broker.url
        fleet.engine.broker.ensure()
        with channel(self._url) as raw:
            self.queue = raw.queue_declare("", durable=False, auto_delete=False).method.queue
            raw.queue_bind(self.queue, "rpa_result_exchange", key)
        self.heard: list[tuple[str, dict[str, Any], pika.BasicProperties]] = []

    def listen(self) -> list[dict[str, Any]]:
        """All bodies heard so far."""
        with channel(self._url) as raw:
            while (found := raw.basic_get(self.queue, auto_ack=True))[0] is not None:
                method, properties, body = found
                self.heard.append((method.routing_key, json.loads(body), properties))
        return [body for _, body, _ in self.heard]


def relay(fleet: Fleet) -> ResultRelay:
    """One that the test turns by hand."""
    made = ResultRelay(fleet.engine.store, fleet.engine.broker, fleet.engine.clock, "test")
    made.round(0.0)
    return made


def test_each_terminal_status_is_told_once_with_all_that_came_of_the_task(fleet: Fleet) -> None:
    listener = Listener(fleet, "result.pdd.#")
    fleet.steward()
    eventually(lambda: fleet.engine.store.documents("relay"))
    waiting = fleet.create("s3")
    fleet.commands().tasks.cancel([waiting])
    fleet.worker()
    good, bad = fleet.create("s1", value=7), fleet.create("s2", fail="missing_secret")
    fleet.wait_ended([good, bad, waiting])
    eventually(lambda: len(listener.listen()) >= 3)
    told = {body["task_id"]: (key, body, properties) for key, body, properties in listener.heard}
    assert len(listener.heard) == 3
    key, body, properties = told[good]
    assert key == "result.pdd.work.succeeded"
    assert body["status"] == "succeeded"
    assert (body["shop_id"], body["platform"], body["task_type"]) == ("s1", "pdd", "work")
    assert body["payload"] == {"value": 7}
    assert body["attempt"] == 1
    assert body["worker"] == fleet.task(good).worker
    assert body["started_at"] <= body["ended_at"]
    assert properties.delivery_mode == 2
    assert properties.message_id == good
    assert told[bad][0] == "result.pdd.work.dead"
    assert "missing_secret" in told[bad][1]["error"]
    assert told[waiting][1]["status"] == "cancelled"
    assert told[waiting][1]["started_at"] is None


def test_what_is_decided_about_a_letter_is_no_result(fleet: Fleet) -> None:
    telling, listener = relay(fleet), Listener(fleet, "result.#")
    bad = fleet.create("s1", fail="missing_secret")
    fleet.worker()
    fleet.wait(bad, "dead")
    fleet.commands().dead_letters.set_triage([bad], "archived")
    while telling.round(0.0):
        pass
    assert [body["status"] for body in listener.listen()] == ["dead"]


def test_the_next_leader_goes_on_where_the_last_one_stopped(fleet: Fleet) -> None:
    listener = Listener(fleet, "result.#")
    relay(fleet)
    ids = [fleet.create(f"s{number}") for number in range(5)]
    fleet.commands().tasks.cancel(ids)
    assert listener.listen() == []
    successor = ResultRelay(fleet.engine.store, fleet.engine.broker, fleet.engine.clock, "next")
    successor.round(0.0)
    assert [body["task_id"] for body in listener.listen()] == ids


def test_what_ends_while_redis_comes_back_without_its_last_moments_is_told(fleet: Fleet, redis_url: str) -> None:
    """The place up to which all was told is among what is lost; what ends before the leader looks again is not."""
    listener, telling = Listener(fleet, "result.#"), relay(fleet)
    before, lost, since = (fleet.create(f"s{number}") for number in range(3))
    fleet.commands().tasks.cancel([before])
    telling.round(0.0)
    back = of_redis(redis_url)
    fleet.commands().tasks.cancel([lost])
    telling.round(0.0)
    back()
    fleet.commands().tasks.cancel([since])
    telling.round(0.0)
    told = [body["task_id"] for body in listener.listen()]
    assert told[:2] == [before, lost]
    assert told[-1] == since


def test_while_the_broker_is_away_results_wait(fleet: Fleet, rabbitmq: RabbitMQ) -> None:
    listener = Listener(fleet, "result.#")
    fleet.steward()
    eventually(lambda: fleet.engine.store.documents("relay"))
    task_id = fleet.create("s1")
    break_connections(rabbitmq, fleet.settings.broker.url)
    fleet.commands().tasks.cancel([task_id])
    eventually(lambda: [body["status"] for body in listener.listen()])
    assert {body["task_id"] for body in listener.listen()} == {task_id}


def test_while_their_exchange_is_missing_results_wait(
    fleet: Fleet, rabbitmq: RabbitMQ, caplog: pytest.LogCaptureFixture
) -> None:
    """The account may not declare it, as where an administrator makes all there is; other orders go on meanwhile."""
    mine, theirs = fleet.settings.broker, f"/api/permissions/{vhost(fleet.settings.broker.url)}/plain"
    rabbitmq.api("PUT", "/api/users/plain", {"password": "plain", "tags": ""})
    rabbitmq.api("PUT", theirs, {"configure": "^$", "write": ".*", "read": ".*"})
    try:
        plain = fleet.open(broker=structs.replace(mine, url=mine.url.replace("guest:guest", "plain:plain")))
        telling = ResultRelay(plain.store, plain.broker, plain.clock, "test")
        telling.round(0.0)
        task_id = fleet.create("s1")  # what it takes is declared by an account that may
        with channel(mine.url) as raw:
            raw.exchange_delete("rpa_result_exchange")
        fleet.commands().tasks.cancel([task_id])
        for _ in range(2):
            with pytest.raises(BrokerUnavailable):
                telling.round(0.0)
        assert caplog.text.count("closed the publishing channel") == 1, "all orders go by that one"
        with channel(mine.url) as raw:
            raw.exchange_declare("rpa_result_exchange", "topic", durable=True)
        listener = Listener(fleet, "result.#")
        telling.round(0.0)
        assert [body["task_id"] for body in listener.listen()] == [task_id]
    finally:
        rabbitmq.api("DELETE", "/api/users/plain")


def test_nobody_bound_is_no_error(fleet: Fleet) -> None:
    telling = relay(fleet)
    fleet.commands().tasks.cancel([fleet.create("s1")])
    assert telling.round(0.0) is False
