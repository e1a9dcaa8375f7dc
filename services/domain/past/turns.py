"""What changed, in sentences: quiet things left out, the same of many shops as one line, in order of time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from services.domain.alerts.incident import Incident, Words
from services.domain.audit import AuditEntry, parted, unnamed
from services.domain.past.frame import BROKER, LEADER, SHOP, SWITCH, WORKER, Change, Gap
from services.domain.past.lanes import GIVEN_UP, SILENT
from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_, NN_

#: the same change of other shops within so long is one matter
TOGETHER_MS = 60_000
#: names that one line says
NAMED = 3
#: kinds of turns besides those of things
ACT, GAP, ALERT, CAUSE, RUN = "act", "gap", "alert", "cause", "run"
#: states of shops that come and go by themselves with every failed attempt
QUIET = frozenset({"", "retrying"})
#: acts that only write down what others did, or are shown by what they changed
_LEFT_OUT = ("audit.",)

SENTENCES: dict[str, str] = {
    "past.shop_held": NN_("{names} has a task that a person must decide", "{n} shops have tasks to decide: {names}"),
    "past.shop_login": NN_("{names} must be logged in", "{n} shops must be logged in: {names}"),
    "past.shop_dead": NN_("{names} has dead letters", "{n} shops have dead letters: {names}"),
    "past.shop_stuck": NN_("{names} is stuck", "{n} shops are stuck: {names}"),
    "past.shop_breaker": NN_("{names} fails too often and rests", "{n} shops fail too often and rest: {names}"),
    "past.shop_unknown": NN_("Nobody knows how {names} does", "Nobody knows how {n} shops do: {names}"),
    "past.shop_paused": NN_("{names} is paused", "{n} shops are paused: {names}"),
    "past.shop_quiet_hours": NN_("{names} has quiet hours", "{n} shops have quiet hours: {names}"),
    "past.shop_well": NN_("{names} is well again", "{n} shops are well again: {names}"),
    "past.shop_known": NN_("It is known again how {names} does", "It is known again how {n} shops do: {names}"),
    "past.shop_other": NN_("{names} is in another state", "{n} shops are in another state: {names}"),
    "past.worker_came": NN_(
        "{name} has begun to work: version {version}, {slots} slot",
        "{name} has begun to work: version {version}, {slots} slots",
        by="slots",
    ),
    "past.worker_left": N_("{name} has left"),
    "past.worker_given_up": N_("{name} is given up: nothing was heard of it"),
    "past.worker_silent": N_("{name} is not heard of"),
    "past.worker_back": N_("{name} is heard of again"),
    "past.worker_cut_off": N_("{name} is cut off"),
    "past.worker_draining": N_("{name} takes no new tasks"),
    "past.worker_version": NN_(
        "{name} works with version {version}, before {old}: {slots} slot",
        "{name} works with version {version}, before {old}: {slots} slots",
        by="slots",
    ),
    "past.worker_slots": NN_(
        "{name} has {slots} slot, before {before}", "{name} has {slots} slots, before {before}", by="slots"
    ),
    "past.switch_paused": N_("{scope} is paused by {who}"),
    "past.switch_quiet_hours": N_("Quiet hours of {scope} have begun"),
    "past.switch_other": N_("{scope} is closed by {who}"),
    "past.switch_resumed": N_("{scope} is not paused any more"),
    "past.switch_quiet_over": N_("Quiet hours of {scope} are over"),
    "past.switch_open": N_("{scope} is open again"),
    "past.leader": N_("{name} leads"),
    "past.leader_none": N_("Nobody leads"),
    "past.broker_lost": N_("The broker does not answer"),
    "past.broker_blocked": N_("The broker takes no messages"),
    "past.broker_back": N_("The broker answers again"),
    "past.act": N_("{who}: {action} {target}"),
    "past.act_many": N_("{who}: {action} {target} and {more:,} more"),
    "past.act_ended": N_("{who}: {action} {target}, {outcome}"),
    "past.act_many_ended": N_("{who}: {action} {target} and {more:,} more, {outcome}"),
    "past.act_again": N_("{who}: {action} {target}, {n} times"),
    "past.act_again_ended": N_("{who}: {action} {target}, {n} times, {outcome}"),
    "past.alert": N_("Alert: {what}"),
    "past.alert_over": N_("This alert is over: {what}"),
    "past.cause_new": NN_("New cause in {n} shop: {what}", "New cause in {n} shops: {what}"),
    "past.run_missed": N_("Schedule {name}: nobody made its run"),
    "past.run_left_out": N_("Schedule {name}: its run was left out"),
    "past.run_late": N_("Schedule {name}: its run began {span} late"),
    "past.gap": N_("Nothing was recorded for {span}"),
}
_SHOPS = frozenset(code.removeprefix("past.shop_") for code in SENTENCES if code.startswith("past.shop_"))


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened."""

    at_ms: int  #: UTC ms, of the first
    kind: str  #: ``shop``, ``worker`` …, ``ACT`` or ``GAP``
    message: Message
    names: tuple[str, ...] = ()  #: of all that it happened to
    until_ms: int = 0  #: of the last that it says, where it says several
    alert: Words | None = None  #: what is told of an alert, as ``what``; whoever reads it has it in words
    title: Message | None = None  #: what a cause is called, likewise, where nobody named it


