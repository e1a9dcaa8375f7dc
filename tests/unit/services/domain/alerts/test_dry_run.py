"""How often a rule would have told somebody: by the judge's rules, and nothing made up for what nobody recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from msgspec.structs import replace

from services.domain.alerts.dry_run import DryRun, Whole, dry_run
from services.domain.alerts.text import TRIED, UNTRIED
from services.domain.past.frame import UNTOLD, Change, Gap, Numbers
from services.watch.alerts.rules import BY_NAME, PAST

MINUTE = 60_000
RULE = replace(BY_NAME["lane_depth"].default, limits={"tasks": 100.0}, for_s=120, calm_s=180)


def rows(*depths: int | None, at: int = 0) -> list[Numbers]:
    """One a minute of the lane high; None: nobody recorded."""
    found, known = [], 0
    for number, depth in enumerate(depths, 1):
        now = at + number * MINUTE
        if depth is not None:
            found.append(Numbers(at_ms=now, since_ms=known or now - MINUTE, high=depth, tries=0))
        known = now if depth is not None else 0
    return found


def tried(seen: Iterable[Numbers], minutes: int, rule: object = RULE) -> DryRun:
    assert isinstance(rule, type(RULE))
    return dry_run(list(seen), 0, minutes * MINUTE, rule, PAST[rule.measure])


def spans(found: DryRun) -> list[tuple[int, int, str]]:
    return [(one.begin // MINUTE, one.end // MINUTE, one.name) for one in found.told]


def test_it_tells_once_it_held_for_long_enough_and_ends_when_it_stayed_calm() -> None:
    found = tried(rows(0, 200, 200, 200, 50, 200, 50, 50, 50, 50, 50), 11)
    assert spans(found) == [(4, 10, "high")], "a dip that is shorter than its calm is the same incident"
    assert not found.gaps
    assert found.recorded


def test_what_is_shorter_than_its_patience_stays_silent() -> None:
    seen = rows(0, 200, 200, 0, 200, 200, 0)
    assert spans(tried(seen, 7)) == []
    assert spans(tried(seen, 7, replace(RULE, for_s=60))) == [(3, 7, "high")], "the second is told within its calm"
    assert spans(tried(seen, 7, replace(RULE, for_s=60, calm_s=0))) == [(3, 4, "high"), (6, 7, "high")]


def test_what_nobody_recorded_stays_a_gap() -> None:
    found = tried(rows(200, 200, None, None, 200, 200, 0), 9)
    assert spans(found) == [], "nobody knows that it held in between"
    assert found.gaps == (Gap(2 * MINUTE, 4 * MINUTE), Gap(7 * MINUTE, 9 * MINUTE))
    nothing = tried((), 9)
    assert nothing.gaps == (Gap(0, 9 * MINUTE),)
    assert not nothing.recorded


def test_a_lane_that_the_broker_did_not_tell_changes_nothing() -> None:
    assert spans(tried(rows(200, 200, UNTOLD, 200, 200), 5)) == [(4, 5, "high")]
    assert spans(tried(rows(200, 200, 200, UNTOLD, UNTOLD), 5)) == [(3, 5, "high")]


def tried_states(measure: str, states: list[Whole | Change], minutes: int, **limits: float) -> DryRun:
    rule = BY_NAME[measure].default
    rule = replace(rule, limits={**rule.limits, **limits})
    seen = [Numbers(at_ms=at * MINUTE, since_ms=(at - 1) * MINUTE, tries=0) for at in range(1, minutes + 1)]
    return dry_run(seen, 0, minutes * MINUTE, rule, PAST[measure], [Whole(0, {}), *states])


def worker(second: int, before: str, after: str, name: str = "w1") -> Change:
    return Change(second * 1000, "worker", name, *(f"{one} 1.0 4" if one else "" for one in (before, after)))


def test_a_silent_worker_is_told_once_it_was_silent_for_long_enough_between_two_rows_too() -> None:
    short = [worker(70, "running", "late"), worker(100, "late", "running")]
    assert tried_states("silent_worker", short, 10).told == (), "45 s after it was heard of it came back"
    longer = [worker(70, "running", "late"), worker(117, "late", "running")]
    (one,) = tried_states("silent_worker", longer, 10).told
    assert (one.name, one.begin) == ("w1", 115_000)
    assert len(tried_states("silent_worker", longer, 10, seconds=63.0).told) == 0
    gone = [worker(70, "running", "late"), worker(115, "late", "silent"), worker(200, "silent", "gone")]
    (one,) = tried_states("silent_worker", gone, 90).told
    assert 55_000 + 60 * MINUTE <= one.end <= 55_000 + 62 * MINUTE, "one that is long gone was told of long enough"
    stopped = [worker(70, "running", "stopping"), worker(90, "stopping", "")]
    assert tried_states("silent_worker", stopped, 10).told == ()


def test_shops_that_need_a_login_count_from_the_limit_on() -> None:
    def shop(minute: int, name: str, before: str, after: str) -> Change:
        return Change(minute * MINUTE, "shop", name, before, after)

    states = [
        shop(2, "pdd:1", "", "login"),
        shop(3, "pdd:2", "dead", "paused/login"),
        shop(6, "pdd:2", "paused/login", ""),
        shop(9, "pdd:1", "login", "dead"),
    ]
    (one,) = tried_states("needs_login", states, 12).told
    assert (one.begin, one.end) == (2.5 * MINUTE, 9.5 * MINUTE)
    (two,) = tried_states("needs_login", states, 12, shops=2.0).told
    assert (two.begin, two.end) == (3.5 * MINUTE, 6.5 * MINUTE)
    assert tried_states("needs_login", states, 12, shops=3.0).told == ()


def test_a_broker_that_was_lost_or_blocked_is_one_matter() -> None:
    states = [
        Change(MINUTE, "broker", "broker", "", "lost"),
        Change(2 * MINUTE, "broker", "broker", "lost", "blocked"),
        Change(3 * MINUTE, "broker", "broker", "blocked", ""),
    ]
    (one,) = tried_states("publisher_blocked", states, 6).told
    assert one.name == "broker"
    assert one.end == 3 * MINUTE + 15_000


def test_what_was_silent_when_a_gap_ended_has_to_be_so_anew() -> None:
    rule = BY_NAME["silent_worker"].default
    seen = [Numbers(at_ms=at * MINUTE, since_ms=(at - 1) * MINUTE) for at in (1, 2, 6, 7)]
    states = [Whole(0, {}), worker(100, "running", "late"), Whole(5 * MINUTE, {("worker", "w1"): "late 1.0 4"})]
    found = dry_run(seen, 0, 7 * MINUTE, rule, PAST["silent_worker"], states)
    assert [one.begin for one in found.told] == [5 * MINUTE + 45_000]
    assert found.gaps == (Gap(2 * MINUTE, 5 * MINUTE),)


def test_of_each_measure_it_is_told_how_it_is_tried_or_why_not() -> None:
    assert PAST.keys() | UNTRIED.keys() == set(BY_NAME)
    assert not PAST.keys() & UNTRIED.keys()
    assert TRIED.keys() <= PAST.keys()


def told_by(measure: str, minutes: int, every: Callable[[int], dict[str, int]], /, **limits: float) -> DryRun:
    """A rule tried on a row a minute with these numbers."""
    rule = BY_NAME[measure].default
    rule = replace(rule, limits={**rule.limits, **limits})
    seen = [
        Numbers(at_ms=at * MINUTE, since_ms=(at - 1) * MINUTE, **every(at))  # type: ignore[arg-type]
        for at in range(1, minutes + 1)
    ]
    past = PAST[measure]
    return dry_run([row for row in seen if past.told(row)], 0, minutes * MINUTE, rule, past)


def test_the_oldest_wait_is_drawn_of_the_lane_that_came_nearest_to_its_limit() -> None:
    def waits(at: int) -> dict[str, int]:  # high for up to 9 minutes, low all the time for half of its limit
        high = 60 * (at - 10) if 10 < at < 20 else 0
        return {"waits_high_s": high, "waits_normal_s": 0, "waits_low_s": 360 * 60}

    found = told_by("oldest_wait", 30, waits)
    (one,) = found.told
    assert (one.name, one.begin, one.end) == ("high", 16 * MINUTE, 22 * MINUTE), "5 min, and one more"
    assert found.limit == "high_minutes"
    assert max(value for _at, value in found.curve) == 9
    assert told_by("oldest_wait", 30, waits, high_minutes=0).limit == "low_minutes"
    assert len(told_by("oldest_wait", 30, waits, low_minutes=300).told) == 2


def test_what_a_worker_holds_too_long_and_shops_that_fail_are_tried() -> None:
    held = told_by("unacked_age", 60, lambda at: {"held_s": 60 * at if at < 40 else 0})
    (one,) = held.told
    assert (one.begin, one.end) == (25 * MINUTE, 41 * MINUTE)
    assert (held.limit, max(value for _at, value in held.curve)) == ("minutes", 39)
    failing = told_by("shop_failing", 20, lambda at: {"broken": 2 if 5 <= at < 8 else 0})
    assert spans(failing) == [(5, 10, "failing")]
    assert spans(told_by("shop_failing", 20, lambda at: {"broken": 2 if 5 <= at < 8 else 0}, shops=3)) == []


def test_the_share_that_fails_is_that_of_its_last_minutes() -> None:
    def tries(at: int) -> dict[str, int]:  # ten a minute, half of which fail for ten minutes
        return {"tries": 10, "tries_failed": 5 if 20 < at <= 30 else 0}

    found = told_by("failure_rate", 60, tries)
    (one,) = found.told
    assert one.begin == 28 * MINUTE, "after 7 minutes 35 of the last 100 had failed, and that for a minute"
    assert one.end == 39 * MINUTE, "from the 34th minute on it is 30 of 100 or less, for 5 minutes"
    assert (found.limit, max(value for _at, value in found.curve)) == ("percent", 50)
    few = told_by("failure_rate", 60, lambda at: {"tries": 1, "tries_failed": 1})
    assert (few.told, few.curve) == ((), ()), "ten in ten minutes are too few"


def at(first: int, last: int, **numbers: int) -> Callable[[int], dict[str, int]]:
    """Numbers of the minutes between these, and 0 in the others."""
    return lambda minute: {name: value if first <= minute < last else 0 for name, value in numbers.items()}


@pytest.mark.parametrize(
    ("measure", "numbers", "below", "limit"),
    [
        ("dead_letters", {"letters": 7}, {"letters": 8}, "letters"),
        ("drift", {"drifted": 310}, {"factor": 3.2}, "factor"),
        ("promise_broken", {"broken_in": 3}, {"shops": 4}, "shops"),
        ("promise_at_risk", {"at_risk_in": 3}, {"shops": 4}, "shops"),
        ("running_long", {"hanging": 2, "together": 0}, {"hanging": 3}, "hanging"),
        ("running_long", {"hanging": 0, "together": 4}, {"together": 5}, "together"),
    ],
)
def test_a_number_of_the_recorder_is_held_against_its_limit(
    measure: str, numbers: dict[str, int], below: dict[str, float], limit: str
) -> None:
    found = told_by(measure, 40, at(10, 20, **numbers))
    assert len(found.told) == 1
    assert 10 * MINUTE <= found.told[0].begin < 12 * MINUTE
    assert found.limit == limit
    assert max(value for _at, value in found.curve) == max(numbers.values()) / (100 if measure == "drift" else 1)
    assert told_by(measure, 40, at(10, 20, **numbers), **below).told == ()
    assert told_by(measure, 40, at(10, 20, **dict.fromkeys(numbers, 0))).told == ()


def test_what_has_no_limit_is_tried_by_being_there_at_all() -> None:
    unserved = told_by("lane_unserved", 40, at(10, 20, unserved=50))
    assert spans(unserved) == [(12, 21, "unserved")], "after 2 minutes, until a row tells that it was calm"
    assert max(value for _at, value in unserved.curve) == 50
    late = told_by("schedule_late", 40, lambda minute: {"late_s": 60 * (minute - 9) if 10 <= minute < 20 else 0})
    (one,) = late.told
    assert (one.begin, late.limit, max(value for _at, value in late.curve)) == (10 * MINUTE, "seconds", 600)


def test_of_no_minutes_no_attempts_are_counted() -> None:
    found = told_by("failure_rate", 20, lambda _at: {"tries": 10, "tries_failed": 10}, minutes=0)
    assert (found.told, found.curve) == ((), ())
    assert found.recorded


def test_rows_that_do_not_tell_a_measure_are_a_gap() -> None:
    found = told_by("unacked_age", 60, lambda at: {"held_s": 3600} if at > 50 else {})
    assert found.gaps == (Gap(0, 50 * MINUTE),)
    assert found.recorded
    assert not told_by("failure_rate", 60, lambda _at: {}).recorded


def broker(*seconds: int) -> list[Whole | Change]:
    """Lost and found in turn."""
    turns = (("", "lost"), ("lost", ""))
    return [Change(at * 1000, "broker", "broker", *turns[place % 2]) for place, at in enumerate(seconds)]


def test_what_comes_and_goes_between_two_rows_is_told_as_often_as_it_was() -> None:
    short = tried_states("publisher_blocked", broker(65, 69, 80, 84, 95, 99), 5)
    assert short.told == (), "each of the three was over before it was told"
    twice = tried_states("publisher_blocked", broker(61, 77, 102, 118), 5)
    assert [(one.begin, one.end) for one in twice.told] == [(76_000, 92_000), (117_000, 133_000)]
    once = tried_states("publisher_blocked", broker(61, 77, 87, 103), 5)
    assert [(one.begin, one.end) for one in once.told] == [(76_000, 118_000)], "too short a calm between"


def test_a_worker_that_is_gone_for_long_is_not_silent_anew_where_recording_begins_anew() -> None:
    rule = BY_NAME["silent_worker"].default
    seen = [Numbers(at_ms=at * MINUTE, since_ms=(at - 1) * MINUTE) for at in (1, 2, 6, 7)]
    gone = {("worker", "w1"): "gone 1.0 4"}
    found = dry_run(seen, 0, 7 * MINUTE, rule, PAST["silent_worker"], [Whole(0, gone), Whole(5 * MINUTE, gone)])
    assert found.told == ()
