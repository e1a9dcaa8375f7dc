"""The message of a dead letter: the field that its flow complained of is shown and marked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from services.domain.types.task_type import TaskType
from tests.support.cuts import cut
from views.pages.dead_letters import editor as module
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


def test_a_message_of_some_length_is_read_elsewhere_and_cannot_be_sent_before_it_is_there(qtbot: QtBot) -> None:
    payload = {"goods_ids": [f"G{n}" for n in range(2_000)], "token": "s3cr3t-one"}
    editor = shown(qtbot, payload, "")
    assert not editor.json.toPlainText()
    assert (editor.is_valid, editor.is_edited, editor.payload()) == (False, False, None)
    assert editor.reveal_button.isHidden()
    qtbot.waitUntil(lambda: bool(editor.json.toPlainText()), timeout=60_000)
    assert "s3cr3t-one" not in editor.json.toPlainText()
    assert (editor.is_valid, editor.is_edited, editor.payload()) == (True, False, payload)
    editor.json.setPlainText(editor.json.toPlainText().replace('"G7"', '"H7"'))
    assert editor.is_edited
    assert editor.payload() == {**payload, "goods_ids": ["H7" if one == "G7" else one for one in payload["goods_ids"]]}
    editor.show_message("t2", "{}", KIND)
    editor.show_message("t1", json.dumps(payload), KIND)
    assert editor.is_edited, "what was typed waits for it"
    assert (editor.payload(), editor.json.isReadOnly()) == (None, True)
    editor.show_message("t2", "{}", KIND)
    assert (editor.is_edited, editor.json.isReadOnly()) == (False, False)
    editor.show_message("t1", json.dumps(payload), KIND)
    qtbot.waitUntil(lambda: not editor.is_reading, timeout=60_000)
    assert editor.is_edited
    assert '"H7"' in editor.json.toPlainText(), "what was typed is kept"


def test_of_a_message_that_is_too_long_the_beginning_is_shown_and_nothing_can_be_changed(qtbot: QtBot) -> None:
    editor = shown(qtbot, {"rows": [{"name": f"商品 {n}"} for n in range(4_000)]}, "")
    qtbot.waitUntil(lambda: bool(editor.json.toPlainText()), timeout=60_000)
    assert len(editor.json.toPlainText()) == module.MOST_EDITED
    assert editor.json.isReadOnly()
    assert (editor.is_valid, editor.is_edited) == (True, False), "it goes as it is"
    for mode in ("form", "diff"):
        editor.mode.choose(mode)
        assert editor.mode.current() == "json"
    editor.set_read_only(False)
    assert editor.json.isReadOnly()
    editor.show_message("t2", "{}", KIND)
    assert not editor.json.isReadOnly()


@pytest.mark.parametrize("name", ["商品", "two\u00a0words", "two\u2028lines"])
def test_a_message_that_is_too_long_stays_as_it_was_whatever_is_in_it(qtbot: QtBot, name: str) -> None:
    payload = {"rows": [{"name": f"{name} {n}", "token": "s3cr3t-one"} for n in range(4_000)]}
    editor = shown(qtbot, payload, "")
    qtbot.waitUntil(lambda: not editor.is_reading, timeout=60_000)
    assert len(editor.json.toPlainText()) == module.MOST_EDITED
    assert (editor.payload(), editor.is_edited, editor.is_valid) == (payload, False, True)
    editor.revert()
    assert (editor.payload(), editor.is_edited, editor.is_valid) == (payload, False, True)
    editor.reveal("t1")
    assert (editor.payload(), editor.is_edited, editor.is_valid) == (payload, False, True)


def test_blanks_and_line_ends_that_an_editor_changes_leave_a_message_as_it_was(qtbot: QtBot) -> None:
    payload = {"title": "50\u00a0g", "note": "one\u2028two\u2029three\nfour", "low_stock": 5}
    editor = shown(qtbot, payload, "")
    assert (editor.is_edited, editor.is_valid, editor.payload()) == (False, True, payload)
    editor.json.setPlainText(editor.json.toPlainText().replace('"low_stock": 5', '"low_stock": 6'))
    assert (editor.is_edited, editor.payload()) == (True, {**payload, "low_stock": 6})
