"""The Queues page: lanes, queues of single shops, back-off and dead letters as a tree, and one of them below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QWidget

from services.i18n import N_, _
from services.monitor.alerts.queries import AlertQueries
from services.monitor.forecast.drain import Drain
from services.monitor.queues.board import DEEPEST, DELAY, LANE, Point, QueueBoard, QueueNow, QueuesNow
from services.monitor.queues.holders import HoldersNow
from views.context import PageContext
from views.kit.list_page import ListPage
from views.kit.list_source import SOON_MS, Ask, ListSource
from views.kit.verb import Verbs
from views.page import PageCommand
from views.pages.queues import words
from views.pages.queues.forecast import Foreseen, missed, of_lane
from views.pages.queues.panel import HOLDERS, QueuePanel
from views.pages.queues.table import COLUMNS, MORE, VALUES, Line, sentence
from views.pages.queues.verbs import VERBS, QueueActions, QueueVerb
from views.support import safe, shown, text
from views.support.keys import bind
from views.support.operation import Operation
from views.tables.record_model import RecordModel, Sort, sorted_rows
from views.tables.table_view import TableView
from views.theme.tokens import PAGE_MARGIN
from views.widgets.buttons import Button
from views.widgets.layout import OneAboveOther, in_column, put
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip, Strip

EVERY_MS, MANY_MS, REST_MS, MANY = 2000, 5000, 10_000, 500
RANGES = (("300", N_("5 min")), ("3600", N_("1 h")), ("86400", N_("24 h")))
POINTS = 300
#: what the list takes of the page at most, and its head with the edge below its last row
MOST, HEAD = 0.62, 34
ALL = 1_000_000


class Wanted(msgspec.Struct, frozen=True):
    """How many queues of shops, the deepest first."""

    most: int = DEEPEST


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """All queues, and more of the one under the cursor."""

    ask: Ask[Wanted]
    now: QueuesNow
    name: str = ""
    range_s: int = 0  #: of which the points are
    points: tuple[Point, ...] = ()
    holders: HoldersNow | None = None  #: None where nobody looks at it
    limit: float | None = None  #: depth of a lane from which on its alert rule tells somebody


class QueueTable(TableView):
    """Left folds a group, Right unfolds it."""

    def __init__(self, model: RecordModel[Line], name: str, fold: Callable[[str, bool | None], None]) -> None:
        super().__init__(model, name=name)
        self._fold = fold

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Fold, or what every table does."""
        key = self.current_key()
        line = self.records.find(key) if key is not None else None
        if line is not None and line.group and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._fold(str(key), event.key() == Qt.Key.Key_Left)
            return
        super().keyPressEvent(event)


