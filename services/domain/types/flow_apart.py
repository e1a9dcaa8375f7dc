"""Two runs of the same work, step by step: what each step did in both, and at which they part. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from enum import StrEnum

import msgspec

from services.domain.task.record import Attempt
from services.domain.types.flow_trace import StepState, Trace

#: of an attempt that did not end well its last step is the one that failed
_WELL = frozenset({"succeeded"})


class How(StrEnum):
    """In what two runs part."""

    FAILED = "failed"  #: the step failed in the one and was done in the other
    STOPPED = "stopped"  #: the one ended at the step for another reason, or never came to it
    CHANGED = "changed"  #: the step asks for something else
    ADDED = "added"  #: the other had no such step
    MISSING = "missing"  #: the one had no such step


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One step of one run. ``seconds`` below 0: nobody measured it."""

    place: str  #: such as ``4`` or ``4.then.1``, "" where only its name is known
    do: str = ""
    name: str = ""
    about: str = ""
    state: StepState = StepState.AHEAD
    seconds: float = -1.0

    @property
    def title(self) -> str:
        """Its name, else its word."""
        return self.name or self.do


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The same step in both runs; None where one has no such step."""

    one: Line | None = None
    other: Line | None = None

    @property
    def step(self) -> Line:
        """The step as the first run has it, else the second."""
        found = self.one or self.other
        assert found is not None
        return found


class Parting(msgspec.Struct, frozen=True, kw_only=True):
    """The first step at which they part; ``at``: its place among the pairs."""

    at: int
    how: How


def lines(trace: Trace | None, attempt: Attempt | None) -> tuple[Line, ...]:
    """The steps of a run: of a flow as it is written, of other work as it named them while it ran; () for none."""
    took = dict(attempt.took) if attempt is not None else {}
    if trace is not None:
        return tuple(
            Line(
                place=one.place,
                do=one.do,
                name=one.name,
                about=one.about,
                state=one.state,
                seconds=took.get(one.title[:60], -1.0),
            )
            for one in trace.steps
        )
    well = attempt is not None and attempt.outcome in _WELL
    last = len(took) - 1
    return tuple(
        Line(
            place="",
            name=name,
            state=StepState.FAILED if at == last and not well else StepState.DONE,
            seconds=seconds,
        )
        for at, (name, seconds) in enumerate(took.items())
    )


def pairs(one: Sequence[Line], other: Sequence[Line]) -> tuple[Pair, ...]:
    """Both step by step: equal names (else words) stand beside each other."""
    found: list[Pair] = []
    match = SequenceMatcher(None, [_key(line) for line in one], [_key(line) for line in other], autojunk=False)
    for word, a, b, c, d in match.get_opcodes():
        if word == "equal":
            found += [Pair(one=left, other=right) for left, right in zip(one[a:b], other[c:d], strict=True)]
        else:
            found += [Pair(one=line) for line in one[a:b]]
            found += [Pair(other=line) for line in other[c:d]]
    return tuple(found)


def parting(found: Sequence[Pair]) -> Parting | None:
    """Where the first run, which went wrong, leaves the way of the second; None where it does not."""
    for at, pair in enumerate(found):
        how = _how(pair)
        if how is None:
            continue
        # of steps inside another the one that failed is named, and not what it stands in
        inner = at + 1
        if how == How.FAILED and inner < len(found) and _inside(found[inner], pair):
            return Parting(at=inner, how=How.FAILED)
        return Parting(at=at, how=how)
    return None


def _how(pair: Pair) -> How | None:
    if pair.other is None:
        return How.ADDED
    if pair.one is None:
        return How.MISSING
    if pair.one.about != pair.other.about:
        return How.CHANGED
    if pair.one.state == pair.other.state:
        return None
    return How.FAILED if pair.one.state == StepState.FAILED else How.STOPPED


def _inside(inner: Pair, outer: Pair) -> bool:
    line = inner.one
    return line is not None and line.state == StepState.FAILED and line.place.startswith(f"{outer.step.place}.")


def _key(line: Line) -> tuple[str, str]:
    return (line.do, line.name)
