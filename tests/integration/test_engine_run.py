"""One task from submit to its end: success, retries, permanent errors, time-outs."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from services.domain.task.order import Order, Receipt
from services.domain.task.status import Status
from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, define, lines, moves


def test_a_task_runs_and_succeeds(fleet: Fleet, seen: Path) -> None:
    cursor = fleet.cursor()
    task_id = fleet.create(priority="high", seen=str(seen))
    assert fleet.task(task_id).status == Status.QUEUED, "confirmed when submit returns"
    worker = fleet.worker()
    task = fleet.wait(task_id, "succeeded")

    assert moves(task) == ["pending", "queued", "running", "succeeded"]
    assert json.loads(task.result) == {"attempt": 1, "shop": "s1"}
    (attempt,) = task.attempts
    assert (attempt.number, attempt.worker, attempt.outcome, attempt.error) == (1, worker.name, "succeeded", "")
    assert task.started_at <= attempt.ended_at <= task.ended_at
    assert (task.lane, task.priority, task.lease_until, task.gate) == ("high", 10, 0, "")
    assert [event.to for event in fleet.events(cursor) if event.task_id == task_id] == moves(task)
    assert eventually(lambda: fleet.engine.store.executed([task_id]) == [True])
    assert [row[0] for row in lines(seen)] == ["start", "end"]


def test_an_outcome_that_waits_behind_a_silent_broker_keeps_its_lease(
    fleet: Fleet, seen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the leader gives away what is done, and what may not run twice is held."""
    engine, silent, answers = fleet.open(), threading.Event(), threading.Event()
    publish = engine.broker.publish

    def waits(orders: Sequence[Order]) -> list[Receipt]:
        if any(order.kind == "delay" for order in orders):
            silent.set()
            answers.wait(90)
        return publish(orders)

    monkeypatch.setattr(engine.broker, "publish", waits)
    fleet.worker(engine=engine, lease_s=1.0)
    failing = fleet.create("s1", fail="network", fail_first=1)
    try:
        assert silent.wait(30)
        task_id = fleet.create("s2", kind="never_twice", seen=str(seen))
        eventually(lambda: lines(seen, "end"))
        for _ in range(3):  # one may have been under way when it ended
            until = fleet.task(task_id).lease_until
            eventually(lambda until=until: fleet.task(task_id).lease_until > until)  # type: ignore[misc]
        assert fleet.task(task_id).status == Status.RUNNING
    finally:
        answers.set()
    assert len(fleet.wait(task_id, "succeeded").attempts) == 1
    fleet.wait(failing, "succeeded")


def test_nothing_is_left_in_the_broker_when_all_have_ended(fleet: Fleet) -> None:
    ids = [fleet.create(f"s{number}") for number in range(30)]
    fleet.worker(8)
    fleet.wait_ended(ids)
    eventually(
        lambda: all(
            not depth.ready and not depth.unacked for depth in fleet.engine.broker.depths() if depth.kind != "notice"
        ),
        30,
    )
    assert fleet.engine.store.counts().status == {"succeeded": 30}


def test_a_flow_runs_as_a_child_process_and_tells_its_progress(fleet: Fleet, seen: Path) -> None:
    task_id = fleet.create(kind="flow", seen=str(seen), sleep=1.2)
    fleet.worker()
    running = eventually(lambda: found if (found := fleet.task(task_id)).progress == 10 else None, 30)
    assert (running.status, running.note) == ("running", "started")
    task = fleet.wait(task_id, "succeeded")
    assert json.loads(task.result) == {"shop": "s1"}
    log, place = fleet.engine.store.read_log(task_id, 1)
    assert (place, [(line.stream, line.text) for line in log]) == (1, [("out", "a line of the log")])


