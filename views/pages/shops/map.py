"""The heat map above the table of shops: the same filter, and the shop under the cursor of the table."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from services.i18n import N_
from services.monitor.shops.queries import ShopsNow
from views.support.memory import Memory
from views.theme.tokens import CARD_PADDING
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.heat_map.layout import Rows, prepare
from views.widgets.heat_map.legend import HeatLegend, ShadeLegend
from views.widgets.heat_map.map import AGGREGATE_ABOVE, HeatMap
from views.widgets.heat_map.shades import SHADES, STATE, SUCCESS, WAITING
from views.widgets.heat_map.shades import counts as in_shades
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented

NAME, COLOUR_NAME = "shops.map", "shops.map.colour"
#: what the cells may tell
COLOURS = ((STATE, N_("State")), (WAITING, N_("Waiting")), (SUCCESS, N_("Last success")))
#: the map takes up to this share of the page, and is at least so high before it scrolls
SHARE, LEAST = 0.3, 102


def lay_out(now: ShopsNow, by: str = STATE) -> tuple[Rows, frozenset[str] | None]:
    """The cells to draw, and which of them are lit, None for all; works in any thread. ``by``: what they tell.

    Cells keep their places while one filters. A fleet that is too large for a cell each shows those that match.
    """
    if now.fitting is None or len(now.every) <= AGGREGATE_ABOVE:
        return prepare(now.every, AGGREGATE_ABOVE, by, now.at_ms), now.fitting
    fitting = now.fitting
    return prepare([one for one in now.every if one.key in fitting], AGGREGATE_ABOVE, by, now.at_ms), None


class ShopsMap(Card):
    """Signals:
    state_chosen: the state whose shops alone are wanted, "" for all.
    colour_chosen: what the cells shall tell, one of ``COLOURS``.
    shop_chosen: a shop that was clicked or entered: ``platform:shop_id``.
    """

    state_chosen = Signal(str)
    colour_chosen = Signal(str)
    shop_chosen = Signal(str)

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self._memory = memory
        self._room = 0
        self.map, self.legend = HeatMap(aggregate_above=AGGREGATE_ABOVE), HeatLegend()
        self.shades = ShadeLegend()
        self.colour = Segmented(COLOURS, N_("What the cells tell"))
        kept = memory.get(COLOUR_NAME, STATE)
        self.colour.set_current(str(kept) if kept in SHADES else STATE)
        self.shades.setVisible(self.by != STATE)
        self.legend.setVisible(self.by == STATE)
        self.fold_button = Button("", kind="ghost", small=True, icon="ph.caret-up")
        self._head_row = QWidget()
        row = QHBoxLayout(self._head_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.legend)
        row.addWidget(self.shades, 1)
        row.addStretch(1)
        row.addWidget(self.colour)
        row.addWidget(self.fold_button)
        self.pane = ScrollPane()
        self.pane.body.addWidget(self.map)
        self.pane.body.addStretch(1)
        self.body.setContentsMargins(CARD_PADDING, 6, CARD_PADDING, 8)
        self.body.setSpacing(4)
        self.body.addWidget(self._head_row)
        self.body.addWidget(self.pane)
        self.map.installEventFilter(self)
        self.fold_button.clicked.connect(self._toggle)
        self.colour.chosen.connect(self._on_colour)
        self.legend.filter_changed.connect(self.state_chosen)
        self.map.shop_clicked.connect(lambda platform, shop: self.shop_chosen.emit(f"{platform}:{shop}"))
        self._fold(memory.get(NAME, True) is False)

    @property
    def by(self) -> str:
        """What the cells tell: their state, or one of ``SHADES``."""
        return self.colour.current()

    def _on_colour(self, by: str) -> None:
        self._memory.put(COLOUR_NAME, by)
        self.shades.setVisible(by != STATE)
        self.legend.setVisible(by == STATE)
        self.colour_chosen.emit(by)

    @property
    def folded(self) -> bool:
        """Whether only the legend is shown."""
        return self.pane.isHidden()

    def show_rows(self, rows: Rows, lit: frozenset[str] | None, now: ShopsNow) -> None:
        """Show these shops, all but the lit ones dimmed; the legend counts the whole fleet."""
        self.map.set_lit(lit)
        self.map.set_rows(rows)
        counts: dict[str, int] = {}
        for one in now.every:
            counts[one.state] = counts.get(one.state, 0) + 1
        self.legend.show_counts(counts)
        if self.by in SHADES:
            self.shades.show_counts(SHADES[self.by], in_shades(self.by, now.every, now.at_ms))
        self._arrange()
        self._fit()  # a map that is laid out while it is shown tells its new height to nobody

    def set_room(self, height: int) -> None:
        """The page is so high."""
        self._room = height
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the legend where there is no room for its words."""
        super().resizeEvent(event)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Be as high as the map, up to a share of the page."""
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return False

    def _fit(self) -> None:
        most = max(LEAST, round(self._room * SHARE))
        height = min(self.map.minimumHeight(), most)
        if self.pane.height() != height or self.pane.minimumHeight() != height:
            self.pane.setFixedHeight(height)

    def _arrange(self) -> None:
        beside = self.fold_button.sizeHint().width() + self.colour.sizeHint().width()
        room = self.width() - 2 * CARD_PADDING - beside - 24
        self.legend.set_compact(self.legend.needed() > room > 0)

    def _toggle(self) -> None:
        self._fold(not self.folded)
        self._memory.put(NAME, not self.folded)

    def _fold(self, folded: bool) -> None:
        self.pane.setVisible(not folded)
        self.fold_button.set_source(N_("Show map") if folded else N_("Hide map"))
        self.fold_button.set_glyph("ph.caret-down" if folded else "ph.caret-up")
