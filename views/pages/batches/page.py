"""The Batches page: a list, and beside it one batch: how far it is, what waits for what, what is not done and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from services.domain.insight import batch as insight
from services.domain.insight.batch import Hold, ShopLeft, Story, Undone
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.task.status import ACTIVE, MOVABLE, Status
from services.i18n import N_, _, ngettext
from services.monitor.batches import MOST, Ahead, BatchQueries, BatchView
from services.monitor.tasks import TaskQueries
from views.context import PageContext
from views.kit.list_page import ListPage
from views.kit.list_source import Ask, ListSource
from views.kit.verb import Place, Verbs, show
from views.page import PageCommand
from views.pages.batches import forecast, words
from views.pages.batches.bar import BatchBar, Boxes
from views.pages.batches.forecast import BatchForecast
from views.pages.batches.table import BATCHES, HOLDS, NEXT, ROW, VALUES, left_columns
from views.pages.batches.verbs import CHANGING, VERBS, BatchActions, BatchVerb
from views.pages.batches.words import BatchNow
from views.support import instant, shown, text
from views.support.elide import middle
from views.support.keys import bind
from views.support.look import Label, set_look
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.tables.at_rest import AtRest
from views.tables.record_model import Heading, RecordModel, parted, sorted_rows
from views.tables.table_view import TableView
from views.theme import theme
from views.theme.tokens import CARD_GAP, PAGE_MARGIN, QWIDGETSIZE_MAX, status
from views.widgets.buttons import Button, IconButton
from views.widgets.card import Card
from views.widgets.elided import Elided
from views.widgets.empty_state import EmptyState
from views.widgets.filter.search_field import SearchField
from views.widgets.layout import stacked
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip

EVERY_MS, TYPING_MS = 3000, 200
#: how long what the verbs would change is told as it was found out, at most, and at least while their numbers change
AHEAD_MS, CHANGED_MS = 15_000, 2000
LOADED = 2000
ALL, OPEN, ENDED = "all", "open", "ended"
TABS = ((ALL, N_("All")), (OPEN, N_("Not ended")), (ENDED, N_("Ended")))
SIDE, CHANGES = 264, 372
#: a page of this width has room for what would change beside the state
BESIDE = 1050
#: room of a bar that scrolls sideways, below the boxes
BAR = 8
#: columns of a name that the title takes
NAMED = 34
#: the status whose glyph stands before the number
GLYPHS = {
    insight.DONE: "succeeded",
    insight.RUNNING: "running",
    insight.WAITING: "waiting",
    insight.HELD: "paused",
    insight.DEAD: "dead",
}
#: what tells boxes of a type apart, and what the boxes say of it
BOXES = (
    (insight.PLATFORM, N_("Platform")),
    (insight.GROUP, N_("Group")),
    (insight.TYPE, N_("Type")),
)
CALLED: Mapping[str, Callable[[str], str]] = {
    insight.PLATFORM: words.badge,
    insight.GROUP: words.group,
    insight.TYPE: words.any_shop,
}
#: what is not done, by what
GATE, SHOP = "gate", "shop"
LEFT = ((GATE, N_("By gate")), (SHOP, N_("By shop")))
COUNTS = (insight.DONE, insight.RUNNING, insight.WAITING, insight.HELD, insight.DEAD)


class Answer(msgspec.Struct, frozen=True):
    """The batches, and the story of one of them."""

    rows: tuple[BatchView, ...]
    more: bool  #: there are older ones that fit
    one: BatchNow | None


class Foreseen(msgspec.Struct, frozen=True):
    """What the verbs of a batch would change, when that was found out (UTC ms), and of how many tasks."""

    ahead: Ahead | None = None
    at_ms: int = 0
    retries: int = 0
    raises: int = 0

    def is_old(self, one: BatchNow) -> bool:
        """Whether it is to be found out anew for the batch as it is now."""
        same = (self.retries, self.raises) == (one.retries, one.raises)
        return one.at_ms - self.at_ms > (AHEAD_MS if same else CHANGED_MS)


class BatchesPage(ListPage[BatchNow]):
    """A list, and beside it the batch under the cursor."""

    page_id = "batches"
    actions_of_page: BatchActions

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Batches"), context)
        self._rows: tuple[BatchView, ...] = ()
        self._one: BatchNow | None = None
        self._shown = ""  #: the batch whose story stands there, "" for none
        self._asked = False
        self._stood: dict[str, bool] = {}  #: which had not ended when their order was made
        self._looked, self._more = "", False  #: what the rows were looked for by, and whether there are older ones
        self._newest: tuple[BatchView, ...] = ()  #: those that were there before anything was looked for
        self.actions_of_page = BatchActions(context, self)
        self.verbs: Verbs[BatchVerb, BatchNow] = Verbs(VERBS, self._do, self.actions_of_page.barred)
        self._model: RecordModel[BatchNow] = RecordModel(
            BATCHES, key=lambda row: row.key, hold_new=False, sentence=words.sentence_of_row
        )
        self._held: RecordModel[Hold] = RecordModel(HOLDS, key=lambda row: row.key, hold_new=False)
        self._left: RecordModel[ShopLeft] = RecordModel(
            left_columns(self._names), key=lambda row: row.shop, hold_new=False, local_sort=True
        )
        self._source: ListSource[str] = ListSource(
            self._call, "", self, every_ms=EVERY_MS, follows=context.feed, most=LOADED
        )
        self._telling, self._foreseeing = Operation(self, latest=True), Operation(self, latest=True)
        self._foreseen: dict[str, Foreseen] = {}  #: of the batch that stands there
        self.make(self._build, self._connect)

    # the page

    def refresh(self) -> None:
        """Ask at once, and put everything in its place."""
        self._source.again()

    def show_request(self, request: object) -> None:
        """Put the cursor on a batch."""
        self._wish = str(request or "")
        self.search.clear()
        self.tabs.set_current(ALL)
        self._show_rows(settle=False)

    def undo(self, after: int = 0) -> bool:
        """Take back the newest act while that is offered."""
        return self.actions_of_page.acting.undo(after)

    def commands(self) -> Sequence[PageCommand]:
        """What the palette offers: the verbs of the batch under the cursor."""
        one = self._one
        return self.verbs.commands("batches", one, words.name(one.view)) if one is not None else []

    def panes(self) -> Sequence[QWidget]:
        """List, boxes, what is not done."""
        return (self.table, self.boxes, self.held if self.left_by.current() == GATE else self.left)

    def current(self) -> BatchNow | None:
        """The batch under the cursor, as far as it is known."""
        return self._one

    # putting together

    def _build(self) -> Iterator[None]:
        self.search = SearchField()
        self.search.setPlaceholderText(_("Batch"))
        self.search.setAccessibleName(_("Batch"))
        self.tabs = Segmented(TABS, N_("Which batches"))
        yield
        self.table = TableView(self._model, name=N_("Batches"), row_height=ROW)
        self.setFocusProxy(self.table)  # who comes by keys presses those that stand on the buttons
        self.table.horizontalHeader().hide()
        self._rest = AtRest(self.table, cursor_is_set=True)
        self.none = EmptyState(N_("No batch is called so."), action=N_("Show all"))
        self._list = stacked(self.table, self.none)
        yield
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(PAGE_MARGIN, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.search)
        column.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._list, 1)
        left.setMinimumWidth(220)
        yield
        self.error = ErrorStrip()
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.stack = stacked(self.split)
        self.body.addWidget(self.error)
        self.body.addWidget(self.stack, 1)
        self.split.addWidget(left)
        yield
        yield from self._build_one()
        yield
        self.split.setStretchFactor(1, 1)
        self.split.setCollapsible(0, False)
        self.split.setCollapsible(1, False)
        self.split.setSizes([SIDE, 1000])
        yield
        self.empty = EmptyState(
            N_("No batch yet."),
            N_("Tasks that are created together are one: from a file, for many shops, by a schedule."),
            N_("New task"),
            icon="ph.tree-structure",
        )
        self.stack.addWidget(self.empty)
        yield
        self._unknown = self.covered(self.stack)

    def _build_one(self) -> Iterator[None]:
        self.tasks_door = self.header.lead_from(N_("Tasks"))
        self.tasks_door.activated.connect(lambda: self.navigate.emit("tasks", None))
        self.open_button = Button(VERBS[0].text, icon=VERBS[0].icon)
        self.header.add_action(self.open_button)
        self.export_button = Button(N_("Export"), icon="ph.export")
        self.header.add_action(self.export_button)
        pane = ScrollPane()
        self.split.addWidget(pane)
        pane.body.setContentsMargins(CARD_GAP, 0, PAGE_MARGIN, PAGE_MARGIN)
        pane.body.setSpacing(CARD_GAP)
        top = self._top = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        top.setSpacing(CARD_GAP)
        pane.body.addLayout(top)
        top.addWidget(self._build_state(), 1)
        yield
        top.addWidget(self._build_changes())
        yield
        self.boxes = Boxes()
        self.box_card = Card(N_("What waits for what"))
        self.boxes_by = Segmented(BOXES, N_("What the boxes are of"))
        self.box_card.add_action(self.boxes_by)
        room = ScrollPane()
        room.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        room.body.addWidget(self.boxes)
        room.body.addStretch(1)
        self._box_room = room
        self.box_card.body.addWidget(room)
        self.box_card.body.addStretch(1)
        self.forecast = BatchForecast()
        self.forecast_card = Card(N_("Forecast"))
        self.forecast_card.body.addWidget(self.forecast)
        self.forecast_card.body.addStretch(1)
        middle = self._middle = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        middle.setSpacing(CARD_GAP)
        middle.addWidget(self.box_card, 1)
        middle.addWidget(self.forecast_card)
        pane.body.addLayout(middle)
        yield
        self.held = TableView(self._held, name=N_("Not done"), ground="surface")
        self.left = TableView(self._left, name=N_("Not done, by shop"), ground="surface")
        self.done = EmptyState(N_("Nothing is left to do."), action=VERBS[0].text, icon="ph.check-circle")
        self._held_stack = stacked(self.held, self.left, self.done)
        self._held_stack.setMinimumHeight(220)
        self.held_card = Card(N_("Not done"), padding=0)
        self.left_by = Segmented(LEFT, N_("By what"))
        self.held_card.add_action(self.left_by)
        self.held_card.body.addWidget(self._held_stack, 1)
        pane.body.addWidget(self.held_card, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put what would change below the state where both do not fit beside each other."""
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        beside, least = self.width() >= BESIDE * theme().growth, round(CHANGES * theme().growth)
        for row in (self._top, self._middle):
            row.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        for card in (self._changes, self.forecast_card):
            card.setMinimumWidth(least if beside else 0)
            card.setMaximumWidth(least if beside else QWIDGETSIZE_MAX)

    def _build_state(self) -> Card:
        card = Card("")
        self._state = card
        self.told = Elided("", "label", "text3")
        self.copy_button = IconButton("ph.copy", N_("Copy the name"))
        self.copy_button.clicked.connect(self._copy_name)
        name = QHBoxLayout()
        name.setSpacing(8)
        name.addWidget(self.told, 1)
        name.addWidget(self.copy_button)  # before the words, it would stand in from what is below
        card.body.addLayout(name)
        self.headline = Label("", "strong", wrap=True)
        self.others = Label("", "body", "text2", wrap=True)
        kept = self.others.sizePolicy()
        kept.setRetainSizeWhenHidden(True)  # what is below stays where it is when the last that needs a person has gone
        self.others.setSizePolicy(kept)
        self.bar = BatchBar()
        for widget in (self.headline, self.others, self.bar):
            card.body.addWidget(widget)
        counts = QGridLayout()
        counts.setHorizontalSpacing(18)
        self.numbers: dict[str, Label] = {}
        self._glyphs: dict[str, QLabel] = {}
        self._parts: dict[str, Label] = {}
        self.below: dict[str, Elided] = {}
        for place, part in enumerate(COUNTS):
            self._glyphs[part], self._parts[part] = QLabel(), Label("", "label", "text3")
            title = QHBoxLayout()
            title.setSpacing(6)
            title.addWidget(self._glyphs[part])
            title.addWidget(self._parts[part], 1)
            counts.addLayout(title, 0, place)
            self.numbers[part] = Label("–", "kpi", tabular=True)
            counts.addWidget(self.numbers[part], 1, place)
            self.below[part] = Elided("", "caption", "text3")
            counts.addWidget(self.below[part], 2, place)
            counts.setColumnStretch(place, 1)
        card.body.addLayout(counts)
        card.body.addStretch(1)
        return card

    def _build_changes(self) -> Card:
        card = Card(N_("What would change"))
        self._changes = card
        self.buttons: dict[str, Button] = {}
        self.effects: dict[str, Label] = {}
        rows = QGridLayout()  # the effects begin under each other, whichever verb is the widest
        rows.setHorizontalSpacing(12)
        rows.setVerticalSpacing(card.body.spacing())
        rows.setColumnStretch(1, 1)
        for place, verb in enumerate(CHANGING):
            self.buttons[verb.key] = button = Button(
                verb.text, icon=verb.icon, kind="danger" if verb.danger else "plain", hint=verb.shortcut
            )
            button.clicked.connect(partial(self._act, verb.key))
            self.effects[verb.key] = effect = Label("", "label", "text3", wrap=True)
            button.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)  # all as wide as the widest
            rows.addWidget(button, place, 0)
            rows.addWidget(effect, place, 1, Qt.AlignmentFlag.AlignVCenter)
        card.body.addLayout(rows)
        card.body.addStretch(1)
        return card

    def _connect(self) -> None:
        theme().changed.connect(self._share)
        ask = Debounce(self._ask, TYPING_MS, self)
        self.search.textChanged.connect(lambda _text: self._show_rows(settle=True))
        self.search.textChanged.connect(lambda _text: ask())
        self.tabs.chosen.connect(lambda _key: self._show_rows(settle=True))
        self.none.action.connect(self._show_all)
        self.empty.action.connect(lambda: self._context.new_task({}))
        self.table.current_changed.connect(lambda _key: self._on_chosen())
        self.table.open_requested.connect(lambda _key: self._act("tasks"))
        self.table.menu_requested.connect(self._fill_menu)
        self.table.near_end.connect(lambda: self._source.more(len(self._rows)))
        self.open_button.clicked.connect(lambda: self._act("tasks"))
        self.done.action.connect(lambda: self._act("tasks"))
        self.boxes.chosen.connect(lambda _box: self._show_held(settle=True))
        self.boxes_by.chosen.connect(lambda _by: self._source.again(settle=False))
        self.left_by.chosen.connect(lambda _by: self._show_held(settle=True))
        self.left.open_requested.connect(self._open_left)
        self.boxes.opened.connect(self._open_box)
        self.held.open_requested.connect(self._open_held)
        self.held.clicked.connect(self._on_clicked)
        self._held.sort_requested.connect(lambda _sorts: self._show_held(settle=True))
        self.export_button.clicked.connect(lambda: self._act("export"))
        for place in (self.table, self.boxes, self.held, self.left):
            bind(place, {verb.shortcut: partial(self._act, verb.key) for verb in VERBS if verb.shortcut})
        bind(self, {"batches.next": partial(self._step, 1), "batches.previous": partial(self._step, -1)})
        self._connect_list()

    # looking

    def _ask(self) -> None:
        """Look for a name in all that are kept, not only in what is loaded."""
        self._source.ask(self.search.text().strip())

    def _call(self, ask: Ask[str]) -> Callable[[], tuple[Ask[str], Answer]]:
        key = self.table.current_key()
        name = str(key) if key is not None else self._wish
        return partial(_look, self._context.batches, self._context.tasks, ask, name, self.boxes_by.current())

    def _show(self, found: tuple[Ask[str], Answer]) -> None:
        ask, answer = found
        self.error.clear()
        self._unknown.answer()
        self._asked = True
        self._rows, self._more, self._looked = answer.rows, answer.more, ask.wanted
        if not ask.wanted:
            self._newest = answer.rows
        if answer.one is not None and answer.one.key == self.table.current_key():
            self._one = answer.one
        self._show_rows(settle=ask.settle or self._resting)
        if answer.one is not None and answer.one.key == self.table.current_key():
            self._show_one(answer.one, settle=ask.settle)
        self._say()

    def _show_rows(self, *, settle: bool) -> None:
        wish, which = self.search.text().strip().casefold(), self.tabs.current()
        looked = self._looked.casefold()
        rows = [
            view
            for view in (self._rows if looked in wish else self._newest)
            if wish in view.batch.casefold() and (which == ALL or (which == OPEN) == words.is_open(view))
        ]
        rows.sort(key=lambda view: (not words.is_open(view), -view.begun_at, view.batch))
        one = self._one  # its row says what the pane beside it says
        known = [one if one is not None and one.key == view.batch else BatchNow(view=view) for view in rows]
        if settle:
            self._stood = {view.batch: words.is_open(view) for view in rows}
        self._model.apply(known, settle=settle)
        self._head_parts()
        whole = self._asked and (looked == wish or (looked in wish and not self._more))
        self._list.setCurrentWidget(self.none if whole and not rows else self.table)
        if self._wish and self.table.set_current_key(self._wish):
            self._wish = ""
        elif self._wish and self._more and not looked and not wish:  # it is older than what is loaded
            self.search.setText(self._wish)
        elif looked == self._wish.casefold():  # looked for, and not there
            self._wish = ""
        if rows and self.table.current_key() is None:
            self.table.set_current_key(rows[0].batch)
        self._on_chosen()

    def _head_parts(self) -> None:
        """Above those that had not ended when their order was made, and those that had: how many are so now."""
        heads: dict[Hashable, Heading] = {}
        rows = tuple(self._model.records())
        numbers = Counter(words.is_open(row.view) for row in rows)
        for part in parted(rows, lambda row: row.key, self._stood):
            state = self._stood.get(part[0].key, True)
            heads[part[0].key] = Heading(_("Not ended") if state else _("Ended"), text.count(numbers[state]))
        self._model.set_headings(heads if self.tabs.current() == ALL else {})

    def _show_all(self) -> None:
        self.search.clear()
        self.tabs.set_current(ALL)
        self._show_rows(settle=True)

    def _step(self, by: int) -> None:
        row = self._model.row_of(self.table.current_key()) + by
        if 0 <= row < self._model.rowCount():
            self.table.set_current_key(self._model.key_at(row))

    def _on_chosen(self) -> None:
        """Another batch is under the cursor: its story is asked for at once."""
        key = self.table.current_key()
        row = self._model.find(str(key)) if key is not None else None
        if row is None or (self._one is not None and self._one.key == row.key):
            return
        self._show_one(row)
        call = partial(_story, self._context.batches, self._context.tasks, row.key, self.boxes_by.current())
        self._telling.start(call, self._show_told, self._show_error)

    def _show_told(self, one: BatchNow) -> None:
        if one.key == self.table.current_key():
            self._show_one(one)
            self._show_rows(settle=False)

    def _show_one(self, one: BatchNow, *, settle: bool = False) -> None:
        """``settle``: what is not done stands in its order again; else only where it is of another batch."""
        settle = settle or self._shown != one.key
        known = self._foreseen.get(one.key, Foreseen())
        one = replace(one, ahead=known.ahead, ahead_ms=known.at_ms)
        self._one, self._shown = one, one.key if one.story is not None else ""
        if one.story is not None and (one.retries or one.raises) and known.is_old(one):
            self._foresee(one)
        story = one.story or Story()
        self.boxes.show_story(story, words.any_shop if story.types_only else CALLED[one.by])
        self._box_room.setFixedHeight(min(330, self.boxes.height() + BAR))
        self.forecast.show_batch(one)
        self._show_held(settle=settle)
        self._say_one()

    def _foresee(self, one: BatchNow) -> None:
        """Find out what its verbs would change; where that is not known, nothing is said of it."""
        if not self._foreseeing.busy or one.key not in self._foreseen:
            self._foreseen.setdefault(one.key, Foreseen())
            asked = {"retried": bool(one.retries), "raised": bool(one.raises)}
            call = partial(self._context.batches.ahead, one.key, **asked)
            self._foreseeing.start(call, partial(self._show_ahead, one), lambda _error: self._show_ahead(one, None))

    def _show_ahead(self, of: BatchNow, ahead: Ahead | None) -> None:
        self._foreseen = {of.key: Foreseen(ahead, instant.now_ms(), of.retries, of.raises)}
        if self._one is not None and self._one.key == of.key:
            self._show_one(self._one)

    def _show_held(self, *, settle: bool) -> None:
        one = self._one
        story = one.story if one is not None else None
        told: Story | Undone | None = story
        if story is not None and self.boxes.picked is not None:
            told = story.undone.get(self.boxes.picked, Undone())
        holds = list(told.holds) if told is not None else []
        if sorts := self._held.sorts:
            holds = sorted_rows(holds, sorts, VALUES.__getitem__)
        self._held.apply([row for hold in holds for row in (hold, *hold.parts)], settle=settle)
        left = list(told.left) if told is not None else []
        self._left.apply(left, settle=settle)
        self.left_by.set_suffix(GATE, text.count(len(holds)))
        self.left_by.set_suffix(SHOP, text.count(len(left)))
        listed = self.held if self.left_by.current() == GATE else self.left
        self._held_stack.setCurrentWidget(listed if holds or story is None else self.done)
        self._say_held()

    # saying

    def _say(self) -> None:
        opened = sum(words.is_open(view) for view in self._rows)
        for key, number in ((ALL, len(self._rows)), (OPEN, opened), (ENDED, len(self._rows) - opened)):
            self.tabs.set_suffix(key, text.count(number))
        self._head_parts()
        if self._asked:
            self.set_summary(words.summary(len(self._rows), opened, self._looked, more=self._more))
        none = self._asked and not self._looked and not self._rows
        self.stack.setCurrentWidget(self.empty if none else self.split)
        self.search.setPlaceholderText(_("Batch"))
        self._say_one()

    def _say_title(self) -> None:
        """What is seen is called by its name; the whole of a long one stands in the list and is copied."""
        one = self._one
        self.header.set_title(middle(words.name(one.view), NAMED) if one is not None else self.title)

    def _say_one(self) -> None:
        one = self._one
        if one is None:
            self._say_rights()
            return
        counts = words.parts_of(one)
        self._say_title()
        self.headline.setText(words.headline(one))
        self.headline.set_tone("retrying" if words.late(one) else "text")
        self.told.show_text(words.began(one))
        set_look(self._state, late=words.late(one))
        self.others.setText(words.others(one))
        self.others.setVisible(bool(self.others.text()))
        self.bar.show_parts(counts)
        for part, label in self.numbers.items():
            number = counts.get(part, 0)
            label.setText(text.count(number))
            label.set_tone("text3" if not number else "dead" if part == insight.DEAD else "text")
            self._parts[part].setText(_(words.PARTS[part][1]))
            below = words.below(part, one)
            self.below[part].show_text(text.listed(below), next(iter(below), ""))
            self._glyphs[part].setPixmap(theme().status_pixmap(status(GLYPHS[part]), 14))
        if one.story is not None:
            shops = ngettext("{n} shop", "{n} shops", one.story.shops).format(n=text.count(one.story.shops))
            boxes = ngettext("{n} box", "{n} boxes", len(one.story.boxes)).format(n=text.count(len(one.story.boxes)))
            only = _("too many to be told apart by more than their type") if one.story.types_only else ""
            self.box_card.set_note(text.listed([part for part in (shops, boxes, only) if part]))
            self.forecast_card.set_note(forecast.note(one))
            self._say_held()
        as_of = min(one.at_ms, one.ahead_ms) if one.ahead is not None else one.at_ms
        self._changes.set_note(_("as of {time}").format(time=shown.clock(as_of, one.at_ms)) if as_of else "")
        self._say_rights()

    def _say_held(self) -> None:
        """Of which box what is not done stands there, or in which order."""
        box = next((one for one in self.boxes.boxes() if one.key == self.boxes.picked), None)
        if box is None:
            self.held_card.set_note(_("by what holds it; what needs a person comes first"))
        else:
            called = words.any_shop if self._one is None else CALLED[self._one.by]
            self.held_card.set_note(words.box_title(box, called))

    def _say_rights(self) -> None:
        one = self._one
        self.empty.button.disable(self.actions_of_page.barred())
        for button in (self.open_button, self.export_button):
            button.disable("" if one is not None else _("No batch yet."))
        if one is None:
            return
        for offer in self.verbs.offers(Place.PANEL, one):
            if offer.verb.key in self.buttons:
                show(self.buttons[offer.verb.key], offer)
                self.effects[offer.verb.key].setText(offer.verb.effect(one))
                self.effects[offer.verb.key].setVisible(offer.shown)

    # acting

    def _act(self, key: str, _checked: bool = False) -> None:
        if self._one is not None:
            self.verbs.act(key, self._one)

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        if self._one is not None and self._one.key == key:
            self.verbs.fill(menu, self._one)

    def _names(self) -> Mapping[str, str]:
        return self._one.names if self._one is not None else {}

    def _copy_name(self) -> None:
        if self._one is not None:
            QGuiApplication.clipboard().setText(self._one.view.batch)

    def _open_left(self, shop: object) -> None:
        """Its tasks of the batch that are not done."""
        if self._one is not None:
            batch, ended = equals("batch", self._one.view.batch), equals("status", Status.SUCCEEDED, Status.CANCELLED)
            terms = (batch, equals("shop", str(shop)), replace(ended, negated=True))
            self.navigate.emit("tasks", filter.format_terms(terms))

    def _open_box(self, key: tuple[str, str]) -> None:
        box = next((one for one in self.boxes.boxes() if one.key == key), None)
        if self._one is not None and box is not None:
            self.actions_of_page.show_box(self._one, box, self._one.by)

    def _open_held(self, key: object) -> None:
        hold = self._held.find(str(key))
        if hold is None or self._one is None:
            return
        box = next((one for one in self.boxes.boxes() if one.key == self.boxes.picked), None)
        self.actions_of_page.show_hold(self._one, hold, box, self._one.by)

    def _on_clicked(self, index: QModelIndex) -> None:
        """The next step of a reason is a door."""
        hold = self._held.find(str(self._held.key_at(index.row())))
        if hold is not None and self._held.columns[index.column()].key == NEXT:
            self.go_on(hold)

    def go_on(self, hold: Hold) -> None:
        """Take the next step about what holds tasks."""
        step = words.step(hold)
        if step in ("retry", "raise"):
            self._act(step)
        elif step == "triage":
            self.navigate.emit("dead_letters", hold.cause)
        elif step in ("session", "breaker"):
            self.navigate.emit("shops", step)
        else:
            self._open_held(hold.key)


