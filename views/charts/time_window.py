"""The span of time that the charts of a page show together, and the instant under their crosshair."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

MIN_SPAN_S = 20.0
#: The axis of a young history ends at the present and is at least this long.
MIN_AXIS_S = 60.0
EDGE_S = 2.0


class TimeWindow(QObject):
    """Follows the present until somebody zooms or pans away from it.

    Signals:
        changed: other bounds, or the same span a moment later.
        moved: a person zoomed, panned or reset.
        cursor_changed: the crosshair stands elsewhere, or nowhere.
    """

    changed = Signal()
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
        self.changed.emit()

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
