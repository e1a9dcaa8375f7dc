"""Looking back: what the fleet was at a moment of the last 30 days, and what changed around it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QBoxLayout, QWidget

from services import act_words, spans
from services.domain.fleet.shop import Shop
from services.domain.insight import shop as shops
from services.domain.insight.shop import ShopNow
from services.domain.past import lanes
from services.domain.past.frame import LEADER, SHOP, UNTOLD, WORKER, Numbers
from services.domain.past.lanes import Lanes, Span
from services.domain.past.turns import NAMED, Turn, by_state
from services.domain.task.search.query import LETTER
from services.domain.text.message import Message
from services.i18n import N_, _
from services.messages import told
from services.monitor.alerts import wording
from services.monitor.past.queries import AROUND_MS, PastNow
from services.monitor.past.tape import Moment
from views.charts.series import holed
from views.context import PageContext
from views.page import FromPast, Page
from views.pages.past.strip import ACTED, ALERTED, DEATHS, DEPLOYED, SILENT, PastStrip, Player
from views.pages.past.then import SHOPS_NOW, WORKERS_NOW, BothEnds, Then, ThenView, There, acts_between, look, way_of
from views.shell.connection import grey
from views.support import instant, safe, shown, text
from views.support.keys import Shortcut
from views.support.look import Label
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.support.words import shop as shop_words
from views.theme import theme
from views.theme.tokens import CARD_GAP, PAGE_MARGIN, QWIDGETSIZE_MAX
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.elided import Elided
from views.widgets.fields import DateTimeField
from views.widgets.kpi_tile import Kpi, KpiTile, TileGrid
from views.widgets.layout import STRETCH, in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.strip import Strip
from views.widgets.timeline import Timeline, TimelineEntry

SIDE, CHANGES, SCROLL_BAR = 360, 220, 12
#: px of the other steps and the moment, and of a step with its name at least and at most
STEPS, LEAST_NAMED, MOST_NAMED = 560, 110, 230
PLAY = N_("Play a minute a second, up to the next change")
PAUSE = N_("Stop at this moment")
#: name of the number, source text, icon and role of its tile
TILES = (
    ("waiting", N_("Waiting"), "ph.circle-dashed", "waiting"),
    ("unacked", N_("With workers"), "ph.tray", "running"),
    ("running", N_("Running"), "ph.play-circle-fill", "running"),
    ("retrying", N_("Retrying"), "ph.arrow-clockwise-bold", "retrying"),
    ("dead", N_("Dead letters"), "ph.x-circle-fill", "dead"),
    ("workers", N_("Workers"), "ph.robot", "succeeded"),
    ("oldest_s", N_("Oldest waiting"), "ph.hourglass-medium-fill", "stuck"),
)


class _Door(msgspec.Struct, frozen=True):
    """What a tile opens: the tasks that were in this state then; source texts."""

    was: str
    now: str  #: the filter of those that are so now
    tip: str
    said: str


_WAITED = _Door("waiting", "status:waiting", N_("Open the tasks that waited then"), N_("These tasks waited then."))
DOORS = {
    "waiting": _WAITED,
    "oldest_s": _WAITED,
    "running": _Door("running", "status:running", N_("Open the tasks that ran then"), N_("These tasks ran then.")),
    "unacked": _Door(
        "running",
        "status:running",
        N_("Open the tasks that ran then"),
        N_("These tasks ran then; what workers held besides is not recorded by name."),
    ),
    "retrying": _Door(
        "retrying",
        "status:retrying",
        N_("Open the tasks that waited for another try then"),
        N_("These tasks waited for another try then."),
    ),
    "dead": _Door(
        LETTER,
        "status:dead triage:open",
        N_("Open the open dead letters of then"),
        N_("These were open dead letters then."),
    ),
}
#: of a list of tasks that were something
WORKERS = N_("Open the workers, as they are now")
AS_NOW = N_("Their states and all else of them are of now; tasks that were removed since are missing.")
TYPING_MS, LOOK_MS = 250, 5_000
LATE_MS = 150  #: an answer that comes sooner dims nothing
PLAYED_LATE_MS = 2_000  #: the same while it plays: each of its moments is of now, and greying each would make it blink
LONG_AGO = 3599  #: seconds that take as much room as any
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
#: of the numbers that are drawn over time: where they stand among the samples
CURVES = {name: name for name in ("waiting", "unacked", "running", "retrying", "dead")} | {
    "oldest_s": "oldest_waiting_s"
}
#: how long a bar of each span is; they begin where such a part of the day does, so that they stay as they are
STEPS_MS = {"6h": 5 * MINUTE_MS, "24h": 15 * MINUTE_MS, "7d": HOUR_MS, "30d": 4 * HOUR_MS}
SPANS = {"6h": 6 * HOUR_MS, "24h": 24 * HOUR_MS, "7d": 7 * 24 * HOUR_MS, "30d": 30 * 24 * HOUR_MS}
STRIP_MS = 30_000  #: how often the strip is asked again
LISTED = 6
#: how *What changed* is told
TURNS, COMPARED = "turns", "compared"
Ends = tuple[Moment | None, Moment | None]
#: the glyph of a change, by its kind and what became of it
_GLYPHS = {
    "past.shop_well": "healthy",
    "past.shop_known": "healthy",
    "past.broker_back": "healthy",
    "past.worker_back": "healthy",
    "past.worker_silent": "warning",
    "past.worker_given_up": "warning",
    "past.worker_cut_off": "warning",
    "past.leader_none": "warning",
    "past.broker_lost": "dead",
    "past.broker_blocked": "blocked",
    "past.shop_dead": "dead",
    "past.shop_login": "warning",
    "past.shop_stuck": "stuck",
    "past.shop_held": "unconfirmed",
    "past.shop_breaker": "warning",
    "past.shop_paused": "paused",
    "past.switch_paused": "paused",
    "past.gap": "unconfirmed",
    "past.alert": "warning",
    "past.cause_new": "dead",
    "past.run_missed": "warning",
    "past.run_left_out": "paused",
    "past.run_late": "warning",
    "past.alert_over": "healthy",
}


class PastPage(Page):
    """It shows another time, so nothing can be done in it; the window says so wherever one could act.

    Signals:
        answered: another answer stands there.
        stretched: another stretch of the past does.
    """

    answered = Signal()
    stretched = Signal()
    page_id = "past"

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Look back"))
        self._context = context
        self._at = 0
        self._found: PastNow | None = None
        self._ends: Ends | None = None  #: of what is found; None before they are asked for
        self._there = There()
        self._step_room = 0  #: px of a step that is named, 0 where there is no room for that
        self._lanes: Lanes | None = None
        self._error: BaseException | None = None
        self._asking = Operation(self, latest=True)
        self._soon = Debounce(self._ask, TYPING_MS, self)
        self._late = QTimer(self, singleShot=True)
        self._late.timeout.connect(partial(self._dim, True))
        self._again = QTimer(self, interval=LOOK_MS)
        self._again.timeout.connect(self._look_again)
        self._stretch = Operation(self, latest=True)
        self._strip_again = QTimer(self, interval=STRIP_MS)
        self._strip_again.timeout.connect(self._ask_strip)
        self.player = Player(self._current, instant.now_ms, self)
        self.make(self._build, self._connect)

    # putting together

    def _build(self) -> Iterator[None]:
        self.banner = Strip("scheduled", glyph="ph.clock-counter-clockwise")  # purple means another time, nothing else
        self.banner.setContentsMargins(0, 0, 0, 0)
        self._low, self._room = self.banner.minimumHeight(), (0, "")  #: of one line; for what room is kept
        self.link_button = Button(N_("Copy link"), icon="ph.link", hint="window.link", small=True)
        self.copy_button = Button(N_("Copy as text"), icon="ph.copy", small=True)
        self.close_button = Button(N_("Back to now"), kind="primary", hint="Esc", icon="ph.arrow-u-up-left")
        self.banner.add_action(self.link_button)
        self.banner.add_action(self.copy_button)
        self.banner.add_action(self.close_button)
        yield
        self.when = DateTimeField()
        self.when.setDisplayFormat("yyyy-MM-dd HH:mm:ss")
        self.when.setAccessibleName(_("Moment"))
        self.earlier_change = Button(icon="ph.skip-back", small=True, tip=N_("Change before"), keys="past.earlier")
        self.back, self.minute_back = Button(N_("−10 min"), small=True), Button(N_("−1 min"), small=True)
        self.minute_on, self.on = Button(N_("+1 min"), small=True), Button(N_("+10 min"), small=True)
        self.later_change = Button(icon="ph.skip-forward", small=True, tip=N_("Change after"), keys="past.later")
        self.play = Button(icon="ph.play", small=True, tip=PLAY, keys="tables.peek")
        yield
        steps = in_row(spacing=4)
        self.stretch_words = Elided("", "label", "text3")
        steps.addWidget(self.stretch_words, 1)
        for step in (self.earlier_change, self.back, self.minute_back, self.when, self.minute_on, self.on):
            steps.addWidget(step)
        steps.addWidget(self.later_change)
        steps.addWidget(self.play)
        yield
        self.span = Segmented(
            (("6h", N_("6 h")), ("24h", N_("24 h")), ("7d", N_("7 d")), ("30d", N_("30 d"))), N_("How much is shown")
        )
        self.span.set_current("24h")
        self.header.add_action(self.span)
        yield
        self.strip = PastStrip()
        self.setFocusProxy(self.strip)  # arrows move the moment as soon as the page is opened
        line = Card("", padding=12)
        line.body.addLayout(steps)
        line.body.addWidget(self.strip)
        self.hint = Label("", "body", "text3", wrap=True)
        yield
        self.tiles = {
            name: KpiTile(word, glyph, role, filled=True, tip=DOORS[name].tip if name in DOORS else WORKERS)
            for name, word, glyph, role in TILES
        }
        yield
        self.drawn = ThenView()
        yield from self.drawn.build()
        yield
        self.changes = Timeline()
        self._changes = Card(N_("What changed"), divided=True)
        self.compare = Segmented(((TURNS, N_("In order of time")), (COMPARED, N_("Compare"))), N_("How it is told"))
        self.both = BothEnds()
        self.both.hide()
        self._changes.body.addWidget(self.compare, 0, Qt.AlignmentFlag.AlignLeft)
        self._told = ScrollPane()
        put(self._told.body, self.changes, self.both, STRETCH)
        self._changes.body.addWidget(self._told, 1)
        self._changes.setMinimumHeight(CHANGES)
        yield
        area = ScrollPane()
        self.body.addLayout(in_column(self.banner, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, CARD_GAP)))
        self.body.addWidget(area, 1)
        column = area.body
        column.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, PAGE_MARGIN)
        column.setSpacing(CARD_GAP)
        self._grid = TileGrid(list(self.tiles.values()))
        put(column, line, self.hint, self._grid)
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._sides.setSpacing(CARD_GAP)
        column.addLayout(self._sides, 1)
        self._sides.addWidget(self.drawn, 1)
        self._sides.addWidget(self._changes)

    def _connect(self) -> None:
        self.when.dateTimeChanged.connect(lambda _when: self._on_typed())
        for button, ms in ((self.back, -10), (self.minute_back, -1), (self.minute_on, 1), (self.on, 10)):
            button.clicked.connect(partial(self._move, ms * MINUTE_MS))
        self.earlier_change.clicked.connect(lambda: self._go(self._found.before_ms if self._found else 0))
        self.later_change.clicked.connect(lambda: self._go(self._found.after_ms if self._found else 0))
        inside = Qt.ShortcutContext.WidgetWithChildrenShortcut
        keys = (("past.earlier", self.earlier_change), ("past.later", self.later_change), ("Esc", self.close_button))
        for key, button in keys:
            Shortcut(key, self, button.click, inside)
        self.strip.play_wanted.connect(self.play.click)
        self.play.clicked.connect(self.player.toggle)
        self.player.moved.connect(partial(self._go, playing=True))
        self.player.turned.connect(self._say)
        self.strip.moved.connect(self._on_dragged)
        self.strip.zoomed.connect(self._zoom)
        self.strip.opened.connect(self._open_lane)
        for name, tile in self.tiles.items():
            tile.clicked.connect(partial(self._open_tile, name))
        self.compare.chosen.connect(lambda _key: self._on_compare())
        self.drawn.map.shop_clicked.connect(self._open_shop)
        self.changes.opened.connect(self._open_change)
        self.changes.reached.connect(lambda top, high: self._told.ensureVisible(0, top + high // 2, 0, high))
        self.span.chosen.connect(lambda _key: self._ask_strip())
        self.link_button.clicked.connect(self.link_wanted)
        self.copy_button.clicked.connect(self._copy)
        self.close_button.clicked.connect(self.return_wanted)

    def resizeEvent(self, event: object) -> None:
        """Put what changed below where there is no room for it beside."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._say_banner(instant.now_ms())
        room = self.width() - 2 * PAGE_MARGIN - SCROLL_BAR
        named = (room - round(STEPS * theme().growth)) // 3
        self._step_room = min(named, MOST_NAMED) if named >= LEAST_NAMED else 0
        self._name_steps()
        beside = room >= self.drawn.wide + CARD_GAP + SIDE
        self.drawn.stack(room < self.drawn.wide)
        self._sides.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self._changes.setMaximumWidth(SIDE if beside else QWIDGETSIZE_MAX)
        self._changes.setMinimumWidth(SIDE if beside else 0)

    # life

    def activate(self) -> None:
        """Ask, at first about ten minutes ago."""
        if not self._at:
            self._at = instant.now_ms() - AROUND_MS
        self._show_time()
        self._say()
        self._ask()
        self._ask_strip()
        self._again.start()
        self._strip_again.start()

    def deactivate(self) -> None:
        """Ask no more."""
        self.player.stop()
        self._again.stop()
        self._strip_again.stop()
        self._soon.cancel()
        self._late.stop()

    def refresh(self) -> None:
        self._ask()
        self._ask_strip()

    def panes(self) -> Sequence[QWidget]:
        """The strip, then what was then."""
        return (self.strip, self.changes)

    def show_request(self, request: object) -> None:
        """Show a moment, UTC ms."""
        with contextlib.suppress(ValueError):
            self._go(min(int(str(request)), instant.now_ms()))

    def shown_request(self) -> str:
        """The moment that is seen."""
        return str(self._at)

    @property
    def past_ms(self) -> int:
        """The moment that is seen."""
        return self._at

    @property
    def recorded(self) -> bool:
        """All of it is of that moment."""
        return True

    def retranslate(self) -> None:
        super().retranslate()
        self._say()

    # asking

    def _show_time(self) -> None:
        self._wait()
        self.when.blockSignals(True)
        self.when.show_moment(shown.moment(self._at).astimezone(shown.zone()))
        self.when.blockSignals(False)
        self.strip.set_moment(self._at)

    def _on_typed(self) -> None:
        self.player.stop()
        self._asking.drop()
        self._at = round(self.when.moment(shown.zone()).timestamp() * 1000)
        self.strip.set_moment(self._at)
        self._wait()
        self._soon()

    def _on_dragged(self, at_ms: int) -> None:
        self.player.stop()
        self._asking.drop()
        self._at = at_ms
        self._show_time()
        self._soon()

    def _open(
        self, page: str, at_ms: int, said: Callable[[], str], show: object = None, now: str | None = None
    ) -> None:
        self.navigate.emit(page, FromPast(at_ms=at_ms, said=said, show=show, now=now))

    def _open_lane(self, place: int) -> None:
        """What a lane counts: all of the time that is shown, or what was so at the moment, where a page shows one."""
        lanes = self._lanes
        if lanes is None:
            return
        at = self._at
        if place == DEATHS:
            died = f"was:dead@{_exact(lanes.end)} -was:dead@{_exact(lanes.begin)}"
            self._open("tasks", at, partial(_said_deaths, lanes), died, "status:dead triage:open")
        elif place == ACTED:
            self._open("audit", at, partial(_said_acts, lanes), acts_between(lanes.begin, lanes.end), "")
        else:
            page, spans, said = (
                ("alerts", lanes.alerts, _said_alert),
                ("workers", lanes.silent, _said_silent),
                ("workers", lanes.deploys, _said_deploy),
            )[(ALERTED, SILENT, DEPLOYED).index(place)]
            nearest = min(spans, key=partial(_apart, at), default=None)
            if nearest is not None:
                self._open(page, at, partial(said, nearest, at), nearest.name if place != DEPLOYED else None)

    def _open_tile(self, name: str) -> None:
        found = self._found  # whose numbers stand there, while another moment is asked about, too
        if found is None or found.moment is None:
            return
        if name == "workers":
            self._open("workers", found.asked_ms, partial(_said_workers, found.moment))
            return
        door = DOORS[name]
        was = f"was:{door.was}@{_exact(found.moment.numbers.at_ms)}"  # when it was counted
        self._open("tasks", found.asked_ms, lambda: text.run_on((_(door.said), _(AS_NOW))), was, door.now)

    def _open_shop(self, platform: str, shop_id: str) -> None:
        then = self.drawn.then
        cells = (one for one in self.drawn.rows.cells if (one.platform, one.shop_id) == (platform, shop_id))
        cell = next(cells, None)
        if then is not None and cell is not None:
            self._open("shops", then.at_ms, partial(_said_shop, cell), cell.key)

    def _open_change(self, number: int) -> None:
        """What a line of *What changed* is about."""
        found = self._found
        if found is None:
            return
        here = _here(found)
        turn = found.turns[number - (number > here)]  # the moment has a line of its own
        way = way_of(turn, self._there)
        if not isinstance(way, str):
            said = partial(_said_change, turn.at_ms, way.said)
            self._open(way.page, found.asked_ms, said, way.show, way.now)

    def _zoom(self, more: int) -> None:
        keys = list(SPANS)
        place = keys.index(self.span.current()) + more
        self.span.choose(keys[min(max(place, 0), len(keys) - 1)])

    def _ask_strip(self) -> None:
        end, wide = instant.now_ms(), SPANS[self.span.current()]
        if end - wide > self._at:  # what is looked at stays in sight
            end = self._at + wide // 2
        step = STEPS_MS[self.span.current()]
        zone = shown.moment(end - wide).astimezone(shown.zone()).utcoffset()
        east = round(zone.total_seconds() * 1000) if zone is not None else 0
        begin = end - wide - (end - wide + east) % step
        self._stretch.start(partial(self._context.past.lanes, begin, end, step_ms=step), self._take_strip, self._fail)

    def _take_strip(self, lanes: Lanes) -> None:
        self._lanes = lanes
        self._say_stretch()
        self.strip.set_lanes(lanes)
        self.strip.set_moment(self._at)
        self.stretched.emit()

    def _move(self, by_ms: int) -> None:
        self._go(min(self._at + by_ms, instant.now_ms()))

    def _go(self, at_ms: int, *, playing: bool = False) -> None:
        if not playing:
            self.player.stop()
        if at_ms:
            self._at = at_ms
            self._show_time()
            self._ask()
            if not self.strip.shows(at_ms):
                self._ask_strip()

    def _ask(self) -> None:
        at = self._at
        if at > instant.now_ms():
            self._asking.drop()
            self._found, self._error = None, None
            self._say()
            return
        compared = self.compare.current() == COMPARED
        self._asking.start(partial(_look, self._context, at, compared=compared), self._take, self._fail)

    def _on_compare(self) -> None:
        compared = self.compare.current() == COMPARED
        self.changes.setVisible(not compared)
        self.both.setVisible(compared)
        self._say()
        if compared:
            self._ask()

    def _look_again(self) -> None:
        """What comes after the moment may still be written, and what failed may work by now."""
        found = self._found
        growing = found is None or self._error is not None or found.asked_ms + AROUND_MS >= instant.now_ms() - LOOK_MS
        if self.isVisible() and growing and not self._asking.awaited:
            self._ask()

    def _take(self, answer: tuple[PastNow, Then, Ends | None, There]) -> None:
        found, then, ends, self._there = answer
        if found.asked_ms == self._at:
            self._found, self._ends, self._error = found, ends, None
            self._say()
            self.drawn.show_then(then)
            for name in CURVES.keys() & _tiles(found).keys():  # a curve ends where its number stands
                self.tiles[name].show_curve(holed(then.before, then.before[CURVES[name]]).tolist(), base=0.0)
            self.answered.emit()

    def _wait(self) -> None:
        """What is seen is of another moment: it stays, and is dimmed unless the new one comes at once."""
        if self._found is None or self._current() is not None:
            self._dim(False)
        elif not self._late.isActive():
            self._late.start(PLAYED_LATE_MS if self.player.plays else LATE_MS)

    def _dim(self, on: bool) -> None:
        self._late.stop()
        for part in (self._grid, self.drawn, self._changes):
            grey(part, on)

    def _current(self) -> PastNow | None:
        """What is known of the moment that is seen."""
        return self._found if self._found is not None and self._found.asked_ms == self._at else None

    def _fail(self, error: BaseException) -> None:
        self._error = error
        self._say()

    # words

    def _say(self) -> None:
        self._wait()
        found, current, now = self._found, self._current(), instant.now_ms()
        self.when.setAccessibleName(_("Moment"))
        self.earlier_change.disable("" if current and current.before_ms else _("No earlier change is known here"))
        self.later_change.disable("" if current and current.after_ms else _("No later change is known here"))
        self._name_steps()
        self.play.set_glyph("ph.pause" if self.player.plays else "ph.play")
        self.play.set_tip(PAUSE if self.player.plays else PLAY)
        for button in (self.minute_on, self.on, self.play):
            button.disable("" if self._at < now else _("That has not been yet"))
        self.copy_button.disable("" if current else _("Nothing is shown yet"))
        self._say_banner(now)
        self._say_stretch()
        problem = told(self._error) if self._error is not None else ""
        if not problem and self._at > now:
            problem = _("That has not been yet")
        if not problem and found is None:
            problem = _("Asking…")
        self.hint.setText(problem)
        self.hint.setVisible(bool(problem))
        gone = found is None or self._at > now
        self._show_tiles(None if gone else found, problem if self._error is None else _("Not known"))
        if found is None or gone:
            self.set_summary("")
            self.drawn.show_then(None)
            self.drawn.states.setText("")
            self.changes.set_entries(())
            self.both.show_rows(())
            return
        self.set_summary(text.sentences(filter(None, _headline(found, now))))
        self.drawn.states.setText("\n".join(_shop_lines(found, self._there.shops)))
        begin, end = (_clock(at_ms) for at_ms in (found.begin, found.end))
        self._changes.set_note(_("{begin} to {end}").format(begin=begin, end=end))
        self.changes.set_entries(_entries(found, self._there))
        if self._ends is None:
            self.both.show_rows((), _("Asking…"))
        elif self._ends == (None, None):
            self.both.show_rows((), _("No record of {begin} and of {end}.").format(begin=begin, end=end))
        elif rows := _differences(self._ends, self._there.shops):
            self.both.show_rows([("", begin, end), *rows])
        else:
            self.both.show_rows((), _("Nothing differs between {begin} and {end}.").format(begin=begin, end=end))

    def _name_steps(self) -> None:
        """What the steps to the changes before and after go to, as far as there is room: one that is wider or narrower
        with each moment would push the others from under the mouse.
        """
        current, room = self._current(), self._step_room
        for button, tip, turn in (
            (self.earlier_change, _("Change before"), current and current.before),
            (self.later_change, _("Change after"), current and current.after),
        ):
            said = f"{_clock(turn.at_ms)} {_sentence(turn)}" if turn else ""
            button.set_tip(safe.tooltip(_("{name}: {value}").format(name=tip, value=said)) if said else tip)
            button.setMinimumWidth(room)
            button.setMaximumWidth(room or QWIDGETSIZE_MAX)
            named = said or (_("None is known") if current else "")
            button.set_count_text(named if room else "")
            button.setAccessibleName(_("{name}: {value}").format(name=tip, value=said) if said else tip)

    def _say_stretch(self) -> None:
        lanes = self._lanes
        if lanes is not None:
            begin, end, step = _clock(lanes.begin), _clock(lanes.end), text.exact(shown.span(lanes.step_ms))
            self.stretch_words.show_text(_("{begin} to {end}; a bar is {span}").format(begin=begin, end=end, span=step))

    def _say_banner(self, now: int) -> None:
        words = _("Nothing can be changed here; the fleet goes on as it is now.")
        lead, clock = _("You look at {time}, {span} ago."), _clock(self._at)
        wide, layout = self.width() - 2 * PAGE_MARGIN, self.banner.layout()
        long = lead.format(time="0" * len(clock), span=spans.of_seconds(LONG_AGO))
        if self._room != (wide, long) and layout is not None:  # more words must not push away what the mouse is on
            self._room = wide, long
            self.banner.show_text(words, long)
            layout.activate()  # what is in it has another width now
            self.banner.setMinimumHeight(max(self._low, layout.heightForWidth(wide)))
        ago = spans.of_seconds(max(0, now - self._at) // 1000)
        self.banner.show_text(words, lead.format(time=clock, span=ago))

    def _show_tiles(self, found: PastNow | None, why: str) -> None:
        """``why``: what a tile says of itself where nothing is found."""
        values = {} if found is None else _tiles(found)
        for name, tile in self.tiles.items():
            tile.setEnabled(name in values)
            if name not in values:
                tile.show_curve(())
            then, context = values.get(name, ("–", _("no record") if found is not None else why))
            tile.show_kpi(Kpi(value=then, context=context))

    def _copy(self) -> None:
        found = self._found
        if found is None:
            return
        now = instant.now_ms()
        lines = [" ".join(filter(None, _headline(found, now)))]
        lines += [f"{name}: {value}" for name, value in _rows(found)]
        lines += [*_shop_lines(found, self._there.shops), ""]
        lines += [f"{entry.time}  {entry.text or entry.strong}" for entry in _entries(found, self._there)]
        QGuiApplication.clipboard().setText("\n".join(map(safe.masked, lines)))


def _look(context: PageContext, at_ms: int, *, compared: bool) -> tuple[PastNow, Then, Ends | None, There]:
    found = context.past.at(at_ms)
    ends = context.past.ends(found.begin, found.end) if compared else None
    known = context.shops()
    there = There(
        {key: shop.called for key, shop in known.items()}, frozenset(one.worker for one in context.feed.latest.workers)
    )
    turns = tuple(replace(turn, message=_named(turn, known)) for turn in found.turns)
    before, after = (one and replace(one, message=_named(one, known)) for one in (found.before, found.after))
    found = replace(found, turns=turns, before=before, after=after)
    return found, look(context.past, found, known.values(), instant.now_ms()), ends, there


def _named(turn: Turn, known: Mapping[str, Shop]) -> Message:
    """What it says, of shops, platforms and types by what people call them."""
    if turn.kind != SHOP:
        message = shop_words.named(turn.message, known)
        target = str(message.params.get("target", ""))
        return Message(message.code, {**message.params, "target": shown.covered(target)}) if target else message
    said = [known[name].called if name in known else name for name in turn.names[:NAMED]]
    more = " …" if len(turn.names) > NAMED else ""
    return Message(turn.message.code, {**turn.message.params, "names": safe.one_line(", ".join(said)) + more})


def _apart(at_ms: int, span: Span) -> tuple[int, int]:
    """How far a span is from a moment; of those that hold then the one that began last."""
    return max(0, span.begin - at_ms, at_ms - span.end), -span.begin


def _when(span: Span, at_ms: int) -> str:
    """How far what was not so at a moment is from it."""
    if span.begin > at_ms:
        return _("it began {span} later").format(span=spans.of_seconds((span.begin - at_ms) // 1000))
    return _("it was over {span} before").format(span=spans.of_seconds((at_ms - span.end) // 1000))


def _said_deaths(lanes: Lanes) -> str:
    said = _("These tasks died from {begin} to {end}.").format(begin=_clock(lanes.begin), end=_clock(lanes.end))
    return text.run_on((said, _(AS_NOW)))


def _said_acts(lanes: Lanes) -> str:
    return _("These are the acts from {begin} to {end}.").format(begin=_clock(lanes.begin), end=_clock(lanes.end))


def _said_alert(span: Span, at_ms: int) -> str:
    if _apart(at_ms, span)[0]:
        return _("No alert was active then; this is the nearest: {when}. Alerts are shown as they are now.").format(
            when=_when(span, at_ms)
        )
    return _("This alert was active then. Alerts are shown as they are now.")


def _said_change(at_ms: int, said: str) -> str:
    return text.run_on((_("Opened from what changed at {time}.").format(time=_clock(at_ms)), _(said)))


def _said_silent(span: Span, at_ms: int) -> str:
    said = _("{name} was not heard of then.")
    if _apart(at_ms, span)[0]:
        said = _("Every worker was heard of then; the nearest that was not is {name}: {when}.")
    said = said.format(name=safe.one_line(span.name), when=_when(span, at_ms))
    return text.run_on((said, _(WORKERS_NOW)))


def _said_deploy(span: Span, _at_ms: int) -> str:
    said = _("Version {version} came at {time}.").format(version=safe.one_line(span.name), time=_clock(span.begin))
    return text.run_on((said, _(WORKERS_NOW)))


def _said_workers(moment: Moment) -> str:
    heard: list[str] = []
    silent: list[str] = []
    for (kind, name), state in sorted(moment.things.items()):
        if kind == WORKER:
            (silent if state.partition(" ")[0] in lanes.SILENT else heard).append(name)
    said = [_("Heard of then: {names}.").format(names=_listed(heard))] if heard else []
    said += [_("Not heard of then: {names}.").format(names=_listed(silent))] if silent else []
    if not moment.told:
        said = [_("What each worker did then is not kept any more.")]
    return text.run_on((_(WORKERS_NOW), *said))


def _said_shop(then: ShopNow) -> str:
    said = _("{shop} at that moment: {state}.").format(
        shop=safe.one_line(then.name or then.key), state=_state(then.state)
    )
    return text.run_on((said, _(SHOPS_NOW)))


def _exact(at_ms: int) -> str:
    """A moment as filters take it."""
    return shown.moment(at_ms).astimezone(shown.zone()).isoformat(timespec="milliseconds")


def _clock(at_ms: int) -> str:
    """The time to the second, and the day where it is not today."""
    clock = shown.moment(at_ms).astimezone(shown.zone())
    today = shown.moment(instant.now_ms()).astimezone(shown.zone()).date()
    return clock.strftime("%H:%M:%S" if clock.date() == today else "%m-%d %H:%M:%S")


def _headline(found: PastNow, now: int) -> tuple[str, str]:
    at = _clock(found.asked_ms)
    if found.moment is not None:
        ago = spans.of_seconds(max(0, now - found.asked_ms) // 1000)
        leads = next((state for (kind, _name), state in found.moment.things.items() if kind == LEADER), "")
        step = spans.of_seconds(found.moment.step_ms // 1000)
        if not found.moment.told:
            return _("The fleet at {time}, {span} ago").format(time=at, span=ago), _(
                "Only the numbers are kept of then."
            )
        return (
            _("The fleet at {time}, {span} ago").format(time=at, span=ago),
            _("Recorded every {span}; {who} led.").format(span=step, who=leads)
            if leads
            else _("Recorded every {span}; nobody led.").format(span=step),
        )
    if not found.first_ms:
        return (
            _("Nothing was ever recorded on this computer"),
            _("Whoever leads records, on its own machine: a worker, or this window where all is on one computer."),
        )
    if found.gap is not None:
        begin, end = (_clock(at_ms) for at_ms in found.gap)
        return (
            _("No record from {begin} to {end}").format(begin=begin, end=end),
            _("Nobody led on this computer then. Nothing is made up for a gap."),
        )
    begin, end = (_clock(at_ms) for at_ms in (found.first_ms, found.last_ms))
    return (
        _("No record of {time}").format(time=at),
        _("This computer knows {begin} to {end}.").format(begin=begin, end=end),
    )


def _rows(found: PastNow) -> list[tuple[str, str]]:
    if found.moment is None:
        return []
    then, now = found.moment.numbers, found.latest
    return [(word, _pair(then, now, name)) for word, name in _names()] + [(_("Oldest waiting"), _oldest(then))]


def _names() -> list[tuple[str, str]]:
    """What the numbers are called."""
    return [
        (_("Waiting"), "waiting"),
        (_("Running"), "running"),
        (_("Retrying"), "retrying"),
        (_("To decide"), "held"),
        (_("Dead letters"), "dead"),
        (_("With workers"), "unacked"),
        (_("Workers"), "workers"),
        (_("Slots at work"), "busy"),
    ]


def _differences(ends: Ends, called: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Numbers and shops that differ between both ends of the span, the shops of one change as one; all that is known
    where nobody recorded one of them.
    """
    rows = []
    for word, name in [*_names(), (_("Oldest waiting"), "oldest_s")]:
        first, last = (_("no record") if end is None else _value(end.numbers, name) or _("not told") for end in ends)
        if first != last:
            rows.append((word, first, last))
    told = [
        {name: _head(state) for (kind, name), state in end.things.items() if kind == SHOP}
        for end in ends
        if end is not None and end.told
    ]
    if len(told) < len(ends):
        return [*rows, (_("Not known of both ends: shops"), "", "")]
    groups: dict[tuple[str, str], list[str]] = {}
    for key in sorted(told[0].keys() | told[1].keys()):
        was, became = (states.get(key) or shops.HEALTHY for states in told)
        if was != became:
            groups.setdefault((was, became), []).append(key)
    for (was, became), names in groups.items():
        rows.append((_listed(names, called), _state(was), _state(became)))
    return rows


def _head(state: str) -> str:
    return state.partition("/")[0]


def _state(state: str) -> str:
    return shop_words.word(state) if state in shops.WORDS else state


def _listed(names: Sequence[str], called: Mapping[str, str] | None = None) -> str:
    """The first of them, by what they are ``called``, and how many more there are."""
    names = [called.get(name, name) for name in names] if called else names
    rest = len(names) - LISTED
    more = _(" and {n} more").format(n=text.count(rest)) if rest > 0 else ""
    return safe.one_line(", ".join(names[:LISTED])) + more


def _tiles(found: PastNow) -> dict[str, tuple[str, str]]:
    """Of each tile the value then, and the one of now beside it."""
    if found.moment is None:
        return {}
    then, now = found.moment.numbers, found.latest
    tiles = {}
    for name, _word, _glyph, _role in TILES:
        was, is_now = (None if of is None else _value(of, name) for of in (then, now))
        if was is not None:
            tiles[name] = was, _("now {n}").format(n=is_now) if is_now is not None else ""
    return tiles


def _value(of: Numbers, name: str) -> str | None:
    if name == "oldest_s":
        return _oldest(of)
    number = getattr(of, name)
    return text.count(number) if number != UNTOLD else None


def _pair(then: Numbers, now: Numbers | None, name: str) -> str:
    was = getattr(then, name)
    value = text.count(was) if was != UNTOLD else _("not told")
    if now is None or getattr(now, name) in (was, UNTOLD):
        return value
    return _("{then}, now {now}").format(then=value, now=text.count(getattr(now, name)))


def _oldest(then: Numbers) -> str:
    return spans.of_seconds(then.oldest_s) if then.waiting else "–"


def _shop_lines(found: PastNow, called: Mapping[str, str]) -> list[str]:
    if found.moment is None:
        return []
    if not found.moment.told:
        return [_("What shops and workers did then is not kept any more.")]
    lines = []
    for state, names in by_state(found.moment.things).items():
        lines.append(_("{state}: {names}").format(state=_state(state), names=_listed(names, called)))
    return lines or [_("No shop needed anybody.")]


def _seconds(at_ms: int) -> str:
    return shown.moment(at_ms).astimezone(shown.zone()).strftime("%H:%M:%S")


def _entries(found: PastNow, there: There) -> list[TimelineEntry]:
    entries = []
    for turn in found.turns:
        way = way_of(turn, there)
        entries.append(
            TimelineEntry(
                time=_seconds(turn.at_ms),
                text=_sentence(turn),
                status=_GLYPHS.get(turn.message.code, ""),
                future=turn.at_ms > found.asked_ms,
                whole=True,
                door=not isinstance(way, str),
                closed=way if isinstance(way, str) else "",
            )
        )
    if entries:
        entries.insert(_here(found), TimelineEntry(time=_seconds(found.asked_ms), text="", strong=_("you look here")))
    else:
        begin, end = (_clock(at_ms) for at_ms in (found.begin, found.end))
        words = _("Nothing changed from {begin} to {end}").format(begin=begin, end=end)
        entries.append(TimelineEntry(time="", text=words))
    return entries


def _sentence(turn: Turn) -> str:
    return safe.one_line(shown.say(act_words.in_words(wording.of_turn(turn, shown.zone()))))


def _here(found: PastNow) -> int:
    """Before which of the turns the moment stands."""
    return sum(turn.at_ms <= found.asked_ms for turn in found.turns)
