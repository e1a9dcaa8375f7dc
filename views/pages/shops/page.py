"""The Shops page: which shops are held and by what, and the limits of shops, platforms and task types."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedWidget, QVBoxLayout, QWidget
from shiboken6 import isValid

from services import i18n
from services.commands.quiet import QuietNow
from services.domain.fleet import shop_filter
from services.domain.gates import limit, quiet_hours
from services.domain.insight import shop as insight
from services.domain.task.search import filter
from services.domain.task.search.query import Total, equals
from services.i18n import N_, _
from services.monitor.shops.queries import (
    BREAKER,
    ENDED,
    NEXT,
    PAUSED,
    RAN_BY,
    SESSION,
    ScopeRow,
    ShopQueries,
    ShopRow,
    ShopsNow,
)
from views.context import PageContext
from views.kit.bulk_bar import BulkBar
from views.kit.filter_choices import FilterChoices, some_of
from views.kit.list_page import ListPage
from views.kit.list_source import Ask, ListSource
from views.kit.verb import Place, Verbs
from views.page import PageCommand
from views.pages.shops import words
from views.pages.shops.bulk import ACTS, BulkActs, counted
from views.pages.shops.day import ShopDayView
from views.pages.shops.panel import ScopeCard, ShopCard
from views.pages.shops.table import SCOPES, SHOPS
from views.pages.shops.verbs import FLEET_VERBS, FleetVerb, ShopActions, ShopVerb, verbs_of
from views.support.instant import ticks
from views.support.keys import bind
from views.support.memory import Memory
from views.support.operation import Operation
from views.support.throttle import turns
from views.support.words.shop import LIMITS_OF, SHOPS_OF
from views.tables.at_rest import AtRest
from views.tables.record_model import RecordModel, Sort, comparable, sorted_rows
from views.tables.table_view import TableView
from views.theme import theme
from views.theme.tokens import CARD_GAP, CARD_PADDING, PAGE_MARGIN, status
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.elided import Elided
from views.widgets.empty_state import EmptyState
from views.widgets.filter.bar import FilterBar, FilterField, FilterValue
from views.widgets.filter.text import split
from views.widgets.heat_map.layout import NONE, Rows, gather, prepare
from views.widgets.heat_map.legend import HeatLegend, ShadeLegend
from views.widgets.heat_map.map import AGGREGATE_ABOVE, HeatMap, group_name
from views.widgets.heat_map.shades import SHADES, SHARE, STATE, SUCCESS, WAITING
from views.widgets.heat_map.shades import counts as in_shades
from views.widgets.layout import STRETCH, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip

#: what no event and no snapshot tells, as a limit that another console sets, is asked for so often
EVERY_MS, REST_MS, SIDE = 5000, 10_000, 340
_GATES = {
    SESSION: N_("Needs login"),
    BREAKER: N_("Fails too often"),
    PAUSED: N_("Paused"),
    quiet_hours.GATE: N_("Quiet hours"),
}


def _state(state: str) -> FilterValue:
    look = status(state)
    return FilterValue(state, insight.WORDS[state], (look.glyph, look.role), "shop")


FIELDS = (
    FilterField(
        "state", N_("State"), (FilterValue(shop_filter.FLAGGED, N_("Needs a person")), *map(_state, insight.STATES))
    ),
    *some_of("platform", "group"),
    FilterField("tag", N_("Tag")),
    FilterField(
        "dedicated", N_("Queue"), (FilterValue("yes", N_("Dedicated")), FilterValue("no", N_("Shared"))), single=True
    ),
    FilterField("gate", N_("Stopped by"), tuple(FilterValue(gate, word) for gate, word in _GATES.items())),
    FilterField(shop_filter.WORKER, N_("Last worker")),
)
#: where the filter of each connection is remembered
KEPT = "shops.filter"
#: columns by whose cells the list can be filtered: the field, and its value
FILTERED: dict[str, tuple[str, Callable[[ShopRow], str]]] = {
    "state": ("state", lambda row: row.now.state),
    "platform": ("platform", lambda row: row.shop.platform),
    "group": ("group", lambda row: row.shop.group),
    "queue": ("dedicated", lambda row: "yes" if row.shop.dedicated else "no"),
    "home": ("home", lambda row: row.home),
    "ran_by": (shop_filter.WORKER, lambda row: row.ran_by),
}
_VIEWS = (("shops", N_("Shops")), ("limits", N_("Limits")))
GROUP_TASKS = N_("Tasks of this group")
NAME, COLOUR_NAME = "shops.map", "shops.map.colour"
#: what stands in place of the table: text, hint, verb
UNMATCHED = (N_("No shop matches."), N_("Change or clear the filters."), N_("Show all"))
NO_SHOPS = (N_("No shops yet"), N_("Add one or import a list above; a shop also appears here with its first task."))
#: values of a column that tell nothing
_NOTHING = (None, "", ())
_VALUES = {column.key: column.value for column in SHOPS}
#: what the cells may tell
COLOURS = (
    (STATE, N_("Worst state")),
    (WAITING, N_("Waiting")),
    (SHARE, N_("Success 24 h")),
    (SUCCESS, N_("Last success")),
)
#: what is asked for only where its column is seen
TOLD: Mapping[str, str] = {"share": ENDED, "next": NEXT, "ran_by": RAN_BY}
#: the map takes up to this part of the page, leaves so much to all else, and is at least so high before it scrolls
PART, ELSE, LEAST = 0.3, 380, 58


#: platform and name of the group that is looked at closer, in a fleet that is too large for a cell each
Opened = tuple[str, str]


class Wanted(msgspec.Struct, frozen=True):
    """Which shops the table shows."""

    filter: str = ""
    only: frozenset[str] = frozenset()  #: only these, where there are any
    within: Opened | None = None  #: only of this group
    telling: frozenset[str] = frozenset()  #: of ``ENDED`` …, what is told, too


class Laid(msgspec.Struct, frozen=True):
    """What the map shows, and how many shops its legend counts: all, or those of the group that is open."""

    rows: Rows = NONE
    lit: frozenset[str] | None = None  #: which of them are lit, None for all
    by: str = STATE  #: what the cells tell
    states: Mapping[str, int] = {}
    shades: Mapping[str, int] = {}


class Cells(msgspec.Struct, frozen=True):
    """What the map shows, and what that was laid out of."""

    of: object = None
    cells: Laid = Laid()
    groups: Mapping[str, frozenset[str]] = {}  #: by its cell the shops of each group that fit


class Listed(msgspec.Struct, frozen=True):
    """The shops that were asked for in the order of the header, of which the table loads the first as one scrolls."""

    of: tuple[ShopRow, ...] | None = None  #: what they were put in order of
    by: object = None  #: and by what: the columns, and the language of their texts
    rows: tuple[ShopRow, ...] = ()
    at: Mapping[str, ShopRow] = {}  #: all of them by key
    loaded: tuple[ShopRow, ...] = ()


class Loading(msgspec.Struct, frozen=True):
    """Which rows the table has beside the first ones."""

    sorts: tuple[Sort, ...]
    pinned: frozenset[str]  #: keys that it has however far down they stand
    before: Listed  #: what it shows; a live answer lets none of these leave that is still meant
    moves: bool  #: all may take its place, so what it shows need not stay


Answer = tuple[Ask[Wanted], ShopsNow, tuple[ScopeRow, ...], Cells, Listed]
#: so many that are ticked stand in the table wherever their place is; of more a person sees those that are loaded
PINNED = 200


class ShopsPage(ListPage[ShopRow]):
    """Two tables, one at a time; what can be done about the row under the cursor stands beside it."""

    page_id = "shops"
    actions_of_page: ShopActions
    filter: FilterBar

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Shops"), context)
        self._now, self._scopes = ShopsNow(), tuple[ScopeRow, ...]()
        self._cells, self._settled = Cells(), False  #: as they were shown last, and whether all took its place then
        self._listed = Listed()
        self._of_day = False
        self._only: frozenset[str] = frozenset()  #: of all shops these alone are looked at
        self._scope_wish = ""  #: of the limits, as ``_wish`` of the shops
        self.actions_of_page = ShopActions(context, self)
        self._model: RecordModel[ShopRow] = RecordModel(
            SHOPS, key=lambda row: row.key, tickable=True, hold_new=False, sentence=words.sentence
        )
        self._limits: RecordModel[ScopeRow] = RecordModel(
            SCOPES, key=lambda row: row.key, hold_new=False, local_sort=True, sentence=words.scope_sentence
        )
        kept = str(context.memory.get(context.own(KEPT), ""))
        self._source = ListSource(
            self._call, Wanted(kept), self, most=sys.maxsize, every_ms=EVERY_MS, follows=context.feed, rest_ms=REST_MS
        )
        self._works, self._rules = Operation(self, latest=True), Operation(self, latest=True)
        self._bulk_acts = BulkActs(context, self)
        self._showing, self._barred = False, ""
        self._shown_of: object = None  #: what the table shows: filter and order
        self.fleet_verbs: Verbs[FleetVerb, ShopsNow] = Verbs(
            FLEET_VERBS, lambda verb, now: verb.do(self.actions_of_page, now), self.actions_of_page.barred
        )
        self.make(self._build, self._connect, self._show_view)

    # the page

    def activate(self) -> None:
        """Ask now and then; the worst first, as of now."""
        self._choices.refresh()
        super().activate()
        self.day.set_active(self._of_day)

    def deactivate(self) -> None:
        """Ask no more."""
        super().deactivate()
        self.day.set_active(False)

    def show_request(self, request: object) -> None:
        """Show one shop by its key, those that a filter means or that a gate holds, after ``SHOPS_OF`` many, ticked,
        or after ``LIMITS_OF`` a platform or type among the limits.
        """
        asked = str(request)
        if asked.startswith(LIMITS_OF):
            self._view.set_current("limits")
            self._scope_wish = asked.removeprefix(LIMITS_OF)
            self._on_view()
            self._ask()
            return
        self._leave_day()
        self.heat.opened = None  # it may be none of that group
        self._view.set_current("shops")
        self._show_view()
        many = asked.startswith(SHOPS_OF)
        self._only = frozenset(asked.removeprefix(SHOPS_OF).split(" ")) if many else frozenset()
        if many:  # what can be done to them is offered as to any that a person has ticked
            self._model.untick_all()
            self._model.set_ticked(self._only)
        wanted = "" if many else _as_filter(asked)
        self._wish = asked if not (many or wanted) else ""
        self.filter.set_expression(wanted)  # one stands among all others: alone, it would look as if those were gone
        self._ask()

    def shown_request(self) -> str:
        """The filter, without one what is under the cursor."""
        return self.filter.expression() or super().shown_request()

    def verbs(self, row: ShopRow) -> Verbs[ShopVerb, ShopRow]:
        """What can be done to a shop."""
        acts = self.actions_of_page
        return Verbs(verbs_of(row), lambda verb, one: verb.do(acts, one), acts.barred)

    def commands(self) -> Sequence[PageCommand]:
        """What the palette offers: the verbs of the shop beside the table, and those for all."""
        row = self.shop.shown
        found = self.verbs(row).commands("shops", row, words.name(row)) if row is not None else []
        return [*found, *self.fleet_verbs.commands("shops", self._now)]

    def pointed(self) -> tuple[str, str]:
        """The shop beside the table."""
        row = self.shop.shown
        return (row.key if row is not None else "", "")

    def panes(self) -> Sequence[QWidget]:
        """Map, filter, table, card."""
        if self._of_day:
            return (self.day.head, self.day, self._side)
        return (self.heat.map, self.filter, self._tables, self._side)

    def retranslate(self) -> None:
        """Say the numbers again."""
        super().retranslate()
        self._choices.retranslate()

    # putting together

    def _build(self) -> Iterator[None]:
        self._view = Segmented(_VIEWS, N_("What to show"))
        self.header.add_action(self._view)
        self.buttons: dict[str, Button] = {}
        for verb in self.fleet_verbs.at(Place.BAR):
            self.buttons[verb.key] = button = Button(verb.text, icon=verb.icon)
            button.clicked.connect(partial(self._act_on_all, verb.key))
            self.header.add_action(button)
        yield
        self.filter = FilterBar(
            FIELDS,
            placeholder=N_("Name, id, group or tag"),
            offers=len(FIELDS),
            names=shop_filter.NAMES,
            example="platform:pdd state:login,dead dead>0 -tag:new",
        )
        self._choices = FilterChoices(self._context, self.filter, self, FIELDS, self._within)
        self.only_button = Button("", kind="ghost", small=True, icon="ph.x")
        self.only_button.hide()
        self.filter.add_action(self.only_button)
        yield
        self.heat = ShopsMap(self._context.memory)
        self._above = QWidget()
        in_row(self.heat, owner=self._above, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, 8))
        self.error = ErrorStrip()
        self.body.addWidget(self.error)
        self.body.addWidget(self._above)
        yield
        row, left = QHBoxLayout(), QVBoxLayout()
        row.setSpacing(CARD_GAP)
        left.setSpacing(0)
        self.body.addLayout(row, 1)
        row.addLayout(left, 1)
        left.addWidget(self.filter)
        self._tables = QStackedWidget()
        left.addWidget(self._tables, 1)
        yield
        self.table = TableView(self._model, name=N_("Shops"))
        self._rest = AtRest(self.table, cursor_is_set=True)
        self._tables.addWidget(self.table)
        yield
        self.limits = TableView(self._limits, name=N_("Limits"))
        self._tables.addWidget(self.limits)
        yield
        self.empty = EmptyState(*UNMATCHED)
        yield
        self.day = ShopDayView(
            self._context.limits,
            self._context.audit,
            lambda: self._context.feed.latest.store.connected,
            self.verbs,
        )
        self._tables.addWidget(self.empty)
        self._tables.addWidget(self.day)
        yield from self.day.build()
        self.body.insertWidget(0, self.day.head)
        self.day.head.hide()
        yield
        self.bulk = BulkBar(ACTS, counted)
        left.addWidget(self.bulk)
        yield
        self._side = ScrollPane()
        row.addWidget(self._side)
        self.shop = ShopCard(self.verbs)
        yield
        self.scope = ScopeCard()
        yield
        theme().changed.connect(self._widen)
        self._widen()
        self._side.body.setContentsMargins(0, 0, PAGE_MARGIN, PAGE_MARGIN)
        self._side.body.setSpacing(CARD_GAP)
        put(self._side.body, self.shop, self.scope, self.day.coming, STRETCH)
        yield
        self._unknown = self.covered(self._tables)
        self._unknown.ask(self._source.wanted)
        self.shop.hide()
        self.scope.hide()

    def _widen(self) -> None:
        self._side.setFixedWidth(round(SIDE * theme().growth))

    def _connect(self) -> None:
        # looking
        self.filter.remember(self._context.memory, self._context.own(KEPT))
        self.filter.changed.connect(lambda _expression: self._ask())
        self.table.filterable = self._filterable
        self.table.filter_requested.connect(self._filter_by)
        for part in (self.table, self.filter):
            bind(part, {"Esc": self._on_escape})
        bind(self._side, {"Esc": self._leave_side})
        self._light()
        self.only_button.clicked.connect(self._show_all)
        self.heat.state_chosen.connect(self._on_state)
        self.heat.colour_chosen.connect(self._on_colour)
        self.table.layout_of_columns.arranged.connect(self._ask_more)
        self.heat.shop_chosen.connect(self._choose)
        self.heat.zoomed.connect(self._on_zoomed)
        self.heat.map.menu_filled.connect(self._fill_menu)
        self.heat.map.group_menu_filled.connect(self._fill_group_menu)
        self.heat.tasks_button.clicked.connect(lambda: self._open_group(*(self.heat.opened or ("", ""))))
        self.heat.map.chosen_changed.connect(self._on_chosen_in_map)
        self._view.chosen.connect(lambda _key: self._on_view())
        self._connect_list(whole=False)
        self._model.sort_requested.connect(lambda _sorts: self._source.ask(self._source.wanted))
        self.table.near_end.connect(lambda: self._source.more(len(self._listed.loaded)))
        ticks().tell(self, self._on_tick)
        self.empty.action.connect(self._show_all)
        # choosing
        self.table.current_changed.connect(lambda _key: self._on_chosen())
        self.limits.current_changed.connect(lambda _key: self._follow())
        self.table.open_requested.connect(self._open_tasks)
        self.table.menu_requested.connect(self._fill_menu)
        self.table.peek_requested.connect(self._open_day)
        bind(self.table, {"shops.day": lambda: self._open_day(self.table.current_key()), "shops.edit": self._edit})
        self.day.closed.connect(self._close_day)
        self.day.shown.connect(self.navigate)
        self.day.followed.connect(self._follow)
        self.header.stood.connect(self.day.head.show_stood)
        # acting
        self._model.ticked_changed.connect(self._show_bulk)
        self._model.ticked_changed.connect(self._mark_ticked)
        self.bulk.clear_wanted.connect(self._model.untick_all)
        self.bulk.all_wanted.connect(lambda: self._model.set_ticked(self._listed.at))
        self.bulk.wanted.connect(self._act_on_ticked)
        self._bulk_acts.changed.connect(self.refresh)
        acts = self.actions_of_page
        acts.day_wanted.connect(self._show_day)
        acts.refused.connect(self._follow)
        self.shop.concurrency_chosen.connect(lambda number: self._on_shop(acts.set_concurrency, number))
        self.shop.dedicated_chosen.connect(self._on_dedicated)
        self.shop.quiet_wanted.connect(self._on_quiet_shop)
        self.scope.limit_chosen.connect(self._on_limit)
        self.scope.tasks_wanted.connect(self._open_waiting)
        self.scope.pause_wanted.connect(self._on_pause_scope)
        self.scope.quiet_wanted.connect(self._on_quiet_scope)

    # looking

    def _ask(self) -> None:
        self._light()
        wanted = Wanted(self.filter.expression(), self._only, self.heat.opened)
        self._unknown.ask(wanted)
        self._source.ask(replace(wanted, telling=self._telling()))

    def _on_colour(self, _by: str) -> None:
        self._source.again(settle=False)
        self._ask_more()

    def _telling(self) -> frozenset[str]:
        """What takes longer to tell than all else, as far as it is looked at; not before the first shops are seen."""
        shown = {TOLD[one.key] for one in self.table.layout_of_columns.shown() if one.key in TOLD}
        if self.heat.by == SHARE:
            shown.add(ENDED)
        return frozenset(shown) if self._now.at_ms else frozenset()

    def _ask_more(self) -> None:
        """Another column may be seen by now, or there are shops to tell more of."""
        if self._telling() != self._source.wanted.telling:
            self._ask()

    def _within(self, rest: str, field: str, _values: Sequence[str]) -> Callable[[], Mapping[str, Total]]:
        return partial(self._context.limits.within, rest, field, self._only)

    def _call(self, ask: Ask[Wanted]) -> Callable[[], Answer]:
        ticked = self._model.ticked()
        pinned = {self._wish, self.table.current_key(), *(ticked if len(ticked) <= PINNED else ())}
        loading = Loading(self._model.sorts, frozenset(map(str, pinned)), self._listed, ask.settle or self._resting)
        return partial(_look, self._context.limits, ask, self.heat.by, self._cells, loading)

    def _show(self, answer: Answer) -> None:
        self.error.clear()
        self.filter.clear_problem()
        before, (ask, self._now, self._scopes, cells, listed) = self._now, answer
        self.actions_of_page.learn(self._now.every)
        settles = ask.settle or self._resting
        same = cells is self._cells and listed is self._listed and replace(before, at_ms=self._now.at_ms) == self._now
        same = same and self._view.current() == "shops" and not self._wish
        if same and not ask.settle and settles <= self._settled:  # at rest: all of it stands there
            self._unknown.answer(replace(ask.wanted, telling=frozenset()))
            self._limits.apply(self._scopes)
            self._ask_works()
            self.refreshed.emit()
            return
        self._cells, self._listed, self._settled = cells, listed, settles
        self._show_cells(cells.cells)
        if ask.wanted.within is not None and self.heat.opened is None:  # nothing of it is left
            self._ask()
        self._unknown.answer(replace(ask.wanted, telling=frozenset()))
        self._model.apply(listed.loaded, settle=settles)
        shown_of = replace(ask.wanted, telling=frozenset()), self._model.sorts
        if shown_of != self._shown_of:  # what is above stays above of a list that goes on, not of another one
            self._shown_of = shown_of
            self.table.scrollToTop()
        self._limits.apply(self._scopes)
        if self._scope_wish:
            self.limits.set_current_key(self._scope_wish)
            self._scope_wish = ""
        if self._wish:
            self._go_to_wish(ask.wanted)
        shown = self._shop_at(self.day.row.key) if self._of_day and self.day.row is not None else None
        if shown is not None:
            self.day.follow(shown)
        self._showing = True
        try:
            self._choose_first()
            self._say()
        finally:
            self._showing = False
        turns().soon(self._follow_shown)

    def _choose_first(self) -> None:
        """Choose the first where none is chosen."""
        if self._listed.rows and self.table.current_key() is None:
            self.table.set_current_key(self._model.key_at(0))
        if self._scopes and self.limits.current_key() is None:
            self.limits.set_current_key(self._limits.key_at(0))

    def _follow_shown(self) -> None:
        """What stands beside takes as long as all else that an answer shows, so it has a turn of its own."""
        if isValid(self):
            self._follow()
            self._ask_works()
            self._ask_more()
            self.refreshed.emit()

    def _ask_works(self) -> None:
        """When each type of the shop under the cursor ran last, and what holds for it; without an answer to one of
        these the card leaves that out.
        """
        row = self.shop.shown
        if row is not None:
            key, quiet, card = row.key, self._context.commands.quiet, self.shop

            def told(found: tuple[Sequence[QuietNow], str]) -> None:
                card.show_rules(key, self._scopes, *found)

            works = partial(self._context.limits.works, key)
            self._works.start(works, partial(card.show_works, key), lambda _error: card.show_works(key, ()))
            self._rules.start(lambda: (quiet.known(), quiet.zone()), told, lambda _error: card.show_rules(key, ()))

    def _go_to_wish(self, wanted: Wanted) -> None:
        """Put the cursor on the shop that was asked for; one that is not there is searched for."""
        wish = self._wish
        if not self.table.set_current_key(wish) and not wanted.filter:
            self.filter.set_expression(f"shop:{filter.written(wish)}")
            self._ask()
        else:
            self._wish = ""

    def _on_tick(self) -> None:
        """Say again how far away everything is."""
        if self._source.active and self.shop.shown is not None:
            self.shop.tell_time()
            self._say_rights(anew=False)
        elif self._source.active:
            self._follow()

    def _say(self) -> None:
        for field, counts in self._now.counts.items():
            self._choices.tell(field, counts)
        self._choices.offer("tag", self._now.counts.get("tag", {}))
        workers = {info.worker for info in self._context.feed.latest.workers}
        self._choices.offer(shop_filter.WORKER, self._now.counts.get(shop_filter.WORKER), workers)
        self._say_rule()
        self.only_button.set_count_text(words.only(len(self._only)))
        self.only_button.setVisible(bool(self._only))
        on_shops = self._view.current() == "shops"
        loaded = len(self._listed.loaded)
        self.set_summary(words.summary(self._now, loaded) if on_shops else words.scopes_summary(self._scopes))
        self._show_view()

    def _say_rule(self) -> None:
        self.buttons["rule"].setToolTip(words.rule(self._now.rule))

    def _show_view(self) -> None:
        on_shops = self._view.current() == "shops"
        lists = on_shops and not self._of_day
        self.header.setHidden(self._of_day)
        self.day.head.setVisible(self._of_day)
        self.day.coming.show_day(self.day.day if self._of_day else None)
        self._above.setVisible(lists and bool(self._now.every))
        empty = on_shops and not self._now.rows and bool(self._now.at_ms)
        none = empty and not self._now.every and not self._of_day
        self.filter.setVisible(lists and not (none and not self.filter.expression()))
        self.empty.set_texts(*(NO_SHOPS if none else UNMATCHED))
        self._side.setVisible(not none)
        listed = self.empty if empty else self.table if on_shops else self.limits
        self._tables.setCurrentWidget(self.day if on_shops and self._of_day else listed)
        self._follow()
        self._show_bulk()

    def _follow(self) -> None:
        if self._showing:
            return
        on_shops = self._view.current() == "shops"
        of_day = on_shops and self._of_day
        # what is shown in its place is of its own shop, whatever the list shows and wherever its cursor went
        row = self.day.row if of_day else self._shop_at(self.table.current_key()) if on_shops else None
        self.shop.set_beside_day(of_day)
        self.shop.show_shop(row)
        self.scope.show_scope(None if on_shops else self._scope_at(self.limits.current_key()))
        self._say_rights(anew=False)

    def _on_chosen(self) -> None:
        row = self._shop_at(self.table.current_key())
        self.heat.map.set_marked(*((row.key, row.now.group) if row is not None else ("",)))
        self._follow()
        self._ask_works()

    def _on_view(self) -> None:
        self._leave_day()
        self._say()

    def _open_day(self, key: object) -> None:
        row = self._shop_at(key)
        if row is not None:
            self._show_day(row)

    def _edit(self) -> None:
        row = self._shop_at(self.table.current_key())
        if row is not None:
            self.verbs(row).act("edit", row)

    def _show_day(self, row: ShopRow) -> None:
        """Its runs in place of the list; the card beside them stays."""
        self._of_day = True
        self.table.set_current_key(row.key)
        self.day.open_shop(row)
        self._show_view()
        self.day.gantt.setFocus(Qt.FocusReason.OtherFocusReason)

    def _close_day(self) -> None:
        self._leave_day()
        self._show_view()
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave_day(self) -> None:
        self._of_day = False
        self.day.set_active(False)

    def _on_state(self, state: str) -> None:
        """Only shops in one state, in the map and in the table."""
        self.filter.narrow({"state": state})

    def _light(self) -> None:
        """In the legend the state that alone is filtered for."""
        of_state = split(self.filter.expression(), ("state",), names=shop_filter.NAMES)[0]
        one = of_state[0] if len(of_state) == 1 else None
        alone = one is not None and len(one.values) == 1 and not one.negated
        self.heat.legend.light(one.values[0] if one is not None and alone else "")

    def _filterable(self, key: object, column: str) -> bool:
        row = self._shop_at(key)
        return row is not None and column in FILTERED and bool(FILTERED[column][1](row))

    def _filter_by(self, column: str, include: bool) -> None:
        row = self._shop_at(self.table.current_key())
        if row is not None:
            field, value = FILTERED[column]
            self.filter.add_value(field, value(row), include=include)

    def _on_escape(self) -> None:
        """Clear the selection, then the filter."""
        if self._model.ticked():
            self._model.untick_all()
        else:
            self._unfilter()

    def _leave_side(self) -> None:
        """Back to the list: from beside the shop that is alone, too."""
        if self._of_day:
            self._close_day()
        else:
            (self.limits if self._view.current() == "limits" else self.table).setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_zoomed(self) -> None:
        """Other shops of those that are known stand in the map, and the table is of them."""
        self._show_cells(lay_out(self._now, self.heat.by, self.heat.opened))
        self._ask()

    def _show_cells(self, laid: Laid) -> None:
        self.heat.show_cells(laid)
        self._mark_ticked()

    def _mark_ticked(self) -> None:
        """What is ticked in the table is chosen in the map, of a group all of it."""
        ticked = frozenset(map(str, self._model.ticked()))
        groups = self._cells.groups if self.heat.map.rows.inside and ticked else None
        of_groups = () if groups is None else (key for key, shops in groups.items() if shops <= ticked)
        self.heat.map.set_chosen(ticked if groups is None else frozenset(of_groups))

    def _on_chosen_in_map(self) -> None:
        """What is chosen in the map is ticked in the table, also where it has not loaded that."""
        chosen, fitting = frozenset(self.heat.map.chosen), self._now.fitting
        cells = frozenset(cell.key for cell in self.heat.map.rows.cells)
        if self.heat.map.rows.inside:
            groups = self._cells.groups
            kept = frozenset(map(str, self._model.ticked()))
            before = (shops for shops in groups.values() if shops <= kept)
            cells = frozenset().union(*before)  # of a group that is ticked in part no more than that
            chosen = frozenset().union(*(groups.get(key, frozenset()) for key in chosen))
        left = (cells if fitting is None else cells & fitting) - chosen
        self._model.set_ticked(chosen)
        self._model.set_ticked(left, on=False)
        if any(self._model.find(key) is None for key in chosen):
            self._source.again(settle=False)  # they come to the rows that one has scrolled to

    def _choose(self, key: str) -> None:
        """Put the cursor on a shop of the map; where the filter leaves it out, the filter goes."""
        if self.table.set_current_key(key):
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self._wish = key
        if key in self._listed.at:
            self._source.again(settle=False)
        else:  # the group that it stands in stays open
            self._unfilter()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the map its share."""
        super().resizeEvent(event)
        self.heat.set_room(event.size().height())

    def _say_rights(self, *, anew: bool = True) -> None:
        """``anew``: also where the reason is the same, for another role may do more."""
        acts, row = self.actions_of_page, self.scope.shown
        before, self._barred = self._barred, acts.barred()
        if anew or before != self._barred:
            self.shop.set_acting(self._barred)
            self.day.show_verbs()
            for one in self.fleet_verbs.offers(Place.BAR, self._now):
                self.buttons[one.verb.key].disable(one.reason)
            self._say_rule()
        is_type = row is not None and row.key.startswith(f"{limit.TYPE}:")
        self.scope.set_acting(acts.barred("admin" if is_type else "operator"), acts.barred())

    def _shop_at(self, key: object) -> ShopRow | None:
        return self._listed.at.get(str(key)) if key is not None else None

    def _scope_at(self, key: object) -> ScopeRow | None:
        return self._limits.find(str(key)) if key is not None else None

    def _show_all(self) -> None:
        self.heat.opened = None
        self._unfilter()

    def _unfilter(self) -> None:
        self._only = frozenset()
        self.filter.clear()

    # acting

    def _on_shop(self, act: Callable[..., None], *args: object) -> None:
        row = self.shop.shown
        if row is not None and not self.actions_of_page.barred():
            act(row, *args)

    def _on_dedicated(self, on: bool) -> None:
        row = self.shop.shown
        if row is not None and self.actions_of_page.dedicate(row, on=on):
            self.shop.show_shop(row)  # the switch stands as it is until that is decided

    def _on_limit(self, concurrency: int, per_minute: int) -> None:
        row = self.scope.shown
        if row is not None:
            self.actions_of_page.set_limit(row, concurrency, per_minute)

    def _on_pause_scope(self) -> None:
        row = self.scope.shown
        if row is not None:
            self.actions_of_page.pause_scope(row)

    def _on_quiet_shop(self) -> None:
        row = self.shop.shown
        if row is not None:
            self.actions_of_page.edit_quiet_hours(f"shop:{row.key}")

    def _on_quiet_scope(self) -> None:
        row = self.scope.shown
        if row is not None:
            self.actions_of_page.edit_quiet_hours(row.key)

    def ticked(self) -> tuple[ShopRow, ...]:
        """The shops that are ticked and that the filter means, loaded or not."""
        ticked = self._model.ticked()
        return tuple(row for row in self._listed.rows if row.key in ticked) if ticked else ()

    def _show_bulk(self) -> None:
        on_shops = self._view.current() == "shops" and not self._of_day
        ticked = len(self._listed.at.keys() & self._model.ticked()) if on_shops else 0
        self.bulk.show_count(ticked, self.actions_of_page.barred())
        whole = self._model.tick_state() == Qt.CheckState.Checked
        self.bulk.offer_all(len(self._listed.rows) if whole else 0)

    def _act_on_ticked(self, key: str) -> None:
        if not self.actions_of_page.barred():
            self._bulk_acts.ask(key, self.ticked())

    def _act_on_all(self, key: str, _checked: bool = False) -> None:
        self.fleet_verbs.act(key, self._now)

    def _open_tasks(self, key: object) -> None:
        row = self._shop_at(key)
        if row is not None:
            self.actions_of_page.show_tasks(row)

    def _open_waiting(self) -> None:
        row = self.scope.shown
        if row is not None:
            head, _colon, name = row.key.partition(":")
            self.navigate.emit("tasks", filter.format_terms((equals("gate", "quota"), equals(head, name))))

    def _fill_group_menu(self, menu: QMenu, platform: str, group: str) -> None:
        menu.addAction(_(GROUP_TASKS), partial(self._open_group, platform, group))

    def _open_group(self, platform: str, group: str) -> None:
        self.actions_of_page.show_group(group, platform)

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        row = self._shop_at(key)
        if row is not None:
            self.verbs(row).fill(menu, row)


