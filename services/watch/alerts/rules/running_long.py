"""A task runs well past the 95th percentile of its type and seems to hang, or several of a type are past it at once.

One task past it is nothing: one of twenty is, day and night.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.fleet.worker import SlotState
from services.domain.text.message import Message, Param
from services.monitor.waits import hung
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure, Reads, past_of

DEFAULT = Rule(
    name="running_long", measure="running_long", limits={"hanging": 1.0, "together": 3.0}, for_s=60, calm_s=120,
    severity=WARNING,
)  # fmt: skip
#: tasks that are named, and ids in the filter
NAMED, ASKED = 2, 50


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for all that seem to hang, and one for each type and platform of which several are slow."""
    fleet = look.snapshot.fleet()
    hangs = hung.slots(fleet, look.eyes.usual, look.now_ms)
    if (least := rule.limit("hanging")) and len(hangs) >= least:
        usual = look.eyes.usual(hangs[0].task_type, hangs[0].shop)
        told: dict[str, Param] = {
            "type": hangs[0].task_type,
            "shop": look.eyes.name(hangs[0].shop),
            "usual_s": round(usual.usual_s, 1),
        }
        yield _finding(
            look, rule, "hangs", hangs, Message("alert.hanging", {"n": len(hangs), **told, **_ran(look, hangs[0])}),
            Message("alert.cause_hanging", told), round(hangs[0].since + usual.hangs_s * 1000),
        )  # fmt: skip
    for slow in hung.together(fleet, look.eyes.usual_there, look.now_ms):
        if not (least := rule.limit("together")) or len(slow.slots) < least:
            continue
        about: dict[str, Param] = {
            "type": slow.task_type,
            "platform": slow.platform,
            "nearly_s": round(slow.usual.nearly_all_s, 1),
        }
        last = slow.slots[min(hung.TOGETHER, len(slow.slots)) - 1]
        yield _finding(
            look, rule, f"slow:{slow.task_type}:{slow.platform}", slow.slots,
            Message("alert.slow", {"n": len(slow.slots), "of": slow.running, **about}),
            Message("alert.cause_slow", {"platform": slow.platform}),
            round(last.since + slow.usual.nearly_all_s * 1000),
        )  # fmt: skip


def _finding(
    look: Look, rule: Rule, key: str, slots: Sequence[SlotState], title: Message, cause: Message, since_ms: int
) -> Finding:
    facts = tuple(
        Message("task.long_of", {"type": one.task_type, "shop": look.eyes.name(one.shop), **_ran(look, one)})
        for one in slots[:NAMED]
    )
    return Finding(
        rule=rule.name,
        key=key,
        words=Words(title=title, facts=facts, cause=cause, next=Message("alert.next_long")),
        count=len(slots),
        names=look.eyes.names({one.shop for one in slots}),
        shops=tuple(sorted({one.shop for one in slots})),
        since_ms=since_ms,
        scope=f"id:{','.join(one.task_id for one in slots[:ASKED])}",
    )


def _ran(look: Look, slot: SlotState) -> dict[str, int]:
    return {"seconds": (look.now_ms - slot.since) // 1000}


def keeps(look: Look) -> Mapping[str, int]:
    """How many seem to hang, and the most of one type and platform that are slow at once."""
    fleet, now = look.snapshot.fleet(), look.now_ms
    slow = hung.together(fleet, look.eyes.usual_there, now)
    return {
        "hanging": len(hung.slots(fleet, look.eyes.usual, now)),
        "together": max((len(one.slots) for one in slow), default=0),
    }


MEASURE = Measure(
    DEFAULT,
    find,
    past_of(*(Reads(number=name, limit=name, matter=name, zero_is_off=True) for name in DEFAULT.limits)),
    keeps,
)
