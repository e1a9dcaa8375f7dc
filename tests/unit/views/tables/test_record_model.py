"""Live rows: cells change in place, nothing else moves until the user asks."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QAbstractItemModel, QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from tests.unit.views.samples import COLUMNS, Row, sample_rows
from views.tables import keyed_rows, roles
from views.tables.record_model import RecordModel, parted

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


def make(rows: list[Row] | None = None, **options: object) -> RecordModel[Row]:
    model: RecordModel[Row] = RecordModel(COLUMNS, lambda row: row.id, tickable=True, **options)  # type: ignore[arg-type]
    model.apply(rows if rows is not None else [Row(id=n) for n in range(5)])
    return model


def ids(model: RecordModel[Row]) -> list[int]:
    return [row.id for row in model.records()]


def watched(model: RecordModel[Row]) -> list[str]:
    """Note every structural signal."""
    seen: list[str] = []
    model.rowsInserted.connect(lambda *_: seen.append("inserted"))
    model.rowsRemoved.connect(lambda *_: seen.append("removed"))
    model.layoutChanged.connect(lambda *_: seen.append("moved"))
    model.modelReset.connect(lambda *_: seen.append("reset"))
    return seen


ROWS = st.lists(
    st.builds(Row, id=st.integers(0, 12), status=st.sampled_from(["queued", "dead"])),
    unique_by=lambda r: r.id,
    max_size=10,
)


@settings(max_examples=25)
@given(st.lists(st.tuples(ROWS, st.booleans()), max_size=6), st.booleans(), st.sampled_from([0, 64]))
def test_the_model_tester_is_content(steps: list[tuple[list[Row], bool]], hold: bool, many: int) -> None:
    model = RecordModel(COLUMNS, lambda row: row.id, tickable=True, hold_new=hold)
    tester = QAbstractItemModelTester(model, FATAL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyed_rows, "_MANY", many)
        for rows, settle in steps:
            model.apply(rows, settle=settle)
            model.set_ticked([1, 2])
            assert [model.row_of(row.id) for row in model.records()] == list(range(model.rowCount()))
            if settle:
                assert model.records() == tuple(rows)
                assert model.pending == model.departed == 0
    assert tester.model() is model


def test_thousands_of_scattered_rows_leave_and_come_in_a_few_steps() -> None:
    model = make([Row(id=n) for n in range(3000)])
    held = QPersistentModelIndex(model.index(model.row_of(1500), 1))
    seen = watched(model)
    wanted = [Row(id=n if n % 4 else n + 10_000) for n in range(3000, 0, -2)]
    model.apply([Row(id=1500), *wanted], settle=True)
    assert ids(model) == [1500, *(row.id for row in wanted)]
    assert held.row() == 0
    assert sorted(set(seen)) == ["inserted", "moved", "removed"]
    assert len(seen) <= 4


def test_thousands_of_rows_that_no_longer_match_are_dimmed_with_one_signal(qtbot: QtBot) -> None:
    model = make([Row(id=n) for n in range(3000)])
    with qtbot.waitSignal(model.dataChanged) as signal:
        model.apply([Row(id=n) for n in range(0, 3000, 2)])
    assert (signal.args[0].row(), signal.args[1].row()) == (1, 2999)
    assert model.departed == 1500
    assert (model.is_dimmed(1), model.is_dimmed(2)) == (True, False)


def test_a_row_that_came_since_is_of_the_group_where_it_stands_and_makes_none_of_its_own() -> None:
    groups = {1: True, 2: True, 4: False}
    assert parted([9, 1, 2, 4], int, groups) == [[9, 1, 2], [4]]
    assert parted([1, 2, 9, 4, 8], int, groups) == [[1, 2, 9], [4, 8]]
    assert parted([8, 9], int, {}) == [[8, 9]]


def test_the_first_rows_are_shown_at_once() -> None:
    assert ids(make()) == [0, 1, 2, 3, 4]


def test_a_changed_cell_is_announced_alone(qtbot: QtBot) -> None:
    model = make()
    seen = watched(model)
    changed = [dataclasses.replace(row, status="dead") if row.id == 3 else row for row in model.records()]
    with qtbot.waitSignal(model.dataChanged) as signal:
        model.apply(changed)
    first, last, which = signal.args
    assert (first.row(), last.row()) == (3, 3)
    assert first.column() == last.column() == model.section_of("status")
    assert which == roles.CELL_ROLES
    assert seen == []


def test_many_changes_are_announced_together(qtbot: QtBot) -> None:
    model = make([Row(id=n) for n in range(200)])
    signals: list[object] = []
    model.dataChanged.connect(lambda *args: signals.append(args))
    model.apply([dataclasses.replace(row, status="dead") for row in model.records()])
    assert len(signals) == 1


def test_arrivals_wait_behind_the_pill(qtbot: QtBot) -> None:
    model = make()
    seen = watched(model)
    with qtbot.waitSignal(model.pending_changed) as signal:
        model.apply([Row(id=8), Row(id=7), *model.records()])
    assert signal.args == [2]
    assert ids(model) == [0, 1, 2, 3, 4]
    assert seen == []
    model.show_new()
    assert ids(model) == [8, 7, 0, 1, 2, 3, 4]
    assert model.pending == 0
    assert seen == ["inserted"]


def test_departed_rows_stay_dimmed_until_asked() -> None:
    model = make()
    model.apply([row for row in model.records() if row.id != 2])
    assert ids(model) == [0, 1, 2, 3, 4]
    assert model.is_dimmed(2)
    assert model.departed == 1
    assert model.index(2, 1).data(roles.DIMMED) is True
    model.show_new()
    assert ids(model) == [0, 1, 3, 4]
    assert model.departed == 0


def test_a_row_that_returns_is_no_longer_dimmed() -> None:
    model = make()
    rows = list(model.records())
    model.apply(rows[1:])
    model.apply(rows)
    assert not model.is_dimmed(0)


def test_what_is_told_of_one_row_stays_when_all_settle_and_brings_nobody_back() -> None:
    model = make()
    model.apply([row for row in model.records() if row.id != 2])
    model.patch({2: Row(id=2, status="dead"), 3: Row(id=3, status="dead"), 9: Row(id=9)})
    assert [row.status for row in model.records()] == ["queued", "queued", "dead", "dead", "queued"]
    model.show_new()
    assert [(row.id, row.status) for row in model.records()] == [
        (0, "queued"), (1, "queued"), (3, "dead"), (4, "queued"),
    ]  # fmt: skip


def test_order_changes_only_when_asked_and_keeps_the_cursor() -> None:
    model = make()
    cursor = QPersistentModelIndex(model.index(4, 1))
    model.apply(list(reversed(model.records())))
    assert ids(model) == [0, 1, 2, 3, 4]
    seen = watched(model)
    model.show_new()
    assert ids(model) == [4, 3, 2, 1, 0]
    assert seen == ["moved"]
    assert cursor.row() == 0


def test_short_lists_show_arrivals_and_departures_but_keep_their_order() -> None:
    model = make(hold_new=False)
    model.apply([Row(id=9), Row(id=4), Row(id=1), Row(id=5)])
    assert ids(model) == [9, 1, 5, 4]
    assert model.pending == model.departed == 0


@pytest.mark.parametrize("settle", [False, True])
@pytest.mark.parametrize(
    "more", [[], [Row(id=900)], [Row(id=900 + n) for n in range(300)]], ids=["none", "one", "many"]
)
def test_a_live_list_asks_each_row_for_its_key_once(more: list[Row], settle: bool) -> None:
    asked: list[int] = []

    def key(row: Row) -> int:
        asked.append(row.id)
        return row.id

    model: RecordModel[Row] = RecordModel(COLUMNS, key, hold_new=False)
    model.apply([Row(id=n) for n in range(500)])
    asked.clear()
    model.apply([*(Row(id=n, status="dead") for n in range(499)), *more], settle=settle)
    assert model.row_of(7) == 7
    assert len(asked) == 499 + len(more)


def test_ticks_survive_everything(qtbot: QtBot) -> None:
    model = make()
    with qtbot.waitSignal(model.ticked_changed):
        model.set_ticked([1, 3])
    model.apply([Row(id=3), Row(id=9)], settle=True)
    assert model.ticked() == {1, 3}
    assert model.is_ticked(0)
    assert not model.is_ticked(1)
    model.toggle(0)
    assert model.ticked() == {1}


def test_the_box_in_the_header_has_three_states() -> None:
    model = make()
    assert model.tick_state() == Qt.CheckState.Unchecked
    model.toggle(0)
    assert model.tick_state() == Qt.CheckState.PartiallyChecked
    model.tick_all()
    assert model.tick_state() == Qt.CheckState.Checked
    model.untick_all()
    assert model.ticked() == frozenset()


def test_what_is_ticked_beyond_an_empty_page_is_not_all_of_it() -> None:
    model = make([])
    model.set_ticked([1])
    assert model.tick_state() == Qt.CheckState.PartiallyChecked


def test_ticking_again_is_silent(qtbot: QtBot) -> None:
    model = make()
    model.set_ticked([1])
    with qtbot.assertNotEmitted(model.ticked_changed):
        model.set_ticked([1])


def test_a_model_without_boxes_cannot_be_ticked() -> None:
    model: RecordModel[Row] = RecordModel(COLUMNS, lambda row: row.id)
    model.apply([Row(id=1)])
    model.set_ticked([1])
    assert not model.tickable
    assert not model.ticked()


def test_clearing_forgets_rows_and_ticks() -> None:
    model = make()
    model.set_ticked([1])
    model.clear()
    assert ids(model) == []
    assert not model.ticked()


def test_twins_are_shown_once() -> None:
    assert ids(make([Row(id=1), Row(id=1, status="dead"), Row(id=2)])) == [1, 2]


def test_finding() -> None:
    model = make()
    assert model.row_of(3) == 3
    assert model.row_of(99) == -1
    assert model.find(99) is None
    assert model.find(3) == Row(id=3)
    assert model.section_of("nothing") == -1


def test_sorting_is_asked_of_the_query(qtbot: QtBot) -> None:
    model = make()
    with qtbot.waitSignal(model.sort_requested) as signal:
        model.request_sort(model.section_of("age"))
    assert signal.args == [(("age", False),)]
    model.request_sort(model.section_of("age"))
    assert model.sorts == (("age", True),)
    model.request_sort(model.section_of("type"), add=True)
    assert model.sorts == (("age", True), ("type", False))
    with qtbot.assertNotEmitted(model.sort_requested):
        model.request_sort(model.section_of("lane"))
    assert ids(model) == [0, 1, 2, 3, 4]


def test_small_tables_sort_themselves_once() -> None:
    model = make([Row(id=1, type="b"), Row(id=2, type="a")], local_sort=True, hold_new=False)
    model.request_sort(model.section_of("type"))
    assert ids(model) == [2, 1]
    model.apply([Row(id=1, type="a"), Row(id=2, type="z")])
    assert ids(model) == [2, 1]
    model.show_new()
    assert ids(model) == [1, 2]


@pytest.mark.parametrize("number", [0, 1, 500])
def test_any_number_of_rows(number: int) -> None:
    model: QAbstractItemModel = make(sample_rows(number))
    assert model.rowCount() == number
    assert not number or model.rowCount(model.index(0, 0)) == 0
