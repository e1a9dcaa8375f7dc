"""What who takes over must know: the sentences of the page, and the acts of people put together. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from services.domain import audit
from services.domain.audit import AuditEntry
from services.domain.gates import quiet_hours
from services.domain.insight import cause
from services.domain.promises.holds import OF_FLOW, OF_LOGIN, OF_SOURCE, OF_WORKERS, OPERATOR
from services.domain.task import classify
from services.domain.text.sentences import N_, NN_

#: acts that only write down what others did
_LEFT_OUT = ("audit.", "reveal")
NAMED = 3

SENTENCES: dict[str, str] = {
    "handover.waiting": NN_("{n:,} task waits", "{n:,} tasks wait"),
    "handover.running": NN_("{n:,} task is running", "{n:,} tasks are running"),
    "handover.unheard": NN_(
        "{what}; of {n:,} nobody knows whether it still runs: no word from its worker",
        "{what}; of {n:,} nobody knows whether they still run: no word from their workers",
    ),
    "handover.retrying": NN_("{n:,} task failed and is tried again", "{n:,} tasks failed and are tried again"),
    "handover.dead": NN_("{n:,} dead letter is open", "{n:,} dead letters are open"),
    "handover.held": NN_("{n:,} task is held until a person decides", "{n:,} tasks are held until a person decides"),
    "handover.succeeded": NN_("{n:,} task has succeeded in this time", "{n:,} tasks have succeeded in this time"),
    "handover.paused": N_("{scope}: paused by {by} since {at}: {reason}"),
    "handover.paused_unsaid": N_("{scope}: paused by {by} since {at}, no reason given"),
    "handover.quiet_hours": N_("{scope}: nothing starts until {ends}, quiet hours of {by}: {reason}"),
    "handover.quiet_hours_unread": quiet_hours.UNREAD,
    "handover.draining": N_("Worker {name} is draining: it takes no new tasks until somebody resumes it"),
    "handover.draining_more": NN_("{n} more worker is draining", "{n} more workers are draining"),
    "handover.switches_more": NN_("{n} more pause or quiet hours", "{n} more pauses and quiet hours"),
    "handover.at_least": N_("{what}, or more: no further was counted"),
    "handover.cause_new": NN_(
        "New: {cause}, {n:,} dead letter, {where}, since {at}", "New: {cause}, {n:,} dead letters, {where}, since {at}"
    ),
    "handover.cause_more": NN_(
        "{cause}, {n:,} dead letter, {where}, the last at {at}",
        "{cause}, {n:,} dead letters, {where}, the last at {at}",
    ),
    "handover.shop": N_("in {shop}"),
    "handover.shops": NN_("in {n:,} shop", "in {n:,} shops"),
    "handover.causes_more": NN_("{n} more cause of dead letters", "{n} more causes of dead letters"),
    "handover.incident_open": N_("{id} since {at}: {title}; nobody has answered"),
    "handover.incident_answered": N_("{id} since {at}: {title}; {who} is on it"),
    "handover.incident_muted": N_("{id} since {at}: {title}; told to nobody until {until}"),
    "handover.incident_muted_changed": N_("{id} since {at}: {title}; told to nobody until it changes"),
    "handover.incident_calming": N_("{id} since {at}: {title}; not seen any more, not yet over"),
    "handover.incident_resolved": N_("{id} {title}: over, from {at} to {until}"),
    "handover.silent": N_("Worker {name} was not heard of from {at} to {until}"),
    "handover.silent_lost": N_("Worker {name} is not heard of since {at}; it was given up at {until}"),
    "handover.silent_now": N_("Worker {name} is not heard of since {at}"),
    "handover.deploy": N_("Version {name} of the worker came at {at}"),
    "handover.gap": N_("Nothing was recorded on this computer from {at} to {until}"),
    "handover.recorded_since": N_("Recorded on this computer since {at} only: of workers before that nothing is told"),
    "handover.no_record": N_("Nothing was recorded on this computer: ask for it where the leader runs"),
    "handover.acts": N_("{who}: {action}, {n:,} times: {names}"),
    "handover.act": N_("{who}: {action}: {names}"),
    "handover.acts_alone": N_("{who}: {action}, {n:,} times"),
    "handover.act_alone": N_("{who}: {action}"),
    "handover.acts_cut": N_("Only the last {n:,} acts were looked at; the audit has all of them"),
    "handover.promise_broken": N_("{name} is broken in {n:,} of {of:,} shops: {why}"),
    "handover.promise_at_risk": N_("{name} is at risk in {n:,} of {of:,} shops, first at {at}: {why}"),
    "handover.unknown_why": N_("why is not known"),
    "handover.nobody_leads": N_("Nobody leads the fleet: nothing is judged, fired or repaired until somebody does"),
    "handover.nobody_watches": N_("Nobody watches for alerts now: incidents are as they were seen last"),
    "handover.promises_old": N_("Promises were judged {span} ago for the last time"),
    "handover.broker_lost": N_("The broker does not answer: what waits there is not known"),
    "handover.no_advice": N_("Nothing is advised on what may be over: bring that back first"),
    "handover.item": N_("For {who}: {what}"),
    "handover.next": N_("{id}: {step}"),
    "handover.nothing_broke": N_("Nothing broke in this time"),
    "handover.nobody_acted": N_("Nobody did anything in this time"),
    "handover.nobody_needed": N_("Nothing waits for a person"),
    "handover.promises_kept": NN_("{n} promise is kept", "All {n} promises are kept"),
    "handover.no_promises": N_("Nothing is promised"),
    "handover.title": N_("Handover of {fleet}, {at} to {until} ({zone})"),
}
_OF: dict[str, tuple[str, ...]] = {
    OF_LOGIN: ("session",),
    OF_WORKERS: (
        "broker", "unsent", "no_workers", "no_takers", "no_way", "no_leader", "lane_unserved", "workers_silent",
        "home_silent", "cut_off", "growing",
    ),
}  # fmt: skip


def whose(code: str, kind: str = "") -> str:
    """Who deals with an attention item, as the code of a sentence; ``kind``: of the failures it tells of."""
    if kind in cause.OF_MAKER:
        return OF_FLOW
    if kind in cause.OF_CREATOR:
        return OF_SOURCE
    if kind in (classify.LOGIN_EXPIRED, classify.CAPTCHA):
        return OF_LOGIN
    name = code.removeprefix("attention.")
    return next((who for who, heads in _OF.items() if name.startswith(heads)), OPERATOR)


#: headings of its parts, in their order
NOW, BROKE, ACTS, WAITS, PROMISES, NEXT = "now", "broke", "acts", "waits", "promises", "next"
PARTS: dict[str, str] = {
    NOW: N_("How it stands"),
    BROKE: N_("What broke"),
    ACTS: N_("Who did what"),
    WAITS: N_("What waits for whom"),
    PROMISES: N_("Promises at risk"),
    NEXT: N_("What to do next"),
}


class Acts(msgspec.Struct, frozen=True):
    """What one person did of one kind."""

    who: str
    action: str
    count: int
    targets: tuple[str, ...]  #: the first few, the latest first
    more: int  #: targets that are not named


def of_people(entries: Iterable[AuditEntry]) -> list[Acts]:
    """Acts by person and kind: who did most first, and of each what was done most."""
    groups: dict[tuple[str, str], list[AuditEntry]] = {}
    for entry in entries:
        if not entry.action.startswith(_LEFT_OUT):
            groups.setdefault((entry.who, entry.action), []).append(entry)
    busy = Counter(who for (who, _action), group in groups.items() for _one in group)
    order = sorted(groups, key=lambda key: (-busy[key[0]], key[0], -len(groups[key]), key[1]))
    return [_acts(who, action, groups[who, action]) for who, action in order]


def _acts(who: str, action: str, group: list[AuditEntry]) -> Acts:
    targets = tuple(dict.fromkeys(target for entry in group for target in entry.target))
    return Acts(who, action, len(group), targets[:NAMED], len(targets) - len(targets[:NAMED]) + audit.unnamed(group))
