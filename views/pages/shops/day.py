"""One shop over some hours: its runs along time, and the same as a table; a click in one is the cursor of the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services.domain.audit import AuditEntry
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.i18n import N_
from services.messages import told
from services.monitor.shops.day import PLANNED, SPANS, Run, ShopDay
from services.monitor.shops.queries import ShopQueries, ShopRow
from services.monitor.trail import AuditQueries
from services.monitor.works import TypeRow
from views.kit.list_source import Ask, ListSource
from views.pages.shops import day_acts, day_words, words
from views.pages.shops.day_acts import ACTS
from views.pages.shops.day_tiles import TileRow, WhyStrip, tiles
from views.pages.shops.gantt import Gantt, GanttLegend
from views.support import instant, shown, text
from views.support.instant import ticks
from views.support.keys import bind
from views.support.language import on_language_changed
from views.support.operation import Operation
from views.support.words import type_names
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme.tokens import PAGE_MARGIN, platform_badge
from views.widgets.badge import Badge
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.elided import Elided
from views.widgets.empty_state import EmptyState
from views.widgets.panes import stacked
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip

EVERY_MS, MOST_HIGH = 4000, 270
CHOICES = tuple(zip(("6", "24", "168"), (N_("6 h"), N_("24 h"), N_("7 d")), SPANS, strict=True))

RUNS: tuple[Column[Run], ...] = (
    Column(
        key="state",
        title=N_("State"),
        value=lambda run: day_words.LOOKS[run.state][0],
        text=lambda run: day_words.state(run.state),
        kind="status",
        width=150,
        speech=day_words.sentence,
    ),
    Column(
        key="type",
        title=N_("Type"),
        value=lambda run: type_names.name(run.task_type),
        kind="strong",
        width=130,
        sortable=True,
        tooltip=lambda run: run.task_type,
    ),
    Column(
        key="begins",
        title=N_("Start"),
        value=lambda run: run.begins,
        text=lambda run: shown.clock(run.begins, instant.now_ms()),
        tone="text2",
        width=110,
        sortable=True,
        descending_first=True,
    ),
    Column(
        key="duration",
        title=N_("Duration"),
        value=lambda run: run.ends - run.begins,
        text=day_words.duration,
        kind="number",
        tone="text2",
        width=90,
        sortable=True,
        descending_first=True,
        live=True,
    ),
    Column(
        key="attempt",
        title=N_("Attempt"),
        value=lambda run: run.attempt,
        text=lambda run: text.count(run.attempt) if run.attempt else "",
        kind="number",
        width=76,
        hide_rank=2,
    ),
    Column(key="worker", title=N_("Worker"), value=lambda run: run.worker, names=True, width=110, hide_rank=1),
    Column(
        key="note",
        title=N_("Note"),
        value=day_words.note,
        tone="text2",
        width=160,
        stretch=True,
        tooltip=lambda run: run.error or day_words.note(run),
    ),
)

Answer = tuple[str, ShopDay, tuple[TypeRow, ...]]
_LISTS = (("runs", N_("All runs")), ("acts", N_("Acts")))


class ShopDayView(QWidget):
    """Signals:
    closed: the list of shops is wanted again.
    shown: what another page shall show: page id, filter.
    loaded: an answer is shown.
    """

    closed = Signal()
    shown = Signal(str, object)
    loaded = Signal()

    def __init__(self, queries: ShopQueries, trail: AuditQueries, connected: Callable[[], bool]) -> None:
        """``connected``: whether the store answers; else the window tells it above all pages."""
        super().__init__()
        self._queries, self._trail, self._connected = queries, trail, connected
        self._works: tuple[TypeRow, ...] = ()
        self.tiles, self.why = TileRow(), WhyStrip()
        self.lists = Segmented(_LISTS, N_("What is listed"))
        self._done: RecordModel[AuditEntry] = RecordModel(
            ACTS, key=lambda entry: entry.entry_id, hold_new=False, sentence=day_acts.sentence
        )
        self.acts = TableView(self._done, name=N_("Acts on the shop"))
        self._ask_acts = Operation(self, latest=True)
        self._row: ShopRow | None = None
        self._day: ShopDay | None = None
        self.back = Button(N_("Shops"), kind="ghost", icon="ph.caret-left", small=True)
        self.title, self._badge = Elided("", "panel"), Badge.platform("")
        self.span = Segmented([(key, title) for key, title, _ms in CHOICES], N_("Time range"))
        self.span.set_current("24")
        self.whole = Button(N_("Show all"), kind="ghost", small=True)
        self.gantt = Gantt()
        self.legend = GanttLegend()
        self.error = ErrorStrip()
        self._model: RecordModel[Run] = RecordModel(
            RUNS, key=lambda run: run.key, hold_new=False, local_sort=True, sentence=day_words.sentence
        )
        self.table = TableView(self._model, name=N_("Runs of the shop"))
        self.empty = EmptyState(
            N_("Nothing ran in this time, and nothing is planned."),
            N_("Look at a longer time, or ask whether it ran on a day."),
            icon="ph.calendar-blank",
        )
        self._source: ListSource[str] = ListSource(self._call, "", self, every_ms=EVERY_MS)
        self._put_together()
        self._connect()
        on_language_changed(self._say)

    def _put_together(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(PAGE_MARGIN, 4, 0, 8)
        head.setSpacing(8)
        head.addWidget(self.back)
        head.addWidget(self.title)
        head.addWidget(self._badge)
        head.addStretch(1)
        head.addWidget(self.whole)
        head.addWidget(self.span)
        card = Card()
        pane = ScrollPane()
        pane.body.addWidget(self.gantt)
        pane.body.addStretch(1)
        pane.setMaximumHeight(MOST_HIGH)
        self._pane = pane
        card.body.setContentsMargins(8, 8, 8, 8)
        card.body.addWidget(self.legend)
        card.body.addWidget(pane)
        room = QVBoxLayout()
        room.setContentsMargins(PAGE_MARGIN, 0, 0, 8)
        room.setSpacing(8)
        room.addWidget(self.error)
        room.addWidget(self.tiles)
        room.addWidget(self.why)
        room.addWidget(card)
        room.addWidget(self.lists, 0, Qt.AlignmentFlag.AlignLeft)
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(room)
        self._shown = stacked(self.table, self.acts)
        column.addWidget(self._shown, 1)
        self._stack = stacked(full, self.empty)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(head)
        whole.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.back.clicked.connect(self.closed)
        self.whole.clicked.connect(self.gantt.show_all)
        self.span.chosen.connect(lambda _key: self._ask())
        self.lists.chosen.connect(self._on_list)
        self.why.task_wanted.connect(self._open_task)
        self.gantt.chosen.connect(self._on_chosen)
        self.gantt.opened.connect(self._open_task)
        self.table.current_changed.connect(self._on_row)
        self.table.open_requested.connect(self._open_row)
        self._source.listed.connect(self._show)
        self._source.failed.connect(self._show_error)
        self.error.retry.connect(lambda: self._source.again(settle=False))
        bind(self, {"Esc": self.closed.emit})
        ticks().ticked.connect(self._on_tick)

    # what is shown

    @property
    def day(self) -> ShopDay | None:
        """What is shown; None while nothing is known of the shop."""
        return self._day

    def open_shop(self, row: ShopRow) -> None:
        """Show the runs of a shop."""
        if self._row is None or self._row.key != row.key:
            self._day, self._works = None, ()
            self._model.apply((), settle=True)
            self._done.apply((), settle=True)
            self.gantt.show_day(ShopDay(shop=row.key, begins=0, ends=1, now=0))
        self._row = row
        self._say()
        if self.lists.current() == "acts":
            self._on_list("acts")
        self._source.set_active(True)
        self._ask()
        self.gantt.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_active(self, active: bool) -> None:
        """Follow while it is seen, or ask no more."""
        self._source.set_active(active and self._row is not None)

    def _ask(self) -> None:
        if self._row is not None:
            self._source.ask(self._row.key)

    def _call(self, ask: Ask[str]) -> Callable[[], Answer] | None:
        if not ask.wanted:
            return None
        span = next(ms for key, _title, ms in CHOICES if key == self.span.current())
        return partial(_look, self._queries, ask.wanted, span)

    def follow(self, row: ShopRow) -> None:
        """Say again how the shop that is shown stands; another one stays where it is."""
        if self._row is not None and row.key == self._row.key and row != self._row:
            self._row = row
            self._say()

    def _on_list(self, which: str) -> None:
        self._shown.setCurrentIndex(int(which == "acts"))
        if which == "acts" and self._row is not None:
            key = self._row.key
            self._ask_acts.start(partial(day_acts.of_shop, self._trail, key), partial(self._show_acts, key))

    def _show_acts(self, key: str, found: tuple[AuditEntry, ...]) -> None:
        if self._row is not None and self._row.key == key:
            self._done.apply(found, settle=True)

    def _show(self, answer: Answer) -> None:
        key, day, self._works = answer
        if self._row is None or key != self._row.key:
            return
        self.error.clear()
        first, self._day = self._day is None or len(self._day.runs) == 0, day
        self.gantt.show_day(day)
        self._pane.setFixedHeight(min(MOST_HIGH, self.gantt.height()))
        newest = sorted(day.runs, key=lambda run: (run.state == PLANNED, -run.begins))
        self._model.apply(newest, settle=first)
        self._stack.setCurrentIndex(0 if day.runs else 1)
        self._say()
        self.loaded.emit()

    def _show_error(self, error: BaseException) -> None:
        if self._connected():
            self.error.show_error(told(error))

    def _say(self) -> None:
        if self._row is not None:
            self.title.show_text(words.name(self._row))
            self._badge.show_text(platform_badge(self._row.shop.platform))
            self.tiles.show_tiles(tiles(self._row, self._day, self._works, instant.now_ms()))
            self.why.show_shop(self._row, self._day)
        self.legend.show_day(self._day)

    def _on_tick(self) -> None:
        if self._source.active and self.isVisible():
            self.gantt.update()
            self._say()

    # one cursor

    def _on_chosen(self, run: object) -> None:
        if isinstance(run, Run):
            self.table.set_current_key(run.key)

    def _on_row(self, key: object) -> None:
        self.gantt.choose(str(key) if key is not None else "")

    def _open_row(self, key: object) -> None:
        run = self._model.find(str(key)) if key is not None else None
        if run is not None and run.task_id:
            self._open_task(run.task_id)

    def _open_task(self, task_id: str) -> None:
        self.shown.emit("tasks", filter.format_terms((equals("id", task_id),)))


def _look(queries: ShopQueries, key: str, span: int) -> Answer:
    return key, queries.days.look(key, span), queries.works(key)
