"""How often a rule would have told somebody, by what was recorded. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from services.domain.alerts.rule import Rule
from services.domain.past import frame
from services.domain.past.frame import Gap, Numbers
from services.domain.past.lanes import Span

#: of each matter of a rule whether its condition holds in a row; None where the row does not tell
Holds = Callable[[Numbers, Rule], Mapping[str, bool] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """Instants in UTC ms."""

    begin: int
    end: int
    told: tuple[Span, ...] = ()  #: from when somebody would have been told until it was resolved, the oldest first
    gaps: tuple[Gap, ...] = ()  #: nobody knows what was then

    @property
    def recorded(self) -> bool:
        """Whether anything is known of this time."""
        return self.gaps != (Gap(self.begin, self.end),)


class _Matter:
    """As the judge has it: told when it held for long enough, over when it was gone for long enough."""

    def __init__(self) -> None:
        self.since = self.told = self.calm = 0

    def look(self, at: int, rule: Rule, *, holds: bool) -> Span | None:
        """Take in a look; what is over by it."""
        if holds:
            self.since, self.calm = self.since or at, 0
            if not self.told and at - self.since >= rule.for_s * 1000:
                self.told = at
            return None
        self.since, self.calm = 0, self.calm or at
        if not self.told or at - self.calm < rule.calm_s * 1000:
            return None
        over, self.told = Span(self.told, at), 0
        return over

    def miss(self) -> None:
        """Nobody knows how it went on: what was not told yet has to hold anew, what was calm to stay calm anew."""
        self.since = self.calm = 0


def dry_run(rows: Sequence[Numbers], begin: int, end: int, rule: Rule, holds: Holds) -> DryRun:
    """What a rule would have told between two instants; ``rows``: all that speak for that time, oldest first."""
    matters: dict[str, _Matter] = {}
    told: list[Span] = []
    known = begin
    for row in rows:
        if row.since_ms > known:
            for one in matters.values():
                one.miss()
        known = max(known, row.at_ms)
        for name, on in (holds(row, rule) or {}).items():
            over = matters.setdefault(name, _Matter()).look(row.at_ms, rule, holds=on)
            if over is not None:
                told.append(over._replace(name=name))
    told += [Span(one.told, end, name) for name, one in matters.items() if one.told]
    return DryRun(begin=begin, end=end, told=tuple(sorted(told)), gaps=tuple(frame.gaps(rows, begin, end)))
