"""How the lanes share the slots of a worker, and that nobody hoards what others could start; both pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from services.domain.gates.lane_share import Share
from services.engine.producer import TaskSpec
from services.settings import BrokerSettings
from services.workers.feeder import Feeder
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, lines, opened, settings_for


def started(fleet: Fleet, cursor: str) -> list[str]:
    """Lanes of the tasks that have started, in order."""
    return [event.lane for event in fleet.events(cursor) if event.to == "running"]


def flood(fleet: Fleet, count: int, **fields: object) -> list[str]:
    """Many tasks of many shops with one call."""
    known = {name: fields.pop(name) for name in ("priority",) if name in fields}
    specs = [
        TaskSpec(platform="pdd", shop_id=f"f{number}", task_type="work", payload=fields, **known)  # type: ignore[arg-type]
        for number in range(count)
    ]
    return [task.task_id for task in fleet.submit(*specs).created]


def test_a_flood_of_urgent_tasks_leaves_the_low_lane_running(fleet: Fleet) -> None:
    low = [fleet.create(f"s{number}", priority="low", sleep=0.05) for number in range(3)]
    high = flood(fleet, 40, priority="high", sleep=0.05)
    cursor = fleet.cursor()
    fleet.worker(2)
    fleet.wait_ended([*low, *high])
    order = started(fleet, cursor)
    assert order.count("low") == 3
    assert "low" not in order[-20:], "they ran while urgent ones waited"


def test_a_flood_of_low_tasks_lets_an_urgent_one_start(fleet: Fleet) -> None:
    low = flood(fleet, 60, priority="low", sleep=0.05)
    fleet.worker(2)
    fleet.wait(low[4], "succeeded")
    cursor = fleet.cursor()
    high = fleet.create("urgent", priority="high")
    fleet.wait(high, "succeeded")
    before = started(fleet, cursor)
    assert before.index("high") <= 10, "not behind what was fetched before it"


def test_slots_that_become_free_together_go_to_the_more_urgent_lane(fleet: Fleet) -> None:
    """Their tasks are not acknowledged yet, so the broker counts them against the lane that they came from."""
    high = flood(fleet, 20, priority="high", sleep=0.2)
    normal = [fleet.create(f"n{number}", sleep=0.2) for number in range(6)]
    cursor = fleet.cursor()
    fleet.worker(4)
    fleet.wait_ended([*high, *normal])
    assert started(fleet, cursor)[:16].count("normal") <= 1


def test_whose_turn_it_is_holds_also_for_lanes_that_were_given_up_for_want_of_a_slot(fleet: Fleet) -> None:
    """All slots are taken for so long that the messages went back; then one is free."""
    gates = [fleet.folder / f"gate{number}" for number in range(3)]
    first = [fleet.create(f"h{number}", priority="high", until=str(gates[number])) for number in range(2)]
    fleet.worker(2)
    for task_id in first:
        fleet.wait(task_id, "running")
    low = fleet.create("l", priority="low", until=str(gates[2]))
    normal = [fleet.create(f"n{number}", until=str(gates[2])) for number in range(4)]
    high = fleet.create("h", priority="high", until=str(gates[2]))
    eventually(lambda: [fleet.ready(f"rpa_tasks_{lane}") for lane in ("high", "normal", "low")] == [1, 4, 1], 30)
    gates[0].touch()
    fleet.wait(low, "running")
    assert fleet.task(high).status == "queued"
    gates[1].touch()
    fleet.wait(high, "running")
    assert {fleet.task(task_id).status for task_id in normal} == {"queued"}
    gates[2].touch()
    fleet.wait_ended([low, high, *normal])


def test_a_lane_uses_no_more_slots_than_it_may_and_both_numbers_can_change(fleet: Fleet) -> None:
    gate = fleet.folder / "gate"
    worker = fleet.worker(3, shares={"low": Share(0, 1)})
    low = [fleet.create(f"l{number}", priority="low", until=str(gate)) for number in range(3)]
    fleet.wait(low[0], "running")
    high = fleet.create("h", priority="high")
    fleet.wait(high, "succeeded")
    assert [fleet.task(task_id).status for task_id in low] == ["running", "queued", "queued"]
    assert worker.info().shares == {"high": (0, 3), "normal": (0, 3), "low": (0, 1)}
    worker.obey("slots=3,low=1-2")
    fleet.wait(low[1], "running")
    assert worker.info().shares["low"] == (1, 2)
    worker.obey("slots=9,low=seven")
    assert fleet.task(low[2]).status == "queued"
    worker.obey("slots=3,low=1")
    fleet.wait(low[2], "running")
    gate.touch()
    fleet.wait_ended(low)


@pytest.mark.parametrize("known", [False, True], ids=["unknown", "short_before"])
def test_long_tasks_behind_short_ones_are_there_for_an_idle_worker(fleet: Fleet, known: bool) -> None:
    """A worker that has just done many short ones claims ahead; a type that it does not know, or that was short until
    now, must not be hoarded."""
    fleet.worker(4, name="w1")
    short = flood(fleet, 300)
    fleet.wait_ended(short)
    gate = fleet.folder / "gate"
    kind = "work" if known else "once"
    specs = [
        TaskSpec(platform="pdd", shop_id=f"x{number}", task_type=kind, payload={"until": str(gate)})
        for number in range(30)
    ]
    long = [task.task_id for task in fleet.submit(*specs).created]
    eventually(lambda: fleet.engine.store.counts().status.get("running", 0) >= 4, 30)
    fleet.worker(4, engine=fleet.open(), name="w2")
    eventually(lambda: any(task and task.worker == "w2" for task in fleet.engine.store.get(long)), 30)
    eventually(lambda: fleet.engine.store.counts().status == {"running": 8, "queued": 22, "succeeded": 300}, 30)
    gate.touch()
    tasks = fleet.wait_ended(long)
    assert {(task.status, task.retries) for task in tasks} == {("succeeded", 0)}


def test_the_messages_of_a_shop_that_is_busy_are_put_aside_in_few_steps(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One slot is free and one shop has very many tasks before the others: they must not cost a step each."""
    gate, seen = fleet.folder / "gate", fleet.folder / "seen.txt"
    fleet.create("loud", until=str(gate), seen=str(seen))
    worker = fleet.worker(2, name="w1")
    eventually(lambda: lines(seen, "start"), 30)  # what is only claimed would go back
    worker.drain()
    specs = [TaskSpec(platform="pdd", shop_id="loud", task_type="work", payload={"n": n}) for n in range(200)]
    assert len(fleet.submit(*specs).created) == 200
    others = [fleet.create(f"s{number}") for number in range(3)]
    steps: list[int] = []
    accept = Feeder._accept

    def counted(feeder: Feeder, *words: Any) -> None:
        steps.append(1)
        accept(feeder, *words)

    monkeypatch.setattr(Feeder, "_accept", counted)
    worker.resume()
    fleet.wait_ended(others)
    assert fleet.engine.store.counts().shops["pdd:loud"] == {"running": 1, "blocked": 200}
    assert len(steps) < 60
    gate.touch()


