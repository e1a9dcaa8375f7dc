"""What a widget that paints itself is to a screen reader: its role and its value, besides its accessible name.

    spoken(self, Role.ComboBox, self._word)     # in the constructor
    told(self)                                  # the value is another one

Widgets of Qt know theirs; one of our own would be a nameless *client* without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface, QAccessibleValueChangeEvent
from PySide6.QtWidgets import QAccessibleWidget, QWidget

Role = QAccessible.Role
_ROLE, _VALUE = "_spoken_role", "_spoken_value"


class _Spoken(QAccessibleWidget):
    def text(self, kind: QAccessible.Text) -> str:
        widget = self.object()
        if kind == QAccessible.Text.Value and widget is not None:
            return str(getattr(widget, _VALUE)())
        return super().text(kind)


def spoken(widget: QWidget, role: QAccessible.Role, value: Callable[[], str] = str) -> None:
    """Say what a widget is; ``value`` answers what it holds now, translated."""
    _install()
    setattr(widget, _ROLE, role)
    setattr(widget, _VALUE, value)


def told(widget: QWidget) -> None:
    """Tell who listens that the value is another one."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleValueChangeEvent(widget, getattr(widget, _VALUE)()))


@lru_cache(maxsize=1)
def _install() -> None:
    QAccessible.installFactory(_made)


def _made(_kind: str, owner: QObject) -> QAccessibleInterface | None:
    role = getattr(owner, _ROLE, None)
    return _Spoken(owner, role) if role is not None and isinstance(owner, QWidget) else None