def _look(batches: BatchQueries, tasks: TaskQueries, ask: Ask[str], name: str, by: str) -> tuple[Ask[str], Answer]:
    if ask.wanted:
        views, more = batches.named(ask.wanted, ask.limit)
    else:
        views, after = batches.page(ask.limit)
        more = bool(after)
    first = min(views, key=lambda view: (not words.is_open(view), -view.begun_at, view.batch), default=None)
    wanted = name if any(view.batch == name for view in views) else first.batch if first is not None else ""
    one = _story(batches, tasks, wanted, by) if wanted else None
    return ask, Answer(tuple(views), more, one)


def _story(batches: BatchQueries, queries: TaskQueries, name: str, by: str) -> BatchNow:
    tasks, shops = batches.tasks(name), queries.shops()
    within: Mapping[str, Callable[[Task], str]] = {
        insight.PLATFORM: lambda task: task.platform,
        insight.GROUP: lambda task: shops[task.shop].group if task.shop in shops else "",
        insight.TYPE: lambda _task: "",
    }
    view, story = batches.show(name), insight.story(tasks, queries.gates(tasks), within[by])
    owners = batches.owners() if any(hold.parts for hold in story.holds) else {}
    undone = {
        key: replace(one, holds=tuple(_owned(hold, owners) for hold in one.holds)) for key, one in story.undone.items()
    }
    story = replace(story, holds=tuple(_owned(hold, owners) for hold in story.holds), undone=undone)
    return replace(
        BatchNow(view=view),
        story=story,
        ends=tuple(sorted(task.ended_at for task in tasks if task.status == Status.SUCCEEDED and task.ended_at)),
        foretold=insight.foretold(tasks) if not words.is_open(view) else None,
        complete=len(tasks) < MOST or view.total <= MOST,
        retries=sum(insight.retried(task) for task in tasks),
        raises=sum(task.status in MOVABLE and task.lane != "high" for task in tasks),
        cancels=sum(number for status, number in view.counts.items() if status in ACTIVE),
        at_ms=instant.now_ms(),
        by=by,
        names={one.shop: shops[one.shop].name for one in story.left if one.shop in shops},
        created_by=tasks[0].created_by if tasks else "",
        again=tuple(task.task_id for task in insight.replaced(tasks) if task.status == Status.CANCELLED),
    )


def _owned(hold: Hold, owners: Mapping[str, str]) -> Hold:
    return replace(hold, parts=tuple(replace(part, owner=owners.get(part.cause, "")) for part in hold.parts))
