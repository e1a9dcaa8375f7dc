"""Tasks a second: come in, started, gone out; ``insight.flow`` says what In and Out mean."""

from __future__ import annotations

import numpy as np

from services.i18n import N_, _
from views.charts.legend import Series
from views.charts.line import DASHED, DOTTED, SOLID, Line
from views.charts.plot import Plot
from views.charts.series import Frame
from views.charts.time_window import TimeWindow
from views.support import text

SERIES = (
    Series(
        "publish",
        N_("New"),
        "accent",
        tip=N_("Tasks that became work (In): created, republished, due, or let go again."),
        line=SOLID,
    ),
    Series(
        "deliver",
        N_("Started"),
        "lane.dedicated",
        tip=N_("Attempts that began on a worker, retries among them (broker: deliver)."),
        line=DASHED,
    ),
    Series(
        "ack",
        N_("Finished"),
        "succeeded",
        tip=N_("Tasks whose work ended (Out): well, as a dead letter, held, or cancelled while they ran."),
        line=DOTTED,
    ),
)
#: share of its points that a curve must know
MOSTLY = 0.5


class RatesChart(Plot):
    """How fast work comes in and goes out."""

    def __init__(self, window: TimeWindow) -> None:
        super().__init__(N_("Tasks per second, last 5 s"), SERIES, window)
        self.smallest = 2.0

    def lines(self, frame: Frame) -> list[Line]:
        """One curve for each rate, but for one that is not known most of the time: the record has none of it."""
        known = [one for one in self.visible_series() if np.isfinite(frame[one.key]).mean() > MOSTLY]
        return [Line(one.role, frame[one.key], dash=one.line) for one in known]

    def say(self, value: float) -> str:
        """One decimal below ten."""
        whole = round(value)
        if abs(value - whole) < 0.05 or value >= 10:
            return f"{whole:,}"
        return f"{value:.1f}"

    def newest(self) -> dict[str, str]:
        """What the curves end with, in words, by their keys; "" where nothing is known."""
        values = {one.key: self._frame[one.key] for one in SERIES}
        return {
            key: self.say(float(row[-1])) if len(row) and np.isfinite(row[-1]) else "" for key, row in values.items()
        }

    def summary(self) -> str:
        """The newest of each rate."""
        known = self.newest() if len(self._frame) >= 2 else {}
        parts = [f"{one.word()} {known[one.key]}" for one in self.visible_series() if known.get(one.key)]
        if not parts:
            return super().summary()
        return _("{parts} a second").format(parts=text.listed(parts))
