"""Which tasks a bulk command means: ids on the line, or everything that matches a filter, frozen before acting."""

from __future__ import annotations

import argparse
from typing import Any

from services import assembly
from services.cli import shapes, spoken
from services.cli.context import EXIT_FAILED, EXIT_OK, Context
from services.commands.outcome import Outcome
from services.domain.errors import NotFound, UsageError
from services.i18n import ngettext
from services.monitor.tasks import TaskDetail


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Ids or ``--filter``, ``--yes`` and ``--dry-run``."""
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--filter", metavar="EXPR", default="", help='e.g. "status:dead shop:shop01* age>1h"')
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done")


def chosen(context: Context, engine: assembly.Engine, *, within: str = "") -> tuple[str, ...]:
    """The frozen id set.

    Raises:
        UsageError: neither ids nor a filter, or both.
    """
    args = context.args
    if bool(args.ids) == bool(args.filter):
        raise UsageError(spoken.phrase("name task ids, or choose them by --filter EXPR (not both)"), field="ids")
    if args.ids:
        return tuple(dict.fromkeys(args.ids))
    return assembly.queries(engine).tasks.ids(f"{within} {args.filter}".strip())


def looked_up(context: Context) -> tuple[TaskDetail | None, str]:
    """The task whose id stands on the line, None where there is none, and the time zone of the fleet.

    Raises:
        NotFound: its record was removed; the sentence says what is still known of it.
    """
    with context.engine(looking=True) as engine:
        questions = assembly.queries(engine).tasks
        detail = questions.detail(context.args.id)
        stone = questions.removed(context.args.id) if detail is None else None
        zone = shapes.zone(engine)
    if stone is not None:
        raise NotFound(shapes.removed(stone, zone), field="id")
    return detail, zone


def dry_run(context: Context, ids: tuple[str, ...], verb: str) -> int:
    """Show the frozen set and change nothing."""
    context.show(
        {"dry_run": True, "verb": verb, "count": len(ids), "ids": list(ids)},
        [ngettext("{verb}: {count} task", "{verb}: {count} tasks", len(ids)).format(verb=verb, count=len(ids)), *ids],
    )
    return EXIT_OK


def report(context: Context, outcome: Outcome, verb: str) -> int:
    """Print an outcome; exit code 1 when something asked for was not done."""
    context.show(document(outcome), lines(outcome, verb))
    return EXIT_OK if outcome.clean else EXIT_FAILED


def document(outcome: Outcome) -> dict[str, Any]:
    """An outcome item by item."""
    return {
        "done": list(outcome.done),
        "requested": list(outcome.pending),
        "created": outcome.made,
        "skipped": [
            {"id": one.task_id, "code": one.why.code, "reason": spoken.say(one.why)} for one in outcome.skipped
        ],
        "failed": [{"id": one.task_id, "code": one.why.code, "reason": spoken.say(one.why)} for one in outcome.failed],
    }


def lines(outcome: Outcome, verb: str) -> list[str]:
    """The same for people."""
    told = [spoken.phrase("{verb}: {count} done", verb=verb, count=len(outcome.done))]
    told += [f"  {old} -> {new}" for old, new in outcome.made.items()]
    stopping = spoken.phrase("stop requested")
    told += [f"  {task_id}: {stopping}" for task_id in outcome.pending]
    told += [f"  {one.task_id}: {spoken.say(one.why)}" for one in (*outcome.skipped, *outcome.failed)]
    return told
