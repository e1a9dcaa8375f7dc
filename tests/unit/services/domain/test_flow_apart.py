"""At which step two runs of the same work part."""

from __future__ import annotations

import pytest

from services.domain.task.record import Attempt
from services.domain.types.flow_apart import How, Line, lines, pairs, parting
from services.domain.types.flow_trace import StepState

_STATES = {"d": StepState.DONE, "f": StepState.FAILED, "s": StepState.STOPPED, "a": StepState.AHEAD}


def run(states: str, names: str = "abcd", about: str = "") -> list[Line]:
    """A flow with a step for each letter; in ``about`` a letter that is no space is what that step asks for."""
    asks = about.ljust(len(names)).replace(" ", "#")
    return [
        Line(place=str(at), do="click", name=name, about=ask, state=_STATES[state])
        for at, (name, ask, state) in enumerate(zip(names, asks, states, strict=True), start=1)
    ]


@pytest.mark.parametrize(
    ("letter", "name", "how"),
    [
        (run("ddfa"), "c", How.FAILED),
        (run("dsaa"), "b", How.STOPPED),
        (run("ddfa", about=" x"), "b", How.CHANGED),
        (run("ddfaa", "abxcd"), "x", How.ADDED),
        (run("ddf", "acd"), "b", How.MISSING),
    ],
)
def test_the_first_step_that_differs_is_named(letter: list[Line], name: str, how: How) -> None:
    both = pairs(letter, run("dddd"))
    found = parting(both)
    assert found is not None
    assert (both[found.at].step.name, found.how) == (name, how)


def test_two_runs_that_are_alike_do_not_part() -> None:
    assert parting(pairs(run("dddd"), run("dddd"))) is None


def test_of_steps_inside_another_the_failed_one_is_named() -> None:
    letter = run("dfaa")
    letter.insert(2, Line(place="2.then.1", do="click", name="inner", state=StepState.FAILED))
    both = pairs(letter, run("dddd"))
    found = parting(both)
    assert found is not None
    assert both[found.at].step.name == "inner"


def test_work_that_is_no_flow_parts_at_the_last_step_it_named() -> None:
    def attempt(outcome: str, *names: str) -> Attempt:
        took = tuple((name, 1.5) for name in names)
        return Attempt(number=1, worker="w", started_at=1, ended_at=2, outcome=outcome, took=took)

    both = pairs(
        lines(None, attempt("failed", "open", "read")), lines(None, attempt("succeeded", "open", "read", "save"))
    )
    found = parting(both)
    assert found is not None
    assert (both[found.at].step.name, found.how) == ("read", How.FAILED)
    assert [pair.step.seconds for pair in both] == [1.5, 1.5, 1.5]
