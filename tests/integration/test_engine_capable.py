"""A worker runs what it can and leaves the rest to those that can: nothing starts in the wrong place, nothing dies."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
import pytest

from services import settings as config
from services.domain.change import Cancel, Move
from services.domain.fleet.shop import Pause
from services.domain.task.record import Task
from services.engine.producer import TaskSpec
from services.workers.burst import Room
from services.workers.feeder import Feeder, FeedPlan
from services.workers.worker import Worker
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import FLOW, HANDLERS, Fleet, define, lines, moves

NOTHING = ("/nowhere/at/all", "{param}")


def poor(fleet: Fleet, slots: int = 4, *, name: str = "poor", start: bool = True) -> Worker:
    """A worker on a machine without handlers."""
    return fleet.worker(slots, engine=fleet.open(worker=config.WorkerSettings()), name=name, start=start)


def rich(fleet: Fleet, slots: int = 4, *, name: str = "rich", **options: object) -> Worker:
    """A worker that has the handlers."""
    return fleet.worker(slots, engine=fleet.open(), name=name, **options)


def parked(fleet: Fleet, *ids: str) -> list[Task]:
    """The records once all of them wait for a worker that can run them."""
    eventually(lambda: all(task is not None and task.gate == "no_worker" for task in fleet.engine.store.get(ids)), 30)
    return [fleet.task(task_id) for task_id in ids]


def started_on(task: Task) -> set[str]:
    return {step.worker for step in task.steps if step.to == "running"}


def test_it_waits_for_a_worker_that_can_and_then_runs_as_its_first_attempt(fleet: Fleet, seen: Path) -> None:
    define(fleet, "work", executor="python")
    task_id = fleet.create(seen=str(seen))
    poor(fleet)
    (task,) = parked(fleet, task_id)
    assert (task.status, task.attempt, task.attempts) == ("blocked", 0, ())
    assert fleet.engine.store.unserved() == {("normal", "work"): 1}
    eventually(lambda: fleet.ready("rpa_tasks_normal") == 0, 30)
    rich(fleet)
    task = fleet.wait(task_id, "succeeded")
    assert (task.attempt, task.retries, started_on(task)) == (1, 0, {"rich"})
    assert moves(task) == ["pending", "queued", "blocked", "running", "succeeded"]
    assert len(lines(seen, "start")) == 1
    assert fleet.engine.store.unserved() == {}


def test_a_worker_without_the_program_leaves_it_to_one_that_has_it(fleet: Fleet, seen: Path) -> None:
    rpa = config.ExecutorSettings(rpa=config.RpaSettings(command=NOTHING))
    task_id = fleet.create(kind="flow", seen=str(seen))
    worker = fleet.worker(engine=fleet.open(executors=rpa), name="poor")
    info = worker.info()
    assert "rpa" not in info.executors
    assert info.lacks["rpa"] == "/nowhere/at/all"
    parked(fleet, task_id)
    rich(fleet)
    task = fleet.wait(task_id, "succeeded")
    assert (task.attempt, started_on(task)) == (1, {"rich"})


def test_a_program_that_appears_later_is_found(fleet: Fleet, seen: Path) -> None:
    script = fleet.folder / "runs_flows"
    rpa = config.ExecutorSettings(rpa=config.RpaSettings(command=(str(script), "{task_type}", "{param}")))
    task_id = fleet.create(kind="flow", seen=str(seen))
    worker = fleet.worker(engine=fleet.open(executors=rpa))
    parked(fleet, task_id)
    temporary = script.with_suffix(".new")
    temporary.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E -I {FLOW} "$@"\n', encoding="utf-8")
    temporary.chmod(0o755)
    temporary.rename(script)
    assert fleet.wait(task_id, "succeeded").attempt == 1
    assert "rpa" in worker.info().executors


def test_a_program_that_breaks_after_the_claim_gives_the_task_back(fleet: Fleet, seen: Path) -> None:
    script = fleet.folder / "runs_flows"
    script.write_text("#!/nowhere/interpreter\n", encoding="utf-8")
    script.chmod(0o755)
    rpa = config.ExecutorSettings(rpa=config.RpaSettings(command=(str(script), "{param}")))
    task_id = fleet.create(kind="flow", seen=str(seen))
    worker = fleet.worker(engine=fleet.open(executors=rpa), name="poor")
    (task,) = parked(fleet, task_id)
    assert [attempt.outcome for attempt in task.attempts] == ["returned"]
    assert (task.retries, worker.info().lacks["rpa"]) == (0, str(script))
    rich(fleet)
    assert fleet.wait(task_id, "succeeded").retries == 0


def test_a_type_may_have_a_program_of_its_own(fleet: Fleet, seen: Path) -> None:
    command = fleet.settings.executors.rpa.command
    rpa = msgspec.structs.replace(
        fleet.settings.executors.rpa, command=NOTHING, commands={"flow": command, "flow_once": NOTHING}
    )
    own, broken, other = fleet.create("s1", kind="flow"), fleet.create("s2", kind="flow_once"), fleet.create("s3", "x")
    worker = fleet.worker(engine=fleet.open(executors=config.ExecutorSettings(rpa=rpa)))
    assert fleet.wait(own, "succeeded").attempt == 1
    parked(fleet, broken, other)
    info = worker.info()
    assert "rpa" not in info.executors
    assert info.commands == ("flow",)
    assert info.lacks.items() >= {"rpa": NOTHING[0], "rpa:flow_once": NOTHING[0]}.items()


def test_the_best_of_the_parked_go_first(fleet: Fleet, seen: Path) -> None:
    define(fleet, "work", executor="python")
    order = [3, 9, 6, 1, 10, 6]
    ids = [fleet.create(f"s{number}", priority=rank, seen=str(seen)) for number, rank in enumerate(order)]
    poor(fleet)
    tasks = parked(fleet, *ids)
    rich(fleet, 1)
    fleet.wait_ended(ids)
    ranked = sorted(tasks, key=lambda task: (-task.priority, task.created_at, task.task_id))
    assert [row[1] for row in lines(seen, "start")] == [task.task_id for task in ranked]


def test_less_urgent_parked_tasks_do_not_overtake_the_messages_of_a_full_lane(fleet: Fleet, seen: Path) -> None:
    define(fleet, "work", executor="python")
    low = [fleet.create(f"l{number}", priority="low", seen=str(seen)) for number in range(3)]
    worker = poor(fleet)
    parked(fleet, *low)
    worker.stop()
    high = [fleet.create(f"h{number}", priority="high", seen=str(seen), sleep=0.3) for number in range(12)]
    rich(fleet, 1)
    fleet.wait_ended(low + high)
    begun = [row[1] for row in lines(seen, "start")]
    assert sum(task_id in low for task_id in begun[:10]) <= 1, "one slot was free before the first message came"
    assert begun[-1] in low


@pytest.mark.parametrize("seconds", [0.3, 1.2])  # a worker whose slots are full for a second gives its messages back
def test_an_urgent_message_does_not_wait_for_all_the_parked_tasks(fleet: Fleet, seen: Path, seconds: float) -> None:
    define(fleet, "work", executor="python")
    low = [fleet.create(f"l{number}", priority="low", seen=str(seen), sleep=seconds) for number in range(7)]
    worker = poor(fleet)
    parked(fleet, *low)
    worker.stop()
    rich(fleet, 1)
    eventually(lambda: lines(seen, "start"), 30)
    urgent = fleet.create("h", priority="high", seen=str(seen))
    fleet.wait_ended([*low, urgent])
    begun = [row[1] for row in lines(seen, "start")]
    assert begun.index(urgent) < 5, "it had to wait until nothing was parked any more"


def test_short_parked_tasks_do_not_keep_the_worker_asking_for_messages(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    define(fleet, "work", executor="python")
    ids = [fleet.create(f"s{number}") for number in range(100)]
    worker = poor(fleet)
    parked(fleet, *ids)
    worker.stop()
    asked: list[int] = []
    accept = Feeder._accept

    def counted(feeder: Feeder, room: Room, plan: FeedPlan, patience_s: float) -> None:
        asked.append(room.total)
        accept(feeder, room, plan, patience_s)

    monkeypatch.setattr(Feeder, "_accept", counted)
    rich(fleet)
    fleet.wait_ended(ids)
    assert len(asked) < 2 * len(ids)


def test_a_busy_shop_a_pause_and_a_twin_hold_for_fetched_tasks_too(fleet: Fleet, seen: Path) -> None:
    define(fleet, "work", executor="python")
    gate = fleet.folder / "open"
    first = fleet.create("s1", until=str(gate), seen=str(seen))
    worker = poor(fleet)
    second, paused = fleet.create("s1", seen=str(seen)), fleet.create("s2", seen=str(seen))
    parked(fleet, first, second, paused)
    fleet.engine.store.set_pause(Pause(scope="shop:pdd:s2", by="ann"))
    rich(fleet)
    fleet.wait(first, "running")
    eventually(lambda: fleet.task(second).gate == "shop_busy" and fleet.task(paused).gate == "paused", 30)
    gate.touch()
    fleet.steward()
    assert fleet.wait(second, "succeeded").attempt == 1
    fleet.engine.store.clear_pause("shop:pdd:s2")
    assert fleet.wait(paused, "succeeded").attempt == 1
    assert {worker for task_id in (first, second, paused) for worker in started_on(fleet.task(task_id))} == {"rich"}
    assert worker.stop()


def test_parked_it_can_be_cancelled_moved_and_asked_to_run_now(fleet: Fleet, seen: Path) -> None:
    define(fleet, "work", executor="python")
    cancelled, moved, now, lane = (fleet.create(f"s{number}", seen=str(seen)) for number in range(4))
    poor(fleet)
    parked(fleet, cancelled, moved, now, lane)
    assert fleet.apply(Cancel(task_id=cancelled, by="ann")).code == "ok"
    tasks = fleet.commands().tasks
    assert tasks.prioritize([moved], "7").done == (moved,)
    assert tasks.run_now([now]).done == (now,)
    assert fleet.apply(Move(task_id=lane, by="ann", lane="low", priority=2)).code == "ok"
    worker = rich(fleet, lanes=("high", "normal"))
    for task_id in (moved, now):
        assert fleet.wait(task_id, "succeeded").attempt == 1
    assert fleet.task(lane).gate == "no_worker", "nobody who can run it serves its new lane"
    worker.stop()
    rich(fleet, name="other")
    assert fleet.wait(lane, "succeeded").attempt == 1
    assert fleet.task(cancelled).status == "cancelled"
    assert cancelled not in {row[1] for row in lines(seen, "start")}


def test_a_draining_worker_fetches_nothing(fleet: Fleet, seen: Path) -> None:
    define(fleet, "work", executor="python")
    worker = rich(fleet)
    worker.drain()
    poor(fleet)
    task_id = fleet.create(seen=str(seen))
    parked(fleet, task_id)
    cursor = fleet.cursor()
    eventually(lambda: fleet.engine.store.now_ms() - fleet.task(task_id).updated_at > 2_500, 30)
    assert fleet.events(cursor) == []
    worker.resume()
    assert fleet.wait(task_id, "succeeded").attempt == 1


def test_mixed_tasks_with_both_workers_up_all_succeed(fleet: Fleet, seen: Path) -> None:
    define(fleet, "work", executor="python")
    specs = [
        TaskSpec(
            platform="pdd",
            shop_id=f"s{number % 40}",
            task_type="work" if number % 2 else "flow",
            payload={"n": number, "seen": str(seen)},
            priority=("high", "normal", "low")[number % 3],
        )
        for number in range(80)
    ]
    rpa = config.ExecutorSettings(rpa=config.RpaSettings(command=NOTHING))
    flows = fleet.worker(4, engine=fleet.open(worker=config.WorkerSettings()), name="flows")
    handlers = fleet.worker(4, engine=fleet.open(executors=rpa), name="handlers")
    fleet.steward()
    ids = [task.task_id for task in fleet.submit(*specs).created]
    assert len(ids) == 80
    for task in fleet.wait_ended(ids, 90):
        assert (task.status, task.attempt) == ("succeeded", 1), task
        assert started_on(task) == {"handlers" if task.task_type == "work" else "flows"}
    assert sorted(row[1] for row in lines(seen, "start")) == sorted(ids)
    assert all(worker.stop() for worker in (flows, handlers))
    assert fleet.engine.store.unserved() == {}


def test_a_foreign_message_of_an_undefined_type_still_runs_with_the_defaults(fleet: Fleet, seen: Path) -> None:
    body = {"task_id": "x1", "shop_id": "s1", "platform": "pdd", "task_type": "nobody_defined_this"}
    fleet.publish(json.dumps(body | {"payload": {"seen": str(seen)}}).encode())
    rpa = config.ExecutorSettings(rpa=config.RpaSettings(command=NOTHING))
    fleet.worker(engine=fleet.open(executors=rpa), name="poor")
    eventually(lambda: fleet.engine.store.get(["x1"])[0], 30)
    parked(fleet, "x1")
    rich(fleet)
    task = fleet.wait("x1", "succeeded")
    assert (task.origin, task.attempt, started_on(task)) == ("foreign", 1, {"rich"})


def test_strict_types_make_a_dead_letter_whatever_the_worker_could_run(fleet: Fleet) -> None:
    rpa = config.ExecutorSettings(rpa=config.RpaSettings(command=NOTHING))
    task_id = fleet.create(kind="nobody_defined_this")
    fleet.worker(engine=fleet.open(executors=rpa), strict_types=True)
    assert fleet.wait(task_id, "dead").error_kind == "unknown_type"


def test_a_strict_worker_fetches_no_undefined_types(fleet: Fleet) -> None:
    rpa = config.ExecutorSettings(rpa=config.RpaSettings(command=NOTHING))
    task_id = fleet.create(kind="nobody_defined_this")
    worker = fleet.worker(engine=fleet.open(executors=rpa))
    (task,) = parked(fleet, task_id)
    worker.stop()
    strict = rich(fleet, name="strict", strict_types=True)
    assert not strict.fetches("normal", "nobody_defined_this")
    marker = fleet.create("s9")
    fleet.wait(marker, "succeeded")
    assert fleet.task(task_id) == task


def test_an_executor_that_this_version_does_not_know_waits_for_one_that_does(fleet: Fleet) -> None:
    define(fleet, "later", executor="robot")
    task_id = fleet.create(kind="later")
    rich(fleet)
    parked(fleet, task_id)


# ------------------------------------------------------------------------------------------------- who defines a type
def test_a_handler_of_an_undefined_type_defines_it_once_and_says_so(fleet: Fleet) -> None:
    rich(fleet)
    document = fleet.engine.store.documents("type")["never_twice"]
    assert json.loads(document)["executor"] == "python"
    assert json.loads(document)["idempotent"] is False
    acts = [entry for entry in fleet.engine.store.audit(50) if entry.action == "type.introduce"]
    assert [(entry.target, entry.outcome) for entry in acts] == [(("never_twice",), "done")]
    assert acts[0].who.startswith("worker ")
    assert HANDLERS in acts[0].detail
    rich(fleet, name="second")
    assert len([entry for entry in fleet.engine.store.audit(50) if entry.action == "type.introduce"]) == 1


def test_what_an_operator_has_written_stays(fleet: Fleet) -> None:
    define(fleet, "never_twice", idempotent=True, timeout_s=7)
    before = fleet.engine.store.documents("type")["never_twice"]
    rich(fleet)
    assert fleet.engine.store.documents("type")["never_twice"] == before
    assert [entry for entry in fleet.engine.store.audit(50) if entry.action == "type.introduce"] == []
