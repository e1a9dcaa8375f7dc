"""The message of a dead letter: the field that its flow complained of is shown and marked."""

from __future__ import annotations

import json
from typing import Any

from pytestqt.qtbot import QtBot

from services.domain.types.task_type import TaskType
from tests.support.cuts import cut
from views.pages.dead_letters.editor import MessageEditor
from views.theme import theme

SCHEMA = {
    "type": "object",
    "properties": {"goods_ids": {"type": "array"}, "low_stock": {"type": "integer", "title": "Low stock at"}},
}
KIND = TaskType(name="refresh_goods", schema=SCHEMA)


def shown(qtbot: QtBot, payload: dict[str, Any], field: str) -> MessageEditor:
    editor = MessageEditor()
    qtbot.addWidget(editor)
    editor.resize(420, 600)
    editor.show_message("t1", json.dumps(payload), KIND)
    editor.show_refusal(True, field)
    editor.show()
    return editor


def test_a_field_that_was_refused_is_marked_at_its_line(qtbot: QtBot, language: str) -> None:
    far = {"goods_ids": [f"G{n}" for n in range(90)], "filters": {"range": {"since": "2026-13-40"}}}
    editor = shown(qtbot, far, "payload.since")
    (remark,) = editor.json.remarks()
    lines = editor.json.toPlainText().splitlines()
    assert '"since": "2026-13-40"' in lines[remark.line - 1]
    assert editor.json.is_valid
    qtbot.waitUntil(lambda: any(n == remark.line for n, _y, _h in editor.json._visible_lines(editor.json.rect())))
    assert "filters.range.since" in editor.state.text()


def test_a_field_that_is_missing_is_named_where_it_would_stand(qtbot: QtBot, language: str) -> None:
    editor = shown(qtbot, {"goods_ids": ["G1"]}, "low_stock")
    (remark,) = editor.json.remarks()
    assert remark.line == 1
    assert "low_stock" in remark.text
    assert "low_stock" in editor.state.text()
    # the flow's own words may refuse a value of it, so nothing claims that it was asked for
    if language == "en":
        assert remark.text == "“low_stock” is not set here"
        assert editor.state.text().startswith("The flow refused “low_stock”, which this message does not set")
    editor.mode.choose("form")
    assert editor.form.problem_names() == ["low_stock"]


def test_the_mark_goes_with_the_first_edit_and_comes_back_with_the_original(qtbot: QtBot) -> None:
    editor = shown(qtbot, {"low_stock": 5}, "low_stock")
    editor.json.setPlainText('{"low_stock": 6}')
    assert editor.json.remarks() == ()
    editor.revert()
    assert [remark.line for remark in editor.json.remarks()] == [2]
    editor.show_message("t2", '{"goods_ids": [], "low_stock": 5}', KIND)
    assert [remark.line for remark in editor.json.remarks()] == [3]
    editor.show_refusal(False)
    assert editor.json.remarks() == ()


def test_what_is_said_of_a_field_never_pushes_the_panel_beyond_its_edge(qtbot: QtBot, language: str) -> None:
    for mode in ("dark", "light"):
        theme().set_mode(mode)
        editor = shown(qtbot, {"goods_ids": ["G1"]}, "")
        assert editor.minimumSizeHint().width() <= 400
        editor.show_refusal(True, "settings.warehouses[12].low_stock")
        qtbot.wait(50)
        assert editor.minimumSizeHint().width() <= 400
        assert cut(editor) == []
