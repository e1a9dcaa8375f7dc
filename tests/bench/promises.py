"""How well promises are warned of: mornings of compressed time in twelve shapes with some seeds each, then in shapes,
and with seeds, by which nothing was adjusted. Two are played at a time.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Iterable, Iterator
from multiprocessing.pool import Pool
from pathlib import Path

from tests.support import promise_loads
from tests.support.promise_fresh import FRESH
from tests.support.promise_loads import HELD_OUT, SHAPES, Tally

SEEDS = 2
SHOPS = 24
#: seconds from one look to the next, four times those of the product: a morning takes a third of the time
TICK_S = 60.0
#: of the shapes that are held out the seeds begin behind this: by those up to it the likelihood to warn at was chosen
OTHER = 13
AT_ONCE = 2

Morning = tuple[str, int]


def measure(scale: float) -> dict[str, float]:
    """Figures of all; the table of the shapes is printed as they come."""
    seeds = max(1, round(SEEDS * scale))
    print(promise_loads.HEAD)
    with multiprocessing.get_context("fork").Pool(AT_ONCE) as pool:
        known = _played(pool, SHAPES, range(1, seeds + 1))
        print(known.line("all"))
        other = _played(pool, (*HELD_OUT, *FRESH, "slow platform", "fewer slots"), range(OTHER + 1, OTHER + seeds + 1))
        print(other.line("held out"))
    return {**_figures(known, ""), **_figures(other, ", held out")}


def _played(pool: Pool, names: Iterable[str], seeds: Iterable[int]) -> Tally:
    total, of_shape = Tally(), Tally()
    wanted = list(seeds)
    for (name, seed), found in _mornings(pool, [(name, seed) for name in names for seed in wanted]):
        of_shape += found
        if seed == wanted[-1]:
            print(of_shape.line(name), flush=True)
            total += of_shape
            of_shape = Tally()
    return total


def _mornings(pool: Pool, mornings: list[Morning]) -> Iterator[tuple[Morning, Tally]]:
    """In their order."""
    return zip(mornings, pool.imap(_play, mornings), strict=True)


def _play(morning: Morning) -> Tally:
    name, seed = morning
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        shape = FRESH.get(name, name)
        return promise_loads.play(Path(folder), shape, seed, shops=SHOPS, tick_s=TICK_S)


def _figures(total: Tally, which: str) -> dict[str, float]:
    return {
        f"breaks{which}": len(total.breaks),
        f"of them said 10 min before, % (aim 90){which}": 100 * len(total.early) / max(1, len(total.breaks)),
        f"warnings{which}": total.said,
        f"of those true or false, false, % (aim 5){which}": total.false_share,
        f"a run that was never created is noticed after, s (aim 60){which}": max(total.noticed_ms, default=0) / 1000,
    }
