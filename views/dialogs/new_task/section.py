"""One numbered part of a dialog: number, title, note, actions, body."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from services.i18n import _, ngettext
from views.support.language import say_in_language
from views.support.look import Label, line
from views.theme import theme
from views.widgets.layout import in_column, in_row
from views.widgets.status_pill import StatusPill

MARGIN = 20


class FormSection(QWidget):
    """Add content to ``body`` and switches with ``add_action``."""

    def __init__(self, number: int, title: str, *, divider: bool = True) -> None:
        """`title` is source text. ``number`` 0: it stands where its title is said already, and has no margins."""
        super().__init__()
        self._source = title
        self._title, self._note = Label("", "card"), Label("", "label", "text3")
        self._head = in_row(spacing=8)
        if number:
            self._head.addWidget(_Number(number))
        self._head.addWidget(self._title)
        self._title.setVisible(bool(number))
        self._head.addWidget(self._note)
        self._head.addStretch(1)
        self._errors, self._pill = 0, StatusPill("dead")
        self._pill.hide()
        self._head.addWidget(self._pill)
        self.body = in_column(spacing=8)
        inner = QVBoxLayout()
        inner.setContentsMargins(*((MARGIN, 12, MARGIN, 14) if number else (0, 0, 0, 0)))
        inner.setSpacing(9)
        inner.addLayout(self._head)
        inner.addLayout(self.body)
        column = in_column(owner=self, spacing=0)
        if divider and number:
            column.addWidget(line())
        column.addLayout(inner)
        say_in_language(self._say_part)

    def set_note(self, note: str) -> None:
        """Show a short note beside the title, already translated."""
        self._note.setText(note)

    def set_errors(self, number: int, words: str = "") -> None:
        """Show how many things are wrong in this part; ``words``, already translated, say it in another way."""
        self._errors = number
        self._pill.set_status("dead", words or ngettext("{n} error", "{n} errors", number).format(n=number))
        self._pill.setVisible(bool(number))

    def add_action(self, widget: QWidget) -> None:
        """Put a switch at the right end of the head."""
        self._head.addWidget(widget)

    def _say_part(self) -> None:
        self._title.setText(_(self._source))
        self.set_errors(self._errors)
        self.setAccessibleName(_(self._source))


class _Number(QWidget):
    """A number in a circle."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = str(number)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(18, 18)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme().color("line2"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.setFont(theme().font("caption"))
        painter.setPen(theme().color("text2"))
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), self._number)
