"""What would make a fleet fit its work better, from its own figures: each advice with the measurement behind it. Pure.

Nothing is said of what was measured too seldom, and nothing that the figures do not bear out: a fleet that keeps up
gets no advice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from services.domain.gates.limit import LimitNow
from services.domain.insight.forecast.durations import NOTHING, Runs
from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_, NN_
from services.domain.upkeep.health import NOTE, Finding

HOUR_S = 3600
#: successes of a type, or of a lane, before anything is said of how long it runs
ENOUGH = 20
#: of the slots so much is work where nothing waits long; above it queues grow by chance alone
LOAD = 0.8
#: slots beyond these many times the load are idle; fewer than so many are nobody's concern
IDLE, IDLE_LEAST = 4.0, 8
#: a time-out under so many times the longest runs ends good ones; above so many, what hangs holds slots in vain
NEAR, FAR = 1.25, 20.0
#: and what is advised
ROOM, LEAST_S = 3.0, 60
#: of the last attempts that ended so many by time-out are a matter of the time-out
TIMED_OUT = 0.02
#: a lane waits when its oldest has waited so long
WAITED_S = 60.0
#: seconds of its own work that a worker may hold ahead before others should have had it
AHEAD_S = 5.0

SENTENCES: dict[str, str] = {
    "tuning.slots": N_(
        "Slots: {came} tasks came within the last hour and run {mean} s each, which keeps {load} slots busy; there are"
        " {slots}, {busy} of them busy, and {waiting} tasks wait"
    ),
    "tuning.slots.remedy": NN_(
        "{wanted} slot would keep up: `worker slots WORKER N`, or another worker.",
        "{wanted} slots would keep up: `worker slots WORKER N`, or another worker.",
        by="wanted",
    ),
    "tuning.idle": N_(
        "Slots: {came} tasks came within the last hour and run {mean} s each, which keeps {load} slots busy; there are"
        " {slots}, and nothing waits"
    ),
    "tuning.idle.remedy": NN_(
        "{wanted} slot would do; the others cost memory and, with browsers, profiles.",
        "{wanted} slots would do; the others cost memory and, with browsers, profiles.",
        by="wanted",
    ),
    "tuning.lane": N_(
        "Lane {lane}: {waiting} tasks wait, the oldest for {waited} s; {came} came within the last hour and run {mean}"
        " s each, which needs {load} slots; {kept} are kept for it while other lanes use {others}"
    ),
    "tuning.lane.remedy": N_("Keep {wanted} for it: `worker slots WORKER N,{lane}={wanted}-`."),
    "tuning.timeout_near": N_(
        "Time-out of {type}: {timeout} s, where 95 of 100 run {usual} s and the longest of {count} took {longest} s;"
        " {cut} of the last {ended} that ended were cut off"
    ),
    "tuning.timeout_near.remedy": N_("Set timeout_s of {type} to {wanted}: type export, edit, type import."),
    "tuning.timeout_far": N_(
        "Time-out of {type}: {timeout} s, where the longest of {count} took {longest} s; {cut} of the last {ended} that"
        " ended hung until then, each with its slot and its shop"
    ),
    "tuning.timeout_far.remedy": N_("Set timeout_s of {type} to {wanted}: type export, edit, type import."),
    "tuning.limit": N_(
        "Limit of {scope}: {running} of {most} run; shops that wait for nothing else: {shops}, free slots: {free}"
    ),
    "tuning.limit.remedy": N_("If the platform bears it, let more run: `queue limit`, or concurrency of the type."),
    "tuning.rate": N_(
        "Limit of {scope}: {started} of {most} started in this minute; shops that wait for nothing else: {shops}, free"
        " slots: {free}"
    ),
    "tuning.rate.remedy": N_(
        "If the platform bears it, let more start: `queue limit`, or rate_per_minute of the type."
    ),
    "tuning.limit_idle": NN_(
        "Limit of {scope}: it lets {most} run, and the whole fleet has {slots} slot",
        "Limit of {scope}: it lets {most} run, and the whole fleet has {slots} slots",
        by="slots",
    ),
    "tuning.limit_idle.remedy": N_("It holds nothing back; take it away, or set what the platform bears."),
    "tuning.ahead": N_(
        "Prefetch: {worker} holds {tasks} tasks ahead of its {slots} slots, which is {seconds} s of work that others"
        " could begin"
    ),
    "tuning.ahead.remedy": N_(
        "What it runs takes unevenly long: let long types run elsewhere (`worker refuse`), then it holds what is short."
    ),
}


class TypeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """``ended``: the last attempts that ended, ``cut`` of them by the time-out."""

    name: str
    timeout_s: int
    runs: Runs = NOTHING
    ended: int = 0
    cut: int = 0


class LaneFacts(msgspec.Struct, frozen=True, kw_only=True):
    """``came``: tasks within the last hour, not ``counted``: at least; ``kept``: slots that are kept for it, ``busy``:
    those it uses.
    """

    lane: str
    came: int = 0
    counted: bool = True
    runs: Runs = NOTHING
    waiting: int = 0
    waited_s: float = 0.0
    kept: int = 0
    busy: int = 0

    @property
    def load(self) -> float:
        """Slots that its work keeps busy."""
        return self.came / HOUR_S * self.runs.mean_s

    @property
    def known(self) -> bool:
        """Whether that was measured."""
        return self.came > 0 and len(self.runs.seconds) >= ENOUGH


class WorkerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """``ahead``: messages that it holds and that nobody works on; ``mean_s`` of what it runs."""

    name: str
    slots: int
    ahead: int
    mean_s: float


class FleetFacts(msgspec.Struct, frozen=True, kw_only=True):
    """``slots`` and ``busy`` of workers that take work; ``waiting`` tasks that could start if there were a slot."""

    slots: int
    busy: int
    waiting: int
    lanes: Sequence[LaneFacts] = ()
    types: Sequence[TypeFacts] = ()
    limits: Sequence[LimitNow] = ()
    workers: Sequence[WorkerFacts] = ()


def advice(facts: FleetFacts) -> list[Finding]:
    """Every advice that these figures bear out: where so many came that nobody counted on, the load is not known."""
    found = [*_of_limits(facts), *_of_workers(facts)]
    if all(lane.counted for lane in facts.lanes):
        found = [*_of_slots(facts), *_of_lanes(facts), *found]
    return found + [one for kind in facts.types for one in _of_timeout(kind)]


def _of_slots(facts: FleetFacts) -> Iterable[Finding]:
    known = [lane for lane in facts.lanes if lane.known]
    load = sum(lane.load for lane in known)
    came = sum(lane.came for lane in known)
    if not facts.slots or not came:
        return
    params: dict[str, Param] = {
        "came": came,
        "mean": _short(load * HOUR_S / came),
        "load": _short(load),
        "slots": facts.slots,
        "busy": facts.busy,
        "waiting": facts.waiting,
    }
    wanted = max(1, math.ceil(load / LOAD))
    if facts.waiting and facts.busy >= facts.slots and wanted > facts.slots:
        yield _advise("tuning.slots", wanted=wanted, **params)
    # where the load of a lane is not known nobody can say that slots are idle
    measured = len(known) == sum(1 for lane in facts.lanes if lane.came)
    idle = facts.slots >= IDLE_LEAST and facts.slots > IDLE * wanted and facts.busy * IDLE < facts.slots
    if measured and idle and not facts.waiting:
        yield _advise("tuning.idle", wanted=max(2, 2 * wanted), **params)


def _of_lanes(facts: FleetFacts) -> Iterable[Finding]:
    """A lane that waits although there are slots for all: others have them."""
    load = sum(lane.load for lane in facts.lanes if lane.known)
    if load > facts.slots * LOAD:
        return
    for lane in facts.lanes:
        others = sum(other.busy for other in facts.lanes if other is not lane)
        wanted = math.ceil(lane.load / LOAD)
        waits = lane.waiting and lane.waited_s >= max(WAITED_S, 3 * lane.runs.mean_s)
        if waits and lane.known and lane.kept < wanted < facts.slots and lane.busy < wanted and others:
            yield _advise(
                "tuning.lane",
                lane=lane.lane,
                waiting=lane.waiting,
                waited=round(lane.waited_s),
                came=lane.came,
                mean=_short(lane.runs.mean_s),
                load=_short(lane.load),
                kept=lane.kept,
                others=others,
                wanted=wanted,
            )


def _of_timeout(kind: TypeFacts) -> Iterable[Finding]:
    count = len(kind.runs.seconds)
    if count < ENOUGH or kind.timeout_s <= 0:
        return
    longest = kind.runs.seconds[-1]
    wanted = _round_up(max(LEAST_S, ROOM * longest))
    params: dict[str, Param] = {"type": kind.name, "timeout": kind.timeout_s, "wanted": wanted}
    params |= {"count": count, "longest": _short(longest)}
    params |= {"cut": kind.cut, "ended": kind.ended}
    cut_often = kind.ended >= ENOUGH and kind.cut >= TIMED_OUT * kind.ended
    if kind.timeout_s < NEAR * longest and cut_often and wanted > kind.timeout_s:
        yield _advise("tuning.timeout_near", usual=_short(kind.runs.at(0.95)), **params)
    elif kind.timeout_s > FAR * longest and kind.timeout_s > 2 * wanted and kind.cut:
        yield _advise("tuning.timeout_far", **params)


def _of_limits(facts: FleetFacts) -> Iterable[Finding]:
    free = facts.slots - facts.busy
    for now in facts.limits:
        one, held = now.limit, now.waiting > 0 and free > 0
        params: dict[str, Param] = {"scope": one.scope, "shops": now.waiting, "free": free}
        if held and 0 < one.concurrency <= now.running:
            yield _advise("tuning.limit", running=now.running, most=one.concurrency, **params)
        elif held and 0 < one.per_minute <= now.started:
            yield _advise("tuning.rate", started=now.started, most=one.per_minute, **params)
        elif 0 < facts.slots < one.concurrency and not one.per_minute:
            yield _advise("tuning.limit_idle", scope=one.scope, most=one.concurrency, slots=facts.slots)


def _of_workers(facts: FleetFacts) -> Iterable[Finding]:
    """Work that somebody holds while others are free."""
    for one in facts.workers if facts.busy < facts.slots else ():
        ahead_s = one.ahead * one.mean_s / max(1, one.slots)
        if ahead_s >= AHEAD_S:
            yield _advise("tuning.ahead", worker=one.name, tasks=one.ahead, slots=one.slots, seconds=round(ahead_s))


def _advise(code: str, **params: Param) -> Finding:
    remedy = Message(f"{code}.remedy", params)
    return Finding(level=NOTE, check="tuning", message=Message(code, params), remedy=remedy)


def _short(number: float) -> str:
    """Three figures say enough."""
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def _round_up(seconds: float) -> int:
    step = 10 if seconds < 300 else 60
    return math.ceil(seconds / step) * step
