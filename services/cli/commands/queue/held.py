"""``queue held``: which worker holds which message that is not settled, since when, and what nobody can explain."""

from __future__ import annotations

import argparse
from typing import Any

from services import assembly
from services.cli import shapes
from services.cli.context import EXIT_OK, Context, table
from services.domain.fleet import holders, shop_queue
from services.domain.fleet.holders import Hold, QueueHeld
from services.messages import english
from services.monitor.queues import holders as questions

STATES = {
    holders.RUNS: "runs",
    holders.TAKEN: "in no slot",
    holders.UNHEARD: "worker not heard of",
    holders.GIVEN_ON: "given to others since",
}
UNTOLD = "the broker does not tell how many messages are held: what is listed is what workers and records say"


def add(verbs: Any, common: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    text = "who holds which message that is not settled, since when, and what nobody can explain"
    parser = verbs.add_parser("held", parents=[common], help=text)
    parser.add_argument("name", metavar="QUEUE", nargs="?", default="", help="only of this one, or of this lane")
    parser.set_defaults(handler=show)


def show(context: Context) -> int:
    """Print what is held, the longest first."""
    with context.engine(looking=True) as engine:
        engine.broker.know(key.partition(":")[2] for key in engine.store.documents(shop_queue.KIND))
        queries, depths, name = assembly.queries(engine).queues, engine.broker.depths(), context.args.name
        if name and name not in {one.name for one in depths}:
            queries.named(name)  # no such queue
        found = questions.look(queries, depths, name)
    rows = [row(one) for queue in found.queues for one in queue.holds]
    queues = [_queue(one, found.at_ms) for one in found.queues]
    cells = [
        (
            one["queue"], one["task_id"], one["task_type"], one["shop"], one["worker"], one["slot"] or "",
            one["since"], one["lease_until"] or "", STATES[one["state"]],
        )
        for one in rows
    ]  # fmt: skip
    lines = table(("queue", "task", "type", "shop", "worker", "slot", "since", "lease until", "state"), cells)
    lines = lines if rows else ["no task is in anybody's hands"]
    lines += [f"{one['queue']}: {note}" for one in queues for note in one["notes"]]
    lines += [] if found.told else [UNTOLD]
    lines += ["more tasks run than were looked at"] if found.more else []
    document = {"queues": queues, "held": rows, "at": shapes.iso(found.at_ms), "told": found.told, "more": found.more}
    context.show(document, lines)
    return EXIT_OK


def row(one: Hold) -> dict[str, Any]:
    """One message in somebody's hands."""
    return {
        "queue": one.queue,
        "task_id": one.task_id,
        "task_type": one.task_type,
        "shop": one.shop,
        "attempt": one.attempt,
        "worker": one.worker,
        "slot": one.slot,
        "since": shapes.iso(one.since),
        "lease_until": shapes.iso(one.lease_until),
        "heard_at": shapes.iso(one.seen_at),
        "state": one.state,
    }


def _queue(one: QueueHeld, now_ms: int) -> dict[str, Any]:
    return {
        "queue": one.name,
        "unacked": one.counted,
        "consumers": one.consumers,
        "tasks": len(one.holds),
        "ahead": [
            {"worker": each.worker, "messages": each.number, "leads": each.leads, "heard_at": shapes.iso(each.seen_at)}
            for each in one.several
        ],
        "beyond": one.beyond,
        "notes": [english(each) for each in holders.notes(one, now_ms)],
    }
