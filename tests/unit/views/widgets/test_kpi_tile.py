"""One number that is a door."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QPaintEvent
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from views.theme import theme
from views.widgets.kpi_tile import Kpi, KpiTile, TileGrid

ABOVE = Kpi(
    value="143",
    context="limit 100 · up 98 in 1 h",
    sentence="Dead letters 143, above limit 100, up 98 in one hour",
    alarm=True,
)


@pytest.fixture
def tile(qtbot: QtBot) -> KpiTile:
    tile = KpiTile("Dead letters", "ph.x-circle-fill", "dead", filled=True)
    qtbot.addWidget(tile)
    tile.resize(185, 113)
    return tile


def test_above_the_limit_the_top_edge_takes_the_colour(tile: KpiTile) -> None:
    tile.show_kpi(Kpi(value="12"))
    assert tile.grab().toImage().pixelColor(90, 1) != theme().color("dead")
    tile.show_kpi(ABOVE)
    assert tile.grab().toImage().pixelColor(90, 1) == theme().color("dead")


def test_a_number_that_counts_on_is_painted_alone(qtbot: QtBot) -> None:
    painted: list[int] = []

    class Seen(KpiTile):
        def paintEvent(self, event: QPaintEvent) -> None:
            painted.append(event.region().boundingRect().height())
            super().paintEvent(event)

    tile = Seen("Oldest waiting", "ph.hourglass", "warning")
    qtbot.addWidget(tile)
    tile.resize(185, 113)
    tile.show_kpi(Kpi(value="5 m 43 s", context="limit 5 min"))
    with qtbot.waitExposed(tile):
        tile.show()
    qtbot.waitUntil(lambda: bool(painted))
    whole = tile.grab().toImage()
    painted.clear()
    tile.show_kpi(Kpi(value="5 m 44 s", context="limit 5 min", sentence="Oldest waiting 5 m 44 s"))
    qtbot.waitUntil(lambda: bool(painted))
    assert max(painted) < tile.height() / 2
    other = tile.grab().toImage()
    apart = {y for y in range(113) for x in range(185) if whole.pixel(x, y) != other.pixel(x, y)}
    assert apart
    assert max(apart) - min(apart) < max(painted)
    painted.clear()
    tile.show_kpi(Kpi(value="5 m 44 s", context="limit 4 min"))
    qtbot.waitUntil(lambda: tile.height() in painted)


def test_nothing_there_is_shown_without_colour(tile: KpiTile) -> None:
    def red() -> bool:
        image = tile.grab().toImage()
        return any(image.pixelColor(x, y) == theme().color("dead") for x in range(10, 32) for y in range(8, 30))

    tile.show_kpi(Kpi(value="12"))
    assert red()
    tile.show_kpi(Kpi(value="0", calm=True))
    assert not red()


def test_it_speaks_a_whole_sentence(tile: KpiTile) -> None:
    tile.show_kpi(ABOVE)
    assert tile.accessibleName() == "Dead letters 143, above limit 100, up 98 in one hour"
    tile.show_kpi(Kpi(value="98.2", unit="%", context="target 98 %"))
    assert tile.accessibleName() == "Dead letters 98.2%, target 98 %"


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Space])
def test_a_click_or_a_key_opens_it(qtbot: QtBot, tile: KpiTile, key: Qt.Key) -> None:
    with qtbot.waitSignal(tile.clicked):
        qtbot.mouseClick(tile, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(tile.clicked):
        qtbot.keyClick(tile, key)


def test_the_value_can_be_copied(qtbot: QtBot, tile: KpiTile) -> None:
    tile.show_kpi(Kpi(value="98.2", unit="%"))
    with qtbot.waitSignal(tile.copied):
        qtbot.keyClick(tile, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "98.2%"


def test_a_right_click_offers_to_open_and_to_copy(tile: KpiTile, monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[list[str]] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, _place: offered.append([a.text() for a in menu.actions()]))
    tile.contextMenuEvent(QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), QPoint(5, 5)))
    assert offered == [["Open the list", "Copy value"]]


def test_the_same_value_is_not_painted_again(tile: KpiTile) -> None:
    tile.show_kpi(ABOVE)
    tile.show_curve([1, 2, 3], limit=2)
    tile.grab()
    drawn = tile._curve
    tile.show_kpi(ABOVE)
    tile.grab()
    assert tile._curve is drawn
    tile.show_kpi(Kpi(value="9"))
    assert tile._curve is None


def test_a_long_value_is_not_cut(tile: KpiTile, language: str) -> None:
    tile.resize(148, 113)
    tile.show_kpi(Kpi(value="1,234 h 56 m 02 s", context="limit 5 min · a-very-long-shop-name-indeed-0000000000"))
    image = tile.grab().toImage()
    edge = {image.pixelColor(145, y).name() for y in range(30, 55)}
    assert edge == {theme().color("surface").name()}
    assert tile.toolTip().endswith("0000000000")


def test_tiles_are_taller_for_larger_words(qtbot: QtBot) -> None:
    tiles = [KpiTile("Waiting", "ph.clock", "text") for _number in range(7)]
    grid = TileGrid(tiles)
    qtbot.addWidget(grid)
    grid.resize(1400, grid.sizeHint().height())
    grid.show()
    before = grid.height()
    try:
        theme().set_text_size(130)
        assert before * 1.1 < grid.height() < before * 1.3, "the words grow, the curve does not"
        assert {tile.height() for tile in tiles} == {grid.height()}
    finally:
        theme().set_text_size(100)
    assert grid.height() == before


def test_a_tile_that_opens_nothing_does_not_say_that_it_does(qtbot: QtBot) -> None:
    tile = KpiTile("Waiting", "ph.circle-dashed", "waiting", tip="Open the list")
    qtbot.addWidget(tile)
    tile.show_kpi(Kpi(value="–", context="no record"))
    assert tile.toolTip() == "no record\nOpen the list"
    tile.setEnabled(False)
    assert tile.toolTip() == "no record"
    tile.setEnabled(True)
    assert tile.toolTip() == "no record\nOpen the list"
