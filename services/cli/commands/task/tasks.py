"""``task``: list, show, cancel, retry, run-now, prioritize; ``create`` is in ``create``."""

from __future__ import annotations

import argparse
from typing import Any

from services import assembly, messages
from services.cli import choose, output, progress, shapes
from services.cli.commands.task import artifacts, create, duplicates, resolve, task_log
from services.cli.context import EXIT_FAILED, EXIT_OK, MAX_ROWS, Context, examples, plain, table, whole
from services.domain.errors import NotFound, UsageError
from services.domain.insight import attempts, same_work, wait
from services.domain.insight.forecast import estimate
from services.domain.task import classify
from services.domain.task.record import Task
from services.domain.task.search.query import SORTS
from services.domain.text.message import Message
from services.monitor.tasks import TaskDetail

EXAMPLES = (
    'task create --platform pdd --shop s1 --type sync_order --payload \'{"since": "2026-11-20"}\'',
    "task create --file tasks.csv --strict",
    "task list --filter 'status:running,retrying platform:temu age>1h'",
    "task show pdd_sync_order_s1_1f3a9c20",
    "task log pdd_sync_order_s1_1f3a9c20 --follow",
    "task artifacts pdd_sync_order_s1_1f3a9c20 --save files",
    "task duplicates",
    "task resolve pdd_batch_reply_s1_1f3a9c20 --as succeeded --note 'the buyers have the answer'",
    "task cancel --filter 'batch:B1 status:waiting' --dry-run",
    "task try pdd_sync_order_s1_1f3a9c20 --reason 'the buyer is on the phone'",
    "task prioritize pdd_sync_order_s1_1f3a9c20 --priority high",
)


def add(nouns: Any, common: argparse.ArgumentParser) -> None:
    """Declare the noun."""
    noun = nouns.add_parser("task", parents=[common], help="create, look at and change tasks", **examples(EXAMPLES))
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    create.add(verbs.add_parser("create", parents=[common], help="create one task, or many from a file"))
    listing = verbs.add_parser("list", parents=[common], help="tasks that match a filter")
    listing.add_argument("--filter", metavar="EXPR", default="")
    listing.add_argument("--limit", type=whole(1, MAX_ROWS), default=50)
    listing.add_argument("--sort", default="created", help=f"{', '.join(SORTS)}; the last first")
    listing.add_argument("--reverse", action="store_true", help="the first first")
    listing.add_argument("--cursor", default="", help="`next` of the page before")
    listing.set_defaults(handler=list_tasks)
    showing = verbs.add_parser("show", parents=[common], help="one task with attempts, gates and events")
    showing.add_argument("id")
    showing.set_defaults(handler=show)
    task_log.add(verbs, common)
    artifacts.add(verbs, common)
    duplicates.add(verbs, common)
    resolve.add(verbs, common)
    trying = verbs.add_parser(
        "try",
        parents=[common],
        help="let one attempt through a pause, quiet hours or a failing shop",
        description="The next attempt of one task starts although a pause, quiet hours or the breaker of its shop holds"
        " it back. Who did it and why is kept with the task and in the audit. The gate stays closed for all others, an"
        " attempt after that waits again, and every other gate holds: a busy shop, a login, limits, the same work.",
    )
    trying.add_argument("id")
    chosen = trying.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--reason", help="why this one cannot wait; kept with the task")
    chosen.add_argument("--undo", action="store_true", help="take it back, while no attempt has begun with it")
    trying.set_defaults(handler=try_anyway)
    for name, text in (
        ("cancel", "end waiting tasks, ask running ones to stop"),
        ("retry", "next attempt now; a dead task is republished under a new id"),
        ("create-again", "make cancelled tasks again: the same work under new ids, linked to the old ones"),
        ("run-now", "put waiting tasks at the front"),
        ("prioritize", "change priority and lane"),
    ):
        parser = verbs.add_parser(name, parents=[common], help=text)
        choose.add_choice(parser)
        parser.set_defaults(handler=change, verb=name)
        if name == "prioritize":
            parser.add_argument("--priority", required=True, help="high, normal, low or 1-10")
        if name == "cancel":
            parser.add_argument("--reason", default="")
        if name == "retry":
            parser.add_argument("--reason", default="", help="needed for held tasks, whose work may be done already")
        if name == "create-again":
            parser.add_argument(
                "--reason",
                default="",
                help="needed where the work has succeeded since, or so lately that its type asks for one",
            )


def list_tasks(context: Context) -> int:
    """Print one page."""
    args = context.args
    if args.sort not in SORTS:
        raise UsageError(f"--sort takes {', '.join(SORTS)}, not {args.sort!r}", field="--sort")
    with context.engine(looking=True) as engine:
        questions = assembly.queries(engine).tasks
        page = questions.page(
            args.filter, sort=args.sort, descending=not args.reverse, limit=args.limit, cursor=args.cursor
        )
        gates = questions.gates(page.tasks)
    tasks = [shapes.task(task, gates.get(task.task_id, "")) for task in page.tasks]
    document = {"tasks": tasks, "next": page.next, "total": page.total, "at_least": page.at_least}
    header = ("id", "status", "gate", "type", "shop", "lane", "attempt", "created", "error")
    context.show(document, table(header, [_row(task, gates.get(task.task_id, "")) for task in page.tasks]))
    return EXIT_OK


