"""A Pulsar that dies as in a power cut while much is under way: nothing is lost and nothing is recorded twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from services.engine.producer import TaskSpec
from tests.integration import fleet_rig
from tests.integration.fleet_rig import lines
from tests.support.services import Pulsar

pytestmark = [pytest.mark.fault, pytest.mark.pulsar, pytest.mark.redis]
TASKS, KILLS = 300, 2


def test_the_broker_is_killed_under_load(
    pulsar_url: str, pulsar_server: Pulsar, redis_url: str, tmp_path: Path
) -> None:
    settings = fleet_rig.settings_for("pulsar", tmp_path, amqp=pulsar_url, redis=redis_url)
    seen, ids = tmp_path / "seen.txt", list[str]()
    with fleet_rig.opened("pulsar", settings, tmp_path) as fleet:
        far = fleet.open()
        fleet.steward()
        for engine in (fleet.engine, far):
            fleet.worker(4, engine=engine)

        def create() -> None:
            for start in range(0, TASKS, 10):
                payload = {"seen": str(seen), "sleep": 0.05}
                specs = [
                    TaskSpec(platform="pdd", shop_id=f"s{n}", task_type="work", payload=payload | {"n": n})
                    for n in range(start, start + 10)
                ]
                ids.extend(task.task_id for task in far.producer.submit(specs).created)

        creating = threading.Thread(target=create)
        creating.start()
        for number in range(1, KILLS + 1):
            _until(lambda number=number: len(lines(seen, "end")) > TASKS * number // (KILLS + 2))
            pulsar_server.kill()
            time.sleep(0.3)
            pulsar_server.start()
        creating.join(60)
        repairs = fleet.reconciler()

        def ended() -> bool:
            repairs.republish_outbox()
            return len(ids) == TASKS and all(task is not None and task.ended for task in fleet.engine.store.get(ids))

        _until(ended)
        done = [fleet.task(task_id) for task_id in ids]
        assert {task.status for task in done} == {"succeeded"}
        assert all([str(step.to) for step in task.steps].count("succeeded") == 1 for task in done)
        assert {row[1] for row in lines(seen, "end")} == set(ids)


def _until(true: Callable[[], bool], seconds: float = 90.0) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "still not"
        time.sleep(0.1)
