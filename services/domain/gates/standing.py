"""What is closed for a whole scope at a moment, gate by gate in their order, as lists of it show it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from services.domain.fleet.shop import Pause
from services.domain.gates import breaker, listed, session
from services.domain.gates.breaker import Breaker
from services.domain.gates.session import ClosedSession

#: gates that are closed for a shop, a platform, a type or everything: nothing that is sent there starts
GATES = (*listed.SWITCHES, session.GATE, breaker.GATE)


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One of them. ``since`` and ``until``: UTC ms, 0 where that is not known, or where a person opens it."""

    gate: str
    scope: str  #: as of a pause
    by: str = ""
    since: int = 0
    until: int = 0
    reason: str = ""  #: as somebody wrote it, else the kind of failure

    @property
    def word(self) -> str:
        """What it is called, source text."""
        return listed.BY_NAME[self.gate].short


def standing(
    switches: Sequence[Pause], sessions: Sequence[ClosedSession] = (), breakers: Sequence[Breaker] = ()
) -> list[Standing]:
    """All that is closed, of the answers of a store."""
    found = [
        Standing(gate=one.gate, scope=one.scope, by=one.by, since=one.at, until=one.until, reason=one.reason)
        for one in switches
    ]
    found += [
        Standing(gate=session.GATE, scope=f"shop:{one.shop}", by=one.by, since=one.since, reason=one.note or one.kind)
        for one in sessions
    ]
    found += [
        Standing(gate=breaker.GATE, scope=f"shop:{one.shop}", since=one.since, until=one.until, reason=one.kind)
        for one in breakers
    ]
    return sorted(found, key=lambda one: GATES.index(one.gate))
