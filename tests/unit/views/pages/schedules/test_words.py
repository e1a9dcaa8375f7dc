"""Rules in words, in both languages; what has no words is shown as it was written."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from services import i18n
from services.domain.insight import schedule as insight
from services.domain.plans.schedule import Planned, Schedule, Tally
from services.domain.text.message import Message
from services.monitor.schedules import ScheduleRow
from views.pages.schedules import words


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    i18n.set_language("en")


def schedule(cron: str = "", **fields: object) -> Schedule:
    return Schedule(name="n", task_type="work", cron=cron, all_shops=True, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cron", "english", "chinese"),
    [
        ("30 2 * * *", "daily at 02:30", "每天 02:30"),
        ("0,30 2 * * *", "daily at 02:00, 02:30", "每天 02:00，02:30"),
        ("0,15,30 1,2 * * *", "0,15,30 1,2 * * *", "0,15,30 1,2 * * *"),
        ("0 9,18 * * *", "daily at 09:00, 18:00", "每天 09:00，18:00"),
        ("@daily", "daily at 00:00", "每天 00:00"),
        ("0 9 * * 1-5", "Monday to Friday at 09:00", "周一至周五 09:00"),
        ("5 7 * * 0", "Sundays at 07:05", "每周日 07:05"),
        ("5 7 * * 7", "Sundays at 07:05", "每周日 07:05"),
        ("5 * * * *", "hourly at minute 5", "每小时第 5 分"),
        ("0 */2 * * *", "every 2\u202fh at minute 0", "每 2\u202f小时，第 0 分"),
        ("5 */12 * * *", "every 12\u202fh at minute 5", "每 12\u202f小时，第 5 分"),
        ("0 */5 * * *", "0 */5 * * *", "0 */5 * * *"),
        ("0 */2 * * 1", "0 */2 * * 1", "0 */2 * * 1"),
        ("30 2 1 * *", "monthly on day 1 at 02:30", "每月 1 日 02:30"),
        ("0 3 31 * *", "on day 31 of the months that have one at 03:00", "每月 31 日 03:00（没有这一天的月份除外）"),
        ("0 3 L * *", "on the last day of each month at 03:00", "每月最后一天 03:00"),
        (
            "0 3 LW * *",
            "on the last day from Monday to Friday of each month at 03:00",
            "每月最后一个工作日（周一至周五）03:00",
        ),
        ("0 3 1,15 * *", "monthly on the days 1, 15 at 03:00", "每月 1，15 日 03:00"),
        ("0 3 1,31 * *", "0 3 1,31 * *", "0 3 1,31 * *"),
        ("0 9 * * MON-FRI", "Monday to Friday at 09:00", "周一至周五 09:00"),
        ("0 9 * * mon,4", "Mondays, Thursdays at 09:00", "每周一，每周四 09:00"),
        ("0 9 * * 5L", "on the last Friday of each month at 09:00", "每月最后一个周五 09:00"),
        ("0 9 * * 2#1", "on the first Tuesday of each month at 09:00", "每月第一个周二 09:00"),
        (
            "0 9 * * wed#5",
            "on the fifth Wednesday of the months that have one at 09:00",
            "每月第五个周三 09:00（没有的月份除外）",
        ),
        ("0 9 * * 1-3", "0 9 * * 1-3", "0 9 * * 1-3"),
        ("0 3 1 1 *", "yearly on 01-01 at 03:00", "每年 01-01 03:00"),
        ("0 3 29 2 *", "in leap years on 02-29 at 03:00", "闰年 02-29 03:00"),
        ("0 3 L 2 *", "0 3 L 2 *", "0 3 L 2 *"),
        ("0 3 1 1 1", "0 3 1 1 1", "0 3 1 1 1"),
        ("30 2 1 * 1", "30 2 1 * 1", "30 2 1 * 1"),
        ("30 * 1 * *", "30 * 1 * *", "30 * 1 * *"),
        ("*/7 * * * *", "*/7 * * * *", "*/7 * * * *"),
        ("*/0 * * * *", "*/0 * * * *", "*/0 * * * *"),
        ("5 * * * 1", "5 * * * 1", "5 * * * 1"),
    ],
)
def test_rules(cron: str, english: str, chinese: str) -> None:
    assert words.repeats(schedule(cron)) == english
    i18n.set_language("zh_CN")
    assert words.repeats(schedule(cron)) == chinese


def test_steps_and_intervals_read_alike() -> None:
    assert words.repeats(schedule("*/15 * * * *")) == words.repeats(schedule(every_s=900))
    plain = [" ".join(words.repeats(schedule(every_s=span)).split()) for span in (90, 1800, 5400)]
    assert plain == ["every 1 m 30 s", "every 30 min", "every 1 h 30 m"]


@pytest.mark.parametrize(
    ("every_s", "english", "chinese"),
    [
        (60, "every minute", "每分钟"),
        (1800, "every 30 min", "每 30 分钟"),
        (3600, "every hour", "每小时"),
        (7200, "every 2 h", "每 2 小时"),
        (5400, "every 1 h 30 m", "每 1 小时 30 分"),
        (3661, "every 1 h 1 m 1 s", "每 1 小时 1 分 1 秒"),
        (86_400, "every day", "每天"),
        (129_600, "every 1 d 12 h", "每 1 天 12 小时"),
    ],
)
def test_an_interval_names_no_unit_of_which_it_has_none(every_s: int, english: str, chinese: str) -> None:
    assert " ".join(words.repeats(schedule(every_s=every_s)).split()) == english
    i18n.set_language("zh_CN")
    assert " ".join(words.repeats(schedule(every_s=every_s)).split()) == chinese


def test_outcome_and_mark() -> None:
    tally = Tally(at=1, created=1200, active=2, failed=1, error="no")
    assert words.outcome(tally) == "1,200 tasks, 2 shops left out, 1 failed"
    row = ScheduleRow(planned=Planned(schedule=schedule("@daily"), last=tally), zone="UTC", upcoming=(5,))
    assert (words.glyph(row), words.next_run(row, 10)) == ("warning", "now")
    gone = ScheduleRow(planned=Planned(schedule=schedule("@daily")), zone="Old/Zone", problem="no zone")
    assert (words.glyph(gone), words.next_run(gone, 10)) == ("warning", "cannot run")


def test_a_late_run_is_said_with_its_reason_and_a_run_that_was_late_too() -> None:
    now, two_hours = 1_795_000_000_000, 7_200_000
    planned = Planned(schedule=schedule("@daily"), last=Tally(at=now - 2 * two_hours, base=now - two_hours))
    found = insight.look(planned, now - two_hours, now, leader="")
    row = ScheduleRow(planned=planned, zone="UTC", upcoming=(now - two_hours,), now=found)
    assert (words.glyph(row), words.next_tone(row)) == ("dead", "dead")
    assert words.next_run(row, now).replace("\u202f", " ") == "2 h late"
    assert "Nobody fires schedules" in words.next_runs(row, now)
    assert "Nobody fires schedules" in words.remark(row)
    assert words.planned(row, now)
    assert words.last_run(row, now).replace("\u202f", " ").endswith(", 2 h late")
    assert "1 schedule is late" in words.summary([row], now)
    led = ScheduleRow(planned=planned, zone="UTC", now=insight.look(planned, now - 60_000, now, leader="w1"))
    assert words.next_tone(led) == "text3", "a minute is in time"


def test_a_run_that_nobody_fires_says_how_many_are_made_up() -> None:
    now, due = 1_795_000_000_000, 1_795_000_000_000 - 7_200_000
    for missed, said in (
        ("once", "1 run makes up for all that were missed."),
        ("skip", "what was missed is left out, as the schedule says."),
    ):
        planned = Planned(schedule=schedule("@hourly", missed=missed))
        row = ScheduleRow(planned=planned, zone="UTC", now=insight.look(planned, due, now, leader=""))
        assert words.why_late([row], now) == f"Nobody fires schedules: no worker leads. Start a worker; {said}"
        assert insight.leaderless(row.now)


def test_what_a_schedule_collides_with_is_one_sentence() -> None:
    found = (
        Message("schedule.same_work", {"names": "nightly", "n": 60}),
        Message("schedule.in_quiet", {"name": "night", "clock": "02:30", "end": "06:00"}),
    )
    planned = Planned(schedule=schedule("@daily"))
    row = ScheduleRow(planned=planned, zone="UTC", others=found[:1], upcoming=(1,), quieted={1: found[1]})
    told = "nightly: the same work, created twice for 60 shops; quiet hours night: the run at 02:30 waits until 06:00"
    assert words.collisions(row) == told
    assert words.collisions(row, "\n").splitlines()[1].startswith("Quiet hours night: the run")
    late = insight.look(row.planned, 1, 7_200_000, leader="w1")
    runs = replace(row, upcoming=(1, 2, 3), quieted={2: found[1], 3: replace(found[1], params={**found[1].params})})
    assert words.run_collisions(runs, 1) == "nightly: the same work, created twice for 60 shops"
    assert words.run_collisions(runs, 2) == "Quiet hours night: the run at 02:30 waits until 06:00"
    both = replace(runs, quieted={1: found[1]})
    assert (words.run_collisions(both, 1), words.run_collisions(both, 2)) == (told, "")
    assert words.why_late([replace(row, now=late)], 7_200_000).endswith("look at its log.")
    assert "look at its log; nightly: the same work" in words.remark(replace(row, now=late))
