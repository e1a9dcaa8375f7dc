"""``repair``: what can be mended safely, and what is left for a person."""

from __future__ import annotations

import argparse
from typing import Any

from services import mending
from services.domain.repair import LEFT, STATES
from services.entrypoints.context import EXIT_OK, Context, examples
from services.messages import english

EXAMPLES = ("repair --dry-run", "repair", "repair --from-stream --profile shops")


def add(nouns: Any, common: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser = nouns.add_parser(
        "repair",
        parents=[common],
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
    parser.set_defaults(handler=repair)


def repair(context: Context) -> int:
    """Print what was mended, what would be, and what is left, that first."""
    args = context.args
    with mending.opened(context.settings()) as commands:
        act = commands.plan if args.dry_run else commands.repair
        found = sorted(act(from_stream=args.from_stream), key=lambda one: STATES.index(one.state))
    document = {
        "dry_run": args.dry_run,
        "found": [
            {
                "state": one.state,
                "code": one.message.code,
                "params": dict(one.message.params),
                "text": english(one.message),
            }
            for one in found
        ],
        "left": sum(1 for one in found if one.state == LEFT),
    }
    context.show(document, [f"{one.state:<8} {english(one.message)}" for one in found])
    return EXIT_OK
