"""The table by keyboard and mouse."""

from __future__ import annotations

import dataclasses

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QFocusEvent, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from services import i18n
from tests.unit.views.samples import COLUMNS, Row, sample_rows
from views.support import instant, safe
from views.tables import painters
from views.tables.column import Column
from views.tables.delegates import heading_height
from views.tables.record_model import Heading, RecordModel
from views.tables.table_view import TableView
from views.theme import theme

Key, Mod, Left = Qt.Key, Qt.KeyboardModifier, Qt.MouseButton.LeftButton


class Watch:
    """A clock that is moved by hand."""

    at = 1_000_000

    def now_ms(self) -> int:
        return self.at


def test_painting_does_not_move_the_instant_that_words_beside_the_table_tell_of(qtbot: QtBot) -> None:
    painted: list[int] = []

    def age(_row: Row) -> str:
        painted.append(instant.now_ms())
        return str(painted[-1])

    model = RecordModel((Column(key="age", title="Age", value=lambda row: row.id, text=age),), lambda row: row.id)
    model.apply(sample_rows(3))
    view = TableView(model, "Tasks")
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show()
    watch, moved = Watch(), list[int]()
    instant.ticks().follow(watch)
    note = lambda: moved.append(watch.at)  # noqa: E731 - to be let go again
    instant.ticks().ticked.connect(note)
    told = instant.now_ms()
    moved.clear()
    watch.at += 1_500
    painted.clear()
    view.grab()
    assert set(painted) == {told}
    assert moved == [], "a label painted before it would tell of another second"
    assert instant.now_ms() == watch.at, "whoever reads it next moves it for all"
    assert moved == [watch.at]
    instant.ticks().ticked.disconnect(note)


@pytest.fixture
def table(qtbot: QtBot) -> TableView:
    model = RecordModel(COLUMNS, lambda row: row.id, tickable=True)
    model.apply(sample_rows(60))
    view = TableView(model, "Tasks")
    qtbot.addWidget(view)
    view.resize(1000, 500)
    view.show()
    view.setFocus()
    return view


def cell(table: TableView, row: int, key: str) -> QPoint:
    return table.visualRect(table.records.index(row, table.records.section_of(key))).center()


def click(qtbot: QtBot, table: TableView, row: int, key: str = "type", mod: Mod = Mod.NoModifier) -> None:
    qtbot.mouseClick(table.viewport(), Left, mod, cell(table, row, key))


def press(qtbot: QtBot, table: TableView, key: Key, mod: Mod = Mod.NoModifier) -> None:
    qtbot.keyClick(table, key, mod)


def test_it_is_named_and_has_rows_of_the_design(table: TableView) -> None:
    assert table.accessibleName() == "Tasks"
    assert table.rowHeight(0) == 28


def test_a_click_moves_the_cursor(qtbot: QtBot, table: TableView) -> None:
    with qtbot.waitSignal(table.current_changed) as signal:
        click(qtbot, table, 3)
    assert signal.args == [3]
    assert table.current_key() == 3
    assert table.target_keys() == (3,)
    assert not table.records.ticked()


def test_the_box_ticks_without_moving_the_cursor(qtbot: QtBot, table: TableView) -> None:
    click(qtbot, table, 2)
    click(qtbot, table, 5, "tick")
    assert table.current_key() == 2
    assert table.records.ticked() == {5}
    assert table.target_keys() == (5,)


def test_ctrl_ticks_and_shift_ticks_a_range(qtbot: QtBot, table: TableView) -> None:
    click(qtbot, table, 2, mod=Mod.ControlModifier)
    click(qtbot, table, 5, mod=Mod.ShiftModifier)
    assert table.records.ticked() == {2, 3, 4, 5}
    click(qtbot, table, 3, mod=Mod.ControlModifier)
    assert table.target_keys() == (2, 4, 5)


def test_double_click_opens_but_not_on_the_box(qtbot: QtBot, table: TableView) -> None:
    with qtbot.waitSignal(table.open_requested) as signal:
        qtbot.mouseDClick(table.viewport(), Left, Mod.NoModifier, cell(table, 4, "shop"))
    assert signal.args == [4]
    with qtbot.assertNotEmitted(table.open_requested):
        qtbot.mouseDClick(table.viewport(), Left, Mod.NoModifier, cell(table, 4, "tick"))


