"""What the bars of the line to come say and stand for."""

from __future__ import annotations

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.plans.load import MINUTE_MS, Load
from services.domain.text.message import Message
from services.monitor.schedules import RunLoad
from tests.support.widgets import words
from views.pages.schedules.load_strip import LoadBars, PlannedLoad
from views.support import instant, shown

HOURS = 12


def note(card: PlannedLoad) -> str:
    """What stands beside the title."""
    return words(card).split("\n")[1]


def load(*, at: int, own: tuple[int, ...]) -> RunLoad:
    said = Message("load.ahead", {"tasks": 240, "hours": HOURS, "slots": 8})
    return RunLoad(at=at, slots=8, load=Load(begins=at, own=own, others=(0,) * len(own)), said=(said,))


@pytest.fixture
def noon() -> int:
    now = instant.now_ms()
    return now - now % (60 * MINUTE_MS)


def test_a_bar_stands_for_the_most_of_its_minutes_and_says_so(qtbot: QtBot, noon: int) -> None:
    bars = LoadBars()
    qtbot.addWidget(bars)
    bars.resize(1200, 60)
    own = (0,) * 6 + (3, 40, 7, 0, 0, 0) + (0,) * (HOURS * 60 - 12)
    bars.show_load(load(at=noon, own=own).load, 8)
    assert bars.bars()[:3] == [(0, 0), (40, 0), (0, 0)]
    assert bars.words_at(15).endswith("40 tasks wait or run")
    assert bars.words_at(-5).endswith("0 tasks wait or run")


def test_the_card_tells_what_is_planned_and_when_the_line_is_longest(qtbot: QtBot, noon: int) -> None:
    card = PlannedLoad()
    qtbot.addWidget(card)
    card.show_load(load(at=noon, own=(0, 240, 8, 0)))
    assert card.words.text() == "240 tasks are planned in these 12 h; slots for them: 8."
    assert card.bars.isVisibleTo(card)
    one = Message("load.ahead_nobody", {"tasks": 1, "hours": 12, "slots": 0})
    card.show_load(RunLoad(at=noon, slots=0, load=Load(begins=noon), said=(one,)))
    assert card.words.text() == "1 task is planned in these 12 h; no worker runs now that would take it."
    card.show_load(
        RunLoad(at=noon, slots=0, load=Load(begins=noon), said=(Message("load.ahead_nothing", {"hours": 12}),))
    )
    assert card.words.text() == "No run is planned in these 12 h."
    assert not card.bars.isVisibleTo(card)


def test_what_is_told_runs_on_without_blanks_in_chinese(qtbot: QtBot, noon: int) -> None:
    card = PlannedLoad()
    qtbot.addWidget(card)
    found = load(at=noon, own=(0, 240))
    card.show_load(structs.replace(found, said=(*found.said, Message("load.paused", {"tasks": 2}))))
    i18n.set_language("zh_CN")
    assert card.words.text() == "今后 12 小时计划了 240 个任务，共有 8 个工位。其中 2 个因暂停而等待。"


def test_the_keyboard_goes_from_bar_to_bar_of_the_day_and_a_reader_hears_it(qtbot: QtBot, noon: int) -> None:
    card = PlannedLoad()
    qtbot.addWidget(card)
    card.resize(1200, 140)
    found = load(at=noon, own=(0,) * 5 + (240, 8, 0, 0, 0) + (0,) * (24 * 60 - 10))
    card.show_load(found)
    bars = card.bars
    assert len(bars.bars()) == 24 * 12, "five minutes each"
    assert bars.focusPolicy() & Qt.FocusPolicy.TabFocus
    QTest.keyClick(bars, Qt.Key.Key_Home)
    QTest.keyClick(bars, Qt.Key.Key_Right)
    assert note(card).endswith("240 tasks wait or run")
    assert QAccessible.queryAccessibleInterface(bars).text(QAccessible.Text.Value) == note(card)
    later = Load(begins=noon + 5 * MINUTE_MS, own=found.load.own[5:], others=found.load.others[5:])
    card.show_load(structs.replace(found, load=later))
    assert note(card).endswith("240 tasks wait or run"), "it stays at its time"
    later = Load(begins=noon + 10 * MINUTE_MS, own=found.load.own[5:], others=found.load.others[5:])
    card.show_load(structs.replace(found, load=later))
    assert note(card).startswith("at most 240"), "and goes with it"
    QTest.mouseClick(bars, Qt.MouseButton.LeftButton, pos=bars.rect().center())
    assert note(card).endswith("0 tasks wait or run")
    QTest.keyClick(bars, Qt.Key.Key_Escape)
    assert note(card).startswith("at most 240")


def test_the_last_bar_ends_where_what_is_known_ends(qtbot: QtBot, noon: int) -> None:
    bars = LoadBars(5)
    qtbot.addWidget(bars)
    bars.show_load(load(at=noon, own=(7,) * 62).load, 8)
    QTest.keyClick(bars, Qt.Key.Key_End)
    begin, end = (shown.clock(noon + minutes * MINUTE_MS, instant.now_ms()) for minutes in (60, 62))
    assert bars.pointed_words().startswith(f"{begin} to {end}")


def test_where_nobody_takes_it_any_more_nothing_is_pointed_at(qtbot: QtBot, noon: int) -> None:
    card = PlannedLoad()
    qtbot.addWidget(card)
    found = load(at=noon, own=(240,) * 60)
    card.show_load(found)
    QTest.keyClick(card.bars, Qt.Key.Key_Home)
    assert note(card).endswith("240 tasks wait or run")
    nobody = Message("load.ahead_nobody", {"tasks": 240, "hours": HOURS, "slots": 0})
    card.show_load(RunLoad(at=noon, slots=0, load=Load(begins=noon), said=(nobody,)))
    assert "wait or run" not in words(card)
    card.show_load(found)
    assert note(card).startswith("at most 240"), "nor afterwards"
