"""Quiet hours: what people write, and the windows that come of it, over midnight and when clocks change."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import UsageError
from services.domain.gates import quiet_hours
from services.domain.gates.quiet_hours import Once, Quiet, QuietHours, Weekly, Windows
from services.domain.text.said import words_of

DAY = 86_400_000
SHANGHAI, BERLIN, APIA = "Asia/Shanghai", "Europe/Berlin", "Pacific/Apia"


def at(text: str, zone: str, fold: int = 0) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp() * 1000)


def night(*weekly: str, scope: str = "all", once: tuple[Once, ...] = ()) -> QuietHours:
    windows = tuple(quiet_hours.weekly(one) for one in weekly)
    return QuietHours(name="night", scope=scope, weekly=windows, once=once, reason="sale", by="ann@desk")


@pytest.mark.parametrize(
    ("text", "days", "start", "end"),
    [
        ("mon-fri 22:00-06:00", (0, 1, 2, 3, 4), 1320, 360),
        ("sat,sun 00:00-24:00", (5, 6), 0, 1440),
        ("daily 12:00 - 13:30", tuple(range(7)), 720, 810),
        ("Fri-Mon 23:59–00:01", (0, 4, 5, 6), 1439, 1),
        (" tue  09:00-10:00 ", (1,), 540, 600),
    ],
)
def test_windows_of_a_week_are_read(text: str, days: tuple[int, ...], start: int, end: int) -> None:
    read = quiet_hours.weekly(text)
    assert read == Weekly(days=days, start=start, end=end)
    assert quiet_hours.weekly(quiet_hours.weekly_text(read)) == read


@pytest.mark.parametrize(
    "text",
    [
        *("", "22:00-06:00", "mon 22-06", "mon 24:01-25:00", "mon 22:00-22:00", "mo 22:00-23:00", "mon 24:00-06:00"),
        *("mon-xyz 1:00-2:00", "daily 22:60-23:00", "mon, 22:00-23:00", "mon 22:00 23:00", "mon ２２:00-23:00"),
    ],
)
def test_others_are_refused_with_what_is_right(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        quiet_hours.weekly(text)
    assert caught.value.field == "when"


def test_a_window_over_midnight_belongs_to_the_day_on_which_it_begins() -> None:
    # 2026-11-27 is a Friday
    found = quiet_hours.spans(
        night("fri 22:00-06:00"), SHANGHAI, at("2026-11-23", SHANGHAI), at("2026-12-07", SHANGHAI)
    )
    assert found == [
        (at("2026-11-27T22:00", SHANGHAI), at("2026-11-28T06:00", SHANGHAI)),
        (at("2026-12-04T22:00", SHANGHAI), at("2026-12-05T06:00", SHANGHAI)),
    ]
    # asked in the middle of it, it is there
    middle = at("2026-11-28T03:00", SHANGHAI)
    assert quiet_hours.spans(night("fri 22:00-06:00"), SHANGHAI, middle, middle + 1) == found[:1]


def test_windows_that_touch_are_one() -> None:
    quiet = night("daily 22:00-24:00", "daily 00:00-06:00", "daily 05:00-07:00")
    start = at("2026-11-23T12:00", SHANGHAI)
    assert quiet_hours.spans(quiet, SHANGHAI, start, start + DAY) == [
        (at("2026-11-23T22:00", SHANGHAI), at("2026-11-24T07:00", SHANGHAI))
    ]
    within = night("daily 22:00-06:00", "daily 23:00-24:00")
    assert quiet_hours.spans(within, SHANGHAI, start, start + DAY) == [
        (at("2026-11-23T22:00", SHANGHAI), at("2026-11-24T06:00", SHANGHAI))
    ]


def test_an_hour_that_the_clock_skips_is_the_first_after_the_gap() -> None:
    # 2027-03-28: 02:00 becomes 03:00
    start = at("2027-03-27T12:00", BERLIN)
    gap_ends = at("2027-03-28T03:00", BERLIN)
    over = quiet_hours.spans(night("sat 22:00-02:30"), BERLIN, start, start + DAY)
    assert over == [(at("2027-03-27T22:00", BERLIN), gap_ends)]
    assert quiet_hours.spans(night("sun 02:15-05:00"), BERLIN, start, start + DAY) == [
        (gap_ends, at("2027-03-28T05:00", BERLIN))
    ]
    assert quiet_hours.spans(night("sun 02:10-02:50"), BERLIN, start, start + DAY) == []


def test_an_hour_that_comes_twice_is_quiet_both_times() -> None:
    # 2026-10-25: 03:00 becomes 02:00
    start = at("2026-10-24T12:00", BERLIN)
    (found,) = quiet_hours.spans(night("sun 02:15-02:45"), BERLIN, start, start + DAY)
    assert found == (at("2026-10-25T02:15", BERLIN), at("2026-10-25T02:45", BERLIN, fold=1))
    assert found[1] - found[0] == 90 * 60_000
    (night_,) = quiet_hours.spans(night("sat 22:00-06:00"), BERLIN, start, start + DAY)
    assert night_[1] - night_[0] == 9 * 3_600_000


def test_a_day_that_a_clock_skipped_has_no_window() -> None:
    # Samoa had no 30th of December 2011
    start = at("2011-12-29T00:00", APIA)
    found = quiet_hours.spans(night("fri 10:00-11:00"), APIA, start, start + 3 * DAY)
    assert all(begin < end for begin, end in found)


@given(
    start=st.integers(0, 1439),
    end=st.integers(0, 1440),
    days=st.sets(st.integers(0, 6), min_size=1),
    now=st.integers(at("2026-01-01", "UTC"), at("2028-01-01", "UTC")),
    zone=st.sampled_from([SHANGHAI, BERLIN, "America/New_York", "Australia/Lord_Howe", "UTC"]),
)
def test_windows_stand_apart_in_order_and_hold_what_was_said(
    start: int, end: int, days: set[int], now: int, zone: str
) -> None:
    if start == end:
        return
    quiet = QuietHours(
        name="n", scope="all", weekly=(Weekly(days=tuple(sorted(days)), start=start, end=end),), reason="x"
    )
    found = quiet_hours.written_out(quiet, zone, now)
    spans = found.windows
    assert all(begin < stop for begin, stop in spans)
    assert all(left[1] < right[0] for left, right in pairwise(spans))
    assert all(stop > now and begin < found.until for begin, stop in spans)
    closed = quiet_hours.closed("n", msgspec.json.encode(found).decode(), now)
    assert (closed is not None) == any(begin <= now < stop for begin, stop in spans)
    assert quiet_hours.is_fresh(found, quiet_hours.written_out(quiet, zone, now + 60_000), now + 60_000)


def test_what_is_closed_says_until_when_on_the_clocks_of_the_fleet() -> None:
    now = at("2026-11-23T23:00", SHANGHAI)
    found = quiet_hours.written_out(night("daily 22:00-06:00", scope="platform:temu"), SHANGHAI, now)
    closed = quiet_hours.closed("night", msgspec.json.encode(found).decode(), now)
    assert isinstance(closed, Quiet)
    assert (closed.scope, closed.gate, closed.by, closed.reason) == ("platform:temu", "quiet_hours", "ann@desk", "sale")
    assert closed.until == at("2026-11-24T06:00", SHANGHAI)
    assert closed.told["ends"] == "06:00"
    assert quiet_hours.closed("night", msgspec.json.encode(found).decode(), closed.until) is None
    later = quiet_hours.closed("night", msgspec.json.encode(found).decode(), at("2026-11-24T22:00", SHANGHAI))
    assert later is not None, "half-open: the first instant is closed"
    days = night(once=(Once(start=now - 1, end=now + 3 * DAY),))
    closed = quiet_hours.closed("d", msgspec.json.encode(quiet_hours.written_out(days, SHANGHAI, now)).decode(), now)
    assert closed is not None
    assert closed.told["ends"] == "2026-11-26 23:00"


def test_windows_are_stale_once_the_wish_or_the_zone_changed_or_a_day_is_missing() -> None:
    now, quiet = at("2026-11-23T12:00", SHANGHAI), night("daily 22:00-06:00")
    stored = quiet_hours.written_out(quiet, SHANGHAI, now)

    def fresh(wish: QuietHours, zone: str, later: int) -> bool:
        return quiet_hours.is_fresh(stored, quiet_hours.written_out(wish, zone, now + later), now + later)

    assert fresh(quiet, SHANGHAI, DAY // 2)
    assert not fresh(quiet, SHANGHAI, 2 * DAY)
    assert not fresh(quiet, BERLIN, 0)
    assert not fresh(night("daily 22:00-06:30"), SHANGHAI, 0)
    assert not fresh(msgspec.structs.replace(quiet, reason="other"), SHANGHAI, 0)
    assert not fresh(msgspec.structs.replace(quiet, scope="platform:pdd"), SHANGHAI, 0)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": "a b"}, "name"),
        ({"name": ""}, "name"),
        ({"scope": "lane:high"}, "scope"),
        ({"weekly": ()}, "when"),
        ({"weekly": (Weekly(days=(0,), start=0, end=60),) * 21}, "when"),
        ({"weekly": (), "once": (Once(start=10, end=20),)}, "when"),
        ({"once": (Once(start=20, end=10),)}, "when"),
        ({"once": (Once(start=0, end=400 * DAY),)}, "when"),
        ({"reason": "  "}, "reason"),
        ({"reason": "x" * 401}, "reason"),
    ],
)
def test_what_cannot_be_set_names_its_field(fields: dict[str, object], field: str) -> None:
    quiet_hours.check(night("daily 22:00-06:00"), DAY)
    with pytest.raises(UsageError) as caught:
        quiet_hours.check(msgspec.structs.replace(night("daily 22:00-06:00"), **fields), DAY)
    assert caught.value.field == field


def test_a_form_takes_both_kinds_between_semicolons() -> None:
    weekly, once = quiet_hours.windows("mon 22:00-23:00；2026-11-24 22:00 – 2026-11-25T06:00; ", SHANGHAI, DAY)
    assert weekly == (quiet_hours.weekly("mon 22:00-23:00"),)
    assert once == (Once(start=at("2026-11-24T22:00", SHANGHAI), end=at("2026-11-25T06:00", SHANGHAI)),)
    with pytest.raises(UsageError):
        quiet_hours.windows("2026-13-24 22:00 - 2026-11-25 06:00", SHANGHAI, DAY)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("周一至周五 22:00-06:00", "mon-fri 22:00-06:00"),
        ("星期六、星期日 00:00 到 24:00", "sat,sun 00:00-24:00"),
        ("周末 00:00-24:00", "sat,sun 00:00-24:00"),
        ("每天 12:00至13:00", "daily 12:00-13:00"),
        ("工作日 22:00-06:00", "mon-fri 22:00-06:00"),
        ("周一到周五22:00-06:00", "mon-fri 22:00-06:00"),
        ("周一至五 22:00-06:00", "mon-fri 22:00-06:00"),
        ("周一、三、五 22:00-06:00", "mon,wed,fri 22:00-06:00"),
        ("每周一 22:00-06:00", "mon 22:00-06:00"),
        ("每星期日22:00-06:00", "sun 22:00-06:00"),
        ("每日12：00-13：00", "daily 12:00-13:00"),
        ("2026-11-24 22:00 至 2026-11-25 06:00", "2026-11-24 22:00 - 2026-11-25 06:00"),
    ],
)
def test_days_are_written_in_chinese_too(said: str, meant: str) -> None:
    assert quiet_hours.windows(said, SHANGHAI, DAY) == quiet_hours.windows(meant, SHANGHAI, DAY)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Mon to Fri 22:00-06:00", "mon-fri 22:00-06:00"),
        ("mon - fri 22:00 to 6:00", "mon-fri 22:00-06:00"),
        ("Sat, Sun 00:00-24:00", "sat,sun 00:00-24:00"),
        ("Wednesdays and Thursday 9:00-10:00", "wed,thu 09:00-10:00"),
        ("weekdays 22:00-06:00", "mon-fri 22:00-06:00"),
        ("every day 12:00-13:00", "daily 12:00-13:00"),
        ("2026-11-24 22:00 to 2026-11-25T06:00", "2026-11-24 22:00 - 2026-11-25 06:00"),
    ],
)
def test_days_are_written_as_people_say_them_too(said: str, meant: str) -> None:
    assert quiet_hours.windows(said, SHANGHAI, DAY) == quiet_hours.windows(meant, SHANGHAI, DAY)


def test_a_weekly_window_takes_the_colon_of_chinese() -> None:
    assert quiet_hours.weekly("每天 22：00-06：00") == quiet_hours.weekly("daily 22:00-06:00")


def test_what_a_weekly_window_is_not_is_no_example_of_one() -> None:
    with pytest.raises(UsageError) as refused:
        quiet_hours.weekly("until 06:00")
    assert str(words_of(refused.value)).count("until 06:00") == 1


@pytest.mark.parametrize("said", ["until 06:00", "\u5230 6\uff1a00", "Till 6:00"])
def test_until_is_from_now_to_the_next_time_that_the_clock_shows_it(said: str) -> None:
    evening, morning = at("2026-11-24T22:10", SHANGHAI), at("2026-11-25T06:00", SHANGHAI)
    for now in (evening, morning - 1):
        assert quiet_hours.windows(said, SHANGHAI, now) == ((), (Once(start=now, end=morning),))
    ((), (one,)) = quiet_hours.windows(said, SHANGHAI, morning)
    assert one.end == at("2026-11-26T06:00", SHANGHAI)


@pytest.mark.parametrize(
    "body", ["", "{}", '{"name":"n","scope":"nobody"}', '{"name":"n","scope":"all","weekly":[{}]}']
)
def test_a_stored_one_that_is_none_is_told(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of any kind
        quiet_hours.DOCUMENT.load(body)


@pytest.mark.parametrize(
    ("instant", "said"),
    [
        ("2026-11-23T22:00", "22:00"),
        ("2026-11-24T11:59", "11:59"),  # the next time that clocks show it
        ("2026-11-24T12:00", "2026-11-24 12:00"),
        ("2026-11-22T12:01", "12:01"),  # the last time that they showed it
        ("2026-11-22T12:00", "2026-11-22 12:00"),
        ("2026-11-03T02:24", "2026-11-03 02:24"),
    ],
)
def test_a_time_is_said_with_its_day_where_hours_and_minutes_alone_would_mean_another(instant: str, said: str) -> None:
    now = at("2026-11-23T12:00", SHANGHAI)
    assert quiet_hours.clock_at(at(instant, SHANGHAI), SHANGHAI, now) == said


def test_doctor_warns_of_what_runs_out_and_of_what_nobody_wished() -> None:
    now = at("2026-11-23T12:00", SHANGHAI)
    wish = msgspec.json.encode(night("daily 22:00-06:00")).decode()
    good = quiet_hours.written_out(night("daily 22:00-06:00"), SHANGHAI, now)

    def doubts(wished: dict[str, str], stored: Windows | None) -> list[str]:
        kept = {"night": msgspec.json.encode(stored).decode()} if stored is not None else {}
        documents = {quiet_hours.KIND: wished, quiet_hours.WINDOWS: kept}
        ask = quiet_hours.ENTRY.switch.doubts if quiet_hours.ENTRY.switch is not None else None
        assert ask is not None
        return [one.code for one in ask(lambda kind: documents[kind], now)]

    assert doubts({"night": wish}, good) == []
    assert doubts({"night": wish}, None) == ["doctor.quiet_short"]
    assert doubts({"night": wish}, msgspec.structs.replace(good, until=now + 6 * DAY)) == ["doctor.quiet_short"]
    assert doubts({}, good) == ["doctor.quiet_left"]
