"""The frame of every dialog."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QMoveEvent, QWindow
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from views.dialogs.frame import DialogFrame


def test_a_dialog_that_grows_stays_on_the_screen(qtbot: QtBot) -> None:
    """Else its buttons are where nobody can press them."""
    window = QWidget()
    qtbot.addWidget(window)
    room = window.screen().availableGeometry()
    window.setGeometry(room)
    window.show()
    dialog = DialogFrame("New schedule", parent=window)
    dialog.set_width(400)
    dialog.end_with_save(dialog.accept)
    form, preview = QWidget(), QWidget()
    form.setFixedHeight(room.height() // 2)
    preview.setFixedHeight(room.height() // 4)
    for part in (form, preview):
        dialog.body.addWidget(part)
    preview.hide()
    dialog.open()
    qtbot.waitExposed(dialog)
    before = dialog.height()
    preview.show()
    qtbot.waitUntil(lambda: dialog.height() > before)
    assert room.contains(dialog.frameGeometry())


def test_a_click_on_the_head_does_not_move_a_dialog_and_a_drag_does(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = DialogFrame("New schedule")
    qtbot.addWidget(dialog)
    dialog.set_width(400)
    dialog.end_with_save(dialog.accept)
    dialog.show()
    qtbot.waitExposed(dialog)
    moved: list[bool] = []
    monkeypatch.setattr(QWindow, "startSystemMove", lambda _window: moved.append(True))
    head = dialog.childAt(200, 20)
    qtbot.mouseClick(head, Qt.MouseButton.LeftButton)
    assert moved == []
    qtbot.mousePress(head, Qt.MouseButton.LeftButton)
    place = QPointF(30, 24)
    drawn = QMouseEvent(
        QEvent.Type.MouseMove, place, head.mapToGlobal(place), Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(head, drawn)
    assert moved == [True]


def test_a_dialog_that_is_told_the_corner_of_the_screen_as_it_opens_stays_in_the_middle(qtbot: QtBot) -> None:
    """Some window managers of X11 say so of one that is seen elsewhere: its lists would drop down there."""
    window = QWidget()
    qtbot.addWidget(window)
    window.setGeometry(100, 80, 600, 400)
    window.show()
    told: list[QPoint] = []

    class Recorded(DialogFrame):
        def moveEvent(self, event: QMoveEvent) -> None:
            told.append(event.pos())
            super().moveEvent(event)

    dialog = Recorded("Quiet hours", parent=window)
    dialog.set_width(400)
    dialog.end_with_save(dialog.accept)
    dialog.open()
    qtbot.waitExposed(dialog)
    asked, corner = dialog.pos(), dialog.screen().geometry().topLeft()
    assert asked != corner
    told.clear()
    dialog.windowHandle().setPosition(corner)
    qtbot.waitUntil(lambda: corner in told and dialog.pos() == asked)
