"""What limits cost that never close: the same no-op tasks without any, with one of each kind, and without once more."""

from __future__ import annotations

import tempfile
from pathlib import Path

from services.domain.gates.limit import Limit
from tests.bench.pairs import Pair

COUNT = 6_000
#: far above what 8 slots can reach
OPEN = (Limit(scope="platform:pdd", concurrency=100_000), Limit(scope="type:noop", per_minute=10_000_000))
RATE = "no-op tasks /s"


def measure(count: int, **urls: str) -> dict[str, float]:
    """Tasks a second of three rounds in one store; the ratio is to the mean of the two without limits."""
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        pair = Pair(Path(folder), **urls)
        try:
            before, limited, after = (_round(pair, count, limits) for limits in ((), OPEN, ()))
        finally:
            pair.close()
    return {
        f"{RATE}, without limits": before,
        f"{RATE}, with two open limits": limited,
        f"{RATE}, without them again": after,
        "with them, without = 1": 2 * limited / (before + after),
    }


def _round(pair: Pair, count: int, limits: tuple[Limit, ...]) -> float:
    store = pair.engine.store
    for limit in OPEN:
        store.put_limit(limit if limit in limits else Limit(scope=limit.scope))
    pair.create(pair.specs(count))
    return pair.drain()
