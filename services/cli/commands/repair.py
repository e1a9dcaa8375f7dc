"""``repair``: what can be mended safely, and what is left for a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from services import repairs
from services.cli import lexicon, output, progress, shapes, spoken, tables
from services.cli.context import EXIT_OK, Context, examples, table
from services.domain import audit
from services.domain.errors import UsageError
from services.domain.upkeep.repair import LEFT, STATES, UNSEEN
from services.monitor import aside

EXAMPLES = ("repair --dry-run", "repair", "repair --from-stream --profile shops", "repair --list-aside")
SHOWN = 60


def add(nouns: Any) -> None:
    parser = nouns.add_parser(
        "repair",
        handler=repair,
        help="mend queues, lost messages, counters and indexes, marks and letters; safe beside working workers",
        description="Declares what is missing, sends what waits, takes up what nobody runs, compares indexes and"
        " counters with the records, releases what an open gate holds, and names what only a person can mend. Deletes"
        " nothing.",
        **examples(EXAMPLES),
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    parser.add_argument(
        "--from-stream",
        action="store_true",
        help="also make lost dead letters again from their second copy (rpa_dead_log; RabbitMQ only)",
    )
    parser.add_argument(
        "--list-aside",
        action="store_true",
        help="only list what could not be read and was set aside: where it lay, when, by whose repair, and its value",
    )
    parser.add_argument(
        "--export-aside",
        default="",
        metavar="FILE",
        help="only write that into a new file, one JSON object a line; with --reveal also the bytes and secrets",
    )


def repair(context: Context) -> int:
    """Print what was mended, what would be, and what is left, that first.

    Raises:
        UsageError: options that exclude each other, or the file is there already or cannot be written.
    """
    args = context.args
    if args.list_aside or args.export_aside:
        if args.dry_run or args.from_stream:
            told = spoken.phrase(
                "--list-aside and --export-aside repair nothing; leave --dry-run and --from-stream out"
            )
            raise UsageError(told, field="--list-aside")
        return _aside(context)
    with repairs.opened(context.settings(), via=audit.CLI) as commands:
        act = commands.plan if args.dry_run else commands.repair
        with progress.busy(spoken.phrase("looking at every record"), quiet=context.json) as step:
            mends = act(from_stream=args.from_stream, told=step)
    found = sorted(mends, key=lambda one: STATES.index(one.state))
    document = {
        "dry_run": args.dry_run,
        "found": [
            {
                "state": one.state,
                **shapes.message(one.message),
            }
            for one in found
        ],
        "left": sum(1 for one in found if one.state == LEFT),
    }
    lines = [f"{tables.padded(lexicon.called('repair', one.state), 8)} {spoken.say(one.message)}" for one in found]
    well = all(one.state == UNSEEN for one in found)
    context.show(document, [*([spoken.phrase("nothing has to be mended")] if well else []), *lines])
    return EXIT_OK


def _aside(context: Context) -> int:
    """List what was set aside, or write it into a file."""
    with context.engine() as engine:
        found, zone = aside.of(engine.store), shapes.zone(engine)
    if context.args.export_aside:
        reveal = output.REVEALED.get()
        aside.write(Path(context.args.export_aside), [aside.document(one, reveal=reveal) for one in found])
        path = context.args.export_aside
        context.show(
            {"file": path, "entries": len(found)},
            [
                spoken.plural(
                    "{count} entry written to {path}", "{count} entries written to {path}", len(found), path=path
                )
            ],
        )
        return EXIT_OK
    rows = [
        (
            one.entry.place,
            one.entry.entry,
            shapes.clock(one.entry.at, zone),
            one.by,
            one.size,
            _value(one),
        )
        for one in found
    ]
    lines = table(("place", "entry", "set aside", "by", "bytes", "value"), rows)
    context.show({"aside": [_document(one) for one in found]}, lines)
    return EXIT_OK


def _document(one: aside.AsideView) -> dict[str, Any]:
    entry = one.entry
    return {
        "place": entry.place,
        "entry": entry.entry,
        "at": shapes.iso(entry.at),
        "by": one.by,
        "why": entry.why,
        "bytes": one.size,
        "value": _value(one),
    }


def _value(one: aside.AsideView) -> str:
    return aside.value(one, reveal=output.REVEALED.get())[:SHOWN]
