"""Whether the audit is as it was written: what was altered, taken away, put in or moved, and who can tell.

What cannot be found: who may write to the store may write the whole trail anew, heads included; then only a machine
finds it that has seen a later link than the first one that was changed (its home keeps the last ones). The last links
of all, taken away with their heads, are missed by nobody but by such a machine.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from services.domain import audit
from services.domain.audit import ACCEPT, AuditEntry, AuditRow, Link, Mark
from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_

ALTERED, REMOVED, REORDERED, INSERTED = "altered", "removed", "reordered", "inserted"
TAIL_CUT, WRITER_GONE, UNREADABLE = "tail_cut", "writer_gone", "unreadable"
WRONGS = (ALTERED, REMOVED, REORDERED, INSERTED, TAIL_CUT, WRITER_GONE, UNREADABLE)
#: what is wrong: the entry, its outcome, or the list of heads
ENTRY, OUTCOME, HEADS = "entry", "outcome", "heads"
#: who knows of what is missing
LATER, HEAD, MACHINE = "later", "head", "machine"
SENTENCES: dict[str, str] = {
    "audit.altered": N_("{entry} of {who} is not as it was written"),
    "audit.altered_outcome": N_("How {entry} of {who} ended is not as it was written"),
    "audit.altered_heads": N_("The list of the last entries holds something that is none: {entry}"),
    "audit.removed": N_("{entry} was taken away"),
    "audit.removed_outcome": N_("How {entry} of {who} ended was taken away"),
    "audit.reordered": N_("{entry} of {who} does not stand where it was written"),
    "audit.inserted": N_("{entry} of {who} was put in: nothing written later knows of it"),
    "audit.inserted_outcome": N_("The outcome of {entry} of {who} was put in: nothing written later knows of it"),
    "audit.tail_cut": N_("{entry} was taken away, with all that its writer {writer} wrote after it"),
    "audit.writer_gone": N_("{entry} was taken away, with all that its writer {writer} wrote"),
    "audit.unreadable": N_("{entry} cannot be read"),
    "audit.told_later": N_("A later entry names it."),
    "audit.told_head": N_("The list of the last entries names it."),
    "audit.told_machine": N_("This machine has seen it."),
}
#: clocks of writers may differ by that much where only the newest rows are looked at
SLACK_MS = 60_000


_UNASKED, _ASKED = -1, -2


class Wrong(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is not as it was written."""

    what: str  #: one of WRONGS
    entry_id: str
    part: str = ENTRY
    writer: str = ""
    who: str = ""  #: whose act it was, "" where nobody knows any more
    action: str = ""
    at: int = 0  #: UTC ms of the entry, 0 unknown
    told_by: str = ""  #: LATER, HEAD, MACHINE: who knows of what is missing; "" where the row itself shows it

    @property
    def name(self) -> str:
        """The same for the same fault, however often one looks."""
        return f"{self.what} {self.part} {self.entry_id}"

    @property
    def message(self) -> Message:
        """What is wrong, as a sentence."""
        code = self.what if self.part == ENTRY else f"{self.what}_{self.part}"
        params: dict[str, Param] = {"entry": self.entry_id, "writer": self.writer, "who": self.who or "?"}
        return Message(f"audit.{code}", params)

    @property
    def witness(self) -> Message | None:
        """Who knows of it, None where the row itself shows it."""
        return Message(f"audit.told_{self.told_by}") if self.told_by else None


class Tail(msgspec.Struct, frozen=True, kw_only=True):
    """The last link that is there of one writer."""

    writer: str
    number: int  #: links of it in all: entries, and how they ended
    entry_id: str
    at: int  #: UTC ms


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at the trail found."""

    rows: int
    writers: int
    before: int  #: entries of older programs, from before the chain began
    unknown: int  #: acts of which nobody wrote how they ended, long ago
    wrong: tuple[Wrong, ...] = ()  #: in the order of writing
    accepted: tuple[Wrong, ...] = ()  #: known, and accepted by an admin
    whole: bool = True  #: all rows were looked at
    seen_since: int = 0  #: from when on this machine has kept links of it, UTC ms; 0 never before this look
    sight_lost: bool = False  #: it had kept more, which somebody took away
    tails: tuple[Tail, ...] = ()  #: of each writer, by name

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong that nobody has accepted."""
        return not self.wrong


