"""Queues that somebody deletes, and a Redis that stands still: what was accepted ends all the same."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from services.domain.errors import ConsoleError
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, channel, lines
from tests.support.services import Redis

pytestmark = [
    pytest.mark.fault,
    pytest.mark.parametrize(
        "pair", [pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])], indirect=True
    ),
]

QUEUE = "rpa_tasks_normal"


def test_a_queue_is_deleted_while_it_is_consumed(fleet: Fleet, tmp_path: Path) -> None:
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    ids = [fleet.create(f"s{number}", seen=str(seen), until=str(gate)) for number in range(20)]
    fleet.worker(2)
    eventually(lambda: len(lines(seen, "start")) == 2, 30)
    with channel(fleet.settings.broker.url) as raw:
        raw.queue_delete(QUEUE)
    gate.touch()
    reconciler = fleet.reconciler()

    def ended() -> bool:
        reconciler.find_missing(fleet.engine.broker.depths())
        return all(task is not None and task.ended for task in fleet.engine.store.get(ids))

    eventually(ended, 60)
    assert {fleet.task(task_id).status for task_id in ids} == {"succeeded"}
    assert len(lines(seen, "end")) == 20


def test_a_delay_queue_is_deleted_with_its_messages(fleet: Fleet) -> None:
    """The retry that was in it, and one that finds no queue any more."""
    first = fleet.create(fail="network", fail_first=1)
    fleet.worker()
    fleet.wait(first, "retrying")
    with channel(fleet.settings.broker.url) as raw:
        raw.queue_delete("rpa_delay_1s")
    second = fleet.create("s2", fail="network", fail_first=1)
    reconciler = fleet.reconciler()

    def ended() -> bool:
        reconciler.republish_outbox()
        reconciler.release_due()
        return all(task is not None and task.ended for task in fleet.engine.store.get([first, second]))

    eventually(ended, 30)
    for task_id in (first, second):
        task = fleet.task(task_id)
        assert (task.status, task.attempt, task.retries) == ("succeeded", 2, 1)


@pytest.mark.slow
def test_redis_stands_still_for_longer_than_a_lease(fleet: Fleet, redis_server: Redis, tmp_path: Path) -> None:
    """Nobody could renew meanwhile; the worker lives, so nothing is taken from it."""
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    task_id = fleet.create(seen=str(seen), until=str(gate))
    worker = fleet.worker(lease_s=2.0)
    fleet.wait(task_id, "running")
    reconciler = fleet.reconciler(fleet.open())
    stop = threading.Event()
    failed = threading.Event()

    def tick() -> None:
        while not stop.wait(0.2):
            try:
                reconciler.tick()
            except ConsoleError:
                failed.set()

    ticking = threading.Thread(target=tick)
    ticking.start()
    try:
        redis_server.pause()
        try:
            assert failed.wait(60), "it is noticed"
        finally:
            redis_server.resume()
        lease = fleet.task(task_id).lease_until
        eventually(lambda: fleet.task(task_id).lease_until > lease, 30)
        gate.touch()
        task = fleet.wait(task_id, "succeeded")
    finally:
        stop.set()
        ticking.join(60)
    assert (task.attempt, task.losses, [one.outcome for one in task.attempts]) == (1, (), ["succeeded"])
    assert len(lines(seen, "start")) == 1
    assert worker.state == "running"
