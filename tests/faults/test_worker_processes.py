"""A worker's process is killed or frozen on a machine where nobody starts anything after it."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import HANDLERS, Fleet, lines
from tests.support.stopped import stop
from tests.support.warm import Child
from tests.unit.services.executors.builders import is_gone

pytestmark = pytest.mark.fault


def test_kill_9_of_a_worker_ends_its_flows_within_seconds(cli: Cli, fleet: Fleet, tmp_path: Path) -> None:
    """The flow and its child both ignore SIGTERM; no other worker is started on this machine."""
    seen = tmp_path / "seen.txt"
    ids = [fleet.create(f"s{number}", "flow", sleep=600, child=1, stubborn=1, seen=str(seen)) for number in range(2)]
    with cli.start("worker", "--slots", "2") as worker:
        eventually(lambda: len(lines(seen, "child")) == 2, 90)
        started = [int(row[2]) for row in (*lines(seen, "start"), *lines(seen, "child"))]
        assert len(started) == 4
        assert not any(map(is_gone, started))
        worker.send_signal(signal.SIGKILL)
        worker.wait(30)
        eventually(lambda: all(map(is_gone, started)), 20)
    assert {fleet.task(task_id).status for task_id in ids} == {"running"}, "only its lease tells that it is lost"


def freeze(process: Child, fleet: Fleet, ids: list[str], seen: Path) -> str:
    """Stop it at its one task and tell which that is.

    Not in the middle of a write: nobody else could write to the one file then. Nor when it has just lost its lease, as
    on a busy machine, and does not yet do what is recorded. Both are asked once every thread stands.
    """
    stop(process.pid)
    held = [task for task_id in ids if (task := fleet.task(task_id)).status == "running"]
    if len(held) == 1 and ["start", held[0].task_id, str(held[0].attempt)] in lines(seen) and writable(fleet):
        return held[0].task_id
    process.send_signal(signal.SIGCONT)
    return ""


def writable(fleet: Fleet) -> bool:
    """Whether nobody is in the middle of a write that all others must wait for."""
    if fleet.kind == "fleet":
        return True
    try:
        with closing(sqlite3.connect(fleet.settings.database, timeout=1)) as db:
            db.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return False
    return True


def test_a_worker_that_was_frozen_cannot_record(cli: Cli, fleet: Fleet, tmp_path: Path) -> None:
    """SIGSTOP until somebody else has done its task, then SIGCONT: its own result comes too late."""
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    ids = [fleet.create(seen=str(seen), until=str(gate))]
    with cli.start("worker", "--slots", "1", "--handlers", HANDLERS) as frozen:
        eventually(lambda: lines(seen, "start"), 90)
        # what a full worker does not start it gives back, and it takes no more; a frozen one could not
        ids.append(fleet.create("s2", seen=str(seen), until=str(gate)))
        eventually(lambda: fleet.rested("rpa_tasks_normal", 1), 30)
        task_id = eventually(lambda: freeze(frozen, fleet, ids, seen), 60)
        before = len(fleet.task(task_id).attempts)
        reconciler = fleet.reconciler()
        eventually(lambda: reconciler.take_over_expired() == 1, 30)
        gate.touch()
        fleet.worker()
        done = fleet.wait(task_id, "succeeded")
        frozen.send_signal(signal.SIGCONT)
        eventually(lambda: fleet.task(task_id).attempts[-1].outcome == "fenced", 30)
    after = fleet.task(task_id)
    assert [one.outcome for one in after.attempts[before:]] == ["lost", "succeeded", "fenced"]
    assert (after.status, after.result, after.ended_at) == (done.status, done.result, done.ended_at)
    assert len([row for row in lines(seen, "start") if row[1] == task_id]) >= 2, "what it did outside stays done"


def test_of_two_workers_that_begin_at_once_under_one_name_one_works(cli: Cli, fleet: Fleet) -> None:
    cli.environment["FLEETDECK_WORKER__NAME"] = "desk-3"
    with cli.start("worker") as one, cli.start("worker") as other:
        eventually(lambda: one.poll() is not None or other.poll() is not None, 90)
        refused, works = (one, other) if one.poll() is not None else (other, one)
        assert refused.returncode == 2
        said = f"a worker called desk-3 works already: process {works.pid} on"
        assert said in (cli.home / "stderr.txt").read_text(encoding="utf-8")
        (seen,) = fleet.engine.store.workers()
        assert (seen.worker, seen.pid) == ("desk-3", works.pid)
        beat = seen.seen_at
        eventually(lambda: fleet.engine.store.workers()[0].seen_at > beat, 30)
        assert works.poll() is None
