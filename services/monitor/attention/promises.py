"""Promises that are broken, and those that will be if nobody does something."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.gates import quiet_hours
from services.domain.promises.judge import BROKEN
from services.domain.promises.standing import SharedCause, Standing
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention
from services.monitor.promises import PromiseRow, rows

#: causes that one item names
CAUSES = 2

WORDS = {
    "attention.promise_broken": Words(
        N_("Promise broken: {name}"), N_("{shops_n} since {at}; {left} of {total} are at risk too")
    ),
    "attention.promise_broken_only": Words(N_("Promise broken: {name}"), N_("{shops_n} of {total} since {at}")),
    "attention.promise_at_risk": Words(
        N_("Promise at risk: {name}"), N_("It breaks at {at} unless somebody acts: {shops_n} of {total}")
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """One item a promise, broken ones first. Of one that nobody has judged of late nothing is said."""
    found = [row for row in rows(look.store, look.now_ms) if row.standing is not None and not row.stale]
    bad = [row for row in found if row.standing is not None and row.standing.rows]
    if not bad:
        return
    zone = fleet_zone(look.store) or DEFAULT_ZONE
    for row in sorted(bad, key=lambda one: (one.state != BROKEN, one.name)):
        if row.standing is not None:
            yield _item(row, row.standing, zone, look.now_ms)


def _item(row: PromiseRow, found: Standing, zone: str, now: int) -> Attention:
    broken = row.state == BROKEN
    first = found.rows[0].break_at if broken else found.first_break
    code = "attention.promise_at_risk"
    if broken:
        code = "attention.promise_broken" if found.at_risk else "attention.promise_broken_only"
    return Attention(
        key=f"promise:{row.name}",
        severity="dead" if broken else "warning",
        code=code,
        params={
            "name": row.name,
            "shops": found.broken if broken else found.at_risk,
            "total": found.total,
            "left": found.at_risk,
            "at": quiet_hours.clock_at(first, zone, now),
        },
        facts=(*row.sentence, *(one.message for one in found.causes[:CAUSES])),
        since_ms=first if broken else found.risk_since,
        verbs=(*_way(found.causes), ("open_promise", row.name)),
    )


def _way(causes: tuple[SharedCause, ...]) -> Iterable[tuple[str, str]]:
    """The one verb of what holds most of them."""
    if causes and causes[0].verb and causes[0].verb != "open_tasks":
        yield causes[0].verb, causes[0].target
