"""Keys of a window, a page or a table, so that a letter in a text field stays a letter.

Shortcut("window.search", window, palette.ask)                    # anywhere in the window
bind(table, {"tasks.retry": self._retry, "Esc": self._close})     # only while the table itself has the focus
bind(page, {"batches.next": self._next})                          # while the focus is anywhere on the page

A name is a command of ``keymap``, whose key a person may change, or a key that is always the same.

What leads to a page says by ``beside(event)`` that it is clicked with Ctrl, and the window asks ``take_beside()``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QMouseEvent, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QApplication, QToolTip, QWidget

from views.support import safe
from views.support.keymap import keymap

#: so long it is read why a key does nothing
TELL_MS = 8000

_wanted_beside = False


@contextmanager
def beside(event: QMouseEvent) -> Iterator[None]:
    """While a click is done: with Ctrl, the page that it leads to is wanted in a window of its own."""
    global _wanted_beside
    ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
    _wanted_beside = ctrl and event.button() == Qt.MouseButton.LeftButton
    try:
        yield
    finally:
        _wanted_beside = False


def take_beside() -> bool:
    """Whether the page that is about to open is wanted in a window of its own; asked once, for it opens pages, too."""
    global _wanted_beside
    found, _wanted_beside = _wanted_beside, False
    return found


class Shortcut(QShortcut):
    """The key that a command has, whatever it is at the moment."""

    def __init__(
        self,
        name: str,
        owner: QWidget,
        slot: Callable[[], object],
        context: Qt.ShortcutContext = Qt.ShortcutContext.WindowShortcut,
    ) -> None:
        super().__init__(owner)
        self._name = name
        self.setContext(context)
        self.activated.connect(slot)
        keymap().changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        wanted = keymap().sequences(self._name)
        if wanted != list(self.keys()):
            self.setKeys(wanted)


def bind(widget: QWidget, keys: Mapping[str, Callable[[], object]]) -> None:
    """Call a slot for each command or key while `widget` has the focus, of a page also while a child has it."""
    alone = isinstance(widget, QAbstractItemView)
    context = Qt.ShortcutContext.WidgetShortcut if alone else Qt.ShortcutContext.WidgetWithChildrenShortcut
    for name, slot in keys.items():
        # a key held down must not act again and again
        Shortcut(name, widget, slot, context).setAutoRepeat(False)


def refuse(reason: str, beside: QWidget | None = None) -> None:
    """Say why what a key stands for cannot be done now, to the eye and to a screen reader, below ``beside`` or what has
    the keyboard.
    """
    widget = beside or QApplication.focusWidget()
    if widget is None or not reason:
        return
    place, room = widget, widget.rect()
    if isinstance(widget, QAbstractItemView) and widget.currentIndex().isValid():
        place, room = widget.viewport(), widget.visualRect(widget.currentIndex())
    QToolTip.showText(place.mapToGlobal(room.bottomLeft()), safe.tooltip(reason), widget, QRect(), TELL_MS)
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, reason))