def _look(queries: ShopQueries, ask: Ask[Wanted], by: str, cells: Cells, loading: Loading) -> Answer:
    """``cells``: those that are shown, which need not be laid out anew as long as they tell the same."""
    wanted = ask.wanted
    if by == SHARE and ENDED not in wanted.telling:  # not known yet: of all it would be said that none ended
        by = STATE
    found = queries.shops(wanted.filter, only=wanted.only, within=wanted.within, telling=wanted.telling)
    of = found.every, found.fitting, by, wanted.within, found.at_ms if by == SUCCESS else 0
    if cells.of != of:
        cells = Cells(of, lay_out(found, by, wanted.within), _groups(found))
    return ask, found, queries.scopes(), cells, _list(found, ask.limit, loading)


def _list(found: ShopsNow, limit: int, loading: Loading) -> Listed:
    """Put all of them in order, and choose the rows to load; what is as it was is the same object."""
    before, order = loading.before, (loading.sorts, i18n.language())
    alike = before.by == order
    same = alike and before.of is found.rows
    if same:
        rows = before.rows
    elif alike and loading.sorts:
        rows = _worst_first(_in_order(_as_they_stood(found.rows, before), loading.sorts), found.rows, loading.sorts)
    else:
        rows = _in_order(found.rows, loading.sorts)
    kept = loading.pinned if loading.moves else loading.pinned.union(row.key for row in before.loaded)
    loaded = tuple(row for place, row in enumerate(rows) if place < limit or row.key in kept)
    if same and loaded == before.loaded:
        return before
    return Listed(found.rows, order, rows, before.at if same else {row.key: row for row in rows}, loaded)


