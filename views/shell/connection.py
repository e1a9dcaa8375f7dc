"""Lost connection: a banner with a count-down, the page in grey, and a card that names the parts.

banner.show_loss("14:32:07", until_retry=8.0, period=16.0)
banner.clear()
grey(page, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QImage, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsEffect,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from services.i18n import N_, _, ngettext
from views.support import safe
from views.support.language import on_language_changed
from views.support.look import Label, line, panel
from views.theme import theme
from views.theme.tokens import status
from views.widgets.buttons import Button

_TICK_MS = 200
_OPACITY = 0.8


class _CountDown(QWidget):
    """A bar that fills until the next try."""

    def __init__(self) -> None:
        super().__init__()
        self.share = 0.0
        self.setFixedSize(QSize(90, 4))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("line2"))
        painter.drawRoundedRect(QRectF(self.rect()), 2, 2)
        painter.setBrush(theme().color("retrying"))
        painter.drawRoundedRect(QRectF(0, 0, self.width() * min(1.0, max(0.0, self.share)), self.height()), 2, 2)


class ConnectionBanner(QFrame):
    """One line across the page while the connection is lost.

    Signals:
        try_now: the person does not want to wait (the button; F5 is the window's).
    """

    try_now = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(46)
        self._since, self._left, self._period = "", 0.0, 1.0
        self._glyph = QLabel()
        self._lead, self._text = Label("", "strong"), Label("", "body")
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._again, self._seconds = Label("", "body", "text2"), Label("", "strong")
        self._bar = _CountDown()
        self.button = Button(N_("Try now"), kind="primary")
        self.button.clicked.connect(self._on_try)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 12, 0)
        row.setSpacing(8)
        row.addWidget(self._glyph)
        row.addSpacing(2)
        row.addWidget(self._lead)
        row.addWidget(self._text, 1)
        for widget in (self._again, self._seconds, self._bar, self.button):
            row.addWidget(widget)
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        theme().changed.connect(self._restyle)
        on_language_changed(self.retranslate)
        self._restyle()
        self.clear()

    def show_loss(self, since: str, until_retry: float, period: float) -> None:
        """Say when it was lost and when the next try is; times in seconds."""
        self._since, self._left, self._period = since, until_retry, max(0.1, period)
        self.retranslate()
        self._timer.start()
        self.show()

    def show_trying(self) -> None:
        """Say that a try is under way."""
        self._timer.stop()
        self._again.setText(_("Trying now …"))
        self._seconds.setText("")

    def clear(self) -> None:
        """Hide: the connection is back."""
        self._timer.stop()
        self.hide()

    def retranslate(self) -> None:
        """Say everything again."""
        self._lead.setText(_("Connection lost at {time}.").format(time=self._since))
        self._text.setText(_("Everything below is as it was then. Workers keep going without this window."))
        self._again.setText(_("Trying again in"))
        self.setAccessibleName(f"{self._lead.text()} {self._text.text()}")
        self._show_left()

    def _show_left(self) -> None:
        whole = max(0, round(self._left + 0.49))
        self._seconds.setText(ngettext("{n} s", "{n} s", whole).format(n=whole))
        self._bar.share = 1 - self._left / self._period
        self._bar.update()

    def _on_tick(self) -> None:
        self._left = max(0.0, self._left - _TICK_MS / 1000)
        self._show_left()
        if not self._left:
            self._timer.stop()

    def _on_try(self) -> None:
        self.try_now.emit()

    def _restyle(self) -> None:
        self._glyph.setPixmap(theme().pixmap("ph.wifi-slash", "retrying", 18))
        self.update()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop counting."""
        super().hideEvent(event)
        self._timer.stop()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw ground and lower edge."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().tint("retrying", 12, "bg"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme().tint("retrying", 60, "bg"))


class _Grey(QGraphicsEffect):
    """Takes the colour out of a page; cheap, since a page that is cut off does not change."""

    def draw(self, painter: QPainter) -> None:
        pixmap = self.sourcePixmap(Qt.CoordinateSystem.LogicalCoordinates)
        if isinstance(pixmap, tuple):
            pixmap = pixmap[0]
        grey = pixmap.toImage().convertToFormat(QImage.Format.Format_Grayscale8)
        shown = QPixmap.fromImage(grey)
        shown.setDevicePixelRatio(pixmap.devicePixelRatio())
        painter.setOpacity(_OPACITY)
        painter.drawPixmap(0, 0, shown)


def grey(widget: QWidget, on: bool) -> None:
    """Show `widget` in greys, or in colour again; copying and filtering still work."""
    if on and not isinstance(widget.graphicsEffect(), _Grey):
        widget.setGraphicsEffect(_Grey(widget))
    elif not on and isinstance(widget.graphicsEffect(), _Grey):
        widget.setGraphicsEffect(None)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class LostPart:
    """One part in the card; texts are already translated."""

    name: str
    text: str
    state: str = "dead"
    seen: str = ""


class DisconnectedCard(QFrame):
    """Names each part that does not answer; comes after 10 s and can be dismissed.

    Signals:
        try_now, copy_report, other_profile, dismissed: what the buttons say.
    """

    try_now = Signal()
    copy_report = Signal()
    other_profile = Signal()
    dismissed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("panel", "dialog")
        self.setFixedWidth(560)
        self._glyph = QLabel()
        self._title, self._text = Label("", "panel"), Label("", "body", "text2", wrap=True)
        self._rows: list[QWidget] = []
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._glyph)
        head.addWidget(self._title, 1)
        top = QVBoxLayout()
        top.setContentsMargins(20, 18, 20, 14)
        top.setSpacing(6)
        top.addLayout(head)
        top.addWidget(self._text)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(20, 10, 20, 10)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(2, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(line())
        column.addLayout(self._grid)
        column.addWidget(line())
        column.addWidget(self._buttons())
        theme().changed.connect(self._restyle)
        self._restyle()
        self.hide()

    def _buttons(self) -> QWidget:
        bar = panel("raised")
        bar.setFixedHeight(52)
        row = QHBoxLayout(bar)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(8)
        specs = (
            (Button(N_("Copy report"), icon="ph.copy"), self.copy_report),
            (Button(N_("Other profile")), self.other_profile),
            (Button(N_("Look at old data"), kind="ghost"), self.dismissed),
            (Button(N_("Try now"), kind="primary", hint="F5"), self.try_now),
        )
        for number, (button, signal) in enumerate(specs):
            if number == 2:
                row.addStretch(1)
            button.clicked.connect(lambda _checked=False, out=signal: out.emit())
            row.addWidget(button)
        return bar

    def show_parts(self, title: str, words: str, parts: Sequence[LostPart]) -> None:
        """Show the state of each part; all texts are already translated."""
        self._title.setText(title)
        self._text.setText(words)
        self.setAccessibleName(f"{title}. {words}")
        for widget in self._rows:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._rows = []
        for row, part in enumerate(parts):
            glyph = QLabel()
            glyph.setPixmap(theme().status_pixmap(status(part.state), 15))
            cells = (
                glyph,
                Label(part.name, "strong"),
                Label(safe.one_line(part.text), "body", "text2", wrap=True),
                Label(part.seen, "label", "text3"),
            )
            for at, widget in enumerate(cells):
                self._grid.addWidget(widget, 2 * row, at)
            self._rows += cells
            if row + 1 < len(parts):
                divider = line()
                self._grid.addWidget(divider, 2 * row + 1, 0, 1, 4)
                self._rows.append(divider)
        self.adjustSize()
        self.show()
        self.raise_()

    def _restyle(self) -> None:
        self._glyph.setPixmap(theme().pixmap("ph.wifi-slash", "retrying", 18))
