"""``task resolve``: what a person knows about held tasks, whose outcome nobody recorded."""

from __future__ import annotations

import argparse
from typing import Any

from services import assembly
from services.cli import choose, progress
from services.cli.context import EXIT_FAILED, Context
from services.domain.errors import UsageError
from services.domain.task.status import Status

#: words of the command line -> what the record becomes
DECISIONS = {"succeeded": Status.SUCCEEDED, "again": Status.PENDING, "dead": Status.DEAD}


def add(verbs: Any, common: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser = verbs.add_parser(
        "resolve", parents=[common], help="decide about held tasks: it ran, run it again, or a dead letter"
    )
    choose.add_choice(parser)
    parser.add_argument("--as", dest="decision", choices=sorted(DECISIONS), required=True)
    parser.add_argument("--note", default="", help="how you know, or why again; not needed with --as dead")
    parser.set_defaults(handler=resolve)


def resolve(context: Context) -> int:
    """Record the decision for each of them; exit 1 when one was not held."""
    args = context.args
    if args.decision == "succeeded" and not args.note.strip():
        raise UsageError("--as succeeded needs --note: say how you know that it ran", field="--note")
    if args.decision == "again" and not args.note.strip():
        raise UsageError("--as again needs --note: its work may be done already, say why it runs again", field="--note")
    with context.engine() as engine:
        ids = choose.chosen(context, engine, within="status:held")
        if args.dry_run:
            return choose.dry_run(context, ids, "resolve")
        if (args.filter or len(ids) > 1) and not context.confirm(f"resolve as {args.decision}", len(ids)):
            return EXIT_FAILED
        with progress.of_portions("resolve", len(ids), quiet=context.json):
            outcome = assembly.commands(engine).tasks.resolve(ids, DECISIONS[args.decision], note=args.note.strip())
    return choose.report(context, outcome, "resolve")
