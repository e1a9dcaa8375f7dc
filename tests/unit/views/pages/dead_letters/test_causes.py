"""The list of causes."""

from __future__ import annotations

from dataclasses import replace

from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from services.domain.insight.cause_rule import CauseRule
from tests.unit.views.pages.dead_letters.test_words import cause
from views.pages.dead_letters.causes import CauseList, ordered, title_lines

FEW = replace(cause(), fingerprint="few", count=2, last_at=900, history=(0,) * 15 + (1, 1))
MANY = replace(cause(), fingerprint="many", count=90, last_at=100, history=(90,) + (0,) * 16)


def test_orders() -> None:
    assert [one.fingerprint for one in ordered((FEW, MANY), "most")] == ["many", "few"]
    assert [one.fingerprint for one in ordered((MANY, FEW), "newest")] == ["few", "many"]
    assert [one.fingerprint for one in ordered((MANY, FEW), "rising")] == ["few", "many"]


def test_numbers_change_in_place_and_no_row_moves(qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    causes = CauseList()
    qtbot.addWidget(causes)
    causes.causes.apply((MANY, FEW), settle=True)
    qtmodeltester.check(causes.causes)
    causes.choose("few")
    causes.causes.apply((replace(FEW, count=200), MANY))
    assert [causes.causes.record(row).count for row in range(2)] == [90, 200]
    assert causes.current() == "few"


def test_choosing_tells_the_fingerprint(qtbot: QtBot) -> None:
    causes = CauseList()
    qtbot.addWidget(causes)
    causes.causes.apply((MANY, FEW), settle=True)
    with qtbot.waitSignal(causes.chosen) as heard:
        causes.choose("few")
    assert heard.args == ["few"]
    assert not causes.choose("unknown")


def test_it_paints_in_any_width(qtbot: QtBot) -> None:
    causes = CauseList()
    qtbot.addWidget(causes)
    causes.causes.apply((MANY, FEW), settle=True)
    for width in (120, 250, 420):
        causes.resize(width, 200)
        assert not causes.grab().isNull()


def test_a_title_without_room_goes_on_in_a_second_line(qtbot: QtBot) -> None:
    title = "Page element missing: .order-list .row"
    assert title_lines(title, 400) == [title]
    first, second = title_lines(title, 180)
    assert f"{first} {second}" == title or first + second == title
    assert second.endswith(".row")
    assert "".join(title_lines("页面元素缺失：.order-list-with-a-very-long-name", 150)).endswith("name")


def test_a_row_is_as_high_as_its_title_needs(qtbot: QtBot) -> None:
    causes = CauseList()
    qtbot.addWidget(causes)
    named = replace(FEW, rule=CauseRule(name="The list of orders has another name since this morning"))
    causes.causes.apply((MANY, named), settle=True)
    causes.resize(250, 400)
    causes.show()
    heights = [causes.visualRect(causes.causes.index(row, 0)).height() for row in range(2)]
    assert heights[causes.causes.row_of("few")] > heights[causes.causes.row_of("many")]
    causes.resize(700, 400)
    qtbot.waitUntil(lambda: len({causes.visualRect(causes.causes.index(row, 0)).height() for row in range(2)}) == 1)
