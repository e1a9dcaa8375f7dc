"""The Doctor page: what broker, store, workers and this machine say, each with what helps; and the repair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget

from services.domain.audit import AuditEntry
from services.domain.errors import ConsoleError
from services.domain.upkeep.health import ERROR, NOTE, OK, WARNING, Finding
from services.i18n import N_, _
from services.messages import told
from views.context import PageContext
from views.kit.verb import Verbs
from views.page import Page, PageCommand
from views.pages.doctor import words
from views.pages.doctor.panel import FindingPanel
from views.pages.doctor.table import FINDINGS
from views.pages.doctor.verbs import NO_ADMIN, DoctorActions, DoctorVerb, leading, mends, verbs_of
from views.pages.doctor.words import FindingRow
from views.support import instant, text
from views.support.instant import ticks
from views.support.keys import bind
from views.support.operation import Operation
from views.support.words import shop as shop_words
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme.tokens import PAGE_MARGIN
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.layout import STRETCH, in_row, side_by_side, stacked
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip

ALL = "all"
TABS = (
    (ALL, N_("All")),
    (ERROR, N_("Errors")),
    (WARNING, N_("Warnings")),
    (NOTE, N_("Advice")),
    (OK, N_("In order")),
)
#: a page that is shown looks again when what it shows is older; what all records were compared for stays
FRESH_MS = 5 * 60_000
#: the entry of the audit that tells who repaired last
REPAIRS = "action:repair"


class Seen(NamedTuple):
    """One look."""

    findings: tuple[Finding, ...]
    repair: AuditEntry | None  #: the last one, as far as the store tells
    deep: bool  #: all records were compared, which takes long: nobody does it again unasked


class DoctorPage(Page):
    """Findings by severity, beside them the one under the cursor; looks when it is opened, when it is told to, and
    again while it is shown.
    """

    page_id = "doctor"

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Doctor"))
        self._context = context
        self._rows: tuple[FindingRow, ...] = ()
        self._seen: Seen | None = None
        self._at_ms, self._closed = 0, False
        self.actions_of_page = DoctorActions(context, self)
        self._model: RecordModel[FindingRow] = RecordModel(
            FINDINGS, key=lambda row: row.key, hold_new=False, local_sort=True, sentence=words.sentence
        )
        self._looking = Operation(self, latest=True, lasting=True)
        self.make(self._build, self._connect)

    # the page

    def activate(self) -> None:
        """Look, unless that was done a moment ago."""
        if not self._looking.awaited and not self._is_fresh():
            self.look()

    def refresh(self) -> None:
        self.look()

    def look(self, *, deep: bool = False) -> None:
        """Look at everything, off the GUI thread; ``deep``: compare all records, however many there are."""
        self._unknown.ask()
        self._looking.start(partial(_look, self._context, deep), self._show, self._show_error)
        self._say()

    def set_acting(self, reason: str) -> None:
        """Mend nothing while that is not allowed; looking tells what is wrong even then."""
        self.actions_of_page.forbid(reason)
        self._say_rights()

    def verbs(self, row: FindingRow) -> Verbs[DoctorVerb, FindingRow]:
        """What can be done about a finding."""
        acts = self.actions_of_page
        return Verbs(verbs_of(row), lambda verb, one: verb.do(acts, one), acts.barred)

    def commands(self) -> Sequence[PageCommand]:
        """What the palette offers: looking, the repair, and what can be done about the finding under the cursor."""
        acts = self.actions_of_page
        found = [
            PageCommand(
                key="doctor.again", words=_("Look again"), icon="ph.arrow-clockwise", run=self.look,
                reason=_("Looking …") if self._looking.awaited else "",
            ),
            PageCommand(
                key="doctor.deep", words=_("Compare all records with what is derived from them"),
                icon="ph.magnifying-glass", run=partial(self.look, deep=True),
                reason=_("Looking …") if self._looking.awaited else "",
            ),
            PageCommand(
                key="doctor.repair", words=_("Repair"), icon="ph.wrench", run=acts.repair, reason=acts.barred()
            ),
        ]  # fmt: skip
        row = self.current()
        return [*found, *(self.verbs(row).commands("doctor.finding", row, words.said(row)) if row is not None else [])]

    def panes(self) -> Sequence[QWidget]:
        """Tabs, list, panel."""
        return (self.tabs, self.table, self.panel)

    def retranslate(self) -> None:
        super().retranslate()
        self._say()

    def current(self) -> FindingRow | None:
        """The finding under the cursor."""
        return self._find(self.table.current_key())

    # putting together

    def _build(self) -> Iterator[None]:
        self.again_button = Button(N_("Look again"), icon="ph.arrow-clockwise")
        self.repair_button = Button(N_("Repair"), icon="ph.wrench")
        for button in (self.again_button, self.repair_button):
            self.header.add_action(button)
        yield
        self.tabs = Segmented(TABS, N_("Which findings"))
        bar = QWidget()
        in_row(self.tabs, STRETCH, owner=bar, margins=(PAGE_MARGIN, 4, PAGE_MARGIN, 8))
        self.error = ErrorStrip()
        yield
        self.table = TableView(self._model, name=N_("Findings"))
        self.none = EmptyState(N_("Nothing of this severity was found."), action=N_("Show all"))
        self.stack = stacked(self.table, self.none)
        yield
        self.panel = FindingPanel(self.verbs)
        yield
        yield from side_by_side(self.body, (bar, self.error, self.stack), self.stack, self.panel)
        yield
        self._unknown = self.covered(self.stack)

    def _connect(self) -> None:
        acts = self.actions_of_page
        self.again_button.clicked.connect(lambda: self.look())
        self.repair_button.clicked.connect(lambda: acts.repair())
        self.none.action.connect(self._show_all)
        self.tabs.chosen.connect(lambda _key: self._show_rows())
        self.table.current_changed.connect(lambda _key: self._follow())
        self.table.peek_requested.connect(lambda _key: self._toggle_panel())
        self.table.open_requested.connect(lambda _key: self._open_panel())
        self.table.menu_requested.connect(self._fill_menu)
        self.table.clicked.connect(self._on_clicked)
        self.panel.closed.connect(self._close_panel)
        bind(self.panel, {"Esc": self._close_panel})
        acts.changed.connect(self.look)
        acts.wanted_deep.connect(partial(self.look, deep=True))
        acts.shown.connect(self.navigate)
        self.error.retry.connect(self.refresh)
        ticks().tell(self, self._on_tick)

    # looking

    def _show(self, seen: Seen) -> None:
        self.error.clear()
        self._unknown.answer()
        self._seen, self._at_ms = seen, instant.now_ms()
        self._rows = words.rows(seen.findings)
        self.actions_of_page.allow_anybody(any(row.code == NO_ADMIN for row in self._rows))
        self._show_rows()
        self._say()
        self.refreshed.emit()

    def _show_error(self, error: BaseException) -> None:
        self.load_failed()
        self.error.show_error(told(error))
        self._say()

    def _show_rows(self) -> None:
        which = self.tabs.current()
        rows = [row for row in self._rows if which in (ALL, row.finding.level)]
        self._model.apply(rows, settle=True)
        self.stack.setCurrentWidget(self.none if self._at_ms and not rows else self.table)
        if rows and self.current() is None:
            self.table.set_current_key(rows[0].key)
        self._follow()

    def _show_all(self) -> None:
        self.tabs.set_current(ALL)
        self._show_rows()

    def _find(self, key: object) -> FindingRow | None:
        return self._model.find(str(key)) if key is not None else None

    def _follow(self) -> None:
        row = self.current()
        self.panel.setVisible(row is not None and not self._closed)
        self.panel.show_row(row)

    def _is_fresh(self) -> bool:
        return bool(self._at_ms) and instant.now_ms() - self._at_ms <= FRESH_MS

    def _on_tick(self) -> None:
        if self.isVisible() and self._at_ms:
            deep = self._seen is not None and self._seen.deep
            if not (self._looking.awaited or deep or self._is_fresh()):
                self.look()
            self._say_summary()

    def _say(self) -> None:
        counts = Counter(row.finding.level for row in self._rows)
        for key, _title in TABS:
            number = text.count(len(self._rows) if key == ALL else counts[key])
            self.tabs.set_suffix(key, number if self._seen is not None else "")  # before the first look nobody knows
        self.again_button.wait(_("Looking …") if self._looking.awaited else "")
        self._say_summary()
        self._say_rights()

    def _say_summary(self) -> None:
        if self._looking.awaited:
            self.set_summary(_("Looking …"))
        elif self._seen is not None:
            now = instant.now_ms()
            parts = [words.summary(self._rows, self._at_ms, now)]
            if (last := self._seen.repair) is not None:
                parts.append(words.repaired(last.who, last.at, now))
            self.set_summary(text.listed(parts, ";"))

    def _say_rights(self) -> None:
        row = self.current()
        in_panel = self.panel.isVisibleTo(self) and row is not None and leading(row) is not None
        mendable = any(mends(one) for one in self._rows)
        self.repair_button.set_kind("primary" if mendable and not in_panel else "plain")
        self.repair_button.disable(self.actions_of_page.barred())
        self.panel.follow()

    # the panel

    def _open_panel(self) -> None:
        self._closed = False
        self._follow()
        self.panel.focus_first()

    def _close_panel(self) -> None:
        self._closed = True
        self.panel.hide()
        self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._say_rights()

    def _toggle_panel(self) -> None:
        self._closed = not self._closed
        self._follow()
        self._say_rights()

    # acting

    def _on_clicked(self, index: object) -> None:
        """A click on the next step does it."""
        place = self.table.currentIndex()
        if place == index and self._model.column(place.column()).key == "next":
            row = self._model.record(place.row())
            first = leading(row)
            if first is not None:
                self.verbs(row).act(first.key, row)

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        row = self._find(key)
        if row is not None:
            self.verbs(row).fill(menu, row)


def _look(context: PageContext, deep: bool) -> Seen:
    found = tuple(context.doctor.examine(deep=deep))
    try:
        known = context.shops()
        found = tuple(replace(one, message=shop_words.named(one.message, known, with_id=True)) for one in found)
        last = context.audit.page(REPAIRS, limit=1).entries
    except ConsoleError:  # told among the findings
        last = ()
    return Seen(found, next(iter(last), None), deep)
