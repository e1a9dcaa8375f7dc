"""What is counted of events."""

from __future__ import annotations

from services.domain.task.event import Event
from services.monitor.numbers.meter import Meter
from tests.unit.services.monitor.replay import counting_since

T0 = 1_795_000_000_000


def event(task: int, at_s: float, from_: str, to: str, shop: str = "s1", lane: str = "normal") -> Event:
    return Event(
        cursor="", task_id=str(task), shop_id=shop, platform="pdd", task_type="work", from_=from_, to=to,
        at=T0 + round(at_s * 1000), worker="", gen=0, attempt=1, lane=lane,
    )  # fmt: skip


def test_arrivals_are_those_of_the_window_also_where_one_was_noted_late() -> None:
    meter = counting_since(T0)
    meter.note([event(0, 1.0, "", "queued", "old")])
    meter.note([event(n, 250.0, "", "queued", f"s{n % 2}") for n in range(40)])
    meter.note([event(99, 239.0, "", "queued", "past"), event(98, 246.0, "", "queued", "late", "high")])
    meter.note([event(97, 251.0, "retrying", "queued", "s1")])
    found = meter.arrivals(T0 + 300_000)  # much happens: one minute counts
    assert {shop: round(rate * 60) for shop, rate in found.items()} == {"pdd:s0": 20, "pdd:s1": 21, "pdd:late": 1}
    assert meter.arrivals(T0 + 300_000, "high").keys() == {"pdd:late"}


def test_how_long_tasks_of_a_shop_take_follows_each_that_ends() -> None:
    meter = Meter()
    meter.note([event(1, 0.0, "queued", "running"), event(1, 10.0, "running", "succeeded")])
    before = meter.took_by_shop(["pdd:s1", "pdd:s2"])
    assert before["pdd:s1"].mean_s == before["pdd:s2"].mean_s == 10.0
    meter.note([event(2, 10.0, "queued", "running"), event(2, 40.0, "running", "succeeded")])
    assert meter.took_by_shop(["pdd:s1"])["pdd:s1"].mean_s > 10.0
