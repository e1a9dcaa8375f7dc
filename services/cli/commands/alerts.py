"""``alert``: what the fleet tells people: incidents, the rules behind them and the channels that carry them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from services import assembly, messages
from services.cli import lexicon, shapes, spoken, tables
from services.cli.context import EXIT_FAILED, EXIT_OK, MAX_ROWS, Context, examples, plain, table, whole
from services.cli.instants import Instants
from services.domain.alerts import channel as channels
from services.domain.alerts import rule as rules
from services.domain.alerts.channel import Channel
from services.domain.alerts.incident import CHANGED, UNTIL_CHANGED, Incident
from services.domain.alerts.outbox import Letter
from services.domain.alerts.rule import Rule
from services.domain.errors import UsageError
from services.domain.plans import recurrence
from services.domain.task.search import filter_time
from services.monitor.alerts import wording
from services.monitor.alerts.queries import AlertsNow, ChannelNow, IncidentNow

EXAMPLES = (
    "alert list",
    "alert show INC-12",
    "alert answer INC-12 --note 'looking at the page'",
    "alert mute INC-12 --until 2h --reason 'known, the platform repairs it'",
    "alert mute INC-12 --until changed --reason 'known, only more of it matters'",
    "alert rule set oldest_wait --limit high_minutes=10 --for 120",
    "alert rule set dead_letters --action pause",
    "alert rule reset oldest_wait",
    "alert channel set ops --kind wecom --language zh",
    "alert channel test ops",
)
SPANS = ("for_s", "calm_s", "again_s", "escalate_s")


def add(nouns: Any) -> None:
    noun = nouns.add_parser(
        "alert",
        help="what the fleet tells people: incidents, rules and channels",
        description="A process that may lead watches the fleet by rules, and tells people by channels. The address of a"
        " channel is a secret: it stands in FLEETDECK_SECRET__NAME or the keyring of the machines that lead.",
        **examples(EXAMPLES),
    )
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    verbs.add_parser("list", handler=list_, help="incidents that are not over")
    showing = verbs.add_parser("show", handler=show, help="one incident: extent, time line, messages")
    showing.add_argument("incident", help="such as INC-12")
    past = verbs.add_parser("history", handler=history, help="incidents that are over, the newest first")
    past.add_argument("--limit", type=whole(1, MAX_ROWS), default=50, help="how many at most (default: %(default)s)")
    for name, handler, help_ in (
        ("answer", answer, "take an incident: it is not told again and does not escalate"),
        ("unanswer", unanswer, "give it back: it is nobody's again"),
        ("mute", mute, "tell nobody of it until an instant"),
        ("unmute", unmute, "tell of it again"),
        ("escalate", escalate, "tell the next group now"),
    ):
        one = verbs.add_parser(name, handler=handler, help=help_)
        one.add_argument("incident", help="such as INC-12")
        if name == "answer":
            one.add_argument("--note", default="", help="what you do about it")
        if name == "mute":
            one.add_argument(
                "--until",
                required=True,
                metavar="WHEN",
                help="a time, a duration such as 2h, or changed: until it becomes worse or is over",
            )
            one.add_argument("--reason", required=True, help="why; everybody sees it")
    _add_rules(verbs)
    _add_channels(verbs)


def _add_rules(verbs: Any) -> None:
    noun = verbs.add_parser("rule", help="when people are told, and who")
    acts = noun.add_subparsers(required=True, metavar="VERB")
    acts.add_parser("list", handler=list_rules, help="all rules")
    showing = acts.add_parser("show", handler=show_rule, help="one rule and what it was before")
    showing.add_argument("name")
    setting = acts.add_parser("set", handler=set_rule, help="change a rule, or add one of a known measure")
    setting.add_argument("name")
    setting.add_argument("--measure", help="what a new rule looks at: the name of a default rule")
    setting.add_argument("--limit", action="append", default=[], metavar="NAME=NUMBER", help="repeats")
    for option, words in (
        ("for", "must hold so long before anybody is told"),
        ("calm", "must be gone so long before it is resolved"),
        ("again", "told again after so long until somebody answers; 0 never"),
        ("escalate", "told to the next group after so long without an answer; 0 never"),
    ):
        setting.add_argument(f"--{option}", type=_whole, metavar="SPAN", dest=f"{option}_s", help=words)
    setting.add_argument("--severity", choices=rules.SEVERITIES)
    setting.add_argument("--channel", action="append", metavar="NAME", help="a channel or a group of them; repeats")
    setting.add_argument("--escalate-to", action="append", metavar="NAME", help="a channel or a group; repeats")
    setting.add_argument("--action", help="pause, pause:SCOPE, mark, run:NAME, or none")
    switch = setting.add_mutually_exclusive_group()
    switch.add_argument("--on", action="store_true", help="switch it on")
    switch.add_argument("--off", action="store_true", help="switch it off")
    resetting = acts.add_parser("reset", handler=reset_rule, help="make it the default again; an added rule goes")
    resetting.add_argument("name")


def _add_channels(verbs: Any) -> None:
    noun = verbs.add_parser("channel", help="where people are told")
    acts = noun.add_subparsers(required=True, metavar="VERB")
    acts.add_parser("list", handler=list_channels, help="all channels, and what each has not taken")
    setting = acts.add_parser("set", handler=set_channel, help="add a channel, or change the one of this name")
    setting.add_argument("name")
    setting.add_argument("--kind", choices=channels.KINDS)
    setting.add_argument("--language", choices=channels.LANGUAGES)
    setting.add_argument("--group", help=f"{rules.DUTY} is told first, {rules.LEAD} when nobody answers")
    setting.add_argument("--secret", metavar="NAME", help="name of its address among the secrets (default: its own)")
    setting.add_argument("--to", help="kind mail: who gets it, with commas between")
    setting.add_argument("--rate", type=whole(1, MAX_ROWS), help="messages a minute at most")
    switch = setting.add_mutually_exclusive_group()
    switch.add_argument("--on", action="store_true", help="switch it on")
    switch.add_argument("--off", action="store_true", help="switch it off")
    for name, handler, words in (
        ("remove", remove_channel, "take a channel away"),
        ("test", test_channel, "send a test from this machine, now"),
    ):
        one = acts.add_parser(name, handler=handler, help=words)
        one.add_argument("name")


# ----------------------------------------------------------------------------------------------------------- incidents
def list_(context: Context) -> int:
    """Print what is not over."""
    with context.engine(looking=True) as engine:
        now, zone = assembly.queries(engine).alerts.now(), shapes.zone(engine)
    rows = [_row(one, zone) for one in now.incidents]
    fields = ("id", "state", "severity", "title", "extent", "since", "answered_by")
    told = (
        table(fields, [[_shown(row[field]) for field in fields] for row in rows], meant={"state": "incident"})
        if rows
        else [spoken.phrase("nothing to answer")]
    )
    context.show(
        {"incidents": rows, "watcher": now.watcher or None, "channels": [_channel_row(one) for one in now.channels]},
        [*told, *_warnings(now)],
    )
    return EXIT_OK


#: of an incident: what programs read, or what stands below it line by line
FOR_PROGRAMS = frozenset({"key", "code", "params", "count", "of", "told", "timeline", "messages"})


def show(context: Context) -> int:
    """Print one."""
    with context.engine(looking=True) as engine:
        found, zone = assembly.queries(engine).alerts.incident(context.args.incident), shapes.zone(engine)
    row = _row(found, zone) | _more(found, zone)
    lines = [
        tables.fact(name, _shown(value), meant="incident" if name == "state" else "")
        for name, value in row.items()
        if name not in FOR_PROGRAMS and value
    ]
    lines += [f"{entry['at']}  {entry['text']}" for entry in row["timeline"]]
    lines += [
        spoken.phrase(
            "{at}  {what} to {channel}: {state}",
            at=one["at"],
            what=lexicon.called("told", one["what"]),
            channel=one["channel"],
            state=one["state"],
        )
        for one in row["messages"]
    ]
    context.show(row, lines)
    return EXIT_OK


def history(context: Context) -> int:
    """Print the past."""
    with context.engine(looking=True) as engine:
        found, zone = assembly.queries(engine).alerts.history(context.args.limit), shapes.zone(engine)
    rows = [_row(one, zone) for one in found]
    fields = ("id", "severity", "title", "extent", "since", "resolved", "answered_by")
    told = (
        table(fields, [[_shown(row[field]) for field in fields] for row in rows])
        if rows
        else [spoken.phrase("nothing yet")]
    )
    context.show({"incidents": rows}, told)
    return EXIT_OK


def answer(context: Context) -> int:
    """Take one."""
    with context.engine(looking=True) as engine:
        done = assembly.commands(engine).alerts.answer(context.args.incident, context.args.note)
    return _acted(context, done, spoken.phrase("{id} is yours", id=done.id))


def unanswer(context: Context) -> int:
    """Give one back."""
    with context.engine(looking=True) as engine:
        done = assembly.commands(engine).alerts.unanswer(context.args.incident)
    return _acted(context, done, spoken.phrase("{id} is nobody's", id=done.id))


def mute(context: Context) -> int:
    """Silence one for a while."""
    args = context.args
    with context.engine(looking=True) as engine:
        zone = shapes.zone(engine)
        on_change = args.until == CHANGED
        until = UNTIL_CHANGED if on_change else Instants(zone, engine.store.now_ms()).read(args.until, "--until")
        if not until and not on_change:
            raise UsageError(spoken.phrase("--until takes a time, a duration such as 2h, or changed"), field="--until")
        done = assembly.commands(engine).alerts.mute(args.incident, until, args.reason)
    if on_change:
        return _acted(context, done, spoken.phrase("{id} is muted until it changes", id=done.id))
    return _acted(context, done, spoken.phrase("{id} is muted until {at}", id=done.id, at=recurrence.iso(until, zone)))


def unmute(context: Context) -> int:
    """Tell of one again."""
    with context.engine(looking=True) as engine:
        done = assembly.commands(engine).alerts.unmute(context.args.incident)
    return _acted(context, done, spoken.phrase("{id} is told again", id=done.id))


def escalate(context: Context) -> int:
    """Tell the next group."""
    with context.engine(looking=True) as engine:
        done = assembly.commands(engine).alerts.escalate(context.args.incident)
    return _acted(
        context, done, spoken.phrase("{id} goes to {names}", id=done.id, names=", ".join(done.rule.escalate_to))
    )


def _acted(context: Context, done: Incident, line: str) -> int:
    context.show({"incident": done.id, "answer": msgspec.to_builtins(done.answer)}, [line])
    return EXIT_OK


# --------------------------------------------------------------------------------------------------------------- rules
def list_rules(context: Context) -> int:
    """Print all."""
    with context.engine(looking=True) as engine:
        found = assembly.queries(engine).alerts.rules()
    rows = [_rule_row(one.rule) | {"changed": one.changed, "active": one.active} for one in found]
    lines = [
        [
            row["name"] if row["name"] == row["measure"] else f"{row['name']} ({row['measure']})",
            spoken.phrase("on") if row["enabled"] else spoken.phrase("off"),
            row["severity"],
            _limits(row["limits"]),
        ]
        + [str(row[span]) for span in SPANS]
        + [", ".join(row["channels"]), str(row["version"])]
        for row in rows
    ]
    header = (
        "name",
        "",
        "severity",
        "limits",
        "for",
        "calm",
        "again",
        "escalate",
        "channels",
        "version",
    )
    context.show({"rules": rows}, table(header, lines, meant={"for": "holds"}))
    return EXIT_OK


def show_rule(context: Context) -> int:
    """Print one."""
    with context.engine(looking=True) as engine:
        queries = assembly.queries(engine).alerts
        known = {one.rule.name: one for one in queries.rules()}
        found = known.get(context.args.name)
        if found is None:
            raise rules.refusal("alert.no_rule", "name", value=context.args.name[:80], known=", ".join(known))
        before = [_rule_row(one) for one in queries.versions(found.rule.name)]
    row = _rule_row(found.rule) | {"changed": found.changed, "active": found.active, "before": before}
    told = row | {"limits": _limits(row["limits"])}
    lines = [tables.fact(name, _shown(value)) for name, value in told.items() if name != "before"]
    lines += [
        spoken.phrase(
            "version {version}: {limits} by {by}",
            version=one["version"],
            limits=_limits(one["limits"]),
            by=one["by"] or spoken.phrase("default"),
        )
        for one in before
    ]
    context.show(row, lines)
    return EXIT_OK


def set_rule(context: Context) -> int:
    """Change one."""
    args = context.args
    with context.engine(looking=True) as engine:
        commands = assembly.commands(engine).alerts
        known = commands.rules()
        before = known.get(args.name)
        if before is not None:
            if args.measure and args.measure != before.measure:
                raise rules.refusal("alert.other_measure", "--measure", value=before.name, measure=before.measure)
            made = commands.set_rule(_changed(before, args))
        else:
            made = commands.add_rule(_changed(_new(args, known), args))
    context.show(
        {"rule": _rule_row(made)},
        [
            spoken.phrase("rule {name} has version {version}", name=made.name, version=made.version)
            if made != before
            else spoken.phrase("rule {name} is so already, version {version}", name=made.name, version=made.version)
        ],
    )
    return EXIT_OK


def _new(args: argparse.Namespace, known: Mapping[str, Rule]) -> Rule:
    """One of this name, as the rule that its measure is called after stands now."""
    if not args.measure:
        raise rules.refusal("alert.no_rule", "name", value=args.name[:80], known=", ".join(known))
    like = known.get(args.measure)
    if like is None:
        measures = ", ".join(sorted({one.measure for one in known.values()}))
        raise rules.refusal("alert.bad_measure", "--measure", value=args.measure[:80], known=measures)
    return replace(like, name=args.name)


def reset_rule(context: Context) -> int:
    """Make one the default again."""
    with context.engine(looking=True) as engine:
        now = assembly.commands(engine).alerts.reset_rule(context.args.name)
    name = context.args.name
    line = (
        spoken.phrase("rule {name} is as it was delivered", name=name)
        if now is not None
        else spoken.phrase("rule {name} is gone", name=name)
    )
    context.show({"rule": _rule_row(now) if now is not None else None}, [line])
    return EXIT_OK


def _changed(rule: Rule, args: argparse.Namespace) -> Rule:
    fields: dict[str, Any] = {span: getattr(args, span) for span in SPANS if getattr(args, span) is not None}
    if args.limit:
        fields["limits"] = {**rule.limits, **dict(map(_limit, args.limit))}
    if args.severity:
        fields["severity"] = args.severity
    if args.channel:
        fields["channels"] = tuple(args.channel)
    if args.escalate_to:
        fields["escalate_to"] = tuple(args.escalate_to)
    if args.action is not None:
        fields["action"] = "" if args.action == "none" else args.action
    if args.on or args.off:
        fields["enabled"] = args.on
    return replace(rule, **fields)


def _limit(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        found = float(number)
    except ValueError:
        found = -1.0
    if not name or not 0 <= found <= 1e12:
        raise UsageError(
            spoken.phrase("--limit takes NAME=NUMBER, such as percent=30, not {text}", text=f"{text!r:.80}"),
            field="--limit",
        )
    return name, found


# ------------------------------------------------------------------------------------------------------------ channels
def list_channels(context: Context) -> int:
    """Print all."""
    with context.engine(looking=True) as engine:
        now = assembly.queries(engine).alerts.now()
    rows = [_channel_row(one) for one in now.channels]
    fields = ("name", "kind", "group", "language", "address", "enabled", "waiting", "error")
    told = (
        table(fields, [[_shown(row[field]) for field in fields] for row in rows])
        if rows
        else [spoken.phrase("no channel yet")]
    )
    context.show({"channels": rows}, told)
    return EXIT_OK


def set_channel(context: Context) -> int:
    """Set one."""
    args = context.args
    with context.engine(looking=True) as engine:
        commands = assembly.commands(engine).alerts
        before = commands.channels().get(args.name)
        channel = before or Channel(name=args.name)
        fields: dict[str, Any] = {
            name: value
            for name in ("kind", "language", "group", "secret", "rate")
            if (value := getattr(args, name)) is not None
        }
        if args.to is not None:
            fields["options"] = {**channel.options, "to": args.to}
        if args.on or args.off:
            fields["enabled"] = args.on
        made = replace(channel, **fields)
        commands.set_channel(made)
        known = next(
            one.known for one in assembly.queries(engine).alerts.now().channels if one.channel.name == made.name
        )
    lines = [spoken.phrase("channel {name} is set", name=made.name)]
    if not known:
        lines.append(
            spoken.phrase(
                "its address is not known here: set {variable} on the machines that lead, then test it",
                variable=made.variable,
            )
        )
    context.show({"channel": made.name, "replaced": before is not None, "address": known}, lines)
    return EXIT_OK


def remove_channel(context: Context) -> int:
    """Take one away."""
    with context.engine(looking=True) as engine:
        assembly.commands(engine).alerts.remove_channel(context.args.name)
    context.show({"removed": context.args.name}, [spoken.phrase("channel {name} is removed", name=context.args.name)])
    return EXIT_OK


def test_channel(context: Context) -> int:
    """Send a test."""
    with context.engine(looking=True) as engine:
        why = assembly.commands(engine).alerts.test_channel(context.args.name)
    name = context.args.name
    line = (
        spoken.phrase("channel {name} took it", name=name)
        if not why
        else spoken.phrase("channel {name} did not take it: {why}", name=name, why=why)
    )
    context.show({"channel": name, "sent": not why, "error": why or None}, [line])
    return EXIT_FAILED if why else EXIT_OK


# --------------------------------------------------------------------------------------------------------------- words
def _row(one: IncidentNow, zone: str) -> dict[str, Any]:
    incident = one.incident
    return {
        "id": incident.id,
        "state": one.state,
        "severity": incident.rule.severity,
        "rule": incident.rule.name,
        "rule_version": incident.rule.version,
        "key": incident.key,
        "code": incident.words.title.code,
        "params": dict(incident.words.title.params),
        "title": wording.title(incident.words, zone, incident.first_at),
        "count": incident.count,
        "worst": incident.worst,
        "of": incident.of or None,
        "extent": spoken.phrase("{count} of {of}", count=incident.count, of=incident.of)
        if incident.of
        else str(incident.count),
        "names": list(incident.names),
        "filter": incident.scope or None,
        "since": _instant(incident.first_at, zone),
        "raised": _instant(incident.raised_at, zone),
        "resolved": _instant(incident.resolved_at, zone),
        "answered_by": incident.answer.answered_by or None,
        "note": incident.answer.note or None,
        "muted_until": _mute_end(incident, zone),
        "muted_by": incident.answer.muted_by or None,
        "reason": incident.answer.reason or None,
        "again_at": _instant(one.again_at, zone),
        "escalates_at": _instant(one.escalates_at, zone),
        "resolves_at": _instant(one.resolves_at, zone),
    }


def _mute_end(incident: Incident, zone: str) -> str | None:
    answer = incident.answer
    if not answer.changes_from:
        return _instant(answer.muted_until, zone)
    return CHANGED if incident.unmuted != answer.muted_at else None


def _more(now: IncidentNow, zone: str) -> dict[str, Any]:
    incident = now.incident
    return {
        "facts": wording.facts(incident.words, zone, incident.first_at),
        "cause": spoken.say(incident.words.cause) if incident.words.cause is not None else None,
        "next": wording.next_step(incident.words, zone) or None,
        "timeline": [{"at": _instant(line.at, zone), "text": spoken.say(line.message)} for line in incident.lines],
        "told": [
            {"step": told.step, "what": told.what, "at": _instant(told.at, zone), "to": list(told.to)}
            for told in incident.told
        ],
        "messages": [_letter_row(letter, zone) for letter in now.deliveries],
    }


def _letter_row(letter: Letter, zone: str) -> dict[str, Any]:
    state = (
        spoken.phrase("sent")
        if letter.sent_at
        else spoken.phrase("given up")
        if letter.lost_at
        else spoken.phrase("waits")
    )
    return {
        "step": letter.step,
        "what": letter.what,
        "channel": letter.channel,
        "at": _instant(letter.at, zone),
        "state": f"{state}: {letter.error}" if letter.error else state,
        "tries": letter.tries,
        "next_try": _instant(letter.due_at, zone) if letter.waits and letter.tries else None,
    }


def _rule_row(rule: Rule) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(rule)
    return row | {
        "channels": list(rule.channels),
        "escalate_to": list(rule.escalate_to),
        "at": shapes.iso(rule.at) if rule.at else None,
    }


def _channel_row(one: ChannelNow) -> dict[str, Any]:
    channel = one.channel
    return {
        "name": channel.name,
        "kind": channel.kind,
        "group": channel.group,
        "language": channel.language,
        "variable": channel.variable,
        "address": spoken.phrase("known here") if one.known else spoken.phrase("not known here"),
        "options": dict(channel.options),
        "rate": channel.rate,
        "enabled": channel.enabled,
        "waiting": one.waiting,
        "waiting_since": shapes.iso(one.since_ms) if one.since_ms else None,
        "next_try": shapes.iso(one.next_ms) if one.waiting else None,
        "error": one.error or None,
        "last_sent": shapes.iso(one.sent_ms) if one.sent_ms else None,
        "given_up": one.lost,
    }


def _warnings(now: AlertsNow) -> list[str]:
    found = [] if now.watcher else [spoken.phrase("nobody watches: no process has the lead")]
    if not now.channels:
        found.append(spoken.phrase("nobody is told: there is no channel (alert channel set)"))
    for one in now.channels:
        if one.waiting:
            what = spoken.phrase("channel {name}: {waiting} messages wait", name=one.channel.name, waiting=one.waiting)
            why = messages.own(one.error)
            found.append(spoken.phrase("{what} ({why})", what=what, why=why) if why else what)
        if one.lost:
            found.append(
                spoken.phrase(
                    "channel {name}: {lost} messages were given up after a day", name=one.channel.name, lost=one.lost
                )
            )
    return found


def _limits(limits: dict[str, float]) -> str:
    return ", ".join(f"{name}={number:.12g}" for name, number in limits.items())


def _instant(instant: int, zone: str) -> str | None:
    return recurrence.iso(instant, zone) if instant else None


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return plain(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


def _whole(text: str) -> int:
    if text.isdecimal() and len(text) <= 9:
        return int(text)
    span = filter_time.duration_ms("".join(text.split()))
    if span is None or span % 1000:
        raise argparse.ArgumentTypeError(spoken.phrase("a whole number of seconds, or a span such as 5m"))
    return span // 1000
