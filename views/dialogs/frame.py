"""The frame of every dialog: head, body, foot; the window behind it is dimmed while it is open."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QHideEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from services.i18n import N_, _
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.theme import theme
from views.theme.tokens import PAGE_MARGIN
from views.widgets.buttons import IconButton

MARGIN = 20
SHADE = 140


class DialogFrame(QDialog):
    """A dialog of the design. Add content to ``body`` and buttons to ``foot``; open it with ``open()``."""

    def __init__(self, title: str, *, icon: str = "", parent: QWidget | None = None) -> None:
        """`title` is source text."""
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self._source, self._icon = title, icon
        self._scrim: Scrim | None = None
        self.setProperty("panel", "dialog")
        self.setModal(True)
        self._glyph = QLabel()
        self._title, self._note = Label("", "page"), Label("", "label", "text3")
        self._head = QWidget()
        self._head.setFixedHeight(48)
        self._head.installEventFilter(self)
        self._close = IconButton("ph.x", N_("Close"))
        self._close.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._close.clicked.connect(self.reject)
        self.body = QVBoxLayout()
        self.body.setContentsMargins(MARGIN, PAGE_MARGIN, MARGIN, PAGE_MARGIN)
        self.body.setSpacing(10)
        self.foot = QHBoxLayout()
        self.foot.setContentsMargins(MARGIN - 2, 12, MARGIN - 2, 12)
        self.foot.setSpacing(8)
        self._put_together()
        theme().changed.connect(self._restyle)
        on_language_changed(self.retranslate)
        self.retranslate()

    def _put_together(self) -> None:
        row = QHBoxLayout(self._head)
        row.setContentsMargins(MARGIN - 2, 0, 12, 0)
        row.setSpacing(10)
        for widget in (self._glyph, self._title, self._note):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self._close)
        self._head_row = row
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addWidget(line())
        column.addLayout(self.body, 1)
        column.addWidget(line())
        column.addLayout(self.foot)

    def set_note(self, note: str) -> None:
        """Show a short note beside the title, already translated."""
        self._note.setText(note)

    def add_head_action(self, widget: QWidget) -> None:
        """Put a button into the head."""
        self._head_row.insertWidget(self._head_row.count() - 1, widget)

    def retranslate(self) -> None:
        """Say the title again."""
        self._title.setText(_(self._source))
        self.setWindowTitle(_(self._source))
        self.setAccessibleName(_(self._source))
        self._restyle()

    def _restyle(self) -> None:
        self._glyph.setVisible(bool(self._icon))
        if self._icon:
            self._glyph.setPixmap(theme().pixmap(self._icon, "accent", 18))

    def showEvent(self, event: QShowEvent) -> None:
        """Dim the window behind and stand in its middle."""
        super().showEvent(event)
        owner: QWidget | None = self.parentWidget()
        behind = owner.window() if owner is not None else None
        if behind is not None and self._scrim is None:
            self._scrim = Scrim(behind)
            place = behind.geometry().center() - self.rect().center()
            self.move(place)

    def hideEvent(self, event: QHideEvent) -> None:
        """Give the window its light back."""
        super().hideEvent(event)
        if self._scrim is not None:
            self._scrim.leave()
            self._scrim = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave by Esc; Enter belongs to the control that has the focus."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.ignore()
            return
        super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the dialog by its head."""
        if watched is self._head and isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonPress:
            handle = self.windowHandle()
            if event.button() == Qt.MouseButton.LeftButton and handle is not None:
                handle.startSystemMove()
        return super().eventFilter(watched, event)


class Scrim(QWidget):
    """A shade over a window."""

    def __init__(self, behind: QWidget) -> None:
        super().__init__(behind)
        self.setGeometry(behind.rect())
        behind.installEventFilter(self)
        self.raise_()
        self.show()

    def leave(self) -> None:
        """Go away for good."""
        self.hide()
        self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Cover the window when its size changes."""
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Shade."""
        shade = QColor(theme().color("shadow"))
        shade.setAlpha(SHADE)
        QPainter(self).fillRect(self.rect(), shade)
