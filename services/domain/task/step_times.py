"""How long the steps of an attempt took, by what the flow said it was doing. Pure."""

from __future__ import annotations

from collections.abc import Sequence

#: as many steps are kept, by so many characters of their names; and so many words of a flow are remembered meanwhile
MOST, NAME, MARKS = 12, 60, 400


def took(marks: Sequence[tuple[str, float]], ended: float) -> tuple[tuple[str, float], ...]:
    """Seconds by step in the order of their beginning; () where a flow names no two steps.

    ``marks``: what it said, and when (monotonic seconds); each lasts until the next. Equal names are one step.
    """
    found: dict[str, float] = {}
    for number, (name, at) in enumerate(marks):
        until = marks[number + 1][1] if number + 1 < len(marks) else ended
        found[name[:NAME]] = found.get(name[:NAME], 0.0) + max(0.0, until - at)
    named = {name: seconds for name, seconds in found.items() if name}
    if len(named) < 2:
        return ()
    return tuple((name, round(seconds, 2)) for name, seconds in list(named.items())[:MOST])
