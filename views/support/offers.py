"""An entry of a menu that stays there, grey and with its reason, while it cannot be chosen."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu


def offer(menu: QMenu, words: str, call: Callable[[], object], reason: str = "") -> QAction:
    """Add `words`, already translated; with a `reason` the entry is disabled and its tooltip says why."""
    menu.setToolTipsVisible(True)
    action = menu.addAction(words, call)
    action.setEnabled(not reason)
    # without a reason the tooltip would only repeat the words
    action.setToolTip(reason)
    return action
