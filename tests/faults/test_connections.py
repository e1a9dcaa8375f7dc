"""Connections that are closed, cut without a word, slow, or swallow a reply: between a worker and RabbitMQ or Redis."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest
from msgspec import structs

from services import assembly, messages
from services.domain.errors import ConsoleError
from services.domain.insight.forecast.flow import headline
from services.messages import english_headline
from services.monitor.doctor import Doctor
from services.monitor.forecast import flow
from services.monitor.live import Changes
from services.version import VERSION
from services.workers import intake
from tests.contract.waiting import eventually
from tests.faults.conftest import Behind
from tests.integration.fleet_rig import lines, vhost
from tests.support.services import RabbitMQ, Redis

pytestmark = [pytest.mark.fault, pytest.mark.rabbitmq, pytest.mark.redis]
LANE = "rpa_tasks_normal"


def quiet(behind: Behind) -> bool:
    """Whether the broker has nothing left."""
    return not any(
        depth.ready or depth.unacked for depth in behind.fleet.engine.broker.depths() if depth.kind != "notice"
    )


def test_a_connection_is_closed_while_a_task_runs(behind: Behind, tmp_path: Path) -> None:
    """Its message comes back and is skipped; the acknowledgement that has no connection any more is counted."""
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    worker = behind.fleet.worker(engine=behind.engine)
    task_id = behind.fleet.create(seen=str(seen), until=str(gate))
    behind.fleet.wait(task_id, "running")
    assert behind.broker.drop() > 0
    gate.touch()
    behind.fleet.wait(task_id, "succeeded")
    eventually(lambda: worker._consumer.ack_lost == 1, 30)
    eventually(lambda: quiet(behind), 30)
    assert len(lines(seen, "start")) == 1
    assert behind.fleet.task(task_id).attempt == 1


def test_a_broker_that_is_cut_off_silently_is_found_dead_and_then_found_again(behind: Behind, tmp_path: Path) -> None:
    """Nobody closes anything: both sides have only their heartbeats, of two seconds here."""
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    behind.fleet.worker(2, engine=behind.engine)
    first = behind.fleet.create(seen=str(seen), until=str(gate))
    behind.fleet.wait(first, "running")
    with behind.broker.away(silent=True):
        gate.touch()
        behind.fleet.wait(first, "succeeded")  # what is recorded does not need the broker
        eventually(lambda: not behind.engine.broker.health().connected, 30)
    second = behind.fleet.create("s2", seen=str(seen))
    behind.fleet.wait(second, "succeeded", seconds=60)
    eventually(lambda: quiet(behind), 30)
    assert len(lines(seen, "start")) == 2


def test_a_machine_cut_off_for_longer_than_its_lease(behind: Behind, tmp_path: Path) -> None:
    """Somebody else has done it meanwhile: its own result is evidence, and what came through its spool too."""
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    behind.fleet.worker(1, engine=behind.engine, lease_s=2.0)
    task_id = behind.fleet.create(seen=str(seen), until=str(gate))
    eventually(lambda: lines(seen, "start"), 30)  # the answer to its claim has come
    with behind.store.away(), behind.broker.away():
        reconciler = behind.fleet.reconciler()
        eventually(lambda: reconciler.take_over_expired() == 1, 30)
        gate.touch()
        other = behind.fleet.worker(1)
        done = behind.fleet.wait(task_id, "succeeded")
        assert done.worker == other.name
    eventually(lambda: len(behind.fleet.task(task_id).attempts) == 3, 30)
    task = behind.fleet.task(task_id)
    assert [one.outcome for one in task.attempts] == ["lost", "succeeded", "fenced"]
    assert (task.status, task.result, task.ended_at) == (done.status, done.result, done.ended_at)
    eventually(lambda: quiet(behind), 30)


def test_a_worker_that_reaches_only_the_broker_leaves_the_work_to_others(
    behind: Behind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gives back what it cannot claim and takes no more until Redis answers it."""
    monkeypatch.setattr(intake, "PATIENCE_S", 0.5)
    cut_off = behind.fleet.worker(4, engine=behind.engine)
    with behind.store.away():
        ids = [behind.fleet.create(f"s{number}") for number in range(20)]
        eventually(lambda: consumers(behind) == 0, 30)
        eventually(lambda: behind.fleet.ready(LANE) == 20, 30)
        other = behind.fleet.worker(1)
        assert {task.worker for task in behind.fleet.wait_ended(ids)} == {other.name}
        other.stop()
        last = behind.fleet.create("s1")
    assert behind.fleet.wait(last, "succeeded").worker == cut_off.name


