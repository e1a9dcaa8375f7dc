"""One of a few."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services import i18n
from views.widgets.segmented import Segmented


@pytest.fixture
def control(qtbot: QtBot) -> Segmented:
    control = Segmented((("a", "Retry"), ("b", "Close"), ("c", "More")), "Filter")
    qtbot.addWidget(control)
    control.show()
    return control


def test_a_click_chooses(qtbot: QtBot, control: Segmented) -> None:
    with qtbot.waitSignal(control.chosen) as signal:
        qtbot.mouseClick(control, Qt.MouseButton.LeftButton, pos=control.segment_rect(2).center())
    assert signal.args == ["c"]
    assert control.current() == "c"
    with qtbot.assertNotEmitted(control.chosen):
        qtbot.mouseClick(control, Qt.MouseButton.LeftButton, pos=control.segment_rect(2).center())


def test_arrows_move_and_stop_at_the_ends(qtbot: QtBot, control: Segmented) -> None:
    for key, current in (
        (Qt.Key.Key_Left, "a"),
        (Qt.Key.Key_Right, "b"),
        (Qt.Key.Key_Right, "c"),
        (Qt.Key.Key_Right, "c"),
    ):
        qtbot.keyClick(control, key)
        assert control.current() == current
    qtbot.keyClick(control, Qt.Key.Key_Home)


def test_setting_is_silent(qtbot: QtBot, control: Segmented) -> None:
    with qtbot.assertNotEmitted(control.chosen):
        control.set_current("b")
        control.set_current("nobody")
    assert control.current() == "b"
    assert control.accessibleDescription() == "Close"


def test_counts_and_language(control: Segmented) -> None:
    before = control.sizeHint().width()
    control.set_suffix("a", "143")
    control.set_suffix("a", "143")
    assert control.labels()[0] == "Retry 143"
    assert control.sizeHint().width() > before
    i18n.set_language("zh_CN")
    assert control.labels()[0] == "重试 143"
    assert control.accessibleName() == "筛选"


def test_it_can_fill_the_room_and_show_glyphs(qtbot: QtBot) -> None:
    control = Segmented(
        (("h", "High", "ph.caret-double-up-bold", "lane.high"), ("l", "Low", "ph.minus", "")), stretch=True
    )
    qtbot.addWidget(control)
    control.resize(501, 28)
    assert control.segment_rect(1).right() == 500
    enabled = control.grab().toImage()
    control.setEnabled(False)
    assert control.grab().toImage() != enabled


def test_hover_and_focus_are_drawn(qtbot: QtBot, control: Segmented) -> None:
    plain = control.grab().toImage()
    qtbot.mouseMove(control, control.segment_rect(1).center())
    hovered = control.grab().toImage()
    assert hovered != plain
    QApplication.sendEvent(control, QEvent(QEvent.Type.Leave))
    with qtbot.waitActive(control):
        control.activateWindow()
    control.clearFocus()
    plain = control.grab().toImage()
    control.setFocus()
    assert control.grab().toImage() != plain
