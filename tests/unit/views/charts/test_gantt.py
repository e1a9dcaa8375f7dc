"""Runs as cells: those that lie over each other are one, and nothing is placed anew before it has to be."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from services.monitor.shops.day import DayAttempt, ShopDay
from views.charts.gantt import Gantt
from views.theme import theme

HOUR = 3_600_000
MANY = 2_000


class Looked:
    """Counts how often a strip asks for the row of a run, and for its state."""

    def __init__(self) -> None:
        self.rows = self.states = 0

    def row(self, run: DayAttempt) -> str:
        self.rows += 1
        return run.asked

    def run(self, **more: Any) -> DayAttempt:
        looked = self

        class Counted(DayAttempt):
            def __getattribute__(self, name: str) -> Any:
                looked.states += name == "state"
                return super().__getattribute__(name)

        return Counted(task_type="work", asked="program", **more)


def day(*runs: DayAttempt) -> ShopDay:
    return ShopDay(shop="pdd:s1", begins=0, ends=24 * HOUR, now=20 * HOUR, types=("program",), runs=runs)


@pytest.fixture
def looked() -> Looked:
    return Looked()


@pytest.fixture
def strip(qtbot: QtBot, looked: Looked) -> Gantt:
    made = Gantt(row=looked.row, name=str, cells=True)
    qtbot.addWidget(made)
    made.resize(900, 100)
    return made


def runs(looked: Looked, number: int) -> list[DayAttempt]:
    return [
        looked.run(state="dead" if at == 5 else "succeeded", begins=HOUR + at, ends=HOUR + at, task_id=f"t{at}")
        for at in range(number)
    ]


def test_a_night_hour_of_thousands_is_one_cell_that_each_run_is_looked_at_for_once(
    strip: Gantt, looked: Looked
) -> None:
    strip.show_day(day(*runs(looked, MANY)))
    looked.states = 0
    assert [run.task_id for run, _room in strip.bars] == ["t5"], "the worst of them"
    assert looked.states < 6 * MANY


def test_bars_are_placed_anew_only_for_other_runs_another_view_or_another_choice(strip: Gantt, looked: Looked) -> None:
    shown = runs(looked, 20)
    strip.show_day(day(*shown))
    before = strip.bars
    looked.rows = 0
    assert strip.bars == before
    assert not looked.rows
    strip.choose(shown[9].key)
    assert [run.task_id for run, _room in strip.bars] == ["t9"]
    strip.zoom(3, 2 * HOUR)
    assert strip.bars[0][1] != before[0][1]
    strip.show_all()
    strip.show_day(day(looked.run(state="planned", begins=22 * HOUR, ends=22 * HOUR, schedule="nightly")))
    assert [run.schedule for run, _room in strip.bars] == ["nightly"]


def test_thousands_of_bars_are_put_together_once_and_not_for_each_move_of_the_mouse(
    qtbot: QtBot, looked: Looked
) -> None:
    chart = Gantt(row=looked.row, name=str)
    qtbot.addWidget(chart)
    chart.resize(900, 200)
    chart.show_day(day(*runs(looked, MANY)))
    first = chart.grab().toImage()
    looked.states = 0
    run, room = chart.bars[5]
    assert run.state == "dead"
    qtbot.mouseMove(chart, room.center().toPoint())
    assert chart.grab().toImage().size() == first.size()
    assert looked.states < 20
    at = room.center().toPoint()
    fill = first.pixelColor(at)
    assert (fill.red(), fill.green(), fill.blue()) == theme().color("deadfill").getRgb()[:3], "the worst lies on top"


def test_of_thousands_of_runs_only_the_new_ones_are_placed_as_time_goes_on(qtbot: QtBot, looked: Looked) -> None:
    """The others move along: each stands where a chart that never saw another moment puts it."""

    def chart() -> Gantt:
        made = Gantt(row=looked.row, name=str)
        qtbot.addWidget(made)
        made.resize(900, 200)
        return made

    def rooms(of: Gantt) -> dict[str, tuple[float, ...]]:
        return {run.key: tuple(round(side, 3) for side in room.getRect()) for run, room in of.bars}

    first, over_edge = runs(looked, MANY), looked.run(state="succeeded", begins=0, ends=HOUR // 2, task_id="edge")
    old = chart()
    old.show_day(day(over_edge, *first))
    assert len(old.bars) == MANY + 1
    looked.rows = 0
    fresh = looked.run(state="dead", begins=20 * HOUR, ends=20 * HOUR + HOUR // 10, task_id="new")
    running = looked.run(state="running", begins=20 * HOUR, ends=20 * HOUR, task_id="runs")
    later = replace(day(over_edge, *first, fresh, running), begins=HOUR // 4, ends=24 * HOUR + HOUR // 4)
    old.show_day(later)
    moved = rooms(old)
    assert looked.rows < 10
    anew = chart()
    anew.show_day(later)
    assert moved == rooms(anew)
    place = next(room.center().toPoint() for run, room in old.bars if run.task_id == "new")
    with qtbot.waitSignal(old.chosen) as heard:
        qtbot.mouseClick(old, Qt.MouseButton.LeftButton, pos=place)
    assert heard.args[0].task_id == "new"
