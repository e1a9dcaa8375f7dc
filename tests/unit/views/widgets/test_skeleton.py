"""Skeleton rows come late and leave at once."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from views.widgets.skeleton import Skeleton


def test_they_come_only_when_it_takes_long(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    skeleton = Skeleton(parent=window)
    window.show()
    skeleton.begin()
    assert not skeleton.isVisible()
    skeleton.end()
    skeleton._timer.setInterval(1)
    skeleton.begin()
    qtbot.waitUntil(skeleton.isVisible)
    skeleton.begin()
    skeleton.grab()
    skeleton.end()
    assert not skeleton.isVisible()