@pytest.mark.parametrize(
    ("key", "mod", "signal"),
    [
        (Key.Key_Space, Mod.NoModifier, "peek_requested"),
        (Key.Key_Return, Mod.NoModifier, "open_requested"),
        (Key.Key_Enter, Mod.KeypadModifier, "open_requested"),
    ],
)
def test_keys_peek_and_open(qtbot: QtBot, table: TableView, key: Key, mod: Mod, signal: str) -> None:
    click(qtbot, table, 3)
    with qtbot.waitSignal(getattr(table, signal)) as seen:
        press(qtbot, table, key, mod)
    assert seen.args == [3]


@pytest.mark.parametrize("opens", [True, False])
def test_a_key_for_details_that_nobody_has_opens_the_row_or_says_so(
    qtbot: QtBot, table: TableView, opens: bool
) -> None:
    opened: list[object] = []
    if opens:
        table.open_requested.connect(opened.append)
    table.setCurrentIndex(table.records.index(2, 2))
    press(qtbot, table, Key.Key_Space)
    told = "" if opens else safe.tooltip("The row has no more than it shows.")
    assert (opened, QToolTip.text()) == ([table.records.key_at(2)] if opens else [], told)
    QToolTip.hideText()


def test_keys_tick(qtbot: QtBot, table: TableView) -> None:
    click(qtbot, table, 3)
    press(qtbot, table, Key.Key_Space, Mod.ControlModifier)
    assert table.records.ticked() == {3}
    press(qtbot, table, Key.Key_A, Mod.ControlModifier)
    assert len(table.records.ticked()) == 60
    press(qtbot, table, Key.Key_Escape)
    assert not table.records.ticked()


def test_shift_and_arrows_tick_on_the_way(qtbot: QtBot, table: TableView) -> None:
    click(qtbot, table, 3)
    press(qtbot, table, Key.Key_Down, Mod.ShiftModifier)
    press(qtbot, table, Key.Key_Down, Mod.ShiftModifier)
    assert table.records.ticked() == {3, 4, 5}
    assert table.current_key() == 5


def test_arrows_move(qtbot: QtBot, table: TableView) -> None:
    click(qtbot, table, 3)
    press(qtbot, table, Key.Key_Down)
    assert table.current_key() == 4
    press(qtbot, table, Key.Key_End, Mod.ControlModifier)
    assert table.current_key() == 59


def test_keys_without_a_cursor_do_nothing(qtbot: QtBot, table: TableView) -> None:
    table.records.clear()
    with qtbot.assertNotEmitted(table.peek_requested):
        press(qtbot, table, Key.Key_Space)
    assert table.target_keys() == ()
    table.copy_cell()


