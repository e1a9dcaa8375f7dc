"""A JSON editor: line numbers, colours, errors shown at their line while typing.

    editor = JsonEditor(N_("Payload"))
    editor.set_validator(lambda document: [Problem(line=0, text="page_size: 100 at most", path=("page_size",))])
    editor.validity_changed.connect(button.setEnabled)
    editor.document_value()          # the parsed value, or None while it cannot be parsed

A problem names its line (1-based), or its path in the document, and the editor finds the line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip, QWidget

from services.i18n import _
from views.support import safe, text
from views.support.keys import pressed
from views.support.language import on_language_changed
from views.support.throttle import Debounce
from views.theme import theme
from views.widgets.json.highlighter import JsonHighlighter, is_coloured
from views.widgets.json.problems import Problem, Validator, check, line_of


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


_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
VALIDATE_MS = 200


class _Gutter(QWidget):
    """Line numbers and error glyphs beside the text."""

    def __init__(self, editor: JsonEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_gutter(event)


class JsonEditor(QPlainTextEdit):
    """A plain text editor for one JSON document.

    Signals:
        validity_changed: whether the text is valid JSON and passes the validator.
        edited: the text differs from what was loaded (True) or equals it again (False).
    """

    validity_changed = Signal(bool)
    edited = Signal(bool)

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self._name = name
        self._validator: Validator | None = None
        self._problems: tuple[Problem, ...] = ()
        self._remarks: tuple[Problem, ...] = ()
        self._loaded = ""
        self._was_edited = False
        self._was_valid = True
        self._value: Any = None
        self._judged = True  #: whether it is to be JSON
        self._highlighter = JsonHighlighter(self.document())
        self._gutter = _Gutter(self)
        self._check = Debounce(self.validate, VALIDATE_MS, self)
        self.document().setDocumentMargin(0)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        # whoever walks by the keyboard comes through, and changes nothing; lines are indented by themselves
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._on_text_changed)
        self.blockCountChanged.connect(self._fit_gutter)
        self.updateRequest.connect(self._on_update_request)
        self.cursorPositionChanged.connect(self._mark_lines)
        theme().changed.connect(self._restyle)
        on_language_changed(self.retranslate)
        self._restyle()
        self.retranslate()

    # content

    def load(self, value: Any) -> None:
        """Show `value` as indented JSON and take it as the unedited state."""
        self.load_text(json.dumps(value, ensure_ascii=False, indent=2))

    def toPlainText(self) -> str:
        """What stands there; Qt's own answer has plain blanks where the text has such as do not break."""
        return self.document().toRawText().replace("\u2029", "\n")

    def load_text(self, text: str) -> None:
        """Show `text` as it is and take it as the unedited state."""
        self._show_text(text, judged=True)

    def load_part(self, text: str) -> None:
        """Show what is only looked at, maybe a part of a document: nothing of it is wrong, and it has no value."""
        self._show_text(text, judged=False)

    def _show_text(self, text: str, *, judged: bool) -> None:
        self._loaded, self._judged = text, judged
        # each line that is shown without colours would call the highlighter for nothing
        self._highlighter.setDocument(self.document() if is_coloured(text) else None)
        self.setPlainText(text)
        self.validate()

    def document_value(self) -> Any:
        """Return the parsed document, None while it cannot be parsed."""
        return self._value

    @property
    def is_edited(self) -> bool:
        """Whether the text differs from what was loaded."""
        return self._was_edited

    def revert(self) -> None:
        """Return to what was loaded."""
        self._show_text(self._loaded, judged=self._judged)

    # validation

    def set_validator(self, validator: Validator | None) -> None:
        """Ask `validator` after each pause in typing; it gets the parsed document."""
        self._validator = validator
        self.validate()

    @property
    def is_valid(self) -> bool:
        """Whether the text parses and has no problem."""
        return self._was_valid

    def problems(self) -> tuple[Problem, ...]:
        """Return what is wrong now."""
        return self._problems

    def set_remarks(self, remarks: Sequence[Problem]) -> None:
        """Mark what others complain of; it is drawn like a problem and makes nothing invalid."""
        placed = tuple(one if one.line else replace(one, line=line_of(self.toPlainText(), one.path)) for one in remarks)
        if placed != self._remarks:
            self._remarks = placed
            self._show_problems(list(self._problems))

    def remarks(self) -> tuple[Problem, ...]:
        """Return what others complain of, each at its line."""
        return self._remarks

    def validate(self) -> None:
        """Check at once."""
        self._check.cancel()
        self._value, problems = check(self.toPlainText(), self._validator) if self._judged else (None, [])
        self._show_problems(problems)

    def go_to_next_problem(self) -> bool:
        """Move the cursor to the next problem after it (F8); False when there is none."""
        lines = sorted({problem.line for problem in self._marked() if problem.line})
        if not lines:
            return False
        at = self.textCursor().blockNumber() + 1
        self.go_to_line(next((line for line in lines if line > at), lines[0]))
        return True

    def go_to_line(self, line: int) -> None:
        """Put the cursor at the start of a line (1-based)."""
        self.setTextCursor(QTextCursor(self.document().findBlockByNumber(line - 1)))
        self.centerCursor()

    def _show_problems(self, problems: list[Problem]) -> None:
        self._problems = tuple(problems)
        self._mark_lines()
        self._gutter.update()
        self.viewport().update()
        self.setAccessibleDescription("; ".join(problem.spoken() for problem in self._marked()))
        valid = not problems
        if valid != self._was_valid:
            self._was_valid = valid
            self.validity_changed.emit(valid)

    def _marked(self) -> tuple[Problem, ...]:
        return (*self._problems, *self._remarks)

    def _on_text_changed(self) -> None:
        self._check()
        edited = self.toPlainText() != self._loaded
        if edited != self._was_edited:
            self._was_edited = edited
            self.edited.emit(edited)

    # look

    def retranslate(self) -> None:
        self.setAccessibleName(_(self._name) if self._name else _("JSON editor"))

    def _restyle(self) -> None:
        font = theme().font("mono")
        self.setFont(font)
        self.document().setDefaultFont(font)
        self.setTabStopDistance(QFontMetrics(font).horizontalAdvance("  "))
        self._fit_gutter()
        self._mark_lines()

    def gutter_width(self) -> int:
        """Return the room for line numbers and glyphs."""
        digits = max(2, len(str(self.blockCount())))
        return QFontMetrics(theme().font("mono")).horizontalAdvance("9" * digits) + 34

    def _fit_gutter(self) -> None:
        self.setViewportMargins(self.gutter_width(), 4, 0, 4)
        self._place_gutter()

    def _place_gutter(self) -> None:
        rect = self.contentsRect()
        self._gutter.setGeometry(QRect(rect.left(), rect.top() + 4, self.gutter_width(), rect.height() - 8))

    def _on_update_request(self, rect: QRect, delta: int) -> None:
        if delta:
            self._gutter.scroll(0, delta)
        else:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the gutter at the left edge."""
        super().resizeEvent(event)
        self._place_gutter()

    def _mark_lines(self) -> None:
        document = self.document()
        wrong = {problem.line for problem in self._marked()}
        marks = [ground(document, line, theme().tint("dead", 12, "input")) for line in wrong]
        if self.hasFocus() and not self.isReadOnly():
            marks.insert(0, ground(document, self.textCursor().blockNumber() + 1, theme().color("raised")))
        waves = [wave(document, line) for line in wrong]
        self.setExtraSelections([mark for mark in (*marks, *waves) if mark is not None])

    def paint_gutter(self, event: QPaintEvent) -> None:
        """Draw numbers and glyphs of the visible lines."""
        painter = QPainter(self._gutter)
        painter.setFont(theme().font("mono"))
        wrong = {problem.line for problem in self._marked()}
        for number, top, height in self._visible_lines(event.rect()):
            if number in wrong:
                ground = QRect(0, top, self._gutter.width(), height)
                painter.fillRect(ground, theme().tint("dead", 12, "input"))
            room = QRect(0, top, self._gutter.width() - 30, height)
            painter.setPen(theme().color("dead" if number in wrong else "text3"))
            painter.drawText(room, _RIGHT, str(number))
            if number in wrong:
                place = QPointF(self._gutter.width() - 25, top + (height - 12) / 2)
                painter.drawPixmap(place, theme().pixmap("ph.x-circle-fill", "dead", 12))

    def _visible_lines(self, rect: QRect) -> list[tuple[int, int, int]]:
        lines = []
        block: QTextBlock = self.firstVisibleBlock()
        while block.isValid():
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if box.top() > rect.bottom():
                break
            lines.append((block.blockNumber() + 1, round(box.top()), round(box.height())))
            block = block.next()
        return lines

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, then each problem at the end of its line."""
        super().paintEvent(event)
        if not self._marked():
            return
        painter = QPainter(self.viewport())
        painter.setFont(theme().font("label"))
        painter.setPen(theme().color("dead"))
        metrics = QFontMetrics(theme().font("label"))
        by_line: dict[int, list[str]] = {}
        for problem in self._marked():
            by_line.setdefault(problem.line, []).append(problem.text)
        for number, top, height in self._visible_lines(event.rect()):
            if number in by_line:
                room = self._problem_room(number, top, height)
                words = metrics.elidedText(text.listed(by_line[number], ";"), Qt.TextElideMode.ElideRight, room.width())
                painter.drawText(room, _LEFT, words)

    def _problem_room(self, number: int, top: int, height: int) -> QRect:
        text = self.document().findBlockByNumber(number - 1).text()
        width = QFontMetrics(theme().font("mono")).horizontalAdvance(text)
        left = round(self.contentOffset().x()) + width + 24
        return QRect(QPoint(left, top), QSize(max(40, self.viewport().width() - left), height))

    def viewportEvent(self, event: QEvent) -> bool:
        """Tell the whole problem of a line as a tool tip."""
        if isinstance(event, QHelpEvent):
            line = self.cursorForPosition(event.pos()).blockNumber() + 1
            words = "\n".join(problem.text for problem in self._marked() if problem.line == line)
            QToolTip.showText(event.globalPos(), safe.tooltip(words), self)
            return True
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Indent new lines as the line before; F8 goes to the next problem."""
        if pressed(event, "parts.next_error", writing=True):
            self.go_to_next_problem()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            before = self.textCursor().block().text()[: self.textCursor().positionInBlock()]
            indent = before[: len(before) - len(before.lstrip())]
            super().keyPressEvent(event)
            self.insertPlainText(indent + ("  " if before.rstrip().endswith(("{", "[")) else ""))
        else:
            super().keyPressEvent(event)
