"""Lost connection: a banner with a count-down, and the page in grey.

banner.show_loss("Redis lost at 14:32:07.", "Everything below …", until_retry=8.0, period=16.0)
banner.clear()
grey(page, True)
"""

from __future__ import annotations

from datetime import timedelta

from PySide6.QtCore import QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsColorizeEffect,
    QLabel,
    QSizePolicy,
    QWidget,
)

from services.i18n import N_, _
from views.support import text
from views.support.language import on_language_changed
from views.support.look import Label
from views.theme import theme
from views.widgets.buttons import Button
from views.widgets.layout import in_row, put

_TICK_MS = 200
_OPACITY = 0.8
_COPY = N_("Copy message for IT")


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
        copy_report: a message for whoever runs the server is wanted.
    """

    try_now = Signal()
    copy_report = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(52)  # three lines, where a window is narrow
        self._left, self._period, self._tried = 0.0, 1.0, True
        self._glyph = QLabel()
        self._lead, self._text = Label("", "strong"), Label("", "label", wrap=True)
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.again, self.seconds = Label("", "body", "text2"), Label("", "strong")
        self.bar = _CountDown()
        self.button = Button(N_("Try now"))
        self.button.clicked.connect(self.try_now)
        # it is tried again without anybody's help; what helps is whoever starts the server
        self.report = Button(_COPY, kind="primary", icon="ph.copy")
        self.report.clicked.connect(lambda: self.copy_report.emit())
        row = in_row(self._glyph, owner=self, margins=(16, 0, 12, 0), spacing=8)
        row.addSpacing(2)
        put(row, self._lead, (self._text, 1), self.again, self.seconds, self.bar, self.button, self.report)
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        theme().changed.connect(self._restyle)
        on_language_changed(self.retranslate)
        self._restyle()
        self.clear()

    def show_loss(self, lead: str, words: str, until_retry: float, period: float, *, tried: bool = True) -> None:
        """Say what was lost and when, what is true meanwhile (both already translated), and when the next try is; times
        in seconds, ``period`` 0 where it is tried at a pace of its own that nobody here knows. ``tried``: trying again
        helps.
        """
        self._tried = tried
        self._restyle()
        self._left, self._period = until_retry, period
        self.show_words(lead, words)
        self._count_on()
        self.show()

    def show_words(self, lead: str, words: str) -> None:
        """Say what was lost and what is true meanwhile, both already translated; the count-down goes on."""
        self._lead.setText(lead)
        self._text.setText(words)
        self._text.setToolTip(words)
        self.retranslate()

    def show_trying(self) -> None:
        """Say that a try is under way."""
        self._timer.stop()
        self.again.setText(_("Trying now …"))
        self.seconds.setText("")

    def _count_on(self) -> None:
        if self._left:
            self._timer.start()
        else:
            self._timer.stop()

    def clear(self) -> None:
        """Hide: the connection is back."""
        self._timer.stop()
        self.hide()

    def retranslate(self) -> None:
        self.again.setText(_("Trying again in") if self._period else _("Tried again every few seconds"))
        self.bar.setVisible(bool(self._period))
        for widget in (self.again, self.seconds, self.button):
            widget.setVisible(self._tried)
        self.setAccessibleName(f"{self._lead.text()} {self._text.text()}")
        self._show_left()

    def _show_left(self) -> None:
        if not self._left:
            self.seconds.setText("")
            if self._period:
                self.again.setText(_("Trying now …"))
            return
        whole = max(0, round(self._left + 0.49))
        self.seconds.setText(text.seconds(timedelta(seconds=whole)))
        self.bar.share = 1 - self._left / max(0.1, self._period)
        self.bar.update()

    def _on_tick(self) -> None:
        self._left = max(0.0, round(self._left - _TICK_MS / 1000, 3))
        self._show_left()
        if not self._left:
            self._timer.stop()

    def _restyle(self) -> None:
        glyph = "ph.wifi-slash" if self._tried else "ph.lock-simple"
        self._glyph.setPixmap(theme().pixmap(glyph, "retrying", 18))
        self.update()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop counting."""
        super().hideEvent(event)
        self._timer.stop()

    def showEvent(self, event: QShowEvent) -> None:
        """Count on, after the window was out of sight."""
        super().showEvent(event)
        self._count_on()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().tint("retrying", 12, "bg"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme().tint("retrying", 60, "bg"))


class _Grey(QGraphicsColorizeEffect):
    """Takes the colour out of a page; cheap, since a page that is cut off does not change."""

    def __init__(self, owner: QObject) -> None:
        super().__init__(owner)
        # laid over greys as light, so black leaves them as they are
        self.setColor(QColor(Qt.GlobalColor.black))
        self.setStrength(1.0)

    def draw(self, painter: QPainter) -> None:
        """Draw the page, dimmed."""
        # nothing is painted behind a page that covers everything: what lay there before would shine through
        painter.fillRect(self.sourceBoundingRect(), theme().color("bg"))
        painter.setOpacity(_OPACITY)
        super().draw(painter)


def grey(widget: QWidget, on: bool) -> None:
    """Show `widget` in greys, or in colour again; copying and filtering still work."""
    if on and not isinstance(widget.graphicsEffect(), _Grey):
        widget.setGraphicsEffect(_Grey(widget))
    elif not on and isinstance(widget.graphicsEffect(), _Grey):
        widget.setGraphicsEffect(None)  # type: ignore[arg-type]
