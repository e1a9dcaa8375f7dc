"""What a right click offers: entries that stay there, grey and with their reason, while they cannot be chosen; and what
it offers where nothing else has a menu.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMenu, QWidget

from services.i18n import _
from views.support.keymap import keymap


def offer(menu: QMenu, words: str, call: Callable[[], object], reason: str = "", *, keys: str = "") -> QAction:
    """Add `words`, already translated; with a `reason` the entry is disabled and its tooltip says why. ``keys``: the
    command or key that does the same outside the menu, which is shown beside it.
    """
    menu.setToolTipsVisible(True)
    action = menu.addAction(words, call)
    action.setEnabled(not reason)
    # without a reason the tooltip would only repeat the words
    action.setToolTip(reason)
    if keys:
        # only shown: the menu never has the focus of a key
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        # the first is the one that is seen: Qt calls that of the number pad Enter, as people call both
        forms = keymap().sequences(keys)
        action.setShortcuts(forms if sys.platform == "darwin" else forms[::-1])
    return action


def offer_what_is_said(window: QWidget, event: QContextMenuEvent) -> None:
    """Open the menu of what has none of its own: its window is asked last. What stands there is copied, and a button is
    pressed, so that a right click finds all that a click does.
    """
    by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
    widget = QApplication.focusWidget() if by_key else window.childAt(window.mapFromGlobal(event.globalPos()))
    said = _said(widget) if widget is not None else ""
    if widget is None or not said:
        event.ignore()
        return
    menu = QMenu(window)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if isinstance(widget, QAbstractButton):
        words = widget.text() or widget.accessibleName()
        action = offer(menu, words.replace("&", "&&"), widget.click, "" if widget.isEnabled() else widget.toolTip())
        action.setEnabled(widget.isEnabled())
    menu.addAction(_("Copy value"), partial(QGuiApplication.clipboard().setText, said))
    menu.popup(event.globalPos())


def _said(widget: QWidget) -> str:
    """What is read there, the whole of it where it is cut; else what a screen reader says."""
    if isinstance(widget, QLabel) and widget.text():
        return widget.text()
    if not widget.accessibleName():
        return ""
    face = QAccessible.queryAccessibleInterface(widget)
    name, value = (face.text(kind).strip() for kind in (QAccessible.Text.Name, QAccessible.Text.Value))
    if not value or value in name:
        return name
    return _("{name}: {value}").format(name=name, value=value)
