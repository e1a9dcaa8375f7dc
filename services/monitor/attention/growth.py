"""A queue that grows: more comes in than goes out, and what would keep up."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.insight.forecast import flow
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

#: a queue in which nobody has waited so long yet may be a burst that is worked off in a moment
PATIENCE_MS = 30_000
#: slots that are added to one worker by one click; whether its machine bears more shows then
MORE_AT_ONCE = 16
WORDS = {
    "attention.growing": Words(N_("The queue grows: {tasks_n} waiting")),
    "attention.growing_lane": Words(N_("The {lane} lane grows: {tasks_n} waiting")),
}


def items(look: Look) -> Iterable[Attention]:
    """At most one, by the same answer as the headline."""
    found = look.flow
    if found is None or found.state != flow.GROWING:
        return
    if look.oldest is not None and look.now_ms - look.oldest.created_at < PATIENCE_MS:
        return
    facts = found.facts
    helps = {flow.START_WORKER, flow.MORE_SLOTS} & set(found.helps)
    verbs = [("open_workers", "")] if helps or facts.lane else []
    if (
        facts.lane
    ):  # a worker takes the lanes with which it was started, so what helps at once is more of those, or another
        verbs.insert(0, ("start_worker", ""))
    if facts.alone and found.more_slots:
        wanted = facts.slots + min(found.more_slots, MORE_AT_ONCE)
        verbs.insert(0, ("more_slots", f"{facts.alone}={wanted}"))
    since = look.now_ms - round(facts.rates.window_s * 1000)
    # nothing has grown for longer than the oldest has waited
    since = max(since, look.oldest.created_at) if look.oldest is not None else since
    yield Attention(
        key="growing",
        severity="warning",
        code="attention.growing_lane" if facts.lane else "attention.growing",
        params={
            "tasks": facts.waiting,
            "in_per_s": round(facts.rates.in_s, 3),
            "out_per_s": round(facts.rates.out_s, 3),
            "more": found.more_slots,
            "lane": facts.lane,
        },
        facts=flow.growth(found),
        since_ms=since,
        verbs=(*verbs, ("open_tasks", "status:waiting")),
    )
