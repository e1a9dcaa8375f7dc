"""Keys of a page or a table, so that a letter in a text field stays a letter.

bind(table, {"R": self._retry, "Del": self._cancel})    # only while the table itself has the focus
bind(page, {"Ctrl+Z": self.undo})                       # while the focus is anywhere on the page
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QWidget


def bind(widget: QWidget, keys: Mapping[str, Callable[[], object]]) -> None:
    """Call a slot for each key sequence while `widget` has the focus, of a page also while a child has it."""
    alone = isinstance(widget, QAbstractItemView)
    context = Qt.ShortcutContext.WidgetShortcut if alone else Qt.ShortcutContext.WidgetWithChildrenShortcut
    for sequence, slot in keys.items():
        shortcut = QShortcut(QKeySequence(sequence), widget, context=context)
        # a key held down must not act again and again
        shortcut.setAutoRepeat(False)
        shortcut.activated.connect(slot)
        if sequence.endswith("Return"):
            bind(widget, {sequence.replace("Return", "Enter"): slot})
