"""Workers that differ, as processes: what one cannot run the other does, also when that one is killed in the middle."""

from __future__ import annotations

import signal
from pathlib import Path

from services import settings as config
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import HANDLERS, Fleet, define, lines


def poor(fleet: Fleet) -> None:
    """A worker without handlers, and a leader."""
    engine = fleet.open(worker=config.WorkerSettings())
    fleet.worker(engine=engine, name="poor")
    fleet.steward(engine)


def test_killed_in_the_middle_its_tasks_wait_for_the_next_that_can_run_them(
    cli: Cli, fleet: Fleet, tmp_path: Path
) -> None:
    seen, gate = tmp_path / "seen.txt", tmp_path / "open"
    define(fleet, "work", executor="python")
    define(fleet, "once", executor="python", idempotent=False)
    again = fleet.create("s1", until=str(gate), seen=str(seen))
    held = fleet.create("s2", "once", until=str(gate), seen=str(seen))
    poor(fleet)
    eventually(lambda: fleet.engine.store.unserved() == {("normal", "work"): 1, ("normal", "once"): 1}, 30)
    with cli.start("worker", "--slots", "2", "--handlers", HANDLERS) as process:
        eventually(lambda: len(lines(seen, "start")) == 2, 60)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    eventually(lambda: fleet.task(again).gate == "no_worker" and fleet.task(held).status == "held", 60)
    lost = fleet.task(again)
    assert [attempt.outcome for attempt in lost.attempts] == ["lost"]
    assert len(lost.losses) == 1
    gate.touch()
    assert cli.drain()["clean"] is True
    task = fleet.task(again)
    assert (task.status, task.attempt, task.retries) == ("succeeded", 2, 0)
    assert "poor" not in {step.worker for step in task.steps}
    assert [row[1] for row in lines(seen, "end")] == [again]


def test_a_draining_worker_leaves_what_it_cannot_run_and_stays_for_what_it_can(cli: Cli, fleet: Fleet) -> None:
    define(fleet, "work", executor="python")
    define(fleet, "later", executor="robot")
    mine, others = fleet.create("s1"), fleet.create("s2", "later")
    left = cli.run("worker", "--drain")
    assert (left["clean"], left["gates"]) == (True, {"no_worker": 2})
    assert {fleet.task(task_id).gate for task_id in (mine, others)} == {"no_worker"}
    shown = cli.run("task", "show", others)
    (closed,) = [gate for gate in shown["gates"] if gate["state"] == "closed"]
    assert closed["name"] == "no_worker"
    assert cli.drain()["clean"] is True
    assert (fleet.task(mine).status, fleet.task(mine).attempt) == ("succeeded", 1)
    assert fleet.task(others).gate == "no_worker"
