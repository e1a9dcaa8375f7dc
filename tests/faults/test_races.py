"""Orders of an operator that arrive while the task is taken, and crowds that must not keep the others from working."""

from __future__ import annotations

import random
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from services.domain.change import Cancel, Move
from services.domain.task.lane import LANES
from services.domain.task.status import TERMINAL
from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, lines

pytestmark = pytest.mark.fault
TASKS = 300


def submit(fleet: Fleet, count: int, seen: Path, **fields: object) -> list[str]:
    """Tasks of as many shops."""
    specs = [
        TaskSpec(platform="pdd", shop_id=f"s{n}", task_type="work", payload={"seen": str(seen), "n": n}, **fields)  # type: ignore[arg-type]
        for n in range(count)
    ]
    return [task.task_id for task in fleet.submit(*specs).created]


def beside(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_cancel_races_with_the_delivery(fleet: Fleet, tmp_path: Path) -> None:
    """Either it was cancelled or it ran; of the two exactly one is recorded."""
    seen = tmp_path / "seen.txt"
    ids = submit(fleet, TASKS, seen)
    other = fleet.open()

    def cancel() -> None:
        for task_id in reversed(ids):
            other.store.apply([Cancel(task_id=task_id, by="ann")])

    thread = beside(cancel)
    fleet.worker(4)
    fleet.worker(4)
    thread.join(60)
    tasks = fleet.wait_ended(ids, 60)
    started = Counter(row[1] for row in lines(seen, "start"))
    for task in tasks:
        ends = [step.to for step in task.steps if step.to in TERMINAL and step.from_ != step.to]
        assert ends == [task.status]
        assert task.status in ("succeeded", "cancelled")
        assert started[task.task_id] <= 1
        assert (task.status == "cancelled") or started[task.task_id] == 1
        assert (task.attempt == 0) == (started[task.task_id] == 0), "what never ran has no attempt"
    assert {task.status for task in tasks} == {"succeeded", "cancelled"}, "or nothing raced"


def test_a_new_priority_races_with_the_delivery(fleet: Fleet, tmp_path: Path) -> None:
    """Each move leaves an old message behind, which is skipped wherever it comes."""
    seen = tmp_path / "seen.txt"
    rng = random.Random(4)
    ids = submit(fleet, TASKS, seen)
    other = fleet.open()

    def move() -> None:
        for task_id in reversed(ids):
            op = Move(task_id=task_id, by="ann", lane=rng.choice(LANES), priority=rng.randrange(1, 11))
            answer = other.store.apply([op])[0]
            if answer.code == "ok" and answer.task is not None:
                other.steps.publish([answer.task, *answer.released])

    thread = beside(move)
    fleet.worker(4)
    fleet.worker(4)
    thread.join(60)
    tasks = fleet.wait_ended(ids, 60)
    assert {(task.status, task.attempt) for task in tasks} == {("succeeded", 1)}
    assert Counter(row[1] for row in lines(seen, "start")) == Counter(ids)
    assert any(task.gen for task in tasks), "or nothing raced"
    eventually(
        lambda: (
            not any(depth.ready or depth.unacked for depth in fleet.engine.broker.depths() if depth.kind != "notice")
        ),
        30,
    )


def test_a_shop_with_a_long_row_does_not_keep_the_others_waiting(fleet: Fleet, tmp_path: Path) -> None:
    """One shop has a hundred tasks before everybody else's, and runs one at a time."""
    seen = tmp_path / "hot.txt"
    payloads: list[dict[str, object]] = [{"seen": str(seen), "n": n, "sleep": 0.03} for n in range(100)]
    hot = [TaskSpec(platform="pdd", shop_id="hot", task_type="work", payload=payload) for payload in payloads]
    crowd = [task.task_id for task in fleet.submit(*hot).created]
    others = submit(fleet, 60, tmp_path / "others.txt")
    for _ in range(5):
        fleet.worker(2)
    fleet.wait_ended(others, 60)
    assert len(lines(seen, "end")) < 75, "the others went first"
    assert {task.status for task in fleet.wait_ended(crowd, 60)} == {"succeeded"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("pair", ["embedded"], indirect=True)
def test_a_task_that_crashes_its_process_is_given_up(fleet: Fleet, tmp_path: Path) -> None:
    """Killed by a signal each time: tried again as often as it may be, then dead; the worker goes on."""
    seen = tmp_path / "seen.txt"
    task_id = fleet.create(kind="flow", crash=1, seen=str(seen), max_retries=2)
    worker = fleet.worker()
    task = fleet.wait(task_id, "dead", seconds=60)
    assert (task.attempt, [one.error_kind for one in task.attempts]) == (3, ["crashed"] * 3)
    assert len(lines(seen, "start")) == 3
    assert fleet.wait(fleet.create("s2"), "succeeded").worker == worker.name
