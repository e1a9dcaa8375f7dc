"""The stack of toasts at the bottom right: at most three, the newest at the bottom."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from views.theme import theme
from views.theme.tokens import STATUS_BAR
from views.widgets.toast import Toast, ToastSpec

MAX_TOASTS = 3
_MARGIN, _GAP = 16, 10
#: the verbs of a page stand in its foot at the right; a message must not lie on what one presses next
_FOOT = 50


class Toasts(QObject):
    """Shows toasts over `host`, above its status bar.

    Signals:
        shown: a toast came up; the words are announced and kept in the audit by whoever listens.
    """

    shown = Signal(object)

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self._host = host
        self._stack: list[Toast] = []
        host.installEventFilter(self)
        # once the texts themselves have their new size
        theme().changed.connect(self.arrange, Qt.ConnectionType.QueuedConnection)

    def say(self, spec: ToastSpec) -> None:
        """Show a message, or change the words of one that still stands."""
        if not spec.update:
            self.show(spec)
            return
        same = self._same(spec)
        if same is not None:
            same.change_words(spec)
            self.arrange()

    def show(self, spec: ToastSpec) -> Toast:
        """Show a message; the oldest that may leave makes room."""
        same = self._same(spec)
        if same is not None:
            self._drop(same)
        while len(self._stack) >= MAX_TOASTS:
            self._drop(next((toast for toast in self._stack if not toast.spec.stays), self._stack[0]))
        toast = Toast(spec, self._host)
        toast.closed.connect(self._on_closed)
        toast.said.connect(self.arrange)
        self._stack.append(toast)
        toast.show()
        self.arrange()
        # A screen reader hears results of own actions, not every live change.
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(toast, toast.accessibleName()))
        self.shown.emit(spec)
        return toast

    def _same(self, spec: ToastSpec) -> Toast | None:
        return next((toast for toast in self._stack if spec.key and toast.spec.key == spec.key), None)

    def close(self, key: str) -> None:
        """Take away the message with this key; nothing where none stands."""
        for toast in [one for one in self._stack if one.spec.key == key]:
            self._drop(toast)

    def toasts(self) -> tuple[Toast, ...]:
        """Return what is shown, oldest first."""
        return tuple(self._stack)

    def clear(self) -> None:
        """Close all."""
        for toast in list(self._stack):
            self._drop(toast)

    def _on_closed(self) -> None:
        toast = self.sender()
        if isinstance(toast, Toast):
            self._drop(toast)

    def _drop(self, toast: Toast) -> None:
        if toast in self._stack:
            self._stack.remove(toast)
            toast.hide()
            toast.deleteLater()
            self.arrange()

    @Slot()
    def arrange(self) -> None:
        """Put the toasts in their places."""
        bottom = self._host.height() - STATUS_BAR - _FOOT - _GAP
        for toast in reversed(self._stack):
            height = toast.heightForWidth(toast.width()) if toast.hasHeightForWidth() else toast.sizeHint().height()
            toast.resize(toast.width(), height)
            toast.move(QPoint(self._host.width() - toast.width() - _MARGIN, bottom - height))
            toast.raise_()
            bottom -= height + _GAP

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the window."""
        if event.type() == QEvent.Type.Resize:
            self.arrange()
        return False
