"""The line before the slots, played through."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from services.domain.insight.forecast import durations
from services.domain.insight.forecast.trend import Trend
from services.domain.promises import line
from services.domain.promises.line import Ends, Place, Waiter

NORMAL = ("normal",)
MINUTE = durations.measured([60.0] * 10)
HOUR = durations.measured([3600.0] * 10)


def waits(name: str, shop: str = "", lasts: durations.Runs = MINUTE, **fields: object) -> Waiter:
    return Waiter(name=name, task_type="t", shop=shop or f"pdd:{name}", lane="normal", lasts=lasts, **fields)  # type: ignore[arg-type]


def ends(places: Sequence[Place], waiters: Sequence[Waiter], **rooms: int) -> dict[object, float]:
    """The middle of each, in minutes."""
    return {name: round(one.mid_s / 60, 1) for name, one in line.play(places, waiters, rooms).items()}


def free(number: int, lanes: tuple[str, ...] = NORMAL) -> list[Place]:
    return [Place(lanes=lanes)] * number


def test_two_slots_take_the_line_from_its_head() -> None:
    assert ends(free(2), [waits(name) for name in "abcd"]) == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_nobody_gets_anywhere_without_slots() -> None:
    assert line.play([], [waits("a")], {}) == {}


def test_what_runs_comes_first() -> None:
    busy = Place(lanes=NORMAL, lasts=MINUTE, ran_s=30.0, task_type="t", shop="pdd:z")
    assert ends([busy], [waits("a")]) == {"a": 1.5}


def test_who_finds_the_shop_busy_stands_aside_and_joins_the_end() -> None:
    some = [waits("a", "pdd:1"), waits("b", "pdd:1"), waits("c"), waits("d")]
    assert ends(free(1), some) == {"a": 1, "b": 2, "c": 3, "d": 4}
    slow = [waits("a", "pdd:1", HOUR), waits("b", "pdd:1"), waits("c"), waits("d")]
    assert ends(free(2), slow) == {"a": 60, "c": 1, "d": 2, "b": 61}, "the others are not behind a slow shop"
    assert line.play(free(2), slow, {"pdd:1": 2})["b"].mid_s == 60, "a shop that runs two at a time"


def test_what_stands_aside_waits_for_its_shop() -> None:
    busy = Place(lanes=NORMAL, lasts=HOUR, ran_s=0.0, task_type="t", shop="pdd:1")
    assert ends([busy, *free(1)], [waits("a", "pdd:1", aside=True), waits("b")]) == {"a": 61, "b": 1}
    assert ends(free(1), [waits("a", "pdd:1", aside=True)]) == {"a": 1}, "nothing keeps it aside"


def test_a_lane_that_goes_first_is_served_first_and_a_kept_slot_its_own() -> None:
    some = [waits("a"), Waiter(name="b", task_type="t", shop="pdd:b", lane="high", lasts=MINUTE)]
    assert ends(free(1, ("high", "normal")), some) == {"b": 1, "a": 2}
    assert ends(free(1, ("normal", "high")), some) == {"a": 1, "b": 2}


def test_at_the_limit_of_its_platform_or_type_it_waits_and_the_others_go() -> None:
    some = [waits("a", "pdd:1"), waits("b", "pdd:2"), waits("c", "temu:3"), waits("d", "pdd:4")]
    capped = {"platform:pdd": line.Cap(slots=1)}
    found = line.play(free(4), some, {}, capped)
    assert {name: round(one.mid_s / 60) for name, one in found.items()} == {"a": 1, "b": 2, "c": 1, "d": 3}
    busy = Place(lanes=NORMAL, lasts=MINUTE, ran_s=0.0, task_type="t", shop="pdd:9")
    found = line.play([busy, *free(3)], some, {}, {"type:t": line.Cap(slots=2)})
    assert round(found["d"].mid_s / 60) == 3, "what runs already counts"


def test_so_many_start_in_a_minute() -> None:
    some = [waits(str(n)) for n in range(4)]
    found = line.play(free(9), some, {}, {"type:t": line.Cap(per_minute=2, started=1, resets_s=30.0)})
    assert [round(found[str(n)].mid_s / 6) for n in range(4)] == [10, 15, 20, 25]


def test_in_quiet_hours_nothing_starts_and_all_of_it_goes_on_at_their_end() -> None:
    soon = ((30.0, 600.0),)
    some = [waits("a", shut=soon), waits("b", "temu:b"), waits("c", shut=soon), waits("d", shut=((0.0, 300.0),))]
    assert ends(free(1), some) == {"a": 1, "b": 2, "d": 6, "c": 11}


def test_what_is_planned_enters_at_its_time_and_not_beside_its_like() -> None:
    assert ends(free(1), [waits("a", enters_s=300.0)]) == {"a": 6}
    twice = [waits("a", "pdd:1", HOUR), waits("b", "pdd:1", enters_s=300.0, once=True)]
    assert ends(free(2), twice)["b"] == line.FAR_S / 60, "nobody creates it while the first is there"


def test_what_runs_longer_than_any_before_may_end_soon_or_go_on_as_long() -> None:
    usual = [durations.Ran(number, 60.0) for number in range(10)]
    longer = durations.of_late([*usual, *(durations.Ran(100 + n, 1200.0, ended=False) for n in range(4))])
    assert longer.overdue
    found = line.play([Place(lanes=NORMAL, lasts=longer, ran_s=1200.0, shop="pdd:z")], [waits("a")], {})["a"]
    assert found.low_s < 10 * 60
    assert found.high_s > 12 * 60


def test_work_that_goes_on_becoming_longer_comes_later_than_it_would_now() -> None:
    grows = Trend(per_s=0.001, doubt=0.0002, lasted_s=3600.0)
    some = [waits(str(n), lasts=replace(MINUTE, trend=grows)) for n in range(40)]
    now, then = ends(free(2), [waits(str(n)) for n in range(40)])["39"], line.play(free(2), some, {})["39"]
    assert then.mid_s / 60 > 1.3 * now
    assert then.low_s / 60 > now, "also where it soon stops"


@pytest.mark.parametrize("number", [1, 40, 3_000])
def test_a_look_stays_short_and_is_always_the_same(number: int) -> None:
    uneven = durations.measured([20.0, 40.0, 60.0, 90.0, 200.0])
    some = [waits(str(n), lasts=uneven) for n in range(number)]
    first = line.play(free(60), some, {})
    assert first == line.play(free(60), some, {})
    assert all(isinstance(one, Ends) and one.low_s <= one.mid_s <= one.high_s for one in first.values())
