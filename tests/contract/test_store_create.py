"""Create, Published and the life of the outbox mark."""

from __future__ import annotations

import pytest

from services.domain.change import Create, Nudge, Published, Resolve
from services.domain.step.transitions import HELD_TWIN
from services.domain.task.status import Status
from tests.contract.rig import Rig, changed, shown, told


def test_a_new_task_is_pending_with_an_outbox_mark(rig: Rig) -> None:
    before = rig.store.now_ms()
    task = rig.task(priority=8, lane="high", batch="B1")
    answer = rig.ask(Create(task=task))
    assert answer.code == "created"
    record = rig.record(task)
    assert record == answer.task
    assert record.status == Status.PENDING
    assert before <= record.created_at <= rig.store.now_ms()
    assert record.updated_at == record.created_at
    assert rig.outbox() == {task.task_id}
    assert changed(record, created_at=0, updated_at=0, steps=()) == task


def test_every_field_survives(rig: Rig) -> None:
    task = rig.task(
        payload='{"text": "\u5e97\u94fa \U0001f6d2"}', queue="s1", max_retries=7, batch="b", reason="r", parent="p",
        uniq="u", timeout_s=5, idempotent=False, expected_s=1.5, extra='{"x": 1}', type_version=3,
        created_at=1_700_000_000_000, created_by="\u5f20@desk", origin="file", marks=("recovered",), error="e" * 4000,
    )  # fmt: skip
    rig.ask(Create(task=task))
    record = rig.record(task)
    assert changed(record, updated_at=0, steps=()) == task
    assert record.created_at == 1_700_000_000_000


def test_nothing_was_created_later_than_now(rig: Rig) -> None:
    """The clock of another program is ahead, or its time has no zone: a success since would count as one before."""
    before = rig.store.now_ms()
    created, adopted = rig.task(created_at=before + 8 * 3_600_000), rig.task(created_at=before + 8 * 3_600_000)
    rig.ask(Create(task=created))
    rig.claim(adopted, adopt=adopted)
    for task in (created, adopted):
        assert before <= rig.record(task).created_at <= rig.store.now_ms()


def test_the_same_creation_again_is_created(rig: Rig) -> None:
    task = rig.task(uniq="pdd:s1:sync")
    rig.ask(Create(task=task))
    rig.confirm(rig.record(task))
    again = rig.ask(Create(task=task))
    assert again.code == "created"
    assert again.task == rig.record(task)
    assert rig.record(task).status == Status.QUEUED
    assert rig.outbox() == set()


@pytest.mark.parametrize("other", [{"payload": '{"n": -1}'}, {"created_by": "bob@desk"}, {"origin": "console"}])
def test_another_task_with_the_id_is_shown(rig: Rig, other: dict[str, str]) -> None:
    task = rig.create()
    answer = rig.ask(Create(task=rig.task(**({"task_id": task.task_id, "payload": task.payload} | other))))
    assert answer.code == "exists"
    assert answer.task == task


def test_scheduled_has_no_mark(rig: Rig) -> None:
    due = rig.store.now_ms() + 60_000
    task = rig.create(status=Status.SCHEDULED, due_at=due)
    assert (task.status, task.due_at) == (Status.SCHEDULED, due)
    assert rig.outbox() == set()


def test_a_letter_that_never_was_a_task(rig: Rig) -> None:
    task = rig.create(task_id="bad_0123456789abcdef", status=Status.DEAD, error="not JSON", error_kind="bad_message")
    assert (task.status, task.triage) == (Status.DEAD, "open")
    assert task.ended_at > 0
    assert rig.outbox() == set()
    assert rig.store.counts().triage == {"open": 1}


ACTIVE = ["pending", "queued", "running", "retrying", "scheduled", "held", "blocked"]


@pytest.mark.parametrize("status", ACTIVE)
def test_an_active_task_refuses_its_duplicate(rig: Rig, status: str) -> None:
    first = rig.in_status(status, uniq="U")
    second = rig.task(uniq="U")
    answer = rig.ask(Create(task=second))
    assert answer.code == "duplicate"
    assert answer.task == rig.record(first)
    assert rig.store.get([second.task_id]) == [None]


@pytest.mark.parametrize("status", ["succeeded", "dead", "cancelled"])
def test_an_ended_task_refuses_nothing(rig: Rig, status: str) -> None:
    rig.in_status(status, uniq="U")
    assert rig.ask(Create(task=rig.task(uniq="U"))).code == "created"


def test_queue_after_it(rig: Rig) -> None:
    rig.create(uniq="U")
    answer = rig.ask(Create(task=rig.task(uniq="U"), on_duplicate="queue"))
    assert answer.code == "created"
    assert answer.task is not None
    assert answer.task.marks == ("twin",)
    assert answer.task.uniq == "U"


def test_force_with_a_reason(rig: Rig) -> None:
    rig.create(uniq="U")
    answer = rig.ask(Create(task=rig.task(uniq="U", reason="the first one hangs"), on_duplicate="force"))
    assert answer.code == "created"
    assert answer.task is not None
    assert (answer.task.marks, answer.task.uniq, answer.task.reason) == (("forced",), "!U", "the first one hangs")
    assert (answer.task.guard, answer.task.work) == ("", "U")


def test_a_forced_one_that_found_its_shop_busy_goes_on_when_there_is_room(rig: Rig) -> None:
    first = rig.running(uniq="U")
    forced = rig.ask(Create(task=rig.task(uniq="U", reason="the first one hangs"), on_duplicate="force")).task
    assert forced is not None
    rig.confirm(forced)
    assert rig.claim(rig.record(forced), "w2#1").code == "blocked"
    assert [task.task_id for task in rig.finish(first).released] == [forced.task_id]


