"""The Tasks page: saved views, filter, table, action bar and the panel of one task."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, QObject, QPoint, QTimer, Signal
from PySide6.QtWidgets import QMenu, QWidget

from services.domain.task.record import Task
from services.domain.task.search.filter import FilterError
from services.domain.task.status import Status
from services.i18n import N_, _
from services.messages import told
from services.monitor.live import Snapshot
from services.monitor.tasks import TaskQueries
from services.monitor.waits.waiting import Wait
from views.context import PageContext
from views.kit.filter_choices import FIELDS, FilterChoices, within_tasks
from views.kit.saved_views import View
from views.kit.verb import Place
from views.page import Page, PageCommand, PageHeader
from views.pages.tasks.action_bar import ActionBar
from views.pages.tasks.actions import Offers, TaskActions
from views.pages.tasks.groups import WAYS, GroupStrip
from views.pages.tasks.listing import Listing, TaskLister, Wanted, with_rows_beyond
from views.pages.tasks.panel.detail import TaskDetailPanel
from views.pages.tasks.panel.panel_door import PanelDoor
from views.pages.tasks.panel.suppressed import SuppressedDialog
from views.pages.tasks.rows import COLUMNS, TaskRow, sentence
from views.pages.tasks.selection import Selection
from views.pages.tasks.sharing import Sharing
from views.pages.tasks.tally import Tally
from views.pages.tasks.verbs import VERBS
from views.pages.tasks.view_keeper import ViewKeeper
from views.pages.tasks.views import IN_FULL, one_task, task_in_full
from views.support import shown
from views.support.acting import Acting
from views.support.keys import bind
from views.support.operation import Operation
from views.tables.at_rest import AtRest
from views.tables.copying import to_tsv
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.tables.task_columns import task_id
from views.widgets.buttons import Button, IconButton
from views.widgets.empty_state import EmptyState
from views.widgets.filter.bar import FilterBar
from views.widgets.freezing import Freezing
from views.widgets.layout import side_by_side, stacked
from views.widgets.strip import ErrorStrip
from views.widgets.view_tabs import ViewTabs

ASK_MS = 2500
#: where nothing is heard of the fleet for so many answers; an answer that takes long is asked for less often, too: at
#: most a twentieth of the time goes into asking
SLOW_MS, STILL_ANSWERS, SHARE = 10_000, 2, 20
#: rows asked for at once
MOST_ROWS = 40
#: of those that wait for something else now so many are told in one turn of the loop
AT_ONCE = 8


class TasksPage(Page):
    """Everything that was ever asked for and is kept, one filter away."""

    page_id = "tasks"

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Tasks"))
        self._context = context
        self._frozen = False
        self._acting = Acting(self, context.toast, context.pending)
        self.actions_of_page = TaskActions(context, self._acting, self)
        self._lister = TaskLister(context.tasks, self)
        self._model: RecordModel[TaskRow] = RecordModel(COLUMNS, key=task_id, tickable=True, sentence=sentence)
        self._pulse = QTimer(self, interval=1000)
        self._pulse.timeout.connect(self._touch_running)
        self.make(self._build, self._connect)

    def activate(self) -> None:
        """Follow the feed."""
        self._rest.begin()
        self._views.set_active(True)
        self._waits.set_active(True)
        self._choices.refresh()
        self._unknown.ask(self._lister.wanted.filter)
        self._lister.set_active(True)
        self.groups.set_active(True)
        self._pulse.start()
        self.table.setFocus()

    def deactivate(self) -> None:
        """Stop following."""
        self._lister.set_active(False)
        self.groups.set_active(False)
        self._pulse.stop()
        self._views.set_active(False)
        self._waits.set_active(False)

    def refresh(self) -> None:
        """Ask again and put every row in its place."""
        self._lister.again()
        self.groups.refresh()
        self.panel.refresh()

    def show_request(self, request: object) -> None:
        """Show a filter that another page asked for."""
        if isinstance(request, View):
            self._views.go(request.key)
            self._on_view(self._views.current)
        elif isinstance(request, str) and (whole := task_in_full(request)) is not None:
            self._door.open_full(whole)
        elif isinstance(request, str):
            self._views.go_to_filter(request)
            self.filter.set_expression(request)
            self._query()
            if (task_id := one_task(request)) is not None:
                self._door.open(task_id)

    def shown_request(self) -> str:
        """The filter, or the task that has the page."""
        return f"{IN_FULL}{self.panel.task_id}" if self._door.full else self.filter.expression()

    def filter_shown(self) -> str:
        """The filter."""
        return self.filter.expression()

    def show_task(self, task_id: str) -> None:
        """Open the panel of one task."""
        self._door.open(task_id)

    def panes(self) -> Sequence[QWidget]:
        """Tabs, filter, table, actions and panel."""
        return (self.tabs, self.filter, self._stack, self.bar, self.panel)

    def pointed(self) -> tuple[str, str]:
        """Shop and type of the task under the cursor."""
        row = self._model.find(str(self.table.current_key()))
        return (row.task.shop, row.task.task_type) if row is not None else ("", "")

    def commands(self) -> Sequence[PageCommand]:
        """Verbs on the selection, and what can be done with the list."""
        return (
            *self._offers.commands(),
            PageCommand(key="tasks.all", words=_("Select all that match"), icon="ph.checks", run=self.select_all),
            PageCommand(key="tasks.export", words=_("Export"), icon="ph.export", run=self.share),
            PageCommand(
                key="tasks.suppressed",
                words=_("Suppressed duplicates"),
                icon="ph.copy-simple",
                run=self.show_suppressed,
            ),
            *(
                PageCommand(
                    key=f"tasks.group.{by}",
                    words=_("Group by {way}").format(way=_(word)),
                    icon="ph.rows",
                    run=partial(self.groups.group_by, by),
                )
                for by, word in WAYS.items()
            ),
            PageCommand(key="tasks.save", words=_("Save view"), icon="ph.bookmark-simple", run=self.save_view),
        )

    def set_acting(self, reason: str) -> None:
        """Change nothing while that is not allowed; filter, copies and export go on."""
        self.actions_of_page.forbid(reason)
        self._views.forbid(reason)
        self.empty.forbid(self.actions_of_page.barred())
        self._show_bar()
        self.panel.show_verbs()

    def set_frozen(self, frozen: bool) -> None:
        """Stand still, countdowns included."""
        self._frozen = frozen
        self.buttons.freezing.set_on(frozen, lost=bool(self._since))
        super().set_frozen(frozen)
        self.table.live.set_still(frozen)
        self.panel.set_following(not frozen)

    def retranslate(self) -> None:
        super().retranslate()
        self._views.retranslate()
        self.groups.retranslate()
        self._choices.retranslate()
        self._say_summary()
        self._show_bar()

    def _build(self) -> Iterator[None]:
        self.tabs = ViewTabs()
        yield
        self.filter = FilterBar(FIELDS, placeholder=N_("Search id, shop, error"), offers=5)
        yield
        self._choices = FilterChoices(
            self._context, self.filter, self, within=partial(partial, within_tasks, self._context)
        )
        self.error = ErrorStrip()
        yield
        self.table = TableView(self._model, name=N_("Tasks"))
        self._rest = AtRest(self.table)
        self._listed = ""  #: the filter whose rows the table has
        yield
        self.selection = Selection(self._context.tasks, self.table)
        self._waits = Waits(self._context.tasks, self.table, lambda: self.panel.wait())
        self._views = ViewKeeper(self._context, self.tabs, self.table, self)
        self._tally = Tally(self._lister, self._views, self._context.feed, self.table)
        yield
        self.empty = NoTasks()
        self.groups = GroupStrip(self._context)
        self._stack = stacked(self.table, self.empty)
        self._unknown = self.covered(self._stack)
        yield
        self.bar = ActionBar([verb for verb in VERBS if Place.BAR in verb.places])
        self._offers = Offers(VERBS, self.bar, self.selection, self.actions_of_page, self._tally)
        yield
        self.panel = TaskDetailPanel(self._context, self.actions_of_page, self._offers.verbs)
        self.sharing = Sharing(self._context, self._tsv, self)
        self._menu = RowMenu(self.table, self._offers, self.sharing)
        self.bar.set_copy_menu(lambda menu: self.sharing.fill_menu(menu, self.selection.ids))
        self.buttons = HeaderButtons(self.header, self)
        self.buttons.freezing.wanted.connect(self.freeze_wanted)
        parts = (self.tabs, self.filter, self.error, self.groups, self._stack, self.bar)
        yield
        self._split = yield from side_by_side(self.body, parts, self._stack, self.panel, self.panel.build())
        yield
        self._door = PanelDoor(self.table, self.panel, self._split)

    def _connect(self) -> None:
        # asking
        self._views.shown.connect(self._on_view)
        self._views.save_wanted.connect(self.save_view)
        self._views.change_wanted.connect(self._change_view)
        self.filter.changed.connect(self._query)
        self.empty.clear_wanted.connect(self._clear)
        self.empty.new_wanted.connect(self._on_new)
        self.error.retry.connect(self.refresh)
        self._model.sort_requested.connect(self._query)
        self.table.near_end.connect(self._lister.more)
        # answers
        self._lister.listed.connect(self._show)
        self._lister.patched.connect(self._patch)
        self._waits.changed.connect(lambda rows: self._model.patch({row.key: row for row in rows}))
        self._waits.changed.connect(self._show_bar)
        self.panel.told.connect(self._waits.agree)
        self._lister.failed.connect(self._show_error)
        self._context.feed.changed.connect(self._lister.on_changes)
        self._context.feed.looked.connect(self._on_looked)
        # choosing
        self.table.current_changed.connect(self._show_bar)
        self._menu.condition_wanted.connect(self._add_condition)
        self._menu.filter_wanted.connect(self.show_request)
        self._menu.task_wanted.connect(self._door.open_full)
        self.panel.batch_wanted.connect(partial(self.navigate.emit, "batches"))
        self._menu.suppressed_wanted.connect(self.show_suppressed)
        self.buttons.suppressed.clicked.connect(lambda: self.show_suppressed())
        self.buttons.batches.clicked.connect(lambda: self.navigate.emit("batches", None))
        self._menu.history_wanted.connect(lambda one: self.navigate.emit("audit", f'target:"{one}"'))
        self._menu.shop_wanted.connect(partial(self.navigate.emit, "shops"))
        self._menu.worker_wanted.connect(partial(self.navigate.emit, "workers"))
        self.selection.changed.connect(self._show_bar)
        self.selection.busy_changed.connect(self.bar.show_busy)
        self._model.pending_changed.connect(self._show_bar)
        self.panel.edit_wanted.connect(self.actions_of_page.edit)
        self.buttons.columns.clicked.connect(self._show_columns)
        self.buttons.grouping.clicked.connect(self._choose_groups)
        self.groups.narrowed.connect(self._narrow)
        self.buttons.export.clicked.connect(self.share)
        self.bar.export_wanted.connect(self.share)
        # acting
        self._offers.verbs.bind(self.table, self._offers.chosen)
        bind(self, {"Esc": self._on_escape, "parts.find": self.panel.logs.search})
        self.bar.verb_wanted.connect(self._offers.act)
        self.bar.new_rows_wanted.connect(self._show_new)
        self.bar.clear_wanted.connect(self.selection.clear)
        self.bar.all_wanted.connect(self.select_all)
        self.actions_of_page.acted.connect(self._on_acted)

    def _wanted(self) -> Wanted:
        sorts = self._model.sorts
        sort, descending = sorts[0] if sorts else ("created", self._views.current.newest)
        return Wanted(filter=self.filter.expression(), sort=sort, descending=descending)

    def _query(self, *_args: object) -> None:
        wanted = self._wanted()
        self._views.note_asked(wanted.filter)
        self._unknown.ask(wanted.filter)
        self._choices.name_causes(wanted.filter)
        if wanted.filter != self._lister.wanted.filter:
            self.selection.give_up()
        self._lister.ask(wanted)
        self.groups.follow(wanted.filter)

    def _on_view(self, view: View) -> None:
        self.filter.set_expression(view.filter)
        self._rest.begin()
        self._query()

    def save_view(self) -> None:
        """Keep the present filter under a name."""
        self._views.save(self.filter.expression(), newest=self._wanted().descending, said=self.filter.said())

    def _change_view(self, key: str) -> None:
        self._views.change(key, self.filter.expression(), newest=self._wanted().descending)

    def _clear(self) -> None:
        self._views.go("all")
        self.filter.clear()
        self._query()

    def _on_new(self) -> None:
        if not self.actions_of_page.barred():
            self._context.new_task({})

    def _show(self, listing: Listing) -> None:
        self.error.clear()
        self.filter.clear_problem()
        self._unknown.answer(listing.wanted.filter)
        self._tally.note(listing)
        self._model.set_usual(("created", self._views.current.newest))
        settle = listing.settle or self._rest.resting
        rows = self._waits.fill(with_rows_beyond(listing, self._model.records()))
        before = self.table.current_key()
        self._model.apply(rows, settle=settle)
        if listing.wanted.filter != self._listed and self.table.current_key() != before:
            # the row below the cursor is of another list: Qt would take one that nobody pointed at, and go there
            self.table.setCurrentIndex(QModelIndex())
            self.table.scrollToTop()
        self._listed = listing.wanted.filter
        self._waits.refresh()
        self.selection.refresh(listing.rows)
        self.panel.note_listed(set(map(task_id, listing.rows)))
        self._lister.note_shown(self._model.records())
        self.empty.say(filtered=bool(listing.wanted.filter))
        self._stack.setCurrentWidget(self.table if self._model.rowCount() else self.empty)
        self._say_summary()
        self._show_bar()
        self.refreshed.emit()

    def _patch(self, rows: tuple[TaskRow, ...]) -> None:
        fresh = {row.key: row for row in self._waits.fill(rows)}
        self._model.patch(fresh)
        self.selection.refresh(rows)
        if self.panel.isVisible() and self.panel.task_id in fresh:
            self.panel.refresh()

    def _touch_running(self) -> None:
        self._lister.touch(row.key for row in self._model.records() if row.task.status == Status.RUNNING)

    def _show_error(self, error: BaseException) -> None:
        self.load_failed()
        if isinstance(error, FilterError):
            self.filter.show_problem(shown.say(error.message), error.position)
        else:
            self.error.show_error(told(error))

    def _on_looked(self, snapshot: Snapshot) -> None:
        if self.isVisible() and not self._frozen:
            self._views.show_counts(snapshot.counts)
            self._choices.on_looked(snapshot)
            self._waits.note_news(snapshot.heard())
            self._say_summary()

    def _say_summary(self) -> None:
        self.set_summary(self._tally.summary())
        self.bar.show_match(self._tally.match())

    def _show_new(self) -> None:
        self._model.show_new()
        self._lister.again()

    def undo(self, after: int = 0) -> bool:
        """Take the newest action back while that is offered."""
        return self.actions_of_page.undo(after)

    def _on_escape(self) -> None:
        """Close the panel, then clear the selection, then the filter."""
        if self.panel.isVisible():
            self._door.close()
        elif self.selection.count:
            self.selection.clear()
        elif self.filter.expression() != self._views.current.filter:
            self.filter.set_expression(self._views.current.filter)
            self._query()
        else:
            self.table.setFocus()

    def _show_bar(self, *_args: object) -> None:
        self._offers.show(newest_first=self._wanted().descending)

    def select_all(self) -> None:
        """Tick everything that matches, loaded or not."""
        self.selection.select_all(self._lister.wanted.filter)

    def _on_acted(self, ids: tuple[str, ...]) -> None:
        self._model.set_ticked(ids, on=False)

    def _tsv(self, rows: Sequence[TaskRow]) -> str:
        return to_tsv(self.table.layout_of_columns.shown(), rows)

    def share(self) -> None:
        """Export the selection, else all that match."""
        self.sharing.ask_file(self.selection.ids() if self.selection.count else (), self._wanted())

    def show_suppressed(self, task_type: str = "") -> None:
        """List what the guard against doing the same work twice has met, of one type or of all."""
        dialog = SuppressedDialog(self._context.tasks, self._context.limits.name, task_type, self)
        dialog.task_wanted.connect(self._door.open)
        dialog.open()

    def _show_columns(self) -> None:
        button = self.buttons.columns
        self.table.layout_of_columns.choose(button.mapToGlobal(button.rect().bottomLeft()))

    def _choose_groups(self) -> None:
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        self.groups.fill(menu)
        button = self.buttons.grouping
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def _narrow(self, field: str, value: str) -> None:
        self.filter.narrow({field: value})
        self._query()

    def _add_condition(self, field: str, value: str, include: bool) -> None:
        self.filter.add_value(field, value, include=include)
        self._query()


class HeaderButtons:
    """What can be done with the list as a whole, at the right end of the page's head."""

    def __init__(self, header: PageHeader, page: QWidget) -> None:
        self.freezing = Freezing(page)
        self.suppressed = IconButton("ph.copy-simple", N_("Suppressed duplicates"), kind="plain")
        self.batches = IconButton("ph.tree-structure", N_("Batches"), kind="plain")
        self.grouping = IconButton("ph.rows", N_("Group by"), kind="plain")
        self.columns = Button(N_("Columns"), icon="ph.columns")
        self.export = Button(N_("Export"), icon="ph.export")
        for button in (self.freezing.button, self.suppressed, self.batches, self.grouping, self.columns, self.export):
            header.add_action(button)


