"""Asks for causes and dead letters off the GUI thread, and again shortly after something died or was decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

import msgspec
from PySide6.QtCore import QObject, QPointF, QRect, Signal
from PySide6.QtGui import QPainter

from services.domain.insight.shop import ShopNow
from services.domain.task import classify
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import Term, Total, equals
from services.domain.task.status import ACTIVE, Status, Triage
from services.domain.text.message import Message
from services.domain.types.task_type import TaskType
from services.i18n import N_, _
from services.monitor.letters.causes import Cause, Causes
from services.monitor.letters.fitting import fitting, within
from services.monitor.live import Changes, Snapshot
from services.monitor.tasks import TaskQueries
from views.context import PageContext
from views.kit.list_source import Ask, ListSource
from views.pages.dead_letters.words import heading, minute
from views.support import instant
from views.support.words import shop as shop_words
from views.support.words import type_names
from views.tables import painters
from views.tables.column import Column, dated
from views.tables.painters import Cell, Ink
from views.tables.task_columns import lane_column, platform_column, shop_column, type_column


class LetterRow(msgspec.Struct, frozen=True, kw_only=True):
    """A dead task, the name of its shop, and how that stands now."""

    task: Task
    shop_name: str = ""
    now: ShopNow = msgspec.field(default_factory=ShopNow)
    refusal: Message | None = None  #: why it cannot be republished as it is

    @property
    def key(self) -> str:
        """The task id."""
        return self.task.task_id


def sentence(row: LetterRow) -> str:
    """The row for a screen reader."""
    shop = row.shop_name or row.task.shop_id
    return _("Dead letter, {type}, shop {shop}").format(type=type_names.name(row.task.task_type), shop=shop)


def _paint_now(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    row: LetterRow = cell.record
    word, glyph, role = shop_words.look_beside(row.now, row.task)
    pixmap = ink.pixmap(glyph, role, GLYPH, cell)
    painter.drawPixmap(QPointF(room.x(), room.y() + (room.height() - GLYPH) / 2), pixmap)
    rest = room.adjusted(GLYPH + painters.GLYPH_GAP, 0, 0, 0)
    ink.text(painter, rest, word, cell, role="text2" if role == "succeeded" else role, kind="table")


GLYPH = 13
painters.register("shopnow", _paint_now)

COLUMNS: tuple[Column[LetterRow], ...] = (
    type_column(width=118, hide_rank=3),  # the same for all letters of a cause, whose heading names it
    shop_column(width=122, stretch=True),
    platform_column(width=58, hide_rank=2),
    lane_column(width=92, hide_rank=1),
    Column(
        key="now",
        title=N_("Shop now"),
        title_tip=N_("Whether the shop could be worked in, as far as its own tasks tell; a hint whether to try again."),
        value=lambda row: row.now,
        text=lambda row: shop_words.look_beside(row.now, row.task)[0],
        kind="shopnow",
        width=104,
        tooltip=lambda row: shop_words.evidence(row.now, instant.now_ms()),
    ),
    dated(
        "updated",
        N_("Died"),
        lambda row: row.task.ended_at,
        say=minute,
        width=88,  # a day and a time: most died before today
        align="right",
        sortable=True,
        descending_first=True,
    ),
)


MOST = 5000
PAGE, ALL = 1000, 100_000
#: letters whose successors are looked at where none is open
LAST = 200
#: after something died or was decided; after something ended well, which tells how shops stand now
SLOW_MS = 5000
#: whoever leads writes down what a rule has paused only once all of its shops are
PAUSED_MS = 1500


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the table shows: the letters of one cause in one state."""

    triage: str = Triage.OPEN
    cause: str = ""
    descending: bool = True
    prints: tuple[str, ...] = ()  #: fingerprints that its letters have, where they are not its own alone
    places: tuple[Term, ...] = ()  #: where they died, and where those did that were split off
    filtered: str = ""  #: what a person filters them by

    def of_cause(self, task: Task) -> bool:
        """Whether a letter died of what this cause is about."""
        return (task.fingerprint or task.error_kind or "unknown") in (self.prints or (self.cause,))

    @property
    def text(self) -> str:
        """The same as a filter text."""
        terms = [equals("status", Status.DEAD), equals("triage", self.triage)]
        if filter.FINGERPRINT_LENGTH >= len(self.cause) > 0 and all(
            letter in "0123456789abcdef" for letter in self.cause
        ):
            terms += [equals("fp", *(self.prints or (self.cause,))), *self.places]
        elif self.cause in classify.KINDS:
            terms.append(equals("kind", self.cause))
        return " ".join((filter.format_terms(tuple(terms)), self.filtered)).strip()


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """Letters of one question. ``settle``: a person asked, so order and departures take effect."""

    rows: tuple[LetterRow, ...] = ()
    total: int | None = None
    settle: bool = False
    wanted: Wanted = msgspec.field(default_factory=Wanted)


