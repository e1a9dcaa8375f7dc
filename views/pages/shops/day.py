"""One shop over some hours: its runs along time, and the same as a table; a click in one is the cursor of the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QStackedWidget, QVBoxLayout, QWidget

from services import act_words
from services.domain import audit
from services.domain.audit import AuditEntry
from services.domain.insight import shop as insight
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.text.mask import masked
from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.audit import AuditQueries
from services.monitor.shops.day import (
    IN_WAIT,
    MOST_WAITING,
    PLANNED,
    RUNNING,
    SPANS,
    WAITS,
    DayAttempt,
    ShopDay,
    ended,
)
from services.monitor.shops.queries import ShopQueries, ShopRow
from services.monitor.works import TypeRow
from views.charts import gantt_words
from views.charts.gantt import AXIS, ROW, Gantt, GanttLegend
from views.kit.list_source import Ask, ListSource
from views.kit.verb import Verbs
from views.pages.shops import words
from views.pages.shops.panel import USUAL, buttons_of, offer_on
from views.pages.shops.verbs import ShopVerb
from views.support import instant, safe, shown, text
from views.support.instant import ticks
from views.support.keys import bind
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.support.words import shop, type_names
from views.tables.column import Column, dated, measured
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme.tokens import PAGE_HEADER, PAGE_MARGIN, platform_badge
from views.widgets.badge import Badge
from views.widgets.buttons import Button, IconButton, LinkLabel
from views.widgets.card import Card, TileRow, Told
from views.widgets.elided import Elided
from views.widgets.empty_state import EmptyState
from views.widgets.flow_row import FlowRow
from views.widgets.key_values import KeyValues
from views.widgets.layout import in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip, Strip

EVERY_MS, MOST_HIGH, LEAST_LIST = 4000, 270, 120
NEXT = 6  #: runs that are told as the next ones
CHOICES = tuple(zip(("6", "24", "168"), (N_("6 h"), N_("24 h"), N_("7 d")), SPANS, strict=True))
#: what the chart is called, by what is chosen
TITLES = {"6": N_("Runs of the last 6 h"), "24": N_("Runs of the last 24 h"), "168": N_("Runs of the last 7 d")}

RUNS: tuple[Column[DayAttempt], ...] = (
    Column(
        key="state",
        title=N_("State"),
        value=lambda run: gantt_words.LOOKS[run.state][0],
        text=lambda run: gantt_words.state(run.state),
        kind="status",
        width=150,
        speech=gantt_words.sentence,
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
    dated("begins", N_("Since"), lambda run: run.begins, tone="text2", width=110, sortable=True, descending_first=True),
    measured(
        "duration",
        N_("Duration"),
        lambda run: run.ends - run.begins,
        gantt_words.duration,
        tone="text2",
        width=90,
        live=True,
        hide_rank=3,
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
    Column(key="worker", title=N_("Worker"), value=lambda run: run.worker, names=True, width=132, hide_rank=1),
    Column(
        key="note",
        title=N_("Note"),
        value=gantt_words.note,
        tone="text2",
        width=160,
        stretch=True,
        tooltip=lambda run: run.error or gantt_words.note(run),
    ),
)

#: by the key of a list what stands in it, in its order
Lists = Mapping[str, tuple[DayAttempt, ...]]
#: the shop as it is whatever the list beside shows, its runs, what is known of its types, and its lists
Answer = tuple[str, ShopRow | None, ShopDay, tuple[TypeRow, ...], Lists]
#: what is listed below the chart, and the states of its runs, none for all
_LISTS = (("all", N_("All")), ("waiting", N_("Waiting")), ("running", N_("Running")), ("acts", N_("Acts")))
_ONLY: Mapping[str, str] = {"waiting": WAITS, "running": RUNNING}
#: what asks for a person stands above what is over and what will come
_ORDER: Mapping[str, int] = {RUNNING: 0, WAITS: 1, PLANNED: 3}
#: so many are shown, and so many entries of the trail are looked through for them
SHOWN, SCANNED = 100, 5_000

ACTS: tuple[Column[AuditEntry], ...] = (
    dated("at", N_("Time"), lambda entry: entry.at, width=120, tone="text2"),
    Column(key="who", title=N_("Who"), value=lambda entry: safe.one_line(entry.who, 60), width=150, names=True),
    Column(key="act", title=N_("Act"), value=lambda entry: act_words.act(entry.action), kind="strong", width=190),
    Column(key="outcome", title=N_("Outcome"), value=lambda entry: outcome(entry), tone="text2", width=110),
    Column(
        key="detail", title=N_("Detail"), value=lambda entry: detail(entry), tone="text2", width=160, stretch=True,
        tooltip=lambda entry: detail(entry),
    ),
)  # fmt: skip
#: verbs that answer what a shop asks for
_ASKED = ("decide", "login", "session", "close")


class ShopHead(QWidget):
    """Which shop it is and what can be done to it, in place of the header of all shops.

    Signals:
        wanted: the key of a verb.
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(PAGE_HEADER)
        self.back = Button(N_("Shops"), kind="ghost", icon="ph.caret-left", small=True)
        self.title, self._badge = Elided("", "panel"), Badge.platform("")
        self.copy = IconButton("ph.copy", N_("Copy the id"))
        self._id, self._more_known = Elided("", "mono", "text3"), Elided("", "label", "text3")
        self.buttons = buttons_of(USUAL, self.wanted.emit)
        self.more = IconButton("ph.dots-three", N_("What to do about this shop"))
        self._stood = Label("", "labelstrong", "retrying")
        self._stood.hide()
        row = in_row(
            self.back,
            self.title,
            self._badge,
            self._id,
            self.copy,
            (self._more_known, 1),
            self._stood,
            owner=self,
            margins=(PAGE_MARGIN - 8, 0, PAGE_MARGIN, 0),
            spacing=8,
        )
        for key in USUAL:
            row.addWidget(self.buttons[key])
        row.addWidget(self.more)
        self._key = ""
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._key))

    def show_stood(self, said: str) -> None:
        """Say that the view stands still, as the header in whose place this stands does."""
        self._stood.setText(said)
        self._stood.setVisible(bool(said))

    def show_shop(self, row: ShopRow, verbs: Verbs[ShopVerb, ShopRow]) -> None:
        """Say which one it is."""
        self.title.show_text(words.name(row))
        self._badge.show_text(platform_badge(row.shop.platform))
        self._key = row.key  # what is shown has its control characters made visible
        self._id.show_text(row.key)
        group = _("group {name}").format(name=safe.one_line(row.shop.group, 40)) if row.shop.group else ""
        self._more_known.show_text(text.listed([one for one in (group, *row.shop.tags) if one]))
        offer_on(self.buttons, verbs, row)


