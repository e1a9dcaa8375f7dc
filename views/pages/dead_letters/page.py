"""The Dead letters page: causes, the letters of one cause, and one letter with its message to correct."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QMenu, QSplitter, QWidget

from services.called import TRIAGE_WORDS
from services.commands.bulk.republish import RunView
from services.domain.errors import UsageError
from services.domain.gates import paused
from services.domain.insight.shop import ShopNow
from services.domain.task import classify
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import Total, equals
from services.domain.task.status import Triage
from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.letters.fitting import NAMES
from services.monitor.live import Snapshot
from views.context import PageContext
from views.dialogs.republish.runner import BulkRunner
from views.dialogs.republish.runs import RunsDialog
from views.dialogs.republish.telling import detail, headline
from views.kit.filter_choices import FilterChoices, some_of
from views.kit.verb import Verbs
from views.page import Page, PageCommand
from views.pages.dead_letters import words
from views.pages.dead_letters.causes import ordered
from views.pages.dead_letters.lists import CausePane, LetterPane
from views.pages.dead_letters.panel import LetterPanel
from views.pages.dead_letters.table import (
    COLUMNS,
    Asker,
    Grouped,
    LetterRow,
    Listing,
    Wanted,
    count_within,
    each_of,
    ids_of,
    sentence,
)
from views.pages.dead_letters.verbs import (
    CAUSE_VERBS,
    REPORT,
    VERBS,
    CauseActions,
    CauseVerb,
    LetterActions,
    Letters,
    LetterVerb,
    OfCause,
)
from views.support import instant, safe, text
from views.support.keys import bind
from views.support.language import on_language_changed
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.support.words import verdicts
from views.support.words.rows import News
from views.tables.record_model import RecordModel
from views.tables.task_columns import task_id
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.filter.bar import FilterBar, FilterField
from views.widgets.layout import stacked
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip, Strip

STATES = tuple((one, TRIAGE_WORDS[one]) for one in (Triage.OPEN, Triage.IGNORED, Triage.ARCHIVED, Triage.OVERTAKEN))
#: so many that are on their way again are shown by their ids
SHOWN = 50
#: widths of the outer panes
WIDE = 1300
CAUSES, CAUSES_NARROW, PANEL = 330, 250, 440
#: where they are kept, and how soon after a divider was moved
WIDTHS, KEEP_MS = "dead_letters.widths", 400
FIELDS = (*some_of("type", "platform", "shop", "group"), FilterField("owner", N_("Who is at it")), *some_of("error"))
KEPT = "dead_letters.filter"
#: where both are told what is shown: the cause stands first
OF_CAUSE = "fp:"
#: of the letters so that every column is whole, and of the panel as far as a person may shrink it, and a small screen
LETTERS, PANEL_LEAST, NARROWEST = 350, 320, 240


#: columns of letters by whose cells they can be filtered
FILTERED: dict[str, Callable[[Task], str]] = {
    "type": lambda task: task.task_type,
    "shop": lambda task: task.shop,
    "platform": lambda task: task.platform,
}


def is_cause(asked: str) -> bool:
    """Whether this names a cause: its fingerprint, or its kind where it has none."""
    return asked in (*classify.KINDS, classify.UNKNOWN) or re.fullmatch("[0-9a-f]{16}", asked) is not None


def _whose(wanted: Wanted) -> Wanted:
    """Which letters, in whatever order."""
    return replace(wanted, descending=True)


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
        kept = context.memory.get(WIDTHS, [])
        whole = isinstance(kept, list) and len(kept) == 3 and all(isinstance(one, int) and one > 0 for one in kept)
        self._kept: list[int] = kept if whole else []
        self._keep_widths = Debounce(lambda: context.memory.put(WIDTHS, self._split.sizes()), KEEP_MS, self)
        self._model: RecordModel[LetterRow] = RecordModel(COLUMNS, key=task_id, tickable=True, sentence=sentence)
        self._model.set_usual(("updated", True))
        kept_filter = str(context.memory.get(context.own(KEPT), ""))
        self._asker = Asker(context, lambda: (row.key for row in self._model.records()), self, kept_filter)
        self._forbidden, self._copied = "", ""  # the latter: the cause whose report is on the clipboard
        self._problem = ""  #: why what was asked for last is not there
        self._all = Operation(self, latest=True)
        self.actions_of_page = LetterActions(context, self)
        self._whole = CauseActions(context, self.actions_of_page, self)
        self.verbs: Verbs[LetterVerb, Letters] = Verbs(VERBS, self._do, self._barred)
        self.cause_verbs: Verbs[CauseVerb, OfCause] = Verbs(CAUSE_VERBS, self._do_whole, self._barred_whole)
        self.make(self._build, self._connect, self._show_bar)

    # the page

    def activate(self) -> None:
        """Follow the feed."""
        self._choices.refresh()
        self._asker.set_active(True)
        self.panel.success.set_active(True)
        self.broken.look()

    def deactivate(self) -> None:
        """Stop following."""
        self._asker.set_active(False)
        self.panel.success.set_active(False)

    def refresh(self) -> None:
        """Ask again and put everything in order."""
        self._asker.again()
        self.panel.refresh()
        self.panel.success.show_letter(self.panel.success.task_id, again=True)

    def catch_up(self) -> None:
        """Ask again and leave everything where it is: somebody may read."""
        self._asker.catch_up()
        self.panel.refresh()
        self.panel.success.show_letter(self.panel.success.task_id, again=True)

    def set_acting(self, reason: str) -> None:
        """Decide nothing while that is not allowed; looking, copying and typing go on, and a run can be stopped."""
        self._forbidden = reason
        self._say()

    def commands(self) -> Sequence[PageCommand]:
        """What the palette offers: what can be done about the letters that are ticked, else about the one in the panel,
        and about their cause.
        """
        ticked = self.ticked()
        letters = ticked if ticked.ids else self.panel.letters()
        number = ngettext("{n} task", "{n} tasks", len(letters.ids)).format(n=text.count(len(letters.ids)))
        found = self.verbs.commands("dead_letters", letters, number if letters.ids else "")
        of = self.about(self._asker.wanted.cause)
        if of is not None:
            found += self.cause_verbs.commands("dead_letters.cause", of, words.heading(of.cause))
        export = PageCommand(key="dead_letters.export", words=_("Export"), icon="ph.export", run=self.ask_export)
        return (*found, export)

    def show_request(self, request: object) -> None:
        """Show the cause with this fingerprint among all, or what fits a filter; ``fp:``, a fingerprint and a filter:
        that cause among what fits.
        """
        asked = str(request or "")
        cause, _space, filtered = asked.partition(" ")
        if not asked.startswith(OF_CAUSE) and (filtered or not is_cause(cause)):
            cause, filtered = "", asked
        self.filter.set_expression(filtered)
        self._wish = cause.removeprefix(OF_CAUSE)
        self.states.set_current(Triage.OPEN)
        if self._asker.wanted.triage != Triage.OPEN:
            self._forget(Triage.OPEN)
        if self._wish and not filtered:
            self._ask_letters(self._of(Triage.OPEN, self._wish))
        self._ask_causes(Triage.OPEN, filtered)

    def shown_request(self) -> str:
        """The cause that is open, and the filter."""
        cause, filtered = self._asker.wanted.cause, self.filter.expression()
        return f"{OF_CAUSE}{cause} {filtered}" if filtered else cause

    def filter_shown(self) -> str:
        """The filter."""
        return self.filter.expression()

    def panes(self) -> Sequence[QWidget]:
        """Filter, causes, letters, panel."""
        return (self.filter, self.causes, self.table, self.panel)

    def pointed(self) -> tuple[str, str]:
        """Shop and type of the letter in the panel."""
        task = self.panel.task
        return (task.shop, task.task_type) if task is not None else ("", "")

    def retranslate(self) -> None:
        """Say headings and counts again."""
        super().retranslate()
        self._choices.retranslate()
        self._say()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width until a person moved a divider, as they left it where they moved one before."""
        super().resizeEvent(event)
        # where even that is too wide the panel gives way, so that no pane lies below another
        others = self._pane.minimumWidth() + self.letters.minimumWidth() + 2 * self._split.handleWidth()
        self.panel.setMinimumWidth(max(NARROWEST, min(PANEL_LEAST, self.width() - others)))
        if self._kept and not self._moved:
            self._split.setSizes(self._kept)
        elif not self._moved:
            width = self.width()
            causes = CAUSES if width >= WIDE else CAUSES_NARROW
            # where all is narrow the letters keep their columns, and no pane lies beyond the edge
            side = min(PANEL, max(self.panel.minimumWidth(), width - causes - LETTERS))
            causes = min(causes, width - side - LETTERS)
            self._split.setSizes([causes, width - side - causes, side])

    # putting together

    def _build(self) -> Iterator[None]:
        self.states = Segmented(STATES, N_("Which dead letters"))
        self.header.add_action(self.states)
        self.runs_button = Button(N_("Runs"), kind="ghost", icon="ph.clock-counter-clockwise")
        self.export_button = Button(N_("Export"), icon="ph.export")
        for button in (self.runs_button, self.export_button):
            self.header.add_action(button)
        self.header.set_divider(True)
        yield
        words_of_it = N_("Cause, id, shop or error")
        self.filter = FilterBar(FIELDS, placeholder=words_of_it, offers=len(FIELDS), names=NAMES)
        self.filter.remember(self._context.memory, self._context.own(KEPT))
        self._choices = FilterChoices(self._context, self.filter, self, FIELDS, self._within)
        self.body.addWidget(self.filter)
        yield
        self.error = ErrorStrip()
        self.run_strip = RunStrip(self.actions_of_page.runner)
        self.broken = BrokenRun(self._context, self.actions_of_page.runner)
        for strip in (self.error, self.run_strip, self.broken):
            self.body.addWidget(strip)
        yield
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self.empty = EmptyState(N_("No dead letters."), icon="ph.check-circle")
        self._stack = stacked(self._split, self.empty)
        self.body.addWidget(self._stack, 1)
        yield
        self._pane = CausePane()
        self._split.addWidget(self._pane)
        yield
        self.letters = LetterPane(self._model, self.verbs, self.cause_verbs)
        self.causes, self.table, self.bar = self._pane.causes, self.letters.table, self.letters.bar
        self.table.filterable = lambda _key, column: column in FILTERED
        self._split.addWidget(self.letters)
        yield
        self.panel = LetterPanel(self._context, self.verbs, self.cause_verbs)
        self.panel.setMinimumWidth(PANEL_LEAST)
        self._split.addWidget(self.panel)
        yield from self.panel.build()
        for place, stretch in enumerate((0, 1, 0)):
            self._split.setStretchFactor(place, stretch)
            self._split.setCollapsible(place, False)
        yield
        self._unknown = self.covered(self._stack)
        self._unknown_letters = self.covered(self.letters, self._unknown)
        self._unknown.ask((Triage.OPEN, self._asker.filtered))

    def _connect(self) -> None:
        # asking
        self.states.chosen.connect(self._on_state)
        self.filter.changed.connect(self._on_filter)
        bind(self, {"Esc": self._on_escape})
        self.table.filter_requested.connect(self._filter_by)
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
        self._context.feed.changed.connect(self.panel.success.follow)
        self._context.feed.looked.connect(self._on_looked)
        self.broken.wanted.connect(self.show_runs)
        self.broken.found.connect(self._show_bar)
        self.run_strip.wanted.connect(self.show_runs)
        self.runs_button.clicked.connect(self.show_runs)
        self.export_button.clicked.connect(self.ask_export)
        self.actions_of_page.runner.changed.connect(self.broken.look)
        # choosing
        self._split.splitterMoved.connect(self._on_moved)
        self.table.current_changed.connect(self._on_letter)
        self.table.open_requested.connect(lambda _key: self.panel.take_focus())
        self.panel.step_wanted.connect(self._step)
        self.panel.left.connect(self.table.setFocus)
        self._model.ticked_changed.connect(self._show_bar)
        self._model.pending_changed.connect(self._show_bar)
        # acting
        self.table.menu_requested.connect(self._fill_menu)
        self.bar.all_wanted.connect(self._tick_all)
        self.bar.clear_wanted.connect(self._untick)
        self.bar.new_rows_wanted.connect(self._model.show_new)
        self.letters.menu_wanted.connect(lambda place: self._open_cause_menu(self._asker.wanted.cause, place))
        self.causes.menu_wanted.connect(self._open_cause_menu)
        self.panel.editor.reveal_wanted.connect(self._on_reveal)
        self.panel.editor.changed.connect(self._show_bar)
        self.panel.task_wanted.connect(self._open_task)
        acts = self.actions_of_page
        acts.acted.connect(self.panel.refresh)
        acts.tasks_wanted.connect(partial(self.navigate.emit, "tasks"))
        acts.runs_wanted.connect(self.show_runs)
        self._whole.acted.connect(self.refresh)
        self._whole.shop_wanted.connect(partial(self.navigate.emit, "shops"))
        self.empty.action.connect(self._on_again)

    # answers

    def _within(self, rest: str, field: str, values: Sequence[str]) -> Callable[[], Mapping[str, Total]]:
        return partial(count_within, self._context, self.states.current(), rest, field, values)

    def _show_causes(self, grouped: Grouped) -> None:
        self.error.clear()
        self.filter.clear_problem()
        self._problem = ""
        self._unknown.answer((grouped.triage, grouped.filtered))
        self._grouped = grouped
        self.panel.set_types(grouped.types)
        self._choices.offer("owner", grouped.owners)
        rows = ordered(grouped.causes.rows, self._pane.order)
        before = self.causes.current()
        self.causes.causes.apply(rows, settle=grouped.settle)
        if grouped.settle and grouped.filtered and not rows:  # what stands there fits no more
            self._leave_letters()
            self.panel.clear()
            self._asker.ask(Wanted(triage=grouped.triage))
        self._stack.setCurrentWidget(self._split if rows or self._model.rowCount() else self.empty)
        wish, self._wish = self._wish, ""
        if not (wish and self.causes.choose(wish)) and not (before and self.causes.choose(before)) and rows:
            self.causes.choose(str(rows[0].fingerprint))
        self._ask_anew()
        self._say()
        self.refreshed.emit()

    def _show_letters(self, listing: Listing) -> None:
        self.error.clear()
        if not self._unknown_letters.known:
            self._untick()  # of the rows that stood there until now
        self._unknown_letters.answer(_whose(listing.wanted))
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
        self._problem = told(error)
        self.load_failed()
        refused = isinstance(error, UsageError) and error.field == "filter"
        if refused:
            self.filter.show_problem(self._problem)
        else:
            self.error.show_error(self._problem)
        if not self.anything_known:
            said = N_("What this filter means is not known."), N_("Change or clear the filters.")
            self.empty.set_texts(*said, N_("Clear filters"), "ph.file-x")
            self._stack.setCurrentWidget(self.empty if refused else self._split)
        self._say()

    def _on_looked(self, snapshot: Snapshot) -> None:
        self._asker.on_looked(snapshot)
        if self.isVisible():
            for key, _title in STATES:
                self.states.set_suffix(key, text.compact(snapshot.counts.triage.get(key, 0)))
            self._say_summary()
            self._show_pauses()

    # choosing

    def _on_moved(self) -> None:
        self._moved = True
        self._keep_widths()

    def _leave_letters(self) -> None:
        """Others come: what stands here is ticked no more, nor is what would have been in a moment."""
        self._all.drop()
        self._model.clear()

    def _forget(self, triage: str) -> None:
        """Letters of another state come: nothing that stands here is among them."""
        self._leave_letters()
        self.panel.clear()
        self.causes.causes.clear()
        self._asker.ask(Wanted(triage=triage, descending=self._asker.wanted.descending))

    def _on_state(self, triage: str) -> None:
        self._forget(triage)
        self._ask_causes(triage, self._asker.filtered)

    def _on_filter(self, expression: str) -> None:
        self._ask_causes(self.states.current(), expression)

    def _ask_causes(self, triage: str, filtered: str) -> None:
        self._untick()  # nothing is decided about what may be out of sight in a moment
        self._problem = ""
        self._unknown.ask((triage, filtered))
        nothing = self._stack.currentWidget() is self.empty or not self.causes.causes.rowCount()
        if nothing and not self._unknown.known:
            self._grouped = None  # that there is none would be of what was asked before
            self._unknown.forget()
        self._asker.ask_causes(triage, filtered)
        self._say()

    def _ask_letters(self, wanted: Wanted) -> None:
        """In the order that the table has."""
        self._untick()
        self._unknown_letters.ask(_whose(wanted))
        self._asker.ask(replace(wanted, descending=self._asker.wanted.descending))

    def _on_escape(self) -> None:
        """Leave the letter for the list, then clear the selection, then the filter."""
        focus = QApplication.focusWidget()
        if focus is not None and self.panel.isAncestorOf(focus):
            self.table.setFocus()
        elif self._model.ticked():
            self._untick()
        else:
            self.filter.clear()

    def _filter_by(self, column: str, include: bool) -> None:
        row = self._model.find(str(self.table.current_key()))
        if row is not None:
            self.filter.add_value(column, FILTERED[column](row.task), include=include)

    def _on_cause(self, fingerprint: str) -> None:
        if fingerprint and fingerprint != self._asker.wanted.cause:
            self._leave_letters()
            self._ask_letters(self._of(self.states.current(), fingerprint))
        self._say()

    def _on_sort(self, sorts: tuple[tuple[str, bool], ...]) -> None:
        self._asker.ask(replace(self._asker.wanted, descending=sorts[0][1] if sorts else True))

    def _on_letter(self, key: object) -> None:
        if key is not None:
            self._asker.read(str(key))
            self.panel.show_letter(str(key))
            self._show_shop()

    def _on_again(self) -> None:
        if self._asker.filtered:
            self.filter.clear()
        elif self._grouped is not None and self._grouped.again:
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

    # acting

    def ticked(self) -> Letters:
        """The letters that are ticked; once something is decided about them, they are ticked no more."""
        return self._letters(tuple(map(str, self._model.ticked_in_order())), self._model.untick_all)

    def about(self, fingerprint: str) -> OfCause | None:
        """A cause as verbs take it."""
        cause, wanted = self.causes.causes.find(fingerprint), self._asker.wanted
        if cause is None:
            return None
        shown = wanted.cause == fingerprint
        return OfCause(
            cause=cause,
            wanted=wanted if shown else self._of(wanted.triage, fingerprint),
            paused=frozenset(one.scope for one in self._context.feed.latest.pauses if one.gate == paused.GATE),
            example=self._model.record(0).task if shown and self._model.rowCount() else None,
            copied=self._copied == fingerprint,
            others=tuple(
                one
                for one in self.causes.causes.records()
                if one.fingerprint != fingerprint and words.has_print(one) and not one.rule.where
            ),
        )

    def _of(self, triage: str, fingerprint: str) -> Wanted:
        """The letters of a cause, with those of what counts to it."""
        known = self.causes.causes.find(fingerprint)
        if known is None:
            return Wanted(triage=triage, cause=fingerprint)
        prints = known.prints if known.prints != (fingerprint,) else ()
        places, filtered = known.terms[1:], known.filtered
        return Wanted(triage=triage, cause=fingerprint, prints=prints, places=places, filtered=filtered)

    def _ask_anew(self) -> None:
        """What counts to the cause that is open has changed, or was not known when it was asked for."""
        wanted = self._asker.wanted
        if self.causes.causes.find(wanted.cause) is not None:
            now = self._of(wanted.triage, wanted.cause)
            if now != _whose(wanted):
                self._ask_letters(now)

    def ask_export(self) -> None:
        """Write to a file what is ticked, else all that the page shows, of every cause."""
        queries, ids = self._context.tasks, self.ticked().ids
        self.actions_of_page.ask_export(
            partial(queries.each_of, ids) if ids else partial(each_of, queries, self._all_shown())
        )

    def _all_shown(self) -> Sequence[Wanted]:
        triage, rows = self.states.current(), self.causes.causes
        if not self._asker.filtered:
            return (Wanted(triage=triage),)
        return tuple(self._of(triage, rows.record(place).fingerprint) for place in range(rows.rowCount()))

    def show_runs(self) -> None:
        """Show what became of the bulk runs, the newest first."""
        runner = self.actions_of_page.runner
        dialog = RunsDialog(
            lambda: self._context.commands.bulk, self._context.shops, runner, self._forbidden, parent=self
        )
        dialog.tasks_wanted.connect(partial(self.navigate.emit, "tasks"))
        dialog.finished.connect(lambda _result: self.panel.refresh())
        dialog.open()

    def _letters(self, ids: tuple[str, ...], then: Callable[[], None]) -> Letters:
        cause = self.causes.causes.find(self._asker.wanted.cause)
        return Letters(
            ids=ids,
            state=self._asker.wanted.triage,
            note=self.letters.title(),
            worth=cause.worth if cause is not None else None,
            refused=lambda: verdicts.barred(
                row.refusal if row is not None else None for row in map(self._model.find, ids)
            ),
            then=then,
        )

    def _barred(self, role: str) -> str:
        """Until what was asked for is there, what stands here may be out of sight in a moment."""
        return self._barred_whole(role) or ("" if self._unknown_letters.known else self._problem or _("Loading…"))

    def _barred_whole(self, _role: str) -> str:
        return self._forbidden or ("" if self._unknown.known else self._problem or _("Loading…"))

    def _do(self, verb: LetterVerb, letters: Letters) -> None:
        verb.do(self.actions_of_page, letters)

    def _do_whole(self, verb: CauseVerb, of: OfCause) -> None:
        verb.do(self._whole, of)
        if verb.key == REPORT:
            self._copied = of.cause.fingerprint
            self._say()

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        keys = self._model.ticked_in_order() or [key]
        self.verbs.fill(menu, self._letters(tuple(map(str, keys)), lambda: None))
        menu.addAction(_("Open in Tasks"), partial(self._open_task, str(key)))

    def _open_cause_menu(self, fingerprint: str, place: QPoint) -> None:
        of = self.about(fingerprint)
        if of is not None:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self.cause_verbs.fill(menu, of)
            menu.popup(place)

    def _tick_all(self) -> None:
        self._all.start(partial(ids_of, self._context.tasks, self._asker.wanted), self._model.set_ticked)

    def _untick(self) -> None:
        self._all.drop()
        self._model.untick_all()

    def _on_reveal(self, task_id: str) -> None:
        self.actions_of_page.reveal(task_id, partial(self.panel.editor.reveal, task_id))

    def _open_task(self, task_id: str) -> None:
        self.navigate.emit("tasks", filter.format_terms((equals("id", task_id),)))

    # words

    def _say(self) -> None:
        self.panel.set_acting(self._forbidden)
        self._show_cause(self.about(self._asker.wanted.cause))
        self._say_summary()
        self._show_bar()

    def _show_pauses(self) -> None:
        of = self.about(self._asker.wanted.cause)
        if of != self.letters.of:
            self._show_cause(of)

    def _show_cause(self, of: OfCause | None) -> None:
        self.letters.show_cause(of)
        self.panel.show_cause(of)

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
            if self._grouped.filtered:
                summary = words.match(causes, number)
                said = N_("No dead letter matches."), N_("Change or clear the filters."), N_("Clear filters")
                self.empty.set_texts(*said, "ph.file-x")
            else:
                self.empty.set_texts(summary if is_open else N_("Nothing here."), hint, verb, icon)
            self.set_summary(summary if is_open or causes.rows else "")

    def _show_bar(self) -> None:
        ticked = self.ticked()
        left = self._model.departed
        loaded = self._model.rowCount() - left
        news = News(self._model.pending, self._answered, self._total > self._answered)
        self.bar.show_state(ticked, loaded=loaded, total=max(self._total, loaded), news=news, left=left)
        # what was sent is looked at before anything else is
        self.broken.set_leading(not ticked.ids)
        modest = bool(ticked.ids) or self.broken.asks
        corrected = self.panel.letters().edited  # what was typed is what somebody is at
        self.letters.set_leading(not modest and not corrected)
        self.panel.yield_primary(modest or (self.letters.asks and not corrected))


