"""The pyqtgraph part of a chart: curves, fills and grid lines in a scene that is drawn only on demand."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QGraphicsView

from views.charts.line import DASHES, LIMIT, Line
from views.charts.series import Numbers
from views.theme import theme

_GRID, _LIMIT = -100, 1000


class Area(pg.PlotCurveItem):  # type: ignore[misc]  # pyqtgraph has no types
    """A filled curve without a line, in one piece: that is faster than in many as long as it has no soft edges."""

    def _shouldUseFillPathList(self) -> bool:
        return False


def pen(role: str, percent: float = 100, *, dash: str = "") -> QPen:
    """A cosmetic pen of one pixel: any other width costs ten times as much."""
    colour = theme().color(role) if percent >= 100 else theme().tint(role, percent)
    made = QPen(colour, 1)
    made.setCosmetic(True)
    if dash in DASHES:
        made.setDashPattern(DASHES[dash])
    return made


class Scene(pg.GraphicsView):  # type: ignore[misc]  # pyqtgraph has no types
    """Curves over a grid. Nothing here reacts to mouse or data by itself: ``draw`` paints it into a painter."""

    def __init__(self) -> None:
        super().__init__(background=None)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.NoViewportUpdate)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setCacheMode(QGraphicsView.CacheModeFlag(0))
        self._box = pg.ViewBox(enableMouse=False, enableMenu=False, defaultPadding=0)
        self._layout = pg.GraphicsLayout()
        self._layout.layout.setSpacing(0)
        self._layout.addItem(self._box)
        self.setCentralItem(self._layout)
        self._box.disableAutoRange()
        self._areas: list[pg.PlotCurveItem] = []
        self._curves: list[pg.PlotCurveItem] = []
        self._grid: list[pg.InfiniteLine] = []
        self._limit = self._furniture(_LIMIT)
        self._origin = 0.0

    def set_margins(self, left: int, top: int, right: int, bottom: int) -> None:
        """Keep room around the curves."""
        self._layout.layout.setContentsMargins(left, top, right, bottom)

    def set_range(self, start: float, end: float, top: float) -> None:
        """Show these instants, and 0 to ``top``."""
        # Seconds since 1970 have more digits than a painter's path is sure to keep.
        self._origin = end
        self._box.setRange(xRange=(start - end, 0.0), yRange=(0.0, top), padding=0, update=True)

    def set_grid(self, heights: Sequence[float]) -> None:
        """Draw lines at these heights."""
        while len(self._grid) < len(heights):
            self._grid.append(self._furniture())
        for number, line in enumerate(self._grid):
            line.setVisible(number < len(heights))
            if number < len(heights):
                line.setPen(pen("line"))
                line.setValue(heights[number])

    def set_limit(self, height: float | None) -> None:
        """Draw a dashed line, or none."""
        self._limit.setVisible(height is not None)
        if height is not None:
            self._limit.setPen(pen("retrying", 55, dash=LIMIT))
            self._limit.setValue(height)

    def set_lines(self, at: Numbers, lines: Sequence[Line]) -> None:
        """Draw these curves, each over those before it."""
        while len(self._curves) < len(lines):
            # A line wants soft edges and a fill is three times slower with them, so they are two items.
            self._areas.append(self._add(Area(skipFiniteCheck=True, antialias=False)))
            self._curves.append(self._add(pg.PlotCurveItem(skipFiniteCheck=True, antialias=True)))
        x = at - self._origin
        for number, (area, curve) in enumerate(zip(self._areas, self._curves, strict=True)):
            line = lines[number] if number < len(lines) else None
            area.setVisible(line is not None and line.fill > 0)
            curve.setVisible(line is not None)
            if line is not None:
                curve.setData(x, line.values, pen=pen(line.role, dash=line.dash))
                if line.fill:
                    area.setData(x, line.values, pen=None, brush=theme().tint(line.role, line.fill), fillLevel=0.0)

    def draw(self, painter: QPainter) -> None:
        """Paint everything at its place."""
        room = QRectF(self.rect())
        # The view is never shown, so nobody else tells the layout how large it is.
        self._layout.setGeometry(room)
        self._layout.layout.activate()
        self.scene().prepareForPaint()
        self.scene().render(painter, room, room, Qt.AspectRatioMode.IgnoreAspectRatio)

    def _add(self, curve: pg.PlotCurveItem) -> pg.PlotCurveItem:
        curve.setZValue(len(self._areas) + len(self._curves))
        self._box.addItem(curve, ignoreBounds=True)
        return curve

    def _furniture(self, z: int = _GRID) -> pg.InfiniteLine:
        line = pg.InfiniteLine(angle=0, movable=False)
        line.setZValue(z)
        line.setVisible(False)
        self._box.addItem(line, ignoreBounds=True)
        return line
