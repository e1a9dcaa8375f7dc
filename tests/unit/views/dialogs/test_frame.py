"""The frame of every dialog."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget
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
