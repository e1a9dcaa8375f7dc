"""A document in a panel, of whatever length."""

from __future__ import annotations

import json

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.text.mask import DOTS
from services.monitor.log_files import Logged
from tests.support.widgets import find
from views.pages.logs.panel import LogPanel
from views.pages.tasks.panel.detail import PayloadSection
from views.widgets import document_section as module
from views.widgets.buttons import Button, IconButton
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
    assert section.part.text() == f"first 60,000 of {len(section.document):,} characters"
    assert section.document.startswith(section.editor.toPlainText()[:-1])
    assert "s3cr3t-one" not in section.document
    assert [row["name"] for row in json.loads(section.document)] == [row["name"] for row in rows]


def test_of_a_line_too_long_to_be_laid_out_only_the_beginning_is_shown(qtbot: QtBot) -> None:
    section = shown(qtbot)
    section.show_json("错误信息" * 250_000)
    qtbot.waitUntil(lambda: bool(section.document), timeout=60_000)
    assert section.editor.toPlainText() == "错误信息" * 1_000 + "…"
    assert section.part.text() == "first 4,000 of 1,000,000 characters"
    assert len(section.document) == 1_000_000, "all of it can be copied"


def test_what_stands_behind_a_line_too_long_to_be_laid_out_is_shown_all_the_same(qtbot: QtBot) -> None:
    section = shown(qtbot)
    section.show_json(json.dumps({"page": "x" * 7_000, "after": 1}))
    assert section.editor.toPlainText().endswith('xxx…\n  "after": 1\n}')
    total = len(section.document)
    assert section.part.text() == f"{total - 3_013:,} of {total:,} characters, of a line 4,000 at most"


def test_one_that_is_wanted_no_more_is_not_shown_instead_of_the_next(qtbot: QtBot) -> None:
    section = shown(qtbot)
    section.show_json(json.dumps({"words": "x" * 500_000}))
    section.show_json('{"page": 2}')
    assert json.loads(section.editor.toPlainText()) == {"page": 2}
    later = shown(qtbot)
    later.show_json(json.dumps({"words": "y" * 500_000}))
    qtbot.waitUntil(lambda: bool(later.document), timeout=60_000)
    assert json.loads(section.editor.toPlainText()) == {"page": 2}


def test_how_much_of_it_is_shown_is_said_beside_the_note_of_who_shows_it_and_in_the_language_of_the_moment(
    qtbot: QtBot,
) -> None:
    section = shown(qtbot)
    section.show_json(json.dumps({"words": "x" * 70_000}))
    section.set_note("schema v3")
    assert section.part.isHidden()
    qtbot.waitUntil(lambda: bool(section.document), timeout=60_000)
    assert section.note() == "schema v3"
    section.set_note("schema v4")
    assert section.part.text() == "first 4,002 of 70,017 characters"
    i18n.set_language("zh_CN")
    assert section.part.text() == "共 70,017 个字符，显示前 4,002 个"
    assert not section.part.isHidden()
    section.show_json("{}")
    assert section.part.isHidden()
    assert section.note() == "schema v4"


def test_one_that_is_still_read_is_not_copied(qtbot: QtBot) -> None:
    section, button = shown(qtbot), Button("Copy")
    qtbot.addWidget(button)
    section.copied_by(button)
    QGuiApplication.clipboard().setText("kept")
    section.show_json(json.dumps({"words": "x" * 70_000}))
    button.click()
    assert QGuiApplication.clipboard().text() == "kept"
    assert (button.isEnabled(), button.toolTip()) == (False, "It is still being read")
    i18n.set_language("zh_CN")
    assert button.toolTip() == "仍在读取"
    qtbot.waitUntil(button.isEnabled, timeout=60_000)
    button.click()
    assert json.loads(QGuiApplication.clipboard().text()) == {"words": "x" * 70_000}
    section.show_json(json.dumps({"words": "y" * 70_000}))
    section.show_json("{}")
    button.click()
    assert QGuiApplication.clipboard().text() == "{}"


@pytest.mark.parametrize("place", ["payload of a task", "line of a log"])
def test_the_copy_button_beside_it_waits_for_it(qtbot: QtBot, place: str) -> None:
    words = "x" * 70_000
    if place == "payload of a task":
        section = PayloadSection()
        qtbot.addWidget(section)
        button: Button = find(section, IconButton, "Copy the payload")
        section.show_json(json.dumps({"text": words}))
    else:
        panel = LogPanel()
        qtbot.addWidget(panel)
        button = panel.copy_button
        panel.show_row(Logged("1", "worker", 0, {"level": "info", "text": words}))
    QGuiApplication.clipboard().setText("kept")
    button.click()
    assert QGuiApplication.clipboard().text() == "kept"
    qtbot.waitUntil(button.isEnabled, timeout=60_000)
    button.click()
    assert json.loads(QGuiApplication.clipboard().text())["text"] == words
