"""From counted events to the words of the headline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.insight.forecast import flow
from services.domain.insight.forecast.flow import Flow
from services.domain.task.event import Event
from services.domain.task.order import BrokerHealth
from services.domain.task.search.query import Counts
from services.messages import english_headline
from services.monitor.forecast.flow import Gates, facts_of
from services.monitor.live import Rates, Snapshot
from tests.unit.services.monitor.replay import counting_since

EPOCH_MS = 1_795_000_000_000
SHOPS = 12


class Fleet:
    """Tasks that come and go at told seconds; ``look`` judges them."""

    def __init__(self) -> None:
        self._steps: list[tuple[float, int, str, str, str]] = []
        self._number = 0

    def comes(self, at: float, lane: str, number: int = 1) -> None:
        """So many tasks that wait."""
        for _ in range(number):
            self._number += 1
            self._steps.append((at, self._number, "", "queued", lane))

    def runs(self, begun: float, ended: float, lane: str) -> None:
        """One that came long ago."""
        self._number += 1
        self._steps.append((begun, self._number, "queued", "running", lane))
        self._steps.append((ended, self._number, "running", "succeeded", lane))

    def look(
        self,
        at: float,
        workers: Iterable[tuple[tuple[str, ...], int, int]],
        waiting: dict[str, int],
        *,
        told: bool = True,
    ) -> Flow:
        """``workers``: lanes, slots and busy slots of each; ``told``: the broker answers."""
        meter = counting_since(EPOCH_MS)
        for when, task, from_, to, lane in sorted(self._steps):
            event = Event(
                cursor="", task_id=str(task), shop_id=f"s{task % SHOPS}", platform="pdd", task_type="work",
                from_=from_, to=to, at=EPOCH_MS + round(when * 1000), worker="", gen=0, attempt=1, lane=lane,
            )  # fmt: skip
            meter.note([event])
        now = EPOCH_MS + round(at * 1000)
        infos = tuple(
            WorkerInfo(
                worker=f"w{place}", host="h", pid=1, lanes=lanes, seen_at=now,
                slots=tuple(SlotState(task_id="t" if n < busy else "") for n in range(slots)),
            )
            for place, (lanes, slots, busy) in enumerate(workers)
        )  # fmt: skip
        running = sum(info.busy for info in infos)
        total = sum(waiting.values())
        each = Counter(f"pdd:s{n % SHOPS}" for n in range(total))
        snapshot = Snapshot(
            at_ms=now,
            taken=at,
            counts=Counts(
                status={"queued": total, "running": running},
                shops={shop: {"queued": number} for shop, number in each.items()},
                lanes={lane: {"queued": number} for lane, number in waiting.items()},
            ),
            workers=infos,
            broker=BrokerHealth(connected=True),
            depths_fresh=told,
            rates=Rates(flow=meter.rates(now)),
        )
        shops = {f"pdd:s{n}": Shop(platform="pdd", shop_id=f"s{n}", concurrency=4) for n in range(SHOPS)}
        return flow.judge(facts_of(snapshot, Gates(), meter, shops))


@pytest.fixture
def low() -> Fleet:
    """In the low lane come 18 tasks every 8 s, and its only slot ends one every 4 s; for four minutes nothing came."""
    found = Fleet()
    for burst in range(8):
        found.comes(240 + 8 * burst, "low", 18)
    for number in range(14):
        found.runs(241 + 4 * number, 245 + 4 * number, "low")
    return found


LOW_ONLY = ((("low",), 1, 1), (("high", "normal"), 5, 0))


def test_a_lane_with_one_slot_is_told_how_many_it_lacks_by_what_comes_in_now(low: Fleet) -> None:
    found = low.look(299, LOW_ONLY, {"low": 130})
    assert (found.state, found.facts.lane, found.facts.slots) == (flow.GROWING, "low", 1)
    assert found.more_slots in (8, 12), "2.4 tasks of 4 s a second, in steps"
    assert found.facts.alone == "w0", "more slots are to be set there"


def test_what_comes_in_other_lanes_takes_no_slots_of_a_full_one(low: Fleet) -> None:
    alone = low.look(299, LOW_ONLY, {"low": 130}).more_slots
    for second in range(240, 299):
        low.comes(second + 0.5, "high")
        low.runs(second, second + 4, "high")
    together = low.look(299, ((("low",), 1, 1), (("high", "normal"), 9, 4)), {"low": 130})
    assert (together.facts.lane, abs(together.more_slots - alone) <= 4) == ("low", True)


def test_where_nothing_was_measured_no_number_is_named() -> None:
    fresh = Fleet()
    for burst in range(8):
        fresh.comes(240 + 8 * burst, "low", 18)
    found = fresh.look(299, LOW_ONLY, {"low": 144})
    assert (found.state, found.more_slots) == (flow.GROWING, 0)


def test_a_burst_after_another_clears_and_does_not_grow() -> None:
    fleet = Fleet()
    fleet.comes(340, "low", 24)
    for number in range(24):
        fleet.runs(341 + 2 * (number // 6), 343 + 2 * (number // 6), "low")
    fleet.comes(391, "low", 24)
    for _ in range(6):
        fleet.runs(391, 399, "low")
    found = fleet.look(400, (((("high", "normal", "low")), 6, 6),), {"low": 12})
    words = english_headline(flow.headline(found))
    assert words.startswith("12 tasks waiting, hardly any new ones now; clear in about"), words


def test_while_the_broker_tells_nothing_no_end_is_forecast() -> None:
    """It hung for 20 s, nothing ran, and the headline said that all would have run within the minute."""
    fleet = Fleet()
    fleet.comes(340, "low", 24)
    for number in range(24):
        fleet.runs(341 + 2 * (number // 6), 343 + 2 * (number // 6), "low")
    workers = ((("high", "normal", "low"), 6, 0),)
    found = fleet.look(360, workers, {"low": 12}, told=False)
    assert found.estimate is None
    words = english_headline(flow.headline(found))
    assert words.endswith("the broker does not answer: when they start is not known"), words
    assert fleet.look(360, workers, {"low": 12}).estimate is not None
