"""Cron in time zones against a minute by minute count, across every kind of jump of the clock; intervals; sentences."""

from __future__ import annotations

import functools
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import UsageError
from services.domain.plans import recurrence
from services.domain.plans.recurrence import Cron, Interval, iso, latest, next_after, shortest_gap, upcoming

MINUTE = 60_000
EXPRESSIONS = ["30 2 * * *", "*/20 1-3 * * *", "*/15 * * * *", "5 0-23 * * *", "0 0 * * 0,6", "7 3 * * *"]
#: days on which these clocks jump, and one zone whose clock never does
JUMPS = [
    ("Europe/Berlin", "2026-03-29"),
    ("Europe/Berlin", "2026-10-25"),
    ("America/New_York", "2026-03-08"),
    ("America/New_York", "2026-11-01"),
    ("Australia/Lord_Howe", "2026-04-05"),
    ("Australia/Lord_Howe", "2026-10-04"),
    ("America/Santiago", "2026-09-06"),
    ("Asia/Shanghai", "2026-03-29"),
]


def at(text: str) -> int:
    """An ISO text with offset as an instant."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def shown(expression: str, zone: str, after: str, count: int) -> list[str]:
    """The next runs as a person reads them, the year left out."""
    return [iso(found, zone)[5:] for found in upcoming(Cron(expression, zone), at(after), count)]


@functools.cache
def _locals(zone: str, first: int, until: int) -> list[tuple[int, datetime]]:
    """Every minute and what the clock shows then."""
    return [
        (instant, datetime.fromtimestamp(instant // 1000, UTC).astimezone(ZoneInfo(zone)))
        for instant in range(first, until, MINUTE)
    ]


def counted(minutes: set[int], hours: set[int], zone: str, first: int, until: int) -> list[int]:
    """The rule, minute by minute: what is skipped runs once after the gap, what comes twice runs the first time."""
    everywhere = hours == set(range(24))
    found, before = [], None
    for instant, local in _locals(zone, first, until):
        plain = local.replace(tzinfo=None, fold=0)
        runs = local.minute in minutes and local.hour in hours and (everywhere or local.fold == 0)
        skipped = before + timedelta(minutes=1) if before is not None else plain
        while not everywhere and skipped < plain:
            runs = runs or (skipped.minute in minutes and skipped.hour in hours)
            skipped += timedelta(minutes=1)
        before = plain
        if runs:
            found.append(instant)
    return found


@given(
    jump=st.sampled_from(JUMPS),
    minutes=st.sets(st.integers(0, 59), min_size=1, max_size=4),
    hours=st.sets(st.integers(0, 23), min_size=1, max_size=24) | st.just(set(range(24))),
)
def test_cron_is_what_counting_minutes_finds(jump: tuple[str, str], minutes: set[int], hours: set[int]) -> None:
    zone, day = jump
    first = at(f"{day}T00:00:00+00:00") - 86_400_000
    until = first + 3 * 86_400_000
    expression = f"{','.join(map(str, minutes))} {','.join(map(str, hours))} * * *"
    found = [one for one in upcoming(Cron(expression, zone), first - 1, 80) if one < until]
    expected = [one for one in counted(minutes, hours, zone, first - 86_400_000, until) if one >= first]
    assert found == expected[:80]


@given(
    expression=st.sampled_from(
        [
            "0 9 29 2 *",
            "15,45 8-10 L * *",
            "0 0 * * 5#2",
            "30 6 1,15 * 1",
            "5 4 LW */3 *",
            "*/7 * * 2-4 1L",
            "0 12 31 * *",
        ]
    ),
    after=st.integers(at("2023-11-01T00:00:00+00:00"), at("2029-03-01T00:00:00+00:00")),
)
def test_days_of_a_month_or_a_week_are_those_of_the_library(expression: str, after: int) -> None:
    moments = CronSim(expression, datetime.fromtimestamp(after / 1000, UTC))
    assert upcoming(Cron(expression, "UTC"), after, 30) == [at(one.isoformat()) for one in islice(moments, 30)]


@functools.cache
def _every(expression: str, zone: str, first: int) -> list[int]:
    """All of five days."""
    return upcoming(Cron(expression, zone), first - 1, 5 * 96)


@given(
    jump=st.sampled_from(JUMPS),
    expression=st.sampled_from(EXPRESSIONS),
    start=st.integers(0, 3 * 86_400_000),
)
def test_where_one_begins_to_look_changes_nothing(jump: tuple[str, str], expression: str, start: int) -> None:
    zone, day = jump
    first = at(f"{day}T00:00:00+00:00") - 86_400_000
    rule = Cron(expression, zone)
    every = _every(expression, zone, first)
    after = first + start
    assert upcoming(rule, after, 3) == [one for one in every if one > after][:3]
    assert next_after(rule, after) == next(one for one in every if one > after)
    assert latest(rule, first, after) == max((one for one in every if one <= after), default=0)


def test_a_skipped_time_runs_once_after_the_gap() -> None:
    night = "2026-03-28T12:00:00+01:00"
    assert shown("30 2 * * *", "Europe/Berlin", night, 2) == ["03-29T03:00:00+02:00", "03-30T02:30:00+02:00"]
    assert shown("*/15 2 * * *", "Europe/Berlin", night, 2) == ["03-29T03:00:00+02:00", "03-30T02:00:00+02:00"]
    assert shown("0 2,3 * * *", "Europe/Berlin", night, 2) == ["03-29T03:00:00+02:00", "03-30T02:00:00+02:00"]
    assert shown("30 2 * * *", "America/New_York", "2026-03-07T12:00:00-05:00", 1) == ["03-08T03:00:00-04:00"]
    assert shown("30 2 * * *", "Asia/Shanghai", night, 2) == ["03-29T02:30:00+08:00", "03-30T02:30:00+08:00"]


def test_a_doubled_time_runs_once_and_what_runs_hourly_runs_in_both() -> None:
    evening = "2026-10-24T23:40:00+02:00"
    assert shown("30 2 * * *", "Europe/Berlin", evening, 2) == ["10-25T02:30:00+02:00", "10-26T02:30:00+01:00"]
    hourly = ["10-25T00:30:00+02:00", "10-25T01:30:00+02:00", "10-25T02:30:00+02:00", "10-25T02:30:00+01:00"]
    assert shown("30 * * * *", "Europe/Berlin", evening, 4) == hourly
    assert shown("30 0-23 * * *", "Europe/Berlin", evening, 4) == hourly, "the same in other words"


def test_a_whole_day_that_a_clock_skips() -> None:
    found = upcoming(Cron("0 9 30 12 *", "Pacific/Apia"), at("2011-12-29T00:00:00-10:00"), 2)
    assert [iso(one, "Pacific/Apia") for one in found] == ["2011-12-31T00:00:00+14:00", "2012-12-30T09:00:00+14:00"]


@pytest.mark.parametrize("alias", recurrence.ALIASES)
def test_aliases(alias: str) -> None:
    start = at("2026-01-01T00:30:00+00:00")
    first, second = upcoming(Cron(alias, "UTC"), start, 2)
    expected = {
        "@hourly": ("2026-01-01T01:00", "2026-01-01T02:00"),
        "@daily": ("2026-01-02T00:00", "2026-01-03T00:00"),
        "@midnight": ("2026-01-02T00:00", "2026-01-03T00:00"),
        "@weekly": ("2026-01-04T00:00", "2026-01-11T00:00"),  # Sundays
        "@monthly": ("2026-02-01T00:00", "2026-03-01T00:00"),
        "@yearly": ("2027-01-01T00:00", "2028-01-01T00:00"),
        "@annually": ("2027-01-01T00:00", "2028-01-01T00:00"),
    }
    assert (iso(first, "UTC")[:16], iso(second, "UTC")[:16]) == expected[alias]


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("", "five fields"),
        ("* * * *", "five fields"),
        ("weekdays 25:00", "weekdays 9:00"),
        ("0 * * * * *", "five fields"),
        ("60 * * * *", "minute"),
        ("0 24 * * *", "hour"),
        ("0 0 0 * *", "day of the month"),
        ("0 0 * 13 *", "month"),
        ("0 0 * * 8", "day of the week"),
        ("0 0 30 2 *", "day of the month"),
        ("0 0 */29 2 1#4", "never comes"),
        ("@noon", "@daily"),
        ("*/0 * * * *", "minute"),
        ("0 0 * * MON#5/2", "day of the week"),
        ("1" * 300 + " * * * *", "five fields"),
    ],
)
def test_what_is_no_cron_expression_is_refused_with_the_part(expression: str, named: str) -> None:
    with pytest.raises(UsageError, match=named) as caught:
        Cron(expression, "UTC")
    assert caught.value.field == "cron"


@given(
    st.text("0123456789*/-,#LWMONSUN @\u00e9", max_size=20),
    st.lists(st.text("0123456789*/-,#LWA", max_size=4), max_size=6),
)
def test_nothing_that_is_typed_breaks_it(text: str, parts: list[str]) -> None:
    for expression in (text, " ".join(parts)):
        try:
            found, field = upcoming(Cron(expression, "Europe/Berlin"), at("2026-03-28T00:00:00+01:00"), 3), "cron"
        except UsageError as exc:
            found, field = [], exc.field
        assert (found, field) == (sorted(set(found)), "cron")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("Asia/Shangai", "Asia/Shanghai"), ("", "a name is"), ("../x", "name"), ("a" * 300, "no time zone")],
)
def test_an_unknown_zone_is_refused_with_the_next_best(name: str, meant: str) -> None:
    with pytest.raises(UsageError, match=meant) as caught:
        Cron("@daily", name)
    assert caught.value.field == "zone"


# ---------------------------------------------------------------------- intervals
@given(every=st.integers(60, 86_400), first=st.integers(0, 10**12), after=st.integers(-(10**12), 2 * 10**12))
def test_an_interval_counts_from_its_first_instant(every: int, first: int, after: int) -> None:
    rule = Interval(every, first)
    one, two = upcoming(rule, after, 2)
    assert one > after
    assert one == first or (one - every * 1000 <= after and one > first)
    assert (one - first) % (every * 1000) == 0
    assert two - one == every * 1000 == shortest_gap(rule, after)
    until = after + 3_600_000
    assert latest(rule, after, until) == latest_by_hand(rule, after, until)


def latest_by_hand(rule: Interval, after: int, until: int) -> int:
    """The last one from ``after`` on."""
    found = 0
    for instant in rule.after(after - 1):
        if instant > until:
            return found
        found = instant
    return found


@pytest.mark.parametrize("every", [0, 9, -5, 367 * 86_400])
def test_an_interval_has_bounds(every: int) -> None:
    with pytest.raises(UsageError) as caught:
        Interval(every, 0)
    assert caught.value.field == "every"


def test_the_latest_of_years_is_found_at_once() -> None:
    rule = Cron("* * * * *", "Asia/Shanghai")
    now = at("2026-11-21T22:00:30+08:00")
    assert latest(rule, at("2001-01-01T00:00:00+00:00"), now) == at("2026-11-21T22:00:00+08:00")
    assert latest(rule, now - 100, now) == 0
    assert latest(Cron("0 0 29 2 *", "UTC"), 0, now) == at("2024-02-29T00:00:00+00:00")