def _as_they_stood(rows: Sequence[ShopRow], before: Listed) -> Sequence[ShopRow]:
    """In the order of the answer before, by the same columns: what hardly changed is soon in order again."""
    at = {row.key: row for row in rows}
    return (*(at[row.key] for row in before.rows if row.key in at), *(row for row in rows if row.key not in before.at))


def _worst_first(ordered: Sequence[ShopRow], ranked: Sequence[ShopRow], sorts: Sequence[Sort]) -> tuple[ShopRow, ...]:
    """With those that are the same by these columns as they rank now, not as they stood."""
    places, values = {row.key: place for place, row in enumerate(ranked)}, [_VALUES[key] for key, _down in sorts]
    alike = groupby(ordered, lambda row: [comparable(value(row)) for value in values])
    return tuple(row for _same, some in alike for row in sorted(some, key=lambda row: places[row.key]))


def _in_order(rows: Sequence[ShopRow], sorts: Sequence[Sort]) -> tuple[ShopRow, ...]:
    """As the header was clicked; those of which nothing is told stand last in both directions: of thousands most have
    no worker, and none would be in sight that has one.
    """
    ordered = sorted_rows(rows, sorts, _VALUES.__getitem__)
    if not sorts:
        return tuple(ordered)
    value = _VALUES[sorts[0][0]]
    told = [row for row in ordered if value(row) not in _NOTHING]
    return (*told, *(row for row in ordered if value(row) in _NOTHING)) if len(told) < len(ordered) else tuple(ordered)


