"""A queue that grows: more comes in than goes out, and what would keep up."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.insight import flow
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

WORDS = {
    "attention.growing": Words(
        N_("The queue grows: {tasks_n} waiting"), N_("In {in} a minute, out {out} a minute; all slots are busy")
    ),
    "attention.growing_free": Words(
        N_("The queue grows: {tasks_n} waiting"), N_("In {in} a minute, out {out} a minute")
    ),
    "attention.growing_slots": Words(
        N_("The queue grows: {tasks_n} waiting"),
        N_("In {in} a minute, out {out} a minute; about {more} more slots would keep up"),
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """At most one, by the same answer as the headline."""
    found = look.flow
    if found is None or found.state != flow.GROWING:
        return
    facts = found.facts
    full = facts.slots > 0 and facts.busy >= facts.slots
    code = "growing_slots" if found.more_slots else "growing" if full else "growing_free"
    helps = {flow.START_WORKER, flow.MORE_SLOTS} & set(found.helps)
    verbs = [("open_workers", "")] if helps else []
    yield Attention(
        key="growing",
        severity="warning",
        code=f"attention.{code}",
        params={
            "tasks": facts.waiting,
            "in": f"{facts.rates.in_s * 60:.0f}",
            "out": f"{facts.rates.out_s * 60:.0f}",
            "more": found.more_slots,
        },
        since_ms=look.now_ms - round(facts.rates.window_s * 1000),
        verbs=(*verbs, ("open_tasks", "status:waiting")),
    )
