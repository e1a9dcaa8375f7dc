"""Workers that are told things while they work; both pairs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, lines


def test_a_worker_drained_and_stopped_in_the_middle_of_fifty_leaves_none_behind(fleet: Fleet, seen: Path) -> None:
    gate = seen.with_name("gate")
    common = {"seen": str(seen)}
    specs = [
        TaskSpec(
            platform="pdd",
            shop_id=f"s{n}",
            task_type="once",
            payload={**common, "n": n} if n < 8 else {**common, "n": n, "until": str(gate)},
        )
        for n in range(50)
    ]
    ids = [task.task_id for task in fleet.submit(*specs).created]
    first = fleet.worker(4, name="first")
    eventually(lambda: len(lines(seen, "end")) >= 8, 30)
    fleet.commands().fleet.tell_worker("first", "drain")
    eventually(lambda: first.state == "draining" and first.busy() <= 4, 30)  # what has not begun goes back
    gate.touch()
    eventually(lambda: first.busy() == 0, 30)
    done = {task_id for task_id in ids if fleet.task(task_id).status == "succeeded"}
    assert 8 <= len(done) <= 16, "it ended what ran and began nothing"
    fleet.commands().fleet.tell_worker("first", "stop=5")
    assert first.wait_stop_ordered(30)
    assert first.stop()
    assert {fleet.task(task_id).status for task_id in set(ids) - done} <= {"queued", "pending", "blocked"}
    fleet.worker(4, name="second")
    tasks = fleet.wait_ended(ids)
    assert Counter(task.status for task in tasks) == {"succeeded": 50}
    assert Counter(task.retries for task in tasks) == {0: 50}
    assert Counter(words[1] for words in lines(seen, "start")) == Counter(ids), "each began once"
    assert not [one for task in tasks for one in task.attempts if one.outcome not in ("succeeded", "returned")]


def test_a_worker_leaves_refused_types_to_others_until_it_is_told_otherwise(fleet: Fleet, seen: Path) -> None:
    worker = fleet.worker(2, name="choosy")
    fleet.commands().fleet.tell_worker("choosy", "refuse=once")
    eventually(lambda: worker.info().declines == ("once",), 30)
    refused, other = fleet.create("s1", "once", seen=str(seen)), fleet.create("s2", seen=str(seen))
    fleet.wait(other, "succeeded")
    task = fleet.wait(refused, "blocked")
    assert (task.gate, task.attempt) == ("no_worker", 0)
    fleet.commands().fleet.tell_worker("choosy", "refuse=")
    assert fleet.wait(refused, "succeeded").attempt == 1


def test_slots_that_set_themselves_stay_within_their_bounds(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.workers.worker.LOOK_S", 0.2)
    worker = fleet.worker(2, name="auto")
    fleet.commands().fleet.tell_worker("auto", "slots=auto:3-4")
    eventually(lambda: worker.info().auto == "auto:3-4", 30)
    eventually(lambda: len(worker.info().slots) in (3, 4), 30)
    fleet.commands().fleet.tell_worker("auto", "slots=2")
    eventually(lambda: (len(worker.info().slots), worker.info().auto) == (2, ""), 30)