@pytest.mark.parametrize("way", ["queue", "force"])
def test_without_a_twin_there_is_no_mark(rig: Rig, way: str) -> None:
    answer = rig.ask(Create(task=rig.task(uniq="U"), on_duplicate=way))
    assert answer.task is not None
    assert (answer.task.marks, answer.task.uniq) == ((), "U")


def test_duplicates_within_one_batch(rig: Rig) -> None:
    tasks = [rig.task(uniq="U"), rig.task(uniq="U"), rig.task(uniq="V")]
    answers = rig.store.apply([Create(task=task) for task in tasks])
    assert [answer.code for answer in answers] == ["created", "duplicate", "created"]
    assert answers[1].task is not None
    assert answers[1].task.task_id == tasks[0].task_id


def test_answers_stand_at_their_places_in_a_long_batch(rig: Rig) -> None:
    tasks = [rig.task(shop_id=f"s{number % 7}") for number in range(1000)]
    answers = rig.store.apply([Create(task=task) for task in tasks])
    assert [answer.task.task_id for answer in answers if answer.task is not None] == [task.task_id for task in tasks]
    found = rig.store.get([task.task_id for task in tasks] + ["nobody"])
    assert [task.task_id for task in found if task is not None] == [task.task_id for task in tasks]
    assert found[-1] is None
    assert rig.store.counts().total == 1000


def test_confirmed_becomes_queued(rig: Rig) -> None:
    start = rig.store.events("", 10, 0).cursor
    task = rig.create()
    rig.pass_time(0.1)
    answer = rig.confirm(task)
    assert answer.code == "ok"
    record = rig.record(task)
    assert record.status == Status.QUEUED
    assert record.queued_at == record.updated_at >= task.created_at + 100
    assert rig.outbox() == set()
    assert [(step.from_, step.to) for step in record.steps] == [("", "pending"), ("pending", "queued")]
    assert told(rig.all_events(start), task) == shown(record)


@pytest.mark.parametrize("wrong", [{"status": "retrying"}, {"gen": 1}, {"attempt": 1}, {"task_id": "nobody"}])
def test_a_confirmation_of_another_state_is_stale(rig: Rig, wrong: dict[str, object]) -> None:
    task = rig.create()
    fields = {"task_id": task.task_id, "status": "pending", "gen": 0, "attempt": 0} | wrong
    assert rig.ask(Published(**fields)).code == "stale"  # type: ignore[arg-type]
    assert rig.outbox() == {task.task_id}
    assert rig.record(task).status == Status.PENDING


@pytest.mark.parametrize("status", ["retrying", "dead"])
def test_a_confirmed_outcome_keeps_its_status_and_makes_no_transition(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    assert task.task_id in rig.outbox()
    cursor = rig.store.events("", 1, 0).cursor
    assert rig.confirm(task).code == "ok"
    assert rig.outbox() == set()
    assert rig.record(task) == task
    assert rig.all_events(cursor) == []


def test_the_outbox_shows_the_oldest_first_and_only_the_old(rig: Rig) -> None:
    first = rig.create()
    rig.pass_time(0.5)
    second = rig.create()
    rig.pass_time(0.5)
    assert [task.task_id for task in rig.store.outbox(0, 10)] == [first.task_id, second.task_id]
    assert [task.task_id for task in rig.store.outbox(0, 1)] == [first.task_id]
    assert [task.task_id for task in rig.store.outbox(800, 10)] == [first.task_id]
    assert rig.store.outbox(60_000, 10) == []


def test_a_nudge_makes_the_mark_young_again(rig: Rig) -> None:
    task = rig.create()
    rig.pass_time(0.5)
    assert rig.ask(Nudge(task_id=task.task_id, gen=0, attempt=0)).code == "ok"
    assert rig.store.outbox(400, 10) == []
    assert rig.outbox() == {task.task_id}


@pytest.mark.parametrize("first", [Status.QUEUED, Status.RUNNING, Status.HELD])
def test_the_second_of_a_work_can_be_held_for_a_person_and_holds_nobody_back(rig: Rig, first: str) -> None:
    before = rig.in_status(first, uniq="same")
    sent = rig.task(status=Status.QUEUED, origin="foreign", uniq="same", marks=("foreign", "noticed"))
    answer = rig.ask(Create(task=sent, on_duplicate="hold"))
    assert answer.code == "created"
    second = rig.record(sent)
    assert (second.status, second.error, second.work) == (Status.HELD, HELD_TWIN, "same")
    assert "twin" in second.marks
    assert rig.ask(Create(task=sent, on_duplicate="hold")).code == "created"
    assert rig.record(sent) == second
    assert rig.claim(second, adopt=sent).code == "stale"  # its message is settled
    if first == Status.QUEUED:
        assert rig.claim(before).code == "run"
    assert rig.ask(Resolve(task_id=second.task_id, to=Status.PENDING, by="ann@desk")).code == "ok"


def test_the_first_of_a_work_is_not_held(rig: Rig) -> None:
    sent = rig.task(status=Status.QUEUED, origin="foreign", uniq="same", marks=("foreign", "noticed"))
    assert rig.ask(Create(task=sent, on_duplicate="hold")).code == "created"
    assert rig.record(sent).status == Status.QUEUED