def test_copying(qtbot: QtBot, table: TableView) -> None:
    click(qtbot, table, 3, "shop")
    press(qtbot, table, Key.Key_C, Mod.ControlModifier)
    assert QGuiApplication.clipboard().text() == table.records.record(3).shop
    table.records.set_ticked([1, 0])
    press(qtbot, table, Key.Key_C, Mod.ControlModifier | Mod.ShiftModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 3
    assert lines[0].split("\t")[0] == "Type", "the glyph has no word here"


def test_the_cursor_stays_with_its_record(qtbot: QtBot, table: TableView) -> None:
    click(qtbot, table, 3)
    rows = list(table.records.records())
    table.records.apply([Row(id=99), *reversed(rows)], settle=True)
    assert table.current_key() == 3
    table.records.apply([row for row in rows if row.id != 3], settle=True)
    assert table.current_key() != 3


def test_the_cursor_can_be_set(table: TableView) -> None:
    assert table.set_current_key(50)
    assert table.current_key() == 50
    assert not table.set_current_key("nobody")


def test_the_header_ticks_all_and_none(qtbot: QtBot, table: TableView) -> None:
    table.header.sectionClicked.emit(0)
    assert len(table.records.ticked()) == 60
    table.header.sectionClicked.emit(0)
    assert not table.records.ticked()


def test_the_menu_has_the_actions_of_the_page_first(qtbot: QtBot, table: TableView) -> None:
    table.menu_requested.connect(lambda menu, key: menu.addAction(f"Retry {key}"))
    click(qtbot, table, 3)
    menu = table.build_menu(table.currentIndex())
    texts = [action.text() for action in menu.actions() if action.text()]
    assert texts == ["Retry 3", "Copy cell", "Copy row"], "where nothing filters, nothing is offered"
    asked = []
    table.filterable = lambda key, column: bool(asked.append((key, column))) or column == "type"
    menu = table.build_menu(table.currentIndex())
    assert asked == [(3, "type")]
    texts = [action.text() for action in menu.actions() if action.text()]
    assert texts == ["Retry 3", "Copy cell", "Copy row", "Filter by this value", "Exclude this value"]
    with qtbot.waitSignal(table.filter_requested) as signal:
        menu.actions()[-1].trigger()
    assert signal.args == ["type", False]


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
@pytest.mark.parametrize("reason", [QContextMenuEvent.Reason.Mouse, QContextMenuEvent.Reason.Keyboard])
def test_the_menu_opens_by_mouse_and_key(qtbot: QtBot, table: TableView, reason: QContextMenuEvent.Reason) -> None:
    click(qtbot, table, 2)
    place = cell(table, 2, "type")
    table.contextMenuEvent(QContextMenuEvent(reason, place, table.viewport().mapToGlobal(place)))
    (menu,) = [m for m in table.findChildren(QMenu) if m.isVisible()]
    menu.close()


def test_the_menu_of_nothing_does_not_open(table: TableView) -> None:
    table.records.clear()
    table.contextMenuEvent(QContextMenuEvent(QContextMenuEvent.Reason.Mouse, QPoint(5, 5), QPoint(5, 5)))
    assert not [m for m in table.findChildren(QMenu) if m.isVisible()]


def test_the_hovered_row_is_drawn_in_its_colour(qtbot: QtBot, table: TableView) -> None:
    place = cell(table, 4, "duration")
    before = table.grab().toImage().pixelColor(table.viewport().mapTo(table, QPoint(3, place.y())))
    qtbot.mouseMove(table.viewport(), place)
    after = table.grab().toImage().pixelColor(table.viewport().mapTo(table, QPoint(3, place.y())))
    assert before == theme().color("table")
    assert after == theme().color("hover")
    QApplication.sendEvent(table.viewport(), QEvent(QEvent.Type.Leave))
    left = table.grab().toImage().pixelColor(table.viewport().mapTo(table, QPoint(3, place.y())))
    assert left == theme().color("table")


def test_the_cursor_row_has_an_edge_and_the_keyboard_a_ring(qtbot: QtBot, table: TableView) -> None:
    click(qtbot, table, 4)
    place = table.viewport().mapTo(table, QPoint(1, cell(table, 4, "type").y()))
    assert table.grab().toImage().pixelColor(place) == theme().color("accent")
    by_mouse = table.grab().toImage()
    press(qtbot, table, Key.Key_Right)
    press(qtbot, table, Key.Key_Left)
    assert table.grab().toImage() != by_mouse


def test_tabbing_in_puts_the_cursor_on_the_first_row(table: TableView) -> None:
    table.focusInEvent(QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))
    assert table.current_key() == 0


def test_live_cells_tick_only_while_seen(table: TableView) -> None:
    assert table.live.running
    table.live.repaint()
    table.hide()
    assert not table.live.running


class Painted(QObject):
    """Which rows of a table are painted."""

    def __init__(self, table: TableView) -> None:
        super().__init__(table)
        self.rows: set[int] = set()
        self.top = -1  #: of what was painted last
        self._table = table
        table.viewport().installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            box = event.region().boundingRect()
            self.top = box.top()
            self.rows |= {self._table.rowAt(y) for y in range(box.top(), box.bottom() + 1, 2)} - {-1}
        return False