def consumers(behind: Behind) -> int | None:
    """Of the lane."""
    return {depth.name: depth.consumers for depth in behind.fleet.engine.broker.depths()}[LANE]


def test_replies_of_redis_are_lost_again_and_again(behind: Behind, tmp_path: Path) -> None:
    """Every answer may be missing although it was done: claims, outcomes, marks; none runs or is recorded twice."""
    seen = tmp_path / "seen.txt"
    ids = [behind.fleet.create(f"s{number}", "once", seen=str(seen)) for number in range(60)]
    failing = [behind.fleet.create(f"f{number}", fail="network", fail_first=1) for number in range(10)]
    for task_id in (*ids[::15], failing[0]) * 2:  # the first question about it is its claim
        behind.store.eat_reply(task_id.encode())
    behind.fleet.worker(4, engine=behind.engine)
    tasks = behind.fleet.wait_ended([*ids, *failing], 60)
    assert {task.status for task in tasks} == {"succeeded"}
    assert {(task.attempt, task.retries) for task in tasks[:60]} == {(1, 0)}
    assert {(task.attempt, task.retries) for task in tasks[60:]} == {(2, 1)}
    assert sorted(row[1] for row in lines(seen, "start")) == sorted(ids)
    assert behind.store.eaten >= 6


@pytest.mark.harsh
def test_two_seconds_of_latency_and_lost_packets_make_no_worker_look_dead(behind: Behind, tmp_path: Path) -> None:
    seen = tmp_path / "seen.txt"
    rng = random.Random(5)
    slow = lambda: 1.0 + (1.5 if rng.random() < 0.05 else 0.0)  # noqa: E731 each way
    behind.fleet.worker(2, engine=behind.engine, lease_s=12.0)
    eventually(lambda: behind.fleet.engine.store.workers(), 30)
    behind.store.delay = behind.broker.delay = slow
    ids = [behind.fleet.create(f"s{number}", "once", seen=str(seen), sleep=30) for number in range(2)]
    reconciler = behind.fleet.reconciler()
    while any(not task.ended for task in map(behind.fleet.task, ids)):
        assert reconciler.take_over_expired() == 0
        behind.fleet.engine.clock.wait(threading.Event(), 0.5)
    assert [behind.fleet.task(task_id).status for task_id in ids] == ["succeeded", "succeeded"]
    assert len(lines(seen, "start")) == 2


# -------------------------------------------------------------------------------------------------- the console
def test_events_trimmed_past_a_console_that_was_away(behind: Behind, redis_server: Redis) -> None:
    """It is told of the gap, and what it shows is the truth again."""
    live = assembly.live(behind.engine)
    changes: list[Changes] = []
    live.on_changes(changes.append)
    live.start()
    try:
        assert live.wait_following(30)
        with behind.store.away():
            eventually(lambda: not live.snapshot().store.connected, 30)
            for number in range(5):
                behind.fleet.create(f"s{number}")
            assert redis_server.command("XTRIM {rpa}:events MAXLEN 0").startswith(b":")
        seen = len(changes)
        live.try_now()
        eventually(lambda: any(batch.gap for batch in changes[seen:]), 30)
        truth = behind.fleet.engine.store.counts()
        eventually(lambda: live.snapshot().store.connected and live.snapshot().counts.status == truth.status, 30)
        last = behind.fleet.create("s9")
        eventually(lambda: last in {event.task_id for batch in changes for event in batch.events}, 30)
    finally:
        live.close()


