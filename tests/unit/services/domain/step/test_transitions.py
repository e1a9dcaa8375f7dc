"""The pure half of the operations: what becomes of a record."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from services.domain.change import Cancel, Claim, Finish, Move, Nudge, Progress, Resolve, SetTriage
from services.domain.step import transitions
from services.domain.task.record import HISTORY_LIMIT, Attempt, Task
from services.domain.task.status import TERMINAL, Status

NOW = 5_000
BASE = Task(task_id="t", shop_id="s", platform="p", task_type="k", created_at=1, created_by="ann")
DONE = Attempt(number=1, worker="w", started_at=1, ended_at=2, outcome="failed")
RUNNING = replace(
    BASE, status="running", owner="w#1", worker="w", attempt=1, lease_until=9_000, steps=(), cancel="", started_at=4_000
)


def finish(to: str, **fields: object) -> Finish:
    return Finish(task_id="t", owner="w#1", to=to, attempt=DONE, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", list(Status))
def test_a_step_clears_what_belongs_to_another_status(status: Status) -> None:
    full = replace(BASE, gate="paused", due_at=7, lease_until=8, cancel="requested", status="blocked")
    after = transitions.step(full, status, NOW)
    assert type(after.status) is str
    assert after.gate == ("paused" if status == Status.BLOCKED else "")
    assert after.due_at == (7 if status in transitions.WITH_DUE else 0)
    assert after.lease_until == (8 if status == Status.RUNNING else 0)
    assert after.cancel == ("requested" if status == Status.RUNNING else "")
    assert after.ended_at == (NOW if status in TERMINAL else 0)
    assert (after.steps[-1].from_, after.steps[-1].to, after.updated_at) == ("blocked", status, NOW)


def test_a_word_that_is_no_status_is_refused_as_such() -> None:
    resolve = Resolve(task_id="t", to="done", by="ann")
    for act in (
        lambda: transitions.step(BASE, "done", NOW),
        lambda: transitions.finished(RUNNING, finish("done"), NOW),
        lambda: transitions.resolved(BASE, resolve, NOW),
    ):
        with pytest.raises(ValueError, match="'done' is not a valid Status"):
            act()


def test_history_is_bounded() -> None:
    task = BASE
    for number in range(HISTORY_LIMIT * 2):
        task = transitions.queued(task, number)
    assert len(task.steps) == HISTORY_LIMIT
    assert task.steps[-1].at == HISTORY_LIMIT * 2 - 1


@pytest.mark.parametrize(
    ("status", "due", "ended", "triage"),
    [("pending", 0, 0, ""), ("scheduled", 77, 0, ""), ("dead", 0, NOW, "open"), ("succeeded", 0, NOW, "")],
)
def test_created(status: str, due: int, ended: int, triage: str) -> None:
    task = transitions.created(replace(BASE, status=Status(status), due_at=77, created_at=0), NOW)
    assert (task.created_at, task.updated_at, task.due_at, task.ended_at, task.triage) == (NOW, NOW, due, ended, triage)
    assert [(step.from_, step.to) for step in task.steps] == [("", status)]


def test_an_older_creation_keeps_its_instant() -> None:
    assert transitions.created(BASE, NOW).created_at == 1


def test_started() -> None:
    op = Claim(task_id="t", gen=0, attempt=1, owner="w2#1", worker="w2", lease_ms=100)
    task = transitions.started(replace(BASE, status="retrying", attempt=1, due_at=3, note="old", progress=80), op, NOW)
    assert (task.status, task.attempt, task.owner, task.worker) == ("running", 2, "w2#1", "w2")
    assert (task.lease_until, task.started_at, task.due_at, task.note, task.progress) == (NOW + 100, NOW, 0, "", -1)
    assert (task.steps[-1].worker, task.steps[-1].attempt) == ("w2", 2)


@pytest.mark.parametrize(
    ("to", "asked", "becomes", "retries"),
    [
        ("retrying", "", "retrying", 1),
        ("retrying", "requested", "cancelled", 0),
        ("pending", "stopping", "cancelled", 0),
        ("pending", "", "pending", 0),
        ("succeeded", "requested", "succeeded", 0),
        ("dead", "requested", "dead", 0),
    ],
)
def test_finished(to: str, asked: str, becomes: str, retries: int) -> None:
    task = transitions.finished(replace(RUNNING, cancel=asked), finish(to, delay_ms=10, error="e", lost=True), NOW)
    assert (task.status, task.retries, task.cancel, task.error, task.losses) == (becomes, retries, "", "e", (NOW,))
    assert task.due_at == (NOW + 10 if becomes == "retrying" else 0)
    assert task.triage == ("open" if becomes == "dead" else "")
    assert task.attempts == (DONE,)


def test_evidence_is_kept_once() -> None:
    once = transitions.evidence(RUNNING, DONE)
    assert [attempt.outcome for attempt in once.attempts] == ["fenced"]
    assert transitions.evidence(once, DONE) is once


@pytest.mark.parametrize(
    ("status", "owner", "attempts", "expected"),
    [
        ("succeeded", "w#1", (DONE,), True),
        ("pending", "w#1", (DONE,), True),
        ("succeeded", "w#1", (), False),  # somebody else decided about this attempt
        ("succeeded", "x#1", (DONE,), False),
        ("running", "w#1", (DONE,), False),
    ],
)
def test_recorded(status: str, owner: str, attempts: tuple[Attempt, ...], expected: bool) -> None:
    task = replace(RUNNING, status=status, owner=owner, attempts=attempts)
    assert transitions.recorded(task, finish("pending")) is expected


def test_parked_names_the_gate_once() -> None:
    parked = transitions.parked(replace(BASE, status="queued"), "twin", NOW)
    assert (parked.status, parked.gate, parked.marks, len(parked.steps)) == ("blocked", "twin", ("twin",), 1)
    assert transitions.parked(parked, "twin", NOW + 1) is parked
    moved = transitions.parked(parked, "paused", NOW + 1)
    assert (moved.gate, len(moved.steps)) == ("paused", 1)


@pytest.mark.parametrize(
    ("status", "run_now", "becomes"),
    [
        ("queued", False, "pending"),
        ("scheduled", False, "scheduled"),
        ("scheduled", True, "pending"),
        ("retrying", False, "retrying"),
        ("blocked", True, "blocked"),
    ],
)
def test_moved(status: str, run_now: bool, becomes: str) -> None:
    before = replace(BASE, status=status, gate="paused" if status == "blocked" else "", due_at=9)
    op = Move(task_id="t", by="ann", lane="high", priority=9, run_now=run_now)
    task = transitions.moved(before, op, NOW)
    assert (task.status, task.gen, task.lane, task.priority, task.gate) == (becomes, 1, "high", 9, before.gate)
    assert task.due_at == (9 if becomes != "pending" else 0)
    assert task.steps[-1].gen == 1


@pytest.mark.parametrize(
    ("status", "due", "becomes"),
    [
        ("pending", 0, "pending"),
        ("queued", 0, "queued"),
        ("scheduled", NOW, "pending"),
        ("scheduled", NOW + 1, None),
        ("retrying", NOW, "pending"),
        ("retrying", NOW + 1, "retrying"),
        ("blocked", 0, None),
        ("running", 0, None),
    ],
)
def test_nudged(status: str, due: int, becomes: str | None) -> None:
    task = transitions.nudged(replace(BASE, status=status, due_at=due), Nudge(task_id="t", gen=0, attempt=0), NOW)
    assert (task.status if task else None) == becomes
    assert transitions.nudged(replace(BASE, gen=1), Nudge(task_id="t", gen=0, attempt=0), NOW) is None


def test_resolved_already_is_the_same_word_of_the_same_person() -> None:
    held = replace(BASE, status="held")
    op = Resolve(task_id="t", to="pending", by="ann", note="n")
    after = transitions.queued(transitions.resolved(held, op, NOW), NOW)
    assert transitions.resolved_already(after, op)
    assert not transitions.resolved_already(after, replace(op, by="bob"))
    assert not transitions.resolved_already(after, replace(op, to="dead"))
    assert not transitions.resolved_already(held, op)


def test_progress_leaves_what_it_does_not_say() -> None:
    first = transitions.progressed(RUNNING, Progress(task_id="t", owner="w#1", progress=40, note="half"))
    again = transitions.progressed(first, Progress(task_id="t", owner="w#1", progress=-1, stopping=True))
    assert (again.progress, again.note, again.cancel) == (40, "half", "stopping")


def test_triage_twice_is_one_transition() -> None:
    dead = replace(BASE, status="dead", triage="open", ended_at=3)
    once = transitions.triaged(dead, SetTriage(task_id="t", triage="archived", by="ann", note="seen"), NOW)
    assert (once.triage, once.triage_note, once.ended_at) == ("archived", "seen", 3)
    assert transitions.triaged(once, SetTriage(task_id="t", triage="archived", by="bob"), NOW) is once


def test_cancelled_keeps_the_reason() -> None:
    task = transitions.cancelled(replace(BASE, reason="old"), Cancel(task_id="t", by="ann"), NOW)
    assert (task.status, task.reason, task.steps[-1].note) == ("cancelled", "old", "ann")
    assert transitions.cancel_requested(RUNNING, Cancel(task_id="t", by="ann", reason="new"), NOW).reason == "new"


def test_marks_are_kept_once() -> None:
    assert transitions.marked(BASE, "twin") == ("twin",)
    assert transitions.marked(replace(BASE, marks=("twin",)), "twin") == ("twin",)
