"""The operator's guide in the window: in the language of the moment, with its pictures, from page to page."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import i18n
from services.cli.window import SITEMAP
from services.domain.errors import NotFound
from services.monitor import guide
from views.dialogs.guide import GuideDialog, PageView


def opened(console: Console, qtbot: QtBot) -> GuideDialog:
    console.window.activateWindow()
    qtbot.keyClick(console.window, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)
    (dialog,) = console.window.findChildren(GuideDialog)
    qtbot.waitUntil(lambda: bool(dialog.view.toPlainText()), timeout=30_000)
    return dialog


def test_it_leads_from_page_to_page_and_back(console: Console, qtbot: QtBot) -> None:
    dialog = opened(console, qtbot)
    assert dialog.view.toPlainText().startswith("The operator's guide")
    assert not dialog.back_button.isEnabled()
    dialog.view.anchorClicked.emit(QUrl("alerts.md"))
    qtbot.waitUntil(lambda: dialog.view.toPlainText().startswith("Alerts"), timeout=30_000)
    dialog.view.anchorClicked.emit(QUrl("https://example.com/"))
    assert dialog.page == "resources/docs/alerts.md"
    dialog.back_button.click()
    qtbot.waitUntil(lambda: dialog.view.toPlainText().startswith("The operator's guide"), timeout=30_000)
    dialog.reject()


def test_it_speaks_the_language_of_the_window(console: Console, qtbot: QtBot) -> None:
    i18n.set_language("zh_CN")
    dialog = opened(console, qtbot)
    assert dialog.view.toPlainText().startswith("操作员指南")
    dialog.reject()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_f1_opens_what_is_written_of_the_page_that_is_seen(console: Console, qtbot: QtBot, language: str) -> None:
    i18n.set_language(language)
    console.window.open_page("dead_letters")
    console.window.activateWindow()
    qtbot.keyClick(console.window, Qt.Key.Key_F1)
    (dialog,) = console.window.findChildren(GuideDialog)
    title = console.window.page("dead_letters").title
    qtbot.waitUntil(lambda: dialog.view.part_shown() == title, timeout=30_000)
    assert dialog.view.verticalScrollBar().value() > 0
    dialog.back_button.click()
    qtbot.waitUntil(lambda: dialog.page == guide.first(language) and not dialog.view.part_shown(), timeout=30_000)
    dialog.reject()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_page_of_the_window_is_written_of(language: str) -> None:
    i18n.set_language(language)
    written = re.findall(r"^## (.+)$", guide.read(guide.of_pages(language)).text, re.MULTILINE)
    assert written == [i18n._(line.title) for line in SITEMAP]


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_the_heading_that_is_meant_is_seen_and_marked_wherever_it_stands(qtbot: QtBot, language: str) -> None:
    i18n.set_language(language)
    view, page = PageView(), guide.read(guide.of_pages(language))
    qtbot.addWidget(view)
    view.resize(900, 600)
    view.show()
    for line in SITEMAP:
        title = i18n._(line.title)
        view.show_page(page, guide.mark(title))
        assert view.part_shown() == title
        assert view.viewport().rect().contains(view.cursorRect().center()), title
        (mark,) = view.extraSelections()
        assert mark.cursor.block().text() == title
    view.show_page(page)
    assert view.extraSelections() == []


def test_its_pictures_are_shown_and_nothing_else_is_loaded(console: Console, qtbot: QtBot) -> None:
    dialog = opened(console, qtbot)
    picture = dialog.view.loadResource(0, QUrl("../images/guide-tasks.png"))
    assert isinstance(picture, QImage)
    assert 0 < picture.width() <= dialog.view.viewport().width()
    assert dialog.view.loadResource(0, QUrl.fromLocalFile("/etc/hosts")) is None
    assert dialog.view.loadResource(0, QUrl("http://127.0.0.1:1/x.png")) is None
    dialog.reject()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_picture_of_it_is_there(language: str) -> None:
    page = guide.read(guide.first(language))
    assert set(page.pictures) == set(re.findall(r"\]\((\S+\.png)\)", page.text))
    assert all(picture.startswith(b"\x89PNG") for picture in page.pictures.values())


@pytest.mark.parametrize(
    ("link", "page"),
    [
        ("alerts.md", "resources/docs/alerts.md"),
        ("recovery.md#when-it-is-over", "resources/docs/recovery.md"),
        ("../../README.md#read-on", "README.md"),
        ("../deploy/README.md", "resources/deploy/README.md"),
        ("#words", ""),
        ("https://example.com/a.md", ""),
        ("../../../../etc/passwd", ""),
        ("../../tests/none.md", ""),
    ],
)
def test_links_lead_to_pages_of_ours_alone(link: str, page: str) -> None:
    assert guide.target("resources/docs/guide.md", link) == page


@pytest.mark.parametrize("name", ["/etc/hosts", "../outside.md", "resources/docs/none.md", "pyproject.toml"])
def test_what_is_no_page_is_not_read(name: str) -> None:
    with pytest.raises(NotFound):
        guide.read(name)


def test_a_chinese_sentence_over_two_lines_gets_no_blank() -> None:
    text = "不能更改任何\n东西，\n  也不能\n- 一条\nEsc 键\n\n段落\n\n```\n甲\n乙\n```\n"
    assert guide.flowing(text) == "不能更改任何东西，也不能\n- 一条\nEsc 键\n\n段落\n\n```\n甲\n乙\n```\n"
    assert guide.flowing("two\nlines") == "two\nlines"
    assert guide.flowing("点一下打开。\n**撤销**\n从记录，\n[详见](a.md)") == "点一下打开。**撤销**从记录，[详见](a.md)"
    assert guide.flowing("所谓\n**“是”**\n不是\n* 一条") == "所谓\n**“是”**\n不是\n* 一条", (
        "else the asterisks are seen"
    )


@pytest.mark.parametrize(("language", "slanted"), [("en", True), ("zh_CN", False)])
def test_chinese_words_are_emphasized_by_weight_and_never_slanted(qtbot: QtBot, language: str, slanted: bool) -> None:
    i18n.set_language(language)
    view = PageView()
    qtbot.addWidget(view)
    view.show_page(guide.read(guide.of_pages(language)))
    assert ("font-style:italic" in view.document().toHtml()) is slanted
