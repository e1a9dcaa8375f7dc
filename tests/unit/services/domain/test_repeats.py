"""How often something repeats, and moments to come, as people write them in two languages."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from services.domain.errors import UsageError
from services.domain.plans import repeats
from services.domain.task.search.filter_time import Times

ZONE = "Asia/Shanghai"
NOW = round(datetime(2026, 11, 26, 16, 0, tzinfo=ZoneInfo(ZONE)).timestamp() * 1000)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("30m", ("", 1800)),
        ("every 2 h", ("", 7200)),
        ("每30分钟", ("", 1800)),
        ("02:30", ("30 2 * * *", 0)),
        ("每天 2:30", ("30 2 * * *", 0)),
        ("工作日 9:00", ("0 9 * * 1-5", 0)),
        ("Monday at 8:00", ("0 8 * * 1", 0)),
        ("每周日 8：05", ("5 8 * * 0", 0)),
        ("*/5 * * * 1", ("*/5 * * * 1", 0)),
        ("@daily", ("@daily", 0)),
    ],
)
def test_it_is_read_as_it_is_written(words: str, found: tuple[str, int]) -> None:
    assert repeats.read(words) == found


@pytest.mark.parametrize("words", ["", "often", "25:00", "daily 9:75", "12", "0s", "500ms"])
def test_what_is_no_rule_is_refused_with_how_to_write_one(words: str) -> None:
    with pytest.raises(UsageError, match="write 30m, daily 02:30"):
        repeats.read(words)


@pytest.mark.parametrize(
    ("words", "when"),
    [
        ("in 2 h", "2026-11-26 18:00"),
        ("2小时后", "2026-11-26 18:00"),
        ("18:00", "2026-11-26 18:00"),
        ("1:00", "2026-11-27 01:00"),
        ("today 9:00", "2026-11-26 09:00"),
        ("明天9点", "2026-11-27 09:00"),
        ("后天 8点30分", "2026-11-28 08:30"),
        ("2026-12-01 08:00", "2026-12-01 08:00"),
        ("tonight 8:00", "2026-11-26 20:00"),
        ("今晚11点", "2026-11-26 23:00"),
        ("今晚 19:30", "2026-11-26 19:30"),
        ("今晚 1点", ""),
        ("tonight 12:00", ""),
        ("明天晚上8点", ""),
        ("今天下午3点", ""),
        ("soon", ""),
        ("25:00", ""),
        ("today", ""),
        ("9", ""),
    ],
)
def test_a_moment_to_come(words: str, when: str) -> None:
    found = Times(NOW, ZONE).coming(words)
    told = "" if found is None else datetime.fromtimestamp(found / 1000, ZoneInfo(ZONE)).strftime("%Y-%m-%d %H:%M")
    assert told == when
