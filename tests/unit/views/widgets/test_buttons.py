"""Buttons say what they do, by mouse, key and screen reader."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QMenu, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from views.support import safe
from views.support.keys import take_beside
from views.theme import theme
from views.widgets.buttons import KINDS, Button, IconButton, LinkLabel, shortcut_text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("enabled", [True, False])
def test_each_kind_is_drawn_in_both_themes(qtbot: QtBot, kind: str, enabled: bool) -> None:
    button = Button("Retry", kind=kind, icon="ph.arrow-clockwise", hint="R")
    qtbot.addWidget(button)
    button.setEnabled(enabled)
    dark = button.grab().toImage()
    theme().set_mode("light")
    assert button.grab().toImage() != dark


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_keys_press_it(qtbot: QtBot, key: Qt.Key) -> None:
    button = Button("Retry")
    qtbot.addWidget(button)
    with qtbot.waitSignal(button.clicked):
        qtbot.keyClick(button, key)


def test_its_shortcut_works_and_is_told(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    button = Button("New task", shortcut="Ctrl+N", parent=window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    assert button.toolTip() == "New task  (Ctrl+N)"
    with qtbot.waitSignal(button.clicked):
        qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)


def test_a_hint_is_shown_only(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    button = Button("Cancel", hint="Del", parent=window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    with qtbot.assertNotEmitted(button.clicked):
        qtbot.keyClick(window, Qt.Key.Key_Delete)


def test_a_reason_explains_why_it_is_off(qtbot: QtBot) -> None:
    button = Button("Retry", shortcut="R")
    qtbot.addWidget(button)
    button.disable("2 of 3 are not failed")
    assert not button.isEnabled()
    assert button.toolTip() == button.accessibleDescription() == "2 of 3 are not failed"
    button.disable("")
    assert button.isEnabled()
    assert button.toolTip() == "Retry  (R)"


def test_a_glyph_that_is_off_says_what_it_is_and_why(qtbot: QtBot) -> None:
    icon = IconButton("ph.square", "Stop this worker", keys="S", word="Stop")
    qtbot.addWidget(icon)
    icon.disable("Your role may only look")
    assert icon.toolTip() == "Stop this worker\nYour role may only look"
    icon.set_worded(worded=True)
    assert icon.toolTip() == "Your role may only look", "its name stands on it"
    icon.disable("")
    assert icon.toolTip() == "Stop this worker  (S)"


def test_in_a_dialog_the_keyboard_waits_for_a_button_that_is_off_for_a_while(qtbot: QtBot) -> None:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    row = QHBoxLayout(dialog)
    test, leave = Button("Test"), Button("Cancel")
    for button in (test, leave):
        row.addWidget(button)
    left: list[bool] = []
    leave.clicked.connect(lambda: left.append(True))
    with qtbot.waitExposed(dialog):
        dialog.show()
    test.setFocus()
    test.disable("Waiting for an answer")
    assert dialog.focusWidget() is None, "Enter would leave"
    test.disable("Still waiting")
    test.disable("")
    assert dialog.focusWidget() is test
    qtbot.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)
    assert left == []
    test.disable("Waiting for an answer")
    leave.setFocus()
    test.disable("")
    assert dialog.focusWidget() is leave, "whoever went on meanwhile stays there"


def test_on_a_page_the_keyboard_waits_beside_a_button_and_comes_back_with_the_answer(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    row = QHBoxLayout(page)
    verify, export = Button("Verify"), Button("Export")
    for button in (verify, export):
        row.addWidget(button)
    with qtbot.waitExposed(page):
        page.show()
    pressed: list[bool] = []
    export.clicked.connect(lambda: pressed.append(True))
    verify.setFocus()
    verify.wait("All is being read")
    qtbot.keyClick(page.focusWidget(), Qt.Key.Key_Space)
    verify.wait("All is still being read")
    verify.wait("")
    assert page.focusWidget() is verify
    assert pressed == []
    verify.wait("All is being read")
    export.setFocus()
    verify.disable("")
    assert page.focusWidget() is export, "whoever went on meanwhile stays there"


def test_texts_follow_the_language(qtbot: QtBot) -> None:
    button, icon = Button("Retry"), IconButton("ph.x", "Close", keys="Ctrl+W")
    qtbot.addWidget(button)
    qtbot.addWidget(icon)
    i18n.set_language("zh_CN")
    assert button.text() == button.accessibleName() == "重试"
    assert icon.accessibleName() == "关闭"
    assert icon.toolTip() == "关闭  (Ctrl+W)"
    button.set_count_text("重新发布 51 个任务")
    i18n.set_language("en")
    assert button.text() == "重新发布 51 个任务"
    button.set_source("Close")
    assert button.text() == "Close"


def test_where_it_is_narrow_the_key_goes_first(qtbot: QtBot) -> None:
    button = Button("Retry", hint="Ctrl+R")
    qtbot.addWidget(button)
    assert button.minimumSizeHint().width() < button.sizeHint().width()
    assert button.minimumSizeHint().width() == Button("Retry").sizeHint().width()


def test_heights_are_those_of_the_design(qtbot: QtBot) -> None:
    for button, height in ((Button("x"), 28), (Button("x", small=True), 24)):
        qtbot.addWidget(button)
        button.resize(button.sizeHint())
        assert button.height() == 28, "so high is what the mouse finds"
        picture, middle = button.grab().toImage(), button.width() // 2
        edge = [y for y in range(button.height()) if picture.pixelColor(middle, y) != picture.pixelColor(0, 0)]
        assert edge[-1] - edge[0] + 1 == height
    for button, height in ((IconButton("ph.x", "Close"), 28), (LinkLabel("Open"), 24)):
        qtbot.addWidget(button)
        assert button.sizeHint().height() == height


def test_a_menu_opens(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    button, menu = Button("More"), QMenu()
    qtbot.addWidget(button)
    qtbot.addWidget(menu)
    opened: list[object] = []
    monkeypatch.setattr(menu, "popup", opened.append)
    plain = button.sizeHint().width()
    button.set_menu(menu)
    button.click()
    assert opened
    assert button.sizeHint().width() > plain
    button.grab()


def test_links_tell_without_a_flag(qtbot: QtBot) -> None:
    link = LinkLabel("Close")
    qtbot.addWidget(link)
    with qtbot.waitSignal(link.activated) as signal:
        link.click()
    assert signal.args == []


def test_focus_hover_and_looks_can_be_seen(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    row = QHBoxLayout(window)
    first, button = Button("Retry"), Button("Close")
    row.addWidget(first)
    row.addWidget(button)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    first.setFocus()
    plain = button.grab().toImage()
    button.setFocus()
    focused = button.grab().toImage()
    assert focused != plain
    button.set_kind("danger")
    button.set_glyph("ph.prohibit")
    assert button.kind == "danger"
    assert button.grab().toImage() != focused
    qtbot.mouseMove(button)
    qtbot.mouseMove(first)


@pytest.mark.parametrize(("keys", "shown"), [("Ctrl+N", "Ctrl+N"), ("Ctrl+Return", "Ctrl+Enter"), ("R", "R")])
def test_chips(keys: str, shown: str) -> None:
    assert shortcut_text(keys) == shown


def test_a_link_says_that_it_is_clicked_with_ctrl_while_it_is(qtbot: QtBot) -> None:
    link = LinkLabel("Show")
    qtbot.addWidget(link)
    asked: list[bool] = []
    link.activated.connect(lambda: asked.extend((take_beside(), take_beside())))
    left, ctrl = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier
    qtbot.mouseClick(link, left, ctrl)
    assert asked == [True, False], "one window for one click"
    qtbot.mouseClick(link, left)
    qtbot.keyClick(link, Qt.Key.Key_Return, ctrl)
    assert asked[2:] == [False] * 4
    link.activated.disconnect()
    qtbot.mouseClick(link, left, ctrl)
    assert not take_beside(), "a click that leads nowhere is forgotten"


def test_the_key_of_one_that_is_off_says_why(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    button = Button("New task", shortcut="Ctrl+N", parent=window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    for reason in ("", "Your role may only look"):
        button.disable(reason)
        with qtbot.waitSignal(button.clicked, raising=not reason, timeout=2000 if not reason else 50) as pressed:
            qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        assert (QToolTip.text(), pressed.signal_triggered) == (reason and safe.tooltip(reason), not reason)
    button.hide()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.text())
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert not QToolTip.text(), "what is not seen is not told of"
