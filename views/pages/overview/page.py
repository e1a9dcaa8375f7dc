"""Overview: summary in words, seven numbers, three charts, what needs a person, the whole fleet."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

import msgspec
import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QMenu, QScrollArea, QSizePolicy, QWidget

from services.domain.insight.shop import ShopNow
from services.domain.past.marks import Mark
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.i18n import N_, _
from services.messages import told
from services.monitor.live import Snapshot
from services.monitor.overview import Attention, OverviewNow, OverviewSource
from views.charts.series import CAPACITY, EMPTY, MAX_POINTS, Frame, SampleBuffer, holed, level, looks_same
from views.kit.list_source import Ask, ListSource
from views.page import Page
from views.pages.overview import limits, words
from views.pages.overview.cards import AttentionCard, Charts, FleetCard, Steps, chosen_words
from views.pages.overview.limits import LimitDialog
from views.pages.overview.tiles import TILES, Sight, TileSpec
from views.pages.overview.words import summary, summary_counts, whole_and_brief
from views.shell.connection import grey
from views.support import instant
from views.support.instant import ticks
from views.support.memory import Memory, ShortMemory
from views.support.offers import offer
from views.support.operation import Operation, report
from views.support.throttle import Throttle
from views.support.words.shop import SHOPS_OF
from views.support.words.way import ALERTS_OF
from views.theme.tokens import CARD_GAP, PAGE_MARGIN
from views.widgets.attention.list import AttentionRow
from views.widgets.buttons import IconButton
from views.widgets.freezing import Freezing
from views.widgets.heat_map.layout import NONE, Rows, prepare
from views.widgets.heat_map.map import AGGREGATE_ABOVE
from views.widgets.kpi_tile import KpiTile, TileGrid
from views.widgets.layout import in_column, put
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip

#: numbers, shops and what needs a person are of one answer, asked for when something happens and when a snapshot says
#: something else than the one before, ten times a second at most, and every few seconds, for some of it comes by time
#: alone; samples once a second, more seldom where nothing happens; whether a server answers follows the snapshots
NEWS_MS, SOON_MS, LOOK_MS, SLOW_MS, HISTORY_MS = 100, 100, 3_000, 10_000, 1_000
#: where nothing happens: a 120th of what the charts show, six pixels of most of them, within these bounds; all curves
#: are drawn anew for it, which would be a fifth of what the window takes at rest
QUIET_SHARE, QUIET_LEAST_MS, QUIET_MOST_MS = 120, 5_000, 30_000
#: answers about the past without any news between them: the rates of the last event are 0 by then
QUIET_ANSWERS = 8
#: An answer that takes long is asked for less often: at most a fifth of the time goes into asking, a third while there
#: is news. Less would let the whole page be seconds old.
SHARE, NEWS_SHARE = 5, 2
RANGES = (
    ("300", N_("5 min")),
    ("3600", N_("1 h")),
    ("86400", N_("24 h")),
    ("604800", N_("7 d")),
    ("2592000", N_("30 d")),
)
#: Asked again each time, so that a sample written late is not missed.
OVERLAP_S = 5
CURVE_POINTS = 240
ORDER = "overview.order"  #: the tiles as a person has put them
#: a longer range is asked for as a whole, so often; what the charts mark so often
LONGEST_FINE_S, LONG_AGAIN_S, MARKS_AGAIN_S = 86_400, 60.0, 30.0


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
        self,
        source: OverviewSource,
        *,
        memory: Memory | None = None,
        profile: str = "",
    ) -> None:
        super().__init__(N_("Overview"))
        self._memory = memory or ShortMemory()
        self._profile = profile
        self._limits = limits.recall(self._memory, profile)
        self._order: object = None  #: of the tiles, as it is remembered
        self._data = OverviewData(source)
        self.looked: Look | None = None
        self._heard: object = None  #: what the newest snapshot said, but for the time
        self._servers: object = None  #: what it said of the servers, None where the page may tell otherwise
        self._told_store = False  #: whether what is painted now is of a time when the store answered
        self._history: History | None = None
        self._summary_counts = True
        self._said: dict[str, tuple[Attention, AttentionRow]] = {}  #: what was said of each item, by its key
        self._curves: dict[str, tuple[Frame, tuple[float | None, float | None]]] = {}  #: as the tiles show them
        self._marks: tuple[Mark, ...] = ()
        self.charts = Charts(self._data.buffer, self)
        self.tiles = {
            spec.key: KpiTile(spec.label, spec.glyph, spec.role, alarm_role=spec.alarm_role, filled=True, tip=spec.tip)
            for spec in TILES
        }
        self.attention, self.fleet = AttentionCard(self._memory, profile), FleetCard()
        self._steps = Steps(self)
        self.error = ErrorStrip()
        self.asking: ListSource[None] = ListSource(self._call_look, None, self, every_ms=LOOK_MS, in_turn=True)
        self._quiet = 0  #: answers about the past since there was news
        self.samples: ListSource[None] = ListSource(self._call_history, None, self, every_ms=HISTORY_MS, in_turn=True)
        self._news = Throttle(self._on_news, NEWS_MS, self)
        self._look_soon = Throttle(self._look_again, SOON_MS, self)
        # a thread of its own: where a server is lost, those of the pool wait for it
        self._freshening, self._more_news = Operation(self, latest=True, lasting=True), False
        self.make(self._build_header, self._build_body, self._connect)

    # made once

    def _build_header(self) -> None:
        self.freezing = Freezing(self)
        self.range_switch = Segmented(RANGES, N_("Time range"))
        self.range_switch.set_current("3600")
        self.past_button = IconButton("ph.clock-counter-clockwise", N_("Look back in time"), keys="window.past")
        self.past_button.clicked.connect(lambda: self.navigate.emit("past", None))
        for widget in (self.freezing.button, self.past_button, self.range_switch):
            self.header.add_action(widget)

    def _build_body(self) -> None:
        inner = QWidget()
        inner.setProperty("scroll", True)
        column = in_column(
            self.error, owner=inner, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, PAGE_MARGIN), spacing=CARD_GAP
        )
        self._grid = TileGrid(list(self.tiles.values()), movable=True)
        put(column, self._grid, (Middle(*self.charts.cards, self.attention), 1), self.fleet)
        self.scroll_area = QScrollArea()
        self.scroll_area.setWidget(inner)
        self.scroll_area.setWidgetResizable(True)
        self.scroll_area.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.body.addWidget(self.scroll_area)
        self._unknown = self.covered(self.scroll_area)
        self._recall_order()

    def _connect(self) -> None:
        # header
        self.freezing.wanted.connect(self.freeze_wanted)
        self.range_switch.chosen.connect(self._on_range)
        # doors
        for spec in TILES:
            self.tiles[spec.key].clicked.connect(partial(self.open_tile, spec))
            self.tiles[spec.key].menu_wanted.connect(partial(self._fill_menu, spec))
        self._grid.ordered.connect(self._keep_order)
        self.fleet.map.shop_clicked.connect(self.open_shop)
        self.fleet.door.activated.connect(self._open_chosen)
        self.fleet.map.menu_filled.connect(self._fill_shop_menu)
        self.attention.verb.connect(self.attention_verb)
        self.charts.span_chosen.connect(self._on_span)
        # data
        self.asking.listed.connect(self._on_look)
        self.asking.failed.connect(self._on_error)
        self.samples.listed.connect(self._on_history)
        self.samples.failed.connect(report)
        self.charts.window.cursor_changed.connect(self._on_cursor)
        self.error.retry.connect(self.refresh)
        ticks().tell(self, self._on_tick)

    # life

    def _on_tick(self) -> None:
        """Say again how far away everything is that the page tells of: all of it in one step."""
        if self.isVisible():
            self._recall()
        if self.looked is not None and self.isVisible() and not self.freezing.on:
            if self._summary_counts:
                self._say_summary(self.looked.now)
            self._show_attention(again=True)
            sight = self._sight()
            for spec in TILES:
                if spec.counts_on:
                    self.tiles[spec.key].show_kpi(spec.kpi(sight))

    @property
    def settled(self) -> bool:
        """Whether both first answers are on screen."""
        return self.looked is not None and self._history is not None

    def activate(self) -> None:
        """Ask while the page is seen."""
        self.asking.set_active(True)
        self.samples.set_active(True)

    def deactivate(self) -> None:
        """Ask no more."""
        self.asking.set_active(False)
        self.samples.set_active(False)
        self._steps.stop()
        self._news.cancel()
        self._look_soon.cancel()
        self._servers = None  # what was heard and not used yet is still news

    def refresh(self) -> None:
        self.asking.again()
        self.samples.again()

    def set_acting(self, reason: str) -> None:
        """Pause nothing and start nothing while that is not allowed."""
        self.attention.list.set_acting(reason)

    def panes(self) -> Sequence[QWidget]:
        """What needs attention, its first verb before all else; tiles, charts, shops."""
        return (self.attention, self._grid, *self.charts.cards, self.fleet)

    def retranslate(self) -> None:
        super().retranslate()
        self._show_look()
        self._show_history()

    # answers

    def _call_look(self, _ask: Ask[None]) -> Callable[[], Look]:
        return self._data.look

    def _call_history(self, _ask: Ask[None]) -> Callable[[], History]:
        return partial(self._data.history, int(self.charts.window.range_s))

    def note_news(self, snapshot: Snapshot | None = None) -> None:
        """There is a newer snapshot: other numbers, or a server that is lost or back."""
        servers, known = servers_of(snapshot) if snapshot is not None else None, self._servers
        if servers is None or servers != known or self.looked is None:
            self._servers = servers
            self._news()
        before, self._heard = self._heard, snapshot.heard() if snapshot is not None else None
        if self._heard is None or self._heard != before:
            self.asking.note_news()
            self._look_soon()
            self._follow_closely()

    def note_changes(self, _changes: object = None) -> None:
        """Something happened: the numbers are counted when they are asked for, and need no newer snapshot."""
        self.asking.note_news()
        self._look_soon()
        self._follow_closely()

    def _follow_closely(self) -> None:
        """Something happens: ask for the samples of every second."""
        quiet, self._quiet = self._quiet >= QUIET_ANSWERS, 0
        if quiet:
            self.asking.ask_every(LOOK_MS)
        if self.samples.every_ms != HISTORY_MS:
            self.samples.ask_every(HISTORY_MS)
            self.samples.soon()

    def _on_cursor(self) -> None:
        if self.charts.window.cursor is not None:
            self._follow_closely()

    def _look_again(self) -> None:
        if self.asking.active:
            self.asking.again()
        else:
            self._heard = None  # not looked at, so it is still news

    def _on_news(self) -> None:
        """Take from a new snapshot whether the servers answer; every number stays, for those of one moment stand
        together.
        """
        if not self.isVisible():
            self._servers = None  # not told here, so it is still news
            return
        if self.looked is None:
            self.asking.again()
            return
        if self._freshening.busy:
            self._more_news = True
            return
        # thousands of shops may have to be judged anew, which this thread must not wait for
        asked = self.looked
        self._freshening.start(partial(self._data.fresh, asked), partial(self._on_fresh, asked))

    def _on_fresh(self, before: Look, found: Look) -> None:
        missed = self._more_news or self.looked is not before  # a whole new look came meanwhile
        self._more_news = False
        if self.looked is before and found.now is not before.now:
            self.looked = found
            self._show_fresh(before, found)
        if missed:
            self._news()

    def _is_to_be_painted(self, found: Look) -> bool:
        """A page that stands still because its store is lost says so, whichever of the two comes first."""
        return not self.freezing.on or (self._told_store and not found.now.flow.facts.store)

    def _show_fresh(self, before: Look, found: Look) -> None:
        if self._is_to_be_painted(found):
            self._show_numbers()
            self._show_attention()
            if found.rows is not before.rows:
                self.fleet.set_rows(found.rows)

    def _on_look(self, look: Look) -> None:
        self.error.clear()
        if not look.now.at_ms:
            # nothing was seen yet: no number, no list and no shop is known, at most that nobody answers
            self.set_summary(summary(look.now))
            return
        self._unknown.answer()
        self.looked = look
        self._servers = None  # it may be of a time before what was heard of them
        least = LOOK_MS if self._quiet < QUIET_ANSWERS else SLOW_MS
        self.asking.ask_every(round(min(SLOW_MS, max(least, look.took_s * 1000 * SHARE))))
        self._look_soon.set_delay(round(min(SLOW_MS, max(SOON_MS, look.took_s * 1000 * NEWS_SHARE))))
        if look.now.owed_s:
            self.asking.soon(math.ceil(look.now.owed_s * 1000))  # nothing else may happen until then
        if self._is_to_be_painted(look):
            self._show_look()

    def _on_history(self, history: History) -> None:
        if history.range_s != self.charts.window.range_s:
            self.samples.again()
            return
        # the first time the numbers come first, and the charts follow a moment later
        known = self._history is None or self._history.range_s == history.range_s
        self._quiet += self.charts.window.cursor is None
        if self._quiet == QUIET_ANSWERS:
            self.samples.ask_every(quiet_ms(history.range_s))
        self._history, self._marks = history, history.marks
        if self.freezing.on:
            return
        self._show_history()
        if not known:
            # somebody waits for it
            self._steps.finish()

    def _on_error(self, error: BaseException) -> None:
        self.load_failed()
        if self.looked is None:
            self.attention.list.load_failed()
            self.fleet.load_failed()
        self.error.show_error(told(error), lead=_("The numbers could not be loaded."))

    def _show_look(self) -> None:
        if self.looked is None:
            return
        now = self.looked.now
        self._show_numbers()
        self._show_attention()
        self.fleet.set_rows(self.looked.rows)
        self.charts.show_markers(words.markers(now, self._marks, self.charts.window.range_s))

    def _show_attention(self, *, again: bool = False) -> None:
        """``again``: the same items a moment later."""
        assert self.looked is not None
        now, facts = self.looked.now, self.looked.now.flow.facts
        rows, said_at = [], -1
        while said_at != (at_ms := instant.now_ms()):  # it may move between two items
            rows, said_at = [self._row(item, at_ms, again=again) for item in now.attention], at_ms
        self._said = {item.key: (item, row) for item, row in zip(now.attention, rows, strict=True)}
        # by the clock, not by the answer: the next one may come seconds after an item has to leave
        self.attention.set_rows(
            rows, max(now.at_ms, said_at), blind=not (facts.store and facts.broker and facts.answers)
        )

    def _row(self, item: Attention, at_ms: int, *, again: bool) -> AttentionRow:
        known = self._said.get(item.key) if again else None
        if known is not None and known[0] is item:
            return words.row_again(item, known[1], at_ms)
        return words.row_of(item, at_ms)

    def _say_summary(self, now: OverviewNow) -> None:
        whole, brief = whole_and_brief(now)
        self.set_summary(whole, brief=brief)

    def _show_numbers(self) -> None:
        assert self.looked is not None
        now = self.looked.now
        self._say_summary(now)
        self._summary_counts = summary_counts(now)
        self._show_kpis()
        self.charts.show_now(now, self._limits)
        # without the store the whole page is grey
        self._told_store = now.flow.facts.store
        grey(self.tiles["unacked"], now.broker_old)
        self.charts.show_old(now.broker_old)

    def _show_kpis(self) -> None:
        sight = self._sight()
        for spec in TILES:
            self.tiles[spec.key].show_kpi(spec.kpi(sight))

    def _show_history(self) -> None:
        if self._history is None:
            return
        self.charts.window.set_now(self._history.newest_ms / 1000, self._history.oldest_ms / 1000)
        if self.looked is not None:
            self._show_kpis()
            self.charts.show_markers(words.markers(self.looked.now, self._marks, self.charts.window.range_s))
        curves = [partial(self._show_curves, TILES[first : first + 2]) for first in range(0, len(TILES), 2)]
        self._steps.run([*curves, *self.charts.steps()])

    def _show_curves(self, specs: Sequence[TileSpec]) -> None:
        sight = self._sight()
        for spec in specs:
            curve, tile, before = spec.curve(sight), self.tiles[spec.key], self._curves.get(spec.key)
            fresh = dataclasses.replace(sight.curves, columns={spec.key: curve.values})
            rest = (curve.limit, curve.base)
            if before is not None and before[1] == rest and self._shows(tile, before[0], fresh, spec.key):
                continue
            self._curves[spec.key] = fresh, rest
            tile.show_curve(holed(fresh, curve.values).tolist(), limit=curve.limit, base=curve.base)

    @staticmethod
    def _shows(tile: KpiTile, before: Frame, fresh: Frame, key: str) -> bool:
        """Whether the curve of a tile would be the same to the pixel."""
        if level(before, (key,)) and level(fresh, (key,)):
            return bool(before[key][0] == fresh[key][0])  # of whatever time
        timeless = any(len(frame) != len(frame[key]) for frame in (before, fresh))  # nothing is known of any instant
        if timeless or len(fresh) < 2:
            return np.array_equal(before[key], fresh[key], equal_nan=True)
        return looks_same(before, fresh, (key,), float(fresh.at[-1] - fresh.at[0]) / max(1, tile.width()))

    def _sight(self) -> Sight:
        assert self.looked is not None or self._history is not None
        curves = self._history.curves if self._history is not None else EMPTY
        now = self.looked.now if self.looked is not None else OverviewNow(at_ms=0)
        return Sight(now, curves, self._limits, instant.now_ms())

    # what a person does

    def _on_range(self, key: str) -> None:
        self.charts.window.set_range(float(key))
        self._follow_closely()  # how often samples are asked for where nothing happens goes by the range
        self.samples.again()

    def set_frozen(self, frozen: bool) -> None:
        """Paint nothing, or what was received meanwhile."""
        self.freezing.set_on(frozen, lost=bool(self._since))
        if not frozen:
            self._show_look()
            self._show_history()

    def _fill_menu(self, spec: TileSpec, menu: QMenu) -> None:
        menu.addAction(_("Open in Alerts"), partial(self.navigate.emit, "alerts", f"{ALERTS_OF}{spec.measure}"))
        verb = _("Set lower limit …") if spec.limit in limits.LOWER else _("Set limit …")
        offer(menu, verb, partial(self.ask_limit, spec), _(spec.no_limit) if spec.no_limit else "")
        tile, order = self.tiles[spec.key], self._grid.tiles
        menu.addSeparator()
        left = menu.addAction(_("Move left"), partial(self._grid.step, tile, -1))
        right = menu.addAction(_("Move right"), partial(self._grid.step, tile, 1))
        usual = menu.addAction(_("Usual order"), self._reset_order)
        left.setEnabled(tile is not order[0])
        right.setEnabled(tile is not order[-1])
        usual.setEnabled(order != tuple(self.tiles.values()))

    def _keep_order(self) -> None:
        keys = {tile: key for key, tile in self.tiles.items()}
        self._order = [keys[tile] for tile in self._grid.tiles]
        self._memory.put(ORDER, self._order)

    def _recall(self) -> None:
        """As it is remembered: another window may have moved a tile, or set a limit."""
        if self._memory.get(ORDER, []) != self._order:
            self._recall_order()
        kept = limits.recall(self._memory, self._profile)
        if kept != self._limits:
            self._limits = kept
            if not self.freezing.on:
                self._show_look()
                self._show_history()

    def _recall_order(self) -> None:
        self._order = kept = self._memory.get(ORDER, [])
        first = [key for key in dict.fromkeys(kept) if key in self.tiles] if isinstance(kept, list) else []
        order = (*first, *(key for key in self.tiles if key not in first))
        self._grid.set_tiles([self.tiles[key] for key in order])

    def _reset_order(self) -> None:
        self._memory.put(ORDER, [])
        self._recall_order()

    def _fill_shop_menu(self, menu: QMenu, shop: str) -> None:
        shown = filter.format_terms((equals("shop", shop),))
        menu.addAction(_("Show tasks"), partial(self.open_tasks.emit, shown))
        if chosen := self.fleet.map.chosen:
            menu.addAction(chosen_words(len(chosen)), self._open_chosen)

    def _open_chosen(self) -> None:
        chosen = self.fleet.map.chosen
        self.fleet.map.choose_none()
        if chosen:
            self.navigate.emit("shops", SHOPS_OF + " ".join(chosen))

    def ask_limit(self, spec: TileSpec) -> LimitDialog:
        """Let a person say from where on a number stands out."""
        dialog = LimitDialog(spec.limit, self._limits, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(partial(self._set_limit, spec.limit))
        dialog.open()
        return dialog

    def _set_limit(self, name: str, number: int) -> None:
        self._limits = self._limits.having(name, number)
        limits.remember(self._memory, self._limits, self._profile)
        self._show_look()
        self._show_history()

    def _on_span(self, first_ms: int, last_ms: int) -> None:
        self.open_tasks.emit(f"updated>={_moment(first_ms)} updated<={_moment(last_ms)}")

    def open_tile(self, spec: TileSpec, _checked: bool = False) -> None:
        """Open the list that a tile counts."""
        if spec.opens == "dead":
            self.open_dead.emit()
        elif spec.opens == "workers":
            self.open_workers.emit()
        elif spec.opens == "ended":
            since = _moment((self.looked.now.at_ms if self.looked is not None else 0) - 3_600_000)
            # what was a letter before and was dealt with since has not ended in this hour
            self.open_tasks.emit(f"status:succeeded,dead updated>={since} -was:succeeded,dead@{since}")
        else:
            self.open_tasks.emit(spec.opens)


def quiet_ms(range_s: int) -> int:
    """How often the samples of a range are asked for where nothing happens."""
    return min(QUIET_MOST_MS, max(QUIET_LEAST_MS, range_s * 1000 // QUIET_SHARE))


def servers_of(snapshot: Snapshot) -> object:
    """What a snapshot says of the servers: all that is taken from it between two answers."""
    answers = snapshot.store.connected, not snapshot.no_writes, snapshot.broker.connected, snapshot.told
    return *answers, bool(snapshot.at_ms), snapshot.publisher().blocked


def _moment(instant_ms: int) -> str:
    """An instant as the filter language takes it."""
    return datetime.fromtimestamp(instant_ms / 1000, UTC).strftime("%Y-%m-%d_%H:%M:%S+00:00")


WIDE, MIDDLE = 980, 620
#: least heights: with them the whole page of a small fleet fits 1366 x 768
DEPTH, SMALL, LIST = 164, 168, 320
SMALL_MOST = 208
#: how the charts share more height than that
DEPTH_SHARE, SMALL_SHARE = 17, 10
LIST_WIDTH = (300, 411)


def form_for(width: int) -> str:
    """``wide``: list beside charts. ``middle``: list below. ``narrow``: everything below each other."""
    return "wide" if width >= WIDE else "middle" if width >= MIDDLE else "narrow"


class Middle(QWidget):
    """Depth above rates and unacked, and the list."""

    def __init__(self, depth: QWidget, rates: QWidget, unacked: QWidget, attention: QWidget) -> None:
        super().__init__()
        self._parts = (depth, rates, unacked, attention)
        self._form = ""
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(CARD_GAP)
        for part in self._parts:
            part.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self._arrange("wide")

    @property
    def form(self) -> str:
        """The present arrangement."""
        return self._form

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose the arrangement for the width."""
        super().resizeEvent(event)
        self._arrange(form_for(self.width()))
        if self._form == "wide":
            least, most = LIST_WIDTH
            self._grid.setColumnMinimumWidth(2, min(most, max(least, round(self.width() * 0.3))))

    def _arrange(self, form: str) -> None:
        if form == self._form:
            return
        self._form = form
        depth, rates, unacked, attention = self._parts
        for part in self._parts:
            self._grid.removeWidget(part)
        places = {
            "wide": ((0, 0, 1, 2), (1, 0, 1, 1), (1, 1, 1, 1), (0, 2, 2, 1)),
            "middle": ((0, 0, 1, 2), (1, 0, 1, 1), (1, 1, 1, 1), (2, 0, 1, 2)),
            "narrow": ((0, 0, 1, 2), (1, 0, 1, 2), (2, 0, 1, 2), (3, 0, 1, 2)),
        }[form]
        for part, place in zip(self._parts, places, strict=True):
            self._grid.addWidget(part, *place)
        for column, stretch in enumerate((1, 1, 0)):
            self._grid.setColumnStretch(column, stretch)
            self._grid.setColumnMinimumWidth(column, 0)
        heights = {
            "wide": (DEPTH, SMALL, 0, 0),
            "middle": (DEPTH, SMALL, LIST, 0),
            "narrow": (DEPTH, SMALL, SMALL, LIST),
        }
        for row, height in enumerate(heights[form]):
            self._grid.setRowMinimumHeight(row, height)
            self._grid.setRowStretch(row, (DEPTH_SHARE, SMALL_SHARE, 0, 0)[row])
        for part, height in ((depth, DEPTH), (rates, SMALL), (unacked, SMALL), (attention, LIST)):
            part.setMinimumHeight(height)
        for part in (rates, unacked):
            part.setMaximumHeight(SMALL_MOST)


