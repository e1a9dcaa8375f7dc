"""All workers in a line, as every screen says it."""

from __future__ import annotations

from services.domain.insight import worker as insight
from services.domain.insight.worker import FleetNow
from services.i18n import ngettext
from services.messages import render
from views.support import safe, text

#: so many machines are called by their names
MACHINES_NAMED = 20


def summary(fleet: FleetNow) -> str:
    """Workers and machines, busy slots, and what is not as it should be."""
    return text.listed(map(render, insight.summary(fleet)))


def machines(fleet: FleetNow) -> str:
    """The machines by name, one a line, with how many workers live on each: these have names of their own."""
    lines = (
        ngettext("Machine {name}: {n} worker", "Machine {name}: {n} workers", number).format(
            name=safe.one_line(name, 64), n=text.count(number)
        )
        for name, number in sorted(fleet.by_machine.items())
    )
    return "\n".join([*lines][:MACHINES_NAMED])
