"""Widgets hear of a new language until they die."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from services import i18n
from views.support.language import on_language_changed
from views.theme import theme


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
