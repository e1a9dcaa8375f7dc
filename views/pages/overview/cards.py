"""The cards below the tiles: what needs attention, and the fleet as a heat map."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel

from services.i18n import N_, ngettext
from views.support.language import on_language_changed
from views.theme.tokens import CARD_PADDING
from views.widgets.attention_list import AttentionList, AttentionRow
from views.widgets.badge import Badge
from views.widgets.card import Card
from views.widgets.empty_state import EmptyState
from views.widgets.heat_layout import Rows
from views.widgets.heat_legend import HeatLegend
from views.widgets.heat_map import AGGREGATE_ABOVE, HeatMap


class AttentionCard(Card):
    """The list with its count."""

    def __init__(self) -> None:
        super().__init__(N_("Needs attention"), divided=True, padding=0)
        self.list = AttentionList()
        self._badge = Badge.count()
        self._badge.hide()
        self.add_beside_title(self._badge)
        self.body.addWidget(self.list, 1)
        self.list.count_changed.connect(self._on_count)

    def set_rows(self, rows: Sequence[AttentionRow], now_ms: int) -> None:
        """Show these items."""
        self.list.set_rows(rows, now_ms)

    def _on_count(self, count: int) -> None:
        self._badge.show_text(str(count) if count else "")


class FleetCard(Card):
    """Heat map and legend; a fleet without shops says so."""

    def __init__(self, aggregate_above: int | None = AGGREGATE_ABOVE) -> None:
        super().__init__(N_("Shops by worst state"))
        self.map, self.legend = HeatMap(aggregate_above=aggregate_above), HeatLegend()
        self._empty = EmptyState(
            N_("No shops yet"), N_("A shop appears here with its first task."), icon="ph.storefront"
        )
        for label in self._empty.findChildren(QLabel):
            label.setWordWrap(False)
        self._total = 0
        self.add_action(self.legend)
        self.body.addWidget(self.map)
        self.body.addWidget(self._empty)
        self.body.addStretch(1)
        self.legend.filter_changed.connect(self.map.set_filter)
        on_language_changed(self._say)
        self.set_rows(None)

    def set_rows(self, rows: Rows | None) -> None:
        """Show these shops."""
        self._total = rows.total if rows is not None else 0
        if rows is not None:
            self.map.set_rows(rows)
            self.legend.show_counts(rows.counts)
        self.map.setVisible(self._total > 0)
        self.legend.setVisible(self._total > 0)
        self._empty.setVisible(self._total == 0)
        self._say()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the legend where there is no room for its words."""
        super().resizeEvent(event)
        self._arrange()

    def _say(self) -> None:
        note = ngettext("{n} shop", "{n} shops", self._total).format(n=f"{self._total:,}")
        self.set_note(note if self._total else "")
        self._arrange()

    def _arrange(self) -> None:
        words = self._title.sizeHint().width() + self._note.sizeHint().width() + 24
        self.legend.set_compact(words + self.legend.needed() + 2 * CARD_PADDING > self.width() > 0)
