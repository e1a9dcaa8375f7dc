"""The navigation at the left: pages with icons and badges, 196 px or 52 px wide."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QSizePolicy, QWidget

from services.i18n import N_, _
from views.support import keymap as keys_of
from views.support.keymap import GO, WINDOW, keymap
from views.support.keys import Shortcut, beside
from views.support.language import say_in_language
from views.support.look import line
from views.support.paint import cut, draw_box, draw_focus, width_of, write
from views.theme import theme
from views.theme.icons import app_pixmap
from views.theme.tokens import NAV_ITEM, RADIUS_BUTTON, RAIL, RAIL_COLLAPSED, TOP_BAR
from views.widgets.buttons import paint_chip, shortcut_text
from views.widgets.layout import STRETCH, in_column, put, tab_through

_ICON, _MARGIN = 16, 8


class NavEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the rail; `title` is source text."""

    id: str
    title: str
    icon: str
    shortcut: str = ""
    group: int = 0


class _Brand(QWidget):
    """The mark and the name of the application."""

    def __init__(self) -> None:
        super().__init__()
        self.collapsed = False
        self.setFixedHeight(TOP_BAR)
        self.setAccessibleName("Fleetdeck")
        theme().changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        side, ratio = 18, self.devicePixelRatioF()
        left = (self.width() - side) / 2 if self.collapsed else 17
        painter.drawPixmap(QPointF(left, (TOP_BAR - side) / 2), app_pixmap(side, ratio))
        if not self.collapsed:
            write(painter, QRect(45, 0, self.width() - 45, TOP_BAR), "Fleetdeck", "brand", "text")


