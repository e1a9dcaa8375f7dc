"""What Qt asks of cells and titles: plain values, escaped tips, titles in the language of the moment."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import QModelIndex, Qt

from services import i18n
from tests.unit.views.samples import COLUMNS, Row
from views.tables import roles
from views.tables.record_model import RecordModel


def make(rows: list[Row] | None = None, **options: object) -> RecordModel[Row]:
    model: RecordModel[Row] = RecordModel(COLUMNS, lambda row: row.id, tickable=True, **options)  # type: ignore[arg-type]
    model.apply(rows if rows is not None else [Row(id=n) for n in range(5)])
    return model


def test_roles_answer_plain_values() -> None:
    model = make([Row(id=1, duration="3 s")], sentence=lambda row: f"task {row.id}")
    status, duration, tick = model.index(0, 1), model.index(0, model.section_of("duration")), model.index(0, 0)
    assert status.data(roles.KEY) == 1
    assert status.data(roles.RECORD).id == 1
    assert status.data(roles.VALUE) == "queued"
    assert status.data(roles.ACCESSIBLE) == "task 1"
    assert duration.data(roles.ACCESSIBLE) == "Duration: 3 s"
    assert duration.data() == "3 s"
    assert duration.data(roles.ALIGNMENT) == roles.ALIGN_RIGHT
    assert duration.data(roles.TOOLTIP) is None
    assert tick.data(roles.CHECK) == Qt.CheckState.Unchecked
    assert tick.data(roles.ACCESSIBLE) == "not selected"
    assert tick.data(roles.KEY) == 1
    assert tick.data() is None
    assert model.data(QModelIndex()) is None


def test_tool_tips_are_escaped() -> None:
    column = dataclasses.replace(COLUMNS[1], tooltip=lambda row: f"<b>{row.type}")
    model: RecordModel[Row] = RecordModel((column,), lambda row: row.id)
    model.apply([Row(id=1, type="x")])
    assert model.index(0, 0).data(roles.TOOLTIP) == "<qt>&lt;b&gt;x</qt>"


def test_titles_follow_the_language() -> None:
    column = dataclasses.replace(COLUMNS[1], title="Retry", title_tip="Close")
    model: RecordModel[Row] = RecordModel((column,), lambda row: row.id)
    i18n.set_language("zh_CN")
    assert model.headerData(0, Qt.Orientation.Horizontal) == "重试"
    assert model.headerData(0, Qt.Orientation.Horizontal, roles.TOOLTIP) == "关闭"
    assert model.headerData(0, Qt.Orientation.Vertical) is None
    assert model.headerData(9, Qt.Orientation.Horizontal) is None
