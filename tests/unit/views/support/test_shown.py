"""Sentences of the services use the words of the window."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from services import i18n
from services.domain.task.record import Attempt, Task
from services.domain.text.message import Message
from views.support import shown


@pytest.fixture
def chinese() -> Iterator[None]:
    i18n.set_language("zh_CN")
    yield
    i18n.set_language("en")


def test_platforms_have_their_names_beside_the_codes_that_are_written(chinese: None) -> None:
    message = Message("sheet.platform", {"codes": "pdd, temu, own"})
    assert shown.say(message).replace(" ", "") == "没有此平台的店铺；现有拼多多(pdd)，TEMU(temu)，own"
    i18n.set_language("en")
    assert shown.say(message).endswith("; there are Pinduoduo (pdd), TEMU (temu), own")


def test_states_lanes_and_kinds_are_called_as_elsewhere() -> None:
    assert shown.say(Message("task.refused", {"status": "queued"})) == "Not possible while the task is waiting."
    assert (
        shown.say(Message("gate.no_worker", {"lane": "high"})) == "No running worker serves the lane high; start one."
    )
    kind = shown.say(Message("verdict.stopped_before_work", {"kind": "login_expired"}))
    assert kind == ("No work would be done twice: every attempt ended before its work began (Seller login expired).")


def test_what_nobody_named_stays_as_it_is() -> None:
    assert shown.say(Message("task.refused", {"status": "odd"})) == "Not possible while the task is odd."
    assert "(odd)" in shown.say(Message("verdict.stopped_before_work", {"kind": "odd"}))
    assert shown.lane_word("odd") == "odd"


@pytest.mark.parametrize(
    ("scope", "words"),
    [("platform:temu", "TEMU"), ("all", "Everything"), ("type:own", "own"), ("shop:pdd:s1", "pdd:s1")],
)
def test_what_is_paused_is_called_as_elsewhere(scope: str, words: str) -> None:
    said = shown.say(Message("gate.paused", {"scope": scope, "by": "ann", "reason": "new page"}))
    assert said == f"{words} is paused by ann: new page"


def test_no_english_word_is_left_in_a_chinese_sentence(chinese: None) -> None:
    for code, params in (
        ("task.refused", {"status": "queued"}),
        ("gate.no_worker", {"lane": "high"}),
        ("verdict.stopped_before_work", {"kind": "login_expired"}),
    ):
        sentence = shown.say(Message(code, params))
        assert not any(letter.isascii() and letter.isalpha() for letter in sentence), sentence


@pytest.mark.skipif(sys.platform == "win32", reason="the zone of a process is that of Windows")
def test_times_of_a_machine_without_a_zone_set_follow_its_summer_time(monkeypatch: pytest.MonkeyPatch) -> None:
    winter, summer = (datetime(2026, month, 15, 12, tzinfo=UTC) for month in (1, 7))
    ends = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    try:
        with monkeypatch.context() as patch:
            patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")  # needs no files of zones
            time.tzset()
            zone = shown.zone()
            assert [f"{at.astimezone(zone):%H:%M}" for at in (winter, summer)] == ["13:00", "14:00"]
            twice = [(ends + timedelta(hours=later)).astimezone(zone) for later in (0, 1)]
            assert [at.isoformat() for at in twice] == ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"]
            assert twice[1].astimezone(UTC) == ends + timedelta(hours=1), "and back"
            typed = datetime(2026, 7, 15, 14, tzinfo=zone)
            assert typed.astimezone(UTC) == summer
            assert shown.clock(round(summer.timestamp() * 1000), round(summer.timestamp() * 1000)) == "14:00:00"
            patch.setenv("TZ", "JST-9")
            time.tzset()
            assert f"{summer.astimezone(shown.zone()):%H:%M %Z}" == "21:00 JST"
            assert shown.zone_key() == ""
    finally:
        time.tzset()


def test_a_line_of_a_log_keeps_its_milliseconds_and_names_its_day_where_that_is_over() -> None:
    at = round(datetime(2026, 7, 15, 14, 32, 7, 131_000, tzinfo=shown.zone()).timestamp() * 1000)
    day = 86_400_000
    assert shown.log_time(at, at) == "14:32:07.131"
    assert shown.log_time(at, at + day) == "07-15 14:32:07.131"
    assert shown.log_time(at, at + 366 * day) == "2026-07-15 14:32:07.131"


def test_the_first_and_the_last_day_of_all_can_be_told() -> None:
    for far in (datetime(2, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)):
        assert far.astimezone(shown.zone()).astimezone(UTC) == far
    assert datetime(1, 1, 1, tzinfo=shown.zone()).utcoffset() is not None


def test_what_runs_takes_longer_and_what_has_ended_took_as_long_as_its_last_attempt() -> None:
    task = Task(task_id="t1", shop_id="s1", platform="pdd", task_type="work", started_at=1_000, status="running")
    assert shown.duration_ms(task, 4_000) == 3_000
    last = Attempt(number=1, worker="w1", started_at=1_000, ended_at=3_500, outcome="succeeded")
    assert shown.duration_ms(replace(task, status="succeeded", attempts=(last,)), 9_000) == 2_500
    assert shown.duration_ms(replace(task, status="queued", started_at=0), 9_000) == -1
