"""Saved views as tabs with live counts; what does not fit stands in a menu, so that no tab is ever half hidden.

tabs.set_views([ViewTab(key="all", title="All"), ViewTab(key="own-1", title="Slow", own=True)])
tabs.set_numbers({"all": "18.4k"})
tabs.chosen.connect(self._on_view)          # a person chose a view: its key
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec
from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QIcon, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QTabBar, QWidget

from services.i18n import N_, _
from views.support import safe
from views.support.language import say_in_language
from views.support.paint import draw_focus
from views.theme import theme
from views.widgets.buttons import Button, IconButton
from views.widgets.layout import STRETCH, in_row

MARGIN = 8
LONGEST = 28


class ViewTab(msgspec.Struct, frozen=True, kw_only=True):
    """One view; `title` is shown as it is. A view of one's `own` can be renamed, removed and shared."""

    key: str
    title: str
    own: bool = False
    shared: str = ""  #: who shares it with everybody; it can be renamed and removed for all


class _Bar(QTabBar):
    """A tab bar that tells how wide each tab is, shown or not.

    Signals:
        menu_wanted: where in it; by the keyboard at the current tab, not in the middle of the bar.
    """

    menu_wanted = Signal(QPoint)

    def __init__(self) -> None:
        super().__init__()
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def width_of(self, index: int) -> int:
        """Pixels that a tab wants."""
        return self.tabSizeHint(index).width()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Any button counts as a click to Qt; a right one would choose the view again before its menu opens."""
        if event.button() == Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of a tab."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        self.menu_wanted.emit(self.tabRect(self.currentIndex()).center() if by_key else event.pos())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Show which tab the keys are at."""
        super().paintEvent(event)
        if self.hasFocus():
            draw_focus(QPainter(self), self.tabRect(self.currentIndex()).adjusted(2, 3, -2, -4))

    def minimumSizeHint(self) -> QSize:
        """The room of the tabs shown; the default counts hidden ones too."""
        return QSize(0, super().minimumSizeHint().height())


