"""The line beside the title."""

from __future__ import annotations

from msgspec.structs import replace

from services import i18n
from services.domain.fleet.shop import Pause
from services.domain.insight.forecast import flow
from services.monitor.overview import OverviewNow
from tests.unit.views.pages.overview.sample_source import SampleSource
from views.pages.overview.words import summary
from views.support.text import THIN


def plain(now: OverviewNow) -> str:
    return summary(now).replace(THIN, " ")


def test_the_line_of_the_pictures() -> None:
    assert plain(SampleSource().now()) == (
        "1,284 tasks waiting, more came than went: in 4.8/s, out 4.4/s; those start within about 4–7 min;"
        " 32 of 120 slots free, but 88 shops are at their own limit;"
        " 143 dead letters need a person"
    )


def test_before_anything_was_seen_nothing_is_said_but_that() -> None:
    assert plain(OverviewNow(at_ms=0)) == "Loading…"


def test_the_shop_that_a_pause_covers_is_called_by_its_name() -> None:
    shop = next(one for one in SampleSource().now().shops if one.name)
    largest = Pause(scope=f"shop:{shop.key}", by="li@ops-02")
    facts = flow.Facts(
        waiting=9,
        persons=(("paused", 9),),
        slots=3,
        paused_s=12,
        pauses=((largest, 7), (Pause(scope="all", by="wang"), 2)),
    )
    now = replace(SampleSource().now(), flow=flow.judge(facts))
    assert f"the largest {shop.name}: 7" in plain(now)


def test_in_chinese_statements_are_joined_as_there() -> None:
    i18n.set_language("zh_CN")
    try:
        now = replace(SampleSource().now(), flow=flow.judge(flow.Facts(running=3, dead=201)))
        assert plain(now) == "没有等待的任务，3 个执行中；201 条死信要人处理"
    finally:
        i18n.set_language("en")
