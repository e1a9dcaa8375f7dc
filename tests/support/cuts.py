"""Finds words of a window that nobody can read whole: labels and buttons narrower or lower than what they say."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QCheckBox, QLabel, QPushButton, QWidget

from views.widgets.elided import Elided

#: pixels by which a size hint may be larger than what is drawn
SPARE = 2


def cut(root: QWidget) -> list[str]:
    """What is cut in the visible part of ``root``: the class and the words; an elided label whose tip has it all is
    none.
    """
    found = []
    for widget in root.findChildren(QWidget):
        words = _words(widget)
        if words and widget.isVisibleTo(root) and not _scrolled(widget, root) and any(_troubles(widget, root)):
            found.append(f"{type(widget).__name__}: {words}")
    return found


def _words(widget: QWidget) -> str:
    return widget.text().strip() if isinstance(widget, QLabel | QAbstractButton) else ""


def _troubles(widget: QWidget, root: QWidget) -> Iterator[bool]:
    hint = widget.sizeHint()
    if isinstance(widget, Elided):
        yield hint.width() > widget.width() + SPARE and not widget.toolTip()
    elif isinstance(widget, QLabel):
        if widget.wordWrap():
            yield widget.heightForWidth(widget.width()) > widget.height() + SPARE
        else:
            yield hint.width() > widget.width() + SPARE
        yield hint.height() > widget.height() + SPARE and not widget.wordWrap()
    elif isinstance(widget, QPushButton | QCheckBox):
        yield hint.width() > widget.width() + SPARE
    yield not root.rect().contains(_place(widget, root))
    parent = widget.parentWidget()
    if parent is not None:
        yield not parent.rect().adjusted(-SPARE, -SPARE, SPARE, SPARE).contains(widget.geometry())


def _place(widget: QWidget, root: QWidget) -> QRect:
    return QRect(widget.mapTo(root, QPoint(0, 0)), widget.size())


def _scrolled(widget: QWidget, root: QWidget) -> bool:
    """Whether it lies in a part that is scrolled out of sight."""
    area = widget.parentWidget()
    while area is not None and area is not root:
        holder = area.parentWidget()
        place = QRect(widget.mapTo(area, QPoint(0, 0)), widget.size())
        # a list in a page that scrolls, too, may be out of sight with all that it shows
        if isinstance(holder, QAbstractScrollArea) and holder.viewport() is area and not area.rect().contains(place):
            return True
        area = holder
    return False