class _Known(msgspec.Struct):
    """A link that is there."""

    digest: str
    entry_id: str
    place: int
    at: int  #: UTC ms
    opens: bool
    names: tuple[str, ...]  #: marks of what was written before it
    after: int = -1  #: highest place of all that was surely written before it; _UNASKED, _ASKED: not known yet


class Judge(msgspec.Struct):
    """Takes the rows, in any order, then says what is wrong."""

    now_ms: int
    whole: bool = True
    _links: dict[tuple[str, int], _Known] = msgspec.field(default_factory=dict)
    _rows: int = 0
    _unknown: int = 0
    _old: list[tuple[int, str, AuditEntry]] = msgspec.field(default_factory=list)
    _first: int = 0  #: place of the first row of the chain, 0: none yet
    _oldest: int = 0  #: instant of the earliest row that was looked at
    _wrong: dict[str, Wrong] = msgspec.field(default_factory=dict)
    _bad: set[str] = msgspec.field(default_factory=set)  #: rows about which something is said already
    _elsewhere: list[tuple[AuditRow, AuditEntry]] = msgspec.field(
        default_factory=list
    )  #: under another key than their name
    _gone: set[tuple[str, int]] = msgspec.field(
        default_factory=set
    )  #: entries that are missing, as somebody names them
    _until: int = 0  #: the latest instant at which somebody names what is gone or altered
    _unsure: set[tuple[str, int]] = msgspec.field(default_factory=set)
    _named: set[tuple[str, int]] = msgspec.field(default_factory=set)
    _who: dict[str, tuple[str, str]] = msgspec.field(default_factory=dict)  #: by entry: who and what
    _writers: dict[str, int] = msgspec.field(default_factory=lambda: defaultdict(int))  #: the last number of each
    _accepted: set[str] = msgspec.field(default_factory=set)

    def add(self, row: AuditRow) -> None:
        """Look at one row."""
        self._rows += 1
        entry = row.entry
        if entry is None:
            self._say(REMOVED if row.missing else UNREADABLE, row.key)
            return
        if entry.entry_id != row.key:
            self._elsewhere.append((row, entry))
            return
        if not self._oldest or entry.at < self._oldest:
            self._oldest = entry.at
        self._who[entry.entry_id] = entry.who, entry.action
        if audit.state(entry, self.now_ms) == "unknown":
            self._unknown += 1
        if entry.link is None:
            self._old.append((row.place, row.key, entry))
            return
        self._first = min(self._first or row.place, row.place)
        self._take(row, entry, entry.link)

    def _take(self, row: AuditRow, entry: AuditEntry, link: Link) -> None:
        intact = (
            audit.is_entry(entry.entry_id)
            and audit.instant_of(entry.entry_id) == entry.at
            and audit.number_of(entry.entry_id) == link.number
            and entry.digest == link.digest == audit.opening(entry, link)
        )
        if not intact:
            self._say(ALTERED, entry.entry_id)
        self._keep(entry, link, row.place, opens=True)
        end = entry.end
        if end is None:
            if entry.outcome or entry.closed_at:
                self._say(ALTERED, entry.entry_id, OUTCOME)
            return
        if end.digest != audit.ending(entry, entry.outcome, entry.closed_at, end):
            self._say(ALTERED, entry.entry_id, OUTCOME)
        elif intact and entry.action == ACCEPT and entry.outcome.startswith("done"):
            self._accepted |= _listed(entry.detail)
        self._keep(entry, end, row.place, opens=False)

    def _keep(self, entry: AuditEntry, link: Link, place: int, *, opens: bool) -> None:
        writer = audit.writer_of(entry.entry_id)
        here = (writer, link.number)
        if here in self._links:
            self._say(INSERTED, entry.entry_id, ENTRY if opens else OUTCOME)
            return
        at = entry.at if opens else entry.closed_at
        names = (*link.seen, *link.unsure)
        self._links[here] = _Known(link.digest, entry.entry_id, place, at, opens, names)
        self._writers[writer] = max(self._writers[writer], link.number)
        self._unsure |= {(found.writer, found.number) for found in map(audit.parse, link.unsure) if found is not None}

    def verdict(self, heads: Sequence[str], witnessed: Sequence[str] = (), strays: Iterable[str] = ()) -> Verdict:
        """What is wrong.

        ``heads``: as the store lists them, before and after the rows were read. ``witnessed``: marks that this machine
        has seen. ``strays``: keys of entries that stand at no place of the order.
        """
        for key in strays:
            self._say(REMOVED, key)
        for row, entry in self._elsewhere:
            self._misplaced(row, entry)
        self._judge_old()
        self._judge_names(heads, witnessed)
        self._judge_order()
        if self.whole:
            self._judge_gaps()
            self._judge_strangers(heads)
        return self._told()

    def _told(self) -> Verdict:
        found = sorted(self._wrong.values(), key=lambda one: (one.at, one.entry_id, WRONGS.index(one.what)))
        fresh = [one for one in found if one.name not in self._accepted]
        return Verdict(
            rows=self._rows,
            writers=len(self._writers),
            before=sum(1 for place, _key, _entry in self._old if not self._first or place < self._first),
            unknown=self._unknown,
            wrong=tuple(fresh),
            accepted=tuple(one for one in found if one.name in self._accepted),
            whole=self.whole,
            tails=tuple(self._tail(writer, last) for writer, last in sorted(self._writers.items())),
        )

    def _tail(self, writer: str, last: int) -> Tail:
        known = self._links[writer, last]
        return Tail(writer=writer, number=last, entry_id=known.entry_id, at=known.at)

    def _misplaced(self, row: AuditRow, entry: AuditEntry) -> None:
        """Its name and its key differ: a copy of another row, or a row that was renamed."""
        there = self._links.get((audit.writer_of(entry.entry_id), audit.number_of(entry.entry_id)))
        self._say(INSERTED if there is not None else ALTERED, row.key)
        if there is None and entry.link is not None:  # what it says is there, if under another name
            self._bad.add(entry.entry_id)
            self._keep(entry, entry.link, row.place, opens=True)
            if entry.end is not None:
                self._keep(entry, entry.end, row.place, opens=False)

    def _judge_old(self) -> None:
        """What older programs wrote is told as that, where it stands before the chain; each wrote a chain of its own,
        without outcomes.
        """
        digests = {entry.digest for _place, _key, entry in self._old}
        for place, key, entry in self._old:
            if self._first and place > self._first:
                self._say(INSERTED, key)
            elif entry.digest and entry.digest != audit.before_chain(entry):
                self._say(ALTERED, key)
            elif self.whole and entry.digest and entry.previous and entry.previous not in digests:
                self._say(REMOVED, f"before {key}")

    def _judge_names(self, heads: Sequence[str], witnessed: Sequence[str]) -> None:
        for known in self._links.values():
            for mark in known.names:
                self._look(mark, LATER, known.at)
        for mark in heads:
            if audit.parse(mark) is None:
                self._say(ALTERED, mark[:120], HEADS)
            self._look(mark, HEAD)
        for mark in witnessed:
            self._look(mark, MACHINE)

    def _look(self, text: str, by: str, at: int = 0) -> None:
        """Somebody names a link: it must be there, as it was."""
        mark = audit.parse(text)
        if mark is None:
            return
        here = (mark.writer, mark.number)
        self._named.add(here)
        known = self._links.get(here)
        part = ENTRY if audit.number_of(mark.entry_id) == mark.number else OUTCOME
        if known is None:
            self._miss(mark, part, by, at)
        elif known.digest != mark.digest:
            self._until = max(self._until, at)
            self._say_altered(known.entry_id, part, by)

    def _judge_order(self) -> None:
        """An entry stands behind all that was surely written before it: what it names, what that names, and so on."""
        for known in self._links.values():
            if known.opens and self._after(known) > known.place:
                self._say(REORDERED, known.entry_id)

    def _after(self, asked: _Known) -> int:
        """The highest place of all that was surely written before a link, without recursion: chains are long."""
        stack = [asked]
        while stack:
            known = stack[-1]
            before = [one for one in map(self._find, known.names) if one is not None] if known.after < 0 else []
            if known.after == _UNASKED:
                known.after = _ASKED
                stack += [one for one in before if one.after == _UNASKED]
            elif known.after == _ASKED:  # what it names is known now, but where made-up links name each other
                known.after = max((max(one.place if one.opens else 0, one.after) for one in before), default=0)
                known.after = max(known.after, 0)
                stack.pop()
            else:
                stack.pop()
        return asked.after

    def _find(self, text: str) -> _Known | None:
        mark = audit.parse(text)
        return self._links.get((mark.writer, mark.number)) if mark is not None else None

    def _say_altered(self, name: str, part: str, by: str) -> None:
        if name not in self._bad:
            self._say(ALTERED, name, part, by)

    def _miss(self, mark: Mark, part: str, by: str, at: int) -> None:
        if not self.whole and audit.instant_of(mark.entry_id) < self._oldest + SLACK_MS:
            return  # it stands before what was looked at
        if (mark.writer, mark.number) in self._unsure:
            return
        self._until = max(self._until, at)
        last = self._writers.get(mark.writer, 0)
        if part == OUTCOME and mark.entry_id in self._who:
            self._say(REMOVED, mark.entry_id, OUTCOME, by)
        else:
            self._gone.add((mark.writer, audit.number_of(mark.entry_id)))
            what = WRITER_GONE if not last else TAIL_CUT if mark.number > last else REMOVED
            self._say(what, mark.entry_id, told_by=by)

    def _judge_gaps(self) -> None:
        """Links that are missing and that nobody left names."""
        told = self._named | self._unsure | self._gone
        for writer, last in self._writers.items():
            for number in range(1, last):
                here = (writer, number)
                if here not in self._links and here not in told:
                    self._say(REMOVED, f"{writer}#{number}")

    def _judge_strangers(self, heads: Sequence[str]) -> None:
        """Each link is named by a later one or stands among the heads, from the moment in which it was written. What
        nobody names may have been named by something that is wrong or gone.
        """
        until = max([self._until, *(one.at for one in self._wrong.values())])
        for mark in heads:
            if (found := audit.parse(mark)) is not None:
                self._named.add((found.writer, found.number))
        for here, known in self._links.items():
            if here not in self._named and known.entry_id not in self._bad and known.at > until:
                self._say(INSERTED, known.entry_id, ENTRY if known.opens else OUTCOME)

    def _say(self, what: str, name: str, part: str = ENTRY, told_by: str = "") -> None:
        if part == OUTCOME and name in self._bad and what != INSERTED:
            return  # the entry itself is wrong, and its outcome hangs on it
        self._bad.add(name)
        who, action = self._who.get(name, ("", ""))
        wrong = Wrong(
            what=what,
            entry_id=name,
            part=part,
            writer=audit.writer_of(name) or name.partition("#")[0][:32],
            who=who,
            action=action,
            at=audit.instant_of(name),
            told_by=told_by,
        )
        self._wrong.setdefault(wrong.name, wrong)


def both(first: Verdict, second: Verdict) -> Verdict:
    """What two looks found alike: the rest was being written meanwhile."""
    names = {one.name for one in first.wrong}
    wrong = tuple(one for one in second.wrong if one.name in names)
    return Verdict(
        rows=second.rows,
        writers=second.writers,
        before=second.before,
        unknown=second.unknown,
        wrong=wrong,
        accepted=second.accepted,
        whole=second.whole,
        tails=second.tails,
    )


def _listed(detail: str) -> set[str]:
    try:
        known = json.loads(detail).get("known", ())
    except (ValueError, AttributeError, RecursionError):
        return set()
    return {one for one in known if isinstance(one, str)} if isinstance(known, list) else set()
