"""Names, values, hiding and leaving alone."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from views.charts.chart_card import Legend, LegendItem
from views.charts.curves import pen
from views.charts.depth_chart import SERIES
from views.charts.legend import Series
from views.charts.line import DASHED, DOTTED, SOLID
from views.charts.rates_chart import SERIES as RATES


@pytest.fixture
def legend(qtbot: QtBot) -> Legend:
    legend = Legend(SERIES)
    qtbot.addWidget(legend)
    legend.show()
    return legend


def test_a_click_hides_and_shows_again(qtbot: QtBot, legend: Legend) -> None:
    with qtbot.waitSignal(legend.hidden_changed) as signal:
        qtbot.mouseClick(legend.item("low"), Qt.MouseButton.LeftButton)
    assert signal.args == [frozenset({"low"})]
    assert legend.item("low").accessibleDescription() == "hidden"
    with qtbot.waitSignal(legend.hidden_changed) as signal:
        qtbot.keyClick(legend.item("low"), Qt.Key.Key_Space)
    assert signal.args == [frozenset()]


def test_alt_leaves_one_alone_and_again_shows_all(qtbot: QtBot, legend: Legend) -> None:
    alt = Qt.KeyboardModifier.AltModifier
    for hidden in (frozenset({"dedicated", "normal", "low"}), frozenset()):
        with qtbot.waitSignal(legend.hidden_changed) as signal:
            qtbot.mouseClick(legend.item("high"), Qt.MouseButton.LeftButton, alt)
        assert signal.args == [hidden]


def test_hiding_the_last_one_shows_all(qtbot: QtBot, legend: Legend) -> None:
    for key in ("high", "dedicated", "normal"):
        legend.toggle(key)
    with qtbot.waitSignal(legend.hidden_changed) as signal:
        legend.toggle("low")
    assert signal.args == [frozenset()]


def test_values_are_named_and_do_not_make_the_row_jump(legend: Legend) -> None:
    legend.show_values({"high": "1,284"})
    wide = legend.item("high").sizeHint()
    assert legend.item("high").accessibleName() == "High 1,284"
    legend.show_values({"high": "3"})
    assert legend.item("high").sizeHint() == wide
    assert not legend.grab().isNull()


def test_lines_are_told_apart_without_their_colours(qtbot: QtBot) -> None:
    drawn = []
    for line in (SOLID, DASHED, DOTTED, ""):
        item = LegendItem(Series("k", "New", "accent", line=line))
        qtbot.addWidget(item)
        item.resize(item.sizeHint())
        drawn.append(item.grab().toImage())
    assert all(one != other for place, one in enumerate(drawn) for other in drawn[place + 1 :])
    pens = [pen("accent", dash=line).dashPattern() for line in (SOLID, DASHED, DOTTED)]
    assert len({tuple(one) for one in pens}) == 3
    assert len({one.line for one in RATES}) == len(RATES)


def test_areas_of_one_colour_are_told_apart_by_their_glyphs(qtbot: QtBot) -> None:
    drawn = []
    for glyph in ("ph.caret-double-up", "ph.minus", ""):
        item = LegendItem(Series("k", "New", "accent", glyph=glyph))
        qtbot.addWidget(item)
        item.resize(item.sizeHint())
        drawn.append(item.grab().toImage())
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]
