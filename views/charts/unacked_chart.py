"""Deliveries that workers hold, against the slots they have."""

from __future__ import annotations

from services.i18n import N_, ngettext
from views.charts.legend import Series
from views.charts.line import Line
from views.charts.plot import Plot
from views.charts.series import Frame
from views.charts.time_window import TimeWindow

SERIES = (Series("unacked", N_("Held by workers"), "running"),)


class UnackedChart(Plot):
    """How much workers hold; its limit is the number of slots."""

    def __init__(self, window: TimeWindow) -> None:
        super().__init__(N_("With workers"), SERIES, window)

    def lines(self, frame: Frame) -> list[Line]:
        """One area."""
        return [Line(one.role, frame[one.key], 15) for one in self.visible_series()]

    def limit_text(self, limit: float) -> str:
        """The limit is no alarm but the number of slots."""
        return ngettext("{n} slot", "{n} slots", round(limit)).format(n=self.say(limit))