class BrokenRun(Strip):
    """Signals:
    wanted: show what became of the run.
    found: whether there is one was asked and is known.
    """

    wanted = Signal()
    found = Signal()

    def __init__(self, context: PageContext, runner: BulkRunner) -> None:
        super().__init__("warning")
        self._context, self._runner = context, runner
        self._view: RunView | None = None
        self._asking = Operation(self, latest=True)
        self.button = Button(N_("Look at it"), small=True)
        self.button.clicked.connect(self.wanted)
        self.add_action(self.button)
        on_language_changed(self._say)
        self.hide()

    def look(self) -> None:
        """Ask whether there is one; without an answer the strip stays as it is."""
        self._asking.start(lambda: self._context.commands.bulk.runs(), self._take, lambda _error: None)

    def _take(self, views: list[RunView]) -> None:
        job = self._runner.job
        goes_on = job.run_id if job is not None else ""  # it may have been looked at before it was taken up again
        found = (view for view in views if view.state == "interrupted" and view.entry.run_id != goes_on)
        self._view = next(found, None)
        self._say()
        self.found.emit()

    @property
    def asks(self) -> bool:
        """Whether there is a run to look at."""
        return self._view is not None

    def set_leading(self, leads: bool) -> None:
        """Whether looking at it is what the page asks for: one filled button a view."""
        self.button.set_kind("primary" if leads else "plain")

    def _say(self) -> None:
        view = self._view
        self.setVisible(view is not None)
        if view is not None:
            said = _("{done} of {total} were sent, by {who}; the rest are still dead letters.").format(
                done=text.count(view.entry.done),
                total=text.count(view.entry.total),
                who=safe.one_line(view.entry.who, 60),
            )
            self.show_text(said, _("A republish was interrupted"))