class ShopDayView(QWidget):
    """Signals:
    closed: the list of shops is wanted again.
    shown: what another page shall show: page id, filter.
    loaded: an answer is shown.
    followed: the shop is not as it was.
    """

    closed = Signal()
    shown = Signal(str, object)
    loaded = Signal()
    followed = Signal()

    def __init__(
        self,
        queries: ShopQueries,
        trail: AuditQueries,
        connected: Callable[[], bool],
        verbs: Callable[[ShopRow], Verbs[ShopVerb, ShopRow]],
    ) -> None:
        """``connected``: whether the store answers; else the window tells it above all pages; ``verbs``: what can be
        done to a shop.
        """
        super().__init__()
        self._queries, self._trail, self._connected, self._verbs = queries, trail, connected, verbs
        self._works: tuple[TypeRow, ...] = ()
        self._row: ShopRow | None = None
        self._day: ShopDay | None = None
        self._parts: Lists = {}

    def build(self) -> Iterator[None]:
        """Put it together, a little between two yields; whoever makes it goes through all of it."""
        self.head, self.tiles, self.why, self.coming = ShopHead(), TileRow(), WhyStrip(), ComingCard()
        self.lists = Segmented(_LISTS, N_("What is listed"))
        self._done: RecordModel[AuditEntry] = RecordModel(
            ACTS, key=lambda entry: entry.entry_id, hold_new=False, sentence=sentence
        )
        yield
        self.acts = TableView(self._done, name=N_("Acts on the shop"))
        self._ask_acts = Operation(self, latest=True)
        yield
        self.span = Segmented([(key, title) for key, title, _ms in CHOICES], N_("Time range"))
        self.span.set_current("24")
        self.whole = Button(N_("Show all"), kind="ghost", small=True)
        self.door = LinkLabel(N_("Open in Tasks"))
        self.gantt = Gantt()
        self.legend = GanttLegend()
        self.error = ErrorStrip()
        yield
        self._model: RecordModel[DayAttempt] = RecordModel(
            RUNS, key=lambda run: run.key, hold_new=False, local_sort=True, sentence=gantt_words.sentence
        )
        self.table = TableView(self._model, name=N_("Runs of the shop"))
        self.empty = EmptyState(
            N_("Nothing ran in this time, and nothing is planned."),
            N_("Look at a longer time, or ask whether it ran on a day."),
            icon="ph.calendar-blank",
        )
        self._source: ListSource[str] = ListSource(self._call, "", self, every_ms=EVERY_MS)
        yield
        yield from self._put_together()
        yield
        self._connect()
        on_language_changed(self._on_language)

    def _put_together(self) -> Iterator[None]:
        """From the outside in: Qt looks through all of a widget whenever it gets another parent."""
        whole = in_column(owner=self, spacing=0)
        page = ScrollPane()  # a low window would squeeze the chart to a line
        whole.addWidget(page, 1)
        how = QVBoxLayout()  # told also where nothing ran: the panel beside it leaves these out
        how.setContentsMargins(PAGE_MARGIN, 0, 0, 8)
        how.setSpacing(8)
        page.body.addLayout(how)
        put(how, self.error, self.tiles, self.why)
        yield
        full = QWidget()
        page.body.addWidget(full, 1)
        column = in_column(owner=full, spacing=0)
        room = in_column(margins=(PAGE_MARGIN, 0, 0, 8), spacing=8)
        column.addLayout(room, 1)
        self._chart = card = Card(TITLES["24"])
        room.addWidget(card)
        yield
        card.add_action(self.whole)
        card.add_action(self.span)
        card.body.setContentsMargins(8, 0, 8, 8)
        card.body.addWidget(self.legend)
        self._pane = pane = ScrollPane()
        card.body.addWidget(pane)
        card.body.addWidget(self.empty)
        self.empty.hide()
        pane.body.addWidget(self.gantt)
        pane.body.addStretch(1)
        pane.setMaximumHeight(MOST_HIGH)
        pane.verticalScrollBar().valueChanged.connect(self.gantt.update)
        self._listed = listed = Card(N_("Tasks"), padding=0)
        room.addWidget(listed, 1)
        listed.add_beside_title(self.lists)
        listed.add_action(self.door)
        self._shown = QStackedWidget()
        self._shown.setMinimumHeight(LEAST_LIST)
        listed.body.addWidget(self._shown, 1)
        for table in (self.table, self.acts):
            yield
            self._shown.addWidget(table)

    def _connect(self) -> None:
        self.head.back.clicked.connect(self.closed)
        self.head.more.clicked.connect(self._open_menu)
        for asking in (self.head, self.why):
            asking.wanted.connect(self._act)
        self.door.activated.connect(self._open_list)
        self.coming.wanted.connect(lambda name: self.shown.emit("schedules", name))
        self.whole.clicked.connect(self.gantt.show_all)
        self.span.chosen.connect(self._on_span)
        self.lists.chosen.connect(self._on_list)
        self.why.task_wanted.connect(self._open_task)
        self.gantt.chosen.connect(self._on_chosen)
        self.gantt.reached.connect(self._reveal)
        self.gantt.opened.connect(self._open_task)
        self.table.current_changed.connect(self._on_row)
        self.table.open_requested.connect(self._open_row)
        self._source.listed.connect(self._show)
        self._source.failed.connect(self._show_error)
        self.error.retry.connect(lambda: self._source.again(settle=False))
        for part in (self, self.head):
            bind(part, {"Esc": self.closed.emit})
        ticks().tell(self, self._on_tick)

    # what is shown

    @property
    def row(self) -> ShopRow | None:
        """The shop that is shown."""
        return self._row

    @property
    def day(self) -> ShopDay | None:
        """What is shown; None while nothing is known of the shop."""
        return self._day

    def open_shop(self, row: ShopRow) -> None:
        """Show the runs of a shop."""
        if self._row is None or self._row.key != row.key:
            self._day, self._works = None, ()
            self.error.clear()  # of another shop
            self.lists.set_current("all")
            self._shown.setCurrentIndex(0)
            self._model.apply((), settle=True)
            self._done.apply((), settle=True)
            for key, _title in _LISTS:
                self.lists.set_suffix(key, "")
            self._show_empty(empty=False)
            self.gantt.show_day(ShopDay(shop=row.key, begins=0, ends=1, now=0))
            self.coming.show_day(None)
        self._row = row
        self._say()
        self.show_verbs()
        if self.lists.current() == "acts":
            self._on_list("acts")
        self._source.set_active(True)
        self._ask()

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
            self.show_verbs()
            self.followed.emit()
            if self.lists.current() == "acts":  # it may be one of these that changed it
                self._on_list("acts")

    def _on_span(self, which: str) -> None:
        self._chart.set_title(TITLES[which])
        self._ask()

    def _on_list(self, which: str) -> None:
        self._shown.setCurrentIndex(int(which == "acts"))
        self._fill(settle=True)
        if which == "acts" and self._row is not None:
            key = self._row.key
            self._ask_acts.start(partial(of_shop, self._trail, key), partial(self._show_acts, key))

    def _show_acts(self, key: str, found: tuple[AuditEntry, ...]) -> None:
        if self._row is not None and self._row.key == key:
            self._done.apply(found, settle=True)

    def _show(self, answer: Answer) -> None:
        key, row, day, works, parts = answer
        if self._row is None or key != self._row.key:
            return
        self._works = works
        if row is not None:
            self.follow(row)
        self.error.clear()
        before, self._day, self._parts = self._day, day, parts
        self.gantt.show_day(day)
        self._pane.setFixedHeight(min(max(MOST_HIGH, self.height() * 2 // 5), self.gantt.height()))
        same = before is not None and (before.runs, before.waiting) == (day.runs, day.waiting)
        if not same or len(day.waiting) >= MOST_WAITING:  # there may be thousands, every few seconds
            self._fill(settle=before is None or not before.runs)
        self._show_empty(empty=not day.runs)
        self.coming.show_day(day)
        self._say()
        self.loaded.emit()

    def _show_empty(self, *, empty: bool) -> None:
        """The range can be chosen and acts can be listed also where nothing ran."""
        self._pane.setHidden(empty)
        self.legend.setHidden(empty)
        self.empty.setVisible(empty)

    def _fill(self, *, settle: bool) -> None:
        day = self._day
        if day is None:
            return
        wait = self._row.now.waiting if self._row is not None else 0
        more = wait if len(day.waiting) >= MOST_WAITING and wait > len(day.waiting) else 0
        self._listed.set_note(_("the {n} that wait longest").format(n=text.count(len(day.waiting))) if more else "")
        for key, _title in _LISTS[:-1]:
            found = self._parts.get(key, ())
            number = len(found) + (more - len(day.waiting) if more and key != "running" else 0)
            self.lists.set_suffix(key, text.compact(number))
            if key == self.lists.current():
                self._model.apply(found, settle=settle)

    def _show_error(self, error: BaseException) -> None:
        if self._connected():
            self.error.show_error(told(error))

    def _say(self) -> None:
        if self._row is not None:
            self.tiles.show_tiles(tiles(self._row, self._day, self._works, instant.now_ms()))
            self.why.show_shop(self._row, self._day)
        self.legend.show_day(self._day)

    def _on_language(self) -> None:
        self._say()
        self.show_verbs()

    def _on_tick(self) -> None:
        if self._source.active and self.isVisible():
            self.gantt.update()
            self._say()

    # acting

    def show_verbs(self) -> None:
        """Say again what can be done: that goes by the shop and by rights alone, and is not asked every second."""
        if self._row is not None:
            found = self._verbs(self._row)
            self.head.show_shop(self._row, found)
            self.why.show_verbs(self._row, found)

    def _act(self, key: str) -> None:
        if self._row is not None:
            self._verbs(self._row).act(key, self._row)

    def _open_menu(self) -> None:
        if self._row is not None:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self._verbs(self._row).fill(menu, self._row)
            menu.popup(self.head.more.mapToGlobal(self.head.more.rect().bottomLeft()))

    def _open_list(self) -> None:
        """In Tasks what is listed here."""
        if self._row is None:
            return
        found = [equals("shop", self._row.key)]
        if self.lists.current() == "waiting":
            found.append(equals("status", *IN_WAIT))
        elif self.lists.current() == "running":
            found.append(equals("status", "running"))
        self.shown.emit("tasks", filter.format_terms(tuple(found)))

    # one cursor

    def _on_chosen(self, run: object) -> None:
        if isinstance(run, DayAttempt) and not self.table.set_current_key(run.key):
            self.lists.set_current("all")  # what is listed leaves it out
            self._on_list("all")
            self.table.set_current_key(run.key)

    def _on_row(self, key: object) -> None:
        before = self.gantt.current
        self.gantt.choose(str(key) if key is not None else "")
        if self.gantt.current is not None and self.gantt.current != before:
            self._reveal(self.gantt.current)

    def _reveal(self, wanted: DayAttempt) -> None:
        """Scroll the rows to the one of a run."""
        room = next((room for run, room in self.gantt.bars if run.key == wanted.key), None)
        if room is not None:
            self._pane.ensureVisible(0, round(room.center().y()), 0, ROW + AXIS)

    def _open_row(self, key: object) -> None:
        run = self._model.find(str(key)) if key is not None else None
        if run is not None and run.task_id:
            self._open_task(run.task_id)

    def _open_task(self, task_id: str) -> None:
        self.shown.emit("tasks", filter.format_terms((equals("id", task_id),)))


def _look(queries: ShopQueries, key: str, span: int) -> Answer:
    rows = queries.shops(only=(key,)).rows
    day = queries.days.look(key, span)
    every = sorted((*day.runs, *day.waiting), key=_away_from_now)
    parts = {
        name: tuple(run for run in every if run.state == _ONLY.get(name, run.state)) for name, _title in _LISTS[:-1]
    }
    return key, next(iter(rows), None), day, queries.works(key), parts


def _away_from_now(run: DayAttempt) -> tuple[int, int]:
    """What runs and what waits, the oldest first of these; then what ran, the newest first; then what comes."""
    back = run.state not in (PLANNED, WAITS)
    return _ORDER.get(run.state, 2), -run.begins if back else run.begins


def outcome(entry: AuditEntry) -> str:
    """How it ended, and why where it was refused or failed; nothing is written while it goes on."""
    return safe.one_line(act_words.ended(entry.outcome), 120) or _("not ended")


def detail(entry: AuditEntry) -> str:
    """What was set, name by name; secrets as dots."""
    found = masked(audit.told_of(entry))
    said = (f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in found.items())
    return safe.one_line(", ".join(said), 300)


def sentence(entry: AuditEntry) -> str:
    """One act for a screen reader."""
    parts = (shown.clock(entry.at, instant.now_ms()), entry.who, act_words.act(entry.action), outcome(entry))
    return ", ".join(parts)


def of_shop(trail: AuditQueries, key: str) -> tuple[AuditEntry, ...]:
    """Acts on a shop (``platform:shop_id``) itself, not on its tasks. Blocking."""
    found = trail.entries(f'target:"{key}","shop:{key}"', limit=SHOWN, scan=SCANNED)
    return found.entries


def tiles(row: ShopRow, day: ShopDay | None, works: Sequence[TypeRow], now_ms: int) -> list[Told]:
    """The numbers of a shop; what is not asked yet is a dash."""
    now = row.now
    return [
        _success(day),
        Told("waiting", N_("Waiting"), text.count(now.waiting), *_waits(row, day, now_ms)),
        Told("running", N_("Running"), words.used(now.running, row.shop.concurrency), _at_once(row)),
        Told("retrying", N_("Retrying"), text.count(now.retrying), "", "retrying" if now.retrying else "text"),
        Told("dead", N_("Dead letters"), text.count(now.dead), "", "dead" if now.dead else "text"),
        _next(day, works, now_ms),
        _last(row, works, now_ms),
    ]


def _success(day: ShopDay | None) -> Told:
    """The share that ended well, beside what it was in the time before."""
    if day is None:
        return Told("success", N_("Success"), "–")
    number, good = ended(day.runs)
    before = _before(day)
    if not number:
        return Told("success", N_("Success"), "–", before or _("none ended"), below=_("none ended") if before else "")
    ends = ngettext("{n} ended", "{n} ended", number).format(n=text.count(number))
    tone = "dead" if good / number < insight.GOOD else "text"
    if not before:
        return Told("success", N_("Success"), text.percent(good / number), ends, tone)
    return Told("success", N_("Success"), text.percent(good / number), before, tone, below=ends)


def _before(day: ShopDay) -> str:
    """The share of the time before, "" where nothing is known of it or nothing ended in it."""
    number, good = day.before or (0, 0)
    if not number:
        return ""
    span = day.now - day.begins
    said = _("{share} the day before") if span == SPANS[1] else _("{share} the {span} before")
    return said.format(share=text.percent(good / number), span=text.exact(shown.span(span)))


def _waits(row: ShopRow, day: ShopDay | None, now_ms: int) -> tuple[str, str, str, str, str]:
    queue = _("own queue") if row.shop.dedicated else _("shared queue")
    oldest = min((run.begins for run in (day.waiting if day is not None else ())), default=0)
    if not oldest:
        return queue, "text", "", "", ""
    return _("oldest {span}").format(span=text.coarse(shown.span(max(0, now_ms - oldest)))), "text", "", "", queue


def _at_once(row: ShopRow) -> str:
    return _("on {node}").format(node=safe.one_line(row.home, 40)) if row.home else ""


def _next(day: ShopDay | None, works: Sequence[TypeRow], now_ms: int) -> Told:
    found = [(one.planned.at, one.task_type) for one in works if one.planned is not None]
    found += [(run.begins, run.task_type) for run in (day.runs if day is not None else ()) if run.state == PLANNED]
    coming = [one for one in found if one[0] >= now_ms]
    if not coming:
        return Told("next", N_("Next run"), "–", _("not planned"))
    at, kind = min(coming)
    soon = text.until(shown.span(at - now_ms))
    return Told("next", N_("Next run"), shown.minute(at, now_ms), soon, below=type_names.name(kind))


def _last(row: ShopRow, works: Sequence[TypeRow], now_ms: int) -> Told:
    done = [(one.done.at, one.task_type) for one in works if one.done is not None]
    at, kind = max(done, default=(row.now.success_at, ""))  # the ledger decides, where it was asked
    if not at:
        return Told("last", N_("Last success"), "–", _("none known"))
    tone = "stuck" if row.now.state == insight.STUCK else "text"
    name = type_names.name(kind) if kind else ""
    return Told("last", N_("Last success"), shown.minute(at, now_ms), words.since(at, now_ms), tone, below=name)


class ComingCard(Card):
    """What schedules will bring next; hidden where that is nothing.

    Signals:
        wanted: the name of the schedule that brings the first of it.
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(N_("Next scheduled"), divided=True)
        self._first = ""
        self.rows = KeyValues(spread=True)
        self.body.addWidget(self.rows)
        self.door = LinkLabel(N_("Open schedules"))
        self.door.activated.connect(lambda: self.wanted.emit(self._first))
        self.add_action(self.door)
        self.hide()

    def show_day(self, day: ShopDay | None) -> None:
        """Show the first of it."""
        coming = [run for run in (day.runs if day is not None else ()) if run.state == PLANNED and run.schedule]
        self._first = coming[0].schedule if coming else ""
        now = instant.now_ms()
        self.rows.set_rows(
            (
                text.listed([shown.minute(run.begins, now), type_names.name(run.task_type)]),
                safe.one_line(run.schedule, 40),
            )
            for run in coming[:NEXT]
        )
        self.setVisible(bool(coming))


class WhyStrip(QWidget):
    """Why the shop does not go on, and what to do about it; hidden while it does.

    Signals:
        task_wanted: id of the task that hangs.
        wanted: the key of a verb.
    """

    task_wanted = Signal(str)
    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._task_id = ""
        self.strip = Strip("stuck")
        self.door = Button(N_("Open the task"), small=True)
        self.door.clicked.connect(lambda: self.task_wanted.emit(self._task_id))
        self.buttons = buttons_of(_ASKED, self.wanted.emit)
        self._ways = QWidget()
        ways = FlowRow(across=8, down=6)
        ways.setContentsMargins(0, 4, 0, 0)
        self._ways.setLayout(ways)
        for button in (*self.buttons.values(), self.door):
            ways.addWidget(button)
        self.strip.add_below(self._ways)
        in_column(self.strip, owner=self)

    def show_shop(self, row: ShopRow, day: ShopDay | None) -> None:
        """Say what holds this shop, the decisive first, who says so, and while it is stuck what has run for longest."""
        now, at_ms = row.now, instant.now_ms()
        if now.state not in HOLDS:
            self.hide()
            return
        hung = longest(day) if now.state == insight.STUCK else None
        said = [shop.why(now, at_ms)]
        if now.session is not None:
            said.append(words.told_by(now.session))
        if now.breaker is not None:
            said.append(words.last_failure(now.breaker))
        parts = [text.listed([one for one in said if one], ";")]
        if hung is not None:
            parts.append(hangs(hung, at_ms))
        lead = _("Why is it stuck?") if now.state == insight.STUCK else shop.word(now.state)
        self.strip.set_status(now.state)
        self.strip.show_text(text.sentences(parts), lead)
        self._task_id = hung.task_id if hung is not None else ""
        self.door.setVisible(bool(self._task_id))
        self._ways.setVisible(any(not button.isHidden() for button in (*self.buttons.values(), self.door)))
        self.show()

    def show_verbs(self, row: ShopRow, verbs: Verbs[ShopVerb, ShopRow]) -> None:
        """Offer what answers it."""
        offer_on(self.buttons, verbs, row)
        self._ways.setVisible(any(not button.isHidden() for button in (*self.buttons.values(), self.door)))


#: what keeps a shop from going on
HOLDS = frozenset({*insight.FLAGGED, insight.UNKNOWN, insight.PAUSED_TYPE, *insight.SWITCHED})


def longest(day: ShopDay | None) -> DayAttempt | None:
    """What has run for longest and still does."""
    running = [run for run in (day.runs if day is not None else ()) if run.state == RUNNING]
    return min(running, key=lambda run: run.begins, default=None)


def hangs(run: DayAttempt, now_ms: int) -> str:
    """Since when a task runs, and where."""
    said = _("{type} has run for {span} on {worker}") if run.worker else _("{type} has run for {span}")
    span = text.coarse(shown.span(max(0, now_ms - run.begins)))
    return said.format(type=type_names.name(run.task_type), span=span, worker=safe.one_line(run.worker, 60))
