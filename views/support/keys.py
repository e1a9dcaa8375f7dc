"""Keys of a window, a page or a table, so that a letter in a text field stays a letter.

Shortcut("window.search", window, palette.ask)                    # anywhere in the window
bind(table, {"tasks.retry": self._retry, "Esc": self._close})     # only while the table itself has the focus
bind(page, {"batches.next": self._next})                          # while the focus is anywhere on the page

A name is a command of ``keymap``, whose key a person may change, or a key that is always the same. Lists and charts
look at the keys themselves, by their defaults: ``ListKeys`` gives them these for the keys that a person chose.

What leads to a page says by ``beside(event)`` that it is clicked with Ctrl, and the window asks ``take_beside()``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import zip_longest

from PySide6.QtCore import QEvent, QKeyCombination, QObject, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QKeySequence, QMouseEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QKeySequenceEdit,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QToolTip,
    QWidget,
)
from shiboken6 import isValid

from views.support import safe
from views.support.keymap import both_enters, keymap

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


def pressed(event: QKeyEvent, name: str, *, writing: bool = False) -> bool:
    """Whether this is the key of a command, which one looks at itself; ``writing``: where somebody writes, so that what
    writes, or moves in what is written, is none.
    """
    return _pressed(event) in keymap().sequences(name) and not (writing and _writes(event))


def _writes(event: QKeyEvent) -> bool:
    held = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
    return not event.modifiers() & held and not Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35


def _pressed(event: QKeyEvent) -> QKeySequence:
    """As keys are written: without what tells where on the keyboard it was, or how a sign is come by."""
    key, held = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    if Qt.Key.Key_Space < key < Qt.Key.Key_A or Qt.Key.Key_Z < key <= Qt.Key.Key_AsciiTilde:
        held &= ~Qt.KeyboardModifier.ShiftModifier
    return QKeySequence(QKeyCombination(held, key))


class ListKeys(QObject):
    """Gives lists and charts the keys that they know where a person chose others, and keeps those from them.

    While all have their defaults it is not asked at all. Where somebody writes, keys stay as they are; a button is
    pressed by Space and Enter, as everywhere.
    """

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._at: QWidget | None = None  #: what it listens to
        self._giving = False
        app.focusChanged.connect(lambda _before, now: self._listen(now))
        keymap().changed.connect(lambda: self._listen(app.focusWidget()))

    def _listen(self, widget: QWidget | None) -> None:
        if self._at is not None and isValid(self._at):
            self._at.removeEventFilter(self)
        heard = widget is not None and not isinstance(widget, _WRITTEN_IN) and bool(keymap().moved())
        self._at = widget if heard else None
        if self._at is not None:
            self._at.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take a key, and give the one that is meant."""
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent) or self._giving:
            return False
        known = self._known(watched, event)
        if known is None:
            return False
        if known:
            self._giving = True
            try:
                QApplication.sendEvent(watched, _key(event, known))
            finally:
                self._giving = False
        return True

    def _known(self, watched: QObject, event: QKeyEvent) -> str | None:
        """The key that lists know for what was pressed, "" where it means nothing any more, None for the key itself."""
        told, found = _pressed(event), False
        for command in keymap().moved():
            if isinstance(watched, QAbstractButton) and command.default in ("Space", "Return"):
                continue
            now, default = command.forms(keymap().now(command.name)), command.forms(command.default)
            for mine, known in zip_longest(now, default, fillvalue=""):
                if told in both_enters(mine):
                    return None if mine == known else known
                found = found or told in both_enters(known)
        return "" if found else None


_WRITTEN_IN = (QLineEdit, QTextEdit, QPlainTextEdit, QAbstractSpinBox, QComboBox, QKeySequenceEdit)


def _key(event: QKeyEvent, keys: str) -> QKeyEvent:
    """An event as the other one, of another key."""
    combination: QKeyCombination = QKeySequence(keys)[0]  # type: ignore[index]  # its stubs lack it
    text = keys if len(keys) == 1 else ""
    held, repeated = combination.keyboardModifiers(), event.isAutoRepeat()
    return QKeyEvent(event.type(), combination.key(), held, text, repeated, event.count())


@lru_cache(maxsize=1)
def list_keys() -> ListKeys:
    """That of this process."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return ListKeys(app)


def speak(words: str, beside: QWidget) -> None:
    """Tell a screen reader what the eye sees elsewhere than where the keyboard is."""
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(beside, words))


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
    speak(reason, widget)