class NoTasks(EmptyState):
    """What stands in the place of rows.

    Signals:
        clear_wanted: the filters hide everything.
        new_wanted: there is nothing yet; somebody wants the first one.
    """

    clear_wanted = Signal()
    new_wanted = Signal()

    def __init__(self) -> None:
        super().__init__(N_("No task matches."), N_("Change or clear the filters."), N_("Clear filters"))
        self._filtered, self._barred = True, ""
        self.action.connect(self._on_action)

    def say(self, *, filtered: bool) -> None:
        """No task matches, or there is none at all."""
        self._filtered = filtered
        if filtered:
            self.set_texts(N_("No task matches."), N_("Change or clear the filters."), N_("Clear filters"))
        else:
            hint = N_("A task appears here once it is created, in this window or by another program.")
            self.set_texts(N_("No tasks yet"), hint, N_("New task"))
        self.forbid(self._barred)

    def forbid(self, reason: str) -> None:
        """Offer no first task for this reason, "" where one may be created."""
        self._barred = reason
        self.button.disable("" if self._filtered else reason)

    def _on_action(self) -> None:
        (self.clear_wanted if self._filtered else self.new_wanted).emit()


class RowMenu(QObject):
    """Signals:
    condition_wanted: filter field, value, and whether to include or exclude it.
    filter_wanted: an expression to be shown alone.
    task_wanted: key of the task to be opened.
    shop_wanted: key of the shop (``platform:shop_id``) to be opened.
    worker_wanted: name of the worker to be opened.
    history_wanted: id of the task whose acts shall be listed.
    suppressed_wanted: task type of which the suppressed duplicates shall be listed.
    """

    condition_wanted = Signal(str, str, bool)
    filter_wanted = Signal(str)
    task_wanted = Signal(object)
    shop_wanted = Signal(str)
    worker_wanted = Signal(str)
    history_wanted = Signal(str)
    suppressed_wanted = Signal(str)

    def __init__(self, table: TableView, offers: Offers, sharing: Sharing) -> None:
        super().__init__(table)
        self._table, self._offers, self._sharing = table, offers, sharing
        table.menu_requested.connect(self._begin)
        table.menu_ending.connect(self._end)
        table.filter_requested.connect(self._filter)
        table.filterable = self._filterable

    def _filterable(self, key: object, column: str) -> bool:
        row = self._row(key)
        return row is not None and all(condition(row.task, column))

    def _begin(self, menu: QMenu, key: object) -> None:
        chosen = self._offers.chosen_at(key)
        self._offers.verbs.fill(menu, chosen)
        copies = menu.addMenu(_("Copy as"))
        self._sharing.fill_menu(copies, lambda: [one.task_id for one in chosen.picks()])

    def _end(self, menu: QMenu, key: object) -> None:
        row = self._row(key)
        if row is None:
            return
        menu.addSeparator()
        menu.addAction(_("Open in full"), partial(self.task_wanted.emit, key))
        menu.addAction(_("Who did what to it"), partial(self.history_wanted.emit, row.task.task_id))
        menu.addAction(_("Tasks of this shop"), partial(self.filter_wanted.emit, f"shop:{row.task.shop}"))
        menu.addAction(_("Open shop"), partial(self.shop_wanted.emit, row.task.shop))
        type_ = row.task.task_type
        menu.addAction(_("Suppressed duplicates of this type"), partial(self.suppressed_wanted.emit, type_))
        if row.task.worker:
            menu.addAction(_("Open worker"), partial(self.worker_wanted.emit, row.task.worker))

    def _filter(self, column: str, include: bool) -> None:
        row = self._row(self._table.current_key())
        field, value = condition(row.task, column) if row is not None else ("", "")
        if field and value:
            self.condition_wanted.emit(field, value, include)

    def _row(self, key: object) -> TaskRow | None:
        row: TaskRow | None = self._table.records.find(str(key))
        return row


