"""One number of the fleet: glyph, label, value, a line of context, its curve. A click opens the list it counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QSizePolicy, QWidget

from services.i18n import _
from views.charts.sparkline import paint_sparkline
from views.support.elide import shorter
from views.support.keys import beside, pressed
from views.support.language import say_in_language
from views.support.paint import cut, draw_focus, outlines, width_of, write
from views.theme import theme
from views.theme.tokens import CARD_GAP, RADIUS_CARD

#: at the usual size of the text; the words grow with it, the curve does not
HEIGHT, MIN_WIDTH = 113, 136
_CURVE = 34
_PAD, _GLYPH = 14, 14
_NUMBER = 22, 38  #: the line of the number: where, how tall
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_STEPS = {"overview.earlier": -1, "overview.later": 1}
_BASE = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)


class Kpi(msgspec.Struct, frozen=True, kw_only=True):
    """What a tile shows now; every text is in the language of the moment."""

    value: str
    unit: str = ""
    context: str = ""
    sentence: str = ""  #: for screen readers: "Dead letters 143, above limit 100, up 98 in one hour"
    alarm: bool = False
    calm: bool = False  #: nothing there: no colour either


class KpiTile(QAbstractButton):
    """A tile that is a door.

    Signals:
        clicked: open the list (as in Qt; also by Enter and Space).
        copied: the value went to the clipboard.
        menu_wanted: the context menu is about to be shown: more may be added to this ``QMenu``.
        step_wanted: a key moves it among the others, by so many places.
        dragged: it is dragged to this place, in what holds it.
        dropped: the drag is over: whether it stays where it is now.
    """

    copied = Signal(str)
    menu_wanted = Signal(object)
    step_wanted = Signal(int)
    dragged = Signal(QPoint)
    dropped = Signal(bool)

    def __init__(
        self, label: str, glyph: str, role: str, *, alarm_role: str = "", filled: bool = False, tip: str = ""
    ) -> None:
        """Take source text of label and tip, icon and role; ``alarm_role`` colours it above its limit."""
        super().__init__()
        self._label, self._glyph, self._tip = label, glyph, tip
        self._role, self._alarm_role, self._filled = role, alarm_role or role, filled
        self._kpi = Kpi(value="")
        self._values: tuple[float, ...] = ()
        self._limit: float | None = None
        self._base: float | None = None
        self._curve: QPixmap | None = None
        self.movable = False  #: by a person, among others
        self._pressed_at: QPoint | None = None  #: where a drag may begin
        self._drags = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self._restyle)
        say_in_language(self._announce)

    # what is shown

    @property
    def kpi(self) -> Kpi:
        """What is shown."""
        return self._kpi

    @property
    def curve(self) -> tuple[float, ...]:
        """The numbers of its curve, the newest last."""
        return self._values

    def show_kpi(self, kpi: Kpi) -> None:
        """Show a value; nothing is painted when it is the same."""
        if kpi == self._kpi:
            return
        if (kpi.alarm, kpi.calm) != (self._kpi.alarm, self._kpi.calm):
            self._curve = None
        number_only = replace(self._kpi, value=kpi.value, unit=kpi.unit, sentence=kpi.sentence) == kpi
        self._kpi = kpi
        self._announce()
        if number_only:  # every second where it counts on
            top, tall = map(_grown, _NUMBER)
            self.update(0, top, self.width(), tall)
        else:
            self.update()

    def show_curve(self, values: Sequence[float], *, limit: float | None = None, base: float | None = None) -> None:
        """Show the curve of the selected range."""
        self._values, self._limit, self._base = tuple(float(v) for v in values), limit, base
        self._curve = None
        self.update()

    def _announce(self) -> None:
        plain = f"{_(self._label)} {self._kpi.value}{self._kpi.unit}".strip()
        self.setAccessibleName(self._kpi.sentence or ", ".join(part for part in (plain, self._kpi.context) if part))
        tip = _(self._tip) if self._tip and self.isEnabled() else ""  # a door that is shut leads nowhere
        self.setToolTip("\n".join(part for part in (self._kpi.context, tip) if part))
        self.setAccessibleDescription("" if self.isEnabled() else self._kpi.context)

    def changeEvent(self, event: QEvent) -> None:
        """Tell what a click does while one does something."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.EnabledChange:
            self._announce()
            self.setCursor(Qt.CursorShape.PointingHandCursor if self.isEnabled() else Qt.CursorShape.ArrowCursor)

    def _restyle(self) -> None:
        self._curve = None
        self.updateGeometry()
        self.update()

    # geometry and paint

    def sizeHint(self) -> QSize:
        """Return the size of one of seven at 1,600 px."""
        return QSize(185, height())

    def minimumSizeHint(self) -> QSize:
        """Return the least that holds ``33 m 02 s``."""
        return QSize(MIN_WIDTH, height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline, edge = outlines(self.width(), self.height(), RADIUS_CARD, 1)
        painter.fillPath(outline, theme().color("raised" if self.underMouse() and self.isEnabled() else "surface"))
        self._paint_curve(painter)
        if self._kpi.alarm:
            painter.setClipPath(outline)
            painter.fillRect(QRectF(0, 0, self.width(), 2.5), theme().color(self._alarm_role))
            painter.setClipping(False)
        if self.hasFocus():
            draw_focus(painter, self.rect(), RADIUS_CARD)
        else:
            painter.fillPath(edge, theme().color("line"))
        if self._kpi.alarm and not self.hasFocus():
            painter.setClipRect(QRectF(0, 0, self.width(), 2.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme().color(self._alarm_role), 2))
            painter.drawPath(outline)
            painter.setClipping(False)
        self._paint_texts(painter)

    def _paint_texts(self, painter: QPainter) -> None:
        alarm = self._kpi.alarm
        role = self._ink()
        width = self.width() - 2 * _PAD
        painter.drawPixmap(QPointF(_PAD, _grown(18) - _GLYPH // 2), theme().pixmap(self._glyph, role, _GLYPH))
        title = QRectF(_PAD + _GLYPH + 7, _grown(8), width - _GLYPH - 7, _grown(20))
        self._words(painter, title, _(self._label), "label", "text2")
        left = self._value(painter, role if alarm else "text")
        if self._kpi.unit:
            painter.setFont(theme().font("label"))
            painter.setPen(theme().color("text3"))
            painter.drawText(QRectF(left + 3, _grown(27), 40, _grown(25)), _BASE, self._kpi.unit)
        context = QRectF(_PAD, _grown(59), width + 8, _grown(18))
        self._words(painter, context, self._kpi.context, "caption", role if alarm else "text2")

    def _ink(self) -> str:
        if self._kpi.alarm:
            return self._alarm_role
        return "text3" if self._kpi.calm else self._role

    def _value(self, painter: QPainter, ink: str) -> float:
        font = theme().font("kpi")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(theme().color(ink))
        room = self.width() - 2 * _PAD + 6
        wide = metrics.horizontalAdvance(self._kpi.value)
        painter.save()
        painter.translate(_PAD, 0)
        if wide > room:
            # a longer value than foreseen: smaller, never cut
            painter.translate(0, _grown(42))
            painter.scale(room / wide, room / wide)
            painter.translate(0, -_grown(42))
        painter.drawText(QRectF(0, _grown(26), wide + 4, _grown(32)), _LEFT, self._kpi.value)
        painter.restore()
        return _PAD + min(wide, room)

    def _words(self, painter: QPainter, room: QRectF, words: str, kind: str, ink: str) -> None:
        whole = shorter(words, lambda some: width_of(some, kind) <= room.width())
        write(painter, room, cut(whole, kind, int(room.width())), kind, ink)

    def _paint_curve(self, painter: QPainter) -> None:
        ratio = self.devicePixelRatioF()
        if self._curve is None or self._curve.size() != QSize(self.width(), _CURVE) * ratio:
            self._curve = QPixmap(QSize(self.width(), _CURVE) * ratio)
            self._curve.setDevicePixelRatio(ratio)
            self._curve.fill(Qt.GlobalColor.transparent)
            inner = QPainter(self._curve)
            # the corners are cut here, once: a clip of the tile would cost more than everything else in it
            corners = QPainterPath()
            corners.addRoundedRect(QRectF(0.5, -20.5, self.width() - 1, 54), RADIUS_CARD, RADIUS_CARD)
            inner.setClipPath(corners)
            room = QRectF(1, 8, self.width() - 5, 21)
            role = self._ink()
            filled = self._filled or self._kpi.alarm
            paint_sparkline(inner, room, self._values, role, limit=self._limit, filled=filled, base=self._base)
            inner.end()
        painter.drawPixmap(QPoint(0, self.height() - _CURVE), self._curve)

    # mouse, keys and menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter open the list too; Ctrl+C copies the value, Ctrl+Shift with an arrow moves the tile."""
        step = next((by for name, by in _STEPS.items() if pressed(event, name)), 0) if self.movable else 0
        if step:
            self.step_wanted.emit(step)
        elif event.key() == Qt.Key.Key_Escape and self._drags:
            self._end_drag(stays=False)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif event.key() == Qt.Key.Key_C and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.copy_value()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click opens the list, a drag moves the tile."""
        self._pressed_at = event.position().toPoint() if event.button() == Qt.MouseButton.LeftButton else None
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go along with the mouse."""
        place, began = event.position().toPoint(), self._pressed_at
        if self.movable and began is not None and not self._drags:
            self._drags = (place - began).manhattanLength() >= QApplication.startDragDistance()
            if self._drags:
                self.setDown(False)  # no click any more
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
        if self._drags:
            self.dragged.emit(self.mapToParent(place))
        else:
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stay where it was dragged to; a click with Ctrl leads to a window of its own."""
        self._pressed_at = None
        with beside(event):
            super().mouseReleaseEvent(event)
        if self._drags:
            self._end_drag(stays=True)

    def _end_drag(self, *, stays: bool) -> None:
        self._pressed_at, self._drags = None, False
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.dropped.emit(stays)

    def copy_value(self) -> None:
        """Put the value on the clipboard."""
        value = f"{self._kpi.value}{self._kpi.unit}"
        QGuiApplication.clipboard().setText(value)
        self.copied.emit(value)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the value."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(_("Open the list"), self.click)
        menu.addAction(_("Copy value"), self.copy_value)
        self.menu_wanted.emit(menu)
        menu.popup(event.globalPos())


def height() -> int:
    """How tall a tile is at the size of the text of the moment."""
    return _CURVE + _grown(HEIGHT - _CURVE)


def _grown(pixels: float) -> int:
    return round(pixels * theme().growth)


def columns_for(count: int, width: int) -> int:
    """Tiles in each row: rows as even as possible, so that no tile stands alone."""
    fit = max(1, min(count, (width + CARD_GAP) // (MIN_WIDTH + CARD_GAP)))
    rows = -(-count // fit)
    return -(-count // rows)


class TileGrid(QWidget):
    """Lays out its tiles by hand: a grid layout would not wrap. ``movable``: a person may put them in another order.

    Signals:
        ordered: a person has moved one.
    """

    ordered = Signal()

    def __init__(self, tiles: Sequence[KpiTile], *, movable: bool = False) -> None:
        super().__init__()
        self._tiles = list(tiles)
        self._before: list[KpiTile] | None = None  #: their order when a drag began
        for tile in self._tiles:
            tile.setParent(self)
            tile.movable = movable
            tile.step_wanted.connect(partial(self.step, tile))
            tile.dragged.connect(partial(self._on_dragged, tile))
            tile.dropped.connect(self._on_dropped)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(height())
        theme().changed.connect(self._place)

    def sizeHint(self) -> QSize:
        return QSize(7 * MIN_WIDTH, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(2 * MIN_WIDTH, height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the tiles."""
        super().resizeEvent(event)
        self._place()

    @property
    def tiles(self) -> tuple[KpiTile, ...]:
        """The tiles as they stand."""
        return tuple(self._tiles)

    def set_tiles(self, tiles: Sequence[KpiTile]) -> None:
        """Put the same tiles in this order; the tab key follows."""
        self._tiles = list(tiles)
        for one, other in pairwise(self._tiles):
            QWidget.setTabOrder(one, other)
        self._place()

    def step(self, tile: KpiTile, by: int) -> None:
        """Move one by so many places."""
        place = self._tiles.index(tile) + by
        if 0 <= place < len(self._tiles):
            self._put(tile, place)
            self.ordered.emit()

    def _put(self, tile: KpiTile, place: int) -> None:
        others = [one for one in self._tiles if one is not tile]
        self.set_tiles([*others[:place], tile, *others[place:]])

    def _on_dragged(self, tile: KpiTile, to: QPoint) -> None:
        self._before = self._before or self._tiles
        place = next((place for place, one in enumerate(self._tiles) if one.geometry().contains(to)), -1)
        if place >= 0 and self._tiles[place] is not tile:
            self._put(tile, place)

    def _on_dropped(self, stays: bool) -> None:
        before, self._before = self._before, None
        if before is None or before == self._tiles:
            return
        if stays:
            self.ordered.emit()
        else:
            self.set_tiles(before)

    def _place(self) -> None:
        columns, tall = columns_for(len(self._tiles), self.width()), height()
        rows = -(-len(self._tiles) // columns)
        for place, tile in enumerate(self._tiles):
            row, column = divmod(place, columns)
            in_row = columns if row < rows - 1 else len(self._tiles) - columns * (rows - 1)
            left = round(column * (self.width() + CARD_GAP) / in_row)
            right = round((column + 1) * (self.width() + CARD_GAP) / in_row) - CARD_GAP
            tile.setGeometry(QRect(left, row * (tall + CARD_GAP), right - left, tall))
        self.setFixedHeight(rows * tall + (rows - 1) * CARD_GAP)
