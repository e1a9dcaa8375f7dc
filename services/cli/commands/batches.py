"""``batch``: tasks that were created together, looked at and changed as one."""

from __future__ import annotations

from typing import Any

import msgspec

from services import assembly, spans
from services.cli import choose, lexicon, shapes, spoken, tables
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, examples, table, whole
from services.commands.batches import BatchOutcome, BatchPlan
from services.domain.errors import NotFound, UsageError
from services.domain.insight.batch import Chances
from services.domain.task.status import Status
from services.domain.text.said import said
from services.monitor.batches import Ahead, BatchView
from services.monitor.forecast.drain import Raised

EXAMPLES = (
    "batch list",
    "batch show nightly-1f3a9c20",
    "batch cancel nightly-1f3a9c20 --dry-run",
    "batch cancel nightly-1f3a9c20 --reason 'wrong prices' --yes",
    "batch retry nightly-1f3a9c20 --yes",
    "batch raise nightly-1f3a9c20 --yes",
)
MOST = 1000


def add(nouns: Any) -> None:
    noun = nouns.add_parser("batch", help="tasks that were created together", **examples(EXAMPLES))
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    listing = verbs.add_parser("list", handler=list_batches, help="those that began last first, and how far each is")
    listing.add_argument("--limit", type=whole(1, MOST), default=20)
    listing.add_argument("--cursor", default="", help="`next` of the page before")
    showing = verbs.add_parser("show", handler=show, help="counts, progress and an estimate")
    showing.add_argument("name", metavar="NAME")
    for verb, text in (
        ("cancel", "end what waits, ask what runs to stop; what has ended stays"),
        ("raise", "let what waits go through the high lane"),
        ("retry", "open dead letters again under new ids in the same batch, retrying tasks now; held ones are left"),
    ):
        parser = verbs.add_parser(verb, help=text)
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument("--dry-run", action="store_true", help="show what would be done")
        parser.set_defaults(handler=change, verb=verb)
        if verb == "cancel":
            parser.add_argument("--reason", default="")


def list_batches(context: Context) -> int:
    """Print one page of them."""
    args = context.args
    with context.engine() as engine:
        views, after = assembly.queries(engine).batches.page(args.limit, _place(args.cursor))
        zone = shapes.zone(engine)
    rows = [
        (view.batch, shapes.clock(view.begun_at, zone), view.total, spans.percent(view.share), _counted(view))
        for view in views
    ]
    document = {"batches": [_document(view) for view in views], "next": after or None}
    context.show(document, table(("batch", "begun", "tasks", "ended", "by status"), rows))
    return EXIT_OK


def show(context: Context) -> int:
    """Print how one stands."""
    name = context.args.name
    with context.engine() as engine:
        view = assembly.queries(engine).batches.show(name)
    if not view.total:
        raise NotFound(said("batch.unknown", name=name[:80] or "''"), field="name")
    document = _document(view) | {"left_s": None if view.left_s is None else round(view.left_s, 1)}
    lines = [tables.counted("status", status, number) for status, number in sorted(view.counts.items())]
    lines.append(
        spoken.phrase(
            "{ended} of {total} ended ({share})", ended=view.ended, total=view.total, share=spans.percent(view.share)
        )
    )
    if view.left is not None and view.left_s:
        document["left_spread_s"] = {"low": round(view.left.low_s, 1), "high": round(view.left.high_s, 1)}
        lines.append(
            spoken.phrase(
                "at this pace all has ended in about {span}", span=spoken.between(view.left.low_s, view.left.high_s)
            )
        )
    if held := view.counts.get(Status.HELD):
        lines.append(spoken.phrase("{held} held: decide about them with task resolve", held=held))
    context.show(document, lines)
    return EXIT_OK


def change(context: Context) -> int:
    """Cancel, retry or raise one, after its plan was shown and confirmed."""
    args = context.args
    with context.engine() as engine:
        commands = assembly.commands(engine).batches
        plan = {"cancel": commands.plan_cancel, "raise": commands.plan_raise, "retry": commands.plan_retry}[args.verb](
            args.name
        )
        if args.dry_run:
            asked = {"retried": args.verb == "retry", "raised": args.verb == "raise"}
            ahead = assembly.queries(engine).batches.ahead(args.name, **asked) if any(asked.values()) else None
            return _planned(context, plan, ahead, shapes.zone(engine))
        if not context.confirm(spoken.phrase("{verb} batch {name}:", verb=args.verb, name=args.name), plan.number):
            return EXIT_FAILED
        act = {"raise": commands.raise_waiting, "retry": commands.retry}.get(args.verb)
        done = act(plan) if act is not None else commands.cancel(plan, reason=args.reason)
    return _report(context, done)


