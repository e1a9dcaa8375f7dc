"""Numbers and times in both languages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services import i18n
from services.domain.gates import quiet_hours
from views.support import text

CHINA = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 11, 21, 6, 32, 7, tzinfo=UTC)  # 14:32:07 in China


def s(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def plain(words: str) -> str:
    return words.replace(text.THIN, " ")


@pytest.fixture
def chinese() -> Iterator[None]:
    i18n.set_language("zh_CN")
    yield
    i18n.set_language("en")


@pytest.mark.parametrize(
    ("seconds", "words", "precise"),
    [
        (-5, "0.0 s", "0.0 s"),
        (0, "0.0 s", "0.0 s"),
        (0.44, "0.4 s", "0.4 s"),
        (9.99, "9.9 s", "9.9 s"),
        (10, "10 s", "10.0 s"),
        (22.4, "22 s", "22.4 s"),
        (59.99, "59 s", "59.9 s"),
        (60, "1 m 00 s", "1 m 00 s"),
        (372, "6 m 12 s", "6 m 12 s"),
        (1982, "33 m 02 s", "33 m 02 s"),
        (3599, "59 m 59 s", "59 m 59 s"),
        (3600, "1 h 00 m", "1 h 00 m"),
        (22_800, "6 h 20 m", "6 h 20 m"),
        (86_399, "23 h 59 m", "23 h 59 m"),
        (86_400, "1 d 0 h", "1 d 0 h"),
        (200_000, "2 d 7 h", "2 d 7 h"),
    ],
)
def test_durations(seconds: float, words: str, precise: str) -> None:
    assert plain(text.duration(s(seconds))) == words
    assert plain(text.duration(s(seconds), precise=True)) == precise


def test_number_and_unit_never_part() -> None:
    assert text.duration(s(372)) == "6\u202fm\u202f12\u202fs"
    assert " " not in text.duration(s(372))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0.4 秒"), (41, "41 秒"), (372, "6 分 12 秒"), (22_800, "6 小时 20 分"), (200_000, "2 天 7 小时")],
)
def test_durations_in_chinese(seconds: float, words: str, chinese: None) -> None:
    assert plain(text.duration(s(seconds))) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(5, "5 s"), (59, "59 s"), (60, "1 min"), (2040, "34 min"), (7200, "2 h"), (300_000, "3 d")]
)
def test_coarse_spans(seconds: float, words: str) -> None:
    assert plain(text.coarse(s(seconds))) == words


def test_coarse_spans_in_chinese(chinese: None) -> None:
    assert plain(text.coarse(s(2040))) == "34 分钟"


def test_past_and_future() -> None:
    assert plain(text.age(s(0.4))) == "0.4 s ago"
    assert plain(text.until(s(41))) == "in 41 s"
    assert plain(text.until(s(40.2))) == "in 41 s"
    assert plain(text.until(s(77))) == "in 1 m 17 s"
    assert text.until(s(0)) == text.until(s(-3)) == "now"


def test_past_and_future_in_chinese(chinese: None) -> None:
    assert plain(text.age(s(41))) == "41 秒前"
    assert plain(text.until(s(41))) == "41 秒后"
    assert text.until(s(0)) == "现在"


@pytest.mark.parametrize(("seconds", "words"), [(-1, "0 s"), (0.2, "1 s"), (59.5, "1 m 00 s"), (60, "1 m 00 s")])
def test_count_downs_have_no_decimals(seconds: float, words: str) -> None:
    assert plain(text.seconds(s(seconds))) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.003, "3 ms"), (0.12, "120 ms"), (0.9999, "1,000 ms"), (2.5, "2.5 s")]
)
def test_latencies(seconds: float, words: str) -> None:
    assert plain(text.milliseconds(s(seconds))) == words


@pytest.mark.parametrize(
    ("number", "english", "chinese_words"),
    [
        (0, "0", "0"),
        (9_999, "9,999", "9,999"),
        (10_000, "10k", "1 万"),
        (18_402, "18.4k", "1.8 万"),
        (999_999, "999.9k", "99.9 万"),
        (1_250_000, "1.2M", "125 万"),
        (2_340_000_000, "2.3G", "23.4 亿"),
        (-18_402, "-18.4k", "-1.8 万"),
    ],
)
def test_badges_shorten_large_numbers(number: int, english: str, chinese_words: str) -> None:
    assert text.compact(number) == english
    i18n.set_language("zh_CN")
    assert text.compact(number) == chinese_words


@pytest.mark.parametrize(
    ("per_second", "words"),
    [
        (0, "0/s"),
        (-1, "0/s"),
        (0.05, "3.0/min"),
        (0.0999, "6.0/min"),
        (0.1, "0.1/s"),
        (4.8, "4.8/s"),
        (9.96, "10/s"),
        (12.4, "12/s"),
        (12_345, "12,345/s"),
    ],
)
def test_rates(per_second: float, words: str) -> None:
    assert text.rate(per_second) == words


def test_rates_that_are_compared_have_one_unit() -> None:
    assert text.rates(4.8, 0.05) == ("288/min", "3.0/min")
    assert text.rates(4.8, 0.0) == ("4.8/s", "0/s")
    assert text.rates(0.02, 0.0) == ("1.2/min", "0/min")


def test_rates_in_chinese(chinese: None) -> None:
    assert text.rate(4.8) == "4.8 条/秒"


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0.0 %"),
        (0.0002, "0.1 %"),
        (0.982, "98.2 %"),
        (0.9999, "99.9 %"),
        (1, "100.0 %"),
        (1.5, "150.0 %"),
        (12.345, "1,234.5 %"),
    ],
)
def test_shares_have_one_decimal_and_what_is_not_all_is_never_all(share: float, words: str) -> None:
    assert plain(text.percent(share)) == words


@pytest.mark.parametrize(
    ("octets", "words"),
    [(-1, "0 B"), (999, "999 B"), (8_800, "8.8 kB"), (412_000, "412 kB"), (5_500_000_000_000, "5,500 GB")],
)
def test_sizes(octets: int, words: str) -> None:
    assert plain(text.size(octets)) == words


def test_counts_have_commas() -> None:
    assert text.count(1_284_000) == "1,284,000"


@pytest.mark.parametrize(
    ("when", "long", "short"),
    [
        (NOW, "14:32:07", "14:32"),
        (NOW - timedelta(days=1, hours=5, minutes=17), "11-20 09:15", "11-20 09:15"),
        (NOW - timedelta(days=400), "2025-10-17", "2025-10-17"),
        (datetime(2026, 11, 20, 16, 0, tzinfo=UTC), "00:00:00", "00:00"),
    ],
)
def test_times_of_day_in_the_zone_of_the_profile(when: datetime, long: str, short: str) -> None:
    assert text.clock(when, NOW, CHINA) == long
    assert text.minute(when, NOW, CHINA) == short


def test_copies_and_logs_are_exact() -> None:
    when = NOW + timedelta(microseconds=131_999)
    assert text.iso(when, CHINA) == "2026-11-21T14:32:07.131+08:00"
    assert text.log_time(when, CHINA) == "14:32:07.131"


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        (UTC, "UTC"),
        (CHINA, "UTC+8"),
        (timezone(timedelta(hours=-3, minutes=-30)), "UTC-3:30"),
        (timezone(timedelta(hours=5, minutes=45)), "UTC+5:45"),
    ],
)
def test_zones_have_names(zone: ZoneInfo, name: str) -> None:
    assert text.zone_name(NOW, zone) == name


def test_tool_tips_of_times_say_all_three() -> None:
    lines = plain(text.moment(NOW - s(41), NOW, CHINA)).splitlines()
    assert lines == ["2026-11-21 14:31:26 UTC+8", "2026-11-21 06:31:26 UTC", "41 s ago"]
    assert plain(text.moment(NOW + s(41), NOW, CHINA)).endswith("in 41 s")


@given(st.floats(min_value=0, max_value=10**8, allow_nan=False))
def test_durations_grow_and_never_break(seconds: float) -> None:
    words = text.duration(s(seconds))
    assert " " not in words
    assert words


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_compact_numbers_are_short(number: int) -> None:
    assert len(text.compact(number)) <= 8


def test_lists_take_the_marks_of_their_language(chinese: None) -> None:
    assert text.listed(("a", "b")) == "a，b"
    assert text.listed(("a", "b"), ";") == "a；b"
    i18n.set_language("en")
    assert text.listed(("a", "b")) == "a, b"
    assert text.listed(("a", "b"), ";") == "a; b"


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@given(days=st.sets(st.integers(0, 6), min_size=1), hours=st.sampled_from([(1320, 360), (0, 1440), (545, 600)]))
def test_hours_of_a_week_can_be_written_as_they_are_shown(
    language: str, days: set[int], hours: tuple[int, int]
) -> None:
    i18n.set_language(language)
    meant = quiet_hours.Weekly(days=tuple(sorted(days)), start=hours[0], end=hours[1])
    assert quiet_hours.weekly(text.weekly(meant.days, meant.start, meant.end)) == meant
