"""Helpers for the look of widgets."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from views.support.look import Label, line, panel, set_look
from views.theme import theme


def test_labels_never_guess_markup(qtbot: QtBot) -> None:
    label = Label("<b>x</b>", wrap=True)
    qtbot.addWidget(label)
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert label.wordWrap()


def test_labels_follow_the_theme(qtbot: QtBot) -> None:
    label = Label("x", "page", "text2")
    qtbot.addWidget(label)
    label.ensurePolished()
    dark = label.palette().color(label.foregroundRole())
    theme().set_mode("light")
    assert label.palette().color(label.foregroundRole()) != dark
    label.set_tone("dead")
    assert label.palette().color(label.foregroundRole()) == theme().color("dead")
    label.set_kind("caption")
    assert label.font().pixelSize() == 11


def test_looks_are_set_once(qtbot: QtBot) -> None:
    frame = panel("card")
    qtbot.addWidget(frame)
    set_look(frame, panel="raised", small=True)
    set_look(frame, panel="raised")
    assert frame.property("panel") == "raised"


def test_lines(qtbot: QtBot) -> None:
    for direction in ("h", "v"):
        widget = line(direction)
        qtbot.addWidget(widget)
        assert widget.property("line") == direction
