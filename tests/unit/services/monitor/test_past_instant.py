"""Times that are over as people type them, on the clocks of the fleet."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.monitor.past.queries import instant

ZONE = "Asia/Shanghai"
#: 15:00 there
NOW = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("90m", 1.5),
        ("2 h ago", 2),
        ("90 minutes ago", 1.5),
        ("2小时前", 2),
        ("now", 0),
        ("12:00", 3),
        ("9:00", 6),
        ("9点", 6),
        ("１２：００", 3),
        ("18:00", 21),
        ("18:00:36", 20.99),
        ("today 08:00", 7),
        ("yesterday 18:00", 21),
        ("昨天 18点30分", 20.5),
        ("昨晚 8点", 19),
        ("前天 15:00", 48),
        ("2026-11-30T12:00", 3),
    ],
)
def test_what_is_past_may_be_said_as_people_say_it(text: str, hours: float) -> None:
    found = instant(text, round(NOW.timestamp() * 1000), ZONE)
    assert found is not None
    assert NOW.timestamp() - found / 1000 == pytest.approx(hours * 3600)


@pytest.mark.parametrize(
    "text",
    ["today 18:00", "tomorrow 9:00", "yesterday", "昨天", "昨晚 2点", "25:00", "12:61", "ago", "前", "soon", "-5m", ""],
)
def test_what_is_to_come_a_day_alone_and_what_is_no_time_are_none(text: str) -> None:
    assert instant(text, round(NOW.timestamp() * 1000), ZONE) is None
