"""``doctor``: what the fleet stands on, what is wrong with it, and what to do."""

from __future__ import annotations

from typing import Any

from services import diagnosis
from services.cli import lexicon, output, progress, shapes, spoken, tables
from services.cli.context import EXIT_CONNECT, EXIT_FAILED, EXIT_OK, Context, examples
from services.domain.upkeep.health import ERROR, LEVELS, Finding
from services.monitor.doctor import BROKER_GONE, FILE_GONE, STORE_GONE

EXAMPLES = ("doctor", "doctor --deep", "doctor --profile shops --json")
GONE = frozenset({STORE_GONE, BROKER_GONE, FILE_GONE})


def add(nouns: Any) -> None:
    parser = nouns.add_parser(
        "doctor",
        handler=doctor,
        help="look at broker, store, workers and this machine; exit code 1 when something is wrong",
        description="Looks at versions, queue arguments, what Redis may lose, clocks, free disk, leader, workers, tasks"
        " and messages that nobody holds, task types, and what would fit the work of this fleet better. Each finding"
        " has its remedy; nothing is repaired.",
        **examples(EXAMPLES),
    )
    parser.add_argument(
        "--deep", action="store_true", help="compare indexes and counters with the records, also of very many tasks"
    )


def doctor(context: Context) -> int:
    """Print the findings, the worst first; 1 when one is an error, 3 when broker or store cannot be reached."""
    settings, deep = context.settings(), context.args.deep
    what = spoken.phrase("looking at every record") if deep else spoken.phrase("looking at the fleet")
    with progress.busy(what, quiet=context.json):
        told = diagnosis.examine(settings, deep=deep)
    found = sorted(told.findings, key=lambda one: LEVELS.index(one.level))
    document = {
        "findings": [
            {
                "level": one.level,
                "check": one.check,
                **shapes.message(one.message),
                "remedy": spoken.say(one.remedy) if one.remedy is not None else "",
            }
            for one in found
        ],
        "attention": [shapes.attention(item) for item in told.attention],
        "errors": sum(1 for one in found if one.level == ERROR),
    }
    lines: list[str] = [_line(one) for one in found]
    lines += [spoken.phrase("needs attention: {what}", what=spoken.item(item)) for item in told.attention]
    context.show(document, lines)
    if any(one.message.code in GONE for one in found):
        return EXIT_CONNECT
    return EXIT_FAILED if document["errors"] else EXIT_OK


def _line(one: Finding) -> output.Line:
    remedy = f"\n{'':19}{spoken.say(one.remedy)}" if one.remedy is not None else ""
    level, check = lexicon.called("level", one.level), lexicon.called("check", one.check)
    text = f"{tables.padded(level, 8)} {tables.padded(check, 9)} {spoken.say(one.message)}{remedy}"
    style = tables.COLOURS.get(one.level, "")
    return output.Line(text, [(0, len(level), style)] if style else ())