def test_a_failing_task_is_tried_again_with_growing_delays_and_then_dead(fleet: Fleet, seen: Path) -> None:
    fleet.archiver()
    task_id = fleet.create(seen=str(seen), fail="network", text="connection reset by peer")
    fleet.worker()
    task = fleet.wait(task_id, "dead")

    assert [one.number for one in task.attempts] == [1, 2, 3, 4]
    assert [one.retry_in_s for one in task.attempts] == [1, 2, 4, -1]
    assert {(one.outcome, one.error_kind) for one in task.attempts} == {("failed", "network")}
    gaps = [after.started_at - before.ended_at for before, after in zip(task.attempts, task.attempts[1:], strict=False)]
    assert all(gap >= wait * 1000 for gap, wait in zip(gaps, (1, 2, 4), strict=True)), gaps
    assert len(lines(seen, "start")) == 4
    assert (task.retries, task.triage, task.error_kind) == (3, "open", "network")
    assert "connection reset by peer" in task.error
    letter = eventually(lambda: fleet.engine.store.get_letter(task_id), 30)
    body = json.loads(letter.body)
    assert (body["task_id"], body["retry_count"], body["error_kind"]) == (task_id, 3, "network")
    assert fleet.engine.store.counts().triage == {"open": 1}


def test_a_task_that_recovers_counts_its_retries(fleet: Fleet) -> None:
    task_id = fleet.create(fail="network", fail_first=1)
    fleet.worker()
    task = fleet.wait(task_id, "succeeded")
    assert (task.attempt, task.retries) == (2, 1)
    assert moves(task) == ["pending", "queued", "running", "retrying", "running", "succeeded"]


def test_half_a_character_in_its_texts_stops_neither_a_task_nor_its_worker(fleet: Fleet) -> None:
    task_id = fleet.create(fail="network", half=True, max_retries=0)
    fleet.worker(slots=1)
    task = fleet.wait(task_id, "dead")
    assert (task.error_kind, task.error[-1]) == ("network", "?")
    fleet.wait(fleet.create("s2"), "succeeded")


@pytest.mark.parametrize("kind", ["", "cancelled"])
def test_a_failure_that_speaks_of_something_cancelled_is_not_a_cancelled_task(fleet: Fleet, kind: str) -> None:
    task_id = fleet.create(fail=kind, text="OrderError: order 17 was cancelled by the buyer", max_retries=0)
    fleet.worker()
    task = fleet.wait(task_id, "dead", "cancelled")
    assert (task.status, task.error_kind, task.triage) == ("dead", "unknown", "open")


def test_the_type_names_its_own_delay(fleet: Fleet) -> None:
    define(fleet, "work", retry_base_s=2, retry_cap_s=2)
    task_id = fleet.create(fail="network", fail_first=1)
    fleet.worker()
    task = fleet.wait(task_id, "succeeded")
    assert task.attempts[0].retry_in_s == 2
    assert task.attempts[1].started_at - task.attempts[0].ended_at >= 2_000


def test_permanent_errors_burn_no_retries(fleet: Fleet) -> None:
    kinds = ["bad_payload", "missing_secret", "unknown_type"]
    ids = [fleet.create(f"s{number}", fail=kind) for number, kind in enumerate(kinds)]
    fleet.worker()
    for task, kind in zip(fleet.wait_ended(ids), kinds, strict=True):
        assert (task.status, task.error_kind, task.attempt, task.retries) == ("dead", kind, 1, 0)


def test_a_payload_that_its_type_refuses_is_dead_at_once_when_it_comes_from_elsewhere(fleet: Fleet) -> None:
    body = {"task_id": "x1", "shop_id": "s1", "platform": "pdd", "task_type": "checked", "payload": {"page": 0}}
    fleet.publish(json.dumps(body).encode())
    fleet.worker()
    task = eventually(lambda: fleet.engine.store.get(["x1"])[0], 30)
    task = fleet.wait("x1", "dead")
    assert (task.error_kind, task.attempt) == ("bad_payload", 1)
    assert "page" in task.error


