"""Strips: errors in their place, never a dialog."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from views.widgets.buttons import LinkLabel
from views.widgets.strip import ErrorStrip, Strip


def test_a_strip_explains(qtbot: QtBot) -> None:
    strip = Strip("blocked")
    qtbot.addWidget(strip)
    strip.add_action(LinkLabel("Close"))
    strip.show_text("for 1 m 48 s", "Publisher is blocked")
    assert strip.isVisible()
    assert strip.accessibleName() == "Publisher is blocked for 1 m 48 s"
    before = strip.grab().toImage()
    strip.set_status("stuck")
    assert strip.grab().toImage() != before


def test_an_error_can_be_retried_and_copied(qtbot: QtBot) -> None:
    strip = ErrorStrip()
    qtbot.addWidget(strip)
    assert strip.isHidden()
    strip.show_error("timed out\nafter 3 s", "the whole trace", lead="Not loaded.")
    assert strip.isVisible()
    assert "timed out …" in strip.accessibleName()
    strip.copy_button.click()
    assert QGuiApplication.clipboard().text() == "the whole trace"
    with qtbot.waitSignal(strip.retry):
        strip.retry_button.click()
    strip.clear()
    assert strip.isHidden()


def test_without_details_the_cause_is_copied(qtbot: QtBot) -> None:
    strip = ErrorStrip()
    qtbot.addWidget(strip)
    strip.show_error("timed out")
    strip.copy_button.click()
    assert QGuiApplication.clipboard().text() == "timed out"