class NavItem(QAbstractButton):
    """A page in the rail."""

    def __init__(self, entry: NavEntry, keys: str = "") -> None:
        """``keys``: the command, or the key, that presses it."""
        super().__init__()
        self.entry = entry
        self._opening = (keys, f"{WINDOW}.{entry.id}", f"{GO}.{entry.id}")
        self.collapsed = False
        self.active = False
        self._badge, self._badge_tone, self._badge_tip = "", "text2", ""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFixedHeight(NAV_ITEM)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Lead to a window of its own with Ctrl."""
        with beside(event):
            super().mouseReleaseEvent(event)

    def set_badge(self, text: str, tone: str, tip: str) -> None:
        """Show a count that needs eyes, in the colour of its worst item."""
        if (text, tone, tip) != (self._badge, self._badge_tone, self._badge_tip):
            self._badge, self._badge_tone, self._badge_tip = text, tone, tip
            self.rename()
            self.update()

    def rename(self) -> None:
        """Say name, count and keys again."""
        title, told = _(self.entry.title), self._badge
        if told and self._badge_tip:
            told = _("{name}: {value}").format(name=self._badge_tip, value=told)
        self.setAccessibleName(f"{title}, {told}" if told else title)
        known = (shortcut_text(name) for name in self._opening if keymap().knows(name) or name == self.entry.shortcut)
        told_keys = next(filter(None, known), "")
        keys = f"  ({told_keys})" if told_keys else ""
        count = f"\n{told}" if told else ""
        self.setToolTip(f"{title}{keys}{count}")

    def sizeHint(self) -> QSize:
        """Return the height; the rail decides the width."""
        return QSize(RAIL_COLLAPSED, NAV_ITEM)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw ground, icon, title and badge."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QRectF(_MARGIN, 0, self.width() - 2 * _MARGIN, self.height())
        if self.active or self.underMouse():
            draw_box(painter, ground, RADIUS_BUTTON, None, theme().color("hover" if self.active else "raised"))
        if self.active:
            draw_box(painter, QRectF(0, 8, 2, self.height() - 16), 1, None, theme().color("accent"))
        name = f"{self.entry.icon}-fill" if self.active else self.entry.icon
        role = "dis" if not self.isEnabled() else ("text" if self.active else "text2")
        left = (self.width() - _ICON) / 2 if self.collapsed else 17
        painter.drawPixmap(QPointF(left, (self.height() - _ICON) / 2), theme().pixmap(name, role, _ICON))
        if self.collapsed:
            self._paint_dot(painter)
        else:
            self._paint_words(painter, role)
        if self.hasFocus():
            draw_focus(painter, ground, RADIUS_BUTTON)

    def _paint_words(self, painter: QPainter, role: str) -> None:
        right = self.width() - _MARGIN - 9
        if self._badge:
            width = max(20, width_of(self._badge, "caption") + 13)
            box = QRectF(right - width, self.height() / 2 - 9, width, 18)
            draw_box(painter, box, 8.5, theme().color("line"), theme().color("raised"))
            write(painter, box, self._badge, "caption", self._badge_tone, at=0.5)
            right -= width + 4
        title = cut(_(self.entry.title), "strong", right - 43)
        write(painter, QRect(43, 0, right - 43, self.height()), title, "strong", role)

    def _paint_dot(self, painter: QPainter) -> None:
        if self._badge:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color(self._badge_tone))
            painter.drawEllipse(QPointF(self.width() / 2 + 10, 9), 3, 3)


class _Collapse(QAbstractButton):
    """The button at the bottom that folds the rail."""

    def __init__(self) -> None:
        super().__init__()
        self.collapsed = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFixedHeight(NAV_ITEM)
        theme().changed.connect(self.update)

    def rename(self) -> None:
        name = _("Expand") if self.collapsed else _("Collapse")
        self.setAccessibleName(name)
        keys = shortcut_text("window.rail")
        self.setToolTip(f"{name}  ({keys})" if keys else name)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(RAIL_COLLAPSED, NAV_ITEM)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        role = "text" if self.underMouse() else "text2"
        name = "ph.caret-double-right" if self.collapsed else "ph.caret-double-left"
        left = (self.width() - _ICON) / 2 if self.collapsed else 17
        painter.drawPixmap(QPointF(left, (self.height() - _ICON) / 2), theme().pixmap(name, role, _ICON))
        if not self.collapsed:
            write(painter, QRect(41, 0, 100, self.height()), self.accessibleName(), "strong", role)
            if chip := shortcut_text("window.rail"):
                paint_chip(painter, self.width() - _MARGIN - 8, self.rect(), chip, on_fill=False, enabled=True)
        if self.hasFocus():
            draw_focus(painter, self.rect().adjusted(4, 0, -4, 0), RADIUS_BUTTON)


class Rail(QFrame):
    """Pages in order; Alt+1 … by place; Up and Down move the focus.

    Signals:
        chosen: the id of the page to show.
        collapsed_changed: folded to icons (True) or opened; by a person.
    """

    chosen = Signal(str)
    collapsed_changed = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("panel", "rail")
        self._items: dict[str, NavItem] = {}
        self._collapsed = False
        self._brand, self._fold = _Brand(), _Collapse()
        self._fold.clicked.connect(self.toggle)
        self._column = in_column(self._brand, owner=self, margins=(0, 0, 1, 8), spacing=1)
        self._pages = in_column(margins=(0, 6, 0, 0), spacing=1)
        put(self._column, self._pages, STRETCH, self._fold)
        Shortcut("window.rail", self, self.toggle)
        self.set_collapsed(False)
        say_in_language(self.retranslate)
        keymap().changed.connect(self.retranslate)

    def set_entries(self, entries: Sequence[NavEntry]) -> None:
        """Show `entries`; called once, before anything is shown."""
        group = entries[0].group if entries else 0
        for number, entry in enumerate(entries, 1):
            if entry.group != group:
                self._pages.addSpacing(6)
                self._pages.addWidget(line())
                self._pages.addSpacing(6)
                group = entry.group
            self._add_item(entry, number)
        tab_through(self, (*self._items.values(), self._fold))
        self.set_collapsed(self._collapsed)
        self.retranslate()

    def _add_item(self, entry: NavEntry, number: int) -> None:
        keys = entry.shortcut or f"{keys_of.RAIL}.{number}"
        keys = keys if entry.shortcut or keymap().knows(keys) else ""
        item = NavItem(entry, keys)
        item.clicked.connect(lambda: self.chosen.emit(entry.id))
        if keys:
            Shortcut(keys, self, item.click)
        self._items[entry.id] = item
        self._pages.addWidget(item)

    def item(self, page_id: str) -> NavItem:
        """Return the line of a page."""
        return self._items[page_id]

    def set_active(self, page_id: str) -> None:
        """Mark the page shown."""
        for name, item in self._items.items():
            if item.active != (name == page_id):
                item.active = name == page_id
                item.update()

    def set_badge(self, page_id: str, text: str = "", tone: str = "text2", tip: str = "") -> None:
        """Show a count at a page; an empty text shows none. Unknown pages are ignored."""
        if page_id in self._items:
            self._items[page_id].set_badge(text, tone, tip)

    @property
    def collapsed(self) -> bool:
        """Whether only icons are shown."""
        return self._collapsed

    def set_collapsed(self, collapsed: bool) -> None:
        """Fold or open without a signal."""
        self._collapsed = collapsed
        self.setFixedWidth(RAIL_COLLAPSED if collapsed else RAIL)
        self._brand.collapsed = self._fold.collapsed = collapsed
        for item in self._items.values():
            item.collapsed = collapsed
            item.update()
        self._brand.update()
        self._fold.rename()
        self._fold.update()

    def toggle(self) -> None:
        """Fold or open, as a person would (Ctrl+B)."""
        self.set_collapsed(not self._collapsed)
        self.collapsed_changed.emit(self._collapsed)

    def retranslate(self) -> None:
        self.setAccessibleName(_(N_("Pages")))
        self._fold.rename()
        for item in self._items.values():
            item.rename()
        self.update()
        for widget in (self._fold, *self._items.values()):
            widget.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the focus by Up and Down."""
        items = list(self._items.values())
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        focused = next((n for n, item in enumerate(items) if item.hasFocus()), -1)
        if step and focused >= 0:
            items[(focused + step) % len(items)].setFocus(Qt.FocusReason.TabFocusReason)
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Repaint when enabled or disabled as a whole."""
        super().changeEvent(event)
        self.update()