class Grouped(msgspec.Struct, frozen=True, kw_only=True):
    """Causes of one state; where there are none, when the last letter was closed and what is on its way again."""

    causes: Causes
    triage: str
    settle: bool
    filtered: str = ""  #: what they fit
    closed_at: int = 0
    again: tuple[Task, ...] = ()  #: where there are none: tasks made of letters that have not ended
    types: Mapping[str, TaskType] = msgspec.field(default_factory=dict)
    owners: Mapping[str, int] = msgspec.field(default_factory=dict)  #: letters that each is at, whatever is filtered


class Asker(QObject):
    """Signals:
    grouped: a ``Grouped``.
    listed: a ``Listing``.
    failed: the error of a question.
    """

    grouped = Signal(object)
    listed = Signal(object)
    failed = Signal(object)

    def __init__(
        self, context: PageContext, shown: Callable[[], Iterable[str]], parent: QObject, filtered: str
    ) -> None:
        """``shown``: ids of the letters that the table shows; ``filtered``: by what causes and letters are at first."""
        super().__init__(parent)
        self._context = context
        self._count = 0
        self._shown = shown
        self._open = ""  #: the letter that somebody reads
        self._unjudged = ""  #: the state whose causes are shown and not judged yet
        self._pauses = context.feed.latest.pauses
        self._filtered = filtered
        self._causes = ListSource(self._call_causes, (str(Triage.OPEN), filtered), self)
        self._letters = ListSource(self._call_letters, Wanted(), self, most=MOST)
        self._causes.listed.connect(self._on_grouped)
        self._letters.listed.connect(self._on_listed)
        for source in (self._causes, self._letters):
            source.failed.connect(self.failed)

    @property
    def wanted(self) -> Wanted:
        """What is asked for now."""
        return self._letters.wanted

    def set_active(self, active: bool) -> None:
        """Ask and follow the feed only while the page is seen."""
        for source in (self._causes, self._letters):
            source.set_active(active)

    @property
    def filtered(self) -> str:
        """By what causes and letters are filtered."""
        return self._filtered

    def ask_causes(self, triage: str, filtered: str | None = None) -> None:
        """Group the letters of one state; ``filtered``: by this from now on."""
        if filtered is not None:
            self._filtered = filtered
        self._causes.ask((triage, self._filtered))

    def ask(self, wanted: Wanted) -> None:
        """List the letters of a cause."""
        now = self.wanted
        if (wanted.cause, wanted.places, wanted.filtered) != (now.cause, now.places, now.filtered):
            self._open = ""  # it is of another list
        self._letters.ask(wanted)

    def again(self) -> None:
        """Ask everything once more and put it in order."""
        self.ask_causes(self.wanted.triage)
        self._letters.again()

    def catch_up(self) -> None:
        """Ask everything once more and leave it where it is."""
        self._causes.again(settle=False)
        self._letters.again(settle=False)

    def read(self, task_id: str) -> None:
        """Somebody reads this letter: as long as it is of those that are wanted it stays in the list."""
        self._open = task_id

    def more(self) -> None:
        """Load the next letters."""
        self._letters.more(self._count)

    def on_looked(self, snapshot: Snapshot) -> None:
        """Note whether shops were paused, or go on: letters tell it of theirs, and causes of how many they have."""
        if snapshot.pauses != self._pauses:
            self._pauses = snapshot.pauses
            for source in (self._causes, self._letters):
                source.soon(PAUSED_MS)

    def on_changes(self, changes: Changes) -> None:
        """Note whether something died or was decided."""
        died = changes.gap or any(Status.DEAD in (event.from_, event.to) for event in changes.events)
        if died or any(event.to == Status.SUCCEEDED for event in changes.events):
            for source in (self._causes, self._letters):
                source.soon(0 if died else SLOW_MS)

    def _call_causes(self, ask: Ask[tuple[str, str]]) -> Callable[[], Grouped]:
        triage, filtered = ask.wanted
        first = ask.settle and triage != self._unjudged
        return partial(_group, self._context, triage, filtered, ask.settle, first)

    def _call_letters(self, ask: Ask[Wanted]) -> Callable[[], Listing] | None:
        if not ask.wanted.cause:
            return None
        kept = (self._open,) if ask.settle else (*self._shown(), self._open)
        return partial(_list, self._context.tasks, ask.wanted, ask.limit, ask.settle, kept)

    def _on_grouped(self, grouped: Grouped) -> None:
        self._unjudged = "" if grouped.causes.judged else grouped.triage
        self.grouped.emit(grouped)
        if self._unjudged:
            self._causes.again(settle=grouped.settle)  # the order goes by what is found then

    def _on_listed(self, listing: Listing) -> None:
        self._count = len(listing.rows)
        self.listed.emit(listing)


