"""The Schedules page: what repeats, when it comes next, and what came of it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec
from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QCursor, QResizeEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from services.domain.insight import schedule as insight
from services.domain.plans.schedule import Schedule
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.i18n import N_, _
from services.monitor.schedules import NAMES, STATES, RunLoad, ScheduleQueries, ScheduleRow
from views.context import PageContext
from views.kit.filter_choices import FilterChoices, some_of
from views.kit.list_page import ListPage
from views.kit.list_source import Ask, ListSource
from views.kit.verb import Place, Verbs, button_of
from views.page import PageCommand
from views.pages.schedules import runs, words
from views.pages.schedules.coming import Coming, ComingRuns, coming
from views.pages.schedules.load_strip import PlannedLoad
from views.pages.schedules.table import COLUMNS, sentence
from views.pages.schedules.verbs import VERBS, ScheduleActions, ScheduleVerb
from views.support import instant
from views.support.instant import ticks
from views.support.keys import bind
from views.support.words import way
from views.tables.delegates import PADDING
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme
from views.theme.tokens import CARD_GAP, PAGE_MARGIN
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.filter.bar import FilterBar, FilterField, FilterValue
from views.widgets.layout import in_row, put
from views.widgets.strip import ErrorStrip, Strip

log = logging.getLogger(__name__)
FIELDS = (
    FilterField("state", N_("State"), tuple(FilterValue(state, words.STATES[state]) for state in STATES)),
    *some_of("type", "platform", "group", "shop"),
)
#: where the filter of each connection is remembered
KEPT = "schedules.filter"
#: columns by whose cells the list can be filtered
FILTERED: dict[str, Callable[[ScheduleRow], str]] = {
    "name": lambda row: row.schedule.name,
    "type": lambda row: row.schedule.task_type,
}
EVERY_MS = 3000
ROOMY = 1000  #: pixels from which on the bar has room for every verb
LOW = 520  #: a page that is lower has no room for what comes next
LOWER = 640  #: nor for the line of the workers
#: of the list: its header, and room that shows that it ends
SPARE_ROWS = 2
AHEAD_MS = 30_000


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """An answer: all schedules, those that fit the filter, and what comes next of these."""

    rows: tuple[ScheduleRow, ...]
    fitting: tuple[ScheduleRow, ...]
    coming: Coming
    settle: bool  #: a person asked, so what fits no more leaves; else it stays, dimmed


class SchedulesPage(ListPage[ScheduleRow]):
    """All schedules in one table; what can be done about the one under the cursor stands above it."""

    page_id = "schedules"
    actions_of_page: ScheduleActions
    filter: FilterBar

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Schedules"), context)
        self._rows: tuple[ScheduleRow, ...] = ()
        self._fitting: tuple[ScheduleRow, ...] = ()
        self._plans: list[Schedule] | None = None  #: those of the rows, None before the first
        self._coming = Coming()
        self.actions_of_page = ScheduleActions(context, self)
        self.verbs: Verbs[ScheduleVerb, ScheduleRow | None] = Verbs(VERBS, self._do, self.actions_of_page.barred)
        self._model: RecordModel[ScheduleRow] = RecordModel(
            COLUMNS, key=lambda row: row.schedule.name, hold_new=False, local_sort=True, sentence=sentence
        )
        kept = str(context.memory.get(context.own(KEPT), ""))
        self._source = ListSource(self._call, kept, self, every_ms=EVERY_MS, follows=context.feed)
        self._looking_ahead: ListSource[None] = ListSource(
            lambda _ask: context.schedules.ahead, None, self, every_ms=AHEAD_MS, in_turn=True
        )
        self.make(self._build, self._connect, self._say_rights)

    def _build(self) -> Iterator[None]:
        self.buttons: dict[str, Button] = {}
        for verb in self.verbs.at(Place.BAR):
            self.buttons[verb.key] = button_of(verb, self._act, kind="ghostdanger" if verb.danger else "ghost")
            self.header.add_action(self.buttons[verb.key])
        self.new_button = Button(N_("New schedule"), icon="ph.plus")
        self.new_button.clicked.connect(self.actions_of_page.create)
        self.header.add_action(self.new_button)
        yield
        self.filter = FilterBar(
            FIELDS,
            placeholder=N_("Name, type or note"),
            offers=len(FIELDS),
            names=NAMES,
            example="state:off,failed type:sync_* -platform:temu",
        )
        self._choices = FilterChoices(self._context, self.filter, self, FIELDS)
        yield
        self.table = TableView(self._model, name=N_("Schedules"))
        self.table.filterable = lambda _key, column: column in FILTERED
        self.table.current_changed.connect(self._say_rights)
        self.table.open_requested.connect(self._open_tasks)
        self.table.menu_requested.connect(self._fill_menu)
        self.table.clicked.connect(self._on_clicked)
        yield
        self.empty = EmptyState(
            N_("Nothing repeats yet."),
            N_("A schedule makes the same task for many shops, again and again at its times."),
            N_("New schedule"),
            icon="ph.calendar-check",
        )
        self.empty.action.connect(self.actions_of_page.create)
        self.unmatched = EmptyState(
            N_("No schedule matches."),
            N_("Change or clear the filters."),
            N_("Clear filters"),
            icon="ph.calendar-check",
        )
        self.unmatched.action.connect(self.filter.clear)
        yield
        self.stack = QStackedWidget()
        for widget in (self.table, self.empty, self.unmatched):
            self.stack.addWidget(widget)
        yield
        self.late = Strip("warning")
        self.start_button = Button(way.VERBS["start_worker"], icon="ph.play", small=True)
        self.start_button.clicked.connect(lambda: self._context.way_out("start_worker", ""))
        self.late.add_action(self.start_button)
        self.late.hide()
        yield
        self.error = ErrorStrip()
        put(self.body, self.filter, self.error, self.late, (self.stack, 1))
        self._unknown = self.covered(self.stack)
        yield
        self.coming = ComingRuns()
        self.coming.wanted.connect(self.table.set_current_key)
        self.coming_room = QWidget()
        in_row(self.coming, owner=self.coming_room, margins=(PAGE_MARGIN, CARD_GAP, PAGE_MARGIN, PAGE_MARGIN))
        yield
        self.ahead = PlannedLoad()
        self.ahead_room = QWidget()
        in_row(self.ahead, owner=self.ahead_room, margins=(PAGE_MARGIN, CARD_GAP, PAGE_MARGIN, 0))
        self.ahead_room.setMinimumHeight(1)  # else the window could not be made lower than it asks for
        self.body.addWidget(self.ahead_room)
        self.body.addWidget(self.coming_room)
        self.ahead_room.hide()
        self.coming_room.hide()

    def _place_coming(self) -> None:
        """A low page has room for the schedules alone, unless they are few."""
        there = self.coming.model.rowCount() > 0
        rows = self.table.verticalHeader().defaultSectionSize() * (self._model.rowCount() + SPARE_ROWS)
        below = [room for room in (self.coming_room, self.ahead_room) if not room.isHidden()]
        free = self.stack.height() + sum(room.height() for room in below) - rows
        self.coming_room.setVisible(
            there and (self.height() >= LOW or free >= self.coming_room.minimumSizeHint().height())
        )
        self.ahead_room.setVisible(self.height() >= LOWER and there and self.ahead.found is not None)
        self.body.activate()  # what was shown or hidden here has its height only then
        seen = self.coming.height() if self.coming.isVisible() else 0
        # the load of the hours to come is made lower than it asks for by what stands below it only
        lacks = max(0, self.ahead_room.sizeHint().height() - self.ahead_room.height()) if self.ahead.isVisible() else 0
        least = max(rows, self.stack.minimumSizeHint().height())
        self.coming.take(self.stack.height() + seen - least - lacks)

    def _show_ahead(self, found: RunLoad) -> None:
        self.ahead.show_load(found)
        self.ahead.show()
        for widget in (self.ahead, self.ahead_room):  # else the page goes by how tall it was before
            if (layout := widget.layout()) is not None:
                layout.activate()
        self._place_coming()

    def _keep_ahead(self, error: BaseException) -> None:
        # where the store does not answer, the window says so above all pages
        log.warning("what schedules make of the hours to come is not known: %s", error)
        self.ahead.show_age()

    def _connect(self) -> None:
        self._connect_list()
        self.filter.remember(self._context.memory, self._context.own(KEPT))
        self.filter.changed.connect(self._source.ask)
        self.table.filter_requested.connect(self._filter_by)
        bind(self, {"Esc": self.filter.clear})
        self._looking_ahead.listed.connect(self._show_ahead)
        self._looking_ahead.failed.connect(self._keep_ahead)
        theme().changed.connect(self._fit_bar)
        ticks().tell(self, self._on_tick)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show what there is room for."""
        super().resizeEvent(event)
        self._place_coming()
        self._fit_bar()

    def _fit_bar(self) -> None:
        """Where it is narrow for the size of the text, only the menu has what is seldom wanted."""
        self.buttons["backfill"].setVisible(self.width() * 100 >= ROOMY * max(100, theme().text_size))

    def activate(self) -> None:
        """Ask now and then."""
        self._choices.refresh()
        super().activate()
        self._looking_ahead.set_active(True)

    def deactivate(self) -> None:
        """Ask no more."""
        super().deactivate()
        self._looking_ahead.set_active(False)

    def _look_again(self) -> None:
        super()._look_again()
        self._looking_ahead.again(settle=False)

    def show_request(self, request: object) -> None:
        """Put the cursor on the schedule of this name, among all of them; what is no name is a filter."""
        self._wish = str(request)
        if self._plans is not None:
            self._go_to_wish()

    def _go_to_wish(self) -> None:
        wish, self._wish = self._wish, ""
        named = self._find(wish) is not None
        self.filter.set_expression("" if named else wish)
        asked = self._source.wanted == self.filter.expression()  # else the list is still of the filter before
        if not named or not self.table.set_current_key(wish) or not asked:
            self._wish = wish if named else ""
            self._source.ask(self.filter.expression())

    def shown_request(self) -> str:
        """The filter, without one what is under the cursor."""
        return self.filter.expression() or super().shown_request()

    def filter_shown(self) -> str:
        """The filter, without one the schedule that a moment of the past led to."""
        asked = self.then.show if self.then is not None else ""
        return self.filter.expression() or (str(asked) if self._find(asked) is not None else "")

    def panes(self) -> Sequence[QWidget]:
        """Filter, schedules, the load of the hours to come, their runs."""
        return (self.filter, self.stack, self.ahead, self.coming)

    def retranslate(self) -> None:
        super().retranslate()
        self._choices.retranslate()
        self.coming.show_runs(self._coming)

    def current(self) -> ScheduleRow | None:
        """The schedule under the cursor."""
        return self._find(self.table.current_key())

    def _find(self, key: object) -> ScheduleRow | None:
        return next((row for row in self._rows if row.schedule.name == key), None)

    def undo(self, after: int = 0) -> bool:
        """Take back the newest act while that is offered."""
        return self.actions_of_page.acting.undo(after)

    def commands(self) -> Sequence[PageCommand]:
        """What the palette offers: the verbs of the schedule under the cursor, and a new one."""
        row = self.current()
        note = row.schedule.name if row is not None else ""
        new = PageCommand(
            key="schedules.new",
            words=_("New schedule"),
            icon="ph.plus",
            reason=self.actions_of_page.barred(),
            run=self.actions_of_page.create,
        )
        return [new, *self.verbs.commands("schedules", row, note)]

    def _call(self, ask: Ask[str]) -> Callable[[], Board]:
        return partial(_board, self._context.schedules, ask.wanted, ask.settle)

    def _show(self, found: Board) -> None:
        self.error.clear()
        self.filter.clear_problem()
        self._unknown.answer()
        rows, self._fitting, self._coming = found.rows, found.fitting, found.coming
        plans, before = [row.schedule for row in rows], self._plans
        if before is not None and plans != before:
            self._looking_ahead.again(settle=False)  # what comes is another than was counted
        self._rows, self._plans = rows, plans
        self._apply(found)
        self.filter.set_counts("state", Counter(state for row in rows for state in row.states))
        self.coming.show_runs(self._coming)
        self._place_coming()
        if self._wish:
            self._go_to_wish()
        self._say()

    def _apply(self, found: Board) -> None:
        """Show what fits; by itself nothing leaves but what is no more, and the cursor stands on nothing else then."""
        fit = {row.schedule.name for row in found.fitting}
        before, empty = self.table.current_key(), not self._model.rowCount()
        if found.settle or empty:
            self._model.apply(found.fitting, settle=found.settle)
        else:
            shown = [row for row in found.rows if row.schedule.name in fit or self._model.find(row.schedule.name)]
            left = {row.schedule.name for row in shown} - fit
            self._model.apply(shown, departed=left)
            if self.table.current_key() != before:  # Qt would take one that nobody pointed at, and verbs would mean it
                self.table.setCurrentIndex(QModelIndex())
        if found.fitting and (found.settle or empty) and self.table.current_key() is None:
            self.table.set_current_key(found.fitting[0].schedule.name)

    def _say_why(self) -> None:
        """Say why runs are late, with the way out."""
        why = words.why_late(self._rows, instant.now_ms())
        leaderless = any(insight.leaderless(row.now) for row in self._rows)
        self.start_button.setVisible(leaderless)
        self.start_button.disable(self.actions_of_page.barred())
        # one filled button: what makes up for what is late, before anything new
        row = self.current()
        late = bool(why) and not leaderless and row is not None and bool(words.why_late((row,), instant.now_ms()))
        self.start_button.set_kind("primary" if leaderless else "plain")
        self.buttons["run"].set_kind("primary" if late else "ghost")
        self.late.show_text(why)
        self.late.setVisible(bool(why))

    def _on_tick(self) -> None:
        """Say again how far away the next run is."""
        if self._source.active:
            self._say_summary()

    def _say_summary(self) -> None:
        fitting = self._fitting if self._source.wanted else None
        self.set_summary(words.summary(self._rows, instant.now_ms(), fitting))

    def _say(self) -> None:
        there = self._model.rowCount() > 0
        self.filter.setVisible(bool(self._rows or self.filter.expression()))
        self.stack.setCurrentWidget(self.table if there else self.unmatched if self._rows else self.empty)
        self._say_summary()
        self._say_rights()

    def _say_rights(self, _key: object = None) -> None:
        self._say_why()
        for button in (self.new_button, self.empty.button):
            button.disable(self.actions_of_page.barred())
        for one in self.verbs.offers(Place.BAR, self.current()):
            self.buttons[one.verb.key].set_source(one.name)
            self.buttons[one.verb.key].disable(one.reason)

    def _act(self, key: str) -> None:
        self.verbs.act(key, self.current())

    def _filter_by(self, column: str, include: bool) -> None:
        row = self.current()
        if row is not None:
            self.filter.add_value(column, FILTERED[column](row), include=include)

    def _open_tasks(self, key: object) -> None:
        """The tasks of its last run; one that never ran is opened itself."""
        row = self._find(key)
        if row is not None and row.planned.last is not None:
            self._open_run(row.planned.last.label)
        elif row is not None:
            self.verbs.act("edit", row)

    def _open_run(self, label: str) -> None:
        """The tasks of one run."""
        if label:
            self.navigate.emit("tasks", filter.format_terms((equals("batch", label),)))

    def _on_clicked(self, index: QModelIndex) -> None:
        """A bar is a door to the tasks of its run."""
        if self._model.column(index.column()).key != "runs":
            return
        x = self.table.viewport().mapFromGlobal(QCursor.pos()).x()
        left = self.table.columnViewportPosition(index.column()) + PADDING
        run = runs.at(self._model.record(index.row()), x - left)
        if run is not None:
            self._open_run(run.past.label)

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        row = self._find(key)
        if row is None:
            return
        tasks = menu.addAction(_("Tasks of the last run"), lambda: self._open_tasks(key))
        tasks.setEnabled(row.planned.last is not None)
        past = menu.addMenu(_("Last runs"))
        for run in reversed(row.runs):
            one = past.addAction(runs.words(run, instant.now_ms()), partial(self._open_run, run.past.label))
            one.setEnabled(bool(run.past.label))
        past.setEnabled(bool(row.runs))
        menu.addAction(_("Who changed what…"), lambda: self.actions_of_page.versions(row))
        menu.addAction(_("Who did what to it"), lambda: self.navigate.emit("audit", f'target:"{key}"'))
        self.verbs.fill(menu, row)


def _board(queries: ScheduleQueries, text: str, settle: bool) -> Board:
    """All schedules, those that a filter means, and what comes next of these."""
    rows = queries.board()
    fitting = queries.fitting(rows, text)
    return Board(rows=rows, fitting=fitting, coming=coming(fitting, instant.now_ms()), settle=settle)
