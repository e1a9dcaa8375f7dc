"""Says over an empty place that nobody knows what belongs there: it was not loaded before the connection was lost."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.i18n import N_
from views.widgets.empty_state import EmptyState

_NOTHING = object()


class Unknown(QWidget):
    """Covers `area` of `page` while the page stands still and what it asked for last was never answered.

    Signals:
        again: the person wants the connection tried again.
        changed: whether it covers.
    """

    again = Signal()
    changed = Signal()

    def __init__(self, page: QWidget, area: QWidget, outer: Unknown | None = None) -> None:
        """``outer`` covers a larger area, in which this one lies: both at once would lie over each other."""
        super().__init__(page)
        self._page, self._area, self._outer = page, area, outer
        self._asked: Hashable = None
        self._known: Hashable = _NOTHING
        self._still = False
        self.setProperty("panel", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.words = EmptyState(
            N_("Not loaded before the connection was lost"),
            N_("What there is, is not known now. It is loaded by itself once the connection is back."),
            N_("Try again"),
            "ph.wifi-slash",
        )
        self.words.action.connect(self.again)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.words)
        self.hide()
        for watched in (page, area):
            watched.installEventFilter(self)
        if outer is not None:
            outer.changed.connect(self._show)

    @property
    def known(self) -> bool:
        """Whether what stands there answers what was asked last."""
        return self._known == self._asked

    def ask(self, what: Hashable = None) -> None:
        """Something is asked for: a filter, a state."""
        self._asked = what
        self._show()

    def answer(self, what: Hashable = None) -> None:
        """What stands there answers this."""
        self._known = what
        self._show()

    def set_still(self, still: bool) -> None:
        """The page stands still, for nothing newer is known; or goes on."""
        self._still = still
        self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay over the place."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show) and self.isVisible():
            self._cover()
        return False

    def _show(self) -> None:
        within = self._outer is not None and not self._outer.isHidden()
        covers = self._still and not self.known and self._area.isVisibleTo(self._page) and not within
        if covers:
            self._cover()
            self.raise_()
        if covers == self.isHidden():
            self.setVisible(covers)
            self.changed.emit()

    def _cover(self) -> None:
        self.setGeometry(QRect(self._area.mapTo(self._page, QPoint(0, 0)), self._area.size()))