class Look(msgspec.Struct, frozen=True):
    """One answer about now."""

    now: OverviewNow
    rows: Rows
    took_s: float


class History(msgspec.Struct, frozen=True):
    """One answer about the past."""

    range_s: int
    oldest_ms: int
    newest_ms: int
    curves: Frame  #: the whole range, for the tiles
    marks: tuple[Mark, ...] = ()  #: what the charts mark


class OverviewData:
    """Asks the source; ``look`` and ``history`` block and may run in two threads at once."""

    def __init__(self, source: OverviewSource) -> None:
        self._source = source
        self._range = 0
        self._asked_s = 0.0  #: when the samples were asked for as a whole, monotonic
        self._marks: tuple[int, float, tuple[Mark, ...]] | None = None  #: of which range, and when they were asked
        self._prepared: tuple[tuple[ShopNow, ...], Rows] = ((), NONE)  #: the shops of the last look, and their cells
        self.buffer = SampleBuffer()

    def look(self) -> Look:
        """The fleet now."""
        began = time.monotonic()
        # a server may be lost while this is asked: what is known when the answer comes counts
        now = self._source.fresh(self._source.now())
        rows = self._rows(now)
        return Look(now, rows, time.monotonic() - began)

    def _rows(self, now: OverviewNow) -> Rows:
        shops, rows = self._prepared
        if shops != now.shops:
            rows = prepare(now.shops, AGGREGATE_ABOVE)
            self._prepared = tuple(now.shops), rows
        return rows

    def fresh(self, look: Look) -> Look:
        """The same with what is known of the servers now; asks nobody, but may judge every shop anew. All its numbers
        stay those of its moment.
        """
        now = self._source.fresh(look.now)
        return replace(look, now=now, rows=look.rows if now.shops is look.now.shops else self._rows(now))

    def history(self, range_s: int) -> History:
        """The samples since the last call, or all of another range."""
        newest = self.buffer.newest_ms()
        if range_s != self._range or not newest or self._due(range_s) or self._ran_ahead(newest):
            self.buffer.replace(self._source.series(range_s, CAPACITY))
            self._range, self._asked_s = range_s, time.monotonic()
        elif range_s <= LONGEST_FINE_S:
            self.buffer.append(self._source.series(self._gap_s(newest), MAX_POINTS))
        oldest, newest = self.buffer.oldest_ms(), self.buffer.newest_ms()
        end = newest / 1000
        start = max(end - range_s, oldest / 1000)
        return History(range_s, oldest, newest, self.buffer.frame(start, end, CURVE_POINTS), self._marked(range_s))

    def _due(self, range_s: int) -> bool:
        """Whether a long range is asked for as a whole again: second by second it would fill the buffer."""
        return range_s > LONGEST_FINE_S and time.monotonic() - self._asked_s >= LONG_AGAIN_S

    def _marked(self, range_s: int) -> tuple[Mark, ...]:
        if self._marks is None or self._marks[0] != range_s or time.monotonic() - self._marks[1] >= MARKS_AGAIN_S:
            self._marks = (range_s, time.monotonic(), tuple(self._source.marks(range_s)))
        return self._marks[2]

    def _ran_ahead(self, newest_ms: int) -> bool:
        """Whether samples are kept of a time that a corrected clock has not reached yet."""
        latest = self._source.series(OVERLAP_S, 1)
        return bool(latest) and latest[-1].at_ms < newest_ms - OVERLAP_S * 1000

    def _gap_s(self, newest_ms: int) -> int:
        """How far back to ask: to the newest sample known, by the source's own clock."""
        latest = self._source.series(OVERLAP_S, 1)
        behind = (latest[-1].at_ms - newest_ms) / 1000 if latest else 0.0
        return min(self._range, int(behind) + OVERLAP_S)
