"""``stats`` and ``audit``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import msgspec

from services import assembly
from services.domain.errors import UsageError
from services.domain.lane import LANES
from services.domain.order import QueueDepth
from services.domain.query import Counts
from services.domain.said import said
from services.domain.worker import SILENT_AFTER_MS, WorkerInfo
from services.entrypoints import cli_duplicates, shapes
from services.entrypoints.context import EXIT_OK, MAX_ROWS, Context, examples, table, whole

AUDIT_EXAMPLES = ("audit list --limit 20", "audit list --filter 'who:ann* action:dead.republish age<1d'")


def add(nouns: Any, common: argparse.ArgumentParser) -> None:
    """Declare the nouns."""
    numbers = nouns.add_parser("stats", parents=[common], help="counts by status and lane, or of one batch")
    numbers.add_argument("--batch", default="", metavar="NAME", help="how the tasks of this batch stand")
    numbers.set_defaults(handler=stats)
    audit = nouns.add_parser("audit", parents=[common], help="who did what", **examples(AUDIT_EXAMPLES))
    listing = audit.add_subparsers(required=True, metavar="VERB").add_parser(
        "list", parents=[common], help="newest first"
    )
    listing.add_argument("--limit", type=whole(1, MAX_ROWS), default=50)
    listing.add_argument(
        "--filter", metavar="EXPR", default="", help="who: action: target: outcome: detail: age<2h, or words anywhere"
    )
    listing.add_argument("--before", metavar="ID", default="", help="`next` of the page before")
    listing.set_defaults(handler=audit_list)


def stats(context: Context) -> int:
    """Print the numbers that the console shows."""
    if context.args.batch:
        return _batch_stats(context, context.args.batch)
    with context.engine() as engine:
        counts = engine.store.counts()
        depths = engine.broker.depths()
        now = engine.store.now_ms()
        alive = [info for info in engine.store.workers() if now - info.seen_at < SILENT_AFTER_MS]
        duplicates = cli_duplicates.totals(engine.store.suppressed_counts())
    scaling = _scaling(depths, alive)
    by_lane = {depth.name.removeprefix("rpa_tasks_"): depth for depth in depths if depth.kind == "lane"}
    lanes = {str(lane): _lane(counts, lane, by_lane.get(lane)) for lane in LANES}
    lanes["dedicated"] = _dedicated([depth for depth in depths if depth.kind == "shop"])
    document = {
        "status": counts.status,
        "lanes": lanes,
        "dead_open": counts.triage.get("open", 0),
        "workers": len(alive),
        "scaling": scaling,
        "total": counts.total,
        "duplicates": duplicates,
    }
    lines = [f"{name:<10} {number}" for name, number in sorted(counts.status.items())]
    lines += table(
        ("lane", "ready", "blocked", "unacked", "retrying"), [(lane, *row.values()) for lane, row in lanes.items()]
    )
    lines.append(f"dead letters open: {document['dead_open']}, workers: {document['workers']}")
    lines.append("slots: {slots}, busy: {busy}, could start now: {runnable}, wanted: {wanted_slots}".format(**scaling))
    lines.append(f"suppressed duplicates: {sum(duplicates.values())}")
    context.show(document, lines)
    return EXIT_OK


def _scaling(depths: Sequence[QueueDepth], alive: Sequence[WorkerInfo]) -> dict[str, int]:
    """What decides about more or fewer workers: messages that nobody holds (what waits at a gate could not start on
    more workers either), and the slots of those who take tasks.
    """
    taking = [info for info in alive if info.state == "running"]
    busy = sum(info.busy for info in taking)
    runnable = sum(depth.ready for depth in depths if depth.kind in ("lane", "shop"))
    slots = sum(len(info.slots) for info in taking)
    return {"runnable": runnable, "slots": slots, "busy": busy, "wanted_slots": busy + runnable}


def _batch_stats(context: Context, batch: str) -> int:
    with context.engine() as engine:
        view = assembly.queries(engine).batches.show(batch)
    if not view.total:
        raise UsageError(said("batch.unknown", name=batch[:80]), field="--batch")
    document = {
        "batch": batch,
        "status": dict(view.counts),
        "total": view.total,
        "ended": view.ended,
        "progress": view.progress,
    }
    lines = [f"{name:<10} {number}" for name, number in sorted(view.counts.items())]
    context.show(document, [*lines, f"{view.ended} of {view.total} ended ({view.progress} %)"])
    return EXIT_OK


def audit_list(context: Context) -> int:
    """Print the audit trail."""
    args = context.args
    with context.engine() as engine:
        trail = assembly.queries(engine).audit.entries(args.filter, limit=args.limit, before=args.before)
    entries = trail.entries
    document = {
        "entries": [
            msgspec.to_builtins(entry) | {"at": shapes.iso(entry.at), "closed_at": shapes.iso(entry.closed_at)}
            for entry in entries
        ],
        "next": trail.next or None,
    }
    rows = [
        (shapes.iso(entry.at), entry.who, entry.action, _targets(entry.target), entry.outcome or "open", entry.detail)
        for entry in entries
    ]
    context.show(document, table(("at", "who", "action", "targets", "outcome", "detail"), rows))
    return EXIT_OK


def _targets(targets: Sequence[str]) -> str:
    return targets[0] if len(targets) == 1 else str(len(targets))


def _lane(counts: Counts, lane: str, depth: QueueDepth | None) -> dict[str, Any]:
    own = counts.lanes.get(lane, {})
    return {
        "ready": depth.ready if depth is not None else own.get("queued", 0),
        "blocked": own.get("blocked", 0),
        "unacked": depth.unacked if depth is not None else None,
        "retrying": own.get("retrying", 0),
    }


def _dedicated(depths: Sequence[QueueDepth]) -> dict[str, Any]:
    """Queues of single shops; what is parked or retrying counts in its lane."""
    known = [depth.unacked for depth in depths if depth.unacked is not None]
    unacked = sum(known) if len(known) == len(depths) else None
    return {"ready": sum(depth.ready for depth in depths), "blocked": 0, "unacked": unacked, "retrying": 0}
