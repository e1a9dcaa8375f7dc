"""A chart in its card: title, unit, legend, curves. In a narrow card the legend has a line of its own."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent

from services.i18n import _
from views.charts.legend import Legend
from views.charts.plot import Plot
from views.support.language import on_language_changed
from views.theme.tokens import CARD_PADDING
from views.widgets.card import Card


class ChartCard(Card):
    """Title and legend above a plot."""

    def __init__(self, title: str, plot: Plot, *, unit: str = "", tip: str = "") -> None:
        super().__init__(title, padding=0)
        self._unit = unit
        self.set_tip(tip)
        self._below = False
        self.plot, self.legend = plot, Legend(plot.series)
        self.body.setContentsMargins(0, 0, 0, 3)
        self.body.setSpacing(0)
        self.add_action(self.legend)
        self.body.addWidget(plot, 1)
        self.legend.hidden_changed.connect(plot.set_hidden)
        on_language_changed(self._say)
        self._say()

    def show_values(self, values: dict[str, str]) -> None:
        """Show the present values in the legend."""
        self.legend.show_values(values)
        self._arrange()
        # Qt lays out one level with each turn of the loop; cut numbers would be seen in between.
        for layout in (self.layout(), self._head.layout(), self.legend.layout()):
            if layout is not None:
                layout.activate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the legend where there is room for it."""
        super().resizeEvent(event)
        self._arrange()

    def _say(self) -> None:
        self.set_note(_(self._unit) if self._unit else "")
        self._arrange()

    def _arrange(self) -> None:
        words = self._title.sizeHint().width() + self._note.sizeHint().width() + 16
        below = words + self.legend.sizeHint().width() + 2 * CARD_PADDING > self.width() > 0
        if below == self._below:
            return
        self._below = below
        if below:
            self.body.insertWidget(0, self.legend, 0, Qt.AlignmentFlag.AlignLeft)
            self.legend.setContentsMargins(CARD_PADDING - 4, 0, 0, 4)
        else:
            self.add_action(self.legend)
            self.legend.setContentsMargins(0, 0, 0, 0)