def _planned(context: Context, plan: BatchPlan, ahead: Ahead | None, zone: str) -> int:
    document = {
        "dry_run": True,
        "verb": context.args.verb,
        "batch": plan.batch,
        "before": dict(plan.before),
        "count": len(plan.task_ids),
        "ids": list(plan.task_ids),
        "left_alone": [
            {"id": one, "code": why.code, "reason": spoken.say(why)} for one, why in plan.left_alone.items()
        ],
    }
    head = spoken.phrase(
        "{verb} batch {batch}: {number} of {total} tasks",
        verb=context.args.verb,
        batch=plan.batch,
        number=plan.number,
        total=sum(plan.before.values()),
    )
    left = [f"  {one}: {spoken.say(why)}" for one, why in plan.left_alone.items()]
    said: list[str] = []
    if ahead is not None and plan.task_ids:
        found, said = _foreseen(ahead, zone)
        document |= found
    lines = [head, *said, *(one for one in plan.task_ids if one not in plan.left_alone)]
    context.show(document, [*lines, *([spoken.phrase("{count} left alone:", count=len(left))] if left else []), *left])
    return EXIT_OK


def _foreseen(ahead: Ahead, zone: str) -> tuple[dict[str, Any], list[str]]:
    if ahead.chances is not None:
        return _chances(ahead.chances)
    return _raised(ahead.raised, zone) if ahead.raised is not None else ({}, [])


def _chances(likely: Chances) -> tuple[dict[str, Any], list[str]]:
    """What is likely to become of what is retried."""
    said = (
        (likely.passes, spoken.plural("{count} likely passes", "{count} likely pass", likely.passes)),
        (likely.again, spoken.plural("{count} likely fails again", "{count} likely fail again", likely.again)),
        (likely.login, spoken.plural("{count} needs a log-in", "{count} need a log-in", likely.login)),
        (likely.unknown, spoken.phrase("of {count} there is not enough record", count=likely.unknown)),
    )
    return {"likely": msgspec.structs.asdict(likely)}, [words for number, words in said if number]


def _raised(found: Raised, zone: str) -> tuple[dict[str, Any], list[str]]:
    """When what is raised is through, and what that costs others."""
    document = {
        "raised": {
            "waiting": found.number,
            "end": None if found.raised_s is None else shapes.iso(_end(found, found.raised_s)),
            "end_as_is": None if found.as_is_s is None else shapes.iso(_end(found, found.as_is_s)),
            "others": found.others,
            "others_wait_longer_s": round(found.later_s, 1),
        }
    }
    if found.why is not None:
        return document, [spoken.say(found.why)]
    if found.raised_s is None or not found.number:
        return document, []
    ends = [shapes.clock(_end(found, end), zone) for end in (found.raised_s, found.as_is_s) if end is not None]
    words = spoken.phrase("through at {time}", time=ends[0])
    if len(ends) > 1:
        words = spoken.phrase("through at {time} instead of {before}", time=ends[0], before=ends[1])
    span = spoken.span(found.later_s)
    return document, [words, spoken.phrase("other work waits {span} longer on average", span=span)]


def _end(found: Raised, after_s: float) -> int:
    return found.at_ms + round(after_s * 1000)


def _report(context: Context, done: BatchOutcome) -> int:
    counts = {"batch": context.args.name, "before": dict(done.before), "after": dict(done.after)}
    lines = choose.lines(done.outcome, context.args.verb)
    statuses = sorted({*done.before, *done.after})
    rows = [(status, done.before.get(status, 0), done.after.get(status, 0)) for status in statuses]
    context.show(counts | choose.document(done.outcome), [*lines, *table(("status", "before", "after"), rows)])
    return EXIT_OK if done.outcome.clean else EXIT_FAILED


def _document(view: BatchView) -> dict[str, Any]:
    return {
        "batch": view.batch,
        "begun_at": shapes.iso(view.begun_at),
        "status": dict(view.counts),
        "total": view.total,
        "ended": view.ended,
        "progress": view.progress,
    }


def _counted(view: BatchView) -> str:
    return ", ".join(f"{lexicon.called('status', name)} {number}" for name, number in sorted(view.counts.items()))


def _place(cursor: str) -> str:
    at, slash, _ = cursor.partition("/")
    if cursor and not (slash and at.isascii() and at.isdigit() and len(at) < 16):
        raise UsageError(
            spoken.phrase("--cursor takes `next` of the page before, not {cursor}", cursor=f"{cursor!r:.80}"),
            field="--cursor",
        )
    return cursor
