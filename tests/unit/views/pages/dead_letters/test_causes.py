"""The list of causes."""

from __future__ import annotations

from dataclasses import replace

from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tests.unit.views.pages.dead_letters.test_words import cause
from views.pages.dead_letters.causes import CauseList, ordered

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
