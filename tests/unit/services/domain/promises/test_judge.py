"""Whether a promise is kept, at risk or broken, from what is known of one shop."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.gates.quiet_hours import Weekly
from services.domain.promises import judge as judging
from services.domain.promises import promise as promises
from services.domain.promises.judge import (
    AT_RISK,
    BROKEN,
    CHECKS,
    KEPT,
    NEAR_MS,
    NOT_DUE,
    STATES,
    Due,
    Facts,
    Forecast,
    Hold,
    Judged,
    judge,
)
from services.domain.promises.promise import BY, Promise
from services.domain.task.ledger import Day

ZONE = "Asia/Shanghai"
MINUTE = 60_000
HOUR = 60 * MINUTE
DAYS = tuple(range(7))


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(ZONE)).timestamp() * 1000)


NOON = at("2026-11-24T12:00")


def promise(**fields: Any) -> Promise:
    return Promise(**{"name": "p", "task_type": "work", "limit_s": 3600, "all_shops": True, "since": 1, **fields})


def by(**fields: Any) -> Promise:
    return promise(**{"kind": BY, "limit_s": 0, "window": Weekly(days=DAYS, start=0, end=16 * 60), **fields})


def soon(minutes: float, spread: float = 0.0, now: int = NOON) -> Forecast:
    mid, off = now + round(minutes * MINUTE), round(spread * MINUTE)
    return Forecast(low=mid - off, mid=mid, high=mid + off)


def one(promised: Promise, now: int = NOON, **facts: Any) -> Judged:
    return judge(promised, judging.due(promised, ZONE, now), Facts(shop="pdd:1", **facts), now)


@pytest.mark.parametrize(
    ("ago", "forecast", "state"),
    [
        (5, soon(20), KEPT),
        (5, None, AT_RISK),  # nobody can tell that it will be there
        (50, soon(9), KEPT),
        (50, soon(9, 2), KEPT),  # likelier to be there than not
        (48, soon(11, 5), KEPT),  # likelier to be there, though hardly
        (48, soon(16, 5), AT_RISK),  # much likelier to be late
        (52, soon(10, 3), KEPT),  # too late to do much: only what is nearly sure is said
        (52, soon(12, 2), AT_RISK),
        (40, soon(25, 10), KEPT),  # and so it is long before
        (40, soon(25, 4), KEPT),
        (40, soon(25, 2), AT_RISK),
        (5, soon(80, 10), AT_RISK),
        (59.5, soon(0.1), KEPT),  # it is nearly there
        (59.5, soon(0.6, 0.5), AT_RISK),  # in the last moments likelier late than not
        (59.5, None, AT_RISK),
        (60, soon(0.1), BROKEN),
        (600, None, BROKEN),
    ],
)
def test_an_age(ago: float, forecast: Forecast | None, state: str) -> None:
    found = one(promise(), done_at=NOON - round(ago * MINUTE), forecast=forecast, created=True)
    assert found.state == state
    assert found.break_at == NOON - round(ago * MINUTE) + HOUR


def test_what_nobody_has_created_is_said_as_long_as_somebody_can() -> None:
    for there, state in ((True, KEPT), (False, AT_RISK)):
        found = one(promise(), done_at=NOON - 52 * MINUTE, forecast=soon(10, 3), created=there)
        assert found.state == state


@pytest.mark.parametrize(
    ("warned", "forecast", "state"),
    [
        (50, soon(45), AT_RISK),  # hardly better than it was: still said
        (50, soon(30), KEPT),
        (50, None, AT_RISK),
        (0, soon(45), KEPT),
        (-10, soon(45), KEPT),  # that was of the break before: a success has come since
    ],
)
def test_a_warning_stays_until_there_is_room_to_spare(warned: int, forecast: Forecast | None, state: str) -> None:
    promised, before = promise(), NOON + warned * MINUTE if warned else 0
    facts = Facts(shop="pdd:1", done_at=NOON - 10 * MINUTE, forecast=forecast)
    assert judge(promised, Due(), facts, NOON, warned=before).state == state


@pytest.mark.parametrize(
    ("seconds", "forecast", "state"),
    [
        (0, soon(80), KEPT),  # one look may err
        (90, soon(80), KEPT),
        (120, soon(80), AT_RISK),
        (0, None, AT_RISK),  # that nobody can tell is no error of a forecast
    ],
)
def test_a_forecast_is_believed_when_looks_of_two_minutes_agree(
    seconds: int, forecast: Forecast | None, state: str
) -> None:
    facts = Facts(shop="pdd:1", done_at=NOON - 10 * MINUTE, forecast=forecast)
    found = judge(promise(), Due(), facts, NOON, late=NOON - seconds * 1000)
    assert (found.state, found.late) == (state, True)
    assert judge(promise(), Due(), facts, NOON, late=0).state == AT_RISK, "nothing was seen before"


def test_the_less_time_is_left_to_see_how_it_goes_the_less_sure_a_break_has_to_be() -> None:
    def state(left: float) -> str:
        likely = soon(left + 0.5, 2)  # the same share of it behind the limit
        done_at = NOON - round((60 - left) * MINUTE)
        return one(promise(), done_at=done_at, forecast=likely, created=True).state

    assert [state(left) for left in (14.5, 12, 10.5, 9)] == [KEPT, AT_RISK, AT_RISK, KEPT]


def test_what_never_ran_is_looked_at_before_its_first_limit_ends() -> None:
    fresh = promise(since=NOON - 10 * MINUTE)
    assert one(fresh, forecast=None).state == NOT_DUE
    assert one(promise(since=NOON - 50 * MINUTE), forecast=None).state == AT_RISK
    assert one(promise(since=NOON - 61 * MINUTE), forecast=None).state == BROKEN


def test_an_age_within_hours_counts_from_their_begin() -> None:
    shop_hours = promise(window=Weekly(days=DAYS, start=11 * 60 + 30, end=20 * 60))
    assert one(shop_hours, done_at=NOON - 5 * HOUR, forecast=soon(10)).state == KEPT
    assert one(shop_hours, done_at=NOON - 5 * HOUR, forecast=soon(10)).break_at == at("2026-11-24T12:30")
    assert one(shop_hours, now=at("2026-11-24T12:31"), done_at=NOON - 5 * HOUR).state == BROKEN
    late = at("2026-11-24T19:30")
    assert one(shop_hours, now=late, done_at=at("2026-11-24T19:10"), forecast=None).state == KEPT  # not in this window
    assert one(shop_hours, now=at("2026-11-24T21:00"), done_at=at("2026-11-24T09:00")).state == NOT_DUE
    assert judging.due(shop_hours, ZONE, at("2026-11-24T21:00")).next == at("2026-11-25T11:30")


@pytest.mark.parametrize(
    ("now", "done", "state"),
    [
        ("2026-11-24T12:00", "2026-11-24T03:00", KEPT),
        ("2026-11-24T18:00", "2026-11-24T03:00", KEPT),
        ("2026-11-24T12:00", "2026-11-23T23:00", AT_RISK),  # that was for yesterday, and no end can be told
        ("2026-11-24T16:00", "2026-11-23T23:00", BROKEN),
        ("2026-11-24T23:59", "2026-11-23T23:00", BROKEN),
        ("2026-11-24T17:00", "2026-11-24T16:30", KEPT),  # late, and there
    ],
)
def test_an_hour(now: str, done: str, state: str) -> None:
    assert one(by(), now=at(now), done_at=at(done)).state == state


def test_on_other_days_nothing_is_due() -> None:
    fridays = by(window=Weekly(days=(4,), start=0, end=16 * 60))
    friday = at("2026-11-20T03:00")
    assert one(fridays, now=at("2026-11-20T18:00"), done_at=friday).state == KEPT
    assert one(fridays, now=at("2026-11-21T18:00"), done_at=friday).state == NOT_DUE
    assert one(fridays, now=at("2026-11-21T18:00"), done_at=friday - 86_400_000).state == BROKEN
    again = at("2026-11-27T00:30")
    assert one(fridays, now=again, done_at=friday, forecast=soon(5, now=again)).state == KEPT
    made_later = by(window=fridays.window, since=at("2026-11-20T17:00"))
    assert one(made_later, now=at("2026-11-21T18:00")).state == NOT_DUE


def test_the_first_check_from_the_left_is_the_reason() -> None:
    holds = tuple(Hold(check, f"because.{check}") for check in reversed(CHECKS))
    assert one(promise(), done_at=NOON - 2 * HOUR, holds=holds).hold == holds[-1]
    assert one(promise(), done_at=NOON - 2 * HOUR, holds=holds[:2]).hold == holds[1]
    assert one(promise(), done_at=NOON - MINUTE, holds=holds, forecast=soon(9)).hold is None


# --------------------------------------------------------------------------------------------------------- properties
PROMISES = st.one_of(
    st.builds(
        lambda limit, start, length: promise(
            limit_s=limit, window=Weekly(days=DAYS, start=start, end=(start + length) % 1441 or 1440)
        ),
        st.integers(60, 86_400),
        st.integers(0, 700),
        st.integers(60, 700),
    ),
    st.builds(lambda limit: promise(limit_s=limit), st.integers(60, 7 * 86_400)),
    st.builds(lambda end: by(window=Weekly(days=(0, 1, 4), start=0, end=end)), st.integers(1, 1440)),
)
MOMENTS = st.integers(NOON - 20 * 86_400_000, NOON + 20 * 86_400_000)
FORECASTS = st.one_of(
    st.none(), st.builds(lambda low, mid, high: (low, low + mid, low + mid + high), *[st.integers(0, 9 * HOUR)] * 3)
)


def made(ends: tuple[int, int, int] | None, now: int) -> Forecast | None:
    return Forecast(low=now + ends[0], mid=now + ends[1], high=now + ends[2]) if ends else None


@given(PROMISES, MOMENTS, st.integers(0, 10 * 86_400_000), st.integers(0, 86_400_000), FORECASTS)
def test_a_later_success_never_makes_it_worse(
    promised: Promise, now: int, ago: int, later: int, ends: tuple[int, int, int] | None
) -> None:
    first, second = now - ago, min(now, now - ago + later)
    window = judging.due(promised, ZONE, now)
    before, after = (
        judge(promised, window, Facts(shop="a", done_at=done, forecast=made(ends, now)), now)
        for done in (first, second)
    )
    assert rank(after.state) >= rank(before.state)
    if before.break_at and after.break_at:
        assert after.break_at >= before.break_at


def rank(state: str) -> int:
    """What is not due is as good as what is kept."""
    return min(STATES.index(state), STATES.index(KEPT))


@given(PROMISES, MOMENTS, st.integers(0, 10 * 86_400_000), FORECASTS)
def test_it_breaks_only_after_it_was_said_to_be_at_risk_or_expected_in_time(
    promised: Promise, now: int, ago: int, ends: tuple[int, int, int] | None
) -> None:
    done = now - ago
    broken = judge(promised, judging.due(promised, ZONE, now), Facts(shop="a", done_at=done), now)
    if broken.state != BROKEN or broken.break_at - NEAR_MS // 8 <= max(done, 1):
        return
    moment = broken.break_at - min(NEAR_MS, max(1, promised.limit_s * 250 or NEAR_MS)) // 2
    window = judging.due(promised, ZONE, moment)
    expected = made(ends, moment)
    before = judge(promised, window, Facts(shop="a", done_at=done, forecast=expected), moment)
    in_time = expected is not None and expected.later_than(broken.break_at) < 0.5
    assert before.state == AT_RISK or in_time or window.begins == broken.break_at


@given(PROMISES, MOMENTS, st.integers(0, 10 * 86_400_000), FORECASTS, st.integers(0, 3 * HOUR))
def test_a_later_forecast_never_makes_it_better(
    promised: Promise, now: int, ago: int, ends: tuple[int, int, int] | None, more: int
) -> None:
    window, done = judging.due(promised, ZONE, now), now - ago
    early = made(ends, now)
    late = Forecast(low=early.low + more, mid=early.mid + more, high=early.high + more) if early else None
    first, second = (
        judge(promised, window, Facts(shop="a", done_at=done, forecast=one), now).state for one in (early, late)
    )
    assert rank(second) <= rank(first)


def test_a_window_that_always_holds_has_no_bounds() -> None:
    assert judging.due(promise(), ZONE, NOON) == Due()


def day(first: str, last: str = "", succeeded: int = 1, failed: int = 0) -> Day:
    return Day(at(first), at(last or first), succeeded, failed, "a", "b")


def told(promised: Promise, *days: Day, now: int = NOON) -> list[int]:
    since = now - 30 * 24 * HOUR
    spans = [] if promised.always else promises.windows(promised, ZONE, since, now)
    return judging.sure_breaks(promised, spans, days, now)


def test_between_two_days_it_is_known_that_nothing_succeeded() -> None:
    days = day("2026-11-22T09:00", "2026-11-22T20:00", 9), day("2026-11-23T06:00", "2026-11-24T11:30", 30)
    assert told(promise(limit_s=12 * 3600), *days) == []
    assert told(promise(limit_s=8 * 3600), *days) == [at("2026-11-23T04:00")]
    assert told(promise(limit_s=1200), *days) == [at("2026-11-22T20:20"), at("2026-11-24T11:50")]
    assert told(promise(limit_s=1200)) == [], "of a shop that never ran nobody knows anything"


def test_what_failed_is_no_success_and_a_day_without_any_ends_no_gap() -> None:
    days = day("2026-11-22T20:00"), day("2026-11-23T06:00", succeeded=0, failed=3), day("2026-11-24T11:30")
    assert told(promise(limit_s=24 * 3600), *days) == [at("2026-11-23T20:00")]


def test_in_hours_it_breaks_only_in_them() -> None:
    hours = Weekly(days=DAYS, start=8 * 60, end=20 * 60)
    days = day("2026-11-22T19:30"), day("2026-11-23T09:30"), day("2026-11-24T11:30")
    assert told(promise(limit_s=2 * 3600, window=hours), *days) == [at("2026-11-23T11:30"), at("2026-11-24T10:00")]


def test_by_an_hour_it_is_broken_where_no_run_lies_between() -> None:
    days = day("2026-11-21T15:00"), day("2026-11-23T17:00"), day("2026-11-24T09:00", "2026-11-24T11:00", 5)
    assert told(by(), *days) == [at("2026-11-22T16:00"), at("2026-11-23T16:00")]
