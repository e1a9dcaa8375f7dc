"""Strips: errors in their place, never a dialog."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
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


def place(strip: Strip, label: QLabel) -> QRect:
    """Where a label lies in its strip."""
    return QRect(label.mapTo(strip, QPoint(0, 0)), label.size())


@pytest.mark.parametrize("stacked", [False, True])
def test_lines_keep_clear_of_the_edge_and_the_glyph_stands_at_the_first(qtbot: QtBot, stacked: bool) -> None:
    strip = Strip("healthy", stacked=stacked)
    qtbot.addWidget(strip)
    strip.show_text("Tasks of this type have succeeded there since.\nNo work would be done twice.\nGo on.", "Now")
    strip.resize(360, strip.heightForWidth(360))
    strip.show()
    labels = {label.text(): label for label in strip.findChildren(QLabel) if label.isVisible()}
    glyph, lead = place(strip, labels.pop("")), place(strip, labels.pop("Now"))
    (told,) = (place(strip, label) for label in labels.values())
    line = strip.fontMetrics().height()
    assert told.height() >= 3 * line
    assert min(lead.top(), told.top()) >= 10
    assert strip.height() - told.bottom() > 10
    assert abs(glyph.center().y() - (lead.top() + line / 2)) <= 3
    assert (told.top() >= lead.bottom()) == stacked


def test_one_line_stands_in_the_middle(qtbot: QtBot) -> None:
    strip = Strip("warning")
    qtbot.addWidget(strip)
    strip.show_text("Nobody is told.")
    strip.resize(400, strip.sizeHint().height())
    strip.show()
    assert strip.height() == 40
    assert all(abs(place(strip, one).center().y() - 20) <= 2 for one in strip.findChildren(QLabel) if one.isVisible())


def test_words_stand_in_the_middle_of_room_that_is_kept_for_more(qtbot: QtBot) -> None:
    strip = Strip("warning", lines=2)
    qtbot.addWidget(strip)
    strip.resize(400, strip.minimumHeight())
    strip.show()
    for sentence, lines in (("Must be logged in.", 1), ("Must be logged in, since nobody did. " * 2, 2), ("Short.", 1)):
        strip.show_text(sentence)
        assert strip.height() == strip.minimumHeight()
        (told,) = (one for one in strip.findChildren(QLabel) if one.text() == sentence)
        (glyph,) = (one for one in strip.findChildren(QLabel) if not one.pixmap().isNull())
        line = told.fontMetrics().height()

        def centred(told: QLabel = told, tall: float = lines * line) -> bool:
            return abs(place(strip, told).top() + tall / 2 - strip.height() / 2) <= 2

        qtbot.waitUntil(centred)
        assert abs(place(strip, glyph).center().y() - place(strip, told).top() - line / 2) <= 2, sentence