def test_a_step_of_the_clock_paints_only_what_says_something_else(qtbot: QtBot) -> None:
    said = {0: "1 s", 1: "3 h", 2: "3 h"}
    text = lambda row: said[row.id]  # noqa: E731 - as a column takes it
    live: Column[Row] = Column(key="age", title="Age", value=lambda _row: None, text=text, live=True)
    other: Column[Row] = Column(key="type", title="Type", value=lambda row: row.id)
    model = RecordModel((other, live), lambda row: row.id)
    model.apply(sample_rows(3))
    table = TableView(model, "Tasks")
    qtbot.addWidget(table)
    table.resize(400, 200)
    table.show()
    QApplication.processEvents()
    painted = Painted(table)

    def a_step() -> set[int]:
        painted.rows.clear()
        table.live.repaint()
        QApplication.processEvents()
        return painted.rows

    assert a_step() == {0, 1, 2}, "nobody knows what was painted"
    assert a_step() == set()
    said[0] = "2 s"
    assert a_step() == {0}
    said[2] = "late"
    table.viewport().repaint()
    said[2] = "3 h"
    assert a_step() >= {2}, "it was painted meanwhile as it was for a moment"
    assert a_step() == set()
    model.set_headings({1: Heading("Later")})
    for _ in range(3):  # it is laid out, and painted, when there is time
        a_step()
    said[1] = "4 h"
    assert a_step() == {1}
    head = table.rowViewportPosition(1) + heading_height()
    assert painted.top == head, "a heading knows no clock"


def test_what_a_record_says_since_a_step_of_the_clock_is_painted_though_that_found_something_else(qtbot: QtBot) -> None:
    """It compares and the table paints a moment later: what was said of the record before may not be painted again."""
    live: Column[Row] = Column(
        key="age", title="Age", value=lambda row: row.type, text=lambda row: row.type, kind="told", live=True
    )
    model = RecordModel((live,), lambda row: row.id)
    (row,) = sample_rows(1)
    model.apply([dataclasses.replace(row, type="before")])
    painted: list[str] = []
    painters.register("told", lambda _painter, _room, cell, _ink: painted.append(cell.words()))
    table = TableView(model, "Tasks")
    qtbot.addWidget(table)
    table.resize(400, 200)
    table.show()
    QApplication.processEvents()
    table.live.repaint()
    model.patch({0: dataclasses.replace(row, type="now")})
    painted.clear()
    QApplication.processEvents()
    assert set(painted) == {"now"}
    model.patch({0: dataclasses.replace(row, type="later")})
    table.live.repaint()
    painted.clear()
    QApplication.processEvents()
    assert set(painted) == {"later"}


def test_the_end_of_the_list_asks_for_more(qtbot: QtBot, table: TableView) -> None:
    with qtbot.waitSignal(table.near_end):
        table.scrollToBottom()


def test_names_follow_the_language(table: TableView) -> None:
    i18n.set_language("zh_CN")
    table.filterable = lambda _key, _column: True
    assert table.build_menu(table.records.index(0, 1)).actions()[-1].text() == "排除此值"


def test_density_changes_the_rows(table: TableView) -> None:
    theme().set_density("compact")
    assert table.rowHeight(0) == 24
    theme().set_density("normal")


def test_foreign_painters_cannot_paint_outside(qtbot: QtBot) -> None:
    def flood(painter: QPainter, room: object, _cell: object, _ink: object) -> None:
        painter.fillRect(0, 0, 2000, 2000, QColor("red"))

    painters.register("test.flood", flood)
    columns = (COLUMNS[1], dataclasses.replace(COLUMNS[2], kind="test.flood"), COLUMNS[3])
    model = RecordModel(columns, lambda row: row.id)
    model.apply(sample_rows(1))
    table = TableView(model)
    qtbot.addWidget(table)
    table.resize(500, 200)
    image = table.grab().toImage()
    first = table.viewport().mapTo(table, QPoint(columns[0].width - 2, 5))
    assert image.pixelColor(first) != QColor("red")
    assert table.accessibleName() == "Table"


def test_an_empty_table_can_be_drawn(qtbot: QtBot) -> None:
    table = TableView(RecordModel(COLUMNS, lambda row: row.id), ground="surface")
    qtbot.addWidget(table)
    assert table.viewport().grab().toImage().pixelColor(5, 5) == theme().color("surface")