def _as_filter(asked: str) -> str:
    """What is asked for as a filter, "" where it is a shop."""
    if asked in _GATES:
        return f"gate:{asked}"
    head = next(iter(filter.pieces(asked, shop_filter.NAMES)), None)
    return asked if head is not None and head.field in shop_filter.FIELDS else ""


def _groups(now: ShopsNow) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for one in now.every:
        if now.fitting is None or one.key in now.fitting:
            found.setdefault(f"{one.platform}:{one.group}", set()).add(one.key)
    return {key: frozenset(shops) for key, shops in found.items()}


def lay_out(now: ShopsNow, by: str = STATE, opened: Opened | None = None) -> Laid:
    """The cells to draw; works in any thread. ``by``: what they tell.

    Cells keep their places while one filters. A fleet that is too large for a cell each shows those that match, and
    where these are too many, too, a cell for each group, of which one may be ``opened``; where none matches, all
    groups, dim.
    """
    rows, lit = _placed(now, by, opened)
    counted = now.every if rows.within is None else rows.cells
    shades = in_shades(by, counted, now.at_ms) if by in SHADES else {}
    return Laid(rows, lit, by, Counter(one.state for one in counted), shades)


def _placed(now: ShopsNow, by: str, opened: Opened | None) -> tuple[Rows, frozenset[str] | None]:
    if len(now.every) <= AGGREGATE_ABOVE:
        return prepare(now.every, None, by, now.at_ms), now.fitting
    if opened is not None:
        of_it = [one for one in now.every if (one.platform, one.group) == opened]
        if of_it:
            rows = prepare(of_it, None, by, now.at_ms)
            return replace(rows, within=opened), now.fitting
    fitting = now.fitting
    found = now.every if fitting is None else [one for one in now.every if one.key in fitting]
    if not found:
        return gather(now.every, by, now.at_ms), frozenset()
    one_each = len(found) <= AGGREGATE_ABOVE
    return prepare(found, None, by, now.at_ms) if one_each else gather(found, by, now.at_ms), None


