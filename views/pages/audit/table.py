"""Entries of the audit as rows of a table, and where these come from: a first page, further ones, what came since."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial

import msgspec
from PySide6.QtWidgets import QWidget

from services import act_words
from services.called import ORIGIN_WORDS
from services.commands.back.ways import Way, way_of
from services.domain import audit
from services.domain.audit import AuditEntry
from services.domain.fleet.shop import Shop
from services.domain.text.mask import masked_text
from services.domain.text.message import Message
from services.i18n import N_, _
from services.monitor.audit import POSSIBLE, UNDONE, AuditEntries, AuditQueries
from services.monitor.letters.causes import Called, CauseQueries
from views.kit.entries_page import Lister, Listing
from views.kit.list_source import Ask
from views.pages.audit import words
from views.support import instant, safe, shown
from views.support.words import cause
from views.tables.column import Column, dated
from views.widgets.filter.bar import FilterField, FilterValue

#: objects of one entry that are called by their names
MOST_CALLED = 20
#: the column whose cells take back; how acts end that leave something to take back
BACK, DONE = "back", frozenset({"done", "partly"})
_NO_SHOPS: Mapping[str, Shop] = {}


class AuditLine(msgspec.Struct, frozen=True, kw_only=True):
    """One act. Secrets are dots here already: what this machine knows as one may have been none to who wrote it."""

    entry: AuditEntry
    state: str
    target: tuple[str, ...]
    outcome: str
    back: Way | Message  #: how it is taken back from here, or why it is not
    causes: tuple[tuple[str, Called], ...] = ()  #: what the causes among its objects are called
    shops: tuple[tuple[str, str], ...] = ()  #: what the shops among its objects are called
    faults: tuple[str, ...] = ()  #: what a check found wrong with it, in sentences
    reason: str = ""  #: what its person said why, "" nothing
    origin: str = ""  #: through what it was asked for (``services.domain.audit``), "" unknown
    undoes: tuple[str, ...] = ()  #: the entries whose acts it took back
    undone_at: int = 0  #: when another act took it back, UTC ms; 0 for never
    undone_part: bool = False  #: and something of it stayed

    @property
    def key(self) -> str:
        """The entry's name."""
        return self.entry.entry_id

    @property
    def objects(self) -> tuple[str, ...]:
        """What it was done to, as people call it."""
        return self._called(self.target)

    @property
    def looked_up(self) -> tuple[str, ...]:
        """The same with the ids of the shops, by which they are found elsewhere."""
        names = dict(self.shops)
        pairs = zip(self.target, self.objects, strict=True)
        return tuple(f"{name} ({one})" if one in names else name for one, name in pairs)

    @property
    def number(self) -> int:
        """Of how many objects its entry tells, which names the first of very many alone."""
        return audit.count_of(self.entry)

    @property
    def about(self) -> str:
        """On what, in one line."""
        action = self.entry.action
        whole = action.startswith("batch.") or action == "queue.purge"
        return words.about(self.objects, self.number, whole=whole)

    @property
    def taken_back(self) -> tuple[str, ...]:
        """What taking it back acts on, as people call it."""
        return self._called(map(masked_text, self.back.objects)) if isinstance(self.back, Way) else ()

    def _called(self, names: Iterable[str]) -> tuple[str, ...]:
        called = {name: cause.called(one.name, one.title, one.where, one.place_name) for name, one in self.causes}
        called |= dict(self.shops)
        return tuple(called.get(one) or shown.covered(one) for one in names)


def line_of(
    entry: AuditEntry, now_ms: int, causes: Mapping[str, Called], shops: Mapping[str, Shop] = _NO_SHOPS
) -> AuditLine:
    """An entry as it is shown; ``causes``: what some causes are called; ``shops``: by their keys."""
    return AuditLine(
        entry=entry,
        state=audit.state(entry, now_ms),
        target=tuple(map(masked_text, entry.target)),
        outcome=masked_text(audit.parted(entry.outcome)[0]),
        reason=masked_text(words.reason(audit.told_of(entry))),
        back=way_of(entry, now_ms),
        origin=audit.origin(entry),
        undoes=audit.undoes(entry),
        causes=tuple((one, causes[one]) for one in entry.target if one in causes) if _of_cause(entry) else (),
        shops=tuple(_names_of(entry.target[:MOST_CALLED], shops)),
    )


def _names_of(target: Iterable[str], shops: Mapping[str, Shop]) -> Iterator[tuple[str, str]]:
    """Each shop of it, which a pause names by its scope, with its name."""
    for one in target:
        shop = shops.get(one.removeprefix("shop:"))
        if shop is not None and shop.name:
            yield one, shop.name


def _of_cause(entry: AuditEntry) -> bool:
    return entry.action.startswith("cause.")


