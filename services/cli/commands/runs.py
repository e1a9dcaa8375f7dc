"""``dead runs`` and ``dead republish --resume``: bulk runs that the store remembers."""

from __future__ import annotations

from functools import partial
from typing import Any

from services import assembly
from services.cli import shapes
from services.cli.commands import republish
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, table
from services.commands.bulk.book import interrupted
from services.commands.bulk.republish import RunView
from services.domain.errors import UsageError


def list_runs(context: Context) -> int:
    """Print the runs, the newest first."""
    with context.engine() as engine:
        views = assembly.commands(engine).bulk.runs()
    header = ("run", "state", "by", "begun", "done", "skipped", "of", "ended by")
    rows = [
        (
            view.entry.run_id,
            view.state,
            view.holder or view.entry.who,
            shapes.iso(view.entry.begun_at),
            view.entry.done,
            view.entry.skipped,
            view.entry.total,
            view.entry.why,
        )
        for view in views
    ]
    context.show({"runs": [_document(view) for view in views]}, table(header, rows))
    return EXIT_OK


def resume(context: Context, engine: assembly.Engine) -> int:
    """Go on with one, or with the newest that has something left.

    Raises:
        UsageError: ids, a filter or another option was named too, or there is nothing to go on with.
    """
    args = context.args
    if args.ids or args.filter or args.payload or args.probe or args.rate:
        raise UsageError("--resume goes on with the letters and options of its run; leave the others out", "--resume")
    bulk = assembly.commands(engine).bulk
    newest = interrupted(bulk.runs()) if not args.resume else None
    if not args.resume and newest is None:
        raise UsageError("no run was stopped or fell over; `dead runs` lists them", field="--resume")
    run_id = newest.entry.run_id if newest is not None else args.resume
    plan = bulk.plan_of(run_id)
    if args.dry_run:
        view = next(view for view in bulk.runs() if view.entry.run_id == run_id)
        return republish.show_preview(context, plan, view.entry.options)
    if not context.confirm(f"go on with run {run_id} of", len(plan.items), republish.short(plan)):
        return EXIT_FAILED
    return republish.go(context, engine, True, partial(bulk.resume, run_id))


def _document(view: RunView) -> dict[str, Any]:
    entry = view.entry
    return {
        "run": entry.run_id,
        "state": view.state,
        "by": entry.who,
        "at_it": view.holder,
        "begun_at": shapes.iso(entry.begun_at),
        "told_at": shapes.iso(entry.at),
        "total": entry.total,
        "done": entry.done,
        "skipped": entry.skipped,
        "left": entry.left if entry.ended else entry.total - entry.done - entry.skipped,
        "ended_by": entry.why,
        "options": entry.options.detail(entry.fields),
    }