def condition(task: Task, column: str) -> tuple[str, str]:
    """Filter field and value of a cell, "" where the cell is no condition."""
    values = {
        "status": ("status", str(task.status)),
        "type": ("type", task.task_type),
        "shop": ("shop", task.shop),
        "platform": ("platform", task.platform),
        "lane": ("lane", str(task.lane)),
        "worker": ("worker", task.worker),
        "error": ("fp", task.fingerprint),
        "priority": ("priority", str(task.priority)),
        "id": ("id", task.task_id),
    }
    return values.get(column, ("", ""))


class Waits(QObject):
    """What waiting tasks on screen wait for and when they start, asked for a few at a time.

    Signals:
    changed: rows (tuple of ``TaskRow``) of which something else is known.
    """

    changed = Signal(object)

    def __init__(
        self, queries: TaskQueries, table: TableView, panel: Callable[[], tuple[str, Wait | None]] = lambda: ("", None)
    ) -> None:
        """``panel``: what another view says of a task: its row says the same, though the list was asked before or
        after.
        """
        super().__init__(table)
        self._panel = panel
        self._queries, self._table = queries, table
        self._known: Mapping[str, Wait] = {}
        self._heard: object = None
        self._still, self._took_s = 0, 0.0  #: answers without any news before them; how long the last one took
        self._ask = Operation(self)
        self._timer = QTimer(self, interval=ASK_MS)
        self._timer.timeout.connect(self.refresh)
        self._untold: deque[str] = deque()  #: keys of rows that were not looked at since the last answer
        self._telling = QTimer(self, interval=0)
        self._telling.timeout.connect(self._tell_some)

    def set_active(self, active: bool) -> None:
        """Ask only while the page is seen."""
        if active:
            self._timer.start()
        else:
            self._timer.stop()

    def refresh(self) -> None:
        """Ask for the waiting rows on screen."""
        wanted = [row.task for row in self._visible() if row.gate][:MOST_ROWS]
        if wanted and not self._ask.busy:
            # when it starts is a help: an error of it must not cover the list
            self._ask.start(partial(self._look, wanted), self._take, lambda _error: None)

    def note_news(self, heard: object) -> None:
        """What is heard of the fleet now, but for the time."""
        if heard != self._heard:
            self._heard, self._still = heard, 0
            self._keep_pace()

    def _look(self, wanted: Sequence[Task]) -> tuple[Mapping[str, Wait], float]:
        begun = time.monotonic()
        return self._queries.waits(wanted), time.monotonic() - begun

    def _keep_pace(self) -> None:
        least = ASK_MS if self._still < STILL_ANSWERS else SLOW_MS
        pace = round(min(SLOW_MS, max(least, SHARE * 1000 * self._took_s)))
        if pace != self._timer.interval():
            self._timer.setInterval(pace)

    def agree(self) -> None:
        """Say what the other view says now."""
        row = self._table.records.find(self._panel()[0])
        fresh = self._filled(self._moved(row)) if row is not None else None
        if fresh is not row:
            self.changed.emit((fresh,))

    def fill(self, rows: Iterable[TaskRow]) -> tuple[TaskRow, ...]:
        """The rows with what is known about their waits."""
        return tuple(map(self._filled, rows))

    def _filled(self, row: TaskRow) -> TaskRow:
        known = self._of(row.key)
        if known is None or not row.gate:
            return row if row.wait is None or row.gate == row.wait.gate.name else replace(row, wait=None)
        if known.gate.name != row.gate:  # the list was asked later
            return row if row.wait is None else replace(row, wait=None)
        return row if known == row.wait else replace(row, wait=known)

    def _moved(self, row: TaskRow) -> TaskRow:
        known = self._of(row.key)
        moved = known is not None and row.gate and known.gate.name != row.gate
        return replace(row, gate=known.gate.name) if moved and known is not None else row

    def _of(self, task_id: str) -> Wait | None:
        beside, wait = self._panel()
        return wait if beside == task_id and wait is not None else self._known.get(task_id)

    def _take(self, answer: tuple[Mapping[str, Wait], float]) -> None:
        self._known, self._took_s = answer
        self._still += 1
        self._keep_pace()
        self._untold = deque(row.key for row in self._table.records.records())
        self._tell_some()
        if self._untold:
            self._telling.start()

    def _tell_some(self) -> None:
        """Rows whose words may be others, so many that the window goes on meanwhile."""
        changed: list[TaskRow] = []
        while self._untold and len(changed) < AT_ONCE:
            row = self._table.records.find(self._untold.popleft())
            fresh = self._filled(self._moved(row)) if row is not None else None
            if fresh is not None and fresh is not row:
                changed.append(fresh)
        if not self._untold:
            self._telling.stop()
        if changed:
            self.changed.emit(tuple(changed))

    def _visible(self) -> Sequence[TaskRow]:
        table = self._table
        first = max(0, table.rowAt(0))
        last = table.indexAt(QPoint(0, table.viewport().height() - 1)).row()
        return table.records.records()[first : last + 1 if last >= 0 else None]
