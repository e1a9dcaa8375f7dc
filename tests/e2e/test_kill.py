"""A worker dies in the middle: another one goes on, nothing is lost, and uncertain work waits for a person."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest

from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import HANDLERS, Fleet, lines

TASKS = 200


@pytest.mark.slow
@pytest.mark.fault
def test_kill_9_in_the_middle_of_two_hundred_tasks(cli: Cli, fleet: Fleet, tmp_path: Path) -> None:
    seen = tmp_path / "seen.txt"
    cursor = fleet.cursor()
    specs = [
        TaskSpec(
            platform="pdd",
            shop_id=f"s{number % 50}",
            task_type="once" if number % 4 == 0 else "work",
            payload={"n": number, "sleep": 0.05, "seen": str(seen)},
        )
        for number in range(TASKS)
    ]
    ids = [task.task_id for task in fleet.submit(*specs).created]
    assert len(ids) == TASKS
    with cli.start("worker", "--slots", "8", "--handlers", HANDLERS) as process:
        eventually(lambda: len(lines(seen, "start")) >= TASKS // 4, 60)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    killed_at = len(lines(seen, "start"))
    assert TASKS // 4 <= killed_at < TASKS
    assert cli.drain("--slots", 8)["clean"] is True

    tasks = [task for task in fleet.engine.store.get(ids) if task is not None]
    assert len(tasks) == TASKS, "none is lost"
    status = Counter(task.status for task in tasks)
    assert set(status) <= {"succeeded", "held"}
    for task in tasks:
        if task.status == "held":
            assert (task.idempotent, task.error_kind) == (False, "worker_lost")
        lost = [one for one in task.attempts if one.outcome == "lost"]
        assert len(lost) == len(task.losses) <= 1
        assert sum(one.outcome == "succeeded" for one in task.attempts) == (task.status == "succeeded")
    starts = Counter(row[1] for row in lines(seen, "start"))
    held = {task.task_id for task in tasks if task.status == "held"}
    assert set(ids) - set(starts) <= held, "whoever died between claim and start cannot tell that it had not started"
    twice = {task_id for task_id, number in starts.items() if number > 1}
    assert twice <= {task.task_id for task in tasks if task.idempotent and task.losses}, "only what may run again did"
    ended = Counter(
        event.task_id for event in fleet.events(cursor) if event.to == "succeeded" and event.from_ != event.to
    )
    assert set(ended.values()) == {1}, "one recorded outcome each"
    assert len(ended) == status["succeeded"]
    eventually(lambda: all(not depth.ready and not depth.unacked for depth in fleet.engine.broker.depths()), 30)


@pytest.mark.slow
def test_a_stopped_worker_leaves_nothing_half_done(cli: Cli, fleet: Fleet, tmp_path: Path) -> None:
    """SIGTERM, twice: what runs may end, what waits goes back."""
    seen = tmp_path / "seen.txt"
    specs = [
        TaskSpec(platform="pdd", shop_id=f"s{number}", task_type="once", payload={"sleep": 0.3, "seen": str(seen)})
        for number in range(40)
    ]
    ids = [task.task_id for task in fleet.submit(*specs).created]
    with cli.start("worker", "--slots", "4", "--handlers", HANDLERS) as process:
        eventually(lambda: len(lines(seen, "start")) >= 6, 60)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    tasks = [task for task in fleet.engine.store.get(ids) if task is not None]
    ends = {(task.status, task.retries, *(one.outcome for one in task.attempts)) for task in tasks}
    # what was claimed ahead of a free slot says so; it had not begun, and counts for nothing
    assert ends <= {("succeeded", 0, "succeeded"), ("queued", 0), ("queued", 0, "returned")}
    assert len(lines(seen, "start")) == len(lines(seen, "end")) == sum(task.status == "succeeded" for task in tasks)
    eventually(lambda: fleet.ready("rpa_tasks_normal") == sum(task.status == "queued" for task in tasks), 30)
    assert fleet.engine.store.workers() == []
