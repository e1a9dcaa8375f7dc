"""Widgets hear of a new language until they die."""

from __future__ import annotations

from typing import ClassVar

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from services import i18n
from views.support.language import on_language_changed
from views.support.offers import offer
from views.theme import theme
from views.widgets.buttons import shortcut_text


class Listener(QObject):
    heard: ClassVar[list[tuple[str, int]]] = []

    def hear(self) -> None:
        Listener.heard.append((i18n.language(), theme().font("caption").pixelSize()))


def test_fonts_change_before_words(qtbot: QtBot) -> None:
    Listener.heard = []
    listener = Listener()
    on_language_changed(listener.hear)
    i18n.set_language("zh_CN")
    assert Listener.heard == [("zh_CN", 12)]
    listener.deleteLater()
    del listener
    qtbot.wait(1)
    i18n.set_language("en")
    assert len(Listener.heard) == 1


@pytest.mark.parametrize("speaks", ["en", "zh_CN"])
def test_a_menu_names_a_key_as_its_button_does(qtbot: QtBot, speaks: str) -> None:
    i18n.set_language(speaks)
    menu = QMenu()
    qtbot.addWidget(menu)
    for keys in ("tasks.run_now", "window.refresh", "Alt+Left", "Del"):
        shown = offer(menu, "Do it", menu.close, keys=keys).shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        assert shown == shortcut_text(keys)
    assert shortcut_text("tasks.run_now") in ("Ctrl+Enter", "⌘Enter", "⌘↩")
    undo = QCoreApplication.translate("QWidgetTextControl", "&Undo")
    assert ("撤" in undo) == (speaks == "zh_CN"), "Qt's other words are still there"
