"""``task duplicates``: what the guard against doing the same work twice has refused, held back or let pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from services import assembly
from services.cli import shapes, spoken
from services.cli.context import EXIT_OK, Context, table, whole
from services.domain.task.notes import OUTCOMES, SUPPRESSED_KEPT, Suppressed


def add(verbs: Any) -> None:
    text = "tasks that met another one with the same work: refused, queued behind it, forced, or waiting for it"
    parser = verbs.add_parser("duplicates", handler=show, help=text)
    parser.add_argument("--limit", type=whole(1, SUPPRESSED_KEPT), default=50)


def show(context: Context) -> int:
    """Print the newest, and how many there were by type and shop."""
    with context.engine() as engine:
        rows, counts = assembly.queries(engine).tasks.suppressed(context.args.limit)
        zone = shapes.zone(engine)
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    document = {
        "duplicates": [_document(one) for one in rows],
        "counts": [{"outcome": key[0], "shop": key[1], "type": key[2], "count": number} for key, number in most],
        "total": totals(counts),
    }
    lines = table(
        ("at", "outcome", "type", "shop", "by", "task", "because of", "which was"),
        [
            (
                shapes.clock(one.at, zone),
                one.outcome,
                one.task_type,
                f"{one.platform}:{one.shop_id}",
                one.by or one.origin,
                one.task_id,
                one.holder,
                one.holder_status,
            )
            for one in rows
        ],
    )
    lines += ["", *table(("count", "outcome", "type", "shop"), [(n, key[0], key[2], key[1]) for key, n in most])]
    context.show(
        document, lines if rows or counts else [spoken.phrase("no task has met another one with the same work")]
    )
    return EXIT_OK


def totals(counts: Mapping[tuple[str, str, str], int]) -> dict[str, int]:
    """How many in all, by what became of them."""
    found: Counter[str] = Counter()
    for (outcome, _, _), number in counts.items():
        found[outcome] += number
    return {outcome: found[outcome] for outcome in OUTCOMES}


def _document(one: Suppressed) -> dict[str, Any]:
    return {
        "at": shapes.iso(one.at),
        "outcome": one.outcome,
        "task_id": one.task_id,
        "shop": f"{one.platform}:{one.shop_id}",
        "type": one.task_type,
        "by": one.by,
        "origin": one.origin,
        "holder": one.holder,
        "holder_status": one.holder_status,
    }