def show(context: Context) -> int:
    """Print one task."""
    with context.engine(looking=True) as engine:
        questions = assembly.queries(engine).tasks
        detail = questions.detail(context.args.id)
        stone = questions.removed(context.args.id) if detail is None else None
    if stone is not None:
        raise NotFound(shapes.removed(stone), field="id")
    if detail is None:
        raise NotFound(f"there is no task {context.args.id!r:.220}; see `task list`", field="id")
    gates = [
        {"name": gate.name, "state": gate.state, "code": gate.code, "params": dict(gate.params)}
        for gate in detail.gates
    ]
    gate = wait.closed(detail.gates)
    record = shapes.task(detail.task, gate.name if gate is not None else "")
    lines = [f"{name:<14} {plain(value)}" for name, value in record.items() if value not in (None, "", [], 0, -1)]
    lines += [
        f"{'waits for':<14} {messages.english(Message(gate.code, dict(gate.params)))}"
        for gate in detail.gates
        if gate.state in ("closed", "next")
    ]
    if detail.starts is not None:
        lines.append(f"{'starts':<14} {messages.english(estimate.sentence(detail.starts))}")
    beside = (detail.done, detail.suppressed)
    lines += [f"{'same work':<14} {messages.english(one)}" for one in beside if one is not None]
    lines += [f"{'unconfirmed':<14} {messages.english(one)}" for one in detail.unheard]
    lines += [f"{'runs long':<14} {messages.english(one)}" for one in (detail.long,) if one is not None]
    ended = attempts.cancelled(detail.task)
    asked = (same_work.asked(detail.task), same_work.let_run(detail.task))
    notes = [*asked, attempts.last(detail.task), ended.sentence if ended is not None else None]
    lines += [f"{'note':<14} {messages.english(note)}" for note in notes if note is not None]
    lines += [
        f"attempt {one['number']}: {one['outcome']} on {one['worker']} {output.masked_text(one['error'])[:200]}"
        for one in shapes.attempts(detail.task)
    ]
    lines += artifacts.lines(detail.task)
    lines += [
        f"{one['at']}  {one['from'] or 'created'} -> {one['to']} {one['note']}" for one in shapes.events(detail.task)
    ]
    more = shapes.wait(gate, detail.starts) | _beside(detail)
    lines = [*shapes.again(detail), *lines]
    context.show(shapes.document(detail.task, gates, gate.name if gate is not None else "") | more, lines)
    return EXIT_OK


def _beside(detail: TaskDetail) -> dict[str, Any]:
    """What is known of a task beside its record."""
    ended = attempts.cancelled(detail.task)
    more: dict[str, Any] = {"last_attempt": attempts.last(detail.task) is not None}
    if ended is not None:
        more["cancelled_by"] = ended.by
        more["cancelled"] = messages.english(ended.sentence)
    if detail.unheard:
        more["unconfirmed"] = [messages.english(one) for one in detail.unheard]
    if detail.long is not None:
        more["runs_long"] = messages.english(detail.long)
    if detail.done is not None:
        more["same_work"] = shapes.same_work(detail.done)
    if detail.suppressed is not None:
        more["same_work_refused"] = messages.english(detail.suppressed)
    if detail.verdict is not None:
        more["verdict"] = shapes.verdict(detail.verdict)
    if detail.worth is not None:
        more["worth"] = shapes.worth(detail.worth)
    return more


def try_anyway(context: Context) -> int:
    """Let one attempt of a task through."""
    args = context.args
    with context.engine() as engine:
        tasks = assembly.commands(engine).tasks
        outcome = tasks.take_back_try(args.id) if args.undo else tasks.try_anyway(args.id, reason=args.reason)
    return choose.report(context, outcome, "try")


def change(context: Context) -> int:
    """Cancel, retry, create again, run now or re-prioritise the chosen tasks."""
    args = context.args
    with context.engine() as engine:
        ids = choose.chosen(context, engine)
        if args.dry_run:
            return choose.dry_run(context, ids, args.verb)
        if (args.filter or len(ids) > 1) and not context.confirm(args.verb, len(ids)):
            return EXIT_FAILED
        tasks = assembly.commands(engine).tasks
        with progress.of_portions(args.verb, len(ids), quiet=context.json):
            if args.verb == "cancel":
                outcome = tasks.cancel(ids, reason=args.reason)
            elif args.verb == "retry":
                outcome = tasks.retry_waiting(ids, reason=args.reason)
            elif args.verb == "create-again":
                outcome = tasks.create_again(ids, reason=args.reason)
            elif args.verb == "run-now":
                outcome = tasks.run_now(ids)
            else:
                outcome = tasks.prioritize(ids, args.priority)
        return choose.report(context, outcome, args.verb)


def _row(task: Task, gate: str) -> tuple[object, ...]:
    attempts = f"{task.attempt}/{task.max_retries + 1}"
    return (
        task.task_id,
        task.status,
        gate,
        task.task_type,
        task.shop,
        task.lane,
        attempts,
        shapes.iso(task.created_at),
        classify.headline(task.error),
    )
