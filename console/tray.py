"""Fleetdeck beside the clock of the desktop: what nobody has answered, and notifications while no window is seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
from PySide6.QtCore import QObject, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QIcon, QPainter
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QSystemTrayIcon

from console.main_window import MainWindow
from services.clock import SystemClock
from services.i18n import _
from services.ports.clock import Clock
from views.support import shown
from views.support.instant import ticks
from views.support.language import say_in_language
from views.support.memory import Memory
from views.theme import theme
from views.theme.icons import app_icon, app_pixmap

#: how a person's choice is remembered, and that notifications are not wanted; the page Settings shows it
CHOICE, OFF = "notifications", "off"
SHOWN_MS = 12_000
#: for a meeting, or where the screen is shown to others
QUIET_MS = 3_600_000
#: the dot of the icon, of its side
DOT = 0.46
SIZES = (16, 24, 32, 48, 64)


class Silence(msgspec.Struct):
    """How long nobody wants notifications yet: of a program, whichever of its windows leads and whatever it is
    connected to. So by the clock of this machine: the next fleet may have another time.
    """

    clock: Clock = msgspec.field(default_factory=SystemClock)
    _until_ms: int = 0

    def begin(self, length_ms: int) -> None:
        """So long from now on; 0 ends it."""
        self._until_ms = self.clock.now_ms() + length_ms

    def left_ms(self) -> int:
        """What is left of it, 0 where there is none."""
        return max(0, self._until_ms - self.clock.now_ms())


class Tray(QObject):
    """The icon stands there where the desktop has a place for it; without one nothing is lost but the notification.

    Signals:
        said: title and text of a notification.
    """

    said = Signal(str, str)

    def __init__(
        self,
        window: MainWindow,
        memory: Memory,
        name: Callable[[], str] = str,
        leave: Callable[[], object] | None = None,
        silence: Silence | None = None,
    ) -> None:
        """``name``: of the connection in words, for who has several; ``leave`` ends the program, all windows of it."""
        super().__init__(window)
        self._window, self._memory, self._name = window, memory, name
        self._silence = silence or Silence()
        self._over = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._over.timeout.connect(self._say)
        self._end = leave or window.close
        self._open: Callable[[], object] = lambda: None  #: what the notification that was shown last leads to
        self._wish: Callable[[], object] | None = None  #: what a dialog that is open is closed first for
        self._number, self._tone, self._words = 0, "", ""
        self._gone = False
        self.icon = QSystemTrayIcon(app_icon(), self)
        self.menu = QMenu(window)
        self._show = self.menu.addAction("", self.raise_window)
        self._alerts = self.menu.addAction("", self._open_alerts)
        self._quiet = self.menu.addAction("", self._be_quiet)
        self.menu.addSeparator()
        self._quit = self.menu.addAction("", self._leave)
        self.menu.aboutToShow.connect(self._say)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._on_activated)
        self.icon.messageClicked.connect(self._on_message)
        window.closing.connect(self._go)
        say_in_language(self._say)
        theme().changed.connect(self._say)
        self._stand()

    @property
    def wanted(self) -> bool:
        """Whether the person wants notifications, now."""
        return bool(self._memory.get(CHOICE, "") != OFF) and not self._is_quiet()

    def count(self, number: int, tone: str, words: str) -> None:
        """So many incidents wait for an answer. ``tone``: the status whose colour the dot has."""
        self._stand()
        if (number, tone, words) != (self._number, self._tone, self._words):
            self._number, self._tone, self._words = number, tone, words
            self._say()

    def notify(self, title: str, body: str, tone: str, then: Callable[[], object]) -> None:
        """Show a notification of the desktop, unless a window is in front or nobody wants one. ``then``: at a click."""
        if not self.wanted or _is_seen():
            return
        self._open = then
        kinds = QSystemTrayIcon.MessageIcon
        if self.icon.isVisible() and QSystemTrayIcon.supportsMessages():
            self.icon.showMessage(title, body, kinds.Critical if tone == "dead" else kinds.Warning, SHOWN_MS)
        self.said.emit(title, body)

    def raise_window(self) -> None:
        """Bring the window to the front."""
        self._window.come_forward()

    def _stand(self) -> None:
        """Show the icon once the desktop has a place for it, which may be later than the window."""
        if not self._gone and not self.icon.isVisible() and QSystemTrayIcon.isSystemTrayAvailable():
            self.icon.show()

    def _go(self) -> None:
        """For good: a window that is closed is counted for a while yet, and another one may have an icon by then."""
        self._gone = True
        self._over.stop()
        self.icon.hide()

    def _is_quiet(self) -> bool:
        return self._silence.left_ms() > 0

    def _be_quiet(self) -> None:
        self._silence.begin(0 if self._is_quiet() else QUIET_MS)
        self._say()

    def _open_alerts(self) -> None:
        self._lead(partial(self._window.open_page, "alerts"))

    def _lead(self, where: Callable[[], object]) -> None:
        """Go there, in front of all. A dialog that is open comes with its window and is answered first: what it asks
        is about the page behind it.
        """
        self.raise_window()
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, QDialog):
            where()
            return
        self._wish = where  # the newest counts
        for over in (dialog.finished, dialog.destroyed):  # one that goes with its window is never finished
            over.connect(self._go_on, Qt.ConnectionType.QueuedConnection)

    @Slot()
    def _go_on(self) -> None:
        """The dialog is closed, and what it led to is there; it may have been another dialog."""
        wish, self._wish = self._wish, None
        if wish is not None and not self._gone:
            self._lead(wish)

    def _leave(self) -> None:
        self.raise_window()  # it may ask something first
        self._end()

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick):
            self.raise_window()

    def _on_message(self) -> None:
        self._lead(self._open)

    def _say(self) -> None:
        self._show.setText(_("Show the window"))
        self._alerts.setText(_("Show alerts"))
        self._quit.setText(_("Quit"))
        self._quiet.setVisible(self._memory.get(CHOICE, "") != OFF)
        quiet, now, left = "", ticks().present_ms(), self._silence.left_ms()
        self._over.stop()
        if left:
            # told by the time of the fleet as all that is seen, also where that stands still
            quiet = _("No notifications until {time}").format(time=shown.clock(now + left, now))
            if not self._gone:
                self._over.start(left)
        self._quiet.setText(_("Show notifications again") if quiet else _("No notifications for an hour"))
        parts = [" · ".join(part for part in ("Fleetdeck", self._name()) if part), self._words, quiet]
        self.icon.setToolTip("\n".join(part for part in parts if part))
        self.icon.setIcon(_dotted(self._tone) if self._number else app_icon())


def _is_seen() -> bool:
    """Whether a window of this program is in front."""
    front = QApplication.activeWindow()
    return front is not None and front.isVisible() and not front.isMinimized()


def _dotted(tone: str) -> QIcon:
    """The mark with a dot of a status."""
    icon = QIcon()
    for size in SIZES:
        picture = app_pixmap(size).copy()
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color(tone))
        side = size * DOT
        painter.drawEllipse(QRectF(size - side, 0, side, side))
        painter.end()
        icon.addPixmap(picture)
    return icon
