"""A Redis that comes back without its records while the fleet works: nothing starts unasked, and it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.domain.fleet.shop import Pause
from services.monitor import attention
from services.monitor.overview import Attention
from tests.contract.waiting import eventually
from tests.faults.conftest import Behind
from tests.integration.fleet_rig import Fleet, lines
from tests.support.services import Redis

pytestmark = [pytest.mark.fault, pytest.mark.rabbitmq, pytest.mark.redis]


def told(fleet: Fleet) -> list[Attention]:
    """What needs a person now."""
    engine = fleet.engine
    return list(attention.look_once(engine.store, engine.registry, engine.clock, None))


def is_status(fleet: Fleet, task_id: str, status: str) -> bool:
    (task,) = fleet.engine.store.get([task_id])
    return task is not None and task.status == status


def started(seen: Path) -> list[str]:
    return [row[1] for row in lines(seen, "start")]


def test_an_empty_redis_starts_nothing_until_a_person_says_so(
    behind: Behind, redis_server: Redis, tmp_path: Path
) -> None:
    """What runs goes on and is recorded, what comes out of the queues waits, what may not run twice is held."""
    fleet, store = behind.fleet, behind.fleet.engine.store
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    running = [
        fleet.create("s1", seen=str(seen), until=str(gate)),
        fleet.create("s2", "once", seen=str(seen), until=str(gate)),
    ]
    failing = fleet.create("s3", fail="network", fail_first=1, seen=str(seen))
    fleet.steward()
    worker = fleet.worker(3, lease_s=2.0)
    for one in running:
        fleet.wait(one, "running")
    fleet.wait(failing, "retrying")
    worker.drain()
    queued = [fleet.create("s4", seen=str(seen)), fleet.create("s5", "once", seen=str(seen))]
    store.set_pause(Pause(scope="platform:pdd", by="ann"))
    redis_server.flush()
    eventually(lambda: is_status(fleet, running[0], "running") and is_status(fleet, running[1], "running"), 30)
    worker.resume()
    eventually(lambda: is_status(fleet, queued[0], "blocked") and is_status(fleet, failing, "blocked"), 30)
    eventually(lambda: is_status(fleet, queued[1], "held"), 30)
    assert told(fleet)[0].code == "attention.store_lost"
    gate.touch()
    assert {task.status for task in fleet.wait_ended(running)} == {"succeeded"}
    assert sorted(started(seen)) == sorted([*running, failing])
    fleet.commands().fleet.resume("all")
    assert {task.status for task in fleet.wait_ended([queued[0], failing])} == {"succeeded"}
    assert "attention.store_lost" not in [one.code for one in told(fleet)]
    assert started(seen).count(running[0]) == started(seen).count(running[1]) == 1
    assert is_status(fleet, queued[1], "held")


def test_who_knew_the_store_before_it_was_emptied_is_told_once(behind: Behind, redis_server: Redis) -> None:
    """Also a program that begins after the loss, on a machine that has seen the store before; and none holds up what a
    person has let go on.
    """
    fleet = behind.fleet
    fleet.create("s1")
    other = fleet.open()
    other.store.lead("test", "me", 1000)
    redis_server.flush()
    late = fleet.open()
    late.store.lead("engine", "late", 1000)
    (pause,) = late.store.pauses()
    assert (pause.scope, pause.by) == ("all", "Fleetdeck")
    late.store.clear_pause("all")
    other.store.lead("test", "me", 1000)
    fleet.create("s1", n=2)
    assert late.store.pauses() == []


def test_a_message_older_than_the_data_holds_everything(behind: Behind, redis_server: Redis, tmp_path: Path) -> None:
    """Where nobody is left who knew: all that there was before is gone, also what a type was."""
    fleet, seen = behind.fleet, tmp_path / "seen.txt"
    waits, once = fleet.create("s1", seen=str(seen)), fleet.create("s2", "once", seen=str(seen))
    redis_server.flush()
    stranger = fleet.open(home=str(tmp_path / "elsewhere"))
    fleet.worker(engine=stranger)
    eventually(lambda: is_status(fleet, waits, "blocked") and is_status(fleet, once, "held"), 30)
    assert [pause.by for pause in stranger.store.pauses()] == ["Fleetdeck"]
    assert started(seen) == []