class ShopsMap(Card):
    """Signals:
    state_chosen: the state whose shops alone are wanted, "" for all.
    colour_chosen: what the cells shall tell, one of ``COLOURS``.
    shop_chosen: a shop that was clicked or entered: ``platform:shop_id``.
    zoomed: a group was opened, or left.
    """

    state_chosen = Signal(str)
    colour_chosen = Signal(str)
    shop_chosen = Signal(str)
    zoomed = Signal()

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self._memory = memory
        self._room = 0
        self.opened: Opened | None = None  #: the group that is looked at closer
        self.back_button = Button(N_("All groups"), kind="ghost", small=True, icon="ph.arrow-left")
        self.group = Elided("", "labelstrong")
        self.tasks_button = Button(GROUP_TASKS, kind="ghost", small=True, icon="ph.list-bullets")
        self.map, self.legend = HeatMap(choosable=True), HeatLegend()
        self.shades = ShadeLegend()
        self.colour = Segmented(COLOURS, N_("What the cells tell"))
        kept = memory.get(COLOUR_NAME, STATE)
        self.colour.set_current(str(kept) if kept in SHADES else STATE)
        self.fold_button = Button("", kind="ghost", small=True, icon="ph.caret-up")
        self._head_row = QWidget()
        in_row(
            self.back_button,
            self.group,
            self.tasks_button,
            self.legend,
            self.shades,
            STRETCH,
            self.colour,
            self.fold_button,
            owner=self._head_row,
        )
        self.shades.setVisible(self.by != STATE)
        self.legend.setVisible(self.by == STATE)
        self.pane = ScrollPane()
        self.pane.body.addWidget(self.map)
        self.pane.body.addStretch(1)
        self.body.setContentsMargins(CARD_PADDING, 6, CARD_PADDING, 8)
        self.body.setSpacing(4)
        self.body.addWidget(self._head_row)
        self.body.addWidget(self.pane)
        self.map.resized.connect(self._fit)
        self.map.stepped.connect(self._keep_in_sight)
        self.fold_button.clicked.connect(self._toggle)
        self.map.group_clicked.connect(lambda platform, group: self._zoom((platform, group)))
        self.map.left.connect(lambda: self._zoom(None))
        self.back_button.clicked.connect(lambda: self._zoom(None))
        self._say_group()
        self.colour.chosen.connect(self._on_colour)
        self.legend.filter_changed.connect(self.state_chosen)
        self.map.shop_clicked.connect(lambda platform, shop: self.shop_chosen.emit(f"{platform}:{shop}"))
        self._fold(memory.get(NAME, True) is False)

    @property
    def by(self) -> str:
        """What the cells tell: their state, or one of ``SHADES``."""
        return self.colour.current()

    def _zoom(self, opened: Opened | None) -> None:
        self.opened = opened
        self.zoomed.emit()
        self.map.setFocus(Qt.FocusReason.OtherFocusReason)  # Esc leads back out

    def _keep_in_sight(self, cell: QRectF) -> None:
        """The keys lead beyond what there is room for."""
        spot = cell.center().toPoint() + self.map.pos()
        self.pane.ensureVisible(spot.x(), spot.y(), 0, round(cell.height()))

    def _say_group(self) -> None:
        opened = self.opened
        self.back_button.setVisible(opened is not None)
        self.group.setVisible(opened is not None)
        self.tasks_button.setVisible(opened is not None)
        self.group.show_text(group_name(opened[1]) if opened is not None else "")

    def _on_colour(self, by: str) -> None:
        self._memory.put(COLOUR_NAME, by)
        self.shades.setVisible(by != STATE)
        self.legend.setVisible(by == STATE)
        self.colour_chosen.emit(by)

    @property
    def folded(self) -> bool:
        """Whether only the legend is shown."""
        return self.pane.isHidden()

    def show_cells(self, laid: Laid) -> None:
        """Show these shops, all but the lit ones dimmed."""
        if laid.rows.within is None:  # it has no shop any more, or each shop has a cell again
            self.opened = None
        self._say_group()
        self.map.set_lit(laid.lit)
        self.map.set_rows(laid.rows)
        self.legend.show_counts(laid.states)
        self.shades.show_counts(SHADES.get(laid.by, ()), laid.shades)
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

    def _fit(self) -> None:
        """Be as high as the map, up to a share of the page."""
        most = max(LEAST, min(round(self._room * PART), self._room - ELSE))
        height = min(self.map.minimumHeight(), most)
        if self.pane.height() != height or self.pane.minimumHeight() != height:
            self.pane.setFixedHeight(height)

    def _arrange(self) -> None:
        beside = self.fold_button.sizeHint().width() + self.colour.sizeHint().width()
        if self.opened is not None:
            beside += sum(one.sizeHint().width() for one in (self.back_button, self.group, self.tasks_button))
        room = self.width() - 2 * CARD_PADDING - beside - 24
        self.legend.set_compact(self.legend.needed() > room > 0)

    def _toggle(self) -> None:
        self._fold(not self.folded)
        self._memory.put(NAME, not self.folded)

    def _fold(self, folded: bool) -> None:
        self.pane.setVisible(not folded)
        self.fold_button.set_source(N_("Show map") if folded else N_("Hide map"))
        self.fold_button.set_glyph("ph.caret-down" if folded else "ph.caret-up")
