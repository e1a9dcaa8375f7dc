"""``queue limit``: how many tasks of a platform may run at once, and how many may start in a minute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from services import assembly
from services.cli import guesses, shapes, spoken
from services.cli.context import EXIT_OK, Context, whole
from services.domain.errors import UsageError
from services.domain.gates import limit as limits

EXAMPLES = (
    "queue limit platform:pdd --concurrency 20 --per-minute 300",
    "queue limit platform:pdd --per-minute none",
)


def add(verbs: Any) -> None:
    parser = verbs.add_parser(
        "limit",
        handler=set_limit,
        help="how many tasks of a platform may run at once, and start in a minute",
        description="What is not given stays as it is. What exceeds a limit waits and starts by itself, the most urgent"
        " of all shops first. The limits of a task type stand in its document (type import), that of a shop by"
        " shop limit.",
    )
    parser.add_argument("scope", help="platform:PLATFORM")
    parser.add_argument("--concurrency", type=_figure(limits.MAX_CONCURRENCY), metavar="N|none", help="at once")
    parser.add_argument("--per-minute", type=_figure(limits.MAX_PER_MINUTE), metavar="N|none", help="starts")


def set_limit(context: Context) -> int:
    """Limit a platform."""
    args = context.args
    if args.concurrency is None and args.per_minute is None:
        raise UsageError(
            spoken.phrase("say what to limit: --concurrency N, --per-minute N, or none"), field="--concurrency"
        )
    with context.engine() as engine:
        known = {one.limit.scope: one.limit for one in engine.store.limits()}
        old = known.get(args.scope, limits.Limit(scope=args.scope))
        wanted = limits.Limit(
            scope=args.scope,
            concurrency=old.concurrency if args.concurrency is None else args.concurrency,
            per_minute=old.per_minute if args.per_minute is None else args.per_minute,
        )
        assembly.commands(engine).fleet.set_limit(wanted)
        doubts = _doubts(engine, args.scope)
        context.warn(doubts)
        found = [one for one in engine.store.limits() if one.limit.scope == args.scope]
    document = row(found[0]) if found else msgspec.to_builtins(wanted)
    context.show(
        {"limit": document, "warnings": doubts},
        [words(one) for one in found] or [spoken.phrase("{scope} has no limit", scope=args.scope)],
    )
    return EXIT_OK


def _doubts(engine: assembly.Engine, scope: str) -> list[str]:
    """A platform without a shop may be one to come, or a misspelt one."""
    known = sorted({shop.platform for shop in engine.registry.shops().values()})
    name = scope.partition(":")[2]
    if name in known:
        return []
    near = guesses.near(name, known)
    return [spoken.meant(spoken.phrase("no shop of {scope} is known yet", scope=scope), near and f"platform:{near}")]


def row(one: limits.LimitNow) -> dict[str, Any]:
    """A limit and its numbers for ``--json``."""
    found: dict[str, Any] = msgspec.to_builtins(one.limit)
    return found | {
        "running": one.running,
        "promised": one.promised,
        "started": one.started,
        "resets_at": shapes.iso(one.resets_at) if one.resets_at else None,
        "waiting": one.waiting,
        "full": one.full,
    }


def words(one: limits.LimitNow) -> str:
    """A limit and its numbers as a line."""
    parts = (
        [spoken.phrase("{running} of {concurrency} running", running=one.running, concurrency=one.limit.concurrency)]
        if one.limit.concurrency
        else []
    )
    if one.limit.per_minute:
        parts.append(
            spoken.phrase(
                "{started} of {per_minute} started within a minute",
                started=one.started,
                per_minute=one.limit.per_minute,
            )
        )
    if one.waiting:
        parts.append(spoken.phrase("tasks of {waiting} shops and types wait", waiting=one.waiting))
    return spoken.phrase("limit: {scope} {names}", scope=one.limit.scope, names=", ".join(parts))


def _figure(most: int) -> Callable[[str], int]:
    """Reads a limit, for argparse: a whole number, or none."""

    def read(text: str) -> int:
        return 0 if text == "none" else whole(1, most)(text)

    return read
