"""The Dead letters page: causes, the letters of one cause, and one letter with its message to correct."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget

from services.domain.gates import paused
from services.domain.insight.shop import ShopNow
from services.domain.task import filter
from services.domain.task.query import equals
from services.domain.task.status import Triage
from services.i18n import N_
from services.messages import told
from services.monitor.live import Snapshot
from views.context import PageContext
from views.page import Page
from views.pages.dead_letters import words
from views.pages.dead_letters.asking import Asker, Grouped, Listing, Wanted
from views.pages.dead_letters.broken_run import BrokenRun
from views.pages.dead_letters.causes import ordered
from views.pages.dead_letters.detail import LetterPanel
from views.pages.dead_letters.panes import CausePane, LetterPane
from views.pages.dead_letters.rows import COLUMNS, LetterRow, sentence
from views.pages.dead_letters.run_strip import RunStrip
from views.pages.dead_letters.verbs import Verbs
from views.support import instant, text
from views.support.words.rows import News
from views.tables.record_model import RecordModel
from views.tables.task_columns import task_id
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip

STATES = (
    (Triage.OPEN, N_("Open")),
    (Triage.IGNORED, N_("Ignored")),
    (Triage.ARCHIVED, N_("Archived")),
    (Triage.OVERTAKEN, N_("Overtaken")),
)
#: so many that are on their way again are shown by their ids
SHOWN = 50
#: widths of the outer panes
WIDE = 1300
CAUSES, CAUSES_NARROW, PANEL, PANEL_NARROW = 330, 250, 484, 440


class DeadLettersPage(Page):
    """What nobody could finish, and what a person does about it."""

    page_id = "dead_letters"

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Dead letters"))
        self._context = context
        self._grouped: Grouped | None = None
        self._total, self._answered = 0, 0
        self._wish = ""
        self._moved = False
        self._asker = Asker(context, self)
        self._model: RecordModel[LetterRow] = RecordModel(COLUMNS, key=task_id, tickable=True, sentence=sentence)
        self.verbs = Verbs(context, self._model, self)
        self._build()
        self._connect()
        self._show_bar()

    # the page

    def activate(self) -> None:
        """Follow the feed."""
        self._asker.set_active(True)
        self.broken.look()

    def deactivate(self) -> None:
        """Stop following."""
        self._asker.set_active(False)

    def refresh(self) -> None:
        """Ask again and put everything in order."""
        self._asker.again()
        self.panel.refresh()

    def set_acting(self, reason: str) -> None:
        """Decide nothing while that is not allowed; looking, copying and typing go on."""
        self.verbs.set_acting(reason)

    def show_request(self, request: object) -> None:
        """Show the cause with this fingerprint."""
        if isinstance(request, str) and request:
            self._wish = request.removeprefix("fp:")
            self.states.set_current(Triage.OPEN)
            self._unknown.ask(Triage.OPEN)
            self._unknown_letters.ask((Triage.OPEN, self._wish))
            self._asker.ask(replace(self._asker.wanted, triage=Triage.OPEN, cause=self._wish))
            self._asker.ask_causes(Triage.OPEN)

    def retranslate(self) -> None:
        """Say headings and counts again."""
        super().retranslate()
        self._say()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width until a person moved a divider."""
        super().resizeEvent(event)
        if not self._moved:
            width = self.width()
            side = PANEL if width >= WIDE else PANEL_NARROW
            causes = CAUSES if width >= WIDE else CAUSES_NARROW
            self._split.setSizes([causes, max(300, width - side - causes), side])

    # putting together

    def _build(self) -> None:
        self.states = Segmented(STATES, N_("Which dead letters"))
        self.header.add_action(self.states)
        self.header.set_divider(True)
        self.error = ErrorStrip()
        self.run_strip = RunStrip(self.verbs.actions.runner)
        self.broken = BrokenRun(self._context)
        self.runs_button = Button(N_("Runs"), kind="ghost", icon="ph.clock-counter-clockwise")
        self.header.add_action(self.runs_button)
        for strip in (self.error, self.run_strip, self.broken):
            self.body.addWidget(strip)
        self.empty = EmptyState(N_("No dead letters."), icon="ph.check-circle")
        self.panel = LetterPanel(self._context)
        self.panel.setMinimumWidth(400)
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._pane = CausePane()
        self.letters = LetterPane(self._model)
        self.causes, self.table, self.bar = self._pane.causes, self.letters.table, self.letters.bar
        self._split.addWidget(self._pane)
        self._split.addWidget(self.letters)
        self._split.addWidget(self.panel)
        for place, stretch in enumerate((0, 1, 0)):
            self._split.setStretchFactor(place, stretch)
            self._split.setCollapsible(place, False)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._split)
        self._stack.addWidget(self.empty)
        self.body.addWidget(self._stack, 1)
        self._unknown, self._unknown_letters = self.covered(self._stack), self.covered(self.letters)
        self._unknown.ask(Triage.OPEN)

    def _connect(self) -> None:
        # asking
        self.states.chosen.connect(self._on_state)
        self.causes.chosen.connect(self._on_cause)
        self._pane.order_chosen.connect(self._order_by)
        self.error.retry.connect(self.refresh)
        self._model.sort_requested.connect(self._on_sort)
        self.table.near_end.connect(self._asker.more)
        # answers
        self._asker.grouped.connect(self._show_causes)
        self._asker.listed.connect(self._show_letters)
        self._asker.failed.connect(self._show_error)
        self._context.feed.changed.connect(self._asker.on_changes)
        self._context.feed.looked.connect(self._on_looked)
        self.broken.wanted.connect(self.verbs.show_runs)
        self.broken.found.connect(self._show_bar)
        self.run_strip.wanted.connect(self.verbs.show_runs)
        self.runs_button.clicked.connect(self.verbs.show_runs)
        self.verbs.actions.runner.changed.connect(self.broken.look)
        # choosing
        self._split.splitterMoved.connect(self._on_moved)
        self.table.current_changed.connect(self._on_letter)
        self.panel.step_wanted.connect(self._step)
        self._model.ticked_changed.connect(self._show_bar)
        self._model.pending_changed.connect(self._show_bar)
        # acting
        self.verbs.connect_panes(self._pane, self.letters, self.panel, lambda: self._asker.wanted)
        self.verbs.acted.connect(self.panel.refresh)
        self.verbs.causes_changed.connect(self.refresh)
        self.verbs.tasks_wanted.connect(partial(self.navigate.emit, "tasks"))
        self.empty.action.connect(self._on_again)
        self.verbs.shop_wanted.connect(partial(self.navigate.emit, "shops"))

    # answers

    def _show_causes(self, grouped: Grouped) -> None:
        self.error.clear()
        self._unknown.answer(grouped.triage)
        self._grouped = grouped
        self.panel.set_types(grouped.types)
        rows = ordered(grouped.causes.rows, self._pane.order)
        before = self.causes.current()
        self.causes.causes.apply(rows, settle=grouped.settle)
        self._stack.setCurrentWidget(self._split if rows or self._model.rowCount() else self.empty)
        wish, self._wish = self._wish, ""
        if not (wish and self.causes.choose(wish)) and not (before and self.causes.choose(before)) and rows:
            self.causes.choose(str(rows[0].fingerprint))
        self._say()
        self.refreshed.emit()

    def _show_letters(self, listing: Listing) -> None:
        if listing.wanted.cause != self._asker.wanted.cause or listing.wanted.triage != self._asker.wanted.triage:
            return
        self.error.clear()
        self._unknown_letters.answer((listing.wanted.triage, listing.wanted.cause))
        self._total = listing.total if listing.total is not None else len(listing.rows)
        self._answered = len(listing.rows)
        self._model.apply(listing.rows, settle=listing.settle)
        if self.table.current_key() is None and self._model.rowCount():
            self.table.set_current_key(self._model.key_at(0))
        elif self.panel.task_id:
            self.panel.refresh()
        self._show_shop()
        self._say()
        self.refreshed.emit()

    def _show_error(self, error: BaseException) -> None:
        self.error.show_error(told(error))

    def _on_looked(self, snapshot: Snapshot) -> None:
        if self.isVisible():
            for key, _title in STATES:
                self.states.set_suffix(key, text.compact(snapshot.counts.triage.get(key, 0)))
            self._say_summary()
            self._know_pauses()

    # choosing

    def _on_moved(self) -> None:
        self._moved = True

    def _on_state(self, triage: str) -> None:
        self._model.clear()
        self.panel.clear()
        self.causes.causes.clear()
        self._unknown.ask(triage)
        self._asker.ask(Wanted(triage=triage))
        self._asker.ask_causes(triage)

    def _on_cause(self, fingerprint: str) -> None:
        if fingerprint and fingerprint != self._asker.wanted.cause:
            self._model.clear()
            self._unknown_letters.ask((self.states.current(), fingerprint))
            self._asker.ask(Wanted(triage=self.states.current(), cause=fingerprint))
        self._say()

    def _on_sort(self, sorts: tuple[tuple[str, bool], ...]) -> None:
        self._asker.ask(replace(self._asker.wanted, descending=sorts[0][1] if sorts else True))

    def _on_letter(self, key: object) -> None:
        if key is not None:
            self.panel.show_letter(str(key))
            self._show_shop()

    def _on_again(self) -> None:
        if self._grouped is not None and self._grouped.again:
            ids = [task.task_id for task in self._grouped.again[:SHOWN]]
            self.navigate.emit("tasks", filter.format_terms((equals("id", *ids),)))

    def _show_shop(self) -> None:
        row = self._model.find(self.panel.task_id)
        self.panel.show_shop(row.now if row is not None else ShopNow())

    def _step(self, by: int) -> None:
        row = self.table.currentIndex().row() + by
        if 0 <= row < self._model.rowCount():
            self.table.set_current_key(self._model.key_at(row))

    def _order_by(self, sort: str) -> None:
        if self._grouped is not None:
            self.causes.causes.apply(ordered(self._grouped.causes.rows, sort), settle=True)
        self._say()

    # words

    def _say(self) -> None:
        wanted = self._asker.wanted
        self._know_pauses()
        self.letters.show_cause(self.causes.causes.find(wanted.cause), is_open=wanted.triage == Triage.OPEN)
        self._say_summary()
        self._show_bar()

    def _know_pauses(self) -> None:
        pauses = self._context.feed.latest.pauses
        self.letters.know_pauses({one.scope for one in pauses if one.gate == paused.GATE})

    def _say_summary(self) -> None:
        if self._grouped is not None:
            is_open = self.states.current() == Triage.OPEN
            causes = self._grouped.causes
            number = self._context.feed.latest.counts.triage.get(self._grouped.triage)
            again = self._grouped.again
            summary = words.summary(causes, self._grouped.closed_at, instant.now_ms(), number, again)
            hint = N_("A task that failed for good waits here for a person.") if is_open else ""
            hint = words.on_their_way(again) if again else hint
            verb = N_("Show them") if again else ""
            icon = "ph.hourglass-medium" if again else "ph.check-circle"
            self.empty.set_texts(summary if is_open else N_("Nothing here."), hint, verb, icon)
            self.set_summary(summary if is_open or causes.rows else "")

    def _show_bar(self) -> None:
        ticked = len(self._model.ticked())
        self.bar.show_state(
            ticked=ticked,
            loaded=self._model.rowCount(),
            total=max(self._total, self._model.rowCount()),
            news=News(self._model.pending, self._answered, self._total > self._answered),
            triage=self._asker.wanted.triage,
            refused=self.verbs.refused(map(str, self._model.ticked())),
        )
        # what was sent is looked at before anything else is
        self.broken.set_leading(not ticked)
        modest = bool(ticked) or self.broken.asks
        self.letters.set_leading(not modest)
        self.panel.yield_primary(modest or self.letters.asks)
