"""Whether a task may run again, said alike by every page."""

from __future__ import annotations

import pytest

from services.domain.insight.cause import AGAIN, LEVELS, NOW, Worth
from services.domain.insight.verdict import Verdict, safe_to_run_again
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.message import Message
from views.support import shown
from views.support.words import verdicts


def dead(**fields: object) -> Task:
    known = {
        "task_id": "t",
        "shop_id": "s",
        "platform": "pdd",
        "task_type": "work",
        "status": Status.DEAD,
        "attempt": 1,
    }
    return Task(**(known | fields))  # type: ignore[arg-type]


def test_both_answers_are_said_in_the_colour_of_the_worse() -> None:
    safe = safe_to_run_again(dead(error_kind="element_not_found"))
    said = verdicts.say(safe, Worth(level=AGAIN, code="worth.page"))
    assert (said.status, said.lead) == ("dead", "Will fail again")
    assert said.evidence.splitlines() == [
        "The page has changed: a retry fails again until the flow is adapted. Tell who makes the flow.",
    ]
    assert said.beside == "No work would be done twice: this type may run again.", "good news is not said in red"
    assert verdicts.say(safe, Worth(level=NOW, code="worth.passed", params={"count": 3, "of": 3})).status == "healthy"
    unsafe = safe_to_run_again(dead(idempotent=False, started_at=1))
    assert verdicts.say(unsafe, Worth(level=NOW, code="worth.succeeded_since")).lead == "Check first"
    begun = safe_to_run_again(dead(idempotent=False, progress=60))
    assert verdicts.say(begun, Worth(level=AGAIN, code="worth.page")).beside == "", "what would be done twice is in red"


def test_what_a_held_task_would_do_twice_has_its_condition() -> None:
    said = verdicts.say(safe_to_run_again(dead(status=Status.HELD, idempotent=False, progress=99)))
    assert said.evidence.startswith("If you choose “Run again”, the work would be done a second time: attempt 1 was")


def test_what_would_be_refused_is_never_green() -> None:
    refusal = Message("task.duplicate", {"id": "t2", "status": "queued"})
    said = verdicts.say(
        safe_to_run_again(dead()), Worth(level=NOW, code="worth.passed", params={"count": 1, "of": 1}), refusal
    )
    assert said.status != "healthy"
    assert said.evidence.startswith("The same task is active already: t2")


def test_each_answer_has_a_glyph_and_a_word_of_its_own() -> None:
    looks = [verdicts.look(Worth(level=level)) for level in LEVELS]
    assert len({one.glyph for one in looks}) == len({one.word for one in looks}) == len(LEVELS)


@pytest.mark.parametrize(
    ("number", "said"),
    [(1, "Unknown: try this one first"), (3, "Unknown: try one first"), (4, "Unknown: try 3 first")],
)
def test_no_more_are_to_be_tried_than_there_are(number: int, said: str) -> None:
    assert verdicts.word(Worth(), number) == said


def test_a_letter_by_itself_is_the_one_to_try() -> None:
    assert verdicts.say(safe_to_run_again(dead(error_kind="network")), Worth()).lead == "Unknown: try this one first"


@pytest.mark.parametrize(
    ("level", "status", "lead"),
    [
        ("safe", "healthy", "Safe to run again"),
        ("would_duplicate", "dead", "Would duplicate"),
        ("odd", "warning", "odd"),
    ],
)
def test_levels_have_their_colours(level: str, status: str, lead: str) -> None:
    said = verdicts.say(Verdict(level=level, code="verdict.idempotent"))
    assert (said.status, said.lead) == (status, lead)


def test_letters_that_are_all_refused_for_one_reason_are_told_that_alone() -> None:
    one, other = Message("dead.already", {"id": "t1"}), Message("task.not_readable")
    assert verdicts.barred([one, one]) == verdicts.barred([one]) == shown.say(one)
    assert verdicts.barred([one, other]) == f"None of them would go: {shown.say(one)}"
    assert verdicts.barred([one, None]) == verdicts.barred([]) == ""
