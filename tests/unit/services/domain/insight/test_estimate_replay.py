"""Recorded courses are played again: what was told of a waiting task beforehand is held against when it started."""

from __future__ import annotations

import heapq
import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from services.domain.fleet.worker import SlotState
from services.domain.gates.ability import Supply
from services.domain.insight.forecast import durations, estimate
from services.domain.insight.forecast.durations import Runs
from services.domain.insight.forecast.estimate import Estimate
from services.domain.insight.wait import Facts
from services.domain.task.status import Status
from tests.unit.services.domain.builders import NOW, task

SHOP, TYPE = "pdd:shop017", "sync_order"
SUPPLY = Supply(serving=1, able=1, seen=("w",))
COURSES = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How long tasks of a kind run: log-normal around a middle."""

    middle_s: float
    spread: float

    def draw(self, chance: random.Random) -> float:
        return self.middle_s * chance.lognormvariate(0.0, self.spread)

    def met(self, chance: random.Random) -> float:
        """The length of one that is met at work at any moment: long ones are met more often."""
        some = [self.draw(chance) for _ in range(30)]
        return chance.choices(some, some)[0]

    def seen(self, chance: random.Random, number: int = 50) -> Runs:
        return durations.measured(self.draw(chance) for _ in range(number))


STEADY, UNEVEN = Kind(middle_s=120, spread=0.15), Kind(middle_s=300, spread=0.35)


def one_shop(chance: random.Random, kind: Kind, ahead: int, arrivals: float) -> tuple[Estimate | None, float]:
    """A shop that runs one at a time: what is told of the task behind ``ahead`` others, and when it started."""
    whole = kind.met(chance)
    ran = whole * chance.random()
    holder = task(task_id="h", status=Status.RUNNING, worker="w", started_at=NOW - round(ran * 1000))
    known = Facts(
        now_ms=NOW,
        holders=(holder,),
        shop_ahead=ahead,
        shop_line={TYPE: ahead},
        shop_arrivals=arrivals,
        supply=SUPPLY,
        slots=(SlotState(), SlotState()),
        runs={(TYPE, SHOP): kind.seen(chance)},
    )
    free = whole - ran + sum(kind.draw(chance) for _ in range(ahead))
    at = chance.expovariate(arrivals) if arrivals else float("inf")
    while at < free:
        free += kind.draw(chance)
        at += chance.expovariate(arrivals)
    return estimate.starts(task(status=Status.BLOCKED, gate="shop_busy"), known), free


def one_lane(chance: random.Random, kind: Kind, ahead: int, slots: int) -> tuple[Estimate | None, float]:
    """A lane with so many slots, all at work."""
    busy, ends = [], []
    for number in range(slots):
        whole = kind.met(chance)
        ran = whole * chance.random()
        busy.append(SlotState(task_id=f"t{number}", task_type=TYPE, shop=SHOP, since=NOW - round(ran * 1000)))
        ends.append(whole - ran)
    seen = kind.seen(chance)
    known = Facts(now_ms=NOW, ahead=ahead, supply=SUPPLY, slots=tuple(busy), runs={(TYPE, SHOP): seen}, lane_usual=seen)
    heapq.heapify(ends)
    for _ in range(ahead):
        heapq.heapreplace(ends, ends[0] + kind.draw(chance))
    return estimate.starts(task(status=Status.QUEUED), known), ends[0]


def courses(play: str, kind: Kind, *numbers: float) -> Iterator[tuple[Estimate, float]]:
    for seed in range(COURSES):
        chance = random.Random(seed)
        made = {"shop": one_shop, "lane": one_lane}[play](chance, kind, *numbers)  # type: ignore[operator]
        assert made[0] is not None
        yield made


@pytest.mark.parametrize(
    ("play", "kind", "numbers"),
    [
        ("shop", STEADY, (0, 0.0)),
        ("shop", STEADY, (3, 0.0)),
        ("shop", UNEVEN, (2, 0.0)),
        ("shop", UNEVEN, (13, 0.0)),
        ("shop", UNEVEN, (4, 1 / 900)),
        ("lane", STEADY, (5, 6)),
        ("lane", UNEVEN, (40, 6)),
        ("lane", UNEVEN, (400, 16)),
    ],
    ids=str,
)
def test_estimates_hold(play: str, kind: Kind, numbers: tuple[float, ...]) -> None:
    """Half of the courses come within 30 % of what was told, and the stated spread covers eight of ten."""
    told = list(courses(play, kind, *numbers))
    off = statistics.median(abs(found.mid_s - started) / max(started, 1.0) for found, started in told)
    assert off <= 0.3
    covered = sum(found.low_s <= started <= found.high_s for found, started in told) / COURSES
    assert covered >= 0.8
    early = sum(started < found.mid_s for found, started in told) / COURSES
    assert 0.3 < early < 0.7, "neither hope nor fear"
    width = statistics.median((found.high_s - found.low_s) / found.mid_s for found, _ in told)
    assert width < 4, "a spread that covers everything says nothing"


def test_what_the_type_says_would_not_hold() -> None:
    """The declared duration is not asked where something was measured: here it is wrong by ten times."""
    says = durations.best(durations.NOTHING, UNEVEN.seen(random.Random(1)), 30.0)
    assert (says.basis, round(says.usual_s, -2)) == (durations.MEASURED, 300)
