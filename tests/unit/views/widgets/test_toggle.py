"""Switches."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from services import i18n
from views.widgets.toggle import Toggle


def test_it_switches_by_mouse_and_key(qtbot: QtBot) -> None:
    toggle = Toggle("Retry")
    qtbot.addWidget(toggle)
    toggle.show()
    off = toggle.grab().toImage()
    with qtbot.waitSignal(toggle.toggled) as signal:
        qtbot.mouseClick(toggle, Qt.MouseButton.LeftButton)
    assert signal.args == [True]
    assert toggle.grab().toImage() != off
    qtbot.keyClick(toggle, Qt.Key.Key_Space)
    assert not toggle.isChecked()
    toggle.setEnabled(False)
    toggle.grab()


def test_it_is_named_and_large_enough_to_hit(qtbot: QtBot) -> None:
    toggle = Toggle("Retry", on=True)
    qtbot.addWidget(toggle)
    i18n.set_language("zh_CN")
    assert toggle.accessibleName() == "重试"
    assert toggle.sizeHint().height() >= 24
