"""A small curve without axes: painted from numbers into any painter, or shown as a widget of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import isfinite, nan

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.i18n import _
from views.theme import theme

_DOT = 2.0


def thin(values: Sequence[float], points: int) -> list[float]:
    """At most about ``points`` values that keep lows, highs and what is not known (NaN) of each stretch."""
    if points < 4 or len(values) <= points:
        return [float(value) for value in values]
    stretch = -(-len(values) * 2 // points)
    kept: list[float] = []
    for start in range(0, len(values), stretch):
        part = values[start : start + stretch]
        known = [at for at, value in enumerate(part) if isfinite(value)]
        if not known:
            kept += [nan, nan]  # as wide as where something is known
            continue
        telling = {min(known, key=part.__getitem__), max(known, key=part.__getitem__)}
        if len(known) < len(part):
            telling.add(next(at for at, value in enumerate(part) if not isfinite(value)))
        kept += [float(part[at]) for at in sorted(telling)]
    kept[-1] = float(values[-1])
    return kept


def scale(values: Sequence[float], limit: float | None = None, *, base: float | None = None) -> tuple[float, float]:
    """Lower and upper end for a curve: its own, the limit if it is near, ``base`` if given; never an empty span."""
    known = [value for value in values if isfinite(value)] or [0.0]
    low, high = min(known), max(known)
    if base is not None:
        low = min(low, base)
    if limit is not None and (low <= limit <= high or _near(limit, low, high)):
        low, high = min(low, limit), max(high, limit)
    span = high - low
    if not low and not high:  # nothing all the time lies on the ground
        return -0.04, 1.0
    if span <= 0:
        span = max(abs(high) * 0.2, 1e-9)
        return low - span / 2, high + span / 2
    return low - span * 0.04, high + span * 0.04


def _near(limit: float, low: float, high: float) -> bool:
    """Whether the limit fits without pressing the curve flat."""
    reach = max(high - low, abs(high) * 0.2)
    return low - 4 * reach <= limit <= high + 4 * reach


def points_in(rect: QRectF, values: Sequence[float], low: float, high: float) -> list[QPointF]:
    """Where the values lie in a rectangle."""
    step = rect.width() / max(1, len(values) - 1)
    tall = rect.height() / max(high - low, 1e-12)
    return [QPointF(rect.left() + n * step, rect.bottom() - (value - low) * tall) for n, value in enumerate(values)]


def paint_sparkline(
    painter: QPainter,
    rect: QRectF,
    values: Sequence[float],
    role: str,
    *,
    limit: float | None = None,
    filled: bool = False,
    base: float | None = None,
) -> None:
    """Draw a curve in the colour of ``role``; ``limit`` is a dashed line where it is in sight. NaN breaks the curve."""
    shown = thin(values, max(8, int(rect.width())))
    if len(shown) < 2:
        return
    low, high = scale(shown, limit, base=base)
    points = points_in(rect, shown, low, high)
    lines = [list(some) for known, some in groupby(points, lambda point: isfinite(point.y())) if known]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if filled:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().tint(role, 13))
        for line in lines:
            first, last = QPointF(line[0].x(), rect.bottom()), QPointF(line[-1].x(), rect.bottom())
            painter.drawPolygon(QPolygonF([first, *line, last]))
    if limit is not None and low <= limit <= high:
        _paint_limit(painter, rect, rect.bottom() - (limit - low) / (high - low) * rect.height())
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme().color(role), 1.3))
    for line in lines:
        painter.drawPolyline(QPolygonF(line))
    if isfinite(points[-1].y()):
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color(role))
        painter.drawEllipse(points[-1], _DOT, _DOT)


def _paint_limit(painter: QPainter, rect: QRectF, y: float) -> None:
    pen = QPen(theme().tint("retrying", 50), 1)
    pen.setDashPattern([3, 2])
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(pen)
    painter.drawLine(QPointF(rect.left(), round(y)), QPointF(rect.right(), round(y)))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


class Sparkline(QWidget):
    """A small curve; drawn again only when its numbers, size or theme change."""

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self._name = name
        self._values: tuple[float, ...] = ()
        self._picture: QPixmap | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self._forget)
        self._announce()

    def values(self) -> tuple[float, ...]:
        """The numbers shown."""
        return self._values

    def show_values(self, values: Sequence[float]) -> None:
        """Show these numbers."""
        fresh = tuple(float(value) for value in values)
        if fresh == self._values:
            return
        self._values = fresh
        self._announce()
        self._forget()

    def sizeHint(self) -> QSize:
        return QSize(120, 22)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Put the picture on screen."""
        ratio = self.devicePixelRatioF()
        if self._picture is None or self._picture.size() != self.size() * ratio:
            self._picture = QPixmap(self.size() * ratio)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(Qt.GlobalColor.transparent)
            painter = QPainter(self._picture)
            room = QRectF(self.rect()).adjusted(1, 3, -4, -3)
            paint_sparkline(painter, room, self._values, "running")
            painter.end()
        QPainter(self).drawPixmap(0, 0, self._picture)

    def _announce(self) -> None:
        words = ""
        if known := [value for value in self._values if isfinite(value)]:
            words = _("now {now}, lowest {low}, highest {high}").format(
                now=f"{known[-1]:g}", low=f"{min(known):g}", high=f"{max(known):g}"
            )
        self.setAccessibleName(_(self._name) if self._name else "")
        self.setAccessibleDescription(words)

    def _forget(self) -> None:
        self._picture = None
        self.update()