class RunStrip(Strip):
    """Hidden while nothing runs.

    Signals:
        wanted: show what became of each letter so far.
    """

    wanted = Signal()

    def __init__(self, runner: BulkRunner) -> None:
        super().__init__("running")
        self._runner = runner
        self.hand = Button(N_("Pause"), small=True)
        self.stop = Button(N_("Stop"), kind="danger", small=True)
        self.look = Button(N_("Look at it"), small=True)
        self.look.clicked.connect(self.wanted)
        self.add_action(self.look)
        self.add_action(self.hand)
        self.add_action(self.stop)
        self.hand.clicked.connect(self._on_hand)
        self.stop.clicked.connect(runner.stop)
        runner.changed.connect(self._say)
        runner.progressed.connect(self._say)
        on_language_changed(self._say)
        self.hide()

    def _on_hand(self) -> None:
        if self._runner.paused:
            self._runner.resume()
        else:
            self._runner.pause()

    def _say(self) -> None:
        job = self._runner.job
        shown = job is not None and not self._runner.delayed and not job.options.probe_only
        self.setVisible(shown)
        if job is None or not shown:
            return
        paused = self._runner.paused
        self.set_status("paused" if paused else "running")
        self.hand.set_source(N_("Resume") if paused else N_("Pause"))
        said = detail(self._runner.progress) or (_("What is stopped stays a dead letter.") if not paused else "")
        self.show_text(said, headline(job, self._runner.progress))
