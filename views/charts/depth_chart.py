"""Waiting tasks by lane, stacked: the most urgent lane has the straight base."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from services.i18n import N_, _
from services.monitor.overview import LANES
from views.charts.legend import Series
from views.charts.line import Line
from views.charts.plot import Plot
from views.charts.series import Frame, highest
from views.charts.time_window import TimeWindow
from views.charts.tooltip import Reading
from views.theme import theme
from views.theme.tokens import LANES as TOKENS

#: Per cent of the lane's colour in its area, chosen so that the areas stand equally far apart.
_FILLS = {"high": 60, "dedicated": 50, "normal": 38, "low": 42}
SERIES = tuple(
    Series(lane, TOKENS[lane].word, TOKENS[lane].role, "lane", glyph=TOKENS[lane].glyph, fill=_FILLS[lane])
    for lane in LANES
)
#: px of a glyph in an area, and from its end; and how high an area must be there
_GLYPH, _END, _LEAST = 12, 20, 16


class DepthChart(Plot):
    """How many tasks wait in each lane."""

    def __init__(self, window: TimeWindow) -> None:
        super().__init__(N_("Queued or held up, by lane"), SERIES, window, lines=5)
        self.smallest = 8.0

    def lines(self, frame: Frame) -> list[Line]:
        """Areas from the top of the stack down, so that each one covers the next."""
        shown, level, areas = self.visible_series(), np.zeros(len(frame)), []
        for one in shown:
            level = level + frame[one.key]
            areas.append(Line(one.role, level, one.fill))
        return areas[::-1]

    def _draw_curves(self, painter: QPainter, rect: QRectF, heights: Sequence[float]) -> None:
        """Name each area by the glyph of its lane: without colours they are nearly alike."""
        super()._draw_curves(painter, rect, heights)
        frame, level = self._frame, 0.0
        at = len(frame) - 1
        while at > 0 and self.x_of(float(frame.at[at])) > rect.right() - _END / 2:
            at -= 1
        for one in self.visible_series():
            wide = float(frame[one.key][at])
            middle = rect.bottom() - (level + wide / 2) / self._top * rect.height()
            level += wide
            if np.isfinite(level) and wide / self._top * rect.height() >= _LEAST:
                place = QPointF(self.x_of(float(frame.at[at])) - _GLYPH / 2, middle - _GLYPH / 2)
                painter.drawPixmap(place, theme().pixmap(one.glyph, "text2", _GLYPH))

    def heights(self, frame: Frame, at: int) -> list[tuple[str, float]]:
        """Dots at the upper edge of each area."""
        level, dots = 0.0, []
        for one in self.visible_series():
            level += float(frame[one.key][at])
            dots.append((one.role, level))
        return dots if np.isfinite(level) else []

    def highest(self, frame: Frame) -> float:
        """The top of the stack."""
        names = [one.key for one in self.visible_series()]
        return highest(frame.total(names)) if names else 0.0

    def total(self, frame: Frame, at: int) -> Reading | None:
        """All visible lanes together."""
        names = [one.key for one in self.visible_series()]
        return Reading(_("Total"), self.read(float(frame.total(names)[at]))) if len(names) > 1 else None
