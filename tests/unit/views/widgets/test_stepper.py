"""Small numbers."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from views.widgets.stepper import Stepper


@pytest.fixture
def stepper(qtbot: QtBot) -> Stepper:
    stepper = Stepper("Slots", 3, 1, 4)
    qtbot.addWidget(stepper)
    stepper.show()
    return stepper


def test_sides_step_and_stop_at_the_bounds(qtbot: QtBot, stepper: Stepper) -> None:
    right, left = QPoint(stepper.width() - 5, 10), QPoint(5, 10)
    with qtbot.waitSignal(stepper.value_changed) as signal:
        qtbot.mouseClick(stepper, Qt.MouseButton.LeftButton, pos=right)
    assert signal.args == [4]
    with qtbot.assertNotEmitted(stepper.value_changed):
        qtbot.mouseClick(stepper, Qt.MouseButton.LeftButton, pos=right)
        qtbot.mouseClick(stepper, Qt.MouseButton.LeftButton, pos=stepper.rect().center())
    for _ in range(9):
        qtbot.mouseClick(stepper, Qt.MouseButton.LeftButton, pos=left)
    assert stepper.value() == 1


@pytest.mark.parametrize(("key", "value"), [(Qt.Key.Key_Up, 4), (Qt.Key.Key_Minus, 2), (Qt.Key.Key_Home, 3)])
def test_keys_step(qtbot: QtBot, stepper: Stepper, key: Qt.Key, value: int) -> None:
    qtbot.keyClick(stepper, key)
    assert stepper.value() == value


def test_the_wheel_is_left_to_the_page(stepper: Stepper) -> None:
    event = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(0, 120), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(stepper, event)
    assert not event.isAccepted()
    assert stepper.value() == 3


def test_setting_is_silent_and_keeps_the_bounds(qtbot: QtBot, stepper: Stepper) -> None:
    with qtbot.assertNotEmitted(stepper.value_changed):
        stepper.set_value(99)
        assert stepper.value() == 4
    assert stepper.accessibleName() == "Slots: 4"


def test_hover_is_drawn(qtbot: QtBot, stepper: Stepper) -> None:
    plain = stepper.grab().toImage()
    qtbot.mouseMove(stepper, QPoint(5, 10))
    assert stepper.grab().toImage() != plain
    QApplication.sendEvent(stepper, QEvent(QEvent.Type.Leave))
    assert stepper.grab().toImage() == plain
    stepper.setEnabled(False)
    stepper.grab()
