"""The dead letters of one triage state as they were read, kept between answers and brought up to date by events.

Reading tens of thousands of records for each answer takes seconds; that a few of them changed is told by the stream of
events, in the step in which it happened. Where the stream has a gap, or the counters tell another number, all is read.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Sequence

from services.domain.task.event import Event
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.monitor.letters.alike import KEPT, Alike, Few, Letter, Line, key_of, letter_of, line_of
from services.monitor.reach import LONGEST_MS, Reaches, Tries
from services.ports import Store

SCAN_LIMIT, PAGE = 50_000, 1_000
#: judging the causes of more letters than these takes seconds, which who wants to see them need not wait for
MANY = 2_000
#: of more letters than are looked at so many may have left before older ones are read in their place, or have come
#: before the oldest are let go
SLACK = SCAN_LIMIT // 10
#: events that are asked for at a time; beyond so many in all, reading all letters again costs no more
EVENTS, MOST_EVENTS = 5_000, 80_000
#: newest events that are kept as somebody else heard them, so that they need not be read again
HEARD = 10_000


class News:
    """A place in the stream of events. Blocking, but for ``hear``, which any thread may call."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cursor = ""
        self._lock = threading.Lock()
        self._heard: deque[Event] = deque(maxlen=HEARD)  #: without a gap between them

    def hear(self, events: Sequence[Event], *, gap: bool = False) -> None:
        """Take in what who follows the stream read of it, in its order; ``gap``: something before was missed."""
        with self._lock:
            if gap:
                self._heard.clear()
            self._heard.extend(events)

    def since(self, until: str, learn: Callable[[Sequence[Event]], None]) -> bool:
        """Hand on the events since the last call up to this cursor, where the next call begins; False where they are
        not all known, or too many.
        """
        cursor, self._cursor, told = self._cursor, "", 0  # of what fails on the way nobody knows how far it came
        while cursor != until:
            events = self._next(cursor) if cursor and told < MOST_EVENTS else ()
            if not events:
                self._cursor = until
                return False
            last = next((n for n, event in enumerate(events, 1) if event.cursor == until), len(events))
            learn(events[:last])
            cursor, told = events[last - 1].cursor, told + last
        self._cursor = until
        return True

    def _next(self, cursor: str) -> Sequence[Event]:
        """Some of what follows; nothing where it is not all known."""
        with self._lock:
            heard = list(self._heard)
        place = next((n for n, event in enumerate(heard, 1) if event.cursor == cursor), len(heard))
        if found := heard[place : place + EVENTS]:
            return found
        batch = self._store.events(cursor, EVENTS, 0.0)
        return () if batch.gap else batch.events


class Book:
    """Letters of one triage state. Blocking."""

    def __init__(self, store: Store, triage: str, reaches: Reaches) -> None:
        self._store, self._triage, self._reaches = store, triage, reaches
        self._lines: dict[str, Line] = {}
        self._texts: dict[str, str] = {}
        self._order: list[Line] | None = None
        self._few: dict[str, Letter] = {}  #: of some of the newest of each cause
        self._tries: dict[str, Tries] = {}  #: of those that died in the last day of their cause
        self._behind: tuple[int, str] | None = None  #: those behind are not looked at, None: these are all
        self._off: int | None = None  #: the counters knew so many more

    def __len__(self) -> int:
        return len(self._lines)

    def read(self) -> None:
        """Read all of them, page by page: nobody holds them all."""
        terms = (equals("status", Status.DEAD), equals("triage", self._triage))
        few: dict[str, Few] = defaultdict(Few)
        last: dict[str, int] = {}
        found, cursor = 0, ""
        while found < SCAN_LIMIT:
            page = self._store.query(Query(terms=terms, limit=PAGE, cursor=cursor, want_total=False))
            for task in page.tasks:
                key = key_of(task)
                self._lines[task.task_id] = line_of(task, self._texts)
                few[key].add(letter_of(task))
                last[key] = max(last.get(key, 0), task.ended_at)
                if task.ended_at >= last[key] - LONGEST_MS:
                    self._tries[task.task_id] = self._reaches.tries(task)
            if page.next is None:
                break
            found, cursor = found + len(page.tasks), page.next
        else:
            self._behind = min((one.created_at, one.task_id) for one in self._lines.values())
        self._few = {one.task_id: one for some in few.values() for one in some.all}
        self._order = None

    def change(self, task_id: str, task: Task | None) -> None:
        """What became of a record that may be, or have been, one of these."""
        self._lines.pop(task_id, None)
        self._few.pop(task_id, None)
        self._tries.pop(task_id, None)
        self._order = None
        if task is None or task.status != Status.DEAD or task.triage != self._triage:
            return
        if self._behind is None or (task.created_at, task_id) >= self._behind:
            self._lines[task_id] = line_of(task, self._texts)
            self._few[task_id] = letter_of(task)
            self._tries[task_id] = self._reaches.tries(task)

    def agrees(self, total: int) -> bool:
        """Whether the counters know as many as there were, and of more letters than are looked at neither too few nor
        too many are held.
        """
        off = total - len(self)
        if self._off is None:
            self._off = off
        enough = self._behind is None or len(self) >= SCAN_LIMIT - SLACK
        return off == self._off and enough and len(self) <= SCAN_LIMIT + SLACK

    @property
    def lines(self) -> Sequence[Line]:
        """All of them, what was created last first."""
        if self._order is None:
            self._order = sorted(self._lines.values(), key=lambda one: (one.created_at, one.task_id), reverse=True)
        return self._order

    def alike(self, lines: Sequence[Line]) -> Alike:
        """What these have in common."""
        newest = sorted(lines, key=lambda one: -one.ended_at)[:KEPT]
        missing = [one for one in newest if one.task_id not in self._few]
        found = self._store.get([one.task_id for one in missing]) if missing else []
        for line, task in zip(missing, found, strict=True):
            gone = Letter(
                line.task_id, line.ended_at, line.task_type, 0, "", "", "", line.shop
            )  # the next answer knows it
            self._few[line.task_id] = gone if task is None else letter_of(task)
        few = [self._few[one.task_id] for one in newest]
        for one in {line.task_id for line in lines if line.task_id in self._few} - {one.task_id for one in few}:
            del self._few[one]
        return Alike.of(lines, few)

    def lately(self, lines: Sequence[Line], last: int) -> list[Tries]:
        """Where those ran that died in the day before ``last`` (UTC ms)."""
        ids = [one.task_id for one in lines if one.ended_at >= last - LONGEST_MS]
        missing = [one for one in ids if one not in self._tries]
        for start in range(0, len(missing), PAGE):
            for task in self._store.get(missing[start : start + PAGE]):
                if task is not None:
                    self._tries[task.task_id] = self._reaches.tries(task)
        for line in lines:
            if line.ended_at < last - LONGEST_MS:
                self._tries.pop(line.task_id, None)
        return [self._tries[one] for one in ids if one in self._tries]