def test_an_unknown_type_runs_on_the_rpa_executor_unless_types_are_strict(fleet: Fleet, seen: Path) -> None:
    lenient = fleet.create(kind="nobody_defined_this", seen=str(seen))
    worker = fleet.worker()
    fleet.wait(lenient, "succeeded")
    worker.stop()
    strict = fleet.create(kind="nobody_defined_this_either", seen=str(seen))
    fleet.worker(strict_types=True)
    task = fleet.wait(strict, "dead")
    assert (task.error_kind, task.attempt) == ("unknown_type", 1)
    assert "strict_types" in task.error
    assert [row[1] for row in lines(seen, "start")] == [lenient]


def test_a_time_out_of_a_repeatable_type_is_tried_again(fleet: Fleet) -> None:
    define(fleet, "flow", timeout_s=1)
    task_id = fleet.create(kind="flow", sleep=30, max_retries=0)
    fleet.worker()
    task = fleet.wait(task_id, "dead")
    (attempt,) = task.attempts
    assert (attempt.outcome, attempt.error_kind) == ("timeout", "timeout")
    assert 1_000 <= attempt.ended_at - attempt.started_at < 25_000


def test_a_time_out_of_an_unrepeatable_type_is_held_until_a_person_decides(fleet: Fleet, seen: Path) -> None:
    gate = fleet.folder / "open"
    task_id = fleet.create(kind="flow_once", sleep=2.5, seen=str(seen))
    fleet.worker()
    held = fleet.wait(task_id, "held")
    assert (held.error_kind, held.attempt, held.retries, held.lease_until) == ("timeout", 1, 0, 0)
    assert fleet.engine.store.counts().lanes["normal"] == {"held": 1}
    define(fleet, "flow_once", idempotent=False, timeout_s=60)
    gate.touch()
    assert fleet.commands().tasks.retry_waiting([task_id], reason="looked").done == (task_id,)
    task = eventually(lambda: found if (found := fleet.task(task_id)).attempt == 2 else None, 30)
    assert task.task_id == task_id
    assert len(eventually(lambda: len(found := lines(seen, "start")) == 2 and found, 30)) == 2


def test_a_worker_reads_the_time_out_of_the_record(fleet: Fleet) -> None:
    """What was promised when the task was created holds, whatever the type says later."""
    define(fleet, "flow", timeout_s=1)
    task_id = fleet.create(kind="flow", sleep=30, max_retries=0)
    define(fleet, "flow", timeout_s=600)
    fleet.worker()
    assert fleet.wait(task_id, "dead").error_kind == "timeout"


def test_bulk_submit_tells_the_fate_of_each(fleet: Fleet) -> None:
    specs = [TaskSpec(platform="pdd", shop_id=f"s{number}", task_type="work") for number in range(450)]
    bad = TaskSpec(platform="p.d.d", shop_id="s1", task_type="work")
    done = fleet.submit(*specs[:200], bad, specs[0], *specs[200:])
    assert len(done.created) == 450
    assert [(spec.shop_id, task.task_id) for spec, task in done.duplicates] == [("s0", done.created[0].task_id)]
    assert [(spec, name) for spec, name, _ in done.errors] == [(bad, "platform")]
    assert done.unconfirmed == 0
    assert fleet.engine.store.counts().status == {"queued": 450}


def test_two_workers_share_the_work_without_a_double_run(fleet: Fleet, seen: Path) -> None:
    workers = [fleet.worker(4, engine=fleet.open(), name=name) for name in ("w1", "w2")]
    ids = [fleet.create(f"s{number % 40}", seen=str(seen), n=number, sleep=0.01) for number in range(200)]
    tasks = fleet.wait_ended(ids)
    assert {task.status for task in tasks} == {"succeeded"}
    assert sorted(row[1] for row in lines(seen, "start")) == sorted(ids)
    assert {task.worker for task in tasks} == {"w1", "w2"}
    assert all(worker.stop() for worker in workers)


def test_a_lane_that_nobody_serves_waits(fleet: Fleet) -> None:
    low, high = fleet.create("s1", priority="low"), fleet.create("s2", priority="high")
    fleet.worker(lanes=("high",))
    fleet.wait(high, "succeeded")
    assert fleet.task(low).status == "queued"
