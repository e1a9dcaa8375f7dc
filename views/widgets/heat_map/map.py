"""The whole fleet at a glance: a cell for each shop at a fixed place, coloured by its worst state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetrics,
    QGuiApplication,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QMenu, QSizePolicy, QWidget

from services.domain.insight import shop as insight
from services.domain.insight.shop import STATES, ShopNow
from services.i18n import N_, _, ngettext
from views.charts.plot import offer_table
from views.support import instant, safe, text
from views.support.instant import ticks
from views.support.language import on_language_changed
from views.support.paint import draw_focus
from views.support.spoken import Role, spoken
from views.support.words import shop
from views.support.words.shop import platform_name as platform_name
from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON, status
from views.widgets.heat_map.layout import BAR, HEADER, NONE, Group, Layout, Rows, arrange, kinds
from views.widgets.heat_map.paint import LOOKS, Atlas, Dim, Layer, fill_of

AGGREGATE_ABOVE = 2500
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_MIDDLE = int(Qt.AlignmentFlag.AlignCenter)
_CHOOSING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_STEPS = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}


class HeatMap(QWidget):
    """Cells by platform. Its height follows from its width.

    Signals:
        shop_clicked: platform and id of a shop that was clicked or entered.
        group_clicked: platform and name of a group of shops that was.
        left: the shops of one group are shown, and somebody wants to see all groups again.
        current_changed: platform and id under the mouse or the arrow keys, both "" for none.
        stepped: the keys came to a cell, and where that is.
        menu_filled: the menu of a shop before it opens, and that shop (``platform:shop_id``): whoever shows the map may
            put in what can be done to it.
        group_menu_filled: the same of a group: the menu, platform and name.
        resized: it is as high as its shops need now.
        chosen_changed: somebody has chosen other shops here.
    """

    resized = Signal()
    chosen_changed = Signal()
    shop_clicked = Signal(str, str)
    group_clicked = Signal(str, str)
    left = Signal()
    current_changed = Signal(str, str)
    stepped = Signal(QRectF)
    menu_filled = Signal(object, str)
    group_menu_filled = Signal(object, str, str)

    def __init__(
        self,
        *,
        choosable: bool = False,
        states_only: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """``choosable``: many shops or groups may be chosen, by Ctrl with a click, a drag or the space bar, or by Shift
        with a click or an arrow; ``states_only``: of each shop no more than its state is known.
        """
        super().__init__(parent)
        self._rows, self._layout_of = NONE, Layout((), 21, 24, 0)
        self._filter = ""
        self._lit: Collection[str] | None = None
        self._dim: Dim | None = None
        self._marked = ("", "", "")
        self._choosable, self._states_only = choosable, states_only
        self._chosen: frozenset[str] = frozenset()
        self._anchor = ""  #: where Shift with a click begins
        self._drag_from: QPointF | None = None
        self._box = QRectF()  #: what a drag encloses
        self._current = -1
        self._by_key = False
        self._atlas: Atlas | None = None
        self._layer: Layer | None = None
        self._numbers: tuple[Rows, Layout, object, QPixmap] = self._rows, self._layout_of, None, QPixmap()
        self._card: HeatCard | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        spoken(self, Role.Chart)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self._restyle)
        on_language_changed(self._restyle)
        self._announce()

    # what is shown

    @property
    def rows(self) -> Rows:
        """The shops shown, in their order."""
        return self._rows

    @property
    def current(self) -> ShopNow | None:
        """The shop under the mouse or the arrow keys."""
        return self._rows.cells[self._current] if 0 <= self._current < len(self._rows.cells) else None

    def set_rows(self, rows: Rows) -> None:
        """Show shops that ``prepare`` has put in order, for instance off the GUI thread."""
        old, self._rows = self._rows, rows
        self._dim = self._dimmed()
        if self._chosen:
            self._chosen = self._chosen.intersection(cell.key for cell in rows.cells)
        other = (bool(old.inside), old.within) != (bool(rows.inside), rows.within)
        if other or [(g.platform, g.count) for g in old.groups] != [(g.platform, g.count) for g in rows.groups]:
            self._current = self._zoomed(old) if other else self._follow(old)
        if other or old.groups != rows.groups or not np.array_equal(old.kinds, rows.kinds):
            self._relayout()
        self._announce()
        self._show_card()

    def set_filter(self, state: str) -> None:
        """Dim all shops in another state; "" dims none."""
        if state != self._filter:
            self._filter = state if state in STATES else ""
            self.update()

    def set_lit(self, keys: Collection[str] | None) -> None:
        """Dim all shops but these (``platform:shop_id``); None dims none."""
        self._lit = keys
        dim, before = self._dimmed(), self._dim
        self._dim = dim
        same = dim is before if dim is None or before is None else np.array_equal(dim, before)
        if not same:
            self.update()

    def set_marked(self, key: str, group: str = "") -> None:
        """Put an edge around a shop (``platform:shop_id``) that is chosen elsewhere, or around the cell of its group;
        "" for none.
        """
        platform, _colon, shop_id = key.partition(":")
        if (platform, shop_id, group) != self._marked:
            self._marked = (platform, shop_id, group)
            self.update()

    @property
    def chosen(self) -> tuple[str, ...]:
        """The shops that are chosen (``platform:shop_id``), as they stand in the map, where cells stand for groups
        those (``platform:name``); of those that ``set_lit`` dims none is.
        """
        return tuple(self._rows.cells[at].key for at in self._chosen_places())

    def _chosen_places(self) -> list[int]:
        if not self._chosen:
            return []
        return [at for at, cell in enumerate(self._rows.cells) if cell.key in self._chosen and self._is_lit(at)]

    def _is_lit(self, index: int) -> bool:
        return self._dim is None or not self._dim[index]

    def set_chosen(self, keys: Collection[str]) -> None:
        """Show these as chosen (``platform:shop_id``), of which some may have no cell."""
        chosen = frozenset(keys)
        if chosen != self._chosen:
            self._chosen = chosen
            self._announce()
            self.update()

    def choose_none(self) -> None:
        """Choose no shop any more."""
        self._choose(frozenset())

    def _choose(self, keys: frozenset[str]) -> None:
        if keys != self._chosen:
            self.set_chosen(keys)
            self.chosen_changed.emit()

    def _toggle(self, index: int) -> None:
        self._anchor = self._rows.cells[index].key
        if self._is_lit(index):
            self._choose(self._chosen ^ {self._anchor})

    def _choose_to(self, index: int) -> None:
        """All from where one chose last up to this one."""
        keys = [cell.key for cell in self._rows.cells]
        begin = keys.index(self._anchor) if self._anchor in keys else index
        first, last = sorted((begin, index))
        self._choose_lit(range(first, last + 1))

    def _choose_lit(self, places: Iterable[int]) -> None:
        self._choose(self._chosen.union(self._rows.cells[at].key for at in places if self._is_lit(at)))

    def _dimmed(self) -> Dim | None:
        lit = self._lit
        if lit is None:
            return None
        return np.fromiter((cell.key not in lit for cell in self._rows.cells), np.bool_, len(self._rows.cells))

    def rect_of(self, platform: str, shop_id: str) -> QRectF:
        """Where a shop is drawn; empty when it is not."""
        index = self._rows.index_of(platform, shop_id)
        return self._room_of(index) if index >= 0 else QRectF()

    def _room_of(self, index: int) -> QRectF:
        left, top, side = self._layout_of.rect_of(index)
        return QRectF(left, top, side, side)

    def _zoomed(self, old: Rows) -> int:
        """Where the keys go on: at the group that was left, or at the first shop of the one that was opened."""
        if not self._by_key or self._current < 0:
            return -1
        if old.within is not None and self._rows.inside:
            return self._rows.index_of(*old.within)
        return 0 if self._rows.cells else -1

    def _follow(self, old: Rows) -> int:
        """The present place of the shop that was current."""
        if not 0 <= self._current < len(old.cells):
            return -1
        cell = old.cells[self._current]
        return self._rows.index_of(cell.platform, cell.shop_id)

    # geometry

    def sizeHint(self) -> QSize:
        """Return the height of the present width."""
        return QSize(600, max(HEADER, round(self._layout_of.height)))

    def minimumSizeHint(self) -> QSize:
        """Return the same height; any width will do."""
        return QSize(120, max(HEADER, round(self._layout_of.height)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the blocks for another width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._relayout()

    def _relayout(self) -> None:
        metrics = QFontMetrics(theme().font("label"))
        strong = QFontMetrics(theme().font("labelstrong"))
        headers = []
        for group in self._rows.groups:
            # As wide as if all were flagged, so that a change of state moves no block.
            name, note = self.header_of(replace(group, flagged=group.total))
            headers.append(strong.horizontalAdvance(name) + 10.0 + metrics.horizontalAdvance(note) + 2)
        layout = arrange(self._rows, self.width(), headers, self.devicePixelRatioF())
        if layout.places() != self._layout_of.places():
            self._layer = None
        self._layout_of = layout
        height = max(HEADER, round(layout.height))
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.updateGeometry()
            self.resized.emit()
        self.update()

    def header_of(self, group: Group) -> tuple[str, str]:
        """Name and note of a block: ``Pinduoduo``, ``168 shops · 24 flagged``."""
        shops = ngettext("{n} shop", "{n} shops", group.total).format(n=f"{group.total:,}")
        flagged = ngettext("{n} flagged", "{n} flagged", group.flagged).format(n=f"{group.flagged:,}")
        return platform_name(group.platform), f"{shops} · {flagged}" if group.flagged else shops

    def _restyle(self) -> None:
        self._atlas = self._layer = None
        self._numbers = NONE, self._layout_of, None, QPixmap()
        self._announce()
        self._relayout()

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw headers, the finished picture of all cells, and a ring around the current one."""
        painter = QPainter(self)
        layer = self._drawn()
        painter.drawImage(QPointF(0, 0), layer.image)
        for block in self._layout_of.blocks:
            self._paint_header(painter, block.group, QRectF(block.x, block.y, block.width, HEADER - 6))
            if self._rows.aggregated:
                self._paint_bar(painter, block.group, QRectF(block.x, block.y + HEADER - 2, block.width, BAR - 8))
        if self._rows.inside:
            painter.drawPixmap(0, 0, self._numbers_drawn())
        if self._marked[1]:
            platform, shop_id, group = self._marked
            self._paint_mark(painter, self.rect_of(platform, group if self._rows.inside else shop_id))
        for at in self._chosen_places():
            self._paint_mark(painter, self._room_of(at))
        if not self._box.isEmpty():
            painter.setBrush(theme().tint("accent", 32))
            painter.setPen(QPen(theme().color("accent"), 1))
            painter.drawRect(self._box)
        if self._current >= 0:
            self._paint_ring(painter)

    def _drawn(self) -> Layer:
        ratio, layout = self.devicePixelRatioF(), self._layout_of
        if self._atlas is None or self._atlas.key != (layout.cell, layout.pitch, ratio, theme().tokens):
            self._atlas, self._layer = Atlas(layout.cell, layout.pitch, ratio), None
        if self._layer is None:
            self._layer = Layer(self._atlas, layout, self.width(), ratio)
        self._layer.show(self._atlas.numbers(self._rows, self._filter, self._dim))
        return self._layer

    def _numbers_drawn(self) -> QPixmap:
        """Of a thousand groups they take longer than all else; a mouse that moves over them changes none."""
        ratio = self.devicePixelRatioF()
        by = (theme().tokens, ratio, self.size())
        rows, layout, how, drawn = self._numbers
        if rows is not self._rows or layout is not self._layout_of or how != by:
            drawn = QPixmap(self.size() * ratio)
            drawn.setDevicePixelRatio(ratio)
            drawn.fill(Qt.GlobalColor.transparent)
            painter = QPainter(drawn)
            self._paint_numbers(painter)
            painter.end()
            self._numbers = self._rows, self._layout_of, by, drawn
        return drawn

    def _paint_numbers(self, painter: QPainter) -> None:
        """In each cell how many of its group are in its state; what else the cells tell has no number of shops."""
        painter.setFont(theme().font("labelstrong"))
        for at, (cell, states) in enumerate(zip(self._rows.cells, self._rows.inside, strict=True)):
            look = kinds()[self._rows.kinds[at]][0]
            by_state = look in LOOKS
            painter.setPen(theme().color((LOOKS[look][2] or "text2") if by_state else "text"))
            left, top, side = self._layout_of.rect_of(at)
            number = states[cell.state] if by_state else sum(states.values())
            below = side * 0.45 if by_state and LOOKS[look][1] else 0.0
            painter.drawText(QRectF(left, top + below, side, side - below - 2), _MIDDLE, text.compact(number))

    def _paint_header(self, painter: QPainter, group: Group, room: QRectF) -> None:
        name, note = self.header_of(group)
        font = theme().font("labelstrong")
        painter.setFont(font)
        painter.setPen(theme().color("text"))
        painter.drawText(room, _LEFT, name)
        painter.setFont(theme().font("label"))
        painter.setPen(theme().color("text3"))
        painter.drawText(room.adjusted(QFontMetrics(font).horizontalAdvance(name) + 10, 0, 0, 0), _LEFT, note)

    def _paint_bar(self, painter: QPainter, group: Group, room: QRectF) -> None:
        left = room.left()
        for state in STATES:
            wide = room.width() * group.states.get(state, 0) / max(1, group.total)
            if wide:
                painter.fillRect(QRectF(left, room.top(), max(1.0, wide - 1), room.height()), fill_of(state))
            left += wide
        painter.setPen(theme().color("line2"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(room.adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_mark(self, painter: QPainter, room: QRectF) -> None:
        if not room.isEmpty():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme().color("surface"), 2))
            painter.drawRoundedRect(room.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
            painter.setPen(QPen(theme().color("accent"), 2))
            painter.drawRoundedRect(room.adjusted(-1, -1, 1, 1), 4, 4)

    def _paint_ring(self, painter: QPainter) -> None:
        left, top, side = self._layout_of.rect_of(self._current)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        ring = QRectF(left, top, side, side)
        painter.setPen(QPen(theme().color("surface"), 2))
        painter.drawRoundedRect(ring.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        draw_focus(painter, ring.adjusted(-2, -2, 2, 2), keys=self.hasFocus() and self._by_key)

    # the current shop

    def set_current(self, index: int, *, by_key: bool = False) -> None:
        """Put the ring and the card on a shop; -1 takes them away."""
        if index == self._current:
            return
        self._current, self._by_key = index, by_key
        cell = self.current
        self.current_changed.emit(cell.platform if cell else "", cell.shop_id if cell else "")
        self._announce()
        if by_key:
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
            self.stepped.emit(QRectF(*self._layout_of.rect_of(index), self._layout_of.cell))
        self._show_card()
        self.setCursor(Qt.CursorShape.PointingHandCursor if cell else Qt.CursorShape.ArrowCursor)
        self.update()

    def _show_card(self) -> None:
        cell = self.current
        if cell is None or not self.isVisible():
            if self._card is not None:
                self._card.hide()
            return
        if self._card is None or self._card.parentWidget() is not self.window():
            self._card = HeatCard(self.window())
        inside = self._rows.inside[self._current] if self._rows.inside else {}
        left, top, side = self._layout_of.rect_of(self._current)
        corner = self.mapTo(self.window(), QPointF(left, top).toPoint())
        self._card.show_cell(cell, corner, round(side), inside, states_only=self._states_only)

    def _announce(self) -> None:
        self.setAccessibleName(_("Shops by worst state"))
        cell = self.current
        if cell is not None:
            inside = self._rows.inside[self._current] if self._rows.inside else {}
            said = sentence(cell, platform_name(cell.platform), inside, states_only=self._states_only)
            chosen = (_("selected"),) if cell.key in self._chosen and self._is_lit(self._current) else ()
            self.setAccessibleDescription("; ".join((said, *chosen)))
            return
        parts = [f"{platform_name(g.platform)}: {self.header_of(g)[1]}" for g in self._rows.groups]
        self.setAccessibleDescription("; ".join(parts) or _("No shops yet"))

    # mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """With Ctrl or Shift begin to choose."""
        if self._choosable and event.modifiers() & _CHOOSING and event.button() == Qt.MouseButton.LeftButton:
            self._drag_from = event.position()
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the mouse."""
        began, place = self._drag_from, event.position()
        if began is not None:
            if not self._box.isEmpty() or (place - began).manhattanLength() >= QApplication.startDragDistance():
                self.set_current(-1)
                # along one row it would be of no height, and touch nothing
                self._box = QRectF(began, place).normalized().adjusted(-0.5, -0.5, 0.5, 0.5)
                self.update()
            return
        self.set_current(self._layout_of.index_at(event.position().x(), event.position().y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the shop that was clicked, or choose it; a drag chooses all that it touches."""
        index = self._layout_of.index_at(event.position().x(), event.position().y())
        if self._drag_from is not None and event.button() == Qt.MouseButton.LeftButton:
            box, self._drag_from, self._box = self._box, None, QRectF()
            if not box.isEmpty():
                self._choose_lit(at for at in range(len(self._rows.cells)) if box.intersects(self._room_of(at)))
                self.update()
            elif index >= 0 and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self._choose_to(index)
            elif index >= 0:
                self._toggle(index)
            return
        if event.button() == Qt.MouseButton.LeftButton and index >= 0:
            self._anchor = self._rows.cells[index].key
            self._open(index)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu of the shop under the mouse, or of the one that the keys chose."""
        at, index = event.globalPos(), self._current
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            index = self._layout_of.index_at(event.pos().x(), event.pos().y())
        elif index >= 0:
            left, top, side = self._layout_of.rect_of(index)
            at = self.mapToGlobal(QPointF(left, top + side).toPoint())
        if not 0 <= index < len(self._rows.cells):
            offer_table(self, event, (N_("Shop"), N_("Platform"), N_("State"), N_("Tasks")), self._in_words())
            return
        cell, copy = self._rows.cells[index], QGuiApplication.clipboard().setText
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._rows.inside:
            menu.addAction(_("Show its shops"), partial(self._open, index))
            self.group_menu_filled.emit(menu, cell.platform, cell.group)
            menu.addAction(_("Copy name"), partial(copy, group_name(cell.group)))
        else:
            menu.addAction(_("Open shop"), partial(self.shop_clicked.emit, cell.platform, cell.shop_id))
            self.menu_filled.emit(menu, cell.key)
            menu.addSeparator()
            menu.addAction(_("Copy name"), partial(copy, cell.name))
            menu.addAction(_("Copy id"), partial(copy, cell.shop_id))
        menu.popup(at)

    def _in_words(self) -> list[tuple[str, str, str, str]]:
        """All cells, the last one first."""
        grouped = bool(self._rows.inside)
        return [
            (
                group_name(one.group) if grouped else safe.one_line(one.name),
                platform_name(one.platform),
                shop.state(one),
                count_words(one),
            )
            for one in reversed(self._rows.cells)
        ]

    def leaveEvent(self, event: QEvent) -> None:
        """Take the card away."""
        if not self._by_key:
            self.set_current(-1)
        super().leaveEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring of the keys away."""
        if self._by_key:
            self.set_current(-1)
        super().focusOutEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Begin at the first shop when the focus came by a key."""
        keys = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
        if event.reason() in keys and self._current < 0 and self._rows.cells:
            self.set_current(0, by_key=True)
        super().focusInEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave no card behind on another page."""
        self.set_current(-1)
        super().hideEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from shop to shop, open one."""
        key, with_ctrl = Qt.Key(event.key()), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        last = len(self._rows.cells) - 1
        if key in _STEPS and last >= 0:
            self._step(key, choosing=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End) and last >= 0:
            self.set_current(0 if key == Qt.Key.Key_Home else last, by_key=True)
        elif key == Qt.Key.Key_Space and self._choosable and with_ctrl and self._current >= 0:
            self._toggle(self._current)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._current >= 0:
            self._open(self._current)
        elif key == Qt.Key.Key_Escape and self.chosen:
            self.choose_none()
        elif key == Qt.Key.Key_Escape and self._rows.within is not None:
            self.left.emit()
        elif key == Qt.Key.Key_Escape and self._current >= 0:
            self.set_current(-1)
        else:
            super().keyPressEvent(event)

    def _step(self, key: Qt.Key, *, choosing: bool) -> None:
        before = self._current
        index = 0 if before < 0 else self._layout_of.step(before, *_STEPS[key])
        if choosing and self._choosable and before >= 0:
            self._choose_lit((before, index))
        self.set_current(index, by_key=True)

    def _open(self, index: int) -> None:
        cell = self._rows.cells[index]
        if self._rows.inside:
            self.group_clicked.emit(cell.platform, cell.group)
        else:
            self.shop_clicked.emit(cell.platform, cell.shop_id)


_PAD, _LINE, _GAP, _MOST = 10, 20, 16, 420
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_WRAP = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap)
_ELIDE = Qt.TextElideMode.ElideRight


def count_words(cell: ShopNow) -> str:
    """What waits, runs and died."""
    parts = (
        ngettext("{n} waiting", "{n} waiting", cell.waiting).format(n=f"{cell.waiting:,}"),
        ngettext("{n} running", "{n} running", cell.running).format(n=f"{cell.running:,}"),
        ngettext("{n} dead", "{n} dead", cell.dead).format(n=f"{cell.dead:,}"),
    )
    return " · ".join(parts)


def group_name(group: str) -> str:
    """What a group of shops is called; those in none have a cell, too."""
    return safe.one_line(group) if group else _("Without a group")


def inside_words(states: Mapping[str, int]) -> tuple[str, ...]:
    """The shops of a group by state, the worst first."""
    return tuple(f"{shop.word(state)} {states[state]:,}" for state in STATES if states.get(state))


def sentence(
    cell: ShopNow, platform: str, inside: Mapping[str, int] | None = None, *, states_only: bool = False
) -> str:
    """The card in one sentence, for screen readers."""
    if inside:
        return f"{group_name(cell.group)}, {platform}: {', '.join(inside_words(inside))}; {count_words(cell)}"
    who = f"{safe.one_line(cell.name)}, {platform} {safe.one_line(cell.shop_id)}"
    if states_only:
        return f"{who}: {shop.state(cell)}"
    told = shop.why(cell, instant.now_ms())
    return f"{who}: {shop.state(cell)}; {told}; {count_words(cell)}"


class HeatCard(QWidget):
    """Floats in the window, takes no mouse."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._cell: ShopNow | None = None
        self._inside: Mapping[str, int] = {}
        self._states_only = False
        self._name = self._id = ""
        self._why: tuple[str, ...] = ()
        self._tall: list[int] = []  #: heights of the lines below the state
        self.hide()
        ticks().tell(self, self._on_tick)

    @property
    def cell(self) -> ShopNow | None:
        """The shop shown."""
        return self._cell

    def show_cell(
        self,
        cell: ShopNow,
        corner: QPoint,
        side: int,
        inside: Mapping[str, int] | None = None,
        *,
        states_only: bool = False,
    ) -> None:
        """Show a shop beside its cell, whose corner is given in the window; or a group, with its shops by state."""
        self._inside, self._states_only = inside or {}, states_only
        self._tell(cell)
        self.move(self._place(corner, side))
        self.show()
        self.raise_()

    def _on_tick(self) -> None:
        """Say again how far away everything is of which it tells."""
        if self.isVisible() and self._cell is not None:
            self._tell(self._cell)

    def _tell(self, cell: ShopNow) -> None:
        why = inside_words(self._inside) or tuple(shop.said(one) for one in insight.reasons(cell, instant.now_ms()))
        if self._states_only:
            why = ()
        if (cell, why) != (self._cell, self._why):
            self._cell, self._why = cell, why
            self._name, self._id = safe.one_line(cell.name, 60), cell.shop_id[:40]
            if self._inside:
                self._name, total = group_name(cell.group), sum(self._inside.values())
                self._id = ngettext("{n} shop", "{n} shops", total).format(n=f"{total:,}")
            self.resize(self._size(cell))
            self.update()

    def _size(self, cell: ShopNow) -> QSize:
        strong, label = QFontMetrics(theme().font("strong")), QFontMetrics(theme().font("label"))
        head = strong.horizontalAdvance(self._name) + _GAP + label.horizontalAdvance(self._id)
        state = label.horizontalAdvance(shop.state(cell)) + 20
        lines = self._lines(cell)
        width = max(head, state, 180, *(label.horizontalAdvance(words) for words in lines))
        width = min(_MOST - 2 * _PAD, width)
        self._tall = [
            max(_LINE, label.boundingRect(QRect(0, 0, width, 200), _WRAP, words).height() + 4) for words in lines
        ]
        return QSize(width + 2 * _PAD, 2 * _PAD + 2 * _LINE + sum(self._tall) - 4)

    def _lines(self, cell: ShopNow) -> tuple[str, ...]:
        """What is said below the state."""
        return () if self._states_only else (*self._why, count_words(cell))

    def _place(self, corner: QPoint, side: int) -> QPoint:
        """Below and to the right, or on the side with room."""
        window = self.parentWidget()
        room = QRect(QPoint(4, 4), (window.size() if window is not None else self.size()) - QSize(8, 8))
        x, y = corner.x() + side + 6, corner.y() - 8
        if x + self.width() > room.right():
            x = corner.x() - self.width() - 6
        return QPoint(max(room.left(), x), max(room.top(), min(y, room.bottom() - self.height())))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the card."""
        cell = self._cell
        if cell is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme().color("line2"))
        painter.setBrush(theme().color("raised"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_BUTTON, RADIUS_BUTTON)
        row = QRectF(_PAD, _PAD - 2, self.width() - 2 * _PAD, _LINE)
        self._words(painter, row, self._id, "label", "text3", flags=_RIGHT)
        taken = QFontMetrics(theme().font("label")).horizontalAdvance(self._id) + 8
        self._words(painter, row.adjusted(0, 0, -taken, 0), self._name, "strong", "text")
        token = status(cell.state)
        row.translate(0, _LINE)
        painter.drawPixmap(QPointF(row.left(), row.center().y() - 6), theme().pixmap(token.glyph, token.role, 12))
        self._words(painter, row.adjusted(18, 0, 0, 0), shop.state(cell), "label", token.role)
        painter.setFont(theme().font("label"))
        top = row.bottom()
        for words, tall in zip(self._lines(cell), self._tall, strict=True):
            painter.setPen(theme().color("text2" if words in self._why else "text3"))
            painter.drawText(QRectF(row.left(), top, row.width(), tall), _WRAP, words)
            top += tall

    def _words(self, painter: QPainter, room: QRectF, words: str, kind: str, ink: str, *, flags: int = _LEFT) -> None:
        font = theme().font(kind)
        painter.setFont(font)
        painter.setPen(theme().color(ink))
        painter.drawText(room, flags, QFontMetrics(font).elidedText(words, _ELIDE, int(room.width())))