class QueuesPage(ListPage[Line]):
    """A tree of queues, and below it the one under the cursor."""

    page_id = "queues"
    actions_of_page: QueueActions
    panel: QueuePanel

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Queues"), context)
        self._now = QueuesNow()
        self._folded: frozenset[str] = frozenset()
        self.actions_of_page = QueueActions(context, self)
        self.verbs: Verbs[QueueVerb, QueueNow] = Verbs(VERBS, self._do, self.actions_of_page.barred)
        self._model: RecordModel[Line] = RecordModel(
            COLUMNS, key=lambda one: one.key, hold_new=False, sentence=sentence
        )
        self._source: ListSource[Wanted] = ListSource(
            self._call, Wanted(), self, every_ms=EVERY_MS, follows=context.feed, rest_ms=REST_MS
        )
        self._drawing = Operation(self, latest=True)
        self._foreseeing = Operation(self, latest=True)
        self._drain: Drain | None = None
        self._limit: float | None = None
        self.make(self._build, self._connect, lambda: self.set_summary(words.summary(self._now)))

    # the page

    def activate(self) -> None:
        """Follow what waits."""
        super().activate()
        self._foresee()

    def refresh(self) -> None:
        """Ask at once; the deepest first, as of now."""
        self._source.again()

    def show_request(self, request: object) -> None:
        """Put the cursor on a queue."""
        self._wish = str(request or "")
        self._show_rows(settle=False)

    def undo(self, after: int = 0) -> bool:
        """Take back the newest purge while that is offered."""
        return self.actions_of_page.acting.undo(after)

    def commands(self) -> Sequence[PageCommand]:
        """What the palette offers: a queue for a shop, and the verbs of the queue under the cursor."""
        acts, row = self.actions_of_page, self.current()
        new = PageCommand(
            key="queues.dedicate",
            words=_("Dedicated queue"),
            icon="ph.plus",
            reason=acts.barred(),
            run=acts.ask_dedicate,
        )
        return [new, *(self.verbs.commands("queues", row, row.name) if row is not None else [])]

    def panes(self) -> Sequence[QWidget]:
        """List, and what is below it."""
        return (self.table, self.panel.buttons["peek"])

    def current(self) -> QueueNow | None:
        """The queue under the cursor."""
        line = self._find(self.table.current_key())
        return line.queue if line is not None else None

    def _told(self) -> QueueNow | None:
        """The queue that the panel tells of, as it is now: that under the cursor, on a group the one before."""
        row, before = self.current(), self.panel.shown
        return self._now.find(before.name) if row is None and before is not None else row

    # putting together

    def _build(self) -> Iterator[None]:
        self.range = Segmented(RANGES, N_("Span of the curves"))
        self.range.set_current("3600")
        self.header.add_action(self.range)
        self.new_button = Button(N_("Dedicated queue"), icon="ph.plus")
        self.header.add_action(self.new_button)
        yield
        self.error = ErrorStrip()
        self.blocked = Strip("blocked")
        self.missed = Strip("warning")
        self._strips = QWidget()
        in_column(self.blocked, self.missed, owner=self._strips, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, 8), spacing=8)
        self._strips.hide()
        yield
        self.table = QueueTable(self._model, N_("Queues"), self.fold)
        yield
        self.panel = QueuePanel(self.verbs)
        self.panel.hide()
        yield from self.panel.build()
        yield
        above = QWidget()
        in_column((self.table, 1), owner=above, spacing=0)
        self.split = OneAboveOther(self, above, self.panel, most=MOST)
        yield
        put(self.body, self.error, self._strips, (self.split, 1))
        self._unknown = self.covered(self.split)

    def _connect(self) -> None:
        acts = self.actions_of_page
        self.range.chosen.connect(lambda _key: self._on_range())
        self.new_button.clicked.connect(acts.ask_dedicate)
        self.table.current_changed.connect(lambda _key: self._on_chosen())
        self.table.open_requested.connect(self._on_opened)
        self.table.peek_requested.connect(self._on_peeked)
        self.table.menu_requested.connect(self._fill_menu)
        self.table.clicked.connect(self._on_clicked)
        self._model.sort_requested.connect(lambda _sorts: self._show_rows(settle=True))
        bind(self.table, {verb.shortcut: partial(self._act, verb.key) for verb in VERBS if verb.shortcut})
        bind(self.panel, {"Esc": self._close_panel})
        self.panel.closed.connect(self._close_panel)
        self.panel.view_chosen.connect(lambda _view: self._source.again(settle=False))
        self.panel.holders.task_wanted.connect(lambda task_id: self.navigate.emit("tasks", f"id:{task_id}"))
        self._connect_list()

    # looking

    def _call(self, ask: Ask[Wanted]) -> Callable[[], Answer]:
        row = self._told()
        name = row.name if row is not None else ""
        holders = self.panel.view == HOLDERS and row is not None and row.kind != DELAY and self.panel.isVisible()
        return partial(_look, self._context.queues, self._context.alerts, ask, name, self._range_s(), holders=holders)

    def _range_s(self) -> int:
        return int(self.range.current())

    def _show(self, answer: Answer) -> None:
        self.error.clear()
        ask, self._now, self._limit = answer.ask, answer.now, answer.limit
        if self._now.at_ms:
            self._unknown.answer()
        many = len(self._now.rows) > MANY
        self._source.ask_every(MANY_MS if many else EVERY_MS, MANY_MS if many else SOON_MS)
        self._show_rows(settle=ask.settle)
        row = self._told()
        if row is not None and row.name == answer.name and answer.range_s == self._range_s():
            self.panel.show_points(answer.name, answer.points)
        if answer.holders is not None:
            self.panel.show_holders(answer.name, answer.holders)
        self._say()
        self._foresee()

    def _foresee(self) -> None:
        """Ask when what waits will have run; mostly it is the same answer as before."""
        if not self._foreseeing.busy:
            self._foreseeing.start(self._context.queues.forecast, self._show_drain, lambda _error: None)

    def _show_drain(self, drain: Drain) -> None:
        if drain is not self._drain:
            self._drain = drain
            self.panel.forecast.show_drain(drain)
            self._show_rows(settle=False)
            self._say()

    def _show_rows(self, *, settle: bool) -> None:
        lines: list[Line] = []
        for group, title in words.GROUPS:
            rows = [row for row in self._now.rows if words.group_of(row) == group]
            if not rows:
                continue
            folded = group in self._folded
            number = self._now.shops if group == words.SHOPS_GROUP else len(rows)
            lines.append(Line(group, group=title, number=number, folded=folded))
            if not folded:
                lines += self._sorted([Line(row.name, queue=row, foreseen=self._foreseen(row)) for row in rows])
                if number > len(rows):
                    lines.append(Line(MORE, number=number - len(rows), needing=len(self._now.unlisted)))
        new = {line.key for line in lines} != {line.key for line in self._model.records()}
        self._model.apply(lines, settle=settle or new)
        self.split.give(HEAD + len(lines) * self.table.verticalHeader().defaultSectionSize())
        if self._wish and self.table.set_current_key(self._wish):
            self._wish = ""
        if lines and self.table.current_key() is None:
            self.table.set_current_key(lines[1].key if len(lines) > 1 else lines[0].key)
        self._on_chosen()

    def _foreseen(self, row: QueueNow) -> Foreseen | None:
        return of_lane(self._drain, row.lane) if self._drain is not None and row.lane else None

    def _sorted(self, lines: list[Line]) -> list[Line]:
        sorts: Sequence[Sort] = self._model.sorts
        return sorted_rows(lines, sorts, VALUES.__getitem__) if sorts else lines

    def _on_chosen(self) -> None:
        """Another queue is under the cursor, or it has changed."""
        # on a group the one before stays in sight: a panel that came and went would move the rows
        row = self._told()
        self.panel.setVisible(row is not None and not self._closed)
        if row is None:
            return
        other = self.panel.shown is None or self.panel.shown.name != row.name
        self.panel.show_row(row, self._now)
        self.panel.show_limit(self._limit if row.kind == LANE else None)
        if other:
            self._draw()

    def _on_range(self) -> None:
        self.panel.window_of_time.set_range(self._range_s())
        self._draw()

    def _draw(self) -> None:
        row = self._told()
        if row is not None:
            call = partial(self._context.queues.story, row, self._range_s(), POINTS)
            self._drawing.start(call, partial(self.panel.show_points, row.name), lambda _error: None)

    def _say(self) -> None:
        now = self._now
        self.set_summary(words.summary(now))
        blocked = now.publisher.blocked
        said = text.sentences([shown.say(now.publisher.message), _("Nothing is lost.")]) if blocked else ""
        self.blocked.show_text(safe.masked(said), _("The broker is blocked.") if blocked else "")
        late = missed(self._drain) if self._drain is not None else ""
        self.missed.show_text(safe.masked(late))
        self._strips.setVisible(bool(blocked or late))
        self._say_rights()

    def _say_rights(self) -> None:
        self.new_button.disable(self.actions_of_page.barred())
        self.panel.follow()

    # the tree

    def fold(self, group: str, folded: bool | None = None) -> None:
        """Fold a group, or unfold it; None for the other way round."""
        on = group not in self._folded if folded is None else folded
        self._folded = self._folded | {group} if on else self._folded - {group}
        self._show_rows(settle=False)

    def _on_clicked(self, index: object) -> None:
        line = self._find(self.table.current_key())
        if line is not None and line.queue is None and index == self.table.currentIndex():
            self._on_opened(line.key)

    def _on_opened(self, key: object) -> None:
        line = self._find(key)
        if line is None:
            return
        if line.group:
            self.fold(line.key)
        elif line.key == MORE:
            self._source.ask(Wanted(ALL))
        elif line.queue is not None:
            self.actions_of_page.show_tasks(line.queue)

    def _on_peeked(self, key: object) -> None:
        line = self._find(key)
        if line is not None and line.queue is not None:
            self._closed = not self._closed
            self._on_chosen()

    # acting

    def _act(self, key: str) -> None:
        row = self.current()
        if row is not None:
            self.verbs.act(key, row)

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        line = self._find(key)
        if line is not None and line.queue is not None:
            self.verbs.fill(menu, line.queue)


def _look(
    board: QueueBoard, alerts: AlertQueries, ask: Ask[Wanted], name: str, range_s: int, *, holders: bool
) -> Answer:
    now = board.now(ask.wanted.most, name)
    row = now.find(name)
    return Answer(
        ask=ask,
        now=now,
        name=name,
        range_s=range_s,
        points=board.story(row, range_s, POINTS) if row is not None else (),
        holders=board.holders(name) if holders and row is not None else None,
        limit=alerts.limit("lane_depth", "tasks"),
    )
