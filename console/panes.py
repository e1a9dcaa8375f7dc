"""Which part of the window the keyboard is in, and how it gets to the next one (F6)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget


def step(parts: Sequence[QWidget], by: int) -> QWidget | None:
    """Give the focus to the part after (or before) the one that has it; parts that take none are passed over."""
    seen = [(part, inner) for part in parts if part.isVisible() and (inner := first_focus(part)) is not None]
    if not seen:
        return None
    now = QApplication.focusWidget()
    place = next((n for n, (part, _inner) in enumerate(seen) if now is part or part.isAncestorOf(now or part)), None)
    place = (place + by) % len(seen) if place is not None and now is not None else 0
    target = seen[place][1]
    reason = Qt.FocusReason.TabFocusReason if by > 0 else Qt.FocusReason.BacktabFocusReason
    target.setFocus(reason)
    return target


def first_focus(part: QWidget) -> QWidget | None:
    """The first widget inside that takes the focus by Tab, the part itself first."""
    if _takes_focus(part):
        return part
    found = part.nextInFocusChain()
    while found is not None and found is not part:
        if part.isAncestorOf(found) and _takes_focus(found):
            return found
        found = found.nextInFocusChain()
    return None


def _takes_focus(widget: QWidget) -> bool:
    by_tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return by_tab and widget.isEnabled() and widget.isVisible()
