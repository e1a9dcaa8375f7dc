"""Which running tasks are past the 95th percentile, which seem to hang, and which are slow together."""

from __future__ import annotations

import msgspec
import pytest

from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.insight import worker as insight
from services.domain.insight.forecast import durations
from services.domain.insight.worker import FleetNow
from services.monitor.waits import hung

NOW = 1_795_000_000_000
#: 19 of 20 end within 99 s, half within a minute
USUAL = durations.measured([60.0 + 40.0 * (n - 25) / 25 for n in range(51)])
FEW = durations.measured([60.0] * 5)


def fleet(*seconds: float, progress: int = -1) -> FleetNow:
    """One worker whose tasks have run so long, each in a shop of its own."""
    slots = tuple(
        SlotState(
            task_id=f"t{n}", task_type="crawl", shop=f"pdd:s{n}", since=NOW - round(one * 1000), progress=progress
        )
        for n, one in enumerate(seconds)
    )
    return insight.look([WorkerInfo(worker="w1", host="h", pid=1, seen_at=NOW, slots=slots)], NOW)


def past(*seconds: float, usual: durations.Runs = USUAL) -> list[str]:
    return [slot.task_id for slot in hung.past(fleet(*seconds), lambda _type, _platform: usual, NOW)]


def test_past_the_95th_percentile_of_those_that_were_measured() -> None:
    assert USUAL.nearly_all_s == pytest.approx(97.0, abs=3)
    assert past(20, 70, 95, 110, 140) == ["t4", "t3"], "the longest first"
    assert past(110, usual=FEW) == [], "of too few nobody knows a percentile"
    short = durations.measured([0.1] * 50)
    assert past(5, usual=short) == [], "seconds are long for nobody"


@pytest.mark.parametrize(
    ("seconds", "usual", "hangs"),
    [(110, USUAL, False), (250, USUAL, False), (300, USUAL, True), (250, FEW, False), (340, FEW, True)],
)
def test_one_hangs_that_is_well_past_it(seconds: float, usual: durations.Runs, hangs: bool) -> None:
    found = hung.slots(fleet(seconds), lambda _type, _shop: usual, NOW)
    assert bool(found) == hangs
    assert hung.slots(fleet(seconds, progress=40), lambda _type, _shop: usual, NOW) == [], "it says that it gets on"


def test_the_more_they_differ_the_later_one_hangs() -> None:
    uneven = durations.measured([10.0] * 30 + [60.0] * 15 + [600.0] * 5)
    assert uneven.hangs_s > 3 * uneven.nearly_all_s


def test_several_of_a_type_that_are_past_it_at_once_are_no_chance() -> None:
    def together(*seconds: float) -> list[tuple[int, int]]:
        found = hung.together(fleet(*seconds), lambda _type, _platform: USUAL, NOW)
        return [(len(one.slots), one.running) for one in found]

    assert together(110, 120, 20, 130) == [(3, 4)]
    assert together(110, 120, 20) == [], "two may be"
    assert together(110, 120, 130, *[20] * 4) == [], "three of seven are fewer than half"


def test_the_sentence_says_by_what_it_is_long() -> None:
    (slot,) = hung.past(fleet(125), lambda _type, _platform: USUAL, NOW)
    told = hung.sentence(msgspec.structs.replace(slot, task_id=""), USUAL, NOW)
    assert told.params["seconds"] == 125
    assert told.params["nearly_s"] == pytest.approx(USUAL.nearly_all_s, abs=0.1)
