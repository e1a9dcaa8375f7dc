"""The plain work queue of another program: JSON of any shape becomes a task as configuration says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pika
import pytest

from services import diagnosis
from services.domain.task.mapping import QueueMapping
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.engine.lead.leader import ROLE
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, channel, define, lines, opened, settings_for
from tests.support.services import RabbitMQ

QUEUE = "task_queue"
MEANING = QueueMapping(task_type="work", platform="pdd", shop_id="{store.id}", payload="{args}", priority="{level}")


@pytest.fixture
def fleet(tmp_path: Path, amqp_vhost: str, redis_url: str, rabbitmq: RabbitMQ) -> Iterator[Fleet]:
    """A fleet on RabbitMQ and Redis that reads one queue of another program."""
    settings = settings_for(
        "fleet", tmp_path, amqp=amqp_vhost, redis=redis_url, management=rabbitmq.management_url,
        foreign_queues={QUEUE: MEANING},
    )  # fmt: skip
    with opened("fleet", settings, tmp_path) as found:
        yield found


def send(fleet: Fleet, *bodies: Any, **properties: Any) -> None:
    """As a program does that knows its queue and nothing else."""
    with channel(fleet.settings.broker.url) as raw:
        raw.queue_declare(QUEUE, durable=True)
        for body in bodies:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            raw.basic_publish("", QUEUE, data, pika.BasicProperties(delivery_mode=2, **properties))


def left(fleet: Fleet) -> int:
    with channel(fleet.settings.broker.url) as raw:
        return int(raw.queue_declare(QUEUE, durable=True, passive=True).method.message_count)


def tasks(fleet: Fleet, *terms: Any) -> list[Task]:
    return list(fleet.engine.store.query(Query(terms=terms, limit=100)).tasks)


def test_messages_become_tasks_also_where_the_queue_comes_later_than_the_leader(fleet: Fleet) -> None:
    fleet.steward()
    eventually(lambda: fleet.engine.store.leader(ROLE), 30)
    send(fleet, {"store": {"id": "s1"}, "args": {"n": 1}, "level": 9}, {"store": {"id": 7}, "args": {}, "level": "low"})
    found = eventually(lambda: len(one := tasks(fleet)) == 2 and one, 30)
    assert {(one.shop, one.payload, one.priority, one.lane) for one in found} == {
        ("pdd:s1", '{"n":1}', 9, "high"),
        ("pdd:7", "{}", 2, "low"),
    }
    assert {(one.origin, one.created_by) for one in found} == {("foreign", f"queue {QUEUE}")}
    fleet.worker()
    assert {one.status for one in fleet.wait_ended([one.task_id for one in found])} == {"succeeded"}
    assert left(fleet) == 0


def test_the_same_message_twice_is_one_task(fleet: Fleet) -> None:
    for _ in range(2):
        send(fleet, {"store": {"id": "s1"}, "args": {"n": 1}, "level": 5}, message_id="m-1")
    send(fleet, {"store": {"id": "s2"}, "args": {}, "level": 5})
    send(fleet, {"store": {"id": "s1"}, "args": {"n": 2}, "level": 5}, message_id="m-1")
    fleet.steward()
    eventually(lambda: tasks(fleet, equals("shop", "pdd:s2")), 30)
    eventually(lambda: left(fleet) == 0, 30)
    (dead,) = eventually(lambda: tasks(fleet, equals("status", "dead")), 30)
    assert dead.error_kind == "id_conflict"
    assert len(tasks(fleet, equals("shop", "pdd:s1"))) == 1, "what is dead is another one"


@pytest.mark.parametrize("fields", [{"idempotent": False}, {"unique_for": "1h"}, {"unique_for": "today"}])
def test_the_second_of_work_that_is_not_to_be_done_twice_waits_for_a_person(
    fleet: Fleet, seen: Path, fields: dict[str, object]
) -> None:
    define(fleet, "work", uniqueness="shop_type", **fields)
    body = {"store": {"id": "s1"}, "level": 5}
    send(fleet, *(body | {"args": {"n": n, "seen": str(seen)}} for n in range(2)))
    fleet.steward()
    found = eventually(lambda: len(one := tasks(fleet)) == 2 and one, 30)
    fleet.worker()
    eventually(lambda: {one.status for one in tasks(fleet)} == {"succeeded", "held"}, 30)
    (held,) = tasks(fleet, equals("status", "held"))
    assert (held.error_kind, held.reason) == ("already_done", ""), "nobody gave a reason"
    fleet.commands().tasks.resolve([held.task_id], "pending", note="it was for two orders")
    assert {one.status for one in fleet.wait_ended([one.task_id for one in found])} == {"succeeded"}
    assert len(lines(seen, "start")) == 2


def test_what_is_no_task_goes_to_the_dead_letters_with_its_bytes(fleet: Fleet) -> None:
    bad = b'{"shop": "s1"}'
    send(fleet, bad, b"no json", {"store": {"id": "s3"}, "args": {}, "level": 5})
    fleet.steward()
    dead = eventually(lambda: len(one := tasks(fleet, equals("status", "dead"))) == 2 and one, 30)
    errors = sorted(one.error for one in dead)
    assert "is not JSON" in errors[0]
    assert 'the message has no fields "store.id" (shop_id), "args" (payload), "level" (priority)' in errors[1]
    assert "[foreign_queues.task_queue]" in errors[1]
    assert {one.error_kind for one in dead} == {"bad_message"}
    letters = [fleet.engine.store.get_letter(one.task_id) for one in dead]
    assert bad in {letter.body for letter in letters if letter is not None}
    assert eventually(lambda: tasks(fleet, equals("shop", "pdd:s3")), 30)


def test_its_depth_is_told_and_the_doctor_knows_whether_it_is_there_and_read(fleet: Fleet) -> None:
    def told() -> list[str]:
        found = diagnosis.examine(fleet.settings).findings
        return [one.message.code for one in found if one.message.code.startswith("doctor.work_queue_")]

    assert told() == ["doctor.work_queue_missing"]
    send(fleet, {"store": {"id": "s1"}, "args": {}, "level": 5})
    assert eventually(told, 30) == ["doctor.work_queue_waits"]
    (seen,) = [one for one in fleet.engine.broker.depths() if one.kind == "foreign"]
    assert (seen.name, seen.ready, seen.consumers) == (QUEUE, 1, 0)
    fleet.steward()
    eventually(lambda: not told(), 30)
