"""Schedules that nobody has fired in time, and a fleet in which nobody fires or repairs anything."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.errors import UsageError
from services.domain.insight import schedule as insight
from services.domain.plans.schedule import load
from services.domain.task.status import ACTIVE, Status
from services.monitor.attention.look import NAMED, Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

#: a leader that is gone is replaced within 15 s where somebody can
REPLACED_MS = 15_000
LATE_AT_MOST = 200

WORDS = {
    "attention.schedule_late": Words(N_("Schedule {name} is {late} late")),
    "attention.schedules_late": Words(N_("{count} schedules are late: {names}")),
    "attention.no_leader": Words(
        N_("Nobody looks after the fleet"),
        N_("No worker leads: schedules, retries that were lost and tasks of dead workers rest until one is started"),
    ),
}


def late(look: Look) -> Iterable[Attention]:
    """Each late schedule by its name, or many in one."""
    found = []
    way, moment = look.snapshot.publisher(), look.store.wall_ms()
    for entry in look.store.due_schedules(LATE_AT_MOST):
        if not insight.overdue(entry.next_at, moment):
            continue
        try:
            planned = load(entry.body)
        except UsageError:  # the page tells what cannot be read
            continue
        now = insight.look(planned, entry.next_at, moment, leader=look.snapshot.leader, way=way)
        found.append((entry.name, now))
    if not found:
        return
    first = min(found, key=lambda one: one[1].due_ms)
    name, now = first
    yield Attention(
        key="schedule_late" if len(found) > 1 else f"schedule_late:{name}",
        covers="schedule_late:" if len(found) > 1 else "",
        severity="retrying" if look.snapshot.leader else "dead",
        code="attention.schedule_late" if len(found) == 1 else "attention.schedules_late",
        params={
            "name": name,
            "count": len(found),
            "seconds": now.late_ms // 1000,
            "since": now.due_ms,
            "names": "\n".join(one for one, _ in found[:NAMED]),
        },
        facts=(now.why,) if now.why is not None else (),
        since_ms=now.due_ms,
        verbs=(*((("start_worker", ""),) if not look.snapshot.leader else ()), ("open_schedule", name)),
    )


def leaderless(look: Look) -> Iterable[Attention]:
    """Nobody fires schedules, takes over lost tasks or sends what was left, although there is something to look after;
    not in the moments in which one leader follows another.
    """
    snapshot = look.snapshot
    if snapshot.leader or look.now_ms - snapshot.leaderless_ms < REPLACED_MS:
        return
    if not snapshot.broker.connected:
        return  # who leads gives it up then, and another worker could not lead either
    cared = sum(look.number(status) for status in ACTIVE - {Status.HELD})
    if cared or snapshot.workers or look.store.schedules():
        yield Attention(
            key="no_leader",
            severity="warning",
            code="attention.no_leader",
            params={"tasks": cared},
            since_ms=snapshot.leaderless_ms,
            verbs=(("start_worker", ""), ("open_workers", "")),
        )
