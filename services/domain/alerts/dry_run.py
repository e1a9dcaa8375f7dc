"""How often a rule would have told somebody, by what was recorded. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from services.domain.alerts.rule import Rule
from services.domain.past import frame
from services.domain.past.frame import UNTOLD, Change, Gap, Numbers, Things
from services.domain.past.lanes import Span

POINTS = 600  #: of a curve, at most


class Tried(NamedTuple):
    """Attempts that ended in the minutes before an instant that a rule names, as far as they are recorded."""

    tries: int
    failed: int
    span_ms: int


class Seen(NamedTuple):
    """What was recorded of an instant."""

    at_ms: int
    numbers: Numbers | None  #: of the row that ends there, None between two rows
    things: Mapping[str, int]  #: since when it is so, by the name of those whose state matters
    tried: Tried = Tried(0, 0, 0)


#: of each matter of a rule since when its condition holds (UTC ms), 0 where it does not; None where nothing tells it
Holds = Callable[[Seen, Rule], Mapping[str, int] | None]


class Past(msgspec.Struct, frozen=True):
    """What of the recorded tells a measure. ``kind``: of the things that it looks at, "" for numbers alone;
    ``matters``: what a state comes to for it, "" for nothing; ``state``: a word that stands in all that come to
    something; ``old``: the first word of a state that of a whole comes to nothing, as it began long before.
    ``told``: whether a row tells it at all. ``measured``: by the name of each limit what is held against it, None where
    nothing tells it.
    """

    holds: Holds
    kind: str = ""
    matters: Callable[[str], str] = str
    state: str = ""
    old: str = ""
    told: Callable[[Numbers], bool] = lambda _row: True
    measured: Mapping[str, Callable[[Seen, Rule], float | None]] = {}


class Whole(NamedTuple):
    """All things that were not as they should be, where nobody knows what was before."""

    at_ms: int
    things: Things


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """Instants in UTC ms."""

    begin: int
    end: int
    told: tuple[Span, ...] = ()  #: from when somebody would have been told until it was resolved, the oldest first
    gaps: tuple[Gap, ...] = ()  #: nobody knows what was then
    curve: tuple[tuple[int, float], ...] = ()  #: what was measured, the highest of each part of the time
    limit: str = ""  #: the limit that this is held against

    @property
    def recorded(self) -> bool:
        """Whether anything is known of this time."""
        return self.gaps != (Gap(self.begin, self.end),)


class _Matter:
    """As the judge has it: told when it held for long enough, over when it was gone for long enough."""

    def __init__(self) -> None:
        self.since = self.told = self.calm = 0

    def look(self, at: int, rule: Rule, holds: int, *, exact: bool) -> Span | None:
        """Take in a look, and since when it holds; what is over by it. ``exact``: what was between looks is known."""
        if holds:
            self.since, self.calm = self.since or holds, 0
            if not self.told and at - self.since >= rule.for_s * 1000:
                self.told = self.since + rule.for_s * 1000 if exact else at
            return None
        self.since, self.calm = 0, self.calm or at
        if not self.told or at - self.calm < rule.calm_s * 1000:
            return None
        over, self.told = Span(self.told, self.calm + rule.calm_s * 1000 if exact else at), 0
        return over

    def miss(self) -> None:
        """Nobody knows how it went on: what was not told yet has to hold anew, what was calm to stay calm anew."""
        self.since = self.calm = 0


def dry_run(
    rows: Sequence[Numbers],
    begin: int,
    end: int,
    rule: Rule,
    past: Past,
    states: Sequence[Whole | Change] = (),
) -> DryRun:
    """What a rule would have told between two instants; ``rows``: all that speak for that time, oldest first;
    ``states``: of the things that it looks at, in order of time, one whole after each gap.
    """
    matters: dict[str, _Matter] = {}
    told: list[Span] = []
    known, curves = begin, {limit: _Curve(begin, end) for limit in past.measured}
    for seen, since in _seen(rows, past, states, rule):
        if since > known:
            for one in matters.values():
                one.miss()
        known = max(known, seen.at_ms)
        for limit, measure in past.measured.items():
            curves[limit].add(seen.at_ms, measure(seen, rule))
        found = past.holds(seen, rule)
        if found is None:
            continue
        over_now = dict.fromkeys(matters, 0) if past.kind else {}  # a thing that is well again is not named any more
        for name, holds in {**over_now, **found}.items():
            over = matters.setdefault(name, _Matter()).look(seen.at_ms, rule, holds, exact=bool(past.kind))
            if over is not None:
                told.append(over._replace(name=name))
    told += [Span(one.told, end, name) for name, one in matters.items() if one.told]
    limit = max(curves, key=lambda name: curves[name].share(rule.limit(name)), default="")
    return DryRun(
        begin=begin,
        end=end,
        told=tuple(sorted(told)),
        gaps=tuple(frame.gaps(rows, begin, end)),
        curve=curves[limit].points if limit else (),
        limit=limit,
    )


class _Curve:
    """What was measured, the highest of each part of the time."""

    def __init__(self, begin: int, end: int) -> None:
        self._begin, self._step = begin, max(1, (end - begin) // POINTS)
        self._parts: dict[int, tuple[int, float]] = {}

    def add(self, at: int, value: float | None) -> None:
        """Take in a value; None where nothing tells it."""
        part = (at - self._begin) // self._step
        if value is not None and self._begin <= at and value >= self._parts.get(part, (0, 0.0))[1]:
            self._parts[part] = at, value

    def share(self, limit: float) -> float:
        """How near it came to a limit; one that is 0 is none."""
        return max((value for _at, value in self._parts.values()), default=0.0) / limit if limit else -1.0

    @property
    def points(self) -> tuple[tuple[int, float], ...]:
        """In order of time."""
        return tuple(self._parts[part] for part in sorted(self._parts))


class _Window:
    """Attempts of the last minutes, row by row."""

    def __init__(self, span_ms: int) -> None:
        self._span_ms, self._rows = span_ms, deque[Numbers]()
        self._tries = self._failed = 0

    def add(self, row: Numbers) -> Tried:
        """Take in a row; what was before a gap counts no more. Of no span nothing is counted."""
        if row.tries == UNTOLD or self._span_ms <= 0:
            return Tried(0, 0, 0)
        if self._rows and row.since_ms > self._rows[-1].at_ms:
            self._rows.clear()
            self._tries = self._failed = 0
        self._rows.append(row)
        self._tries, self._failed = self._tries + row.tries, self._failed + row.tries_failed
        while self._rows[0].at_ms <= row.at_ms - self._span_ms:
            gone = self._rows.popleft()
            self._tries, self._failed = self._tries - gone.tries, self._failed - gone.tries_failed
        return Tried(self._tries, self._failed, row.at_ms - max(self._rows[0].since_ms, row.at_ms - self._span_ms))


def _seen(
    rows: Sequence[Numbers], past: Past, states: Sequence[Whole | Change], rule: Rule
) -> Iterator[tuple[Seen, int]]:
    """Each row, and what was the moment before and after each change; with the instant from which on it is known."""
    things: dict[str, tuple[str, int]] = {}
    so: Mapping[str, int] = {}
    place, window = 0, _Window(round(rule.limit("minutes") * 60_000))
    for row in rows:
        while place < len(states) and states[place].at_ms <= row.at_ms:
            one = states[place]
            place += 1
            if isinstance(one, Whole):
                whole = {
                    name: past.matters(state)
                    for (kind, name), state in one.things.items()
                    if kind == past.kind and not (past.old and state.partition(" ")[0] == past.old)
                }
                things = {name: (state, one.at_ms) for name, state in whole.items() if state}
                so = {name: since for name, (_, since) in things.items()}
                continue
            state, before = past.matters(one.after), things.get(one.name, ("", 0))
            if state == before[0]:
                continue
            if one.at_ms > row.since_ms:
                yield Seen(one.at_ms, None, so), row.since_ms
            if state:
                things[one.name] = (state, one.at_ms)
            else:
                things.pop(one.name, None)
            so = {name: since for name, (_, since) in things.items()}
            if one.at_ms > row.since_ms:
                yield Seen(one.at_ms, None, so), row.since_ms
        yield Seen(row.at_ms, row, so, window.add(row)), row.since_ms
