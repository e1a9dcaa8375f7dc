"""Marks on lines of a text: a ground in a colour, a wave below what is wrong."""

from __future__ import annotations

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextDocument, QTextFormat
from PySide6.QtWidgets import QTextEdit

from views.theme import theme


def ground(document: QTextDocument, line: int, colour: QColor) -> QTextEdit.ExtraSelection | None:
    """A line (1-based) on a ground of its whole width; None where there is no such line."""
    block = document.findBlockByNumber(line - 1)
    if not block.isValid():
        return None
    mark = QTextEdit.ExtraSelection()
    style = QTextCharFormat()
    style.setBackground(colour)
    style.setProperty(QTextFormat.Property.FullWidthSelection, True)
    mark.format = style
    mark.cursor = QTextCursor(block)
    return mark


def wave(document: QTextDocument, line: int) -> QTextEdit.ExtraSelection | None:
    """A wave below the text of a line (1-based), without its indentation; None where there is no such line."""
    block = document.findBlockByNumber(line - 1)
    if not block.isValid():
        return None
    text = block.text()
    mark = QTextEdit.ExtraSelection()
    style = QTextCharFormat()
    style.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
    style.setUnderlineColor(theme().color("dead"))
    cursor = QTextCursor(block)
    cursor.setPosition(block.position() + len(text) - len(text.lstrip()))
    cursor.setPosition(block.position() + len(text.rstrip()), QTextCursor.MoveMode.KeepAnchor)
    mark.format, mark.cursor = style, cursor
    return mark
