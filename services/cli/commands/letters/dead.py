"""``dead``: list, show, republish, archive, ignore, restore, note, runs."""

from __future__ import annotations

import argparse
import json
from functools import partial
from typing import Any

from services import assembly, messages
from services.cli import choose, progress, shapes
from services.cli.commands.letters import republish
from services.cli.context import EXIT_FAILED, EXIT_OK, MAX_ROWS, Context, examples, table, whole
from services.commands.bulk.book import interrupted
from services.commands.bulk.republish import RunView
from services.domain.errors import NotFound, UsageError
from services.domain.task import classify
from services.domain.task.search import filter as filters
from services.domain.task.status import Status, Triage
from services.monitor.letters.causes import Cause


def list_runs(context: Context) -> int:
    """Print the runs, the newest first."""
    with context.engine(looking=True) as engine:
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


WITHIN = "status:dead"
EXAMPLES = (
    "dead list --filter 'kind:timeout'",
    "dead show pdd_sync_order_s1_1f3a9c20",
    "dead republish --filter 'fp:9ac1' --dry-run",
    "dead republish --filter 'fp:9ac1' --probe 3 --rate 30 --yes",
    "dead note pdd_sync_order_s1_1f3a9c20 'asked the shop for a new password'",
    "dead runs",
    "dead republish --resume 3f9a01c2 --yes",
    "dead republish pdd_sync_order_s1_1f3a9c20 --payload '{\"page\": 1}'",
    "dead archive --filter 'age>7d' --note 'too old'",
)


def add(nouns: Any, common: argparse.ArgumentParser) -> None:
    """Declare the noun."""
    noun = nouns.add_parser("dead", parents=[common], help="triage dead letters", **examples(EXAMPLES))
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    listing = verbs.add_parser("list", parents=[common], help="dead letters, newest first, and their causes")
    listing.add_argument("--filter", metavar="EXPR", default="")
    listing.add_argument("--limit", type=whole(1, MAX_ROWS), default=50)
    listing.add_argument("--cursor", default="", help="`next` of the page before")
    listing.add_argument(
        "--triage", choices=(*map(str, Triage), "all"), help="(default: open, or what the filter says of it)"
    )
    listing.set_defaults(handler=list_dead)
    showing = verbs.add_parser("show", parents=[common], help="reason beside the original message")
    showing.add_argument("id")
    showing.set_defaults(handler=show)
    for name, text in (
        ("republish", "make a new task of each, linked to the old one"),
        ("archive", "put away"),
        ("ignore", "hide"),
        ("restore", "take archived or ignored ones back"),
    ):
        aliases = ["reopen"] if name == "restore" else []
        parser = verbs.add_parser(name, parents=[common], help=text, aliases=aliases)
        choose.add_choice(parser)
        if name != "republish":
            parser.add_argument("--note", default="")
        parser.set_defaults(handler=change, verb=name)
        if name == "republish":
            republish.options(parser)
    noting = verbs.add_parser("note", parents=[common], help="write down what you know, for whoever looks next")
    noting.add_argument("id")
    noting.add_argument("text")
    noting.set_defaults(handler=note)
    runs = verbs.add_parser("runs", parents=[common], help="bulk republishing: what went how far, and what can go on")
    runs.set_defaults(handler=list_runs)


def list_dead(context: Context) -> int:
    """Print dead letters and causes."""
    args = context.args
    chosen = args.triage or ("all" if _names_triage(args.filter) else "open")
    triage = "" if chosen == "all" else f"triage:{chosen}"
    with context.engine(looking=True) as engine:
        questions = assembly.queries(engine)
        page = questions.tasks.page(f"{WITHIN} {triage} {args.filter}".strip(), limit=args.limit, cursor=args.cursor)
        causes = questions.causes.causes(chosen) if chosen != "all" and not args.filter else None
    document = {
        "tasks": [shapes.task(task) for task in page.tasks],
        "next": page.next,
        "total": page.total,
        "at_least": page.at_least,
        "causes": [shapes.cause(one) for one in (causes.rows if causes is not None else ())],
    }
    rows = [
        (
            task.task_id,
            task.error_kind,
            task.task_type,
            task.shop,
            shapes.iso(task.ended_at),
            classify.headline(task.error),
        )
        for task in page.tasks
    ]
    lines = table(("id", "kind", "type", "shop", "died", "error"), rows)
    if causes is not None and causes.rows:
        lines += ["", "causes, and whether their letters would pass if they ran now:"]
        lines += [_cause_line(cause) for cause in sorted(causes.rows, key=lambda one: one.rank)]
    context.show(document, lines)
    return EXIT_OK


