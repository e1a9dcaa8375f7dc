"""Questions to the audit trail: who did what to which task, and how it ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

import msgspec

from services.audit_witness import Witness
from services.domain import audit
from services.domain.errors import UsageError
from services.domain.insight.audit import Verdict
from services.domain.task.search import filter_time
from services.domain.task.search.filter_time import Times
from services.domain.text.said import said
from services.domain.text.terms import Term, terms
from services.engine import audit_check
from services.monitor import aside
from services.monitor.aside import AsideView
from services.ports import AuditEntry, Store

FIELDS = ("who", "action", "target", "outcome", "detail", "state", "from", "undo", "text")
#: whether an act can be taken back from its entry, or was
POSSIBLE, UNDONE = "possible", "done"
PAGE, SCAN_LIMIT = 200, 50_000
#: entries that were written within it may stand in another order than their instants
AT_ONCE_MS = 60_000
#: for so long what takes something back may go on
LONG_MS = 86_400_000
#: so many entries since an act are looked at for what was done to the same object
MOST_SINCE = 20_000
#: how an outcome begins that left everything as it was; what failed may be done in part
_UNCHANGED = "refused"
#: of the strip of a day: so long a bar is, and so many entries are read at most at one look
BAR_MS, DAY_MS, MOST_OF_A_DAY = 600_000, 86_400_000, 10_000
#: fields that may have one of several values, with commas between them
_LISTED = ("who", "action", "target", "state", "from")
#: what these can be; who misspells one is not told that nobody did such a thing
_CLOSED: Mapping[str, tuple[str, ...]] = {
    "state": audit.STATES,
    "from": (audit.WINDOW, audit.CLI, audit.REST, audit.PYTHON, audit.RULE, audit.WORKER),
}
_Test = Callable[[AuditEntry], bool]
#: by an entry, when another act took its own back, UTC ms
Undone = Mapping[str, int]


class AuditEntries(msgspec.Struct, frozen=True, kw_only=True):
    """Entries, the last one first. ``next``: the entry to go on from, "" at the end; ``undone``: those of the trail, as
    far as it was looked at, whose acts were taken back, ``partly`` those of them of which something stayed.
    """

    entries: tuple[AuditEntry, ...]
    next: str = ""
    undone: Undone = {}
    partly: frozenset[str] = frozenset()


class Day(msgspec.Struct, frozen=True, kw_only=True):
    """How much was done in each ``BAR_MS`` from ``begin`` (UTC ms) on: by people, by rules and other programs, and how
    many of both were refused. ``from_ms``: what is before it was not counted, there are too many.
    """

    begin: int
    people: tuple[int, ...]
    programs: tuple[int, ...]
    refused: tuple[int, ...]
    names: int  #: people who did something
    from_ms: int = 0


class _Bar(msgspec.Struct):
    people: int = 0
    programs: int = 0
    refused: int = 0
    names: set[str] = msgspec.field(default_factory=set)

    def count(self, entry: AuditEntry) -> None:
        if "@" in entry.who:
            self.people += 1
            self.names.add(entry.who)
        else:
            self.programs += 1
        self.refused += entry.outcome.startswith("refused")


class _Tally:
    """What was counted of a day. An entry is counted for good once its outcome stands; those that are written after
    the last one of these are read again at each look.
    """

    def __init__(self) -> None:
        self._bars: dict[int, _Bar] = {}
        self._last = ""  #: the newest entry that is counted for good, with all before it
        self._from_ms = 0  #: what is before it was never read

    def day(self, store: Store, begin: int, end: int) -> Day:
        fresh = self._fresh(store, begin)
        settled = _settled(fresh, store.now_ms())
        for entry in fresh[:settled]:
            self._bars.setdefault(entry.at // BAR_MS, _Bar()).count(entry)
        self._last = fresh[settled - 1].entry_id if settled else self._last
        self._bars = {at: bar for at, bar in self._bars.items() if at >= begin // BAR_MS}
        open_bars: dict[int, _Bar] = {}
        for entry in fresh[settled:]:
            open_bars.setdefault(entry.at // BAR_MS, _Bar()).count(entry)
        places = range(begin // BAR_MS, end // BAR_MS)
        bars = [(self._bars.get(at, _Bar()), open_bars.get(at, _Bar())) for at in places]
        return Day(
            begin=begin,
            people=tuple(old.people + new.people for old, new in bars),
            programs=tuple(old.programs + new.programs for old, new in bars),
            refused=tuple(old.refused + new.refused for old, new in bars),
            names=len({name for old, new in bars for name in old.names | new.names}),
            from_ms=self._from_ms if self._from_ms > begin else 0,
        )

    def _fresh(self, store: Store, begin: int) -> list[AuditEntry]:
        """What is not counted for good, in the order of writing."""
        found: list[AuditEntry] = []
        before = ""
        while True:
            page = store.audit(PAGE, before)
            for entry in page:
                if entry.entry_id == self._last:
                    return found[::-1]
                found.append(entry)
            ended = not page or page[-1].at < begin  # what cannot be read makes a page shorter, and ends nothing
            if ended or len(found) >= MOST_OF_A_DAY:
                # the last one counted is not among them: all of it is counted anew
                self._bars, self._from_ms = {}, 0 if ended else page[-1].at
                return found[::-1]
            before = page[-1].entry_id


def _settled(
    entries: Sequence[AuditEntry], now_ms: int, may_end: Callable[[AuditEntry, int], bool] | None = None
) -> int:
    """How many of the first ones nothing is said of any more; ``may_end``: which others than those that are open may
    end yet (UTC ms).
    """
    for place, entry in enumerate(entries):
        if audit.state(entry, now_ms) == "open" or (may_end is not None and may_end(entry, now_ms)):
            return place
    return len(entries)


def _may_undo(entry: AuditEntry, now_ms: int) -> bool:
    """Whether it takes something back and has not said how it ended, as of many tasks it may after an hour."""
    return not entry.outcome and now_ms - entry.at < LONG_MS and bool(audit.undoes(entry))


class TakenBack:
    """Which acts were taken back: the entry of who did it is newer, so it is met before by whoever reads from the
    newest on. Acts that were taken back themselves take nothing back. What was met once is not read again, whoever
    asks in this process: a page far down costs no more than the first.
    """

    def __init__(self) -> None:
        self._at: dict[str, tuple[int, str, bool]] = {}  #: when, UTC ms, by which entry, and whether in part only
        self._lock, self._reading = threading.Lock(), threading.Lock()
        #: all from this entry on down to that one was met; none from the first on down is open
        self._top = self._low = ""

    def meet(self, entry: AuditEntry) -> None:
        """The next older one was read."""
        state = audit.state(entry, entry.at)
        names = audit.undoes(entry) if state in ("done", "partly") else ()
        with self._lock:
            back = self._at.get(entry.entry_id)
            if not names or (back is not None and not back[2]):
                return
            # what took another back, and was itself taken back in part, left that one taken back in part
            part = state == "partly"
            by = entry.at, entry.entry_id, part or back is not None
            kept = {
                name: (at, whose, was or whose in names)
                for name, (at, whose, was) in self._at.items()
                if part or whose not in names
            }
            self._at = kept | {name: max(by, kept.get(name, by)) for name in names}

    def catch_up(self, store: Store, before: str) -> None:
        """Meet what is newer than this entry and was not met yet: what was written since, and what lies deeper."""
        with self._reading:
            self._meet_new(store)
            for _ in range(SCAN_LIMIT // PAGE):
                if self._has_met(before) or not (page := store.audit(PAGE, self._low)):
                    return
                self._meet_all(page)
                self._low = page[-1].entry_id

    def _has_met(self, before: str) -> bool:
        """Entries lie in the order of their instants, but for those that several wrote at once."""
        return audit.instant_of(before) > audit.instant_of(self._low) + AT_ONCE_MS

    def _meet_new(self, store: Store) -> None:
        """What was written since, from the newest on; a page at first, and where what was met is gone."""
        fresh: list[AuditEntry] = []
        known, place = False, ""
        for _ in range(SCAN_LIMIT // PAGE if self._top else 1):
            page = store.audit(PAGE, place)
            newer = list(takewhile(lambda entry: entry.entry_id != self._top, page))
            fresh += newer
            known = len(newer) < len(page)
            if known or not page:
                break
            place = page[-1].entry_id
        self._meet_all(fresh)
        if not known:
            self._top, self._low = "", place
        # from the oldest on that may end it is read again: then it takes something back
        if settled := _settled(fresh[::-1], store.now_ms(), _may_undo):
            self._top = fresh[-settled].entry_id

    def _meet_all(self, entries: Iterable[AuditEntry]) -> None:
        for entry in entries:
            self.meet(entry)

    def at(self, name: str) -> int:
        """When the act of an entry was taken back, UTC ms; 0 for never."""
        return self._at.get(name, (0, "", False))[0]

    def all(self) -> Undone:
        """Each that was met."""
        with self._lock:
            return {name: at for name, (at, _by, _part) in self._at.items()}

    def in_part(self) -> frozenset[str]:
        """Those of them of which something stayed."""
        with self._lock:
            return frozenset(name for name, (_at, _by, part) in self._at.items() if part)


class AuditQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(
        self,
        store: Store,
        witness: Witness | None = None,
        time_zone: str = "",
        can_undo: Callable[[AuditEntry, int], bool] = lambda _entry, _now: False,
        undone: TakenBack | None = None,
    ) -> None:
        """``time_zone``: in which days of a filter begin and end, "" for that of this machine; ``can_undo``: whether
        its entry is enough to take an act back now (UTC ms);
        ``undone``: what others of this process have found out.
        """
        self._store, self._witness, self._zone = store, witness, time_zone
        self._can_undo, self._undone = can_undo, undone or TakenBack()
        self._tally, self._counting = _Tally(), threading.Lock()

    def verify(self) -> Verdict:
        """Whether all of it is as it was written."""
        return audit_check.check(self._store, self._witness)

    def aside(self) -> list[AsideView]:
        """What could not be read and was set aside, the latest first, each with whose repair did it."""
        return aside.of(self._store)

    def entries(self, text: str = "", *, limit: int = 50, before: str = "", scan: int = 0) -> AuditEntries:
        """The newest entries that match all words: ``who:ann* action:dead.republish target:ID outcome:partly
        detail:batch state:unknown,open from:cli undo:possible age<2h since:2026-11-20 until:today``, bare words
        anywhere, ``-``
        negates, ``*`` at the end is a prefix; outcome, detail and bare words mean "contains". ``since`` and ``until``
        take a day, a moment or a span before now; the day named by ``until`` belongs to it. No more than ``scan``
        entries are looked at.

        Raises:
            UsageError: the text is no such filter, or ``before`` is no entry's id.
        """
        if before and not audit.is_entry(before):
            raise UsageError(said("audit.before", value=f"{before!r:.60}"), field="--before")
        tests = _tests(text, Times(self._store.now_ms(), self._zone), self._undo)
        if before:
            self._undone.catch_up(self._store, before)
        found: list[AuditEntry] = []
        for scanned, entry in enumerate(self._from(before), 1):
            if all(test(entry) for test in tests):
                found.append(entry)
            if len(found) == limit or scanned >= (scan or SCAN_LIMIT):
                return self._told(found, entry.entry_id)
        return self._told(found)

    def _told(self, found: Sequence[AuditEntry], next_: str = "") -> AuditEntries:
        undone, partly = self._undone.all(), self._undone.in_part()
        return AuditEntries(entries=tuple(found), next=next_, undone=undone, partly=partly)

    def _from(self, before: str) -> Iterator[AuditEntry]:
        """Each that is older than this one, the newest first; what they took back is known by then."""
        while page := self._store.audit(PAGE, before):  # one that is only shorter has rows that cannot be read
            for entry in page:
                self._undone.meet(entry)
                yield entry
            before = page[-1].entry_id

    def _undo(self, entry: AuditEntry, now_ms: int) -> str:
        """Whether it can be taken back, was, or neither."""
        if self._undone.at(entry.entry_id):
            return UNDONE if audit.state(entry, now_ms) in ("done", "partly") else ""
        return POSSIBLE if self._can_undo(entry, now_ms) else ""

    def day(self) -> Day:
        """The last 24 h, in whole bars of the clock. Only what was written since the last look is read.

        Raises:
            StoreUnavailable: it cannot be asked.
        """
        end = (self._store.now_ms() // BAR_MS + 1) * BAR_MS
        with self._counting:
            return self._tally.day(self._store, end - DAY_MS, end)

    def after(self, entry: AuditEntry, wanted: Callable[[AuditEntry], bool]) -> list[AuditEntry] | None:
        """The wanted ones that may have changed something after this entry, the newest first; None where more was
        written since than is looked at, or it is not among what can be read.

        Raises:
            StoreUnavailable: it cannot be asked.
        """
        found, before = list[AuditEntry](), ""
        for _ in range(MOST_SINCE // PAGE):
            page = self._store.audit(PAGE, before)
            for one in page:
                if one.entry_id == entry.entry_id or one.at < entry.at:
                    return found
                if not one.outcome.startswith(_UNCHANGED) and wanted(one):
                    found.append(one)
            if not page:
                return None
            before = page[-1].entry_id
        return None

    def now_ms(self) -> int:
        """The time by which acts without an outcome are judged."""
        return self._store.now_ms()

    def page(
        self, text: str = "", *, limit: int = PAGE, before: str = "", stop: threading.Event | None = None
    ) -> AuditEntries:
        """The same, but only the end of the trail, or ``stop``, makes it shorter than ``limit``.

        Raises:
            UsageError: as above.
        """
        found: list[AuditEntry] = []
        while True:
            part = self.entries(text, limit=limit - len(found), before=before)
            found += part.entries
            before = part.next
            if not before or len(found) >= limit or (stop is not None and stop.is_set()):
                return msgspec.structs.replace(part, entries=tuple(found), next=before)

    def each(self, text: str = "", stop: threading.Event | None = None) -> Iterator[AuditEntry]:
        """All entries that match, the newest first, as they are read.

        Raises:
            UsageError: as above.
        """
        before = ""
        while True:
            part = self.entries(text, limit=PAGE, before=before)
            yield from part.entries
            before = part.next
            if not before or (stop is not None and stop.is_set()):
                return


def _tests(text: str, times: Times, undo: Callable[[AuditEntry, int], str]) -> list[_Test]:
    found = [
        (term, _undo(term, times, undo) if term.name == "undo" else _test(term, times)) for term in terms(text, FIELDS)
    ]
    return [_not(test) if term.negated else test for term, test in found]


def _undo(term: Term, times: Times, undo: Callable[[AuditEntry, int], str]) -> _Test:
    if term.op != ":" or not set(term.values) <= {POSSIBLE, UNDONE}:
        raise _not_known(term, (POSSIBLE, UNDONE))
    return lambda entry: undo(entry, times.now_ms) in term.values


def _not_known(term: Term, known: Sequence[str]) -> UsageError:
    told = said("audit.word", name=term.name, value=f"{term.value!r:.40}", known=", ".join(known))
    return UsageError(told, field="filter")


def _test(term: Term, times: Times) -> _Test:
    name, op, value = term.name or "text", term.op, term.value
    if name == "age":
        span = filter_time.duration_ms(value)
        if span is None or op == ":":
            raise UsageError(said("audit.age", value=f"{value!r:.40}"), field="filter")
        edge = times.now_ms - span
        return (lambda entry: entry.at > edge) if op == "<" else (lambda entry: entry.at < edge)
    if name in ("since", "until"):
        return _in_time(name, op, value, times)
    if name not in FIELDS or op != ":":
        raise UsageError(said("audit.field", name=f"{name!r:.40}", known=", ".join(FIELDS)), field="filter")
    if name in _LISTED:
        wanted = term.values
        if name in _CLOSED and not all(value in _CLOSED[name] or value.endswith("*") for value in wanted):
            raise _not_known(term, _CLOSED[name])
        if name == "state":
            return lambda entry: audit.state(entry, times.now_ms) in wanted
        return lambda entry: any(_same(word, one) for word in _words(entry, name) for one in wanted)
    part = value.casefold()
    return lambda entry: any(part in word.casefold() for word in _words(entry, name))


def _in_time(name: str, op: str, value: str, times: Times) -> _Test:
    bound = times.bound(name, value) if op == ":" else None
    if bound is None:
        raise UsageError(said("audit.time", name=name, value=f"{value!r:.40}"), field="filter")
    return lambda entry: bound(entry.at)


def _words(entry: AuditEntry, name: str) -> tuple[str, ...]:
    if name == "target":
        return entry.target
    if name == "from":
        return (audit.origin(entry),)
    if name == "text":
        outcome = audit.parted(entry.outcome)[0]
        return (entry.who, entry.action, *entry.target, outcome, audit.detail_of(entry))
    if name == "detail":
        return (audit.detail_of(entry),)
    if name == "outcome":
        return (audit.parted(entry.outcome)[0],)
    return (str(getattr(entry, name)),)


def _same(word: str, wanted: str) -> bool:
    word = word.casefold()
    return word.startswith(wanted[:-1]) if wanted.endswith("*") else word == wanted


def _not(test: _Test) -> _Test:
    return lambda entry: not test(entry)
