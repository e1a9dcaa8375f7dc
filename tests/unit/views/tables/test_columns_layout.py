"""Columns give way when it is narrow and come back as the user left them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.unit.views.samples import COLUMNS, Row, sample_rows
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme


@pytest.fixture
def table(qtbot: QtBot) -> TableView:
    model = RecordModel(COLUMNS, lambda row: row.id, tickable=True)
    model.apply(sample_rows(5))
    view = TableView(model, "Tasks")
    qtbot.addWidget(view)
    view.show()
    resize(view, 1200)
    return view


def resize(table: TableView, width: int) -> None:
    table.resize(width, 300)
    QApplication.processEvents()


def hidden(table: TableView) -> set[str]:
    return {c.key for n, c in enumerate(table.records.columns) if table.isColumnHidden(n)}


def width(table: TableView, key: str) -> int:
    return table.columnWidth(table.records.section_of(key))


def plans(qtbot: QtBot, columns: Sequence[Column[Row]]) -> TableView:
    """A table of three rows."""
    model: RecordModel[Row] = RecordModel(columns, lambda row: row.id)
    model.apply(sample_rows(3))
    view = TableView(model, "Plans")
    qtbot.addWidget(view)
    view.show()
    return view


def test_the_stretched_column_takes_what_is_left(table: TableView) -> None:
    assert table.horizontalScrollBar().maximum() == 0
    assert width(table, "error") > 200
    resize(table, 1500)
    assert width(table, "error") > 500


def test_columns_leave_by_rank_and_return(table: TableView) -> None:
    resize(table, 850)
    assert hidden(table) == {"worker", "duration"}
    resize(table, 700)
    assert hidden(table) == {"worker", "duration", "platform"}
    resize(table, 1200)
    assert hidden(table) == set()


def test_a_column_hidden_by_hand_stays_hidden(table: TableView) -> None:
    menu = table.layout_of_columns.menu()
    next(action for action in menu.actions() if action.text() == "Worker").trigger()
    assert hidden(table) == {"worker"}
    resize(table, 700)
    resize(table, 1200)
    assert hidden(table) == {"worker"}


def test_a_layout_is_kept(table: TableView, qtbot: QtBot) -> None:
    columns = table.layout_of_columns
    columns.show_column(table.records.section_of("lane"), False)
    table.header.moveSection(table.header.visualIndex(table.records.section_of("shop")), 1)
    table.setColumnWidth(table.records.section_of("type"), 222)
    table.records.set_sorts([("age", True)])
    saved = table.layout_of_columns.save()
    other = TableView(RecordModel(COLUMNS, lambda row: row.id, tickable=True), "Tasks")
    qtbot.addWidget(other)
    other.resize(1200, 300)
    other.layout_of_columns.restore(saved)
    assert hidden(other) >= {"lane"}
    assert width(other, "type") == 222
    assert other.records.sorts == (("age", True),)
    assert [c.key for c in other.layout_of_columns.shown()][1] == "shop"


def test_a_hidden_column_keeps_the_width_that_a_person_gave_it(table: TableView, qtbot: QtBot) -> None:
    section = table.records.section_of("lane")
    table.setColumnWidth(section, 133)
    table.layout_of_columns.show_column(section, False)
    kept = table.layout_of_columns.save()
    for _start in range(2):  # it stays so through starts in which nobody shows it
        other = TableView(RecordModel(COLUMNS, lambda row: row.id, tickable=True), "Tasks")
        qtbot.addWidget(other)
        other.resize(1200, 300)
        other.layout_of_columns.restore(kept)
        kept = other.layout_of_columns.save()
    assert hidden(other) >= {"lane"}
    other.layout_of_columns.show_column(section, True)
    assert width(other, "lane") == 133
    other.layout_of_columns.reset()
    assert width(other, "lane") != 133


def test_a_layout_of_another_version_does_no_harm(table: TableView) -> None:
    table.layout_of_columns.restore(
        {"order": ["gone", "type"], "widths": {"gone": 5}, "hidden": ["gone"], "sorts": [["gone", True]]}
    )
    assert table.records.sorts == ()
    assert hidden(table) == set()


@pytest.mark.parametrize(
    "spoiled",
    [
        {"order": 5},
        {"order": ["type"], "widths": {"type": "wide"}},
        {"widths": {"type": float("nan")}, "order": ["type"]},
        {"widths": [1]},
        {"hidden": None},
        {"sorts": [1]},
    ],
)
def test_what_is_no_layout_changes_nothing(table: TableView, spoiled: dict[str, object]) -> None:
    before = table.layout_of_columns.save()
    table.layout_of_columns.restore(spoiled)
    assert table.layout_of_columns.save() == before


def test_no_width_of_a_file_is_without_bounds(table: TableView) -> None:
    table.layout_of_columns.restore({"order": ["type", "lane"], "widths": {"type": float("inf"), "lane": -9}})
    assert 500 < width(table, "type") <= 2_000
    assert 0 < width(table, "lane") < 200


def test_columns_grow_with_the_text_and_are_kept_without_that(table: TableView) -> None:
    resize(table, 1600)
    table.setColumnWidth(table.records.section_of("type"), 200)
    saved = table.layout_of_columns.save()
    try:
        theme().set_text_size(130)
        assert (width(table, "type"), width(table, "lane")) == (260, round(saved["widths"]["lane"] * 1.3))
        fixed = ("status", "tick")
        assert {key: width(table, key) for key in fixed} == {key: saved["widths"][key] for key in fixed}
        assert table.layout_of_columns.save()["widths"]["type"] == 200
        table.layout_of_columns.restore(saved)
        assert width(table, "type") == 260
        resize(table, 1080)
        assert hidden(table), "they give way where they are wider than the room"
    finally:
        theme().set_text_size(100)
    resize(table, 1600)
    assert (width(table, "type"), hidden(table)) == (200, set())


@pytest.fixture
def large() -> Iterator[None]:
    """Letters of 130 %."""
    theme().set_text_size(130)
    yield
    theme().set_text_size(100)


def test_large_letters_take_room_from_columns_that_need_less(table: TableView, large: None) -> None:
    resize(table, 1900)
    wide, saved = {c.key: width(table, c.key) for c in table.layout_of_columns.shown()}, table.layout_of_columns.save()
    resize(table, 820)
    assert table.horizontalScrollBar().maximum() == 0
    narrow = [column for column in table.layout_of_columns.shown() if width(table, column.key) < wide[column.key]]
    assert len(narrow) > 3
    for column in narrow:
        if column.stretch or column.kind == "progress":
            continue
        section = table.records.section_of(column.key)
        assert width(table, column.key) >= table.sizeHintForColumn(section), f"{column.key} is cut"
    kept = table.layout_of_columns.save()["widths"]
    assert {**kept, "error": 0} == {**saved["widths"], "error": 0}, "nobody has sized them"
    resize(table, 1900)
    assert {c.key: width(table, c.key) for c in table.layout_of_columns.shown()} == wide


def test_a_column_that_gave_way_takes_room_for_a_longer_cell(table: TableView, qtbot: QtBot, large: None) -> None:
    resize(table, 900)
    before, section = width(table, "age"), table.records.section_of("age")
    assert before < round(86 * 1.3)
    rows = sample_rows(5)
    table.records.apply([dataclasses.replace(rows[0], age="133 h 02 m"), *rows[1:]])
    qtbot.waitUntil(lambda: width(table, "age") >= table.sizeHintForColumn(section))
    assert width(table, "age") > before
    assert table.horizontalScrollBar().maximum() == 0


def test_an_empty_column_leaves_its_room_to_words_that_are_cut(qtbot: QtBot) -> None:
    said, note = [""], ["short"]
    columns = [
        Column(key="id", title="Id", value=lambda row: row.id, width=100),
        Column(key="past", title="History", value=lambda _row: said[0], width=300),
        Column(key="note", title="Note", value=lambda _row: note[0], width=96, stretch=True),
    ]
    view = plans(qtbot, columns)
    resize(view, 520)
    assert (width(view, "past"), width(view, "note") < 130) == (300, True), "nothing is cut"
    note[0] = "not before the new page of the platform is known"
    view.layout_of_columns.fit()
    assert width(view, "note") >= view.sizeHintForColumn(2)
    assert width(view, "past") < 110
    assert view.layout_of_columns.save()["widths"]["past"] == 300, "nobody has sized it"
    said[0] = "yesterday"
    view.records.dataChanged.emit(view.records.index(0, 1), view.records.index(2, 1))
    qtbot.waitUntil(lambda: width(view, "past") == 300)


def test_an_empty_column_leaves_its_room_also_where_the_stretched_one_is_hidden(qtbot: QtBot) -> None:
    columns = [
        Column(key="type", title="Type", value=lambda _row: "send_welcome_email", width=100),
        Column(key="progress", title="Progress", value=lambda _row: "", width=140),
        Column(key="error", title="Last error", value=lambda _row: "late", width=110, stretch=True, hide_rank=1),
    ]
    view = plans(qtbot, columns)
    resize(view, 250)
    assert hidden(view) == {"error"}
    assert width(view, "type") >= view.sizeHintForColumn(0)
    assert view.horizontalScrollBar().maximum() == 0
    assert view.layout_of_columns.save()["widths"]["type"] == 100, "nobody has sized it"


def test_the_room_that_is_left_goes_to_words_that_are_cut(qtbot: QtBot) -> None:
    columns = [
        Column(key="act", title="Act", value=lambda _row: "Change the times of a shop and its limits", width=100),
        Column(
            key="hits", title="Collides", value=lambda _row: "orders: the same work in 30 shops", width=96, stretch=True
        ),
        Column(key="note", title="Note", value=lambda _row: "short", width=96, stretch=True),
    ]
    view = plans(qtbot, columns)
    needed = view.sizeHintForColumn(1)
    resize(view, 100 + needed + 130)
    assert width(view, "hits") >= needed, "it does not share with a column that has enough"
    assert 96 <= width(view, "note") < 140
    resize(view, 900)
    assert width(view, "act") > 150, "no column that has more than it needs lies beside words that are cut"
    assert view.layout_of_columns.save()["widths"]["act"] == 100, "nobody has sized it"
    resize(view, 300)
    assert width(view, "act") == 100


def test_a_column_that_lacks_little_is_whole_before_a_stretched_one_gets_more(qtbot: QtBot) -> None:
    when = ["daily"]
    columns = [
        Column(key="when", title="When", value=lambda _row: when[0], width=130),
        Column(
            key="note", title="Note", value=lambda _row: "the same work, created twice " * 3, width=96, stretch=True
        ),
    ]
    view = plans(qtbot, columns)
    resize(view, 460)
    assert width(view, "when") == 130
    when[0] = "Monday to Friday at 07:30"
    view.records.dataChanged.emit(view.records.index(0, 0), view.records.index(2, 0))
    qtbot.waitUntil(lambda: width(view, "when") >= view.sizeHintForColumn(0) > 130)
    resize(view, 260)
    assert width(view, "note") >= 96, "where there is no room to give, nothing is taken for it"


def test_a_name_is_whole_where_nobody_else_needs_the_room(qtbot: QtBot) -> None:
    columns = [
        Column(key="worker", title="Worker", value=lambda _row: "vm-10944-701e at desk 7", width=100, names=True),
        Column(key="note", title="Note", value=lambda _row: "the page has changed", width=96, stretch=True),
    ]
    view = plans(qtbot, columns)
    whole, note = view.sizeHintForColumn(0), view.sizeHintForColumn(1)
    assert whole > 100
    resize(view, 100 + note + 10)
    assert width(view, "worker") <= 110, "a name may be cut in its middle before words are at their end"
    resize(view, 700)
    assert width(view, "worker") == whole
    assert view.layout_of_columns.save()["widths"]["worker"] == 100, "nobody has sized it"


def test_words_that_come_later_and_rows_that_move_get_the_room_that_is_left(qtbot: QtBot) -> None:
    columns = [
        Column(key="act", title="Act", value=lambda row: row.age, width=100, sortable=True),
        Column(key="shop", title="Shop", value=lambda row: row.shop, width=100),
        Column(key="note", title="Note", value=lambda _row: "short", width=96, stretch=True),
    ]
    long, rows = "Change the times", [dataclasses.replace(one, age="1 s", shop="nordo") for one in sample_rows(200)]
    model: RecordModel[Row] = RecordModel(columns, lambda row: row.id, local_sort=True)
    model.apply([*rows[:-1], dataclasses.replace(rows[-1], age=f"{long} of it")])
    view = TableView(model, "Plans")
    qtbot.addWidget(view)
    view.show()
    resize(view, 700)
    view.setColumnWidth(1, 80)
    assert width(view, "act") == 100, "what is long is not in sight"
    model.patch({rows[0].id: dataclasses.replace(rows[0], age=long, shop="a shop with a long name")})
    qtbot.waitUntil(lambda: width(view, "act") >= view.sizeHintForColumn(0))
    before = width(view, "act")
    assert (before > 105, width(view, "shop")) == (True, 80), "what a person has sized stays"
    model.request_sort(0)
    model.request_sort(0)  # the longest one comes first
    qtbot.waitUntil(lambda: width(view, "act") >= view.sizeHintForColumn(0) > before)
    assert view.layout_of_columns.save()["widths"] == {"act": 100, "shop": 80, "note": width(view, "note")}
    model.apply(rows[100:], settle=True)
    resize(view, 720)
    assert width(view, "act") == 100, "the rows that needed it are gone"


def measuring(qtbot: QtBot, rows: int) -> tuple[TableView, list[int]]:
    """A table on screen, and of which rows it has asked for the age."""
    measured: list[int] = []

    def note(row: Row) -> str:
        measured.append(row.id)
        return row.age

    columns = [dataclasses.replace(column, text=note) if column.key == "age" else column for column in COLUMNS]
    model = RecordModel(columns, lambda row: row.id)
    model.apply(sample_rows(rows))
    view = TableView(model, "Tasks")
    qtbot.addWidget(view)
    view.show()
    return view, measured


def test_no_more_rows_than_are_in_sight_are_measured(qtbot: QtBot, large: None) -> None:
    view, measured = measuring(qtbot, 900)
    model = view.records
    resize(view, 820)
    assert 0 < len(set(measured)) < 40, "the window would stand still while a thousand rows are measured at each step"
    before = view.layout_of_columns.save()["widths"]
    view.hide()
    measured.clear()
    model.apply([dataclasses.replace(row, age="133 h 02 m") for row in sample_rows(900)], settle=True)
    model.dataChanged.emit(model.index(0, 0), model.index(899, len(COLUMNS) - 1))
    resize(view, 821)
    assert measured == [], "nobody sees it"
    view.show()
    qtbot.waitUntil(lambda: 0 < len(set(measured)) < 80)
    assert view.layout_of_columns.save()["widths"].keys() == before.keys()


def test_a_width_that_a_person_chose_outlives_that_the_page_is_left(table: TableView) -> None:
    section = table.records.section_of("error")
    table.setColumnWidth(section, 250)
    table.hide()
    table.show()
    QApplication.processEvents()
    assert table.columnWidth(section) == 250


def test_what_the_room_hid_is_not_saved(table: TableView) -> None:
    resize(table, 700)
    assert table.layout_of_columns.save()["hidden"] == []


def test_the_design_comes_back(table: TableView) -> None:
    table.layout_of_columns.show_column(2, False)
    table.header.moveSection(2, 5)
    next(a for a in table.layout_of_columns.menu().actions() if a.text() == "Reset columns").trigger()
    assert hidden(table) == set()
    assert [c.key for c in table.layout_of_columns.shown()] == [c.key for c in table.records.columns]
    assert table.layout_of_columns.first_section() == 1


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_the_chooser_opens(table: TableView, qtbot: QtBot) -> None:
    table.layout_of_columns.choose(table.mapToGlobal(table.rect().center()))
    popup = QApplication.activePopupWidget()
    assert popup is not None
    popup.close()


def test_cells_are_measured_once_while_a_window_is_made_wider(qtbot: QtBot) -> None:
    view, measured = measuring(qtbot, 3)
    resize(view, 1200)
    view.setUpdatesEnabled(False)
    measured.clear()
    for wide in range(1201, 1221):
        resize(view, wide)
    assert len(measured) < 20, "a window that is dragged would ask each cell again at each step"


def test_a_table_that_fills_while_it_gets_its_size_asks_each_cell_once(qtbot: QtBot, large: None) -> None:
    view, measured = measuring(qtbot, 0)
    resize(view, 820)
    view.setUpdatesEnabled(False)
    measured.clear()
    view.records.apply(sample_rows(30), settle=True)
    for height in (280, 260, 290):
        view.resize(820, height)
    assert measured, "words that are cut would get no room"
    assert len(measured) == len(set(measured)), "a page that is opened would wait for it several times"
    view.records.apply([dataclasses.replace(row, age="133 h 02 m") for row in sample_rows(30)], settle=True)
    assert {view.records.record(row).age for row in range(30)} == {"133 h 02 m"}
    before = width(view, "age")
    QApplication.processEvents()
    assert width(view, "age") >= before


def test_a_table_without_room_for_a_row_does_not_ask_all_of_them(qtbot: QtBot) -> None:
    asked: list[int] = []

    def note(row: int) -> str:
        asked.append(row)
        return f"value {row} some text"

    columns = tuple(Column(key=f"c{at}", title="C", value=note, width=80) for at in range(8))
    view = TableView(RecordModel(columns, str), "Tasks")
    qtbot.addWidget(view)
    view.resize(600, 20)
    view.show()
    QApplication.processEvents()
    assert view.viewport().height() <= 0
    view.records.apply(range(300), settle=True)
    view.resize(620, 20)
    QApplication.processEvents()
    assert len(asked) < 30
