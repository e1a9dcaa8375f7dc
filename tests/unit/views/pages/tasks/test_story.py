"""The timeline of a task."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.gates import passing
from services.domain.insight.wait import CLOSED, GateView
from services.domain.task.notes import Suppressed
from services.domain.task.record import Attempt, Step, Task
from views.pages.tasks.panel.story import timeline


def lines(*attempts: Attempt, steps: tuple[Step, ...]) -> list[str]:
    task = Task(
        task_id="t1",
        shop_id="s1",
        platform="pdd",
        task_type="sync_order",
        status="dead",
        steps=steps,
        attempts=attempts,
    )
    return [line.text for line in timeline(task, 10_000)]


@pytest.mark.parametrize(
    ("more", "text", "tail"),
    [
        ({}, "Created by", ""),
        ({"reason": "new shop"}, "Created by", "new shop"),
        ({"reason": "the shop lost it", "marks": ("again",)}, "Asked for again by", "the shop lost it"),
        ({"reason": "it hangs", "marks": ("forced",)}, "Asked for again by", "it hangs"),
        ({"reason": "no longer", "marks": ("again",), "status": "cancelled"}, "Created by", ""),
    ],
    ids=str,
)
def test_the_timeline_says_why_it_was_asked_for_again(more: dict[str, Any], text: str, tail: str) -> None:
    base = {"task_id": "t1", "shop_id": "s1", "platform": "pdd", "task_type": "work", "created_by": "ann@desk"}
    (line, *_) = timeline(Task(**(base | {"status": "queued", "steps": (Step(1000, "", "pending"),)} | more)), 10_000)
    assert (line.text, line.strong, line.tail) == (text, "ann@desk", tail)


@pytest.mark.parametrize(
    ("by", "origin", "called"),
    [("sample fleet", "demo", "the sample fleet"), ("", "cli", "command line"), ("ann@desk", "cli", "ann@desk")],
)
def test_what_made_it_is_called_as_everywhere(by: str, origin: str, called: str) -> None:
    steps = (Step(1000, "", "pending"),)
    task = Task(task_id="t1", shop_id="s1", platform="pdd", task_type="work", steps=steps, created_by=by, origin=origin)
    assert timeline(task, 10_000)[0].strong == called


def test_a_reason_to_stop_it_is_none_to_ask_for_it() -> None:
    steps = (Step(1000, "", "pending"), Step(2000, "running", "running", "", 0, 1, "ben"))
    task = Task(
        task_id="t1", shop_id="s1", platform="pdd", task_type="work", status="running", steps=steps, marks=("again",),
        reason="the buyer cancelled",
    )  # fmt: skip
    assert [line.tail for line in timeline(task, 10_000)] == ["", ""]


@pytest.mark.parametrize(("status", "tail"), [("running", "the shop lost it"), ("dead", "")])
def test_the_timeline_says_why_it_was_let_run_again(status: str, tail: str) -> None:
    """A letter may have another note since."""
    steps = (Step(1000, "running", "held"), Step(2000, "held", "pending", note="ben"), Step(3000, "queued", status))
    task = Task(
        task_id="t1", shop_id="s1", platform="pdd", task_type="work", status=status, steps=steps, marks=("again",),
        triage_note="the shop lost it",
    )  # fmt: skip
    (line,) = [one for one in timeline(task, 10_000) if one.text == "Runs again, decided by"]
    assert (line.strong, line.tail) == ("ben", tail)


def test_the_timeline_tells_that_a_pass_was_taken_back() -> None:
    notes = (passing.note("ann@desk", "the buyer waits"), passing.note_back("bob@desk"))
    steps = tuple(Step(1000 + n, "queued", "queued", "", 0, 0, note) for n, note in enumerate(notes))
    task = Task(task_id="t1", shop_id="s1", platform="pdd", task_type="work", status="queued", steps=steps)
    assert [(line.text, line.strong) for line in timeline(task, 10_000)] == [
        ("Let through once by", "ann@desk"),
        ("No longer let through, taken back by", "bob@desk"),
    ]


@pytest.mark.parametrize(
    ("triage", "note", "told"),
    [
        ("republished", "ben", ("Republished by", "ben", "as t2")),
        ("overtaken", "t2", ("The same work succeeded later as", "t2", "")),
        ("archived", "ben", ("Changed by", "ben", "")),
    ],
)
def test_the_timeline_of_a_letter_names_what_stands_for_it(triage: str, note: str, told: tuple[str, ...]) -> None:
    steps = (
        Step(1000, "running", "dead", "w1"),
        Step(2000, "dead", "dead", note="li"),
        Step(3000, "dead", "dead", note=note),
    )
    task = Task(
        task_id="t1", shop_id="s1", platform="pdd", task_type="work", status="dead", steps=steps, triage=triage,
        successor="" if triage == "archived" else "t2",
    )  # fmt: skip
    *_, before, line = timeline(task, 10_000)
    assert (before.text, before.strong) == ("Changed by", "li")
    assert (line.text, line.strong, line.tail) == told


def test_the_timeline_of_the_new_task_names_the_letter() -> None:
    task = Task(
        task_id="t2", shop_id="s1", platform="pdd", task_type="work", status="queued", origin="republish",
        created_by="ben", parent="t1", steps=(Step(1000, "", "pending"),),
    )  # fmt: skip
    (line, *_) = timeline(task, 10_000)
    assert (line.text, line.strong, line.tail) == ("Republished by", "ben", "from t1")


def test_an_attempt_ends_before_what_became_of_the_task_by_it() -> None:
    steps = (
        Step(1000, "", "pending"),
        Step(2000, "pending", "queued"),
        Step(3000, "queued", "running", "w1", 0, 1),
        Step(3000, "running", "retrying", "w1", 0, 1),
        Step(5000, "retrying", "running", "w2", 0, 2),
        Step(6000, "running", "dead", "w2", 0, 2),
    )
    told = lines(
        Attempt(1, "w1", 3000, 3000, "failed"),
        Attempt(2, "w2", 5000, 6001, "failed"),
        Attempt(1, "w1", 3000, 7000, "fenced"),
        steps=steps,
    )
    assert told == [
        "Created by",
        "Waits in its lane",
        "Attempt 1 started on",
        "Attempt 1 failed",
        "Attempt 2 started on",
        "Attempt 2 failed",
        "Dead letter",
        "Attempt 1 late, not counted",
    ]


def test_attempts_whose_steps_are_no_longer_kept_stand_where_they_ended() -> None:
    told = lines(Attempt(1, "w1", 500, 900, "failed"), steps=(Step(1000, "retrying", "running", "w1", 0, 2),))
    assert told == ["Attempt 1 failed", "Attempt 2 started on"]


def test_the_timeline_names_who_stopped_it_and_why() -> None:
    steps = (
        Step(1000, "queued", "running", "w1", 0, 1),
        Step(2000, "running", "running", "", 0, 1, "ben"),
        Step(3000, "running", "cancelled", "w1", 0, 1),
    )
    task = Task(task_id="t", shop_id="s", platform="p", task_type="x", status="cancelled", steps=steps, reason="twice")
    told = [(line.text, line.strong or line.tail) for line in timeline(task, 10_000)]
    assert told == [("Attempt 1 started on", "w1"), ("Asked to stop by", "ben"), ("Cancelled by ben", "twice")]


def blocked(*steps: Step) -> Task:
    return Task(task_id="t", shop_id="s", platform="p", task_type="x", status="blocked", gate="shop_busy", steps=steps)


def test_a_task_that_still_waits_is_said_to_wait_where_it_waits_now() -> None:
    twin = GateView(name="twin", state=CLOSED, code="gate.twin_running", params={"twin": "first"})
    task = blocked(
        Step(1000, "", "pending"), Step(2000, "queued", "blocked", note="paused"),
        Step(3000, "blocked", "queued"), Step(4000, "queued", "blocked", note="shop_busy"),
    )  # fmt: skip
    told = [(line.text, line.tail) for line in timeline(task, 10_000, twin)]
    assert told[1:] == [("Parked", "paused"), ("Waits in its lane", ""), ("Parked", "same work runs")]


def test_who_asked_for_the_same_work_meanwhile_stands_in_the_timeline() -> None:
    asked = [
        Suppressed(at, name, "p", "s", "x", "ann@desk", "cli", outcome, "t", "running")
        for at, name, outcome in ((2500, "t2", "refused"), (2600, "t3", "queued"))
    ]
    told = [
        (line.text, line.strong or line.tail)
        for line in timeline(blocked(Step(2000, "", "pending")), 9000, None, asked)
    ]
    assert told[1:] == [
        ("The same work was asked for again, and refused", "ann@desk"),
        ("The same work was asked for again, created as", "t3"),
    ]
