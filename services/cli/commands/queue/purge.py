"""``queue purge``: cancel what waits in a queue, after a file of it was written and its name was typed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from services import assembly
from services.cli import choose, progress
from services.cli.commands.records import check_file, write_file
from services.cli.context import EXIT_FAILED, EXIT_OK, Context
from services.domain.errors import UsageError

QUEUE_HELP = "as queue list shows it, or high, normal, low"


def add(verbs: Any, common: argparse.ArgumentParser) -> None:
    """Declare it."""
    parser = verbs.add_parser(
        "purge",
        parents=[common],
        help="cancel all tasks that wait in one; what runs goes on",
        description="Cancels the records of what waits there, some hundreds at a time, under one audit entry. Their"
        " messages stay and are skipped by whoever takes them. task create-again makes cancelled tasks anew.",
    )
    parser.add_argument("name", metavar="QUEUE", help=QUEUE_HELP)
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--export", metavar="FILE", default="", help="write the records there first, as JSON lines")
    kept.add_argument("--no-export", action="store_true", help="do it without such a file")
    parser.add_argument("--confirm", metavar="QUEUE", default="", help="its name once more, where nobody can be asked")
    parser.add_argument("--reason", default="", help="why; kept with the tasks and in the audit")
    parser.add_argument("--dry-run", action="store_true", help="show what would be cancelled")
    parser.set_defaults(handler=purge)


def purge(context: Context) -> int:
    """Empty a queue."""
    args = context.args
    if not (args.export or args.no_export or args.dry_run):
        raise UsageError("say where the records are kept: add --export FILE, or --no-export", field="--export")
    if args.export:
        check_file(Path(args.export), "--export", "name another file")
    with context.engine() as engine:
        commands = assembly.commands(engine).queues
        plan = commands.plan_purge(args.name)
        name, count = plan.queue.name, len(plan.task_ids)
        if args.dry_run:
            return choose.dry_run(context, plan.task_ids, f"purge {name}")
        preview = [f"{count} tasks wait in {name}; they are cancelled, what runs goes on"]
        typed = args.confirm or context.typed(
            f"type {name} to cancel them", f"{count} tasks wait in {name}: add --confirm {name}", preview
        )
        if typed != name:
            if args.confirm:
                raise UsageError(f"--confirm takes the name of the queue, {name}, not {typed!r:.80}", field="--confirm")
            return EXIT_FAILED
        if args.export:
            write_file(engine, plan.task_ids, Path(args.export), "--export")
        with progress.of_portions("purge", count, quiet=context.json):
            outcome = commands.purge(plan, typed=typed, reason=args.reason)
    file = {"file": args.export} if args.export else {}
    lines = [f"{count} records in {args.export}"] if args.export else []
    context.show({"queue": name} | file | choose.document(outcome), [*lines, *choose.lines(outcome, "purge")])
    return EXIT_OK if outcome.clean else EXIT_FAILED