class ViewTabs(QWidget):
    """Signals:
    chosen: key of the view a person chose.
    chosen_again: key of the view a person chose that was current before.
    save_wanted: the present filter shall become a view.
    rename_wanted, remove_wanted: key of an own view, or one of the fleet.
    share_wanted: key of an own view that everybody shall see.
    change_wanted: key of an own view, or one of the fleet, that shall be what is shown now.
    """

    chosen = Signal(str)
    chosen_again = Signal(str)
    save_wanted = Signal()
    rename_wanted = Signal(str)
    remove_wanted = Signal(str)
    share_wanted = Signal(str)
    change_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, shares: bool = True) -> None:
        """``shares``: one's own can be shared with everybody."""
        super().__init__(parent)
        self._shares = shares
        self._views: tuple[ViewTab, ...] = ()
        self._numbers: dict[str, str] = {}
        self._bar = _Bar()
        self._bar.currentChanged.connect(self._on_current)
        self._bar.tabBarClicked.connect(self._on_clicked)
        self._bar.menu_wanted.connect(self._open_tab_menu)
        self._more = IconButton("ph.caret-down", N_("More views"))
        self._more.clicked.connect(self._open_more)
        self._save = Button(N_("Save view"), kind="ghost", icon="ph.plus", small=True)
        self._save.clicked.connect(self.save_wanted)
        in_row(self._bar, self._more, self._save, STRETCH, owner=self, margins=(MARGIN, 0, MARGIN, 0), spacing=6)
        theme().changed.connect(self._fit)
        say_in_language(self.retranslate)

    # views

    def set_views(self, views: Sequence[ViewTab]) -> None:
        """Show these; the current one stays current where it is still there."""
        current = self.current()
        self._views = tuple(views)
        blocked = self._bar.blockSignals(True)
        while self._bar.count() > len(self._views):
            self._bar.removeTab(self._bar.count() - 1)
        while self._bar.count() < len(self._views):
            self._bar.addTab("")
        self._bar.setCurrentIndex(max(0, self._place(current)))
        self._bar.blockSignals(blocked)
        self._show_all()

    def current(self) -> str:
        """Key of the view shown."""
        index = self._bar.currentIndex()
        return self._views[index].key if 0 <= index < len(self._views) else ""

    def set_current(self, key: str) -> None:
        """Show a view, without a signal."""
        place = self._place(key)
        if place >= 0:
            blocked = self._bar.blockSignals(True)
            self._bar.setCurrentIndex(place)
            self._bar.blockSignals(blocked)
            self._fit()

    def choose(self, key: str) -> None:
        """Show a view as if a person had chosen it."""
        if key != self.current() and self._place(key) >= 0:
            self._bar.setCurrentIndex(self._place(key))

    def set_numbers(self, numbers: Mapping[str, str]) -> None:
        """Show how many tasks each view has, "" for not known."""
        if any(self._numbers.get(key, "") != number for key, number in numbers.items()):
            self._numbers.update(numbers)
            self._show_all()

    def shown(self) -> tuple[str, ...]:
        """Keys of the tabs on screen."""
        return tuple(view.key for n, view in enumerate(self._views) if self._bar.isTabVisible(n))

    def text_of(self, key: str) -> str:
        """What a tab says."""
        return self._bar.tabText(self._place(key))

    def _place(self, key: str) -> int:
        return next((n for n, view in enumerate(self._views) if view.key == key), -1)

    def _words(self, view: ViewTab) -> str:
        title = safe.cut(safe.one_line(view.title), LONGEST)
        number = self._numbers.get(view.key, "")
        return f"{title}  {number}" if number else title

    def _show_all(self) -> None:
        changed = False
        for index, view in enumerate(self._views):
            # a lone & would be taken for the mark of a shortcut
            words = self._words(view).replace("&", "&&")
            if self._bar.tabText(index) != words:
                self._bar.setTabText(index, words)
                changed = True
            tip = _("Shared with the fleet by {who}").format(who=safe.one_line(view.shared, 80)) if view.shared else ""
            self._bar.setTabToolTip(index, tip)
            self._bar.setTabIcon(index, theme().icon("ph.users", "text3") if view.shared else QIcon())
        if changed or self._bar.count() != len(self.shown()):
            self._fit()

    # room

    def _fit(self) -> None:
        """Show the tabs there is room for, the current one always."""
        widths = [self._bar.width_of(index) for index in range(self._bar.count())]
        room = self.width() - 2 * MARGIN
        everything = sum(widths) + self._save.sizeHint().width() + 6
        fits = everything <= room
        room -= 0 if fits else self._more.sizeHint().width() + 6
        current = self._bar.currentIndex()
        room -= widths[current] if 0 <= current < len(widths) else 0
        for index, width in enumerate(widths):
            if index == current:
                continue
            room -= width
            self._bar.setTabVisible(index, fits or room >= 0)
        if 0 <= current < len(widths):
            self._bar.setTabVisible(current, True)
        self._more.setVisible(not fits)
        self._save.setVisible(fits)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the room there is."""
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """A tab bar that gets other words while it is hidden does not ask for room for them."""
        super().showEvent(event)
        self._bar.updateGeometry()

    def retranslate(self) -> None:
        """Say the name again; the titles come from whoever set them."""
        self._bar.setAccessibleName(_("Saved views"))
        self._fit()

    # by hand

    def _on_current(self, index: int) -> None:
        self._fit()
        if 0 <= index < len(self._views):
            self.chosen.emit(self._views[index].key)

    def _on_clicked(self, index: int) -> None:
        """Comes before another tab is current."""
        if index == self._bar.currentIndex() and 0 <= index < len(self._views):
            self.chosen_again.emit(self._views[index].key)

    def more_menu(self) -> QMenu:
        """The views that have no tab now, and what can be done with views."""
        menu = QMenu(self)
        for index, view in enumerate(self._views):
            if not self._bar.isTabVisible(index):
                menu.addAction(self._words(view).replace("&", "&&"), partial(self.choose, view.key))
        menu.addSeparator()
        menu.addAction(_("Save view"), self.save_wanted.emit)
        self._add_own(menu, self._bar.currentIndex())
        return menu

    def _add_own(self, menu: QMenu, index: int) -> None:
        if 0 <= index < len(self._views) and (self._views[index].own or self._views[index].shared):
            key = self._views[index].key
            if index == self._bar.currentIndex():
                menu.addAction(_("Save changes to view"), partial(self.change_wanted.emit, key))
            if self._views[index].own and self._shares:
                menu.addAction(_("Share with the fleet"), partial(self.share_wanted.emit, key))
            menu.addAction(_("Rename view"), partial(self.rename_wanted.emit, key))
            menu.addAction(_("Remove view"), partial(self.remove_wanted.emit, key))

    def _open_more(self) -> None:
        menu = self.more_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self._more.mapToGlobal(QPoint(0, self._more.height() + 4)))

    def _open_tab_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        self._add_own(menu, self._bar.tabAt(place))
        if menu.isEmpty():
            menu.addAction(_("Save view"), self.save_wanted.emit)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self._bar.mapToGlobal(place))
