"""Overview: summary in words, seven numbers, three charts, what needs a person, the whole fleet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from services.i18n import N_, _
from services.monitor.overview import OverviewNow, OverviewSource
from views.charts.chart_card import ChartCard
from views.charts.depth_chart import DepthChart
from views.charts.rates_chart import RatesChart
from views.charts.series import EMPTY, MAX_POINTS
from views.charts.time_window import TimeWindow
from views.charts.unacked_chart import UnackedChart
from views.page import Page
from views.pages.overview import attention
from views.pages.overview.body import Middle
from views.pages.overview.cards import AttentionCard, FleetCard
from views.pages.overview.data import History, Look, OverviewData
from views.pages.overview.limits import Limits
from views.pages.overview.steps import Steps
from views.pages.overview.summary import summary
from views.pages.overview.tile_grid import TileGrid
from views.pages.overview.tiles import TILES, Sight, TileSpec, unacked
from views.support import shown, text
from views.support.look import Label
from views.support.refresher import Refresher
from views.theme.tokens import CARD_GAP, PAGE_MARGIN
from views.widgets.buttons import Button
from views.widgets.heat_map import AGGREGATE_ABOVE
from views.widgets.kpi_tile import KpiTile
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip

FAST_MS, SLOW_MS, HISTORY_MS = 250, 2_000, 1_000
#: An answer that takes long is asked for less often: at most a tenth of the time goes into asking.
SHARE = 10
YOUNG_S = 300
RANGES = (("300", N_("5 min")), ("3600", N_("1 h")), ("86400", N_("24 h")))


class OverviewPage(Page):
    """The first page.

    Signals:
        open_tasks: a filter for the tasks page.
        open_dead: the dead letters.
        open_workers: the workers.
        open_shop: platform and id of a shop.
        attention_verb: a verb of an attention item and what it is about.
    """

    open_tasks = Signal(str)
    open_dead = Signal()
    open_workers = Signal()
    open_shop = Signal(str, str)
    attention_verb = Signal(str, str)
    page_id = "overview"

    def __init__(
        self, source: OverviewSource, *, limits: Limits | None = None, aggregate_above: int | None = AGGREGATE_ABOVE
    ) -> None:
        super().__init__(N_("Overview"))
        self._limits = limits or Limits()
        self._data = OverviewData(source, aggregate_above)
        self._look: Look | None = None
        self._history: History | None = None
        self._frozen_at = ""
        self.window_of_time = TimeWindow(3600, self)
        self.tiles = {
            spec.key: KpiTile(spec.label, spec.glyph, spec.role, alarm_role=spec.alarm_role, filled=True)
            for spec in TILES
        }
        self.depth_card = ChartCard(N_("Queue depth by lane"), DepthChart(self.window_of_time))
        self.rates_card = ChartCard(N_("Message rates"), RatesChart(self.window_of_time), unit=N_("/s"))
        self.unacked_card = ChartCard(N_("Unacked"), UnackedChart(self.window_of_time))
        self._charts = (self.depth_card, self.rates_card, self.unacked_card)
        self.attention, self.fleet = AttentionCard(), FleetCard(aggregate_above)
        self._steps = Steps(self)
        self._error = ErrorStrip()
        self._build_header()
        self._build_body()
        self._now_refresher = Refresher(self, self._data.look, self._on_look, FAST_MS)
        self._history_refresher = Refresher(self, self._ask_history, self._on_history, HISTORY_MS)
        self._connect()

    # made once

    def _build_header(self) -> None:
        self._frozen_label = Label("", "labelstrong", "retrying")
        self._frozen_label.hide()
        self.freeze_button = Button(
            N_("Freeze view"), kind="ghost", icon="ph.pause", tip=N_("Stops painting, keeps receiving (Ctrl+.)")
        )
        self.freeze_button.setCheckable(True)
        # Not of the button: a button forgets its shortcut with each new text.
        QShortcut(QKeySequence("Ctrl+."), self, self.freeze_button.click, context=Qt.ShortcutContext.WindowShortcut)
        self.range_switch = Segmented(RANGES, N_("Time range"))
        self.range_switch.set_current("3600")
        for widget in (self._frozen_label, self.freeze_button, self.range_switch):
            self.header.add_action(widget)

    def _build_body(self) -> None:
        inner = QWidget()
        inner.setProperty("scroll", True)
        column = QVBoxLayout(inner)
        column.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, PAGE_MARGIN)
        column.setSpacing(CARD_GAP)
        column.addWidget(self._error)
        column.addWidget(TileGrid(list(self.tiles.values())))
        column.addWidget(Middle(self.depth_card, self.rates_card, self.unacked_card, self.attention), 1)
        column.addWidget(self.fleet)
        self.scroll_area = QScrollArea()
        self.scroll_area.setWidget(inner)
        self.scroll_area.setWidgetResizable(True)
        self.scroll_area.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.body.addWidget(self.scroll_area)

    def _connect(self) -> None:
        # header
        self.freeze_button.toggled.connect(self._on_frozen)
        self.range_switch.chosen.connect(self._on_range)
        # doors
        for spec in TILES:
            self.tiles[spec.key].clicked.connect(_Door(self, spec))
        self.fleet.map.shop_clicked.connect(self.open_shop)
        self.attention.list.verb.connect(self.attention_verb)
        for card in self._charts:
            card.plot.span_chosen.connect(self._on_span)
        # data
        self.window_of_time.moved.connect(self._draw_charts)
        self._now_refresher.failed.connect(self._on_error)
        self._error.retry.connect(self.refresh)

    # life

    @property
    def settled(self) -> bool:
        """Whether both first answers are on screen."""
        return self._look is not None and self._history is not None

    def activate(self) -> None:
        """Ask while the page is seen."""
        self._now_refresher.start()
        self._history_refresher.start()

    def deactivate(self) -> None:
        """Ask no more."""
        self._now_refresher.stop()
        self._history_refresher.stop()
        self._steps.stop()

    def refresh(self) -> None:
        """Ask again at once."""
        self._now_refresher.now()
        self._history_refresher.now()

    def retranslate(self) -> None:
        """Say everything again."""
        super().retranslate()
        if hasattr(self, "_history_refresher"):
            self._say_frozen()
            self._show_look()
            self._show_history()

    # answers

    def _ask_history(self) -> History:
        return self._data.history(int(self.window_of_time.range_s))

    def _on_look(self, look: Look) -> None:
        self._error.clear()
        rows = look.rows if look.rows is not None else (self._look.rows if self._look is not None else None)
        self._look = Look(look.now, rows, look.took_s)
        self._now_refresher.set_interval(round(min(SLOW_MS, max(FAST_MS, look.took_s * 1000 * SHARE))))
        if not self._frozen_at:
            self._show_look(fleet=look.rows is not None)

    def _on_history(self, history: History) -> None:
        if history.range_s != self.window_of_time.range_s:
            self._history_refresher.now()
            return
        if self._history is None and self._is_young(history):
            # a first hour that is empty but for its last minute tells nobody anything
            self._history = history
            self.range_switch.set_current(str(YOUNG_S))
            self._on_range(str(YOUNG_S))
            return
        known = self._history is not None and self._history.range_s == history.range_s
        self._history = history
        if self._frozen_at:
            return
        self._show_history()
        if not known:
            # somebody waits for it
            self._steps.finish()

    @staticmethod
    def _is_young(history: History) -> bool:
        at = history.curves.at
        return len(at) > 0 and float(at[-1] - at[0]) < YOUNG_S

    def _on_error(self, error: BaseException) -> None:
        self._error.show_error(str(error), lead=_("The numbers could not be loaded."))

    def _show_look(self, *, fleet: bool = True) -> None:
        if self._look is None:
            return
        now = self._look.now
        self.set_summary(summary(now))
        self._show_kpis()
        self._show_legends()
        if fleet:
            self.attention.set_rows([attention.row_of(item, now.at_ms) for item in now.attention], now.at_ms)
            self.fleet.set_rows(self._look.rows)
            self.depth_card.plot.set_markers(attention.markers(now))
        self.tiles["ready"].set_label(N_("Waiting") if any(lane.blocked for lane in now.lanes) else N_("Ready"))

    def _show_kpis(self) -> None:
        sight = self._sight()
        for spec in TILES:
            self.tiles[spec.key].show_kpi(spec.kpi(sight))

    def _show_legends(self) -> None:
        if self._look is None:
            return
        now = self._look.now
        self.depth_card.show_values({lane.lane: text.count(lane.ready + lane.blocked) for lane in now.lanes})
        rates = {"publish": now.publish_rate, "deliver": now.deliver_rate, "ack": now.ack_rate}
        self.rates_card.show_values({key: self.rates_card.plot.say(rate) for key, rate in rates.items()})
        self.unacked_card.show_values({"unacked": text.count(unacked(now))})
        self.depth_card.plot.set_limit(self._limits.waiting)
        self.unacked_card.plot.set_limit(now.slots_total or None)

    def _show_history(self) -> None:
        if self._history is None:
            return
        self.window_of_time.set_now(self._history.newest_ms / 1000)
        if self._look is not None:
            self._show_kpis()
        # One after the other: together they would hold the window for two frames.
        charts = [partial(self._draw_chart, card) for card in self._charts]
        self._steps.run([*charts, partial(self._show_curves, TILES[:4]), partial(self._show_curves, TILES[4:])])

    def _show_curves(self, specs: Sequence[TileSpec]) -> None:
        sight = self._sight()
        for spec in specs:
            curve = spec.curve(sight)
            self.tiles[spec.key].show_curve(curve.values.tolist(), limit=curve.limit, base=curve.base)

    def _draw_charts(self) -> None:
        for card in self._charts:
            self._draw_chart(card)

    def _draw_chart(self, card: ChartCard) -> None:
        points = min(MAX_POINTS, max(100, card.plot.width()))
        card.plot.set_frame(self._data.buffer.frame(*self.window_of_time.bounds(), points))

    def _sight(self) -> Sight:
        assert self._look is not None or self._history is not None
        curves = self._history.curves if self._history is not None else EMPTY
        now = self._look.now if self._look is not None else OverviewNow(at_ms=0)
        return Sight(now, curves, self._limits)

    # what a person does

    def _on_range(self, key: str) -> None:
        self.window_of_time.set_range(float(key))
        self._history_refresher.now()

    def _on_frozen(self, frozen: bool) -> None:
        instant = self._look.now.at_ms if self._look is not None else 0
        self._frozen_at = shown.clock(instant, instant) or "–" if frozen else ""
        self._say_frozen()
        if not frozen:
            self._show_look()
            self._show_history()

    def _say_frozen(self) -> None:
        self._frozen_label.setText(_("frozen {time}").format(time=self._frozen_at))
        self._frozen_label.setVisible(bool(self._frozen_at))
        self.freeze_button.set_source(N_("Resume view") if self._frozen_at else N_("Freeze view"))
        self.freeze_button.set_glyph("ph.play" if self._frozen_at else "ph.pause")

    def _on_span(self, first_ms: int, last_ms: int) -> None:
        self.open_tasks.emit(f"updated>={_moment(first_ms)} updated<={_moment(last_ms)}")

    def open_tile(self, spec: TileSpec) -> None:
        """Open the list that a tile counts."""
        if spec.opens == "dead":
            self.open_dead.emit()
        elif spec.opens == "workers":
            self.open_workers.emit()
        elif spec.opens == "ended":
            instant = self._look.now.at_ms if self._look is not None else 0
            self.open_tasks.emit(f"status:succeeded,dead updated>={_moment(instant - 3_600_000)}")
        else:
            self.open_tasks.emit(spec.opens)


class _Door:
    """The click on one tile."""

    def __init__(self, page: OverviewPage, spec: TileSpec) -> None:
        self._page, self._spec = page, spec

    def __call__(self) -> None:
        self._page.open_tile(self._spec)


def _moment(instant_ms: int) -> str:
    """An instant as the filter language takes it."""
    return datetime.fromtimestamp(instant_ms / 1000, UTC).strftime("%Y-%m-%d_%H:%M:%S+00:00")