def of_alerts(incidents: Iterable[Incident], begin: int, end: int) -> Iterable[Turn]:
    """When somebody was to be told, and when it was over, after the first instant and not after the second."""
    for one in incidents:
        for code, at_ms in (("past.alert", one.raised_at), ("past.alert_over", one.resolved_at)):
            if one.raised_at and begin < at_ms <= end:
                yield Turn(at_ms=at_ms, kind=ALERT, message=Message(code), names=(one.id,), alert=one.words)


def turns(
    changes: Sequence[Change],
    acts: Iterable[AuditEntry] = (),
    gaps: Iterable[Gap] = (),
    moment_ms: int = 0,
    others: Iterable[Turn] = (),
) -> tuple[Turn, ...]:
    """In order of time, as changes and acts are; what came after ``moment_ms`` is not one with what was before."""
    found = list(others)
    found += _of_shops([one for one in changes if one.kind == SHOP], moment_ms)
    for change in changes:
        message = _MESSAGES[change.kind](change) if change.kind in _MESSAGES else None
        if message is not None:
            found.append(Turn(at_ms=change.at_ms, kind=change.kind, message=message, names=(change.name,)))
    found += _of_acts((entry for entry in acts if not entry.action.startswith(_LEFT_OUT)), moment_ms)
    found += [
        Turn(at_ms=gap.begin, kind=GAP, message=Message("past.gap", {"seconds": (gap.end - gap.begin) // 1000}))
        for gap in gaps
    ]
    return tuple(sorted(found, key=lambda turn: turn.at_ms))


def _is_near(before_ms: int, at_ms: int, moment_ms: int) -> bool:
    return at_ms - before_ms <= TOGETHER_MS and not before_ms <= moment_ms < at_ms


def _of_shops(changes: Sequence[Change], moment_ms: int) -> Iterable[Turn]:
    groups: dict[str, list[list[Change]]] = {}
    for change in changes:
        before, after = _head(change.before), _head(change.after)
        if before == after or (before in QUIET and after in QUIET):
            continue
        calm = "known" if before == "unknown" else "well"
        kind = calm if after in QUIET else after if after in _SHOPS else "other"
        bursts = groups.setdefault(kind, [])
        if not bursts or not _is_near(bursts[-1][-1].at_ms, change.at_ms, moment_ms):
            bursts.append([])
        bursts[-1].append(change)
    for kind, bursts in groups.items():
        for burst in bursts:
            names = tuple(dict.fromkeys(change.name for change in burst))
            said = ", ".join(names[:NAMED]) + (" …" if len(names) > NAMED else "")
            message = Message(f"past.shop_{kind}", {"n": len(names), "names": said})
            yield Turn(at_ms=burst[0].at_ms, kind=SHOP, message=message, names=names, until_ms=burst[-1].at_ms)


def _head(state: str) -> str:
    return state.partition("/")[0]


def _worker(change: Change) -> Message | None:
    (before, old, had), (after, version, slots) = _parts(change.before), _parts(change.after)
    params: dict[str, Param] = {"name": change.name, "version": version, "slots": slots, "before": had}
    if not before:
        return Message("past.worker_came", params)
    if version not in ("", old):  # started anew between two looks, or while nobody heard of it
        return Message("past.worker_version", params | {"old": old})
    if after == before:
        return Message("past.worker_slots", params) if slots != had else None
    if not after or after in ("gone", "stopped"):
        code = "given_up" if before in SILENT and after in GIVEN_UP else "left"
        return None if before == "gone" else Message(f"past.worker_{code}", params)
    if after in ("late", "silent"):  # late comes first, and silent is the same for longer
        return Message("past.worker_silent", params) if before not in ("late", "silent") else None
    if after == "running":
        return Message("past.worker_back", params)
    if after in ("draining", "stopping"):
        return Message("past.worker_draining", params) if before not in ("draining", "stopping") else None
    return Message("past.worker_cut_off", params) if after == "cut_off" else None


def _parts(state: str) -> tuple[str, str, str]:
    head, _space, rest = state.partition(" ")
    version, _space, slots = rest.partition(" ")
    return head, version, slots


def _switch(change: Change) -> Message:
    gate, _space, scope = change.name.partition(" ")
    params: dict[str, Param] = {"scope": scope, "who": change.after}
    if change.after:
        code = {"paused": "paused", "quiet_hours": "quiet_hours"}.get(gate, "other")
    else:
        code = {"paused": "resumed", "quiet_hours": "quiet_over"}.get(gate, "open")
    return Message(f"past.switch_{code}", params)


def _leader(change: Change) -> Message:
    return Message("past.leader", {"name": change.after}) if change.after else Message("past.leader_none")


def _broker(change: Change) -> Message:
    return Message(f"past.broker_{change.after or 'back'}")


_MESSAGES = {WORKER: _worker, SWITCH: _switch, LEADER: _leader, BROKER: _broker}


def _of_acts(entries: Iterable[AuditEntry], moment_ms: int) -> Iterable[Turn]:
    """The same of one person to many things is one line, and so is the same to one thing again and again."""
    bursts: list[list[AuditEntry]] = []
    newest: dict[tuple[str, str, str], tuple[list[AuditEntry], set[str]]] = {}
    for entry in entries:
        kind, things = (entry.who, entry.action, _ended(entry)), set(entry.target)
        burst, named = newest.get(kind, ([], set()))
        again = len(things) == 1 and things == named
        other = bool(things) and not things & named and not _is_repeated(burst)
        if not burst or not _is_near(burst[-1].at, entry.at, moment_ms) or not (again or other):
            burst, named = newest[kind] = [], set()
            bursts.append(burst)
        burst.append(entry)
        named |= things
    return map(_act, bursts)


def _is_repeated(burst: Sequence[AuditEntry]) -> bool:
    return len(burst) > 1 and burst[0].target == burst[1].target


def _ended(entry: AuditEntry) -> str:
    return parted(entry.outcome)[0] if entry.outcome and entry.outcome != "done" else ""


def _act(burst: Sequence[AuditEntry]) -> Turn:
    first = burst[0]
    names = tuple(dict.fromkeys(name for entry in burst for name in entry.target))
    params: dict[str, Param] = {"who": first.who, "action": first.action, "target": next(iter(names), "")}
    if _is_repeated(burst):
        code = "past.act_again"
        params["n"] = len(burst)
    elif len(names) > 1:
        code = "past.act_many"
        params["more"] = len(names) - 1 + unnamed(burst)
    else:
        code = "past.act"
    if outcome := _ended(first):
        code += "_ended"
        params["outcome"] = outcome
    return Turn(at_ms=first.at, kind=ACT, message=Message(code, params), names=names, until_ms=burst[-1].at)


def by_state(things: Mapping[tuple[str, str], str]) -> dict[str, tuple[str, ...]]:
    """Names of shops by the state they are in, the states in the order of their number."""
    found: dict[str, list[str]] = {}
    for (kind, name), state in things.items():
        if kind == SHOP:
            found.setdefault(_head(state), []).append(name)
    return {state: tuple(sorted(names)) for state, names in sorted(found.items(), key=lambda one: -len(one[1]))}