def test_a_console_loses_both_ten_times_and_never_shows_them_as_there(behind: Behind) -> None:
    live = assembly.live(behind.engine)
    live.start()
    try:
        eventually(lambda: live.snapshot().store.connected and live.snapshot().broker.connected, 30)
        for number in range(10):
            with behind.store.away(), behind.broker.away():
                live.try_now()
                eventually(lambda: not live.snapshot().store.connected, 30)
                with pytest.raises(ConsoleError):
                    behind.engine.store.counts()
                behind.fleet.create(f"s{number}")
            live.try_now()
            eventually(lambda: live.snapshot().store.connected, 30)
            eventually(lambda total=number + 1: live.snapshot().counts.total == total, 30)
        eventually(lambda: live.snapshot().broker.connected, 60)
    finally:
        live.close()


def test_a_worker_that_alone_has_lost_the_broker_is_said_everywhere(behind: Behind, tmp_path: Path) -> None:
    """Its heartbeats go on through Redis, so it looks well; what it does not get waits, and why is said."""
    fleet, engine = behind.fleet, behind.fleet.engine
    worker = fleet.worker(4, engine=behind.engine)
    fleet.steward()
    fleet.wait(fleet.create(), "succeeded")
    with behind.broker.away():
        eventually(lambda: engine.store.workers()[0].link.lost_at, 30)
        task_id = fleet.create("s2")
        fleet.wait(task_id, "queued")
        told = flow.look_once(engine.store, engine.broker, engine.registry, engine.clock)
        assert told.state == "no_worker"
        assert english_headline(headline(told)) == "1 task waiting; 1 worker cannot reach the broker"
        assert told.estimate is None
        wait = assembly.queries(engine).tasks.waits([fleet.task(task_id)])[task_id]
        assert (wait.gate.name, wait.gate.message.code, wait.starts) == ("broker", "gate.workers_cut_off", None)
        assert "attention.no_way" in [item.code for item in assembly.standing(engine).attention]
        doctor = Doctor(engine.store, engine.broker, engine.clock, version=VERSION, production=False)
        found = [messages.english(one.message) for one in doctor.look(tmp_path, (), deep=False)]
        assert any(one.startswith(f"Worker {worker.name} cannot reach the broker") for one in found), found
    assert fleet.wait(task_id, "succeeded", seconds=60).worker == worker.name
    eventually(lambda: not engine.store.workers()[0].link.lost_at, 30)
    told = flow.look_once(engine.store, engine.broker, engine.registry, engine.clock)
    assert english_headline(headline(told)) == "Nothing is waiting and nothing is running"


def test_a_lane_that_a_worker_may_not_read_is_none_of_its_lanes(behind: Behind, rabbitmq: RabbitMQ) -> None:
    """It takes from the others, and what waits in that one is not said to start at once."""
    fleet, engine = behind.fleet, behind.fleet.engine
    mine = fleet.settings.broker
    rabbitmq.api("PUT", "/api/users/reader", {"password": "x", "tags": ""})
    rights = {"configure": ".*", "write": ".*", "read": "^(?!rpa_tasks_normal).*$"}
    rabbitmq.api("PUT", f"/api/permissions/{vhost(mine.url)}/reader", rights)
    try:
        engine.broker.ensure()
        url = mine.url.replace("guest:guest", "reader:x")
        worker = fleet.worker(2, engine=fleet.open(broker=structs.replace(mine, url=url)))
        eventually(lambda: engine.store.workers()[0].open_lanes == ("high", "low"), 30)
        task_id = fleet.create("s1")
        assert fleet.wait(fleet.create("s2", priority="high"), "succeeded").worker == worker.name
        assert fleet.task(task_id).status == "queued"
        told = flow.look_once(engine.store, engine.broker, engine.registry, engine.clock)
        assert "starts now" not in english_headline(headline(told))
        wait = assembly.queries(engine).tasks.waits([fleet.task(task_id)])[task_id]
        assert wait.gate.name == "no_worker"
    finally:
        rabbitmq.api("DELETE", "/api/users/reader")
