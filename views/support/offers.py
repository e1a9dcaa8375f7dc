"""An entry of a menu that stays there, grey and with its reason, while it cannot be chosen."""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

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
