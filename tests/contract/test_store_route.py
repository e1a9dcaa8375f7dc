"""Another queue for tasks that wait, as dedicating a shop and undedicating it ask for."""

from __future__ import annotations

import pytest

from services.domain.change import Op, Route
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.contract.rig import Rig, shown, told


def route(rig: Rig, task: Task, queue: str = "s1", code: str = "ok") -> Task:
    op: Op = Route(task_id=task.task_id, queue=queue, by="ann")
    answer = rig.ask(op)
    assert (answer.code, answer.task) == (code, rig.record(task))
    return rig.record(task)


@pytest.mark.parametrize("status", ["pending", "queued"])
def test_what_has_a_message_gets_another_one(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    start = rig.store.events("", 1, 0).cursor
    record = route(rig, task)
    assert (record.status, record.queue, record.gen) == (Status.PENDING, "s1", task.gen + 1)
    assert (record.lane, record.priority) == (task.lane, task.priority)
    assert rig.outbox() == {task.task_id}
    assert told(rig.all_events(start), record) == shown(record)[-1:]
    assert record.steps[-1].note == "ann"
    assert rig.claim(task, "w1#1").code == "stale"
    assert rig.claim(record, "w1#1").code == "run"


def test_a_retrying_task_keeps_its_time_and_gets_a_message(rig: Rig) -> None:
    task = rig.retrying()
    rig.confirm(task)
    record = route(rig, task)
    assert (record.status, record.due_at, record.gen) == (Status.RETRYING, task.due_at, task.gen + 1)
    assert rig.outbox() == {task.task_id}


def test_a_scheduled_task_keeps_its_time_and_has_no_message(rig: Rig) -> None:
    task = rig.in_status("scheduled")
    record = route(rig, task)
    assert (record.status, record.due_at, record.queue) == (Status.SCHEDULED, task.due_at, "s1")
    assert rig.outbox() == set()


def test_a_parked_task_stays_parked(rig: Rig) -> None:
    task = rig.in_status("blocked")
    record = route(rig, task)
    assert (record.status, record.gate, record.queue) == (Status.BLOCKED, task.gate, "s1")
    assert rig.outbox() == set()
    assert rig.store.parked_shops(5) == ["pdd:s1"]


@pytest.mark.parametrize("status", ["running", "held", "succeeded", "dead", "cancelled"])
def test_what_has_started_is_left_alone(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    assert route(rig, task, code="refused") == task


@pytest.mark.parametrize("status", ["queued", "retrying", "scheduled", "blocked"])
def test_asked_again_it_makes_no_second_transition(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    once = route(rig, task)
    assert route(rig, task) == once
    back = route(rig, task, queue="")
    assert (back.queue, back.gen) == ("", task.gen + 2)


def test_a_document_is_struck_off_once(rig: Rig) -> None:
    rig.store.put_document("queue", "pdd:s1", "{}")
    rig.store.put_document("queue", "pdd:s2", "{}")
    assert rig.store.remove_document("queue", "pdd:s1")
    assert not rig.store.remove_document("queue", "pdd:s1")
    assert rig.store.documents("queue") == {"pdd:s2": "{}"}


def test_one_document_is_read_without_the_others(rig: Rig) -> None:
    rig.store.put_document("queue", "pdd:s1", '"one"')
    rig.store.put_document("queue", "pdd:s2", '"two"')
    assert rig.store.document("queue", "pdd:s2") == '"two"'
    assert rig.store.document("queue", "pdd:s3") is None
    assert rig.store.document("type", "pdd:s2") is None


def test_a_document_is_replaced_only_as_it_was_read(rig: Rig) -> None:
    rig.store.put_document("view", "v1", '"one"')
    assert rig.store.swap_document("view", "v1", '"one"', '"two"')
    assert not rig.store.swap_document("view", "v1", '"one"', '"three"'), "somebody was faster"
    assert rig.store.document("view", "v1") == '"two"'
    assert not rig.store.swap_document("view", "v2", '"one"', '"two"')
    assert not rig.store.swap_document("view", "v2", "", '"two"'), "there was none"
    assert rig.store.document("view", "v2") is None
    assert not rig.store.swap_document("view", "v1", '"one"', ""), "nor struck off"
    assert rig.store.swap_document("view", "v1", '"two"', "")
    assert rig.store.documents("view") == {}