def show(context: Context) -> int:
    """Print one dead letter."""
    with context.engine(looking=True) as engine:
        questions = assembly.queries(engine).tasks
        detail = questions.detail(context.args.id)
        stone = questions.removed(context.args.id) if detail is None else None
    if stone is not None:
        raise NotFound(shapes.removed(stone), field="id")
    if detail is None or detail.task.status != Status.DEAD:
        raise NotFound(f"there is no dead letter {context.args.id!r:.220}; see `dead list`", field="id")
    letter = detail.letter
    body = letter.body.decode("utf-8", "backslashreplace") if letter is not None else ""
    document = shapes.document(detail.task, []) | {
        "message": {"body": body, "headers": json.loads(letter.headers) if letter is not None else {}},
        "notes": [{"at": shapes.iso(note.at), "by": note.who, "text": note.text} for note in detail.notes],
        "verdict": shapes.verdict(detail.verdict),
        "worth": shapes.worth(detail.worth),
    }
    document |= {"same_work": shapes.same_work(detail.done)} if detail.done is not None else {}
    task = detail.task
    lines = [f"{task.task_id}  {task.error_kind}  {task.triage}", task.error, "", body or task.payload]
    lines += ["", *shapes.again(detail)]
    lines += [f"{'same work':<14} {messages.english(detail.done)}"] if detail.done is not None else []
    lines += [f"{task.triage}: {task.triage_note}"] if task.triage_note else []
    lines += [f"overtaken by {task.successor}, which did the same work later"] if task.triage == "overtaken" else []
    lines += [f"{shapes.iso(note.at)} {note.who}: {_one_line(note.text)}" for note in detail.notes]
    context.show(document, lines)
    return EXIT_OK


def note(context: Context) -> int:
    """Write a note beside a dead letter."""
    args = context.args
    with context.engine() as engine:
        outcome = assembly.commands(engine).dead_letters.note(args.id, args.text)
    return choose.report(context, outcome, "note")


def _names_triage(text: str) -> bool:
    """Whether a filter says itself which dead letters it means: those that are overtaken are not open."""
    return any(piece.field == "triage" for piece in filters.pieces(text))


def change(context: Context) -> int:
    """Republish, archive, ignore or reopen the chosen dead letters."""
    args = context.args
    with context.engine() as engine:
        if args.verb == "republish" and args.resume is not None:
            return resume(context, engine)
        ids = choose.chosen(context, engine, within=WITHIN if args.verb == "restore" else f"{WITHIN} triage:open")
        if args.verb == "republish":
            return republish.republish(context, engine, ids)
        if args.dry_run:
            return choose.dry_run(context, ids, args.verb)
        if (args.filter or len(ids) > 1) and not context.confirm(args.verb, len(ids)):
            return EXIT_FAILED
        word = {"archive": Triage.ARCHIVED, "ignore": Triage.IGNORED, "restore": Triage.OPEN}[args.verb]
        with progress.of_portions(args.verb, len(ids), quiet=context.json):
            outcome = assembly.commands(engine).dead_letters.set_triage(ids, word, note=args.note)
        return choose.report(context, outcome, args.verb)


def _cause_line(cause: Cause) -> str:
    title, why = messages.english(cause.title), messages.english(cause.worth.message)
    return f"{cause.count:>6}  {cause.worth.level:<7}  {_one_line(title)}: {why}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
