"""What keyboard and mouse must find in whatever is shown: a ring where the keys are, room to be hit, a menu."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtGui import QAccessible, QAction, QContextMenuEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QSlider,
    QWidget,
)

from views.theme import theme
from views.theme.tokens import BUTTON, BUTTON_SMALL
from views.widgets.buttons import Button, LinkLabel

#: of a ring of 2 px around the smallest box, a check box of 13
RING = 60
#: so much may the three channels of a pixel of a rounded edge differ together
NEAR = 24


def shown(root: QWidget) -> Iterator[QWidget]:
    """What is seen of it in its own window, each kind of thing in each kind of place once."""
    met: set[tuple[object, ...]] = set()
    for one in (root, *root.findChildren(QWidget)):
        above = one.parentWidget()
        kind = (type(one), type(above), isinstance(one, Button) and one.kind, one.isEnabled())
        if one.isVisible() and one.window() is root.window() and kind not in met and not _of_qt(one):
            met.add(kind)
            yield one


def _of_qt(widget: QWidget) -> bool:
    """Parts that Qt makes for itself, as the field within a field of numbers."""
    above = widget.parentWidget()
    return widget.objectName().startswith("qt_") or isinstance(above, QComboBox | QAbstractSpinBox)


def reached(root: QWidget) -> Iterator[QWidget]:
    """What Tab comes to."""
    for one in shown(root):
        by_tab = bool(one.focusPolicy().value & Qt.FocusPolicy.TabFocus.value)
        empty = isinstance(one, QAbstractItemView) and (one.model() is None or not one.model().rowCount())
        if by_tab and one.isEnabled() and one.focusProxy() is None and not empty:
            yield one


def without_ring(root: QWidget) -> list[str]:
    """What looks no different, or hardly, when the keyboard comes to it."""
    found = []
    activate(root)
    for one in list(reached(root)):
        left = QApplication.focusWidget()
        if left is not None:
            left.clearFocus()
        before = _lit(one)
        one.setFocus(Qt.FocusReason.TabFocusReason)
        if not one.hasFocus():
            found.append(f"does not take the keyboard: {name_of(one)}")
        elif (more := _lit(one) - before) < RING:
            found.append(f"{more} px of a ring: {name_of(one)}")
    return found


def activate(root: QWidget) -> None:
    """Without a window in front nothing has the keyboard."""
    window = root.window()
    window.activateWindow()
    for _turn in range(100):
        if QApplication.activeWindow() is window:
            return
        QTest.qWait(20)
    raise AssertionError("the window does not come to the front")


def _lit(widget: QWidget) -> int:
    """How many of its pixels have the colour of the ring."""
    QCoreApplication.sendPostedEvents(widget)
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    colour = theme().color("focus")
    wanted = np.array([colour.blue(), colour.green(), colour.red()])
    return int((np.abs(rows[:, : image.width(), :3].astype(int) - wanted).sum(axis=2) <= NEAR).sum())


def hard_to_hit(root: QWidget) -> list[str]:
    """What is lower or narrower than 24 px; and than 28, where it changes something."""
    found = []
    for one in shown(root):
        fields = isinstance(one, QAbstractButton | QComboBox | QAbstractSpinBox | QSlider | QLineEdit)
        pointed = one.cursor().shape() == Qt.CursorShape.PointingHandCursor and not _inherits_cursor(one)
        focused = bool(one.focusPolicy().value & Qt.FocusPolicy.TabFocus.value)
        if not (fields or pointed or (focused and not isinstance(one, QAbstractScrollArea))):
            continue
        least = (
            BUTTON
            if isinstance(one, Button) and not isinstance(one, LinkLabel) and one.kind != "link"
            else BUTTON_SMALL
        )
        if one.height() < least or one.width() < BUTTON_SMALL:
            found.append(f"{one.width()} × {one.height()} px: {name_of(one)}")
    return found


def _inherits_cursor(widget: QWidget) -> bool:
    return not widget.testAttribute(Qt.WidgetAttribute.WA_SetCursor)


def without_menu(root: QWidget) -> list[str]:
    """What says something and offers nothing to a right click in its middle."""
    found = []
    window = root.window()
    for one in list(shown(root)):
        place = one.rect().center()
        says = isinstance(one, QLabel | QAbstractButton) and bool(one.text() or one.accessibleName())
        if not says or window.childAt(one.mapTo(window, place)) is not one:
            continue
        if not entries_of(one):
            found.append(f"no menu: {name_of(one)}")
    return found


def without_table(root: QWidget) -> list[str]:
    """Charts whose numbers can be read off the picture only."""
    charts = (one for one in shown(root) if _role(one) == QAccessible.Role.Chart)
    return [f"no table: {name_of(one)}" for one in charts if "Show as table" not in entries_of(one, QPoint(1, 1))]


def _role(widget: QWidget) -> QAccessible.Role:
    return QAccessible.queryAccessibleInterface(widget).role()


def entries_of(widget: QWidget, place: QPoint | None = None) -> dict[str, QAction]:
    """What a right click there offers, else in the middle of it."""
    place = place or widget.rect().center()
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, widget.mapToGlobal(place))
    QApplication.sendEvent(widget, asked)
    menu = QApplication.activePopupWidget()
    if not isinstance(menu, QMenu):
        return {}
    menu.hide()
    return {action.text(): action for action in menu.actions()}


def name_of(widget: QWidget) -> str:
    """Where it stands and what it says."""
    above = widget.parentWidget()
    said = widget.accessibleName() or getattr(widget, "text", str)()
    return f"{type(widget).__name__} {str(said)[:40]!r} in {type(above).__name__}"
