"""``promise``: how old the work of shops may be, or by when it has to be done, and whether that is kept."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import msgspec

from services import assembly, workforce
from services.cli import shapes, spoken, tables
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, examples, plain, several, table
from services.domain.errors import UsageError
from services.domain.gates.quiet_hours import Weekly
from services.domain.plans import recurrence
from services.domain.promises import promise as promises
from services.domain.promises.judge import CHECKS
from services.domain.promises.promise import AGE, ALWAYS, BY, Promise
from services.domain.promises.standing import SharedCause, Standing
from services.domain.task.search import filter_time
from services.domain.text.message import Message
from services.i18n import N_
from services.monitor.promises import HOLDS, PASSED, UNJUDGED, Before, MatrixRow, PromiseRow, PromiseStory

#: of many causes, or names, so many are said in one line
HELD_SHOWN = 4
EXAMPLES = (
    "promise set pdd-orders --type sync_order --platform pdd --never-older-than 60m",
    "promise set goods --type refresh_goods --all --by 08:00 --days mon-fri --owner ann",
    "promise set replies --type batch_reply --group vip --never-older-than 5m --hours 08:00-23:00",
    "promise set goods --type refresh_goods --all --by 08:00 --dry-run",
    "promise list",
    "promise show pdd-orders",
    "promise disable goods --note 'the platform is closed'",
    "promise remove goods --note 'no longer sold'",
)


def add(nouns: Any) -> None:
    noun = nouns.add_parser(
        "promise",
        help="how old the work of shops may be, or by when it is done",
        description="A promise is made of one task type for some shops: its last success is never older than a time, or"
        " it is done by an hour. The leader judges all of them every 15 seconds and says before one breaks which shops"
        " hold it and why. A pause or quiet hours do not excuse a promise. Hours are those of the fleet's time zone"
        " (see schedule zone).",
        **examples(EXAMPLES),
    )
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    verbs.add_parser("list", handler=list_all, help="all of them")
    showing = verbs.add_parser("show", handler=show, help="one of them")
    showing.add_argument("name")
    _add_set(verbs.add_parser("set", help="promise something, in the place of what has this name"))
    for verb, enabled, text in (("enable", True, "judge it again"), ("disable", False, "judge it no longer")):
        switching = verbs.add_parser(verb, help=text)
        switching.add_argument("name")
        switching.set_defaults(handler=switch, enabled=enabled)
        _add_note(switching)
    removing = verbs.add_parser("remove", handler=remove, help="take it away; what it was stays in the audit")
    removing.add_argument("name")
    _add_note(removing)


def _add_note(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--note", default="", help="why; kept in the audit")
    parser.add_argument("--yes", action="store_true", help="do not ask (asked in production)")


def _add_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="letters, digits, _ and -")
    parser.add_argument("--type", dest="task_type", required=True)
    what = parser.add_argument_group("what (one way)")
    what.add_argument("--never-older-than", default="", metavar="DURATION", help="of the last success, such as 60m")
    what.add_argument("--by", default="", metavar="HH:MM", help="done between midnight, or --from, and this hour")
    when = parser.add_argument_group("when")
    when.add_argument("--days", default="daily", help="such as mon-fri or sat,sun (default: daily)")
    when.add_argument("--hours", default="", metavar="FROM-TO", help="with --never-older-than: only in these hours")
    when.add_argument("--from", dest="begin", default="", metavar="HH:MM", help="with --by: what is done before is not")
    who = parser.add_argument_group("for which shops (one way)")
    who.add_argument("--shop", action="append", default=[], metavar="SHOP", help="several: again, or with commas")
    who.add_argument("--platform", action="append", default=[], metavar="P", help="several: any of them")
    who.add_argument("--group", action="append", default=[], metavar="G", help="with --platform: both must fit")
    who.add_argument("--all", action="store_true", dest="all_shops", help="all that are registered and enabled")
    parser.add_argument("--owner", default="", help="who answers for it")
    parser.add_argument("--note", default="")
    parser.add_argument("--dry-run", action="store_true", help="say how it would stand now, and change nothing")
    parser.add_argument("--disabled", action="store_true", help="keep it, but do not judge it yet")
    parser.add_argument("--yes", action="store_true", help="do not ask (asked in production)")
    parser.set_defaults(handler=set_)


def list_all(context: Context) -> int:
    """Print all, and how they stand."""
    with context.engine() as engine:
        now = assembly.queries(engine).promises.now()
    fields = ("name", "promise", "state", "kept", "at_risk", "broken", "when", "what_holds_it")
    rows = [document(row, now.zone) for row in now.rows]
    lines = [[_shown(row[field]) for field in fields] for row in rows]
    told = table(fields, lines) if lines else [spoken.phrase("there are no promises; see `promise set`")]
    context.show(
        {"promises": rows, "time_zone": now.zone, "leader": now.leader},
        [*told, *_stale(now.rows, now.leader), spoken.phrase("time zone: {zone}", zone=now.zone)],
    )
    return EXIT_OK


def show(context: Context) -> int:
    """Print one, with its shops that are not kept."""
    with context.engine() as engine:
        _one(engine, context.args.name)
        asked = assembly.queries(engine).promises
        now, found = asked.now(), asked.story(context.args.name)
    if found is None:
        promises.refuse_unknown(context.args.name)
    context.show(story(found, now.zone), [*_lines(found, now.zone), *_stale([found.row], now.leader)])
    return EXIT_OK


def set_(context: Context) -> int:
    """Promise something."""
    asked = _promise(context.args)
    with context.engine() as engine:
        commands = assembly.commands(engine).promises
        made = commands.checked(asked)
        queries = assembly.queries(engine).promises
        if context.args.dry_run:
            found = queries.judged(made, workforce.promise_keeper(engine).tried(made))
            zone, past = commands.zone(), queries.before(made)
            lines = [*_lines(found, zone), "", *map(spoken.say, past.said)]
            if past.breaks:
                lines.append(spoken.phrase("the last time at {at}", at=_clock(past.last, zone)))
            context.show(
                {"dry_run": story(found, zone) | {"before": _before(past, zone)}},
                [spoken.phrase("if this were kept:"), *lines],
            )
            return EXIT_OK
        if not context.sure(engine, spoken.phrase("promise {words}", words=words(made))):
            return EXIT_FAILED
        before = commands.set(made)
        row = next(document(one, commands.zone()) for one in queries.now().rows if one.name == made.name)
    line = spoken.phrase(
        "promise {name}, version {version}: {promise}", name=made.name, version=row["version"], promise=row["promise"]
    )
    context.show({"promise": row, "replaced": before is not None}, [line])
    return EXIT_OK


def _before(found: Before, zone: str) -> dict[str, Any]:
    return {
        "known": found.told,
        "breaks": found.breaks,
        "shops": found.shops,
        "last": recurrence.iso(found.last, zone) if found.last else None,
        "unknown": found.unknown,
    }


def switch(context: Context) -> int:
    """Judge one again, or no longer."""
    name, enabled = context.args.name, context.args.enabled
    with context.engine() as engine:
        _one(engine, name)
        what = N_("enable the promise {name}") if enabled else N_("disable the promise {name}")
        if not context.sure(engine, spoken.phrase(what, name=name)):
            return EXIT_FAILED
        changed = assembly.commands(engine).promises.enable(name, enabled=enabled, note=context.args.note)
    now, already = (
        (N_("the promise {name} is judged now"), N_("the promise {name} is judged already"))
        if enabled
        else (N_("the promise {name} is not judged now"), N_("the promise {name} is not judged already"))
    )
    text = spoken.phrase(now if changed else already, name=name)
    context.show({"name": name, "enabled": enabled, "changed": changed}, [text])
    return EXIT_OK


def remove(context: Context) -> int:
    """Take one away."""
    name = context.args.name
    with context.engine() as engine:
        commands = assembly.commands(engine).promises
        if name not in commands.names():
            _one(engine, name)
        if not context.sure(engine, spoken.phrase("remove the promise {name}", name=name)):
            return EXIT_FAILED
        was = commands.remove(name, note=context.args.note)
    text = (
        spoken.phrase("the promise {name} is removed", name=name)
        if was
        else spoken.phrase("there was no promise {name}", name=name)
    )
    context.show({"removed": name, "was_set": was}, [text])
    return EXIT_OK


def _one(engine: assembly.Engine, name: str) -> Promise:
    known = assembly.commands(engine).promises.known()
    found = next((one for one in known if one.name == name), None)
    if found is None:
        promises.refuse_unknown(name)
    return found


def _promise(args: argparse.Namespace) -> Promise:
    if bool(args.never_older_than) == bool(args.by):
        raise UsageError(spoken.phrase("give either --never-older-than or --by"), field="limit")
    window = msgspec.structs.replace(ALWAYS, days=promises.days(args.days))
    limit_s = 0
    if args.by:
        if args.hours:
            raise UsageError(spoken.phrase("--hours goes with --never-older-than; use --from with --by"), field="hours")
        start = promises.hour(args.begin, "from") if args.begin else 0
        window = Weekly(days=window.days, start=start, end=promises.hour(args.by, "by"))
    else:
        if args.begin:
            raise UsageError(spoken.phrase("--from goes with --by; use --hours with --never-older-than"), field="from")
        limit_s = _seconds(args.never_older_than)
        if args.hours:
            start, end = promises.hours(args.hours)
            window = Weekly(days=window.days, start=start, end=end)
    return Promise(
        name=args.name,
        task_type=args.task_type,
        kind=BY if args.by else AGE,
        limit_s=limit_s,
        window=window,
        shops=several(args.shop),
        platforms=several(args.platform),
        groups=tuple(args.group),
        all_shops=args.all_shops,
        owner=args.owner.strip(),
        note=args.note.strip(),
        enabled=not args.disabled,
    )


def _seconds(text: str) -> int:
    found = filter_time.duration_ms(text)
    if found is None or found % 1000:
        told = spoken.phrase(
            "--never-older-than takes whole seconds, such as 5m, 60m or 2h, not {text}", text=f"{text!r:.40}"
        )
        raise UsageError(told, field="limit")
    return found // 1000


def words(promise: Promise) -> str:
    """The promise in one English sentence."""
    return ", ".join(spoken.say(part) for part in promises.sentence(promise))


def document(row: PromiseRow, zone: str) -> dict[str, Any]:
    """A promise as JSON, with how it stands."""
    promise, found = row.promise, row.standing
    fields: dict[str, Any] = msgspec.to_builtins(promise)
    window = fields.pop("window")
    for name in ("since", "created_at", "updated_at"):
        fields[name] = shapes.iso(fields[name]) if fields[name] else None
    return {
        "name": fields.pop("name"),
        "promise": words(promise),
        **fields,
        "from": promises.clock(window["start"]),
        "to": promises.clock(window["end"]),
        "days": promises.days_text(promise),
        "state": row.state,
        "stale": row.stale,
        "judged_at": shapes.iso(found.judged_at) if found else None,
        **{name: getattr(found, name) if found else None for name in ("total", "kept", "at_risk", "broken", "not_due")},
        "first_break": shapes.iso(found.first_break) if found and found.first_break else None,
        "when": _when(found, zone) if found else "",
        "what_holds_it": [f"{one.shops} {spoken.say(one.message)}" for one in row.holds[:HELD_SHOWN]],
    }


def story(found: PromiseStory, zone: str) -> dict[str, Any]:
    """A promise with its causes, its shops that are not kept, and its breaks."""
    now = found.row.standing.judged_at if found.row.standing is not None else 0
    return document(found.row, zone) | {
        "causes": [
            {
                "check": one.check,
                "code": one.code,
                "text": spoken.say(one.message),
                "shops": one.shops,
                "broken": one.broken,
                "first_break": shapes.iso(one.first_at),
                "named": list(one.named),
                "who": _who(one.who, one.role),
                "verb": one.verb,
                "target": one.target,
            }
            for one in found.causes
        ],
        "shops": [_shop(one) for one in found.matrix],
        "unlisted": found.unlisted,
        "strip": [[shapes.iso(at), state] for at, state in found.row.standing.strip] if found.row.standing else [],
        "breaks": [
            {
                "at": shapes.iso(one.at),
                "until": shapes.iso(one.until) if one.until else None,
                "seconds": ((one.until or now) - one.at) // 1000,
                "shops": one.shops,
                "first": one.first,
                "warned_at": shapes.iso(one.warned_at) if one.warned_at else None,
                "reason": spoken.say(Message(one.code, one.params)) if one.code else "",
            }
            for one in found.breaks
        ],
    }


def _shop(one: MatrixRow) -> dict[str, Any]:
    row = one.row
    return {
        "shop": row.shop,
        "name": one.name,
        "state": row.state,
        "last_success": shapes.iso(row.done_at) if row.done_at else None,
        "breaks_at": shapes.iso(row.break_at) if row.break_at else None,
        "forecast": [shapes.iso(at) for at in (row.low, row.mid, row.high)] if row.mid else None,
        "checks": dict(zip(CHECKS, one.cells, strict=True)),
        "held_by": spoken.say(one.held_by) if one.held_by is not None else "",
        "who": _who(row.who, row.role),
        "verb": row.verb,
        "target": row.target,
        "task_id": row.task_id,
    }


def _lines(found: PromiseStory, zone: str) -> list[str]:
    row = document(found.row, zone)
    shown = ("name", "promise", "state", "version", "owner", "note", "kept", "at_risk", "broken", "not_due", "when")
    lines = [tables.fact(name, _shown(row[name])) for name in shown if row[name] not in ("", None)]
    if found.causes:
        lines += ["", *_causes(found.causes, zone)]
    if found.matrix:
        head = ("shop", "state", "breaks", *CHECKS, "held by", "who can act")
        lines += ["", *table(head, [_matrix(one, zone) for one in found.matrix])]
    if found.unlisted:
        lines.append(spoken.phrase("and {unlisted} more", unlisted=f"{found.unlisted:,}"))
    if found.breaks:
        last = found.breaks[0]
        lines.append(
            spoken.plural(
                "last broken {at} in {shops}; {count} break in 30 days",
                "last broken {at} in {shops}; {count} breaks in 30 days",
                len(found.breaks),
                at=_clock(last.at, zone),
                shops=f"{last.shops:,}",
            )
        )
    return lines


def _causes(causes: Sequence[SharedCause], zone: str) -> list[str]:
    rows = [(one.shops, spoken.say(one.message), _who(one.who, one.role), _clock(one.first_at, zone)) for one in causes]
    return table(("shops", "what holds them", "who can act", "first break"), [list(map(str, row)) for row in rows])


def _matrix(one: MatrixRow, zone: str) -> list[str]:
    marks = {PASSED: "ok", HOLDS: "X"}
    held = spoken.say(one.held_by) if one.held_by is not None else ""
    where = [one.row.shop, one.row.state, _clock(one.row.break_at, zone)]
    return [*where, *(marks.get(cell, ".") for cell in one.cells), held, _who(one.row.who, one.row.role)]


def _who(person: str, role: str) -> str:
    return person or (spoken.say(Message(role)) if role else "")


def _clock(instant: int, zone: str) -> str:
    return recurrence.iso(instant, zone)[:16].replace("T", " ") if instant else ""


def _when(found: Standing, zone: str) -> str:
    if found.first_break:
        return spoken.phrase(
            "{first_shops} break {at}", first_shops=f"{found.first_shops:,}", at=_clock(found.first_break, zone)
        )
    if found.broken and found.rows:
        return spoken.phrase("broken {at}", at=_clock(found.rows[0].break_at, zone))
    if found.mid:
        spread = max(1, round((found.high - found.low) / 120_000))
        return spoken.phrase("next {at} +-{spread} min", at=_clock(found.mid, zone), spread=spread)
    return spoken.phrase("next {at}", at=_clock(found.next, zone)) if found.next else ""


def _stale(rows: Sequence[PromiseRow], leader: str) -> list[str]:
    """What is not true of this moment, and why."""
    waits = [row.name for row in rows if row.stale or row.state == UNJUDGED]
    if not waits:
        return []
    why = "" if leader else spoken.phrase(": no worker leads; start one")
    return [spoken.phrase("not judged of late{why}: {names}", why=why, names=", ".join(waits[:HELD_SHOWN]))]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return plain(value)
    return "; ".join(value) if isinstance(value, list | tuple) else "" if value is None else str(value)
