"""A part of a detail panel that folds away: caret, title, note, actions, body."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from services.i18n import _
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.paint import draw_focus
from views.support.spoken import Role, spoken
from views.theme import theme
from views.theme.tokens import PAGE_MARGIN
from views.widgets.elided import Elided
from views.widgets.layout import in_column, in_row


class _SectionHead(QWidget):
    """The clickable line of a section."""

    pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(34)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        spoken(self, Role.Button)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.pressed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.pressed.emit()
            return
        super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.hasFocus():
            draw_focus(QPainter(self), self.rect().adjusted(2, 2, -2, -2))


class Section(QWidget):
    """Add content to ``body``; ``foldable=False`` keeps it open and shows no caret.

    Signals:
        folded: the section was opened (False) or folded (True).
    """

    folded = Signal(bool)

    def __init__(self, title: str, *, foldable: bool = True, divider: bool = True) -> None:
        super().__init__()
        self._source = title
        self._foldable = foldable
        self._caret = QLabel()
        self._title, self._note = Label("", "card"), Elided("", "label", "text3")
        self.head = _SectionHead()
        self.head.pressed.connect(self.toggle)
        if not foldable:
            self.head.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._row = in_row(
            self._caret, self._title, owner=self.head, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, 0), spacing=7
        )
        self._caret.setVisible(foldable)
        self._row.addStretch(1)
        self._row.addWidget(self._note)
        self._content = QWidget()
        self.body = in_column(owner=self._content, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, 12), spacing=6)
        column = in_column(owner=self, spacing=0)
        if divider:
            column.addWidget(line())
        column.addWidget(self.head)
        column.addWidget(self._content)
        self._is_folded = False
        self.retranslate()
        theme().changed.connect(self._restyle)
        on_language_changed(self.retranslate)

    @property
    def is_folded(self) -> bool:
        """Whether only the head is shown."""
        return self._is_folded

    def toggle(self) -> None:
        """Open or fold."""
        if self._foldable:
            self.set_folded(not self._is_folded)
            self.folded.emit(self._is_folded)

    def set_folded(self, folded: bool) -> None:
        """Open or fold without a signal."""
        self._is_folded = folded
        self._content.setVisible(not folded)
        self._announce()

    def set_note(self, note: str, tone: str = "text3") -> None:
        """Show a short note at the right, already translated."""
        self._note.show_text(note)
        self._note.set_tone(tone)

    def note(self) -> str:
        """Return the note shown."""
        return self._note.text()

    def add_action(self, widget: QWidget) -> None:
        """Put a button at the right end of the head."""
        self._row.addWidget(widget)

    def retranslate(self) -> None:
        self._title.setText(_(self._source))
        self._announce()

    def _announce(self) -> None:
        state = _("folded") if self._is_folded else _("open")
        self.head.setAccessibleName(f"{self._title.text()}, {state}" if self._foldable else self._title.text())
        self._restyle()

    def _restyle(self) -> None:
        self._caret.setPixmap(theme().pixmap("ph.caret-right" if self._is_folded else "ph.caret-down", "text3", 12))
