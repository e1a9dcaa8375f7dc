"""Batches: which there are, how far each is, and when it may be through."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from services.domain.gates import dependency
from services.domain.insight import batch as insight
from services.domain.insight import cause_rule
from services.domain.insight.batch import Chances
from services.domain.insight.forecast.flow import Spread
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, equals, pages
from services.domain.task.status import ACTIVE, TERMINAL, Status, Triage
from services.monitor.forecast.drain import Raised
from services.monitor.waits import successors
from services.ports import Store

#: tasks of one batch that are looked at, and how many at a time; records are read further where others stand for them
MOST, PAGE = 5000, 1000
READ = 4 * MOST
#: so many batches are looked through for a name; the names of all but the newest are those of a minute ago at most
NAMED, KEPT_MS = 20_000, 60_000


class BatchView(msgspec.Struct, frozen=True):
    """How a batch stands: tasks by status. What was sent or created again counts once, as its successor."""

    batch: str
    counts: Mapping[str, int]
    begun_at: int = 0  #: creation of its first task, UTC ms; 0 where no record is left
    left_s: float | None = None  #: until all has ended at the pace of late, None where nobody can tell
    left: Spread | None = None  #: the same with what it may be off by
    again: Mapping[str, int] = {}  #: by status, those that do not count, for a successor stands for each

    @property
    def total(self) -> int:
        """All of its tasks."""
        return sum(self.counts.values())

    @property
    def ended(self) -> int:
        """Those that succeeded, died or were cancelled."""
        return sum(number for status, number in self.counts.items() if status in TERMINAL)

    @property
    def progress(self) -> int:
        """Whole per cent that have ended, for programs; 100 only when all have."""
        return self.ended * 100 // self.total if self.total else 0

    @property
    def share(self) -> float:
        """The same for people."""
        return self.ended / self.total if self.total else 0.0


class Ahead(msgspec.Struct, frozen=True, kw_only=True):
    """What would become of a batch that is retried, or raised; None of what was not asked for."""

    chances: Chances | None = None
    raised: Raised | None = None


class BatchQueries:
    """Blocking questions; but for ``page``, ``named`` and ``ahead`` each touches the records of one batch at most."""

    def __init__(
        self,
        store: Store,
        chances: Callable[[Sequence[Task]], Chances] | None = None,
        raised: Callable[[str], Raised] | None = None,
    ) -> None:
        """``chances``: of tasks that would run again; ``raised``: what it changes to raise a batch."""
        self._store, self._names = store, _Names(store)
        self._chances, self._raised = chances, raised
        self._again: dict[str, tuple[int, dict[str, int]]] = {}  #: by batch, as its story told it when it was so large

    def page(self, limit: int, cursor: str = "") -> tuple[list[BatchView], str]:
        """Those that began last first, and what to go on from."""
        found, after = self._store.batches(limit, cursor)
        return self._views(found), after

    def named(self, text: str, limit: int) -> tuple[list[BatchView], bool]:
        """Those whose names contain a text, those that began last first; whether there may be more of them."""
        found, more = self._names.holding(text.casefold(), limit)
        return [view for view in self._views(found[:limit]) if view.counts], more or len(found) > limit

    def _views(self, found: Sequence[tuple[str, int]]) -> list[BatchView]:
        counts = self.counts([name for name, _at in found])
        views = zip(found, counts, strict=True)
        return [BatchView(name, one, begun_at=at, again=self._replaced(name)) for (name, at), one in views]

    def show(self, batch: str) -> BatchView:
        """One batch with its estimate; one without tasks is unknown, or all of it is forgotten."""
        counts = self.counts([batch])[0]
        terms = (equals("batch", batch),)
        first = self._store.query(Query(terms=terms, sort="created", descending=False, limit=1, want_total=False)).tasks
        left = self._left_s(batch, counts)
        return BatchView(
            batch,
            counts,
            begun_at=first[0].created_at if first else 0,
            left_s=left.mid_s if left is not None else None,
            left=left,
            again=self._replaced(batch),
        )

    def ahead(self, batch: str, *, retried: bool, raised: bool) -> Ahead | None:
        """What these verbs would change, None where nobody was told how that is found out.

        Raises:
            StoreUnavailable: nothing can be read now.
        """
        if self._chances is None or self._raised is None:
            return None
        return Ahead(
            chances=self._likely(batch, self._chances) if retried else None,
            raised=self._raised(batch) if raised else None,
        )

    def _likely(self, batch: str, chances: Callable[[Sequence[Task]], Chances]) -> Chances:
        tasks: list[Task] = []
        unread = 0
        for kind in (
            (equals("status", Status.DEAD), equals("triage", Triage.OPEN)),
            (equals("status", Status.RETRYING),),
        ):
            terms = (equals("batch", batch), *kind)
            read = list(pages(self._store.query, Query(terms=terms, limit=PAGE, want_total=False), MOST))
            some = [task for page in read for task in page.tasks]
            if read[-1].next is not None:
                unread += max(0, self._store.query(Query(terms=terms, limit=1)).number.number - len(some))
            tasks += some
        return chances(tasks) + Chances(unknown=unread)

    def _replaced(self, batch: str) -> Mapping[str, int]:
        return self._again.get(batch, (0, {}))[1]

    def counts(self, names: Sequence[str]) -> list[Mapping[str, int]]:
        """Tasks by status, without those for which others stand: a store counts records, whatever became of them."""
        found, left = self._store.batch_counts(names), READ
        for name, counts in zip(names, found, strict=True):
            total, ended = sum(counts.values()), [one for one in (Status.DEAD, Status.CANCELLED) if counts.get(one)]
            known, less = self._again.get(name, (0, {}))
            if ended and known != total and left > 0:  # what is made again makes it larger; the rest follows
                # of a letter its own record says so; of a cancelled one only the task that was made of it
                only = () if counts.get(Status.CANCELLED) else (equals("status", Status.DEAD),)
                left -= counts[Status.DEAD] if only else total
                less = dict(Counter(one.status for one in insight.replaced(self.tasks(name, READ, *only))))
                self._again[name] = total, less
            for status in ended:
                counts[status] -= min(counts[status], less.get(status, 0))
        return [{status: number for status, number in counts.items() if number} for counts in found]

    def tasks(self, batch: str, most: int = MOST, *terms: Term) -> tuple[Task, ...]:
        """Its tasks, the oldest first; of a larger one the newest, so many besides those for which others stand.
        ``terms``: only those that these fit.
        """
        found: list[Task] = []  # from the newest: whoever stands for another is known before that
        cursor: str | None = ""
        while cursor is not None and len(found) < READ:
            left = most - len(found)
            if left <= 0 and (left := left + len(insight.replaced(found))) <= 0:
                break
            asked = (equals("batch", batch), *terms)
            page = self._store.query(Query(terms=asked, limit=min(PAGE, left), cursor=cursor, want_total=False))
            found += page.tasks
            cursor = page.next
        return tuple(reversed(found))

    def owners(self) -> Mapping[str, str]:
        """Who is at which cause of dead letters, by its fingerprint."""
        rules = cause_rule.read(self._store.documents(cause_rule.KIND))
        found = {name: rules.get(cause_rule.root(name, rules), rule).owner for name, rule in rules.items()}
        return {name: owner for name, owner in found.items() if owner}

    def _left_s(self, batch: str, counts: Mapping[str, int]) -> Spread | None:
        """What has not ended at the pace of the last ends, the time since the latest counted; held tasks wait for a
        person, and others for what never succeeds by itself, so with them nobody can tell.
        """
        left = sum(number for status, number in counts.items() if status in ACTIVE)
        if not left:
            return Spread(low_s=0.0, mid_s=0.0, high_s=0.0)
        if counts.get(Status.HELD) or (counts.get(Status.BLOCKED) and self._waits_in_vain(batch)):
            return None
        terms = (equals("batch", batch), equals("status", Status.SUCCEEDED, Status.DEAD))
        page = self._store.query(Query(terms=terms, sort="updated", limit=insight.SAMPLE, want_total=False))
        ends = [task.ended_at for task in page.tasks if task.ended_at]
        return insight.at_pace(ends, left, self._store.now_ms())

    def _waits_in_vain(self, batch: str) -> bool:
        terms = (equals("batch", batch), equals("status", Status.BLOCKED), equals("gate", dependency.GATE))
        waiting = self._store.query(Query(terms=terms, limit=PAGE, want_total=False)).tasks
        needs = {name for names in self._store.needs([task.task_id for task in waiting]) for name in names}
        last = successors.latest(self._store, self._store.get(list(needs)))
        return any(one is None or one.status in (Status.DEAD, Status.CANCELLED) for one in last)


class _Names:
    """The names of batches, those that began last first: the newest as they are, older ones are kept for a while, for
    who searches asks again every few seconds.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._reading = store, threading.Lock()
        self._known: list[tuple[str, int]] = []
        self._next, self._read_at = "", 0

    def holding(self, wish: str, limit: int) -> tuple[list[tuple[str, int]], bool]:
        """Names that hold a text, with when they began (UTC ms), more than ``limit`` or all of the first ``NAMED``;
        whether some were not looked at.
        """
        with self._reading:
            newest, cursor = self._store.batches(PAGE)
            found = [one for one in newest if wish in one[0].casefold()]
            if not cursor or len(found) > limit:
                return found, bool(cursor)
            there, now = {name for name, _at in newest}, self._store.now_ms()
            if now - self._read_at > KEPT_MS or not any(name in there for name, _at in self._known):
                self._known, self._next, self._read_at = newest, cursor, now
            names: Sequence[tuple[str, int]] = self._known
            while True:
                found += [one for one in names if one[0] not in there and wish in one[0].casefold()]
                if len(found) > limit or not self._next or len(self._known) >= NAMED:
                    return found, bool(self._next)
                names, self._next = self._store.batches(PAGE, self._next)
                self._known = [*self._known, *names]
