"""Incidents, rules and channels in words. Pure but for the language."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from string import Formatter

from services import messages
from services.called import INCIDENT_WORDS, SEVERITY_WORDS
from services.domain.alerts import channel as channels
from services.domain.alerts import incident as incidents
from services.domain.alerts import rule as rules
from services.domain.alerts import text as sentences
from services.domain.alerts.channel import Channel
from services.domain.alerts.dry_run import DryRun
from services.domain.alerts.incident import ANSWERED, CALMING, MUTED, OPEN, RESOLVED, WAITING, Told
from services.domain.alerts.outbox import SENT_MS, Letter
from services.domain.alerts.rule import Rule
from services.domain.task.status import Status
from services.i18n import N_, _, is_chinese, ngettext, speaking
from services.monitor.alerts import wording
from services.monitor.alerts.queries import AlertsNow, ChannelNow, IncidentNow, RuleNow
from services.monitor.promises import Ahead
from views.support import instant, safe, shown, text
from views.support.words import shop as shop_words
from views.widgets.timeline import TimelineEntry

#: by severity: status name of its glyph, word
SEVERITIES: Mapping[str, tuple[str, str]] = {
    name: (glyph, SEVERITY_WORDS[name])
    for name, glyph in ((rules.CRITICAL, "dead"), (rules.WARNING, "warning"), (rules.NOTE, "unconfirmed"))
}
#: by state: status name, word
STATES: Mapping[str, tuple[str, str]] = {
    OPEN: ("warning", INCIDENT_WORDS[OPEN]),
    ANSWERED: ("running", INCIDENT_WORDS[ANSWERED]),
    MUTED: ("muted", INCIDENT_WORDS[MUTED]),
    CALMING: ("healthy", INCIDENT_WORDS[CALMING]),
    WAITING: ("waiting", INCIDENT_WORDS[WAITING]),
    RESOLVED: ("succeeded", INCIDENT_WORDS[RESOLVED]),
}
KINDS: Mapping[str, str] = {
    channels.DINGTALK: N_("DingTalk"),
    channels.FEISHU: N_("Feishu"),
    channels.WECOM: N_("WeCom"),
    channels.SLACK: "Slack",
    channels.MAIL: N_("Mail"),
    channels.WEBHOOK: N_("Webhook"),
}
LANGUAGES: Mapping[str, str] = {channels.EN: "English", channels.ZH: "中文"}
GROUPS: Mapping[str, str] = {rules.DUTY: N_("On duty"), rules.LEAD: N_("Escalation")}
#: the numbers of a rule
LIMITS: Mapping[str, str] = {
    "attempts": N_("Attempts at least"),
    "factor": N_("Factor"),
    "failed": N_("Failed attempts"),
    "hanging": N_("Tasks that seem to hang"),
    "high_minutes": N_("Minutes in the lane high"),
    "letters": N_("Dead letters"),
    "low_minutes": N_("Minutes in the lane low"),
    "minutes": N_("Minutes"),
    "minutes_after": N_("Minutes it is remembered"),
    "normal_minutes": N_("Minutes in the lane normal"),
    "of": N_("Of the last"),
    "percent": N_("Percent"),
    "seconds": N_("Seconds"),
    "shops": N_("Shops"),
    "tasks": N_("Tasks"),
    "together": N_("Slow tasks of one type and platform"),
}
#: times that a dry run names
RECENT = 4
TOLD: Mapping[str, str] = {
    incidents.RAISED: N_("raised"),
    incidents.AGAIN: N_("told again"),
    incidents.ESCALATED: N_("escalated"),
    incidents.WORSE: N_("it is worse"),
    incidents.RESOLVED: N_("resolved"),
}


# ----------------------------------------------------------------------------------------------------------- incidents
def title(one: IncidentNow) -> str:
    """What is wrong, with its numbers."""
    return wording.title(one.incident.words, shown.zone(), one.incident.first_at)


def next_step(one: IncidentNow) -> str:
    """What a person does now, "" where nobody can say."""
    return wording.next_step(one.incident.words, shown.zone())


def facts(one: IncidentNow) -> list[str]:
    """What is known of it besides."""
    return wording.facts(one.incident.words, shown.zone(), one.incident.first_at)


def cause(one: IncidentNow) -> str:
    """Its cause, "" where nobody knows one."""
    found = one.incident.words.cause
    return messages.render(found) if found is not None else ""


def ahead_of(found: Ahead) -> tuple[str, str]:
    """What breaks if nobody acts: the lead of that, and of which promise it is in how many shops."""
    lead = _("If nobody acts, a promise breaks at {time}").format(time=clock(found.break_at))
    said = ngettext("“{name}”: {n} shop is at risk", "“{name}”: {n} shops are at risk", found.shops)
    if found.among:
        said = ngettext(
            "“{name}”: {n} shop is at risk, {k} of those here", "“{name}”: {n} shops are at risk, {k} of those here",
            found.shops,
        )  # fmt: skip
    name = safe.one_line(found.row.name, 60)
    return lead, said.format(name=name, n=text.count(found.shops), k=text.count(found.among))


def failing(one: IncidentNow) -> str:
    """The filter of the dead letters that it is about, "" where it is about something else, or over: those that are
    open then are others.
    """
    scope = one.incident.scope
    return scope if scope.startswith(f"status:{Status.DEAD} ") and one.state != RESOLVED else ""


def extent(one: IncidentNow) -> str:
    """How far it reaches: the number of those that could have it, and the first names."""
    incident = one.incident
    parts = []
    if incident.of:
        parts.append(_("{n} of {all}").format(n=text.count(incident.count), all=text.count(incident.of)))
    if incident.names:
        names = [safe.one_line(name, 40) for name in incident.names[:2]]
        more = max(incident.count, len(incident.names)) - len(names) if not incident.of else 0
        said = text.listed(names)
        parts.append(_("{names} and {n} more").format(names=said, n=text.count(more)) if more > 0 else said)
    return " · ".join(parts) or rule_name(incident.rule)


def glyph(one: IncidentNow) -> str:
    """The status whose glyph stands before it: its severity while it needs somebody."""
    if one.state in (OPEN, ANSWERED, WAITING):
        return SEVERITIES[one.incident.rule.severity][0]
    return STATES[one.state][0]


def severity(rule: Rule) -> str:
    """How bad it is, in a word."""
    return _(SEVERITIES[rule.severity][1])


def state(one: IncidentNow) -> str:
    """Where it stands, in a few words."""
    answer = one.incident.answer
    if one.state == ANSWERED:
        who = safe.one_line(answer.answered_by, 60)
        return _("{who}, answered {time}").format(who=who, time=clock(answer.answered_at))
    if one.state == MUTED and answer.changes_from:
        return _("Muted until it changes")
    if one.state == MUTED:
        return _("Muted until {time}").format(time=clock(answer.muted_until))
    if one.state == RESOLVED:
        return _("Resolved {time}").format(time=clock(one.incident.resolved_at))
    return _(STATES[one.state][1])


def state_detail(one: IncidentNow) -> str:
    """What comes next by itself, or what was said about it."""
    answer, now = one.incident.answer, instant.now_ms()
    if one.state == ANSWERED:
        return quoted(answer.note)
    if one.state == MUTED:
        who = _("by {who}").format(who=safe.one_line(answer.muted_by, 60))
        return text.listed([who, quoted(answer.reason)]) if answer.reason else who
    if one.state == CALMING:
        return _("resolves {when}").format(when=ahead(one.resolves_at, now)) if one.resolves_at else ""
    if one.state == WAITING:
        told_at = one.incident.first_at + one.incident.rule.for_s * 1000
        return _("is told {when}").format(when=ahead(told_at, now))
    if one.state == RESOLVED:
        return safe.one_line(answer.answered_by, 60)
    if one.escalates_at:
        return _("escalates {when}").format(when=ahead(one.escalates_at, now))
    return _("escalated") if one.incident.escalated_at else ""


def since(one: IncidentNow) -> str:
    """When it began."""
    return shown.minute(one.incident.first_at, instant.now_ms())


def lasted(one: IncidentNow) -> str:
    """How long it lasts, or lasted."""
    end = one.incident.resolved_at or instant.now_ms()
    return text.duration(shown.span(end - one.incident.first_at))


def told(one: IncidentNow) -> str:
    """Who has heard of it last, and when."""
    taken = [letter for letter in one.deliveries if letter.sent_at]
    if taken:
        last = max(taken, key=lambda letter: letter.sent_at)
        return _("{name} {time}").format(name=channel(one, last.channel), time=clock(last.sent_at))
    if one.incident.told and (one.state == RESOLVED or not one.deliveries):
        last_told = one.incident.told[-1]
        names = text.listed(map(group, last_told.to))
        if unheard(one, last_told):
            return _("{name}: no channel").format(name=names)
        return _("{name} {time}").format(name=names, time=clock(last_told.at))
    return _("Nobody yet")


def channel(one: IncidentNow, name: str) -> str:
    """A channel that a message went to, with its group where that is called otherwise."""
    found = group(one.groups.get(name, name))
    return _("{name} ({group})").format(name=name, group=found) if found != name else name


def unheard(one: IncidentNow, message: Told) -> bool:
    """Whether no channel was there that could have taken a message: of the last it is noted, an earlier one would be
    among the deliveries still.
    """
    if message == one.incident.told[-1]:
        return one.incident.reached_nobody and one.state != RESOLVED
    fresh = instant.now_ms() - message.at < SENT_MS
    return fresh and one.state != RESOLVED and all(letter.step != message.step for letter in one.deliveries)


def told_detail(one: IncidentNow) -> str:
    """What waits to be told, or when it is told again."""
    now = instant.now_ms()
    waiting = [letter for letter in one.deliveries if _is_late(letter)]
    if waiting:
        return _("{name} waits till {time}").format(name=waiting[0].channel, time=shown.clock(waiting[0].due_at, now))
    if any(letter.lost_at for letter in one.deliveries):
        return _("a message was given up")
    if one.again_at:
        said = _("tried again {when}") if undelivered(one) else _("again {when}")
        return said.format(when=ahead(one.again_at, now))
    return ""


def undelivered(one: IncidentNow) -> bool:
    """Whether a channel has not taken what it was given, or there was none to give it to."""
    if not one.deliveries and one.incident.told and unheard(one, one.incident.told[-1]):
        return True
    return any(letter.lost_at or _is_late(letter) for letter in one.deliveries)


def _is_late(letter: Letter) -> bool:
    """Whether its channel refused it, or one before it that is tried first."""
    return letter.waits and (letter.tries > 0 or letter.due_at > letter.at)


def sentence(one: IncidentNow) -> str:
    """The row for a screen reader."""
    parts = [severity(one.incident.rule), title(one), extent(one), since(one), state(one), state_detail(one)]
    return text.listed([part for part in parts if part], ";")


def told_to(one: IncidentNow) -> list[str]:
    """The groups and channels that have heard of it, or are to."""
    return sorted(
        {name for message in one.incident.told for name in message.to} | {to.channel for to in one.deliveries}
    )


def on_platforms(one: IncidentNow) -> list[str]:
    """The codes of those whose shops have it."""
    return [place.platform for place in one.platforms if place.shops]


#: in what of an incident a filter looks, by what that is called there
SOUGHT: Mapping[str, Callable[[IncidentNow], Iterable[str]]] = {
    "rule": lambda one: (one.incident.rule.name, rule_name(one.incident.rule)),
    "platform": lambda one: (*on_platforms(one), *map(shop_words.platform_name, on_platforms(one))),
    "shop": lambda one: (
        *one.incident.shops, *(key.partition(":")[2] for key in one.incident.shops), *one.incident.names
    ),
    "told": lambda one: (*told_to(one), *map(group, told_to(one))),
    "by": lambda one: (one.incident.answer.answered_by, one.incident.answer.muted_by),
    "cause": lambda one: (cause(one),),
    "incident": lambda one: (one.incident.id, title(one)),
}  # fmt: skip


def clock(instant_ms: int) -> str:
    """A time of day, with the day where it is another one."""
    return shown.minute(instant_ms, instant.now_ms()) if instant_ms else ""


def ahead(instant_ms: int, now: int) -> str:
    """How soon."""
    return text.until(shown.span(instant_ms - now))


def quoted(note: str) -> str:
    """What a person wrote."""
    return f"“{safe.one_line(note, 120)}”" if note else ""


def group(name: str) -> str:
    """A group of channels as people call it, or the name of a channel."""
    return _(GROUPS[name]) if name in GROUPS else safe.one_line(name, 64)


class Called:
    """Groups by the words that lists have for them, in either language, but for a word that is the name of a channel or
    a group itself: whoever types that means those, and the group of ours is called by its name.
    """

    def __init__(self, names: Collection[str]) -> None:
        """``names``: of the channels, and of the groups that they are in."""
        self._names = {one for one in names if one not in GROUPS}

    def said(self, names: Iterable[str]) -> str:
        """What stands for these names."""
        return ", ".join(name if group(name) in self._names else group(name) for name in names)

    def meant(self, given: str) -> tuple[str, ...]:
        """The names of what was typed."""
        called = {word: name for name, word in GROUPS.items()}
        with speaking("zh_CN"):
            called |= {_(word): name for name, word in GROUPS.items()}
        parts = [one.strip() for one in re.split("[,，、]", given)]
        return tuple(dict.fromkeys(one if one in self._names else called.get(one, one) for one in parts if one))

    def one(self, given: str) -> str:
        """The name of the only one that may be typed; of several what was typed, which is none."""
        found = self.meant(given)
        return found[0] if len(found) == 1 else given.strip()


def receivers(found: Iterable[ChannelNow]) -> set[str]:
    """The names of channels and of the groups that they are in."""
    return {name for one in found for name in (one.channel.name, one.channel.group)}


def summary(now: AlertsNow | None) -> str:
    """How many need somebody, who is on the others, and who is told first."""
    if now is None:
        return _("Loading…")
    nobody, answered = now.number(OPEN), [one for one in now.incidents if one.state == ANSWERED]
    parts = []
    if nobody:
        parts.append(ngettext("{n} needs an answer", "{n} need an answer", nobody).format(n=text.count(nobody)))
    if answered:
        who = dict.fromkeys(safe.one_line(one.incident.answer.answered_by, 40) for one in answered)
        words = ngettext("{who} is on {n}", "{who} are on {n}", len(who))
        parts.append(words.format(who=text.listed(who), n=text.count(len(answered))))
    if muted := now.number(MUTED):
        parts.append(ngettext("{n} is muted", "{n} are muted", muted).format(n=text.count(muted)))
    said = text.listed(parts) if parts else _("Nothing to answer")
    duty = channels.chosen((rules.DUTY,), {one.channel.name: one.channel for one in now.channels})
    on_duty = _("on duty: {names}").format(names=text.listed(safe.one_line(name, 40) for name in duty)) if duty else ""
    return text.listed([said, on_duty], ";") if on_duty else said


def trouble(now: AlertsNow) -> str:
    """Why alerts do not reach people, "" where they do."""
    if not now.watcher:
        return _("Nobody watches: no process has the lead, so nothing new is seen and nothing is sent.")
    if not any(one.channel.enabled for one in now.channels):
        return _("Nobody is told outside this window: there is no channel. Add one under Channels.")
    stuck = [one for one in now.channels if one.waiting and one.error]
    if stuck:
        first = stuck[0]
        said = ngettext("{n} message waits for {name}: {why}", "{n} messages wait for {name}: {why}", first.waiting)
        return said.format(
            name=first.channel.name, n=text.count(first.waiting), why=safe.one_line(messages.own(first.error), 200)
        )
    return ""


def stale(since: str) -> tuple[str, str]:
    """What alerts do while this window has lost the connection, and the lead of that."""
    return _("What stands here is as of {time}.").format(time=since), _("Sent by the leader, not by this window.")


def last_resolved(at: int) -> str:
    """When the last incident was over, "" where there was none."""
    return _("Last resolved {time}.").format(time=clock(at)) if at else ""


def story(one: IncidentNow) -> list[TimelineEntry]:
    """What happened, in its order, and what comes by itself."""
    incident, now = one.incident, instant.now_ms()
    found: list[tuple[int, TimelineEntry]] = [
        (incident.first_at, TimelineEntry(time=_time(incident.first_at), text=_("First seen")))
    ]
    found += [
        (
            line.at,
            TimelineEntry(
                time=_time(line.at), text=messages.render(line.message), status=_LINE.get(line.message.code, "")
            ),
        )
        for line in incident.lines
    ]
    found += [(letter.at, _delivery(letter, now)) for letter in one.deliveries]
    if not one.deliveries:
        found += [(each.at, _said(one, each)) for each in incident.told]
    answer = incident.answer
    if answer.answered_by:
        entry = TimelineEntry(
            time=_time(answer.answered_at),
            text=_("Answered by"),
            strong=safe.one_line(answer.answered_by, 60),
            tail=quoted(answer.note),
            status="running",
        )
        found.append((answer.answered_at, entry))
    if answer.muted_by:
        entry = TimelineEntry(
            time=_time(answer.muted_at),
            text=_("Muted until it changes by")
            if answer.changes_from
            else _("Muted until {time} by").format(time=clock(answer.muted_until)),
            strong=safe.one_line(answer.muted_by, 60),
            tail=quoted(answer.reason),
            status="muted",
        )
        found.append((answer.muted_at, entry))
    found.sort(key=lambda each: each[0])
    coming = (
        (one.again_at, _("Told again unless somebody answers")),
        (one.escalates_at, _("Escalates unless somebody answers")),
        (one.resolves_at, _("Resolves if it stays calm")),
    )
    future = sorted((at, said) for at, said in coming if at > now)
    return [entry for _at, entry in found] + [
        TimelineEntry(time=_time(at), text=said, span=ahead(at, now), future=True) for at, said in future
    ]


_LINE = {
    "alert.line_raised": "warning",
    "alert.line_escalated": "warning",
    "alert.line_resolved": "succeeded",
    "alert.line_calm": "healthy",
    "alert.line_action_failed": "dead",
}


def _time(instant_ms: int) -> str:
    """Hour, minute and second; the day alone where it is another one."""
    return shown.clock(instant_ms, instant.now_ms()).rpartition("-")[2] if instant_ms else ""


def _said(one: IncidentNow, message: Told) -> TimelineEntry:
    """A message of which no delivery is known."""
    lost = unheard(one, message)
    return TimelineEntry(
        time=_time(message.at),
        text=_("No channel for") if lost else _("Told"),
        strong=text.listed(map(group, message.to)),
        tail=_(TOLD.get(message.what, message.what)),
        status="warning" if lost else "",
    )


def _delivery(letter: Letter, now: int) -> TimelineEntry:
    what = _(TOLD.get(letter.what, letter.what))
    if letter.sent_at:
        took = text.duration(shown.span(letter.sent_at - letter.at))
        said = _("Sent to")
        return TimelineEntry(
            time=_time(letter.sent_at), text=said, strong=letter.channel, tail=what, span=took, status="succeeded"
        )
    if letter.lost_at:
        said = _("Given up:")
        return TimelineEntry(
            time=_time(letter.lost_at), text=said, strong=letter.channel, tail=messages.own(letter.error), status="dead"
        )
    if letter.tries:
        said = ngettext("Refused {n} time by", "Refused {n} times by", letter.tries).format(n=text.count(letter.tries))
        return TimelineEntry(
            time=_time(letter.at), text=said, strong=letter.channel,
            tail=safe.one_line(messages.own(letter.error), 120),
            span=ahead(letter.due_at, now), status="warning",
        )  # fmt: skip
    late = _is_late(letter)
    return TimelineEntry(
        time=_time(letter.at), text=_("Waits for"), strong=letter.channel, tail=what,
        span=ahead(letter.due_at, now) if late else "", status="warning" if late else "",
    )  # fmt: skip


def deliveries(one: IncidentNow) -> list[tuple[str, str, str]]:
    """Channel, how its newest message stands, and the tone of that."""
    newest: dict[str, Letter] = {}
    for letter in one.deliveries:
        newest[letter.channel] = letter
    rows = []
    for name, letter in newest.items():
        if letter.sent_at:
            rows.append((name, _("delivered {time}").format(time=clock(letter.sent_at)), "text"))
        elif letter.lost_at:
            rows.append(
                (name, _("given up: {why}").format(why=safe.one_line(messages.own(letter.error), 160) or "–"), "dead")
            )
        elif letter.tries:
            when = ahead(letter.due_at, instant.now_ms())
            why = safe.one_line(messages.own(letter.error), 160)
            rows.append((name, _("waits, next try {when}: {why}").format(when=when, why=why), "retrying"))
        elif _is_late(letter):
            when = ahead(letter.due_at, instant.now_ms())
            rows.append((name, _("waits behind one that was refused; next try {when}").format(when=when), "retrying"))
        else:
            rows.append((name, _("waits"), "text2"))
    return rows


def message(one: IncidentNow) -> str:
    """The newest message as it reads in the language of the window, "" where none is kept."""
    if not one.deliveries:
        return ""
    newest = max(one.deliveries, key=lambda letter: letter.step)
    language = channels.ZH if is_chinese() else channels.EN
    told_ = wording.letter_text(newest, language, shown.zone())
    return f"{told_.title}\n{told_.body}"


def reached(one: IncidentNow) -> tuple[str, str]:
    """Whether anybody got that message, and the tone of it."""
    newest = max((letter.step for letter in one.deliveries), default=0)
    letters = [letter for letter in one.deliveries if letter.step == newest]
    if sent := [letter.sent_at for letter in letters if letter.sent_at]:
        return _("delivered {time}").format(time=clock(min(sent))), "text3"
    if letters and all(letter.lost_at for letter in letters):
        return _("given up"), "dead"
    return _("not delivered yet"), "retrying"


# --------------------------------------------------------------------------------------------------------------- rules
def measure(name: str) -> str:
    """What rules of a measure look at."""
    return _of(name, sentences.MEASURES, sentences.MEASURES_HERE) or name


def condition(name: str) -> str:
    """When rules of a measure see something, each of their own numbers in braces; "" where nobody knows it."""
    return _of(name, sentences.CONDITIONS, sentences.CONDITIONS_HERE)


def _of(name: str, anywhere: Mapping[str, str], on_one_computer: Mapping[str, str]) -> str:
    """What stands of a measure in one of the tables of its sentences, "" where nothing does."""
    found = on_one_computer.get(name) if shown.here() else None
    found = found or anywhere.get(name, "")
    return _(found) if found else ""


def rule_name(rule: Rule) -> str:
    """What a rule looks at; one that people added goes by its own name."""
    measured = measure(rule.measure)
    if rule.name == rule.measure:
        return measured
    return _("{name}: {value}").format(name=rule.name, value=measured)


def limit_name(name: str) -> str:
    """What one of the numbers of a rule is called."""
    return _(LIMITS[name]) if name in LIMITS else name


def figure(number: float) -> str:
    """A number of a rule, or one that is held against it."""
    return f"{number:,.12g}"


def limits(rule: Rule) -> str:
    """When it tells, with its own numbers."""
    if said := condition(rule.measure):
        numbers = {name: figure(value) for name, value in rule.limits.items()}
        return said.format_map(defaultdict(lambda: "–", numbers))
    return text.listed(
        [
            _("{name}: {value}").format(name=limit_name(name), value=figure(value))
            for name, value in rule.limits.items()
        ],
        ";",
    )


def whole(rule: Rule) -> str:
    """All that a rule says, as sentences."""
    said = _("When: {condition}").format(condition=limits(rule))
    if rule.for_s:
        said = _("{said}, for {span}").format(said=said, span=seconds(rule.for_s))
    parts = [said, _("Tell: {names}").format(names=groups(rule.channels) or "–")]
    if rule.again_s:
        parts.append(_("Again after {span} until somebody answers").format(span=seconds(rule.again_s)))
    if rule.escalate_s:
        to = groups(rule.escalate_to) or "–"
        parts.append(_("After {span} without an answer: {names}").format(span=seconds(rule.escalate_s), names=to))
    parts.append(_("Resolve after {span} of calm").format(span=seconds(rule.calm_s)) if rule.calm_s else "")
    return text.sentences(parts)


def limit_names(rule: Rule) -> list[str]:
    """Of each number that its condition names or it holds; what a rule lacks counts as 0."""
    named = (name for _text, name, _spec, _as in Formatter().parse(sentences.CONDITIONS.get(rule.measure, "")) if name)
    return list(dict.fromkeys((*named, *rule.limits)))


def in_fields(rule: Rule, *, new: bool = False) -> tuple[str, ...]:
    """The same as sentences, each number and name of it in braces: where its field stands. ``new``: what it is called
    and looks at stand before them.
    """
    when = condition(rule.measure)
    unsaid = [
        _("{name}: {value}").format(name=limit_name(name), value=f"{{{name}}}")
        for name in limit_names(rule)
        if f"{{{name}}}" not in when
    ]
    when = text.listed([part for part in (when, *unsaid) if part], ";")
    return (
        *((_("Call it {name} and look at {measure}"),) if new else ()),
        _("When {condition}, for {for_s}").replace("{condition}", when),
        _("tell {channels} as {severity}"),
        _("again after {again_s} until somebody answers") if rule.again_s else _("tell again: {again_s}"),
        _("after {escalate_s} without an answer tell {escalate_to}")
        if rule.escalate_s
        else _("escalate to {escalate_to}: {escalate_s}"),
        _("resolve after {calm_s} of calm"),
        _("do by itself: {action}"),
    )


def dry_run(edited: DryRun | None, saved: DryRun | None, measured: str) -> tuple[str, str]:
    """How often a rule would have told somebody, and when; the first in short. ``saved``: as it is kept, None where it
    is not kept yet.
    """
    if edited is None:
        said = _("How often it would have told somebody cannot be computed")
        return said, text.sentences([_of(measured, sentences.UNTRIED, sentences.UNTRIED_HERE)])
    if not edited.recorded:
        said = _("How often it would have told somebody is not known")
        return said, _("Nothing was recorded on this computer: ask for it where the leader runs")
    number = len(edited.told)
    days = round((edited.end - edited.begin) / 86_400_000)
    said = ngettext(
        "Would have told somebody {n} time in the last {days} days",
        "Would have told somebody {n} times in the last {days} days",
        number,
    ).format(n=text.count(number), days=days)
    parts = [_("Saved rule: {n}").format(n=text.count(len(saved.told)))] if saved is not None else []
    times = [
        _("{time} for {span}").format(time=clock(one.begin), span=text.duration(shown.span(one.end - one.begin)))
        for one in reversed(edited.told[-RECENT:])
    ]
    if number > RECENT:
        times.append(_("{n} more").format(n=text.count(number - RECENT)))
    parts.append(text.listed(times))
    if edited.gaps:
        longest = max(edited.gaps, key=lambda gap: gap.end - gap.begin)
        lost = sum(gap.end - gap.begin for gap in edited.gaps)
        gaps = _("Nobody recorded for {span} of it, the longest from {begin} to {end}: what was then is not known")
        span = text.duration(shown.span(lost))
        parts.append(gaps.format(span=span, begin=clock(longest.begin), end=clock(longest.end)))
    parts.append(_of(measured, sentences.TRIED, sentences.TRIED_HERE))
    return said, text.sentences(parts)


def seconds(number: int) -> str:
    """A span of a rule; nothing is a dash."""
    return text.exact(timedelta(seconds=number)) if number else "–"


def groups(names: Sequence[str]) -> str:
    """Groups and channels that hear of something."""
    return text.listed(map(group, names))


def rule_by(one: RuleNow) -> str:
    """Who made it so."""
    if not one.changed:
        return _("as delivered")
    return _("version {n} by {who}").format(n=one.rule.version, who=safe.one_line(one.rule.by, 60) or "–")


def rule_sentence(one: RuleNow) -> str:
    """The row for a screen reader."""
    on = _("on") if one.rule.enabled else _("off")
    return text.listed([rule_name(one.rule), on, severity(one.rule), limits(one.rule)], ";")


def action(rule: Rule) -> str:
    """What it does by itself."""
    head, _colon, scope = rule.action.partition(":")
    if head == rules.PAUSE:
        return _("pauses {scope}").format(scope=shown.scope_name(scope) if scope else _("what it is about"))
    if head == rules.RUN:
        return _("runs {name}").format(name=scope)
    return _("names the cause") if head == rules.MARK else ""


# ------------------------------------------------------------------------------------------------------------ channels
def kind(channel: Channel) -> str:
    """What carries the message."""
    return _(KINDS[channel.kind]) if channel.kind in KINDS else channel.kind


def channel_glyph(one: ChannelNow) -> str:
    """The status whose glyph stands before it."""
    if not one.channel.enabled:
        return "paused"
    return "warning" if one.error or one.lost or one.known is False else "healthy"


def channels_suffix(found: Sequence[ChannelNow]) -> str:
    """How many there are, and which of them has messages that wait."""
    waits = [one.channel.name for one in found if one.channel.enabled and one.waiting]
    if len(waits) == 1:
        return _("{n}, {name} waits").format(n=text.count(len(found)), name=safe.one_line(waits[0], 16))
    if waits:
        return ngettext("{all}, {n} waits", "{all}, {n} wait", len(waits)).format(
            all=text.count(len(found)), n=text.count(len(waits))
        )
    return text.count(len(found)) if found else ""


def channel_state(one: ChannelNow) -> str:
    """Whether messages arrive."""
    if not one.channel.enabled:
        return _("off")
    if one.waiting:
        waits = ngettext("{n} message waits", "{n} messages wait", one.waiting).format(n=text.count(one.waiting))
        if not one.error:
            return waits
        tried = _("next try {time}").format(time=shown.clock(one.next_ms, instant.now_ms()))
        return text.listed([waits, tried, safe.one_line(messages.own(one.error), 160)], ";")
    if one.lost:
        return ngettext("{n} message was given up", "{n} messages were given up", one.lost).format(
            n=text.count(one.lost)
        )
    return _("delivered {time}").format(time=clock(one.sent_ms)) if one.sent_ms else _("nothing sent within the hour")


def address(one: ChannelNow) -> str:
    """Whether this machine knows where to send; where another one leads, that one must."""
    return _("known here") if one.known else _("not known here")


def channel_sentence(one: ChannelNow) -> str:
    """The row for a screen reader."""
    return text.listed([one.channel.name, kind(one.channel), group(one.channel.group), channel_state(one)], ";")
