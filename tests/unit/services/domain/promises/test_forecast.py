"""When the next success of a shop is expected."""

from __future__ import annotations

import pytest

from services.domain.gates.breaker import Breaker, Rule
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Ran
from services.domain.insight.forecast.outlook import Load
from services.domain.promises import forecast
from services.domain.promises.judge import Forecast

NOW = 1_795_000_000_000
MINUTE = 60_000
LASTS = durations.measured([50.0, 55.0, 60.0, 65.0, 70.0])
GAPS = forecast.regular([590, 595, 600, 605, 640])


@pytest.mark.parametrize(("seconds", "due"), [(600, 0), (655, 0), (665, 640), (6000, 640)])
def test_a_run_that_nobody_planned_is_missing_when_it_is_later_than_ever(seconds: int, due: int) -> None:
    since = NOW - seconds * 1000
    assert forecast.missing(NOW, since, GAPS) == (since + due * 1000 if due else 0)


def test_of_a_pace_that_is_hardly_known_nothing_is_missing() -> None:
    assert forecast.missing(NOW, NOW - 10**7, forecast.regular([600])) == 0


def test_nothing_ends_before_it_may_begin() -> None:
    soon = Forecast(low=NOW, mid=NOW + MINUTE, high=NOW + 2 * MINUTE)
    assert forecast.not_before(soon, 0, LASTS) == soon
    later = forecast.not_before(soon, NOW + 10 * MINUTE, LASTS)
    assert later.low >= NOW + 10 * MINUTE
    assert later.mid == NOW + 11 * MINUTE


def test_what_has_to_wait_for_both_waits_for_the_later() -> None:
    one = Forecast(low=1, mid=5, high=9)
    assert forecast.latest(one, Forecast(low=2, mid=4, high=10)) == Forecast(low=2, mid=5, high=10)
    assert forecast.latest(one, None) == one


def test_of_a_planned_run_the_first_shops_are_through_first() -> None:
    load = Load(slots=2, mean_s=60.0, deviation_s=5.0, measured=20)
    ends = [forecast.planned(NOW, NOW + MINUTE, 0, load, 100, LASTS, share) for share in (0.05, 0.5, 1.0)]
    highs = [one.high for one in ends if one is not None]
    assert highs == sorted(highs)
    assert highs[0] < NOW + 10 * MINUTE < NOW + 45 * MINUTE < highs[-1]
    assert forecast.planned(NOW, NOW, 0, Load(slots=0), 100, LASTS) is None


def test_what_seems_to_hang_is_ended_by_its_time_out_and_tried_again() -> None:
    usual = durations.measured([10.0] * 20)
    ended = NOW + 30 * 60_000
    found = forecast.hanging(NOW, ended, usual)
    assert found is not None
    assert found.high >= ended + 10_000
    soon = forecast.hanging(NOW, NOW - 1000, usual)
    assert soon is not None
    assert soon.high == forecast.unknown(NOW, usual).high, "a person may have to see to it all the same"
    assert forecast.hanging(NOW, 0, usual) is None


@pytest.mark.parametrize(
    ("outcomes", "times", "stays"),
    [
        ("1101010101", 1, False),  # every second fails
        ("1111010101", 1, False),  # four in a row may be chance where every second fails
        ("1111010101", 3, False),  # and a few tries more: some shop of many has that soon
        ("1111010101", 7, True),  # its tries have failed too
        ("11111", 1, True),
        ("1111111111", 1, True),
        ("1101110111", 2, False),
    ],
)
def test_a_breaker_stays_open_where_its_failures_are_no_chance(outcomes: str, times: int, stays: bool) -> None:
    found = Breaker(shop="pdd:1", outcomes=outcomes, until=NOW + MINUTE, since=NOW, times=times, kind="network")
    assert forecast.stays_open(found, Rule()) == stays
    tried = forecast.tried(NOW, found, Rule(), LASTS)
    assert (tried is None) == stays
    if tried is not None:
        assert NOW + MINUTE < tried.low <= tried.mid <= tried.high, "no earlier than its next try"


def test_where_the_network_fails_at_times_everywhere_a_breaker_says_little() -> None:
    found = Breaker(shop="pdd:1", outcomes="11111", until=NOW + MINUTE, since=NOW, times=1, kind="network")
    well = [Ran(NOW, 60.0)] * 30
    assert forecast.stays_open(found, Rule(), forecast.by_chance(well))
    again = [Ran(NOW, 60.0, failed=number) for number in (0, 1, 2, 0, 1, 3, 0, 1)]
    assert not forecast.stays_open(found, Rule(), forecast.by_chance(again))
