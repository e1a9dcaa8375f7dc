"""One connection in a list: name, environment, address, whether it is open; pencil and bin where they help."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from services.i18n import N_, _
from views.support import safe
from views.support.connections import Connection
from views.support.keymap import CONNECTION, MOST_CONNECTIONS, keymap
from views.support.look import Label
from views.support.paint import draw_focus
from views.support.spoken import Role, spoken
from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON
from views.widgets.badge import Badge
from views.widgets.buttons import IconButton, shortcut_text
from views.widgets.elided import Elided
from views.widgets.layout import in_column, in_row, put


class ConnectionRow(QWidget):
    """Opens at a click, Enter or Space.

    Signals:
        chosen, edit_wanted, remove_wanted: the name of the connection.
    """

    chosen = Signal(str)
    edit_wanted = Signal(str)
    remove_wanted = Signal(str)
    beside_wanted = Signal(str)

    def __init__(self, connection: Connection, number: int = 0) -> None:
        """``number``: its place in the list, by which a key opens it; 0 for none."""
        super().__init__()
        self.connection = connection
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        spoken(self, Role.Button)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        glyph = QLabel()
        icon, role = ("ph.laptop" if connection.local else "ph.globe-hemisphere-east"), "text2"
        if connection.opened:
            icon, role = "ph.check-circle-fill", "accent"
        glyph.setPixmap(theme().pixmap(icon, role, 16))
        head = in_row(spacing=8)
        self.name = Elided(safe.one_line(connection.title, 60), "strong")
        head.addWidget(self.name, 0)
        self.badges = [Badge(connection.tag, "dead" if connection.production else "text2")] if connection.tag else []
        if connection.read_only:
            self.badges.append(Badge(_("READ-ONLY"), "retrying"))
        for badge in self.badges:
            head.addWidget(badge)
        head.addStretch(1)
        words = " · ".join(part for part in (connection.address, connection.origin) if part)
        *first, last = connection.places or (connection.address,)
        lines = (*first, " · ".join(part for part in (last, connection.origin) if part))
        column = in_column(head, spacing=1)
        self.places = [Elided(one, "label", "text3", middle=True) for one in lines]
        for place in self.places:
            column.addWidget(place)
        self.beside_button = IconButton("ph.arrow-square-out", N_("Open in a window of its own"))
        self.beside_button.clicked.connect(lambda: self.beside_wanted.emit(connection.name))
        self.edit_button = IconButton("ph.pencil-simple", N_("Edit"))
        self.remove_button = IconButton("ph.trash", N_("Remove"))
        self.edit_button.disable(connection.fixed)
        open_now = _("It is open; switch to another one first") if connection.opened else ""
        self.remove_button.disable(connection.fixed or open_now)
        self.edit_button.clicked.connect(lambda: self.edit_wanted.emit(connection.name))
        self.remove_button.clicked.connect(lambda: self.remove_wanted.emit(connection.name))
        row = in_row(glyph, (column, 1), owner=self, margins=(10, 6, 6, 6), spacing=10)
        if 1 <= number <= MOST_CONNECTIONS:
            self.key = Label("", "caption", "text3")
            self._command = f"{CONNECTION}.{number}"
            row.addWidget(self.key)
            keymap().changed.connect(self._tell_key)
            self._tell_key()
        put(row, self.beside_button, self.edit_button, self.remove_button)
        state = _("open now") if connection.opened else ""
        badges = [badge.text() for badge in self.badges]
        self.setAccessibleName(", ".join(part for part in (connection.title, *badges, words, state) if part))

    def _tell_key(self) -> None:
        self.key.setText(shortcut_text(self._command))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open it."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self.connection.name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open it by the keyboard."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.connection.name)
            return
        super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the ground while it is pointed at, and the focus."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        if self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color("hover"))
            painter.drawRoundedRect(box, RADIUS_BUTTON, RADIUS_BUTTON)
        if self.hasFocus():
            draw_focus(painter, self.rect(), RADIUS_BUTTON)
