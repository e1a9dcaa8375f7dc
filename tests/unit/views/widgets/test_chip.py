"""Chips by mouse and key."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from views.widgets.filter.chip import ChipView


@pytest.fixture
def chip(qtbot: QtBot) -> ChipView:
    chip = ChipView()
    qtbot.addWidget(chip)
    chip.show_value("Status", "Running, Retrying", (("ph.play-circle-fill", "running"),))
    chip.resize(chip.sizeHint())
    chip.show()
    return chip


def test_a_click_opens_and_the_cross_removes(qtbot: QtBot, chip: ChipView) -> None:
    with qtbot.waitSignal(chip.opened):
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton, pos=QPoint(10, 10))
    with qtbot.waitSignal(chip.removed):
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton, pos=QPoint(chip.width() - 12, 10))
    with qtbot.assertNotEmitted(chip.opened):
        qtbot.mouseClick(chip, Qt.MouseButton.RightButton)


@pytest.mark.parametrize(
    ("key", "signal"), [(Qt.Key.Key_Space, "opened"), (Qt.Key.Key_Backspace, "removed"), (Qt.Key.Key_Delete, "removed")]
)
def test_keys(qtbot: QtBot, chip: ChipView, key: Qt.Key, signal: str) -> None:
    with qtbot.waitSignal(getattr(chip, signal)):
        qtbot.keyClick(chip, key)


def test_it_says_what_it_means(chip: ChipView) -> None:
    assert chip.accessibleName() == "Status is Running, Retrying"
    chip.show_value("Status", "Dead", negated=True)
    assert chip.accessibleName() == "Status is not Dead"
    chip.show_offer("Shop")
    assert chip.is_offer
    assert chip.accessibleName() == "Add filter: Shop"


def test_an_offer_cannot_be_removed(qtbot: QtBot, chip: ChipView) -> None:
    chip.show_offer("Shop")
    with qtbot.assertNotEmitted(chip.removed):
        qtbot.keyClick(chip, Qt.Key.Key_Delete)
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton, pos=QPoint(chip.width() - 12, 10))


def test_long_values_are_cut_when_it_is_narrow(chip: ChipView) -> None:
    chip.show_value("Shop", "a name that goes on and on and on for ever and ever, amen")
    assert chip.sizeHint().width() < 330
    assert chip.minimumSizeHint().width() < chip.sizeHint().width()
    chip.resize(chip.minimumSizeHint())
    chip.setFocus()
    chip.grab()
