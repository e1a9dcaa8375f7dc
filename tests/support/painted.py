"""Every text that a widget paints, where it stands and what of it is cut off or lies over another.

Widgets are rendered into a device that draws nothing and notes what it is asked to write, so a text is found however
it is made: by a label, a delegate, a chart or a painter of our own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPaintDevice, QPaintEngine, QRegion, QTextItem
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QHeaderView, QScrollArea, QWidget

from services.i18n import _
from views.tables.delegates import PADDING, covered_rows
from views.tables.painters import text_kind
from views.tables.table_view import TableView
from views.theme import theme

#: pixels that nobody misses: glyphs stand a little inside the box that their font reserves for them
SPARE = 2.0
#: of the height of a line: rows stand close, and only what covers more of another line than this is unreadable
COVERED = 0.35
#: of the height of a line: letters are lower than what their font reserves for them
LOW = 0.25
#: so long are sentences that end in how many
SENTENCE = 80
_DPI = 96
_M = QPaintDevice.PaintDeviceMetric
_FAR = 1 << 20
_EVERYTHING = QPaintEngine.PaintEngineFeature.AllFeatures


@dataclass(frozen=True, slots=True)
class Painted:
    """One piece of text; both boxes in pixels of the widget that was rendered."""

    text: str
    box: QRectF
    seen: QRectF  #: what the clip leaves of its surroundings
    floor: int = 0  #: which child of the window it stands in: what floats over the window covers what is below
    low: float = 0.0  #: how many pixels of its height are hidden where nobody can scroll to them

    @property
    def cut(self) -> float:
        """How many pixels of its width nobody sees."""
        return max(self.seen.left() - self.box.left(), 0.0) + max(self.box.right() - self.seen.right(), 0.0)

    @property
    def shown(self) -> QRectF:
        """What of it is seen."""
        return self.box.intersected(self.seen)


@dataclass(slots=True)
class _Notes:
    painted: list[Painted] = field(default_factory=list)


class _Engine(QPaintEngine):
    def __init__(self, notes: _Notes, room: QRectF) -> None:
        super().__init__(_EVERYTHING & ~QPaintEngine.PaintEngineFeature.PaintOutsidePaintEvent)
        self._notes, self._room = notes, room

    def begin(self, pdev: QPaintDevice) -> bool:
        del pdev
        return True

    def end(self) -> bool:
        return True

    def type(self) -> QPaintEngine.Type:
        return QPaintEngine.Type.User

    def updateState(self, state: object) -> None:
        del state

    def drawTextItem(self, p: QPointF, textItem: QTextItem) -> None:
        painter = self.painter()
        if not textItem.text().strip() or painter.opacity() < 0.05 or not painter.pen().color().alpha():
            return
        way = painter.deviceTransform()
        height = textItem.ascent() + textItem.descent()
        box = way.mapRect(QRectF(p.x(), p.y() - textItem.ascent(), textItem.width(), height))
        seen = self._room
        if painter.hasClipping():
            seen = seen.intersected(way.mapRect(painter.clipBoundingRect()))
        self._notes.painted.append(Painted(textItem.text(), box, seen))

    def drawPixmap(self, *_args: object) -> None: ...

    def drawTiledPixmap(self, *_: object) -> None: ...

    def drawImage(self, *_: object) -> None: ...

    def drawPath(self, *_: object) -> None: ...

    def drawPolygon(self, *_: object) -> None: ...

    def drawRects(self, *_: object) -> None: ...

    def drawLines(self, *_: object) -> None: ...

    def drawEllipse(self, *_: object) -> None: ...

    def drawPoints(self, *_: object) -> None: ...


class _Paper(QPaintDevice):
    def __init__(self, width: int, height: int) -> None:
        super().__init__()
        self.notes = _Notes()
        self._engine = _Engine(self.notes, QRectF(0, 0, width, height))
        self._metrics = {
            _M.PdmWidth: width,
            _M.PdmHeight: height,
            _M.PdmWidthMM: round(width * 25.4 / _DPI),
            _M.PdmHeightMM: round(height * 25.4 / _DPI),
            _M.PdmDpiX: _DPI,
            _M.PdmDpiY: _DPI,
            _M.PdmPhysicalDpiX: _DPI,
            _M.PdmPhysicalDpiY: _DPI,
            _M.PdmDepth: 32,
            _M.PdmNumColors: 1 << 24,
            _M.PdmDevicePixelRatio: 1,
            _M.PdmDevicePixelRatioScaled: 0x10000,
        }

    def paintEngine(self) -> QPaintEngine:
        return self._engine

    def metric(self, metric: QPaintDevice.PaintDeviceMetric) -> int:
        return self._metrics.get(metric, 0)


def painted(window: QWidget) -> tuple[Painted, ...]:
    """What the window and its visible children write, but for what lies below something that floats over them."""
    found: list[Painted] = []
    for widget in (window, *window.findChildren(QWidget)):
        if not widget.isVisible() or widget.window() is not window or not widget.width() or not widget.height():
            continue
        paper = _Paper(widget.width(), widget.height())
        widget.render(paper, renderFlags=QWidget.RenderFlag.DrawWindowBackground)
        here = QPointF(widget.mapTo(window, QPoint(0, 0)))
        room, fixed = QRectF(_room(widget)).translated(here), QRectF(_room(widget, fixed=True))
        for one in paper.notes.painted:
            seen = one.seen.translated(here).intersected(room)
            low = max(fixed.top() - one.box.top(), 0.0) + max(one.box.bottom() - fixed.bottom(), 0.0)
            moved = Painted(one.text, one.box.translated(here), seen, id(_floor(widget, window)), low)
            if not _below_another(moved, widget, window):
                found.append(moved)
    return tuple(found)


def _room(widget: QWidget, *, fixed: bool = False) -> QRect:
    """What the ancestors of a widget leave of it, in its own pixels; ``fixed``: those within the next one that scrolls,
    which itself leaves all.
    """
    room, place, one = widget.rect(), QPoint(0, 0), widget
    if fixed and _is_viewport(one):
        return QRect(-_FAR, -_FAR, 2 * _FAR, 2 * _FAR)
    while not one.isWindow():
        place += one.pos()
        holder = one.parentWidget()
        if holder is None or (fixed and _is_viewport(holder)):
            break
        one = holder
        room = room.intersected(one.rect().translated(-place))
    return room


def _is_viewport(widget: QWidget) -> bool:
    area = widget.parentWidget()
    return isinstance(area, QAbstractScrollArea) and area.viewport() is widget


def _below_another(one: Painted, widget: QWidget, window: QWidget) -> bool:
    top = window.childAt(one.shown.center().toPoint())
    return top is not None and _floor(top, window) is not _floor(widget, window)


def _floor(widget: QWidget, window: QWidget) -> QWidget:
    """The child of the window in which a widget stands."""
    while widget is not window and widget.parentWidget() is not window:
        widget = widget.parentWidget()
    return widget


def faults(window: QWidget) -> tuple[str, ...]:
    """A sentence for each text that is cut off at a side, or that another covers; empty where all can be read."""
    found = painted(window)
    scrolled = _scrolled(window)
    told = [
        f"cut by {one.cut:.0f} of {one.box.width():.0f} px: {one.text!r} at {_place(one.box)}"
        for one in found
        if one.cut > SPARE and one.shown.height() > 0 and not _over(one, scrolled)
    ]
    told += [
        f"{one.low:.0f} of {one.box.height():.0f} px of its height are cut: {one.text!r} at {_place(one.box)}"
        for one in found
        if one.low > one.box.height() * LOW and one.shown.height() > 0
    ]
    return (
        *told,
        *_cut_buttons(window),
        *_mute_buttons(window),
        *_short_of_room(window),
        *_covered([one for one in found if one.shown.width() > SPARE and one.shown.height() > SPARE]),
    )


def _mute_buttons(window: QWidget) -> list[str]:
    """Buttons that cannot be pressed and do not say why, in words that are shown and told."""
    return [
        f"does not say why it cannot be pressed: {button.accessibleName() or button.text() or type(button).__name__!r}"
        for button in window.findChildren(QAbstractButton)
        if button.isVisible() and not button.isEnabled() and not button.objectName().startswith("qt_")
        if not (button.toolTip() and button.accessibleDescription())
    ]


def _cut_buttons(window: QWidget) -> list[str]:
    """Buttons that stand partly outside what their ancestors leave them, where nobody can scroll sideways to them."""
    told = []
    for button in window.findChildren(QAbstractButton):
        if not button.isVisible() or button.window() is not window:
            continue
        room = _room(button)
        cut = button.width() - max(0, room.width())
        low = button.height() - max(0, _room(button, fixed=True).height())
        name = button.accessibleName() or button.text() or type(button).__name__
        place = QRectF(QRect(button.mapTo(window, QPoint(0, 0)), button.size()))
        if cut > SPARE and room.height() > 0 and not _may_scroll_to(button):
            told.append(f"cut by {cut} of {button.width()} px: button {name!r} at {_place(place)}")
        if low > SPARE and room.height() > 0:
            told.append(f"{low} of {button.height()} px of its height are cut: button {name!r} at {_place(place)}")
    return told


def _short_of_room(window: QWidget) -> list[str]:
    """Panes and tables wider than what is seen of them, titles and numbers that an ellipsis took."""
    told = []
    for pane in window.findChildren(QScrollArea):
        inner = pane.widget()
        beyond = inner.width() - pane.viewport().width() if inner is not None else 0
        if beyond > SPARE and pane.isVisible() and pane.window() is window and not _scrolls(pane):
            told.append(
                f"a pane of {type(pane.parentWidget()).__name__} is wider by {beyond} px than what is seen of it"
            )
    for table in window.findChildren(TableView):
        if not table.isVisible() or table.window() is not window:
            continue
        name, rows = table.accessibleName(), covered_rows(table, table.viewport().rect(), table.records.rowCount())
        beyond = table.header.length() - table.viewport().width()
        if beyond > SPARE:
            told.append(f"table {name!r} scrolls sideways by {beyond} px")
        for section, column in enumerate(table.records.columns):
            room = table.columnWidth(section) - 2 * PADDING
            if table.isColumnHidden(section) or column.kind not in ("text", "strong", "number"):
                continue
            if room < QFontMetrics(theme().font("label")).horizontalAdvance(_(column.title)):
                told.append(f"table {name!r}: the title of the column {_(column.title)!r} is shortened")
            metrics = QFontMetrics(theme().font(text_kind(column)))
            said = (column.display(table.records.record(row)) for row in rows)
            lost = [words for words in said if _loses_its_number(words, metrics, room, column.kind == "number")]
            told += [f"table {name!r}: a number of {column.key!r} is lost: {words!r}" for words in dict.fromkeys(lost)]
    return told


def _loses_its_number(words: str, metrics: QFontMetrics, room: int, is_one: bool) -> bool:
    """Whether what is left of it has no number any more: the whole is one, or a sentence that ends in how many."""
    kept = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
    if kept == words:
        return False
    counts = re.search(r"[\s:：]\d+$", words) is not None and len(words) <= SENTENCE
    return is_one or (counts and not any(map(str.isdigit, kept)))


def _may_scroll_to(widget: QWidget) -> bool:
    one = widget.parentWidget()
    while one is not None:
        if isinstance(one, QAbstractScrollArea) and _scrolls(one):
            return True
        one = one.parentWidget()
    return False


def _scrolls(area: QAbstractScrollArea) -> bool:
    """Whether one may scroll sideways; an area without a bar only hides what is too wide for it."""
    never = area.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    return area.horizontalScrollBar().maximum() > 0 and (isinstance(area, QHeaderView) or not never)


def _covered(found: Sequence[Painted]) -> list[str]:
    told: list[str] = []
    in_order = sorted(found, key=lambda one: one.shown.top())
    for place, upper in enumerate(in_order):
        for lower in in_order[place + 1 :]:
            if lower.shown.top() >= upper.shown.bottom():
                break
            common = upper.shown.intersected(lower.shown)
            least = min(upper.box.height(), lower.box.height()) * COVERED
            twice = upper.text == lower.text and upper.box == lower.box  # a selection is painted over its own words
            if not twice and upper.floor == lower.floor and common.width() > SPARE and common.height() > least:
                told.append(f"{upper.text!r} and {lower.text!r} lie over each other at {_place(common)}")
    return told


def _scrolled(window: QWidget) -> QRegion:
    """Where a person may scroll sideways to what is cut."""
    region = QRegion()
    for area in window.findChildren(QAbstractScrollArea):
        if area.isVisible() and _scrolls(area):
            view = area.viewport()
            region += QRegion(QRect(view.mapTo(window, view.rect().topLeft()), view.size()))
    return region


def _over(one: Painted, region: QRegion) -> bool:
    return region.contains(one.shown.center().toPoint())


def _place(box: QRectF) -> str:
    return f"{box.left():.0f}, {box.top():.0f}"
