"""How well promises are warned of: mornings of compressed time in twelve shapes, three seeds each."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.support import promise_loads
from tests.support.promise_loads import Tally

SEEDS = 3
SHOPS = 24


def measure(scale: float) -> dict[str, float]:
    """Figures of all; the table of the shapes is printed as they come."""
    total = Tally()
    print(promise_loads.HEAD)
    for name in promise_loads.SHAPES:
        found = Tally()
        for seed in range(1, max(1, round(SEEDS * scale)) + 1):
            with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
                found += promise_loads.play(Path(folder), name, seed, shops=SHOPS)
        print(found.line(name), flush=True)
        total += found
    print(total.line("all"))
    return {
        "breaks": len(total.breaks),
        "of them said 10 min before, % (aim 90)": 100 * len(total.early) / max(1, len(total.breaks)),
        "warnings": total.said,
        "of them false, % (aim 5)": 100 * len(total.false) / max(1, total.said),
        "a run that was never created is noticed after, s (aim 60)": max(total.noticed_ms, default=0) / 1000,
    }
