"""``drain``: when what waits will have run, by lane and platform, and what it misses."""

from __future__ import annotations

from typing import Any

from services import i18n
from services.cli import shapes, spoken
from services.cli.context import EXIT_OK, Context, examples, table
from services.domain.gates import listed
from services.monitor.forecast.drain import DrainQueries

EXAMPLES = ("drain", "drain --json")


def add(nouns: Any) -> None:
    nouns.add_parser(
        "drain",
        handler=show,
        help="when what waits will have run, and which deadlines and promises it misses",
        description="From the durations and arrivals that were measured, the slots of the workers that take tasks, and"
        " how many tasks a shop runs at once. What no slot opens (a pause, a login, a person) is not in it.",
        **examples(EXAMPLES),
    )


def show(context: Context) -> int:
    """Print how it goes."""
    with context.engine(looking=True) as engine:
        found = DrainQueries(engine.store, engine.registry).look()
    rows = [
        {"name": one.name, "waiting": one.waiting, "clear_s": one.clear_s, "text": spoken.say(one.said)}
        for one in found.rows
    ]
    instants = [
        {
            "kind": one.kind,
            "name": one.name,
            "at": shapes.iso(one.at),
            "waiting": one.waiting,
            "left": one.miss.left,
            "more_slots": one.miss.more,
            "text": spoken.say(one.said),
        }
        for one in found.instants
    ]
    lines = (
        table(("what", "waiting", "how"), [(row["name"], row["waiting"], row["text"]) for row in rows])
        if rows
        else [spoken.phrase("nothing waits for a slot")]
    )
    if instants:
        cells = [(one["kind"], one["name"], one["waiting"], one["text"]) for one in instants]
        lines = [*lines, "", *table(("for", "name", "waiting", "how"), cells)]
    if found.stuck:
        gates = ", ".join(f"{i18n._(listed.BY_NAME[gate].short)} {number}" for gate, number in found.why)
        lines = [
            *lines,
            "",
            spoken.phrase("{stuck} more wait for what no slot opens: {gates}", stuck=found.stuck, gates=gates),
        ]
    if found.unsent:
        said = spoken.phrase("{unsent} more are recorded only: the broker takes no messages now", unsent=found.unsent)
        lines = [*lines, "", said]
    document = {
        "rows": rows,
        "instants": instants,
        "slots": found.slots,
        "held": found.stuck,
        "unsent": found.unsent,
        "why": dict(found.why),
        "measured": found.measured,
    }
    context.show(document, lines)
    return EXIT_OK
