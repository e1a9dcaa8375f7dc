"""Estimates over many slots: the answers of the plain way, with the slots drawn once for all who wait for them."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Runs
from services.domain.insight.forecast.estimate import after
from services.domain.insight.places import DRAWS, Bench

SHARES = (0.1, 0.5, 0.9)
SEEDS = 12

#: shares as near as this are taken for one another
NEAR = 0.06


def plain(bench: Bench, ahead: Sequence[tuple[Runs, int]], arrivals: float, seed: int) -> list[float]:
    """Every place drawn anew for every task."""
    chance = random.Random(seed)
    like = [lasts for lasts, count in ahead if count] or bench.left
    found = []
    for _ in range(DRAWS):
        ends = [left.at(chance.random()) for left in bench.left] + [0.0] * bench.free
        heapq.heapify(ends)
        tilted = [(lasts, number, max(0.3, chance.gauss(1.0, lasts.doubt))) for lasts, number in ahead]
        if sum(number for _, number in ahead) > 12:
            mean = sum(lasts.mean_s * number * tilt for lasts, number, tilt in tilted)
            spread = sum(lasts.spread_s**2 * number for lasts, number, _ in tilted) ** 0.5
            until = (sum(ends) + max(0.0, chance.gauss(mean, spread))) / len(ends)
            longest = max(lasts.at(chance.random()) for lasts, _, _ in tilted)
            early = longest / 2 * (len(ends) - 1) / (len(ends) + 1)
            ends[:] = [max(0.0, until - early)] + [until] * (len(ends) - 1)
        else:
            for lasts, number, tilt in tilted:
                for _ in range(number):
                    heapq.heapreplace(ends, ends[0] + lasts.at(chance.random()) * tilt)
        if arrivals > 0:
            at = chance.expovariate(arrivals)
            for _ in range(60):
                if at >= ends[0]:
                    break
                heapq.heapreplace(ends, ends[0] + chance.choice(like).at(chance.random()))
                at += chance.expovariate(arrivals)
        found.append(ends[0])
    return sorted(found)


lasting = st.lists(st.floats(1, 600), min_size=1, max_size=20).map(durations.measured)
benches = st.builds(
    Bench, left=st.lists(lasting, min_size=1, max_size=40).map(tuple), free=st.integers(min_value=0, max_value=3)
)


@settings(max_examples=25)
@given(benches, st.lists(st.tuples(lasting, st.integers(0, 40)), max_size=3), st.sampled_from((0.0, 0.02, 0.5)))
def test_the_answers_are_those_of_the_plain_way(bench: Bench, ahead: list[tuple[Runs, int]], arrivals: float) -> None:
    found = after(bench, ahead, arrivals)
    assert len(found) == DRAWS
    tries = [plain(bench, ahead, arrivals, seed) for seed in range(SEEDS)]
    for share in SHARES:
        place, near = int(share * DRAWS), int(NEAR * DRAWS)
        # both are drawn, and where durations lie in two heaps a share beside the gap may fall into either
        low = min(one[max(0, place - near)] for one in tries)
        high = max(one[min(DRAWS - 1, place + near)] for one in tries)
        margin = high - low + 0.1 * high + 0.5
        assert low - margin <= found[place] <= high + margin


def test_a_thousand_slots_are_drawn_once_for_all_who_wait() -> None:
    drawn: list[float] = []

    class Counted(Runs):
        def at(self, share: float) -> float:
            drawn.append(share)
            return super().at(share)

    bench = Bench(left=tuple(Counted((1.0, 2.0, 3.0 + number), durations.MEASURED) for number in range(1000)))
    for waiting in range(1, 50):
        after(bench, [(durations.measured([5.0, 6.0]), waiting)], 0.5)
    assert len(drawn) == 1000 * DRAWS
