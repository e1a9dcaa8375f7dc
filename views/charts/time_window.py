"""The span of time that the charts of a page show together, and the instant under their crosshair."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QWidget

from views.charts.series import Frame
from views.support.spoken import Role, spoken
from views.theme import theme

MIN_SPAN_S = 20.0
#: The axis of a young history ends at the present and is at least this long.
MIN_AXIS_S = 60.0
EDGE_S = 2.0
_ZOOM = 0.8
_KEY_ZOOM = {Qt.Key.Key_Plus: _ZOOM, Qt.Key.Key_Equal: _ZOOM, Qt.Key.Key_Minus: 1 / _ZOOM}


class TimeWindow(QObject):
    """Follows the present until somebody zooms or pans away from it.

    Signals:
        changed: other bounds.
        advanced: the present has come further; the samples of it follow.
        moved: a person zoomed, panned or reset.
        cursor_changed: the crosshair stands elsewhere, or nowhere.
    """

    changed = Signal()
    advanced = Signal()
    moved = Signal()
    cursor_changed = Signal()

    def __init__(self, range_s: float = 3600, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._range = float(range_s)
        self._zoomed: float | None = None  #: span in sight, None for all there is
        self._begun = 0.0
        self._now = 0.0
        self._end: float | None = None
        self._cursor: float | None = None

    @property
    def range_s(self) -> float:
        """The span chosen with the switch; nothing older can be shown."""
        return self._range

    @property
    def now(self) -> float:
        """The present, in UTC seconds of the samples."""
        return self._now

    @property
    def live(self) -> bool:
        """Whether the right edge is the present."""
        return self._end is None

    @property
    def whole(self) -> bool:
        """Whether all of the range is in sight, up to the present."""
        return self._end is None and self._zoomed is None

    @property
    def cursor(self) -> float | None:
        """The instant under the crosshair."""
        return self._cursor

    @property
    def reach_s(self) -> float:
        """How long the whole axis is: the range, or what there is of it so far."""
        return min(self._range, max(MIN_AXIS_S, self._now - self._begun))

    def bounds(self) -> tuple[float, float]:
        """First and last instant in sight."""
        end = self._latest() if self._end is None else self._end
        return end - self._span(), end

    def set_range(self, range_s: float) -> None:
        """Show this long, up to the present."""
        self._range = float(range_s)
        self._zoomed = self._end = self._cursor = None
        self.changed.emit()
        self.cursor_changed.emit()

    def set_now(self, now: float, begun: float = 0.0) -> None:
        """The present has come this far; ``begun`` is the first instant of which anything is known."""
        self._now, self._begun = now, begun
        self.advanced.emit()

    def zoom(self, factor: float, anchor: float) -> None:
        """Show ``factor`` times the span and keep ``anchor`` where it is."""
        start, end = self.bounds()
        before = self._span()
        span = min(self.reach_s, max(MIN_SPAN_S, before * factor))
        share = (anchor - start) / max(before, 1e-9)
        self._place(anchor + span * (1 - share) if not (self.live and share > 0.98) else end, span)

    def pan(self, seconds: float) -> None:
        """Look earlier (negative) or later."""
        self._place(self.bounds()[1] + seconds, self._span())

    def reset(self) -> None:
        """Show the whole range up to the present again."""
        self._place(self._latest(), self.reach_s)

    def set_cursor(self, instant: float | None) -> None:
        """Put the crosshair on an instant, or take it away."""
        if instant != self._cursor:
            self._cursor = instant
            self.cursor_changed.emit()

    def _span(self) -> float:
        return self.reach_s if self._zoomed is None else min(self._zoomed, self.reach_s)

    def _latest(self) -> float:
        """The right edge: the present, never later; a young history stands at the right of its first minute."""
        return self._now

    def _place(self, end: float, span: float) -> None:
        latest = self._latest()
        end = min(latest, max(latest - self.reach_s + span, end))
        self._zoomed = None if span >= self.reach_s else span
        self._end = None if end >= latest - min(EDGE_S, span / 50) else end
        self.moved.emit()
        self.changed.emit()


class Crosshair(QWidget):
    """Mouse and keys over samples in time; what is drawn is the subclass's matter.

    Signals:
        span_chosen: Shift+drag marked a span: first and last instant in UTC milliseconds.
    """

    span_chosen = Signal(object, object)

    def __init__(self, window: TimeWindow) -> None:
        super().__init__()
        self._window = window
        self._drag: tuple[float, float] | None = None
        self._span: tuple[float, float] | None = None
        self._hovered = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        spoken(self, Role.Chart)
        self.setMouseTracking(True)

    def plot_rect(self) -> QRectF:
        """Where the samples are."""
        raise NotImplementedError

    @property
    def frame_shown(self) -> Frame:
        """The samples."""
        raise NotImplementedError

    @property
    def hovered(self) -> bool:
        """Whether the mouse or the keys are here, not in a chart beside it."""
        return self._hovered or self.hasFocus()

    def x_of(self, instant: float) -> float:
        """Where an instant is."""
        start, end = self._window.bounds()
        rect = self.plot_rect()
        return rect.left() + (instant - start) / max(1e-9, end - start) * rect.width()

    def instant_at(self, x: float) -> float:
        """The instant at a place."""
        start, end = self._window.bounds()
        rect = self.plot_rect()
        return start + (x - rect.left()) / max(1.0, rect.width()) * (end - start)

    def cursor_index(self) -> int:
        """Place of the sample under the crosshair, -1 for none."""
        cursor = self._window.cursor
        start, end = self._window.bounds()
        if cursor is None or not start <= cursor <= end + 1:
            return -1
        return self.frame_shown.index_at(cursor)

    def point_at(self, instant: float) -> None:
        """Put the crosshair here, with the card in this chart."""
        self._hovered = True
        self._window.set_cursor(instant)

    def paint_span(self, painter: QPainter) -> None:
        """Shade the span that is being marked."""
        if self._span is None:
            return
        rect = self.plot_rect()
        shade = QColor(theme().color("accent"))
        shade.setAlpha(50)
        left, right = sorted(self._span)
        painter.fillRect(QRectF(left, rect.top(), right - left, rect.height()), shade)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the crosshair, pan, or mark a span."""
        x = event.position().x()
        if self._span is not None:
            self._span = (self._span[0], x)
            self.update()
        elif self._drag is not None and event.buttons() & Qt.MouseButton.LeftButton:
            start, end = self._window.bounds()
            self._window.pan((self._drag[0] - x) / max(1.0, self.plot_rect().width()) * (end - start))
            self._drag = (x, self._drag[1])
        self.point_at(self.instant_at(x))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to pan, with Shift to mark a span."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        x = event.position().x()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._span = (x, x)
        else:
            self._drag = (x, x)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End panning; a marked span is told."""
        span, self._span, self._drag = self._span, None, None
        if span is not None and abs(span[1] - span[0]) >= 3:
            first, last = sorted(self.instant_at(x) for x in span)
            self.span_chosen.emit(round(first * 1000), round(last * 1000))
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show the whole range again."""
        self._window.reset()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom in time around the mouse."""
        turned = event.angleDelta().y()
        if turned and len(self.frame_shown) > 1:
            self._window.zoom(_ZOOM ** (turned / 120), self.instant_at(event.position().x()))
            event.accept()
        else:
            event.ignore()

    def leaveEvent(self, event: QEvent) -> None:
        """Take the crosshair away."""
        self._hovered = False
        self._window.set_cursor(None)
        super().leaveEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the crosshair away."""
        if not self._hovered:
            self._window.set_cursor(None)
        super().focusOutEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the crosshair by a sample, zoom, reset."""
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step(1 if key == Qt.Key.Key_Right else -1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End) and len(self.frame_shown):
            self._window.set_cursor(float(self.frame_shown.at[0 if key == Qt.Key.Key_Home else -1]))
        elif key in _KEY_ZOOM:
            self._window.zoom(_KEY_ZOOM[key], self._window.cursor or self._window.now)
        elif key == Qt.Key.Key_0:
            self._window.reset()
        elif key == Qt.Key.Key_Escape and self._window.cursor is not None:
            self._window.set_cursor(None)
        else:
            super().keyPressEvent(event)

    def _step(self, by: int) -> None:
        if not len(self.frame_shown):
            return
        at = self.cursor_index()
        at = len(self.frame_shown) - 1 if at < 0 else min(len(self.frame_shown) - 1, max(0, at + by))
        self._window.set_cursor(float(self.frame_shown.at[at]))