def test_a_lane_may_be_last_in_first_out_on_one_machine(tmp_path: Path, seen: Path) -> None:
    settings = settings_for("embedded", tmp_path)
    settings = msgspec.structs.replace(settings, broker=BrokerSettings(lifo_lanes=("low",)))
    with opened("embedded", settings, tmp_path) as fleet:
        made = {
            name: fleet.create(name, seen=str(seen), priority=priority)
            for name, priority in (("l1", 2), ("n1", 5), ("l2", 2), ("l3", 3), ("n2", 5), ("l4", 2))
        }
        names = ("l1", "l3", "l4", "n2")
        tasks = [fleet.task(made[name]) for name in names]
        ahead = dict(zip(names, fleet.engine.store.waiting_ahead(tasks), strict=True))
        assert ahead == {"l1": 3, "l3": 0, "l4": 1, "n2": 1}
        fleet.worker(1)
        fleet.wait_ended(list(made.values()))
        names = {task_id: name for name, task_id in made.items()}
        assert [names[row[1]] for row in lines(seen, "start")] == ["n1", "n2", "l3", "l4", "l2", "l1"]


def test_a_worker_that_leaves_gives_back_what_it_runs_and_what_it_fetched(fleet: Fleet, seen: Path) -> None:
    worker = fleet.worker(5, name="w1")
    fleet.wait_ended(flood(fleet, 100))
    gate = fleet.folder / "gate"
    tasks = flood(fleet, 30, until=str(gate), seen=str(seen))
    eventually(lambda: len(lines(seen, "start")) == 5, 30)
    assert worker.stop(0.1) is True
    assert worker.info().failed == 0
    assert fleet.engine.store.counts().status == {"queued": 30, "succeeded": 100}
    eventually(lambda: fleet.ready("rpa_tasks_normal") == 30, 30)
    gate.touch()
    fleet.worker(5, name="w2")
    ended = fleet.wait_ended(tasks)
    assert {(task.status, task.retries, task.worker) for task in ended} == {("succeeded", 0, "w2")}
