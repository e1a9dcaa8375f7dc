"""``quiet``: hours in which nothing of a platform, a shop, a type, or nothing at all starts."""

from __future__ import annotations

import re
from typing import Any

from services import assembly
from services.cli import guesses, lexicon, shapes, spoken, tables
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, examples, table
from services.cli.instants import Instants
from services.commands.quiet import QuietNow
from services.domain.errors import NotFound
from services.domain.gates import quiet_hours
from services.domain.gates.quiet_hours import Once, QuietHours
from services.domain.plans import recurrence

EXAMPLES = (
    "quiet list",
    "quiet set night platform:temu --weekly 'mon-fri 22:00-06:00' --note 'no risk control at night'",
    "quiet set stock shop:pdd:1 --once 2026-11-24T22:00 2026-11-25T06:00 --note stock-taking",
    "quiet set deploy all --once now 2h --note 'new release of the flows'",
    "quiet show night",
    "quiet remove night --note 'agreed with the platform'",
)
#: a time of day, which ends what begins now
_CLOCK = re.compile(r"\d{1,2}:\d\d", re.ASCII)


def add(nouns: Any) -> None:
    noun = nouns.add_parser(
        "quiet",
        help="hours in which nothing of a platform, a shop or a type starts",
        description="While a window is open no task of its scope starts; running ones go on. What waits goes on by"
        " itself when the window ends. Hours are those of the fleet's time zone (see schedule zone), days those on"
        " which a window begins.",
        **examples(EXAMPLES),
    )
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    verbs.add_parser("list", handler=list_all, help="all of them, and when they hold next")
    showing = verbs.add_parser("show", handler=show, help="one of them")
    showing.add_argument("name")
    setting = verbs.add_parser("set", handler=set_, help="set some, in the place of what has this name")
    setting.add_argument("name", help="letters, digits, _ and -")
    setting.add_argument("scope", help="all, platform:P, shop:P:ID or type:T")
    setting.add_argument(
        "--weekly", action="append", default=[], metavar="DAYS FROM-TO", help="such as 'mon-fri 22:00-06:00'; repeats"
    )
    setting.add_argument(
        "--once",
        action="append",
        default=[],
        nargs=2,
        metavar=("FROM", "UNTIL"),
        help="two instants, such as now 06:00; repeats",
    )
    setting.add_argument("--note", required=True, help="why; every waiting task and the audit say it")
    removing = verbs.add_parser("remove", handler=remove, help="take some away; what waits goes on")
    removing.add_argument("name")
    removing.add_argument("--note", default="", help="why; kept in the audit")
    for parser in (setting, removing):
        parser.add_argument("--yes", action="store_true", help="do not ask (asked in production)")


def list_all(context: Context) -> int:
    """Print all."""
    with context.engine() as engine:
        commands = assembly.commands(engine).quiet
        found, zone, now = commands.known(), commands.zone(), engine.store.now_ms()
    rows = [_row(one, zone, now) for one in found]
    fields = ("name", "scope", "state", "from", "until", "when", "by", "reason")
    lines = [[_shown(row[field]) for field in fields] for row in rows]
    told = table(fields, lines) if lines else [spoken.phrase("there are no quiet hours")]
    context.show({"quiet_hours": rows, "time_zone": zone}, [*told, spoken.phrase("time zone: {zone}", zone=zone)])
    return EXIT_OK


def show(context: Context) -> int:
    """Print one."""
    with context.engine() as engine:
        commands = assembly.commands(engine).quiet
        found = _one(commands.known(), context.args.name)
        row, zone = _row(found, commands.zone(), engine.store.now_ms()), commands.zone()
    here = shapes.local(row, zone, "set_at")
    context.show(row, [tables.fact(name, _shown(value)) for name, value in here.items()])
    return EXIT_OK


def set_(context: Context) -> int:
    """Set some."""
    args = context.args
    with context.engine() as engine:
        commands = assembly.commands(engine).quiet
        now = engine.store.now_ms()
        read = Instants(commands.zone(), now).read
        hours = QuietHours(
            name=args.name,
            scope=args.scope,
            weekly=tuple(quiet_hours.weekly(text) for text in args.weekly),
            once=tuple(
                _until(end, commands.zone(), now)
                if start == "now" and _CLOCK.fullmatch(end)
                else Once(start=now if start == "now" else read(start, "--once"), end=read(end, "--once"))
                for start, end in args.once
            ),
            reason=args.note.strip(),
        )
        quiet_hours.check(hours, now)
        warnings = guesses.unheard(engine, hours.scope)
        context.warn(warnings)
        if not context.sure(engine, spoken.phrase("set quiet hours for {scope}", scope=hours.scope)):
            return EXIT_FAILED
        before = commands.set(hours)
        found, zone = _one(commands.known(), args.name), commands.zone()
    row = _row(found, zone, now)
    next_ = spoken.phrase("from {begin} until {end}", begin=row["from"], end=row["until"])
    line = spoken.phrase(
        "quiet hours {name} for {scope}: {state}, {next}",
        name=args.name,
        scope=args.scope,
        state=lexicon.called("state", row["state"]),
        next=next_,
    )
    context.show({"quiet_hours": row, "replaced": before is not None, "warnings": warnings}, [line])
    return EXIT_OK


def _until(clock: str, zone: str, now: int) -> Once:
    """From now on to the next time that the fleet's clocks show this, as the window takes it."""
    return quiet_hours.windows(f"until {clock}", zone, now)[1][0]


def remove(context: Context) -> int:
    """Take some away."""
    name = context.args.name
    with context.engine() as engine:
        commands = assembly.commands(engine).quiet
        if name not in commands.names():
            _one(commands.known(), name)
        if not context.sure(engine, spoken.phrase("remove the quiet hours {name}", name=name)):
            return EXIT_FAILED
        was = commands.remove(name, note=context.args.note)
    text = (
        spoken.phrase("the quiet hours {name} are removed; what waited goes on", name=name)
        if was
        else spoken.phrase("there were no quiet hours {name}", name=name)
    )
    context.show({"removed": name, "was_set": was}, [text])
    return EXIT_OK


def _one(found: list[QuietNow], name: str) -> QuietNow:
    known = next((one for one in found if one.hours.name == name), None)
    if known is None:
        names = ", ".join(one.hours.name for one in found) or spoken.phrase("none")
        raise NotFound(
            spoken.phrase("there are no quiet hours {name}; there are {names}", name=f"{name!r:.80}", names=names),
            field="name",
        )
    return known


def _row(one: QuietNow, zone: str, now: int) -> dict[str, Any]:
    hours = one.hours
    state = "over" if not one.ends else "open" if one.begins <= now else "waits"
    return {
        "name": hours.name,
        "scope": hours.scope,
        "state": state,
        "from": recurrence.iso(one.begins, zone) if one.ends else None,
        "until": recurrence.iso(one.ends, zone) if one.ends else None,
        "when": [quiet_hours.weekly_text(part) for part in hours.weekly]
        + [f"{recurrence.iso(part.start, zone)} - {recurrence.iso(part.end, zone)}" for part in hours.once],
        "by": hours.by,
        "set_at": shapes.iso(hours.at) if hours.at else None,
        "reason": hours.reason,
    }


def _shown(value: Any) -> str:
    return "; ".join(value) if isinstance(value, list) else "" if value is None else str(value)
