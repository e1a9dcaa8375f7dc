"""One step of the watch: what rules see now against the incidents of before. Pure; whoever leads commits its answer.

No message is ever sent twice for one step of an incident, and no matter has two open incidents: what several rules see
of one matter, and what several shops have of one cause, is one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.alerts.incident import (
    AGAIN,
    ESCALATED,
    FACTS_KEPT,
    GROWTH,
    LINES_KEPT,
    NAMES_KEPT,
    RAISED,
    RESOLVED,
    SHOPS_KEPT,
    TOLD_KEPT,
    WORSE,
    Finding,
    Incident,
    Line,
    Told,
    related,
)
from services.domain.alerts.rule import SEVERITIES, Rule
from services.domain.text.message import Message, Param

#: whether there is a channel for who is named so
Reaches = Callable[[Collection[str]], bool]


class Notice(msgspec.Struct, frozen=True):
    """A message to send: of the incident as it stood then."""

    incident: Incident
    told: Told


class Changes(msgspec.Struct):
    """What a step decided. ``opened`` have no id yet: they wait, and the next step raises them."""

    opened: list[Incident] = msgspec.field(default_factory=list)
    changed: list[Incident] = msgspec.field(default_factory=list)
    dropped: list[Incident] = msgspec.field(default_factory=list)  #: they were gone before anybody was told
    resolved: list[Incident] = msgspec.field(default_factory=list)
    notices: list[Notice] = msgspec.field(default_factory=list)


def judge(
    findings: Sequence[Finding],
    incidents: Iterable[Incident],
    rules: Mapping[str, Rule],
    now: int,
    unknown: Collection[str] = (),
    reaches: Reaches = lambda _to: False,
) -> Changes:
    """``now``: UTC ms by the store's clock. ``unknown``: rules that could not look: what they saw last stays as it is.
    What nobody could be told is told once it ``reaches`` somebody.

    Disabled rules see nothing.
    """
    changes = Changes()
    known = sorted((one for one in incidents if not one.resolved_at), key=lambda one: (one.first_at, one.id, one.key))
    seen = [one for one in findings if one.rule in rules and rules[one.rule].enabled]
    groups, fresh = _groups(seen, known)
    for incident in known:
        group = groups.get(incident.key, ())
        if group:
            _holds(changes, incident, group, rules, now, reaches)
        elif not any(source in unknown for source in incident.sources):
            _gone(changes, incident, now)
    for group in fresh:
        changes.opened.append(_opened(group, rules, now))
    return changes


def _groups(
    findings: Sequence[Finding], known: Sequence[Incident]
) -> tuple[dict[str, list[Finding]], list[list[Finding]]]:
    """What is seen of each known incident, and what is new: each matter once."""
    groups: dict[str, list[Finding]] = {}
    fresh: list[list[Finding]] = []
    for finding in findings:
        same = [one for one in known if related(one.key, finding.key)]
        if same:
            exact = next((one for one in same if one.key == finding.key), same[0])
            groups.setdefault(exact.key, []).append(finding)
            continue
        group = next((one for one in fresh if related(one[0].key, finding.key)), None)
        if group is None:
            fresh.append([finding])
        else:
            group.append(finding)
    return groups, fresh


def _opened(group: Sequence[Finding], rules: Mapping[str, Rule], now: int) -> Incident:
    first = max(group, key=lambda one: one.stage)
    began = min(now, first.since_ms or now)
    incident = Incident(key=first.key, rule=rules[first.rule], words=first.words, first_at=began, stage=first.stage)
    return _as_seen(incident, group)


def _as_seen(incident: Incident, group: Sequence[Finding]) -> Incident:
    """With its extent and words as they are now; what other rules see of it are further facts."""
    main = next((one for one in group if one.rule == incident.rule.name), group[0])
    others = [one.words.title for one in group if one.words.title != main.words.title]
    facts = (*main.words.facts, *others)[:FACTS_KEPT]
    count = max(one.count for one in group)
    # as many as one of them says, in the title or among the facts: those of all together are more than anybody counted
    widest = max(group, key=lambda one: (bool(one.names), one.count, one is main))
    cause = main.words.cause or next((one.words.cause for one in group if one.words.cause is not None), None)
    return replace(
        incident,
        rule=_as_known(incident.rule, main),
        sources=tuple(sorted({one.rule for one in group})),
        words=replace(main.words, facts=facts, cause=cause),
        count=count,
        worst=max(incident.worst, count),
        of=max(one.of for one in group),
        names=widest.names[:NAMES_KEPT],
        shops=widest.shops[:SHOPS_KEPT],
        scope=main.scope or next((one.scope for one in group if one.scope), ""),
        pause=main.pause or next((one.pause for one in group if one.pause), ""),
        fingerprint=next((one.fingerprint for one in group if one.fingerprint), incident.fingerprint),
        passed=incident.passed if incident.raised_at else all(one.passed for one in group),
    )


def _as_known(rule: Rule, finding: Finding) -> Rule:
    """As people decided about what it found."""
    if finding.once:
        rule = replace(rule, again_s=0, escalate_s=0)
    return replace(rule, channels=finding.to) if finding.to else rule


def _holds(
    changes: Changes,
    before: Incident,
    group: Sequence[Finding],
    rules: Mapping[str, Rule],
    now: int,
    reaches: Reaches,
) -> None:
    worst = max(group, key=lambda one: one.stage)
    worse = _is_worse(before, worst, rules[worst.rule], now)
    known = replace(before, rule=rules[worst.rule], stage=worst.stage) if worse else before
    due = _due(known, group, rules, now)
    if not known.raised_at and not due:
        return  # nobody reads it yet, so its numbers need not be written each time
    if due and (not known.raised_at or _rank(due[0]) < _rank(known.rule)):
        known = replace(known, rule=due[0])
    incident = _as_seen(known, group)
    channels = [name for rule in due for name in rule.channels]
    if not incident.raised_at:
        incident = _line(replace(incident, raised_at=now, grew=incident.count), now, "alert.line_raised")
        incident = _tell(changes, incident, RAISED, channels, now)
    else:
        if incident.calm_since:
            incident = _line(replace(incident, calm_since=0), now, "alert.line_back")
        if worse:
            incident = _line(replace(incident, grew=incident.count), now, "alert.line_worse")
            incident = _tell(changes, incident, WORSE, _everybody(incident), now)
        elif incident.count >= GROWTH * incident.grew and incident.count > incident.grew:
            incident = _line(replace(incident, grew=incident.count), now, "alert.line_grew", n=incident.count)
        incident = _unmute(changes, incident, worse, now)
        incident = _tell_others(changes, incident, channels, now)
        incident = _remind(changes, incident, now, reaches)
    if incident != before:
        changes.changed.append(incident)


def _due(incident: Incident, group: Sequence[Finding], rules: Mapping[str, Rule], now: int) -> list[Rule]:
    """The rules that have seen it for as long as each wants, the most severe first; its own as it was when it began."""
    found: dict[str, Rule] = {}
    for one in group:
        own = one.rule == incident.rule.name
        rule = incident.rule if own else rules[one.rule]
        since = incident.first_at if own else one.since_ms or incident.first_at
        if now - since >= rule.for_s * 1000:
            found[rule.name] = rule
    return sorted(found.values(), key=lambda rule: (_rank(rule), rule.name != incident.rule.name))


def _rank(rule: Rule) -> int:
    return SEVERITIES.index(rule.severity)


def _tell_others(changes: Changes, incident: Incident, channels: Sequence[str], now: int) -> Incident:
    """Whom only a rule names that came to see the same matter later. Somebody who is on it, or muted it, is enough."""
    heard = {name for one in incident.told for name in one.to}
    others = [name for name in channels if name not in heard]
    if not others or incident.answer.answered_by or incident.muted(now):
        return incident
    return _tell(changes, incident, RAISED, others, now)


def _is_worse(incident: Incident, worst: Finding, rule: Rule, now: int) -> bool:
    """Whether it has become worse than was told, for as long as the rule that sees so wants. A mute is over first,
    unless it lasts until just that.
    """
    if worst.stage <= incident.stage or (incident.muted(now) and not incident.answer.changes_from):
        return False
    return now - (worst.since_ms or now) >= rule.for_s * 1000


def _unmute(changes: Changes, incident: Incident, worse: bool, now: int) -> Incident:
    """End a mute that was to last until the matter changes, and tell of that; ``worse``: it is told already."""
    answer = incident.answer
    grew = incident.count > answer.changes_from and incident.count >= GROWTH * answer.changes_from
    if not answer.changes_from or not incident.muted(now) or not (worse or grew):
        return incident
    incident = replace(incident, unmuted=answer.muted_at)
    return incident if worse else _tell(changes, incident, WORSE, _everybody(incident), now)


def _everybody(incident: Incident) -> tuple[str, ...]:
    """Who has heard of it, and who is to by the rule that it goes by now."""
    return tuple(dict.fromkeys((*incident.rule.channels, *(name for one in incident.told for name in one.to))))


def _remind(changes: Changes, incident: Incident, now: int, reaches: Reaches) -> Incident:
    """Escalate or tell again, where it is time and nobody has answered or muted it; asked to escalate, at once, as what
    reached nobody is told once it can.
    """
    rule, answer = incident.rule, incident.answer
    if answer.escalate_at > incident.escalated_at:
        return _escalate(changes, incident, now)
    if incident.muted(now) or answer.answered_by or incident.passed:
        return incident
    if rule.escalate_s and not incident.escalated_at and now - incident.raised_at >= rule.escalate_s * 1000:
        return _escalate(changes, incident, now)
    late = rule.again_s and now - incident.told_at >= rule.again_s * 1000
    if late or (incident.reached_nobody and reaches(_everybody(incident))):
        return _tell(changes, incident, AGAIN, _everybody(incident), now)
    return incident


def _escalate(changes: Changes, incident: Incident, now: int) -> Incident:
    incident = _line(replace(incident, escalated_at=now), now, "alert.line_escalated")
    return _tell(changes, incident, ESCALATED, incident.rule.escalate_to, now)


def _gone(changes: Changes, before: Incident, now: int) -> None:
    if not before.raised_at:
        changes.dropped.append(before)
        return
    incident = before if before.calm_since else _line(replace(before, calm_since=now), now, "alert.line_calm")
    if now - incident.calm_since < incident.rule.calm_s * 1000:
        if incident is not before:
            changes.changed.append(incident)
        return
    incident = _line(replace(incident, resolved_at=now), now, "alert.line_resolved")
    if (incident.answer.changes_from or not incident.muted(now)) and not incident.passed:  # to be over is a change, too
        incident = _tell(changes, incident, RESOLVED, _everybody(incident), now)
    changes.resolved.append(incident)


def _tell(changes: Changes, incident: Incident, what: str, to: Iterable[str], now: int) -> Incident:
    told = Told(step=incident.step + 1, what=what, at=now, to=tuple(dict.fromkeys(to)))
    incident = replace(incident, step=told.step, told_at=now, told=(*incident.told, told)[-TOLD_KEPT:])
    changes.notices.append(Notice(incident, told))
    return incident


def _line(incident: Incident, now: int, code: str, **params: Param) -> Incident:
    return replace(incident, lines=(*incident.lines, Line(at=now, message=Message(code, params)))[-LINES_KEPT:])
