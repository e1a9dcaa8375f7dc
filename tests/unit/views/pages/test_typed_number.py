"""Acting on many of a production fleet takes the number, typed; everywhere, and not for few, nor for what an Undo gives
back without a trace.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.domain.insight.verdict import SAFE, Verdict
from services.domain.task.record import Task
from services.monitor.tasks import Pick, Weighed
from views.dialogs.confirm import Question
from views.kit.task_verb import TaskVerb, question
from views.pages.dead_letters.verbs import found_of, preview
from views.pages.overview.verbs import SINK
from views.pages.tasks import verbs
from views.pages.tasks.panel import deciding

Asked = Callable[[int, str], Question]


def archive(number: int, _environment: str) -> Question:
    letters = [Task(task_id=f"t{n}", shop_id="s1", platform="pdd", task_type="t") for n in range(number)]
    return preview(found_of(letters, {}), "login expired")


def decide(number: int, environment: str) -> Question:
    sure = Verdict(level=SAFE, code="verdict.idempotent")
    weighed = [Weighed(task_id=f"t{n}", task_type="t", shop="s1", verdict=sure) for n in range(number)]
    return deciding.question(verbs.AGAIN, weighed, environment)


def of(verb: TaskVerb) -> Asked:
    """The preview of a verb on so many that it suits, and others."""
    fit = min(verb.suits)

    def asked(number: int, environment: str) -> Question:
        picks = [Pick(task_id=f"t{n}", status=fit, triage="", priority=5) for n in range(number)]
        other = [Pick(task_id=f"e{n}", status="succeeded", triage="", priority=5) for n in range(100)]
        return question(verb, [*picks, *other], environment)

    return asked


GIVEN_BACK = (verbs.RAISE, verbs.LOWER, SINK)
ALL = [of(verb) for verb in verbs.VERBS if verb not in (*verbs.DECISIONS, *GIVEN_BACK)]


@pytest.mark.parametrize("asked", [*ALL, decide])
def test_the_number_of_what_fits_is_typed_in_production(asked: Asked) -> None:
    assert [asked(number, "production").typed for number in (50, 51)] == ["", "51"]
    assert [asked(number, "").typed for number in (51, 500, 501)] == ["", "", "501"]


@pytest.mark.parametrize("asked", [*map(of, GIVEN_BACK), archive])
def test_nothing_is_typed_for_what_can_be_given_back(asked: Asked) -> None:
    assert [asked(number, "production").typed for number in (51, 5001)] == ["", ""]
