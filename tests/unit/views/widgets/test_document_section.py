"""A document in a panel, of whatever length."""

from __future__ import annotations

import json

from pytestqt.qtbot import QtBot

from services.domain.text.mask import DOTS
from views.widgets import document_section as module
from views.widgets.document_section import DocumentSection
from views.widgets.json.highlighter import PLAIN_ABOVE


def shown(qtbot: QtBot) -> DocumentSection:
    section = DocumentSection("Payload")
    qtbot.addWidget(section)
    return section


def test_a_short_one_stands_there_at_once_with_its_secrets_as_dots(qtbot: QtBot) -> None:
    section = shown(qtbot)
    section.show_json('{"page": 1, "password": "hunter2"}')
    assert json.loads(section.editor.toPlainText()) == {"page": 1, "password": DOTS}
    assert section.editor.blockCount() == 4
    assert (section.note(), section.document) == ("", section.editor.toPlainText())


def test_what_is_no_json_stands_as_it_is(qtbot: QtBot) -> None:
    section = shown(qtbot)
    section.show_json("{page: 1")
    assert section.editor.toPlainText() == "{page: 1"
    assert section.editor.is_valid


def test_of_a_long_one_only_the_beginning_is_laid_out_and_all_can_be_copied(qtbot: QtBot) -> None:
    section, rows = shown(qtbot), [{"name": f"商品 {n}", "token": "s3cr3t-one"} for n in range(6_000)]
    stored = json.dumps(rows, ensure_ascii=False)
    assert len(stored) > 200_000
    section.show_json(stored)
    assert section.editor.toPlainText() == "", "it is read elsewhere"
    qtbot.waitUntil(lambda: bool(section.document), timeout=60_000)
    assert len(section.editor.toPlainText()) == module.SHOWN + 1 > PLAIN_ABOVE
    assert section.note()
    assert section.document.startswith(section.editor.toPlainText()[:-1])
    assert "s3cr3t-one" not in section.document
    assert [row["name"] for row in json.loads(section.document)] == [row["name"] for row in rows]


def test_one_that_is_wanted_no_more_is_not_shown_instead_of_the_next(qtbot: QtBot) -> None:
    section = shown(qtbot)
    section.show_json(json.dumps({"words": "x" * 500_000}))
    section.show_json('{"page": 2}')
    assert json.loads(section.editor.toPlainText()) == {"page": 2}
    later = shown(qtbot)
    later.show_json(json.dumps({"words": "y" * 500_000}))
    qtbot.waitUntil(lambda: bool(later.document), timeout=60_000)
    assert json.loads(section.editor.toPlainText()) == {"page": 2}
