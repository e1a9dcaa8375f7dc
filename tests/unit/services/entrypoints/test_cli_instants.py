"""Times as people type them behind an option, in the zone of the fleet."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.cli.instants import Instants
from services.domain.errors import UsageError

ZONE = "Asia/Shanghai"
#: 15:00 there
NOW = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)


def read(text: str) -> datetime:
    instant = Instants(ZONE, round(NOW.timestamp() * 1000)).read(text, "--not-before")
    return datetime.fromtimestamp(instant / 1000, UTC)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("2h", 2),
        ("in 2 h", 2),
        ("2 hours from now", 2),
        ("in 1 day", 24),
        ("2小时后", 2),
        ("18:00", 3),
        ("１８：００", 3),
        ("9:00", 18),
        ("tomorrow 9:00", 18),
        ("明天 9点", 18),
        ("今晚 8点", 5),
        ("2026-12-01T09:00", 18),
        ("2026-12-01 09:00", 18),
        ("2026-12-01T09:00+00:00", 26),
    ],
)
def test_a_time_is_read_as_in_a_file_and_in_the_window(text: str, hours: int) -> None:
    assert (read(text) - NOW).total_seconds() == hours * 3600


@pytest.mark.parametrize("text", ["tomorrow", "明天", "2026-12-01", "soon", "25:00", "today 14:00", "14:00 yesterday"])
def test_a_day_alone_what_is_past_and_what_is_no_time_are_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(text)
    assert refused.value.field == "--not-before"
