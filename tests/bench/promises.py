"""How well promises are warned of: mornings of compressed time in twelve shapes with three seeds each, then in three
shapes and with seeds by which nothing was adjusted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.support import promise_loads
from tests.support.promise_loads import Tally

SEEDS = 3
SHOPS = 24
#: seconds from one look to the next, twice those of the product: a morning takes half as long
TICK_S = 30.0
#: of the shapes that are held out the seeds begin behind this
OTHER = 10


def measure(scale: float) -> dict[str, float]:
    """Figures of all; the table of the shapes is printed as they come."""
    seeds = max(1, round(SEEDS * scale))
    print(promise_loads.HEAD)
    known = _play(promise_loads.SHAPES, range(1, seeds + 1))
    print(known.line("all"))
    other = _play((*promise_loads.HELD_OUT, "slow platform", "fewer slots"), range(OTHER + 1, OTHER + seeds + 1))
    print(other.line("held out"))
    return {**_figures(known, ""), **_figures(other, ", held out")}


def _play(names: Iterable[str], seeds: Iterable[int]) -> Tally:
    total = Tally()
    for name in names:
        found = Tally()
        for seed in seeds:
            with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
                found += promise_loads.play(Path(folder), name, seed, shops=SHOPS, tick_s=TICK_S)
        print(found.line(name), flush=True)
        total += found
    return total


def _figures(total: Tally, which: str) -> dict[str, float]:
    return {
        f"breaks{which}": len(total.breaks),
        f"of them said 10 min before, % (aim 90){which}": 100 * len(total.early) / max(1, len(total.breaks)),
        f"warnings{which}": total.said,
        f"of those true or false, false, % (aim 5){which}": total.false_share,
        f"a run that was never created is noticed after, s (aim 60){which}": max(total.noticed_ms, default=0) / 1000,
    }
