"""How the worst of a promise goes on: if nothing changes, and with what helps."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.promises.course import POINTS, course, oldest
from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, NOT_DUE, Due, Forecast, Judged
from services.domain.promises.promise import BY, Promise

MINUTE = 60_000
NOW = 1_800_000_000_000
AGE = Promise(name="orders", task_type="work", limit_s=3600, all_shops=True)
DONE = Promise(name="goods", task_type="work", kind=BY, all_shops=True)


def at(minutes: float, off: float = 0) -> Forecast:
    """A success in so many minutes, give or take."""
    low, mid, high = (NOW + round((minutes + by) * MINUTE) for by in (-off, 0, off))
    return Forecast(low=low, mid=mid, high=high)


def shop(name: str, state: str, breaks: float, **fields: Any) -> Judged:
    return Judged(shop=f"pdd:{name}", state=state, break_at=NOW + round(breaks * MINUTE), **fields)


def test_the_oldest_grows_until_its_success_and_is_followed_by_the_next_oldest() -> None:
    found = course(
        AGE,
        Due(),
        [shop("a", AT_RISK, 20, helped=at(10, 2)), shop("b", KEPT, 40, forecast=at(12), helped=None)],
        NOW,
    )
    assert found is not None
    step = (found.ends - found.begins) / POINTS / 1000
    ages = [round(mid - place * step) for place, (_, mid, _) in enumerate(found.stays)]
    assert set(ages) <= set(range(40 * 60 - 1, 40 * 60 + 2)), "nothing brings a's success: it only grows older"
    assert found.stays[-1] == (found.stays[-1][0],) * 3
    after = round(11 * 60 / step)
    low, mid, high = found.helped[after]
    assert low <= mid < 32 * 60, "a is renewed, b is the oldest"
    assert high > 50 * 60, "at the latest a is not renewed yet"
    assert found.helped[-1][1] < 16 * 60
    assert (found.kept_at, found.breaks, found.untold) == (NOW + 10 * MINUTE, 0, 0)


def test_after_its_next_success_it_goes_on_as_often_as_one_came_so_far() -> None:
    shops = [shop("a", AT_RISK, 20, helped=at(2)), shop("b", KEPT, 40, forecast=at(4))]
    pace = (9 * MINUTE, 10 * MINUTE, 11 * MINUTE)
    found = course(AGE, Due(), shops, NOW, pace)
    blind = course(AGE, Due(), shops, NOW)
    assert found is not None
    assert blind is not None
    assert (found.beyond, found.every_s, blind.beyond, blind.every_s) == (True, 600, True, 0)
    step = (found.ends - found.begins) / POINTS / 60_000
    mids = [mid / 60 for _low, mid, _high in found.helped]
    # a comes at 2, 12, 22 ..., b at 4, 14, 24 ...: the one whose turn is next is the oldest
    assert mids[round(11.5 / step)] == pytest.approx(9.5, abs=step)
    assert mids[round(13 / step)] == pytest.approx(9, abs=step)
    assert max(mids[round(5 / step) :]) <= 10
    assert blind.helped[-1][1] / 60 == pytest.approx(25 - 2, abs=step), "it grows on"
    assert all(low <= mid <= high for low, mid, high in (*found.helped, *found.stays))
    assert found.stays == blind.stays, "a has no success that anybody could tell"


def test_the_worst_now_is_the_oldest_or_what_is_left() -> None:
    shops = [shop("a", AT_RISK, 20), shop("b", KEPT, 40), shop("c", NOT_DUE, 1), Judged(shop="pdd:d", state=KEPT)]
    assert oldest(AGE, shops, NOW) == 40 * 60
    assert oldest(DONE, shops, NOW) == 2
    assert oldest(AGE, [], NOW) is None


def test_who_breaks_even_so_and_of_whom_nobody_can_tell_is_said() -> None:
    found = course(
        AGE,
        Due(),
        [
            shop("a", AT_RISK, 5, helped=at(9)),
            shop("b", AT_RISK, 6, helped=at(3)),
            shop("c", BROKEN, -5, helped=at(4)),
            shop("d", AT_RISK, 8),
        ],
        NOW,
    )
    assert found is not None
    assert (found.breaks, found.breaks_at) == (1, NOW + 5 * MINUTE)
    assert (found.untold, found.kept_at) == (1, 0)


def test_where_nothing_helps_there_is_one_course() -> None:
    late = at(30)
    found = course(AGE, Due(), [shop("a", AT_RISK, 20, forecast=late, helped=late)], NOW)
    assert found is not None
    assert (found.helped, found.breaks) == ((), 1)


def test_help_that_comes_only_after_all_that_is_drawn_is_told_as_help() -> None:
    found = course(AGE, Due(), [shop("a", AT_RISK, 20, helped=at(90))], NOW)
    assert found is not None
    assert found.ends < NOW + 90 * MINUTE
    assert found.helped == found.stays
    assert (found.breaks, found.kept_at) == (1, NOW + 90 * MINUTE)


def test_of_what_is_to_be_done_by_an_hour_the_shops_that_are_left_are_counted() -> None:
    shops = [shop(str(n), AT_RISK, 30, helped=at(5 + n)) for n in range(3)]
    shops.append(shop("x", KEPT, 30, forecast=at(2)))
    shops.append(Judged(shop="pdd:met", state=KEPT))
    shops.append(Judged(shop="pdd:later", state=NOT_DUE, break_at=NOW + MINUTE))
    found = course(DONE, Due(begins=NOW - MINUTE, ends=NOW + 30 * MINUTE), shops, NOW)
    assert found is not None
    assert (found.stays[0], found.stays[-1]) == ((4, 4, 4), (3, 3, 3))
    assert (found.helped[0], found.helped[-1]) == ((4, 4, 4), (0, 0, 0))
    assert found.ends > NOW + 30 * MINUTE


def test_there_is_none_of_what_is_kept_and_it_has_as_many_points_of_many_shops_as_of_one() -> None:
    assert course(AGE, Due(), [shop("a", KEPT, 20, forecast=at(5))], NOW) is None
    many = [shop(str(n), AT_RISK, 20 + n / 1000, helped=at(10 + n / 500)) for n in range(10_000)]
    found = course(AGE, Due(), many, NOW)
    assert found is not None
    assert len(found.stays) == len(found.helped) == POINTS + 1
