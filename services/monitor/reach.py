"""Gathers what ran where while a cause raged: the attempts of its task types, and the machines that made them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.fleet.worker import NOBODY, Farewell
from services.domain.insight import reach
from services.domain.insight import worker as insight
from services.domain.insight.reach import Ran, Reach
from services.domain.task.event import Event
from services.domain.task.fingerprint import fingerprint
from services.domain.task.record import Attempt, Task
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status
from services.engine import farewells
from services.monitor.letters.alike import key_of
from services.ports import Store

#: records of a type that are looked at, the newest first, and types of a cause
MOST, PAGE, TYPES = 2_000, 1_000, 4
#: what is counted begins so long before the first failure, and ends so long after the last; where nothing went well in
#: that time it begins an hour before
AROUND_MS, WIDE_MS, LONGEST_MS = 5 * 60_000, 3_600_000, 24 * 3_600_000
#: what was read of a type is read again from so long before its newest record, for what was recorded beside that
OVERLAP_MS = 2_000
#: error texts and names of which one copy is kept
_TEXTS = 50_000
_ENDS = frozenset({"succeeded", "failed", "timeout", "lost"})
_STATUSES = (Status.SUCCEEDED, Status.DEAD, Status.RETRYING, Status.RUNNING, Status.HELD)
#: what a worker adds to the name of its machine where it names itself
_OWN = re.compile(r"(?:-\d+-[0-9a-f]{2,}|[/#].*)\Z")


class Tries(msgspec.Struct, frozen=True, gc=False):
    """What is kept of a record, of which tens of thousands are looked at for one answer: where it ran, and what of."""

    task_id: str
    task_type: str
    shop: str  #: ``platform:shop_id``
    platform: str
    ended_at: int  #: UTC ms
    #: of each attempt that ended: worker, when (UTC ms), and fingerprint of what it failed of, "" where it went well
    ends: tuple[tuple[str, int, str], ...]


class _Read(msgspec.Struct, frozen=True):
    """What was read of a task type: the newest of it, the newest first, each with when it changed (UTC ms)."""

    asked: int  #: since when it was asked for
    told: int  #: since when all are there
    records: Sequence[tuple[int, Tries]]


class Reaches:
    """Remembers the records of each type between answers, and reads only what is newer, where events tell of such.
    Blocking.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._workers: dict[str, Farewell] | None = None
        self._known: dict[str, _Read] = {}  #: by type
        self._changed: set[str] = set()  #: types of which something happened since
        self._texts: dict[str, str] = {}
        self._marks: dict[bytes, str] = {}

    def begin(self) -> None:
        """An answer begins: who the workers are is asked once for it."""
        self._workers = None
        if len(self._texts) + len(self._marks) > _TEXTS:
            self._texts, self._marks = {}, {}

    def heard(self, events: Sequence[Event]) -> None:
        """Take in what happened: which types to read again, and what was removed."""
        self._changed.update(one.task_type for one in events if one.to)
        gone = {one.task_id for one in events if not one.to}
        for name, known in list(self._known.items()) if gone else ():
            left = [row for row in known.records if row[1].task_id not in gone]
            self._known[name] = replace(known, records=left)

    def tries(self, task: Task) -> Tries:
        """What is kept of a record."""
        same = self._texts.setdefault
        shop = task.shop
        return Tries(
            task.task_id,
            same(task.task_type, task.task_type),
            same(shop, shop),
            same(task.platform, task.platform),
            task.ended_at,
            tuple(
                (same(one.worker, one.worker), one.ended_at, self._mark(task, one))
                for one in task.attempts
                if one.outcome in _ENDS
            ),
        )

    def _mark(self, task: Task, attempt: Attempt) -> str:
        """The fingerprint of what an attempt failed of, "" where it went well."""
        if attempt.outcome == "succeeded":
            return ""
        if task.status == Status.DEAD and attempt.number == task.attempt:
            mark = key_of(task)
        else:  # the same text is reckoned once; kept by its digest, for there may be many long ones
            told = "\0".join((task.task_type, attempt.error_kind, attempt.error)).encode("utf-8", "replace")
            digest = hashlib.blake2b(told, digest_size=16).digest()
            mark = self._marks.get(digest, "")
            if not mark:
                mark = fingerprint(task.task_type, attempt.error_kind, attempt.error)
                self._marks[digest] = mark
        return self._texts.setdefault(mark, mark)

    def of_cause(
        self, fingerprints: Collection[str], letters: Iterable[Tries], types: Iterable[str], *, last: int, kind: str
    ) -> Reach:
        """Where a cause lies, judged by all that ran its task types in its time. ``letters``: at least those of the day
        before ``last``, when the newest died (UTC ms), and of that ``kind`` of error.
        """
        floor = last - LONGEST_MS
        own = {one.task_id: one for one in letters if one.ended_at >= floor}
        failed_at = (at for one in own.values() for _worker, at, mark in one.ends if mark in fingerprints)
        first, until = min((at for at in failed_at if at >= floor), default=last), last + AROUND_MS
        types = sorted(types)[:TYPES]
        since = first - AROUND_MS
        runs = self._runs(types, own, fingerprints, since, until)
        if all(one.failed for one in runs):
            since = first - WIDE_MS
            runs = self._runs(types, own, fingerprints, since, until)
        gone = {one.shop for one in runs if one.failed} - {one.shop for one in own.values()}
        return replace(reach.judge(runs, kind, since=since, until=until), gone=len(gone))

    def _runs(
        self, types: Iterable[str], own: dict[str, Tries], fingerprints: Collection[str], since: int, until: int
    ) -> list[Ran]:
        found: list[Ran] = []
        for name in types:
            known = self._of_type(name, since)
            begins = max(since, known.told)
            for changed, one in known.records:
                if changed < since:
                    break
                if one.task_id not in own:
                    found += self._of_record(one, fingerprints, begins, until)
            for one in own.values():
                if one.task_type == name:
                    found += self._of_record(one, fingerprints, begins, until)
        return found

    def _of_record(self, one: Tries, fingerprints: Collection[str], since: int, until: int) -> Iterable[Ran]:
        for worker, at, mark in one.ends:
            if since <= at <= until:
                by = self._worker(worker)
                yield Ran(
                    shop=one.shop,
                    platform=one.platform,
                    node=by.machine,
                    proxy=by.proxies.get(one.shop, by.proxies.get("", "")),
                    version=by.version,
                    failed=mark in fingerprints,
                )

    def _worker(self, name: str) -> Farewell:
        """What is known of a worker, also of one that has left since."""
        if self._workers is None:
            self._workers = farewells.gone(self._store)
            for info in self._store.workers():
                self._workers[info.worker] = Farewell(
                    worker=info.worker, machine=insight.machine(info), version=info.version, proxies=info.proxies
                )
        known = self._workers.get(name, NOBODY)
        if not known.machine:
            known = self._workers[name] = msgspec.structs.replace(known, machine=_OWN.sub("", name))
        return known

    def _of_type(self, name: str, since: int) -> _Read:
        """Records of a type that changed since then, and maybe before, as many as are looked at."""
        known = self._known.get(name)
        if known is None:
            known = self._read(name, since)
        else:
            known = self._more(name, known) if name in self._changed else known
            if since < known.asked == known.told and len(known.records) < MOST:
                known = self._further(name, known, since)
        self._known[name] = known
        self._changed.discard(name)
        return known

    def _read(self, name: str, since: int, until: int = 0, most: int = MOST) -> _Read:
        """``until``: 0 for now."""
        terms = [equals("type", name), equals("status", *_STATUSES), Term(field="updated", op=">=", number=since)]
        terms += [Term(field="updated", op="<=", number=until)] if until else []
        found: list[tuple[int, Tries]] = []
        oldest = since
        cursor: str | None = ""
        while cursor is not None and len(found) < most:
            query = Query(terms=tuple(terms), sort="updated", limit=min(PAGE, most), cursor=cursor, want_total=False)
            page = self._store.query(query)
            found += [(task.updated_at, self.tries(task)) for task in page.tasks]
            cursor = page.next
            oldest = page.tasks[-1].updated_at if page.tasks else oldest
        return _Read(since, since if cursor is None else oldest, found)

    def _further(self, name: str, known: _Read, since: int) -> _Read:
        """What is older than what was read, behind it."""
        there = {one.task_id for _at, one in known.records}
        older = self._read(name, since, known.told, MOST - len(known.records))
        records = [*known.records, *(row for row in older.records if row[1].task_id not in there)]
        return _Read(since, older.told, records)

    def _more(self, name: str, known: _Read) -> _Read:
        """What changed since it was read, before what was there."""
        newest = known.records[0][0] if known.records else known.told
        since = max(known.told, newest - OVERLAP_MS)
        later = self._read(name, since)
        if later.told > since:  # there is more than is looked at
            return _Read(known.asked, later.told, later.records)
        again = {one.task_id for _at, one in later.records}
        records = [*later.records, *(row for row in known.records if row[1].task_id not in again)]
        told = known.told if len(records) <= MOST else max(known.told, records[MOST - 1][0])
        return _Read(known.asked, told, records[:MOST])
