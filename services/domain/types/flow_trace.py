"""How far the flow of a task has come, told from its record: what is done, where it failed, what is still ahead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from services.domain.text.mask import masked_text
from services.domain.types import flow
from services.domain.types.flow_steps import Step

_PLACE = re.compile(r"step (\d+(?:\.(?:then|else)\.\d+)*) ")
_ABOUT_CHARS = 200


class StepState(StrEnum):
    """What became of a step in the last attempt."""

    DONE = "done"
    FAILED = "failed"
    NOW = "now"
    STOPPED = "stopped"  #: the attempt ended there, and not by a failure of the step: time-out, cancel, lost worker
    AHEAD = "ahead"


class TracedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step. Steps inside others are there only where one of them failed."""

    place: str  #: such as ``2`` or ``4.then.1``, counted from 1
    do: str
    name: str
    about: str  #: its address or selector as written in the payload, masked
    title: str  #: what its files are called by
    state: StepState = StepState.AHEAD


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """All steps in order, and the one that failed last."""

    steps: tuple[TracedStep, ...]
    attempt: int = 0  #: that the states are of, 0 before the first
    failed: int = -1  #: place of the failed step in ``steps``, -1 for none
    said: str = ""  #: why it failed, without naming the step

    @property
    def failure(self) -> TracedStep | None:
        """The step that failed."""
        return self.steps[self.failed] if self.failed >= 0 else None


def trace(task: Task, executor: str) -> Trace | None:
    """The steps of a task; None where its type is no work for a browser or its payload none that could run.

    The types that are short for some steps may be done by a program of the worker instead, which knows no steps: they
    have some only where one is said to have failed.
    """
    if executor != flow.EXECUTOR:
        return None
    try:
        payload = msgspec.json.decode(task.payload)
    except msgspec.DecodeError:
        return None
    if not isinstance(payload, dict) or flow.problems(task.task_type, payload):
        return None
    found = _trace(task, flow.steps_of(task.task_type, payload))
    return found if "steps" in payload or found.failure is not None else None


def _trace(task: Task, steps: Sequence[Step]) -> Trace:
    if task.status == Status.SUCCEEDED:
        return Trace(steps=tuple(_traced(one, StepState.DONE) for one in steps), attempt=task.attempt)
    if task.status == Status.RUNNING:
        return Trace(steps=_up_to(steps, _reached(task, steps), StepState.NOW), attempt=task.attempt)
    last = next((one for one in reversed(task.attempts) if one.outcome != "fenced"), None)
    if last is None:
        return Trace(steps=_up_to(steps, -1, StepState.AHEAD))
    return _after(task, last, steps)


def _after(task: Task, last: Attempt, steps: Sequence[Step]) -> Trace:
    """What the end of an attempt tells."""
    found = _failing(last.error, steps)
    if found is None:
        where = _reached(task, steps) if last.number == task.attempt else -1
        return Trace(steps=_up_to(steps, where, StepState.STOPPED), attempt=last.number)
    failing, said = found
    top = int(failing.place.partition(".")[0]) - 1
    lines = list(_up_to(steps, top, StepState.FAILED))
    where = top
    if failing is not steps[top]:
        where = top + 1
        lines.insert(where, _traced(failing, StepState.FAILED))
    return Trace(steps=tuple(lines), attempt=last.number, failed=where, said=said)


def _up_to(steps: Sequence[Step], where: int, state: StepState) -> tuple[TracedStep, ...]:
    """Everything before ``where`` is done, nothing behind it is begun; -1: nothing is."""
    return tuple(
        _traced(one, StepState.DONE if place < where else state if place == where else StepState.AHEAD)
        for place, one in enumerate(steps)
    )


def _traced(step: Step, state: StepState) -> TracedStep:
    about = str(getattr(step, "url", "") or getattr(step, "selector", ""))
    return TracedStep(
        place=step.place,
        do=step.do,
        name=masked_text(step.name),
        about=masked_text(about)[:_ABOUT_CHARS],
        title=step.title,
        state=state,
    )


def _failing(error: str, steps: Sequence[Step]) -> tuple[Step, str] | None:
    """The step that an error names, and the rest of what it says."""
    found = _PLACE.match(error)
    for step, label in _labels(steps, found[1] if found else ""):
        begin = f"step {label}: "
        if error.startswith(begin):
            return step, error[len(begin) :]
    return None


def _labels(steps: Sequence[Step], place: str) -> Iterator[tuple[Step, str]]:
    """Steps with the words that name them; the first ones know their place, older records have the title alone."""
    every = list(flow.walk(steps))
    yield from ((one, one.label) for one in every if one.place == place)
    yield from ((one, one.title) for one in every)


def _reached(task: Task, steps: Sequence[Step]) -> int:
    """The step that a running attempt said it had come to, -1 where it said nothing."""
    if task.progress < 0:
        return -1
    guess = min(round(task.progress * len(steps) / 100), len(steps) - 1)
    near = sorted(range(len(steps)), key=lambda place: abs(place - guess))
    return next((place for place in near if steps[place].title[:200] == task.note), guess)
