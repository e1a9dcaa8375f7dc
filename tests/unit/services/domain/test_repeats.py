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
        ("hourly", ("", 3600)),
        ("every hour", ("", 3600)),
        ("每小时", ("", 3600)),
        ("每天9点", ("0 9 * * *", 0)),
        ("每天 2点半", ("30 2 * * *", 0)),
        ("每天8点05分", ("5 8 * * *", 0)),
        ("daily at 9am", ("0 9 * * *", 0)),
        ("12am", ("0 0 * * *", 0)),
        ("weekdays 9:30 pm", ("30 21 * * 1-5", 0)),
        ("9:00, 18:00", ("0 9,18 * * *", 0)),
        ("每天9点和18点", ("0 9,18 * * *", 0)),
        ("mon, wed 9:00", ("0 9 * * 1,3", 0)),
        ("Friday and Monday at 8:00", ("0 8 * * 1,5", 0)),
        ("周一、周三 9:00", ("0 9 * * 1,3", 0)),
        ("每周一、三、五 9点", ("0 9 * * 1,3,5", 0)),
        ("星期天 9:00", ("0 9 * * 0", 0)),
        ("monthly 1 9:00", ("0 9 1 * *", 0)),
        ("monthly on day 1 at 09:00", ("0 9 1 * *", 0)),
        ("monthly on the 1st and 15th at 09:00", ("0 9 1,15 * *", 0)),
        ("每月1日 9:00", ("0 9 1 * *", 0)),
        ("每月1、15号 9点", ("0 9 1,15 * *", 0)),
        ("每月最后一天 23:00", ("0 23 L * *", 0)),
        ("月底 23:00", ("0 23 L * *", 0)),
        ("monthly last day 23:00", ("0 23 L * *", 0)),
        ("on the last day of each month at 23:00", ("0 23 L * *", 0)),
        ("1 9 * * *", ("1 9 * * *", 0)),
    ],
)
def test_it_is_read_as_it_is_written(words: str, found: tuple[str, int]) -> None:
    assert repeats.read(words) == found


@pytest.mark.parametrize(
    "words",
    [
        "",
        "often",
        "25:00",
        "daily 9:75",
        "12",
        "0s",
        "500ms",
        "every day",
        "daily 9",
        "9:00, 18:30",
        "13pm",
        "0am",
        "monthly 9:00",
        "monthly 32 9:00",
        "monthly 0 9:00",
        "someday 9:00",
        "mon,funday 9:00",
        "周八 9:00",
        "每月 9点",
    ],
)
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
