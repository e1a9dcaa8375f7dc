"""The Task types page: the policy of each type, its versions, and its next one after a dry run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget
from shiboken6 import isValid

from services.domain.types.task_type import TaskType
from services.i18n import N_, _
from services.monitor.types import TypeVersion
from views.context import PageContext
from views.kit.list_page import ListPage
from views.kit.list_source import Ask, ListSource
from views.kit.verb import Verbs
from views.page import PageCommand
from views.pages.types import words
from views.pages.types.panel import TypePanel
from views.pages.types.table import TYPES
from views.pages.types.verbs import USUAL, TypeActions, TypeVerb
from views.pages.types.words import TypeRow
from views.support.keys import bind
from views.support.operation import Operation
from views.support.throttle import turns
from views.tables.at_rest import AtRest
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme.tokens import PAGE_MARGIN
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.filter.search_field import SearchField
from views.widgets.layout import STRETCH, in_row, side_by_side, stacked
from views.widgets.strip import ErrorStrip

EVERY_MS = 5000

Answer = tuple[Ask[None], tuple[TypeRow, ...]]


class TypesPage(ListPage[TypeRow]):
    """A list, and beside it the type under the cursor."""

    page_id = "types"
    actions_of_page: TypeActions
    panel: TypePanel

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Task types"), context)
        self._rows: tuple[TypeRow, ...] | None = None
        self._showing = False
        self.actions_of_page = TypeActions(context, self)
        self._usual: Verbs[TypeVerb, TaskType | None] = Verbs(USUAL, self._do, self.actions_of_page.barred)
        self._model: RecordModel[TypeRow] = RecordModel(
            TYPES, key=lambda row: row.name, hold_new=False, local_sort=True, sentence=words.row
        )
        self._source: ListSource[None] = ListSource(self._call, None, self, every_ms=EVERY_MS)
        self._telling = Operation(self, latest=True)
        self.make(self._build, self._connect)

    # the page

    def show_request(self, request: object) -> None:
        """Put the cursor on a type."""
        self._wish = str(request or "")
        self.search.clear()
        self._show_rows(settle=True)

    def verbs(self, kind: TaskType) -> Verbs[TypeVerb, TaskType]:
        """What can be done to a type."""
        acts = self.actions_of_page
        return Verbs(USUAL, lambda verb, one: verb.do(acts, one), acts.barred)

    def commands(self) -> Sequence[PageCommand]:
        """What the palette offers: a new one, files, and the verbs of the type under the cursor."""
        acts = self.actions_of_page
        found = [
            PageCommand(
                key="types.new", words=_("New task type"), icon="ph.plus", reason=acts.barred(), run=acts.create
            ),
            PageCommand(
                key="types.import", words=_("Import task types"), icon="ph.download-simple", reason=acts.barred(),
                run=acts.ask_import,
            ),
            PageCommand(
                key="types.export_all", words=_("Export task types"), icon="ph.export", run=self._export_all,
                reason="" if self._rows else _("No task type is defined."),
            ),
        ]  # fmt: skip
        kind = self.current()
        return [*found, *(self.verbs(kind).commands("types", kind, kind.name) if kind is not None else [])]

    def panes(self) -> Sequence[QWidget]:
        """Search, list, panel."""
        return (self.search, self.table, self.panel.views)

    def retranslate(self) -> None:
        super().retranslate()
        self._name_search()

    def current(self) -> TaskType | None:
        """The type under the cursor."""
        row = self._find(self.table.current_key())
        return row.kind if row is not None else None

    # putting together

    def _name_search(self) -> None:
        self.search.setPlaceholderText(_("Name or title"))
        self.search.setAccessibleName(_("Name or title"))

    def _build(self) -> Iterator[None]:
        self.import_button = Button(N_("Import"), icon="ph.download-simple")
        self.export_button = Button(N_("Export all"), icon="ph.export")
        self.new_button = Button(N_("New task type"), icon="ph.plus")
        for button in (self.import_button, self.export_button, self.new_button):
            self.header.add_action(button)
        yield
        self.search = SearchField()
        self.search.setFixedWidth(230)
        self._name_search()
        bar = QWidget()
        in_row(STRETCH, self.search, owner=bar, margins=(PAGE_MARGIN, 4, PAGE_MARGIN, 8))
        self.error = ErrorStrip()
        yield
        self.table = TableView(self._model, name=N_("Task types"))
        self._rest = AtRest(self.table, cursor_is_set=True)
        yield
        self.empty = EmptyState(
            N_("No task type is defined."),
            N_("What a type is lives in the store; how it runs only on the workers."),
            N_("Import"),
            icon="ph.puzzle-piece",
        )
        self.none = EmptyState(N_("No task type matches."), action=N_("Show all"))
        yield
        self.stack = stacked(self.table, self.none, self.empty)
        yield
        self.panel = TypePanel(self.verbs)
        yield
        yield from side_by_side(self.body, (bar, self.error, self.stack), self.stack, self.panel, self.panel.build())
        yield
        self._unknown = self.covered(self.stack)

    def _connect(self) -> None:
        acts = self.actions_of_page
        self.new_button.clicked.connect(lambda: acts.create())
        self.import_button.clicked.connect(lambda: acts.ask_import())
        self.export_button.clicked.connect(lambda: self._export_all())
        self.empty.action.connect(acts.ask_import)
        self.none.action.connect(self.search.clear)
        self.search.textChanged.connect(lambda _text: self._show_rows(settle=True))
        self.table.current_changed.connect(lambda _key: self._on_chosen())
        self.table.peek_requested.connect(lambda _key: self._toggle_panel())
        self.table.open_requested.connect(self._open)
        self.table.menu_requested.connect(self._fill_menu)
        self._usual.bind(self.table, self.current)
        self.panel.closed.connect(self._close_panel)
        self.panel.back_wanted.connect(acts.go_back)
        bind(self.panel, {"Esc": self._close_panel})
        acts.made.connect(self._on_made)
        self._connect_list()

    # looking

    def _call(self, ask: Ask[None]) -> Callable[[], Answer]:
        return partial(_look, self._context, ask)

    def _show(self, answer: Answer) -> None:
        self.error.clear()
        self._unknown.answer()
        ask, self._rows = answer
        self._showing = True
        try:
            self._show_rows(settle=ask.settle or self._resting)
        finally:
            self._showing = False
        self._ask_versions()
        self._say()
        turns().soon(self._follow_shown)

    def _follow_shown(self) -> None:
        """What stands beside takes as long as all else that an answer shows, so it has a turn of its own."""
        if isValid(self):
            self._on_chosen()

    def _show_rows(self, *, settle: bool) -> None:
        wish = self.search.text().strip().casefold()
        every = self._rows or ()
        rows = [row for row in every if wish in row.name.casefold() or wish in words.title(row.kind).casefold()]
        self._model.apply(rows, settle=settle)
        empty = self.empty if self._rows is not None and not every else self.none
        self.stack.setCurrentWidget(self.table if rows or self._rows is None else empty)
        if self._wish and self.table.set_current_key(self._wish):
            self._wish = ""
        elif rows and self.current() is None:
            self.table.set_current_key(rows[0].name)
        self._on_chosen()

    def _on_chosen(self) -> None:
        if self._showing:
            return
        row = self._find(self.table.current_key())
        kind = row.kind if row is not None else None
        shown = self.panel.shown
        self.panel.show_kind(kind)  # before it is seen: else all is laid out with each part that comes or goes
        self.panel.show_drift(row)
        self.panel.setVisible(kind is not None and not self._closed)
        if kind is not None and (shown is None or shown.name != kind.name):
            self._ask_versions()

    def _ask_versions(self) -> None:
        kind = self.current()
        if kind is not None:
            show: Callable[[tuple[TypeVersion, ...]], None] = partial(self.panel.show_versions, kind.name)
            self._telling.start(partial(self._context.policies.versions, kind.name), show, self._show_error)

    def _on_made(self, name: str) -> None:
        self._wish = name
        self.search.clear()

    def _say(self) -> None:
        if self._rows is not None:
            self.set_summary(words.summary(self._rows))
        self._say_rights()

    def _say_rights(self) -> None:
        reason = self.actions_of_page.barred()
        for button in (self.new_button, self.import_button, self.empty.button):
            button.disable(reason)
        self.export_button.disable("" if self._rows else _("No task type is defined."))
        self.panel.follow()

    # the panel

    def _open(self, key: object) -> None:
        """Enter edits where that is allowed, else it looks."""
        row = self._find(key)
        if row is not None and not self.actions_of_page.barred():
            self.actions_of_page.edit(row.kind)
        elif row is not None:
            self._closed = False
            self._on_chosen()
            self.panel.views.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # acting

    def _export_all(self) -> None:
        if self._rows:
            self.actions_of_page.ask_export(tuple(row.kind for row in self._rows))

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        row = self._find(key)
        if row is not None:
            self.verbs(row.kind).fill(menu, row.kind)


def _look(context: PageContext, ask: Ask[None]) -> Answer:
    drifted = context.policies.drifted()
    return ask, tuple(TypeRow(kind=kind, drifts=drifted.get(kind.name, ())) for kind in context.policies.all())
