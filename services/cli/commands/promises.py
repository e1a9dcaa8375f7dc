"""``promise``: how old the work of shops may be, or by when it has to be done, and whether that is kept."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from services import assembly, messages
from services.cli import shapes
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, examples, table
from services.domain.errors import UsageError
from services.domain.gates.quiet_hours import Weekly
from services.domain.promises import promise as promises
from services.domain.promises.promise import AGE, ALWAYS, BY, Promise
from services.domain.task import filter_time

EXAMPLES = (
    "promise set pdd-orders --type sync_order --platform pdd --never-older-than 60m",
    "promise set goods --type refresh_goods --all --by 08:00 --days mon-fri --owner ann",
    "promise set replies --type batch_reply --group vip --never-older-than 5m --hours 08:00-23:00",
    "promise list",
    "promise show pdd-orders",
    "promise disable goods --note 'the platform is closed'",
    "promise remove goods --note 'no longer sold'",
)


def add(nouns: Any, common: argparse.ArgumentParser) -> None:
    """Declare the noun."""
    noun = nouns.add_parser(
        "promise",
        parents=[common],
        help="how old the work of shops may be, or by when it is done",
        description="A promise is made of one task type for some shops: its last success is never older than a time, or"
        " it is done by an hour. The leader judges all of them every 15 seconds and says before one breaks which shops"
        " hold it and why. A pause or quiet hours do not excuse a promise. Hours are those of the fleet's time zone"
        " (see schedule zone).",
        **examples(EXAMPLES),
    )
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    verbs.add_parser("list", parents=[common], help="all of them").set_defaults(handler=list_all)
    showing = verbs.add_parser("show", parents=[common], help="one of them")
    showing.add_argument("name")
    showing.set_defaults(handler=show)
    _add_set(verbs.add_parser("set", parents=[common], help="promise something, in the place of what has this name"))
    for verb, enabled, text in (("enable", True, "judge it again"), ("disable", False, "judge it no longer")):
        switching = verbs.add_parser(verb, parents=[common], help=text)
        switching.add_argument("name")
        switching.set_defaults(handler=switch, enabled=enabled)
        _add_note(switching)
    removing = verbs.add_parser("remove", parents=[common], help="take it away; what it was stays in the audit")
    removing.add_argument("name")
    removing.set_defaults(handler=remove)
    _add_note(removing)


def _add_note(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--note", default="", help="why; kept in the audit")
    parser.add_argument("--yes", action="store_true", help="do not ask (asked where the profile says PROD)")


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
    who.add_argument("--shop", action="append", default=[], metavar="SHOP", help="may stand several times")
    who.add_argument("--platform", action="append", default=[], metavar="P", help="several: any of them")
    who.add_argument("--group", action="append", default=[], metavar="G", help="with --platform: both must fit")
    who.add_argument("--all", action="store_true", dest="all_shops", help="all that are registered and enabled")
    parser.add_argument("--owner", default="", help="who answers for it")
    parser.add_argument("--note", default="")
    parser.add_argument("--disabled", action="store_true", help="keep it, but do not judge it yet")
    parser.add_argument("--yes", action="store_true", help="do not ask (asked where the profile says PROD)")
    parser.set_defaults(handler=set_)


def list_all(context: Context) -> int:
    """Print all."""
    with context.engine() as engine:
        commands = assembly.commands(engine).promises
        rows, zone = [document(one) for one in commands.known()], commands.zone()
    fields = ("name", "promise", "owner", "enabled", "version")
    lines = [[_shown(row[field]) for field in fields] for row in rows]
    told = table(fields, lines) if lines else ["there are no promises; see `promise set`"]
    context.show({"promises": rows, "time_zone": zone}, told)
    return EXIT_OK


def show(context: Context) -> int:
    """Print one."""
    with context.engine() as engine:
        row = document(_one(engine, context.args.name))
    context.show(row, [f"{name}: {_shown(value)}" for name, value in row.items()])
    return EXIT_OK


def set_(context: Context) -> int:
    """Promise something."""
    asked = _promise(context.args)
    with context.engine() as engine:
        commands = assembly.commands(engine).promises
        made = commands.checked(asked)
        if not _sure(context, engine, f"promise {words(made)}"):
            return EXIT_FAILED
        before = commands.set(made)
        row = document(_one(engine, made.name))
    line = f"promise {made.name}, version {row['version']}: {row['promise']}"
    context.show({"promise": row, "replaced": before is not None}, [line])
    return EXIT_OK


def switch(context: Context) -> int:
    """Judge one again, or no longer."""
    name, enabled = context.args.name, context.args.enabled
    with context.engine() as engine:
        _one(engine, name)
        if not _sure(context, engine, f"{'enable' if enabled else 'disable'} the promise {name}"):
            return EXIT_FAILED
        changed = assembly.commands(engine).promises.enable(name, enabled=enabled, note=context.args.note)
    text = f"the promise {name} is {'judged' if enabled else 'not judged'} {'now' if changed else 'already'}"
    context.show({"name": name, "enabled": enabled, "changed": changed}, [text])
    return EXIT_OK


def remove(context: Context) -> int:
    """Take one away."""
    name = context.args.name
    with context.engine() as engine:
        commands = assembly.commands(engine).promises
        if name not in commands.names():
            _one(engine, name)
        if not _sure(context, engine, f"remove the promise {name}"):
            return EXIT_FAILED
        was = commands.remove(name, note=context.args.note)
    text = f"the promise {name} is removed" if was else f"there was no promise {name}"
    context.show({"removed": name, "was_set": was}, [text])
    return EXIT_OK


def _sure(context: Context, engine: assembly.Engine, what: str) -> bool:
    """In production a person is asked."""
    profile = engine.settings.profiles.get(engine.settings.profile)
    return profile is None or profile.environment.upper() != "PROD" or context.confirm(what)


def _one(engine: assembly.Engine, name: str) -> Promise:
    known = assembly.commands(engine).promises.known()
    found = next((one for one in known if one.name == name), None)
    if found is None:
        promises.refuse_unknown(name)
    return found


def _promise(args: argparse.Namespace) -> Promise:
    if bool(args.never_older_than) == bool(args.by):
        raise UsageError("give either --never-older-than or --by", field="limit")
    window = msgspec.structs.replace(ALWAYS, days=promises.days(args.days))
    limit_s = 0
    if args.by:
        if args.hours:
            raise UsageError("--hours goes with --never-older-than; use --from with --by", field="hours")
        start = promises.hour(args.begin, "from") if args.begin else 0
        window = Weekly(days=window.days, start=start, end=promises.hour(args.by, "by"))
    else:
        if args.begin:
            raise UsageError("--from goes with --by; use --hours with --never-older-than", field="from")
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
        shops=tuple(args.shop),
        platforms=tuple(args.platform),
        groups=tuple(args.group),
        all_shops=args.all_shops,
        owner=args.owner.strip(),
        note=args.note.strip(),
        enabled=not args.disabled,
    )


def _seconds(text: str) -> int:
    found = filter_time.duration_ms(text)
    if found is None or found % 1000:
        told = f"--never-older-than takes whole seconds, such as 5m, 60m or 2h, not {text!r:.40}"
        raise UsageError(told, field="limit")
    return found // 1000


def words(promise: Promise) -> str:
    """The promise in one English sentence."""
    return ", ".join(messages.english(part) for part in promises.sentence(promise))


def document(promise: Promise) -> dict[str, Any]:
    """A promise as JSON."""
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
    }


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "; ".join(value) if isinstance(value, list | tuple) else "" if value is None else str(value)
