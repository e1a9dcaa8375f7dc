"""``drift``: which flows are not as they were, before anything dies of it."""

from __future__ import annotations

from typing import Any

from services.cli import shapes, spoken
from services.cli.context import EXIT_OK, Context, examples, table
from services.domain.insight import drift as insight
from services.engine.lead import leader
from services.monitor.forecast import drift as queries

EXAMPLES = ("drift", "drift --json")


def add(nouns: Any) -> None:
    nouns.add_parser(
        "drift",
        handler=show,
        help="flows that are slower than before, or bring fewer rows",
        description="Whoever leads compares each run that went well with the runs of its shop before: how long it and"
        " its steps took, how many rows it brought, how large its result is.",
        **examples(EXAMPLES),
    )


def show(context: Context) -> int:
    """Print what has drifted, what began last first."""
    with context.engine(looking=True) as engine:
        store = engine.store
        now, zone, found = store.now_ms(), shapes.zone(engine), queries.rows(store)
        leads = bool(store.leader(leader.ROLE))
    rows = []
    for one in found:
        for each in one.found:
            rows.append(
                {
                    "type": one.task_type,
                    "platform": one.platform,
                    "figure": each.figure,
                    "since": shapes.iso(each.since),
                    "before": each.before,
                    "after": each.after,
                    "factor": each.factor,
                    "shops": list(each.shops),
                    "off": each.off,
                    "of": each.of,
                    "text": spoken.say(insight.sentence(one, each, queries.clock(each, zone, now))),
                    "stale": now - one.at > queries.STALE_MS,
                }
            )
    here = [shapes.local(row, zone, "since") for row in rows]
    cells = [(row["since"], row["type"], row["platform"], f"{row['off']}/{row['of']}", row["text"]) for row in here]
    lines = (
        table(("since", "type", "platform", "runs", "what"), cells) if rows else [spoken.phrase("nothing has drifted")]
    )
    if not leads:
        lines = [*lines, spoken.phrase("nobody leads: nothing is compared now")]
    context.show({"drift": rows, "leads": leads}, lines)
    return EXIT_OK
