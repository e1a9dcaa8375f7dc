"""A queue is looked at and emptied by its records, on both pairs; what runs and what waits in others stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from services import assembly
from services.domain.errors import NotFound, UsageError
from services.domain.fleet.holders import QueueHolders
from services.domain.task.status import Status
from services.engine.producer import TaskSpec
from services.monitor.queues import holders
from tests.contract.waiting import eventually
from tests.integration.api_rig import serving
from tests.integration.fleet_rig import Fleet, lines


def peek(fleet: Fleet, name: str, limit: int = 10) -> list[str]:
    return [task.task_id for task in assembly.queries(fleet.engine).queues.peek(name, limit).tasks]


def test_a_look_shows_what_waits_and_takes_no_message_off(fleet: Fleet) -> None:
    ids = [fleet.create(f"s{n}") for n in range(3)]
    low = fleet.create("s3", priority=2)
    fleet.shop("own")
    own = fleet.create("own")
    fleet.commands().fleet.dedicate("pdd:own")
    before = fleet.ready("rpa_tasks_normal")
    assert peek(fleet, "rpa_tasks_normal") == ids
    assert peek(fleet, "normal", 2) == ids[:2]
    assert peek(fleet, "rpa_tasks_low") == [low]
    assert peek(fleet, "single_shop_own") == [own]
    assert peek(fleet, f"rpa_delay_{max(fleet.settings.delays)}s") == []
    assert assembly.queries(fleet.engine).queues.peek("normal", 2).more
    assert fleet.ready("rpa_tasks_normal") == before
    with pytest.raises(UsageError, match="dead letters"):
        peek(fleet, "rpa_dead_queue")
    with pytest.raises(NotFound, match="queue list"):
        peek(fleet, "rpa_delay_77s")


def test_what_waits_for_its_next_attempt_stands_in_the_queue_of_its_delay(fleet: Fleet, seen: Path) -> None:
    level = min(fleet.settings.delays)
    task_id = fleet.create(seen=str(seen), fail="page_changed")
    fleet.worker()
    fleet.wait(task_id, Status.RETRYING, Status.DEAD)
    found = {name: peek(fleet, f"rpa_delay_{name}s") for name in fleet.settings.delays}
    task = fleet.task(task_id)
    if task.status == Status.RETRYING and task.retries == 1:
        assert found[level] == [task_id]
    assert sum(task_id in ids for ids in found.values()) <= 1


def test_a_purge_cancels_the_tasks_of_its_queue_alone_and_their_messages_are_skipped(fleet: Fleet, seen: Path) -> None:
    gone = [fleet.create(f"s{n}", priority=2, seen=str(seen)) for n in range(5)]
    stays = fleet.create("s9", seen=str(seen))
    commands = fleet.commands()
    plan = commands.queues.plan_purge("low")
    late = fleet.create("s8", priority=2, seen=str(seen))
    commands.tasks.prioritize([gone[4]], "high")
    with pytest.raises(UsageError, match="type its name exactly"):
        commands.queues.purge(plan, typed="low")
    outcome = commands.queues.purge(plan, typed="rpa_tasks_low", reason="wrong prices")
    assert (outcome.done, outcome.pending) == (tuple(gone[:4]), ())
    assert [(one.task_id, one.why.code) for one in outcome.skipped] == [(gone[4], "queue.left")]
    assert {(fleet.task(one).status, fleet.task(one).reason) for one in gone[:4]} == {("cancelled", "wrong prices")}
    entry = next(one for one in fleet.engine.store.audit(10) if one.action == "queue.purge")
    assert (entry.target[0], entry.outcome) == (
        "rpa_tasks_low",
        "partly: 4 done, 1 refused: queue.left; not done: queue.left 5",
    )
    assert not any(one.action == "task.cancel" for one in fleet.engine.store.audit(10))
    fleet.worker(2)
    fleet.wait_ended([gone[4], stays, late])
    eventually(lambda: fleet.ready("rpa_tasks_low") == 0, 30)
    assert {row[1] for row in lines(seen, "start")} == {gone[4], stays, late}


def test_who_holds_a_message_is_told_and_what_nobody_explains_is_told_as_that(fleet: Fleet, seen: Path) -> None:
    task_id = fleet.create("s1", seen=str(seen), until=str(seen.with_name("open")))
    worker = fleet.worker(1)
    fleet.wait(task_id, Status.RUNNING)
    eventually(lambda: fleet.engine.store.workers()[0].busy == 1, 30)
    worker.drain()
    other = fleet.open().broker.consumer(["normal"], window=2, name="another program")
    fleet.publish(b"{}")
    fleet.publish(b"{}")
    got = eventually(lambda: other.take(2, 0.5), 30)
    questions = assembly.queries(fleet.engine).queues

    def held() -> QueueHolders | None:
        (found,) = holders.look(questions, fleet.engine.broker.depths(), "normal").queues
        return found if found.beyond == 2 else None

    found = eventually(held, 30)
    assert [(one.task_id, one.worker, one.slot, one.state) for one in found.holds] == [
        (task_id, worker.name, 1, "runs")
    ]
    record = fleet.task(task_id)
    assert found.holds[0].since == record.started_at
    assert found.holds[0].lease_until > record.started_at
    assert found.counted == 3
    other.ack([*got, *other.take(2, 0.5)])
    other.close()
    seen.with_name("open").touch()
    fleet.wait_ended([task_id])
    assert holders.look(questions, (), "low").queues == ()


def test_what_runs_is_no_part_of_a_queue(fleet: Fleet, seen: Path) -> None:
    task_id = fleet.create(seen=str(seen), sleep=60)
    plan = fleet.commands().queues.plan_purge("normal")
    fleet.worker()
    fleet.wait(task_id, "running")
    outcome = fleet.commands().queues.purge(plan, typed="rpa_tasks_normal")
    assert [one.why.code for one in outcome.skipped] == ["queue.left"]
    assert fleet.task(task_id).cancel == ""


def test_a_purge_goes_in_portions_and_through_parked_tasks(fleet: Fleet) -> None:
    commands = fleet.commands()
    commands.fleet.pause("platform:pdd")
    specs = [
        TaskSpec(platform="pdd", shop_id=f"s{n % 7}", task_type="work", payload={"n": n}, priority=2)
        for n in range(450)
    ]
    made = fleet.submit(*specs).created
    plan = commands.queues.plan_purge("low")
    assert set(plan.task_ids) == {task.task_id for task in made}
    assert len(commands.queues.purge(plan, typed="rpa_tasks_low").done) == 450
    assert commands.queues.plan_purge("low").task_ids == ()


def test_rest_looks_and_empties_with_the_name_typed(fleet: Fleet) -> None:
    task_id = fleet.create(priority=2)
    with serving(fleet) as api, api.by("operator") as ask, api.by("viewer") as viewer:
        seen = viewer.get("/api/v1/queues/low/tasks").json()
        assert ([one["task_id"] for one in seen["tasks"]], seen["more"]) == ([task_id], False)
        assert viewer.post("/api/v1/queues/low/purge", json={"confirm": "rpa_tasks_low"}).status_code == 403
        assert ask.post("/api/v1/queues/low/purge", json={"dry_run": True}).json()["ids"] == [task_id]
        slip = ask.post("/api/v1/queues/low/purge", json={"confirm": "low"})
        assert (slip.status_code, "rpa_tasks_low" in slip.json()["detail"]) == (422, True)
        assert ask.post("/api/v1/queues/low/purge", json={}).status_code == 422
        done = ask.post("/api/v1/queues/low/purge", json={"confirm": "rpa_tasks_low", "reason": "wrong"}).json()
    assert done["done"] == [task_id]
    assert (fleet.task(task_id).status, fleet.task(task_id).reason) == ("cancelled", "wrong")
