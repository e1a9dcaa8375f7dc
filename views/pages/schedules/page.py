"""The Schedules page: what repeats, when it comes next, and what came of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QStackedWidget

from services.domain.insight import schedule as insight
from services.domain.task import filter
from services.domain.task.query import equals
from services.i18n import N_, _
from services.monitor.schedules import ScheduleRow
from views.context import PageContext
from views.page import Page
from views.pages.schedules import words
from views.pages.schedules.actions import ScheduleActions
from views.pages.schedules.editor import ScheduleDialog
from views.pages.schedules.table import COLUMNS, sentence
from views.support import instant
from views.support.instant import ticks
from views.support.offers import offer
from views.support.refresher import Refresher
from views.support.words import way
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.strip import Strip

EVERY_MS = 3000


class SchedulesPage(Page):
    """All schedules in one table; what can be done about the one under the cursor stands above it."""

    page_id = "schedules"

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Schedules"))
        self._context = context
        self._rows: tuple[ScheduleRow, ...] = ()
        self._forbidden = ""
        self.actions_of_page = ScheduleActions(context, self)
        self._model: RecordModel[ScheduleRow] = RecordModel(
            COLUMNS, key=lambda row: row.schedule.name, hold_new=False, local_sort=True, sentence=sentence
        )
        self._build()
        self._refresher = Refresher(self, context.schedules.rows, self._show, EVERY_MS)
        self._refresher.refreshed.connect(self.refreshed)
        ticks().ticked.connect(self._on_tick)
        self.actions_of_page.changed.connect(self._refresher.now)
        self._follow()

    def _build(self) -> None:
        acts = self.actions_of_page
        self.run_button = Button(N_("Run now"), icon="ph.play", kind="ghost")
        self.skip_button = Button(N_("Skip next"), icon="ph.skip-forward", kind="ghost")
        self.switch_button = Button(N_("Disable"), icon="ph.power", kind="ghost")
        self.remove_button = Button(N_("Remove"), icon="ph.trash", kind="ghostdanger")
        self.edit_button = Button(N_("Edit"), icon="ph.pencil-simple", kind="ghost")
        for button, act in (
            (self.edit_button, self._edit),
            (self.run_button, acts.run),
            (self.skip_button, acts.skip),
            (self.switch_button, acts.switch),
            (self.remove_button, acts.remove),
        ):
            button.clicked.connect(self._on_current(act))
            self.header.add_action(button)
        self.new_button = Button(N_("New schedule"), icon="ph.plus", kind="primary")
        self.new_button.clicked.connect(self._on_new)
        self.header.add_action(self.new_button)
        self.table = TableView(self._model, name=N_("Schedules"))
        self.table.current_changed.connect(self._follow)
        self.table.open_requested.connect(self._open_tasks)
        self.table.menu_requested.connect(self._fill_menu)
        self.empty = EmptyState(
            N_("Nothing repeats yet."),
            N_("A schedule makes the same task for many shops, again and again at its times."),
            N_("New schedule"),
            icon="ph.calendar-check",
        )
        self.empty.action.connect(self._on_new)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.table)
        self.stack.addWidget(self.empty)
        self.late = Strip("warning")
        self.start_button = Button(way.VERBS["start_worker"], icon="ph.play", small=True)
        self.start_button.clicked.connect(lambda: self._context.way_out("start_worker", ""))
        self.late.add_action(self.start_button)
        self.late.hide()
        self.body.addWidget(self.late)
        self.body.addWidget(self.stack, 1)
        self._unknown = self.covered(self.stack)

    def activate(self) -> None:
        """Ask now and then."""
        self._refresher.start()

    def deactivate(self) -> None:
        """Ask no more."""
        self._refresher.stop()

    def refresh(self) -> None:
        """Ask at once."""
        self._refresher.now()

    def set_acting(self, reason: str) -> None:
        """Change nothing while that is not allowed."""
        self._forbidden = reason
        self._follow()

    def show_request(self, request: object) -> None:
        """Put the cursor on a schedule."""
        self.table.set_current_key(str(request))

    def retranslate(self) -> None:
        """Say everything again."""
        super().retranslate()
        self._say()

    def current(self) -> ScheduleRow | None:
        """The schedule under the cursor."""
        return self._find(self.table.current_key())

    def _find(self, key: object) -> ScheduleRow | None:
        return next((row for row in self._rows if row.schedule.name == key), None)

    def _show(self, rows: tuple[ScheduleRow, ...]) -> None:
        self._unknown.answer()
        self._rows = rows
        self._model.apply(rows)
        if rows and self.table.current_key() is None:
            self.table.set_current_key(rows[0].schedule.name)
        self._say()

    def _say_why(self) -> None:
        """Say why runs are late, with the way out."""
        why = words.why_late(self._rows, instant.now_ms())
        leaderless = any(insight.leaderless(row.now) for row in self._rows)
        self.start_button.setVisible(leaderless)
        self.start_button.disable(self._forbidden)
        # one filled button: what makes up for what is late, before anything new
        row = self.current()
        late = bool(why) and not leaderless and row is not None and bool(words.why_late((row,), instant.now_ms()))
        self.start_button.set_kind("primary" if leaderless else "plain")
        self.run_button.set_kind("primary" if late else "ghost")
        self.new_button.set_kind("plain" if leaderless or late else "primary")
        self.late.show_text(why)
        self.late.setVisible(bool(why))

    def _on_tick(self) -> None:
        """Say again how far away the next run is."""
        if self._refresher.active:
            self.set_summary(words.summary(self._rows, instant.now_ms()))

    def _say(self) -> None:
        self.stack.setCurrentWidget(self.table if self._rows else self.empty)
        self.set_summary(words.summary(self._rows, instant.now_ms()))
        self._follow()

    def _follow(self, _key: object = None) -> None:
        self._say_why()
        row = self.current()
        none = self._forbidden or ("" if row is not None else _("Choose a schedule first"))
        for button in (self.new_button, self.empty.button):
            button.disable(self._forbidden)
        for button in (self.edit_button, self.run_button, self.switch_button, self.remove_button):
            button.disable(none)
        idle = row is not None and not row.upcoming
        self.skip_button.disable(none or (_("It has no next run") if idle else ""))
        disabled = row is not None and not row.schedule.enabled
        self.switch_button.set_source(N_("Enable") if disabled else N_("Disable"))

    def _on_current(self, act: Callable[[ScheduleRow], None]) -> Callable[[], None]:
        def go() -> None:
            row = self.current()
            if row is not None:
                act(row)

        return go

    def _on_new(self) -> None:
        self._open_dialog(None)

    def _edit(self, row: ScheduleRow) -> None:
        self._open_dialog(row)

    def _open_dialog(self, row: ScheduleRow | None) -> None:
        dialog = ScheduleDialog(self._context, row, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.saved.connect(self._refresher.now)
        dialog.open()

    def _open_tasks(self, key: object) -> None:
        """The tasks of its last run."""
        row = self._find(key)
        if row is not None and row.planned.last is not None:
            terms = (equals("batch", row.planned.last.label),)
            self.navigate.emit("tasks", filter.format_terms(terms))

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        row, acts = self._find(key), self.actions_of_page
        if row is None:
            return
        tasks = menu.addAction(_("Tasks of the last run"), lambda: self._open_tasks(key))
        tasks.setEnabled(row.planned.last is not None)
        menu.addAction(_("Who did what to it"), lambda: self.navigate.emit("audit", f'target:"{key}"'))
        barred = self._forbidden
        offer(menu, _("Edit"), lambda: self._edit(row), barred)
        offer(menu, _("Run now"), lambda: acts.run(row), barred)
        idle = "" if row.upcoming else _("It has no next run")
        offer(menu, _("Skip next"), lambda: acts.skip(row), barred or idle)
        offer(menu, _("Disable") if row.schedule.enabled else _("Enable"), lambda: acts.switch(row), barred)
        offer(menu, _("Remove"), lambda: acts.remove(row), barred)
