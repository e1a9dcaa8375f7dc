"""The Promises page: what was promised of the work of shops, how that stands, and what holds what is not kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QMenu, QWidget

from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, NOT_DUE
from services.domain.promises.promise import Promise
from services.i18n import N_, _
from services.monitor.promises import PromiseQueries, PromiseRow, PromisesNow, PromiseStory
from views.context import PageContext
from views.kit.list_page import ListPage
from views.kit.list_source import Ask, ListSource
from views.kit.verb import Verbs
from views.page import PageCommand
from views.pages.promises import words
from views.pages.promises.panel import PromisePanel
from views.pages.promises.table import PROMISES, ROW, half_hours
from views.pages.promises.verbs import USUAL, PromiseActions, PromiseVerb, verbs_of
from views.support import text
from views.support.instant import ticks
from views.support.keys import bind
from views.support.operation import Operation
from views.tables.at_rest import AtRest
from views.tables.delegates import PADDING
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme.tokens import PAGE_MARGIN
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.layout import STRETCH, OneAboveOther, in_column, in_row, stacked
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip
from views.widgets.unknown import Bones

EVERY_MS = 3000
ALL = "all"
TABS = (
    (ALL, N_("All")),
    (BROKEN, N_("Broken")),
    (AT_RISK, N_("At risk")),
    (KEPT, N_("Kept")),
    (NOT_DUE, N_("Not due")),
)
#: above the rows of the list, and below the last of them
AROUND_ROWS = 84
#: what an empty page offers to begin with
FIRST = Promise(name="orders", task_type="sync_order", limit_s=3600, all_shops=True)

Answer = tuple[Ask[None], PromisesNow, PromiseStory | None]


class PromisesPage(ListPage[PromiseRow]):
    """A list, and below it the promise under the cursor."""

    page_id = "promises"
    actions_of_page: PromiseActions
    panel: PromisePanel

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Promises"), context)
        self._now = PromisesNow()
        self.actions_of_page = PromiseActions(context, self)
        self._usual: Verbs[PromiseVerb, PromiseRow | None] = Verbs(USUAL, self._do, self.actions_of_page.barred)
        self._model: RecordModel[PromiseRow] = RecordModel(
            PROMISES, key=lambda row: row.name, hold_new=False, local_sort=True, sentence=words.row_sentence
        )
        self._source: ListSource[None] = ListSource(self._call, None, self, every_ms=EVERY_MS, follows=context.feed)
        self._telling = Operation(self, latest=True)
        self.make(self._build, self._connect)

    # the page

    def show_request(self, request: object) -> None:
        """Put the cursor on a promise."""
        self._wish = str(request or "")
        self.tabs.set_current(ALL)
        self._show_rows(settle=True)
        self._go_to_wish()

    def verbs(self, row: PromiseRow) -> Verbs[PromiseVerb, PromiseRow]:
        """What can be done to a promise."""
        acts = self.actions_of_page
        return Verbs(verbs_of(row), lambda verb, one: verb.do(acts, one), acts.barred)

    def commands(self) -> Sequence[PageCommand]:
        """What the palette offers: a new one, and the verbs of the promise under the cursor."""
        new = PageCommand(
            key="promises.new",
            words=_("New promise"),
            icon="ph.plus",
            reason=self.actions_of_page.barred(),
            run=self.actions_of_page.create,
        )
        row = self.current()
        return [new, *(self.verbs(row).commands("promises", row, row.name) if row is not None else [])]

    def panes(self) -> Sequence[QWidget]:
        """Tabs, list, shops of the promise."""
        return (self.tabs, self.table, self.panel.matrix)

    def current(self) -> PromiseRow | None:
        """The promise under the cursor."""
        return self._find(self.table.current_key())

    # putting together

    def _build(self) -> Iterator[None]:
        self.new_button = Button(N_("New promise"), icon="ph.plus")
        self.header.add_action(self.new_button)
        self.tabs = Segmented(TABS, N_("Which promises"))
        bar = in_row(self.tabs, STRETCH, margins=(PAGE_MARGIN, 4, PAGE_MARGIN, 8))
        yield
        self.error = ErrorStrip()
        self.table = TableView(self._model, name=N_("Promises"), row_height=ROW)
        self._rest = AtRest(self.table, cursor_is_set=True)
        yield
        self.panel = PromisePanel(self.actions_of_page, self.verbs)
        yield from self.panel.build()
        yield
        list_ = QWidget()
        column = in_column(bar, owner=list_, spacing=0)
        self.none = EmptyState(N_("No promise is in this state."), action=N_("Show all"))
        self._list = stacked(self.table, self.none)
        column.addWidget(self._list, 1)
        yield
        self.stack = stacked()
        self.body.addWidget(self.error)
        self.body.addWidget(self.stack, 1)
        self.split = OneAboveOther(self.stack, list_, self.panel)
        self.stack.addWidget(self.split)
        self.panel.hide()
        yield
        self.empty = EmptyState(
            N_("No promises yet."),
            N_("Start with: orders never older than 60 min. Whoever leads judges it, and says when it will break."),
            N_("New promise"),
            icon="ph.handshake",
        )
        self.stack.addWidget(self.empty)
        yield
        self._unknown = self.covered(self.stack)
        self._late = Bones(self, self.panel.parts, ground="surface", leave=self.table.setFocus)

    def _connect(self) -> None:
        acts = self.actions_of_page
        self.new_button.clicked.connect(lambda: acts.create())
        self.empty.action.connect(partial(acts.create, FIRST))
        self.none.action.connect(self._show_all)
        self.tabs.chosen.connect(lambda _key: self._show_rows(settle=True))
        self.table.current_changed.connect(lambda _key: self._on_chosen())
        self.table.open_requested.connect(self._open)
        self.table.clicked.connect(self._on_clicked)
        self.table.peek_requested.connect(lambda _key: self._toggle_panel())
        self.table.menu_requested.connect(self._fill_menu)
        self._usual.bind(self.table, self.current)
        bind(self.panel, {"Esc": self._close_panel})
        self.panel.closed.connect(self._close_panel)
        acts.made.connect(self._on_made)
        self._connect_list()
        ticks().tell(self, self._on_tick)

    # looking

    def _call(self, ask: Ask[None]) -> Callable[[], Answer]:
        row = self.current()
        return partial(_look, self._context.promises, ask, row.name if row is not None else "")

    def _show(self, answer: Answer) -> None:
        self.error.clear()
        self._unknown.answer()
        ask, self._now, story = answer
        self._show_rows(settle=ask.settle or self._resting)
        self._go_to_wish()
        row = self.current()
        if row is not None and story is not None and story.row.name == row.name:
            self._show_story(story)
        else:
            self._ask_story()
        self._say()

    def _show_rows(self, *, settle: bool) -> None:
        which = self.tabs.current()
        rows = sorted((row for row in self._now.rows if which in (ALL, row.state)), key=words.rank)
        self._model.apply(rows, settle=settle)
        self._list.setCurrentWidget(self.table if rows or not self.anything_known else self.none)
        self.split.give(AROUND_ROWS + len(rows) * self.table.verticalHeader().defaultSectionSize())
        if rows and self.table.current_key() is None:
            self.table.set_current_key(self._model.key_at(0))
        self._on_chosen()

    def _go_to_wish(self) -> None:
        if self._wish and self.table.set_current_key(self._wish):
            self._wish = ""

    def _on_made(self, name: str) -> None:
        self._wish = name
        self.tabs.set_current(ALL)

    def _show_all(self) -> None:
        self.tabs.set_current(ALL)
        self._show_rows(settle=True)

    def _on_chosen(self) -> None:
        """Another promise is under the cursor."""
        row = self.current()
        self.panel.setVisible(row is not None and not self._closed)
        if row is None or self._stands_there():
            self._telling.drop()
            self._late.end()
        else:
            self._late.begin()
            self._ask_story()

    def _stands_there(self) -> bool:
        """Whether the panel tells of the promise under the cursor."""
        row, shown = self.current(), self.panel.shown
        return row is not None and shown is not None and shown.name == row.name

    def _ask_story(self) -> None:
        row = self.current()
        if row is not None:
            self._telling.start(partial(self._context.promises.told, row), self._show_story, self._fail_story)

    def _show_story(self, story: PromiseStory | None) -> None:
        row = self.current()
        if story is not None and row is not None and story.row.name == row.name:
            self.panel.show_story(story)
            self._late.end()
            self.panel.setVisible(not self._closed)

    def _fail_story(self, error: BaseException) -> None:
        self._show_error(error)
        if not self._stands_there():
            self._late.end(known=False)
            self.panel.hide()  # it tells of another one

    def _on_tick(self) -> None:
        """Say again how far away everything is."""
        if self._source.active and self.panel.isVisible():
            self.panel.follow()

    def _say(self) -> None:
        counts = self._now.counts
        for key, _title in TABS:
            number = len(self._now.rows) if key == ALL else counts.get(key, 0)
            self.tabs.set_suffix(key, text.count(number))
        known = bool(self._now.rows) or not self._now.at_ms
        self.stack.setCurrentWidget(self.split if known else self.empty)
        self.set_summary(words.summary(self._now))
        self._say_rights()

    def _say_rights(self) -> None:
        for button in (self.new_button, self.empty.button):
            button.disable(self.actions_of_page.barred())
        self.panel.follow()

    # the panel

    def _open(self, key: object) -> None:
        """The key that opens a row opens the panel; on the strip, what ran in its day."""
        row = self._find(key)
        if row is not None and row.standing is not None and self._on_strip(self.table.currentIndex()):
            self.actions_of_page.show_tasks(row, *half_hours(row))
        else:
            self._open_panel()

    def _on_clicked(self, index: QModelIndex) -> None:
        """A click on the strip opens that half hour."""
        row = self._find(self._model.key_at(index.row()))
        if row is not None and row.standing is not None and self._on_strip(index):
            room = self.table.visualRect(index).adjusted(PADDING, 0, -PADDING, 0)
            share = (self.table.pressed_at.x() - room.x()) / max(1, room.width())
            self.actions_of_page.show_tasks(row, *half_hours(row, share))

    def _on_strip(self, index: QModelIndex) -> bool:
        return self._model.column(index.column()).key == "strip"

    def _open_panel(self) -> None:
        self._closed = False
        self._on_chosen()
        self.panel.matrix.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # acting

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        row = self._find(key)
        if row is not None:
            self.verbs(row).fill(menu, row)


def _look(queries: PromiseQueries, ask: Ask[None], name: str) -> Answer:
    now = queries.now()
    row = next((one for one in now.rows if one.name == name), None)
    return ask, now, queries.told(row) if row is not None else None