def _group(context: PageContext, triage: str, filtered: str, settle: bool, first: bool) -> Grouped:
    causes = (context.causes.first if first else context.causes.causes)(triage)
    none = not causes.rows and triage == Triage.OPEN
    found = fitting(context.tasks, causes, triage, filtered, _called) if filtered else causes
    owners = Counter[str]()
    for one in causes.rows:
        if one.rule.owner:
            owners[one.rule.owner] += one.count
    return Grouped(
        causes=found,
        triage=triage,
        settle=settle,
        filtered=filtered,
        closed_at=_last_closed(context.tasks) if none else 0,
        again=_again(context.tasks) if none else (),
        types=context.types(),
        owners=owners,
    )


def count_within(
    context: PageContext, triage: str, rest: str, field: str, values: Sequence[str]
) -> Mapping[str, Total]:
    """How many letters of a state have each of these values of a field within the rest of their filter. Blocking."""
    return within(context.tasks, context.causes.first(triage), triage, rest, _called, field, values)


def _called(cause: Cause) -> str:
    """All that a cause is called where it is shown; types by their code, too."""
    return " ".join((heading(cause), *cause.types))


def _again(queries: TaskQueries) -> tuple[Task, ...]:
    """Tasks made of the letters that were republished last which have not ended: some may come back."""
    letters = queries.page(f"status:dead triage:{Triage.REPUBLISHED}", sort="updated", limit=LAST).tasks
    made = queries.get([letter.successor for letter in letters if letter.successor])
    return tuple(task for task in made if task.status in ACTIVE)


def _last_closed(queries: TaskQueries) -> int:
    states = f"{Triage.REPUBLISHED},{Triage.ARCHIVED},{Triage.IGNORED}"
    page = queries.page(f"status:dead triage:{states}", sort="updated", limit=1)
    return page.tasks[0].updated_at if page.tasks else 0


def letters_of(queries: TaskQueries, wanted: Wanted) -> Iterator[Task]:
    """Letters of a cause, what was created last first or last, one after the other. Blocking."""
    found = queries.each(wanted.text, descending=wanted.descending)
    return islice((task for task in found if wanted.of_cause(task)), ALL)


def each_of(queries: TaskQueries, wanted: Iterable[Wanted]) -> Iterator[Task]:
    """All of several causes, or of a state where no cause is named, one after the other. Blocking."""
    for one in wanted:
        yield from (task for task in queries.each(one.text) if not one.cause or one.of_cause(task))


def ids_of(queries: TaskQueries, wanted: Wanted) -> list[str]:
    """Their ids, what was created last first; of tens of thousands nobody holds the records. Blocking."""
    return [task.task_id for task in letters_of(queries, wanted)]


def _letters(queries: TaskQueries, wanted: Wanted, limit: int) -> tuple[list[Task], int | None]:
    """The letters, and how many there are at all where that is known."""
    found: list[Task] = []
    total: int | None = None
    cursor: str | None = ""
    while cursor is not None and len(found) < limit:
        page = queries.page(
            wanted.text,
            sort="updated",
            descending=wanted.descending,
            limit=min(PAGE, limit - len(found)),
            cursor=cursor,
        )
        # letters without a fingerprint are found by their kind, which others with one share
        found += [task for task in page.tasks if wanted.of_cause(task)]
        total, cursor = page.total if total is None else total, page.next
    return found, total


def _list(queries: TaskQueries, wanted: Wanted, limit: int, settle: bool, kept: Sequence[str]) -> Listing:
    """``kept``: letters that stay though newer ones are in front of as many as are listed."""
    found, total = _letters(queries, wanted, limit)
    if len(found) >= limit:
        there = {task.task_id for task in found}
        rest = [task_id for task_id in dict.fromkeys(kept) if task_id and task_id not in there]
        # the last one is read now
        rest = rest[-max(1, MOST - len(found)) :]
        found += [task for task in queries.get(rest) if task.triage == wanted.triage and wanted.of_cause(task)]
    shops, now = queries.shops(), queries.shops_now([task.shop for task in found])
    refusals = queries.refusals(found)
    found.sort(key=lambda task: (task.ended_at, task.task_id), reverse=wanted.descending)
    rows = tuple(
        LetterRow(
            task=task,
            shop_name=shop.name if (shop := shops.get(task.shop)) is not None else "",
            now=now[task.shop],
            refusal=refusals.get(task.task_id),
        )
        for task in found
    )
    return Listing(rows=rows, total=total, settle=settle, wanted=wanted)