def sentence(row: AuditLine) -> str:
    """The row for a screen reader."""
    told = {
        "who": safe.one_line(row.entry.who, 80),
        "act": act_words.act(row.entry.action),
        "state": said_state(row),
    }
    when = shown.clock(row.entry.at, instant.now_ms())
    return _("{time}, {who}, {act}, {target}, {state}").format(time=when, target=row.about, **told)


def said_state(row: AuditLine) -> str:
    """How it ended, or when it was taken back."""
    if row.undone_at:
        said = _("Partly undone {time}") if row.undone_part else _("Undone {time}")
        return said.format(time=shown.clock(row.undone_at, instant.now_ms()))
    return words.state(row.state)


def glyph(row: AuditLine) -> str:
    """The status name of how it ended, or that it was taken back."""
    return "undone" if row.undone_at else words.glyph(row.state)


def undone(rows: Iterable[AuditLine], backs: Mapping[str, int], partly: Collection[str] = ()) -> tuple[AuditLine, ...]:
    """With when each was taken back; ``backs``: that by entry, UTC ms; ``partly``: of these something stayed. What was
    refused left nothing to take back.
    """
    return tuple(_marked(row, backs.get(row.key, 0) if row.state in DONE else 0, row.key in partly) for row in rows)


def _marked(row: AuditLine, at: int, part: bool) -> AuditLine:
    if (at, part and bool(at)) == (row.undone_at, row.undone_part):
        return row
    return msgspec.structs.replace(row, undone_at=at, undone_part=part and bool(at))


def why(row: AuditLine) -> str:
    """What is wrong with it, why it ended so, or what its person said of it; of one that took another back which."""
    said = row.faults[0] if row.faults else words.why(row.outcome) or row.reason
    return said or (_("undo of {time}").format(time=of_when(row)) if row.undoes else "")


def of_when(row: AuditLine) -> str:
    """When the act was asked for that it took back."""
    return shown.clock(audit.instant_of(row.undoes[0]), instant.now_ms())


COLUMNS: tuple[Column[AuditLine], ...] = (
    dated("at", N_("Time"), lambda row: row.entry.at, width=96),
    Column(
        key="who",
        title=N_("Person"),
        value=lambda row: safe.one_line(row.entry.who, 80),
        width=124,
        names=True,
        hide_rank=5,
    ),
    Column(
        key="from",
        title=N_("From"),
        value=lambda row: words.origin(row.origin),
        tone=lambda _row: "text2",
        width=96,
        hide_rank=3,
        tooltip=lambda row: words.machine(row.entry.who, row.origin),
    ),
    Column(
        key="action",
        title=N_("Act"),
        value=lambda row: row.entry.action,
        text=lambda row: act_words.act(row.entry.action),
        kind="strong",
        width=176,
        tooltip=lambda row: row.entry.action,
    ),
    Column(
        key="target",
        title=N_("Object"),
        value=lambda row: row.about,
        width=140,
        stretch=True,
        tooltip=lambda row: "\n".join(row.looked_up[:MOST_CALLED]) if row.target else "",
    ),
    Column(
        key="glyph",
        title="",
        value=lambda row: "warning" if row.faults else glyph(row),
        kind="glyph",
        width=30,
        speech=said_state,
    ),
    Column(
        key="state",
        title=N_("Outcome"),
        value=lambda row: (row.state, row.undone_at, row.undone_part),
        text=said_state,
        tone=lambda row: "text3" if row.undone_at else "dead" if row.state == "failed" else "text",
        width=120,
        tooltip=lambda row: said_state(row) if row.undone_at else "",
        hide_rank=4,  # its glyph stays
    ),
    Column(
        key="why",
        title=N_("Why"),
        value=why,
        tone=lambda row: "dead" if row.faults else "text2",
        width=150,
        hide_rank=1,
        tooltip=lambda row: "\n".join(filter(None, (*row.faults, row.outcome, row.reason))),
    ),
    Column(
        key=BACK,
        title=N_("Take back"),
        value=lambda row: act_words.act(row.back.by) if isinstance(row.back, Way) and not row.undone_at else "",
        kind="door",
        tone="text2",
        width=132,
        hide_rank=2,
    ),
)
_UNTIL = (("yesterday", N_("yesterday")), ("7d", N_("7 days ago")), ("30d", N_("30 days ago")))
FIELDS = (
    FilterField("who", N_("Person")),
    FilterField(
        "action",
        N_("Act"),
        tuple(FilterValue(code, word) for code, word in act_words.ACTS.items()),
        free=True,
    ),
    FilterField("target", N_("Object")),
    FilterField("from", N_("From"), tuple(FilterValue(name, word) for name, word in ORIGIN_WORDS.items())),
    FilterField(
        "state", N_("Outcome"), tuple(FilterValue(name, word) for name, (_glyph, word) in words.STATES.items())
    ),
    FilterField(
        "undo", N_("Take back"), (FilterValue(POSSIBLE, N_("possible")), FilterValue(UNDONE, N_("was taken back")))
    ),
    FilterField(
        "since", N_("Since"), tuple(FilterValue(*span) for span in words.SPANS.items()), free=True, single=True
    ),
    FilterField("until", N_("Until"), tuple(FilterValue(*span) for span in _UNTIL), free=True, single=True),
)


