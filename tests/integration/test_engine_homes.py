"""A task that needs the browser profile of its shop runs where that lives, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from services import assembly, workforce
from services.domain.change import Claim, Published
from services.domain.task.record import Task
from services.engine.homes import KIND, Homes
from services.executors.base import Job, JobContext
from services.executors.browser.lending import LendingRpaExecutor
from services.executors.rpa import RpaExecutor
from services.workers.worker import Worker
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, lines


@contextmanager
def lend(job: Job, context: JobContext) -> Iterator[int]:
    """A browser that the flow has no use for."""
    yield 9222


def at(fleet: Fleet, node: str) -> Worker:
    """A worker on this machine; its flows get the browser of their shop."""
    engine = fleet.open()
    parts = workforce.worker_parts(engine)
    flows = parts.executors["rpa"]
    assert isinstance(flows, RpaExecutor)
    lending = LendingRpaExecutor(flows, lend, ["flow"])
    options = replace(workforce.worker_options(engine.settings), name=f"on-{node}", node=node, slots=2)
    worker = Worker(replace(parts, executors={**parts.executors, "rpa": lending}), options)
    fleet._closers.append(lambda: worker.stop(0.0))
    worker.start()
    return worker


def parked(fleet: Fleet, task_id: str, gate: str) -> Task:
    eventually(lambda: fleet.task(task_id).gate == gate, 30)
    return fleet.task(task_id)


def closed(fleet: Fleet, task: Task) -> dict[str, str]:
    """Its closed gates with what they say."""
    detail = assembly.queries(fleet.engine).tasks.detail(task.task_id)
    assert detail is not None
    return {gate.name: gate.code for gate in detail.gates if gate.state == "closed"}


def test_it_waits_for_its_home_and_goes_where_the_shop_is_moved_to(fleet: Fleet, seen: Path) -> None:
    desk = at(fleet, "desk")
    first = fleet.wait(fleet.create(kind="flow", seen=str(seen)), "succeeded")
    assert first.worker == "on-desk"
    assert {shop: one.node for shop, one in fleet.engine.store.homes().items()} == {"pdd:s1": "desk"}
    desk.stop()
    at(fleet, "hall")
    other = fleet.create(shop="s2", kind="flow", seen=str(seen))
    waits = parked(fleet, fleet.create(kind="flow", seen=str(seen)), "home_node:desk")
    assert fleet.wait(other, "succeeded").worker == "on-hall"
    assert closed(fleet, waits) == {"home_node": "gate.home_gone"}
    # what needs no profile runs there all the same
    assert fleet.wait(fleet.create(kind="work", seen=str(seen)), "succeeded").worker == "on-hall"

    desk = at(fleet, "desk")
    ran = fleet.wait(waits.task_id, "succeeded")
    assert (ran.worker, ran.attempt, ran.gen) == ("on-desk", 1, 0)
    desk.stop()

    waits = parked(fleet, fleet.create(kind="flow", seen=str(seen)), "home_node:desk")
    moved = fleet.commands().homes.move("pdd:s1", "hall")
    assert (moved.before, moved.tasks) == ("desk", 1)
    ran = fleet.wait(waits.task_id, "succeeded")
    assert (ran.worker, ran.attempt, ran.gen) == ("on-hall", 1, 1)
    assert len(lines(seen, "start")) == 5
    assert fleet.engine.store.homebound() == {}


def test_the_leader_finishes_a_move_that_was_broken_off(fleet: Fleet) -> None:
    store = fleet.engine.store
    store.put_home("pdd:s1", "desk")
    task = fleet.task(fleet.create(kind="flow"))
    fleet.apply(Published(task_id=task.task_id, status="pending", gen=0, attempt=0))
    claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1000, home="hall")
    assert fleet.apply(claim).code == "blocked"
    store.put_document(KIND, "pdd:s1", '{"node":"hall","by":"ann"}')
    engine = fleet.engine
    Homes(store, engine.steps, engine.clock).tick()
    assert store.homes()["pdd:s1"].node == "hall"
    assert store.documents(KIND) == {}
    task = fleet.task(task.task_id)
    assert (task.status, task.gen, task.steps[-2].note) == ("queued", 1, "ann")
