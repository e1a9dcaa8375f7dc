"""The Workers page: every node with its slots, what it can be told, and the workers of this computer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QLineEdit, QMenu, QStackedWidget, QVBoxLayout, QWidget
from shiboken6 import isValid

from services.domain.gates.lane_share import MAX_SLOTS
from services.domain.gates.session import ClosedSession
from services.domain.insight import machines
from services.domain.insight import worker as insight
from services.domain.insight.machines import MachineNow
from services.domain.insight.worker import FleetNow, WorkerNow
from services.domain.task.lane import Lane
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.live import Snapshot
from views.context import PageContext
from views.kit.bulk_bar import BulkBar
from views.kit.verb import Verbs
from views.page import Page, PageCommand
from views.pages.workers import browsers, nodes
from views.pages.workers import machines as machine_rows
from views.pages.workers.browsers import BrowserRow, BrowsersCard
from views.pages.workers.bulk import ACTS, WorkerBulk, counted
from views.pages.workers.cards import Board
from views.pages.workers.machines import COLUMNS as MACHINE_COLUMNS
from views.pages.workers.nodes import Names
from views.pages.workers.table import COLUMNS, sentence
from views.pages.workers.verbs import VERBS, OfWorker, WorkerActions, WorkerVerb
from views.support import instant, shown
from views.support.instant import ticks
from views.support.language import say_in_language
from views.support.look import Label
from views.support.operation import Operation
from views.support.throttle import turns
from views.support.words import worker as worker_words
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme
from views.theme.tokens import CARD_GAP, PAGE_MARGIN, QWIDGETSIZE_MAX
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.empty_state import EmptyState
from views.widgets.fields import ChoiceField, ClearAction
from views.widgets.layout import in_row
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.status_pill import StatusPill
from views.widgets.stepper import Stepper
from views.widgets.strip import ErrorStrip

SIDE = 380
SIDE_NARROW, TIGHT, WIDE = 352, 1000, 1300
#: from so many workers on there is a field that finds some
FIND, FIND_FROM = 200, 6
BELOW = 176  #: the least height of the side where browsers stand below
CARDS_UP_TO = 24
NAMES_EVERY = 20
LANES: tuple[tuple[tuple[str, ...], str], ...] = (
    ((Lane.HIGH, Lane.NORMAL, Lane.LOW), N_("All lanes")),
    ((Lane.HIGH,), N_("High only")),
    ((Lane.HIGH, Lane.NORMAL), N_("High and Normal")),
    ((Lane.NORMAL, Lane.LOW), N_("Normal and Low")),
    ((Lane.LOW,), N_("Low only")),
)
STOPPED, STARTING, RUNNING, STOPPING = "stopped", "starting", "running", "stopping"
_PILLS = {
    STOPPED: ("paused", N_("stopped")),
    STARTING: ("scheduled", N_("starting")),
    RUNNING: ("healthy", N_("running")),
    STOPPING: ("scheduled", N_("stopping")),
}


class WorkersPage(Page):
    """Which machines work, on what, and whether they are well."""

    page_id = "workers"

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Workers"))
        self._context = context
        self._fleet, self._now_ms = FleetNow(), 0
        self._names: Names = nodes.NO_NAMES
        self._pulses = 0
        self._by_hand = self._browsing = False
        self._actions = WorkerActions(context, self)
        self.verbs: Verbs[WorkerVerb, OfWorker] = Verbs(VERBS, self._run, self._actions.barred)
        self._asking = Operation(self, latest=True)
        self._model: RecordModel[WorkerNow] = RecordModel(
            COLUMNS, key=lambda row: row.name, tickable=True, hold_new=False, local_sort=True, sentence=sentence
        )
        self._many = WorkerBulk(context, self.verbs, self)
        self._machines: RecordModel[MachineNow] = RecordModel(
            MACHINE_COLUMNS,
            key=lambda row: row.name,
            hold_new=False,
            local_sort=True,
            sentence=machine_rows.sentence,
        )
        self._heard: object = None  #: what the last snapshot said
        self._sessions: tuple[ClosedSession, ...] = ()
        self._homes: dict[str, str] = {}
        self._kinds: frozenset[tuple[str, str]] = frozenset()  #: asked for with the names
        self._seen = self._active = False
        self.make(self._build, self._connect, lambda: ticks().tell(self, self._on_pulse))

    # the page

    def activate(self) -> None:
        """Follow the snapshots. What the last one says has a turn of its own: to show the page takes as long."""
        self._seen = True
        self._ask_names()
        turns().soon(self._take_up)

    def _take_up(self) -> None:
        if isValid(self) and self._seen and not self._active:
            self._show(self._context.feed.latest)
            self.board.reorder()
            self._active = True

    def deactivate(self) -> None:
        """Stop following."""
        self._seen = self._active = False

    def refresh(self) -> None:
        """Put silent nodes first and read the names again."""
        self._ask_names()
        self.board.reorder()
        self._model.show_new()

    def set_acting(self, reason: str) -> None:
        """Give no orders while that is not allowed."""
        self._actions.forbid(reason)
        self.board.rights_changed()
        self.local.set_acting(reason)
        self.browsers.set_acting(reason)
        self._show_bulk()
        self.empty.button.disable(reason)

    def commands(self) -> Sequence[PageCommand]:
        """What the palette offers: the verbs of the worker that is chosen, and a worker on this computer."""
        card = self.board.card(self._chosen())
        found = self.verbs.commands("workers", card.about(), card.info.worker) if card is not None else []
        if not self._context.local.name:
            reason = self._actions.barred() or (_("It is starting") if self._actions.local_busy else "")
            words = _("Start one on this computer")
            found.append(
                PageCommand(key="workers.here", words=words, icon="ph.laptop", reason=reason, run=self._start_here)
            )
        return found

    def show_request(self, request: object) -> None:
        """Bring a worker into view."""
        self._take_up()
        self.board.select(str(request))
        self._choose_view("slots")
        self._say()

    def panes(self) -> Sequence[QWidget]:
        """Search, nodes, what is beside them."""
        return (self.finder, self._stack, self._side)

    def retranslate(self) -> None:
        super().retranslate()
        self._say()

    # putting together

    def _build(self) -> Iterator[None]:
        self.finder = QLineEdit()
        ClearAction(self.finder)
        self.finder.setFixedWidth(FIND)
        self.header.add_action(self.finder)
        choices = (("slots", N_("Slots")), ("table", N_("Table")), ("machines", N_("Machines")))
        self._view = Segmented(choices, N_("View of the nodes"))
        self.header.add_action(self._view)
        yield
        self._row, left, self._stack = QHBoxLayout(), QVBoxLayout(), QStackedWidget()
        self._row.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, PAGE_MARGIN)
        self._row.setSpacing(CARD_GAP)
        left.setSpacing(0)
        self.body.addLayout(self._row, 1)
        self._row.addLayout(left, 1)
        left.addWidget(self._stack, 1)
        self.board = Board(self.verbs)
        self._stack.addWidget(self.board)
        yield
        self.table = TableView(self._model, name=N_("Workers"))
        yield
        self.machines = TableView(self._machines, name=N_("Machines"))
        self._stack.addWidget(self.table)
        self._stack.addWidget(self.machines)
        yield
        self.empty = EmptyState(
            N_("No worker is running."),
            N_("Tasks wait until one is started here or on another machine."),
            N_("Start one on this computer"),
            icon="ph.robot",
        )
        yield
        self.unmatched = EmptyState(
            N_("No worker matches."), N_("Change or clear the filters."), N_("Clear filters"), icon="ph.robot"
        )
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.unmatched)
        yield
        self.bulk = BulkBar(ACTS, counted, margin=0)
        left.addWidget(self.bulk)
        yield
        self._side = ScrollPane()
        self._row.addWidget(self._side)
        self.local = LocalCard(self._context.local.slots)
        self._side.body.setSpacing(CARD_GAP)
        self._side.body.addWidget(self.local, 0, Qt.AlignmentFlag.AlignTop)
        yield
        self.browsers = BrowsersCard(self._context)
        self._side.body.addWidget(self.browsers, 1)
        self._side.body.addStretch(0)
        yield
        self._unknown = self.covered(self._stack)

    def _connect(self) -> None:
        # looking
        self._context.feed.looked.connect(self._on_looked)
        self._view.chosen.connect(self._on_view)
        # orders to nodes
        self.board.ordered.connect(self._actions.tell)
        self.board.task_wanted.connect(self._open_task)
        self.board.chosen.connect(lambda _worker: self._show_browsers())
        self.table.current_changed.connect(lambda _key: self._show_browsers())
        self.machines.open_requested.connect(self._open_machine)
        self.finder.textChanged.connect(lambda _text: self._say())
        self.board.tasks_wanted.connect(lambda terms: self.navigate.emit("tasks", terms))
        self.board.menu_wanted.connect(self._open_menu)
        self._actions.start_wanted.connect(self._start_here)
        self.table.menu_requested.connect(self._fill_menu)
        self.table.menu_ending.connect(self._end_menu)
        self.table.open_requested.connect(self.show_request)
        self._model.ticked_changed.connect(self._show_bulk)
        self.bulk.clear_wanted.connect(self._model.untick_all)
        self.bulk.wanted.connect(lambda key: self._many.ask(key, self.ticked()))
        for acts in (self._actions, self._many):
            acts.ordered.connect(self._on_ordered)
        self._actions.refused.connect(self._on_refused)
        # this computer
        self.empty.action.connect(self._start_here)
        self.unmatched.action.connect(self.finder.clear)
        self.local.start_wanted.connect(self._actions.start_local)
        self.local.stop_wanted.connect(self._on_stop_local)
        self._actions.local_changed.connect(self.local.set_state)
        self._actions.local_failed.connect(self._on_local_failed)

    def resizeEvent(self, event: object) -> None:
        """Give the side less in a narrow window, and put it below where a card would be cut beside it."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit_side()

    def _fit_side(self) -> None:
        browsers_too, scale = not self.browsers.isHidden(), theme().growth
        width = self.width() / scale
        # a table needs the width more than the height: the card alone takes three of its rows
        tabled = self._stack.currentWidget() in (self.table, self.machines)
        below = width < TIGHT or (width < WIDE and tabled and not browsers_too)
        self._side.setVisible(browsers_too or not self.local.isHidden())
        self._row.setDirection(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight)
        self._side.body.setDirection(
            QBoxLayout.Direction.LeftToRight if below and browsers_too else QBoxLayout.Direction.TopToBottom
        )
        self.browsers.set_short(short=below)
        if below:
            self._side.setMinimumWidth(0)
            self._side.setMaximumWidth(QWIDGETSIZE_MAX)
            tall = max(self.browsers.sizeHint().height(), BELOW) if browsers_too else 0
            self._side.setFixedHeight(max(self.local.sizeHint().height(), tall))
        else:
            self._side.setFixedWidth(round((SIDE if width >= WIDE else SIDE_NARROW) * scale))
            self._side.setMinimumHeight(0)
            self._side.setMaximumHeight(QWIDGETSIZE_MAX)

    # looking

    def _on_looked(self, snapshot: Snapshot) -> None:
        if self.isVisible():
            self._take_up()
            self._show(snapshot)

    def _show(self, snapshot: Snapshot) -> None:
        if snapshot.at_ms:
            self._unknown.answer()
        if snapshot.sessions != self._sessions:
            self._sessions = snapshot.sessions
            self._ask_names()
        before, self._heard = self._heard, snapshot.heard()
        if self._heard != before or not self._active:
            self.show_fleet(snapshot.fleet(), instant.now_ms() if snapshot.at_ms else 0)
        else:  # but for the time all is as it was: the next second says it
            self._fleet = snapshot.fleet()

    def show_fleet(self, fleet: FleetNow, now_ms: int) -> None:
        """Show what is true of the workers at this moment (UTC ms, by the store's clock)."""
        self._fleet, self._now_ms = fleet, now_ms
        if not self._running() <= self._kinds:
            self._ask_names()
        self._say()

    def _say(self) -> None:
        workers, here = self._fleet.workers, self._context.local.name
        missing = [one for one in workers if one.missing]
        known = {one.name for one in workers}
        if missing and self.board.selected() not in known:  # who comes here comes for the one that is not well
            self.board.select(max(missing, key=lambda one: (len(one.unconfirmed), one.silence_ms)).name)
        can_start = bool(missing) and not here and not self._actions.local_busy
        wanted = self._found(workers)
        self.board.show_workers(wanted, self._names, here, self._now_ms, can_start=can_start)
        self.local.set_leading(not can_start)
        silent_first = sorted(wanted, key=lambda one: not one.missing)  # rows that are shown keep their place
        self._model.apply(silent_first)
        self._machines.apply(machines.look_at_all(wanted))
        if not self._by_hand:
            self._view.set_current("table" if len(workers) > CARDS_UP_TO else "slots")
        self._show_view()
        self._show_local(here)
        self._show_browsers()
        self.finder.setVisible(len(workers) >= FIND_FROM or bool(self.finder.text()))
        self.finder.setPlaceholderText(_("Find a worker or machine"))
        self.finder.setAccessibleName(_("Find a worker or machine"))
        self._say_summary()
        self.refreshed.emit()

    def _show_local(self, here: str) -> None:
        self.local.offer(self._context.local.slots)
        if not self._actions.local_busy:
            self.local.set_state(RUNNING if here else STOPPED)
        self.local.show_worker(self._find(here))
        told = self.local.state == RUNNING and self._find(here) is not None and self.local.error.isHidden()
        if self.local.isHidden() != told:  # its own card says all of it and stops it
            self.local.setVisible(not told)
            self._fit_side()

    def _found(self, workers: Sequence[WorkerNow]) -> tuple[WorkerNow, ...]:
        """Those that the words of the field fit, all of them where there are none."""
        words = self.finder.text().casefold().split()
        return tuple(one for one in workers if all(word in _told(one) for word in words))

    def _chosen(self) -> str:
        """The worker that is chosen, "" for none."""
        found = self.table.current_key() if self._stack.currentWidget() is self.table else self.board.selected()
        return str(found) if found is not None else ""

    def _show_browsers(self) -> None:
        one = self._find(self._chosen())
        if one is None:  # none is chosen: the first that has any, so that they are seen at all
            one = next((each for each in self._fleet.workers if self._of(each)), None)
        found = self._of(one)
        # who has seen any keeps their place: buttons would move with each that opens or is chosen
        self._browsing = self._browsing or any(map(self._of, self._fleet.workers))
        hidden = self.browsers.isHidden()
        self.browsers.show_browsers(one.name if one is not None else "", found, kept=self._browsing)
        if self.browsers.isHidden() != hidden:
            self._fit_side()

    def _of(self, one: WorkerNow | None) -> tuple[BrowserRow, ...]:
        return browsers.rows(one, self._names, self._sessions, self._homes)

    def _open_machine(self, name: object) -> None:
        """The workers of a machine, as a table."""
        self.finder.setText(str(name))
        self._choose_view("table")

    def _show_view(self) -> None:
        views: dict[str, QWidget] = {"slots": self.board, "table": self.table, "machines": self.machines}
        chosen = views[self._view.current()]
        if self.anything_known and not self._found(self._fleet.workers):
            chosen = self.unmatched if self._fleet.workers else self.empty
        self._stack.setCurrentWidget(chosen)
        last = insight.last(self._fleet, self._now_ms)
        self._show_bulk()
        self.empty.show_fact(shown.told(last, self._now_ms) if last is not None else "")
        busy = self._actions.local_busy
        self.empty.button.disable(_("It is starting") if busy else "")
        self._fit_side()

    def _on_view(self, _key: str) -> None:
        self._by_hand = True
        self._show_view()

    def _choose_view(self, key: str) -> None:
        self._by_hand = True
        self._view.set_current(key)
        self._show_view()

    def _on_pulse(self) -> None:
        if not self._active:
            return
        if self._context.feed.latest.at_ms:
            self._now_ms = instant.now_ms()
        self._pulses += 1
        if self._pulses % NAMES_EVERY == 0:
            self._ask_names()
        if self._fleet.workers:
            self._say()
        else:  # of nobody time tells more, but of who left last
            self._show_view()
            self._show_local(self._context.local.name)
            self._say_summary()

    def _say_summary(self) -> None:
        self.set_summary(worker_words.summary(self._fleet), worker_words.machines(self._fleet))

    def _ask_names(self) -> None:
        context, shops = self._context, [session.shop for session in self._sessions]
        kinds = self._kinds = self._running()

        def ask() -> tuple[Names, dict[str, str]]:
            names = Names(shops=context.shops(), types=context.types(), usual=context.remote.usual(kinds))
            return names, context.remote.homes(shops)

        self._asking.start(ask, self._on_names, _pass)

    def _running(self) -> frozenset[tuple[str, str]]:
        """Types that run now, each with its platform."""
        slots = (slot for one in self._fleet.workers for slot in one.info.slots if slot.task_id)
        return frozenset(map(nodes.kind_of, slots))

    def _on_names(self, found: tuple[Names, dict[str, str]]) -> None:
        self._names, self._homes = found
        self._say()

    # acting

    def ticked(self) -> tuple[OfWorker, ...]:
        """The workers that are ticked in the table, as they are now."""
        cards = (self.board.card(str(key)) for key in self._model.ticked_in_order())
        return tuple(card.about() for card in cards if card is not None)

    def _show_bulk(self) -> None:
        rows = self.ticked() if self._stack.currentWidget() is self.table else ()
        self.bulk.show_count(len(rows), self._many.reasons(rows))

    def _run(self, verb: WorkerVerb, of: OfWorker) -> None:
        """Do it to the worker as it is now: a menu or the palette may have stood open while it claimed tasks."""
        card = self.board.card(of.info.worker)
        if card is None:
            return
        now = card.about()
        if verb.fits(now) and not self.verbs.reason(verb, now):
            verb.do(self._actions, now)

    def _find(self, worker: str) -> WorkerNow | None:
        return self._fleet.find(worker) if worker else None

    def _on_ordered(self, worker: str, order: str) -> None:
        card = self.board.card(worker)
        if card is not None:
            card.note_asked(order)

    def _on_refused(self, worker: str) -> None:
        card = self.board.card(worker)
        if card is not None:
            card.refused()

    def _start_here(self) -> None:
        self._actions.start_local(self.local.slots.value(), self.local.chosen_lanes())
        self._show_view()

    def _on_stop_local(self) -> None:
        found = self._find(self._context.local.name)
        self._actions.stop_local(found.info if found is not None else None, self._names, self._now_ms)

    def _on_local_failed(self, error: BaseException) -> None:
        self.local.error.show_error(told(error))
        self._show_view()

    def _open_task(self, task_id: str) -> None:
        self.navigate.emit("tasks", filter.format_terms((equals("id", task_id),)))

    def _open_tasks(self, worker: str) -> None:
        self.navigate.emit("tasks", filter.format_terms((equals("worker", worker),)))

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        card = self.board.card(str(key))
        if card is not None:
            self.verbs.fill(menu, card.about())

    def _end_menu(self, menu: QMenu, key: object) -> None:
        menu.addSeparator()
        menu.addAction(_("Tasks of this worker"), partial(self._open_tasks, str(key)))

    def _open_menu(self, worker: str, at: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._fill_menu(menu, worker)
        menu.addSeparator()
        menu.addAction(_("Copy name"), partial(QGuiApplication.clipboard().setText, worker))
        self._end_menu(menu, worker)
        menu.popup(at)


def _told(one: WorkerNow) -> str:
    """What may be looked for: its name, machine, state and what it runs on."""
    info = one.info
    parts = (one.name, info.host, info.node, one.state, info.system, info.version, nodes.note(one)[0])
    return " ".join(parts).casefold()


def _pass(_error: BaseException) -> None:
    """Names are a comfort: without them ids are shown, and the next pulse asks again."""


class LocalCard(Card):
    """Says what is true: starting and stopping last until they are done.

    Signals:
        start_wanted: slots, lanes.
        stop_wanted: stop, running tasks get their grace.
    """

    start_wanted = Signal(int, object)
    stop_wanted = Signal()

    def __init__(self, slots: int) -> None:
        """``slots``: as of ``offer``."""
        super().__init__(N_("This computer"), divided=False)
        self._offered = slots
        self._state, self._forbidden, self._leads = STOPPED, "", True
        self._info: WorkerNow | None = None
        self._glyph = QLabel()
        self._pill = StatusPill("paused")
        self.add_before_title(self._glyph)
        self.add_action(self._pill)
        self._text = Label("", "label", "text2", wrap=True)
        self.error = ErrorStrip()
        self.error.retry.connect(self._on_button)
        self.slots = Stepper(N_("Slots"), slots, 1, MAX_SLOTS)
        self.lanes = ChoiceField()
        self.lanes.setSizeAdjustPolicy(ChoiceField.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.lanes.setMinimumWidth(84)
        self.button = Button(N_("Start"), kind="primary", icon="ph.play-fill")
        self.button.clicked.connect(self._on_button)
        self._slots_title = Label("", "label", "text2")
        row = in_row(
            self._slots_title, self.slots, (self.lanes, 1), (self.button, 0, Qt.AlignmentFlag.AlignLeft), spacing=8
        )
        for widget in (self._text, self.error):
            self.body.addWidget(widget)
        self.body.addLayout(row)
        self.body.addStretch(1)
        for lanes, _title in LANES:
            self.lanes.addItem("", lanes)
        theme().changed.connect(self._say)
        say_in_language(self._say)

    @property
    def state(self) -> str:
        """stopped, starting, running or stopping."""
        return self._state

    def offer(self, slots: int) -> None:
        """Stand at so many slots, which the settings say now, until a person chooses others."""
        if slots != self._offered:
            self._offered = slots
            self.slots.set_value(slots)

    def set_state(self, state: str) -> None:
        """Show what is true now."""
        if state != self._state:
            self._state = state
            self._say()

    def set_acting(self, reason: str) -> None:
        """Start nothing while that is not allowed; what works here can always be stopped."""
        self._forbidden = reason
        self._say()

    def set_leading(self, leads: bool) -> None:
        """Whether *Start* is what the page asks for: one filled button a view."""
        if leads != self._leads:
            self._leads = leads
            self._say()

    def show_worker(self, info: WorkerNow | None) -> None:
        """What is told of the local worker beyond its state; the rest stands where all workers are."""
        if info is not None or self._info is not None:
            self._info = info
            self._say()

    def chosen_lanes(self) -> tuple[str, ...]:
        """The lanes to serve, in their order of urgency."""
        return LANES[max(0, self.lanes.currentIndex())][0]

    def _say(self) -> None:
        busy = self._info.busy if self._info is not None else 0
        self._glyph.setPixmap(theme().pixmap("ph.laptop", "text2", 16))
        status, word = _PILLS[self._state]
        self._pill.set_status(status, _(word))
        self._text.setText(self._sentence(busy))
        self._slots_title.setText(_("Slots"))
        for number, (_lanes, title) in enumerate(LANES):
            self.lanes.setItemText(number, _(title))
        self.lanes.setAccessibleName(_("Lanes"))
        running = self._state in (RUNNING, STOPPING)
        for widget in (self._slots_title, self.slots, self.lanes):
            widget.setVisible(self._state == STOPPED)
        self.button.set_kind("primary" if self._leads and not running else "plain")
        self.button.set_glyph("ph.stop-fill" if running else "ph.play-fill")
        self.button.set_source(
            {STARTING: N_("Starting"), RUNNING: N_("Stop"), STOPPING: N_("Stopping")}.get(self._state, N_("Start"))
        )
        reasons = {STARTING: _("It is starting"), STOPPING: _("Waits for its running tasks"), STOPPED: self._forbidden}
        self.button.disable(reasons.get(self._state, ""))

    def _sentence(self, busy: int) -> str:
        if self._state == STOPPED:
            return _("Run tasks here too. When you close Fleetdeck, it asks what becomes of those that run.")
        if self._state == STARTING:
            return _("Connecting to the broker and the store.")
        if self._state == STOPPING:
            left = ngettext("{n} running task may finish first.", "{n} running tasks may finish first.", busy)
            return left.format(n=busy) if busy else _("Giving back what has not started.")
        return _("It runs in this program. Closing Fleetdeck asks what becomes of its tasks.")

    def _on_button(self) -> None:
        if self._state == STOPPED:
            self.error.clear()
            self.start_wanted.emit(self.slots.value(), self.chosen_lanes())
        elif self._state == RUNNING:
            self.stop_wanted.emit()