def condition(row: AuditLine, column: str) -> tuple[str, str]:
    """Filter field and value of a cell, "" where the cell is no condition."""
    first = row.entry.target[0] if row.entry.target else ""
    if row.undone_at and column in ("glyph", "state"):
        return "undo", UNDONE
    values = {"who": row.entry.who, "action": row.entry.action, "target": first, "state": row.state, "from": row.origin}
    return ("state", row.state) if column == "glyph" else (column, values[column]) if column in values else ("", "")


PAGE, EVERY_MS = 200, 4000


class AuditLister(Lister[AuditLine]):
    """Live answers tell how open acts ended, too."""

    def __init__(
        self, queries: AuditQueries, causes: CauseQueries, shops: Callable[[], Mapping[str, Shop]], owner: QWidget
    ) -> None:
        """``shops``: by their keys; blocking."""
        super().__init__(owner, every_ms=EVERY_MS)
        self._queries = _Asked(queries, causes, shops)
        self._next, self._before = "", ""  # the entry that older ones follow; that of the question under way

    def set_active(self, active: bool) -> None:
        """Ask from the newest entry on, and now and then what is new; or no more."""
        self._before = "" if active else self._before
        super().set_active(active)

    def ask(self, expression: str) -> None:
        """Show what matches from the newest entry on."""
        self._before = ""
        super().ask(expression)

    def more(self) -> None:
        """Load older entries; what only looks for news is overtaken, since nobody comes to the end a second time."""
        if self._next and not self._source.settling:
            self._before = self._next
            self._source.again()

    def _call(self, ask: Ask[str]) -> Callable[[], Answer]:
        if not ask.settle:
            return partial(self._queries.newest, ask.wanted)
        return partial(self._queries.page, ask.wanted, self._before, self._anew())

    def _take(self, answer: Answer) -> None:
        if answer.settle:
            self._rows = (*self._rows, *answer.rows) if self._before else answer.rows
            self._next, self._before = answer.next, ""
        elif answer.rows:
            self._merge(answer.rows)
        self._rows = undone(self._rows, answer.undone, answer.partly)
        # told without rows as well: the trail answers again, so an error told before holds no more
        listing = Listing(rows=self._rows, expression=self._source.wanted, more=bool(self._next), settle=answer.settle)
        self.listed.emit(listing)

    def _merge(self, newest: tuple[AuditLine, ...]) -> None:
        known = {row.key for row in self._rows}
        fresh = {row.key: row for row in newest}
        oldest = self._rows[0].key if self._rows else ""
        if oldest and oldest not in fresh and len(newest) >= PAGE:
            self._rows, self._next = newest, newest[-1].key  # more than a page of news: what lies between is not known
        else:
            kept = tuple(fresh.get(row.key, row) for row in self._rows)
            self._rows = (*(row for row in newest if row.key not in known), *kept)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one question; ``next``: the entry that older ones follow, "" for the end of the trail."""

    rows: tuple[AuditLine, ...]
    settle: bool
    next: str = ""
    undone: Mapping[str, int] = {}
    partly: frozenset[str] = frozenset()


class _Asked:
    """What is asked, off the GUI thread; what causes are called is asked once for each."""

    def __init__(self, queries: AuditQueries, causes: CauseQueries, shops: Callable[[], Mapping[str, Shop]]) -> None:
        self._queries, self._causes, self._shops = queries, causes, shops
        self._called: dict[str, Called] = {}

    def newest(self, expression: str) -> Answer:
        """The newest page of what is shown now; short, however rare that is."""
        return self._answer(self._queries.entries(expression, limit=PAGE, scan=PAGE), settle=False)

    def page(self, expression: str, before: str, stop: threading.Event) -> Answer:
        """The page that follows an entry."""
        return self._answer(self._queries.page(expression, limit=PAGE, before=before, stop=stop), settle=True)

    def _answer(self, found: AuditEntries, *, settle: bool) -> Answer:
        now_ms = self._queries.now_ms()
        of_causes = {one for entry in found.entries if _of_cause(entry) for one in entry.target[:MOST_CALLED]}
        if settle:
            self._called = {}  # somebody may have given one another name
        if missing := of_causes - self._called.keys():
            self._called |= self._causes.called(missing)
        shops = self._shops() if found.entries else _NO_SHOPS
        lines = tuple(line_of(entry, now_ms, self._called, shops) for entry in found.entries)
        return Answer(rows=lines, settle=settle, next=found.next, undone=found.undone, partly=found.partly)
