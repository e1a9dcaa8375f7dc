"""Where the window stands: no larger than its screen has room for, with frame and all, wherever it stood before."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMargins, QObject, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow

DEFAULT, MINIMUM = QSize(1600, 1000), QSize(960, 540)
#: room for the frame, of which nothing is known before a window is shown (Windows 11 has a title bar of 31 pixels)
FRAME = QMargins(8, 32, 8, 8)
#: a window manager puts its frame around a window some time after it was shown
LOOKS_MS = (0, 250, 1000)


def fitted(wanted: QRect, frame: QMargins, room: QRect) -> QRect:
    """The place nearest to the wanted one (both without the frame) at which window and frame lie within the room."""
    inner = room.marginsRemoved(frame)
    width, height = min(wanted.width(), inner.width()), min(wanted.height(), inner.height())
    left = max(min(wanted.left(), inner.right() - width + 1), inner.left())
    top = max(min(wanted.top(), inner.bottom() - height + 1), inner.top())
    return QRect(left, top, width, height)


def most_of(wanted: QRect, rooms: list[QRect]) -> QRect:
    """The room that shows most of the wanted place; the first where none shows any of it."""
    shown = [room.intersected(wanted).size() for room in rooms]
    areas = [size.width() * size.height() if size.isValid() else 0 for size in shown]
    return rooms[areas.index(max(areas))]


class Placing(QObject):
    """Keeps a window within its screen when it opens, once its frame is known, and when a screen is taken away."""

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._exact = False
        self._looks: list[int] = []
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._look)
        window.setMinimumSize(MINIMUM)
        window.resize(DEFAULT)
        window.installEventFilter(self)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.screenRemoved.connect(self._look_again)

    def take(self, size: tuple[int, int] | None, *, exact: bool = False) -> None:
        """Fit the window in before it is shown; ``exact``: the size that was asked for, even if no screen has it."""
        self._exact = exact
        if size is not None:
            self._window.resize(*size)
        self._fit()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Look again when the window is shown, or is no longer maximised."""
        if event.type() in (QEvent.Type.Show, QEvent.Type.WindowStateChange):
            self._look_again()
        return False

    @property
    def _left_alone(self) -> bool:
        # what is painted into memory is as large as its picture shall be
        return self._exact or QGuiApplication.platformName() == "offscreen" or not QGuiApplication.screens()

    def _look_again(self) -> None:
        if not self._left_alone:
            self._looks = list(LOOKS_MS)
            self._timer.start(self._looks.pop(0))

    def _look(self) -> None:
        if self._window.isVisible():
            self._fit()
        if self._looks:
            self._timer.start(self._looks.pop(0))

    def _fit(self) -> None:
        window = self._window
        if self._left_alone or window.windowState() & (
            Qt.WindowState.WindowMaximized | Qt.WindowState.WindowFullScreen | Qt.WindowState.WindowMinimized
        ):
            return
        wanted, rooms = window.geometry(), [screen.availableGeometry() for screen in QGuiApplication.screens()]
        frame = self._frame()
        if not window.testAttribute(Qt.WidgetAttribute.WA_Moved):
            room = rooms[0]
            wanted = fitted(wanted, frame, room)
            wanted.moveCenter(room.center())
        room = most_of(wanted, rooms)
        place = fitted(wanted, frame, room)
        window.setMinimumSize(MINIMUM.boundedTo(place.size()))
        if place != window.geometry():
            window.setGeometry(place)

    def _frame(self) -> QMargins:
        known = self._window.windowHandle().frameMargins() if self._window.isVisible() else QMargins()
        return known if not known.isNull() else FRAME
