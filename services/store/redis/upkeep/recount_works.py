"""The ledger compared with the records, on Redis."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from services.domain.task import ledger
from services.domain.task.ledger import Day, Proof, Ran, is_red
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.upkeep.miscount import Miscount, some
from services.store.redis import keys
from services.store.redis.ledger import Ledger, Stored, pack_days, packed_entry, read_entry
from services.store.redis.script import load
from services.store.unreadable import name_of, sound

SLICE = 500
_SET_WORK = load("set_work")
#: uniqueness key, task id, stored bytes of its record ("" for none), the record
Wrong = tuple[str, str, bytes, Task | None]


class Works(Ledger):
    """A part of ``recount``; what it stands on is in ``recount``."""

    def _as_stored(self, ids: Sequence[str]) -> Iterable[tuple[str, bytes, Task | None]]:
        raise NotImplementedError

    def _scan(self, *words: str) -> Iterator[list[bytes]]:
        raise NotImplementedError

    def _ids(self) -> Iterator[list[str]]:
        raise NotImplementedError

    def _zone(self) -> str:
        raise NotImplementedError

    def recount_works(self, *, mend: bool, anew: bool = False) -> Miscount:
        """Ends and red tasks that it does not know, those that it names and that are none, and days that lack some."""
        if mend:
            self._link.check_writable()
        proof = Proof(self._zone(), self._ticker.now_ms() - ledger.KEPT_MS)
        wrong: list[str] = []
        left = 0
        for found in itertools.chain(self._unknown(proof), self._astray_works()):
            again = [one for ids in _ids_of(found) for one in self._wrong_works(ids)]  # it may just have moved
            wrong += [task_id for _, task_id, _, _ in again]
            left += sum(not (mend and self._set_work(one)) for one in again)
        for work, last_id in self._wrong_days(proof, anew=anew):
            wrong += [] if last_id in wrong[-SLICE:] else [last_id]
            left += not (mend and self._set_days(proof, work, anew=anew))
        return Miscount(kind="ledger", where=some(wrong), count=len(wrong), left=min(left, len(wrong)))

    def _unknown(self, proof: Proof) -> Iterator[list[Wrong]]:
        for ids in self._ids():
            yield list(self._wrong_works([(None, task_id) for task_id in ids], proof))

    def _astray_works(self) -> Iterator[list[Wrong]]:
        for names in self._scan("MATCH", keys.WORK + "*", "TYPE", "string"):
            works = [name_of(name).removeprefix(keys.WORK) for name in names]
            named = [
                (work, task_id)
                for work, entry in zip(works, self._work_entries(works), strict=True)
                for task_id in (dict.fromkeys(_named(entry)) if entry is not None else ())
            ]
            yield list(self._wrong_works(named))

    def _wrong_works(self, named: Sequence[tuple[str | None, str]], proof: Proof | None = None) -> Iterator[Wrong]:
        """Of these tasks, in the entry that names each (None: its own one), those that stand there wrongly."""
        for start in range(0, len(named), SLICE):
            part = named[start : start + SLICE]
            records = list(self._as_stored([task_id for _, task_id in part]))
            works = [
                work if work is not None else task.work if task is not None else ""
                for (work, _), (_, _, task) in zip(part, records, strict=True)
            ]
            for work, entry, (task_id, stored, task) in zip(works, self._work_entries(works), records, strict=True):
                own = task if task is not None and task.work == work else None
                alone = entry is not None and entry.alone and entry.task_id == task_id
                if own is not None and proof is not None:
                    proof.note(own)
                if work and own is not None and proof is not None and ledger.counts(own) and not alone:
                    proof.add(work, ledger.of_task(own))
                if work and _is_wrong(task_id, own, entry) and not (own is None and self._lasts(entry, task_id)):
                    yield work, task_id, stored, own

    def _lasts(self, entry: Stored | None, task_id: str) -> bool:
        """Whether an end without a record stands there with right: its tombstone does, or what is beside it."""
        return entry is not None and task_id not in entry.red and (bool(entry.red) or self._kept(entry) is not None)

    def _kept(self, entry: Stored) -> int | None:
        """How long an entry stays without anything red: 0 without an end, else ms; None: not at all."""
        ids = [task_id for task_id in (entry.task_id, entry.failed_id) if task_id]
        if not ids:
            return None
        if any(stored for _, stored, _ in self._as_stored(ids)):
            return 0
        return max(
            (left for left in self._link.many([("PTTL", keys.TOMB + one) for one in ids]) if left > 0), default=None
        )

    def _raw(self, work: str) -> tuple[bytes, bytes, Stored]:
        """An entry and its days before as bytes ("" for none), and the entry."""
        data, past = self._link.call("MGET", keys.WORK + work, keys.PAST + work)
        entry = sound(read_entry, data, ledger.WHAT, work) if data else None
        return data or b"", past or b"", entry or Stored("", 0, "", "")

    def _set_work(self, wrong: Wrong) -> bool:
        work, task_id, stored, task = wrong
        data, past, before = self._raw(work)
        known = before.entry
        if task is None or task.status != Status.SUCCEEDED:
            gone = known.done is not None and known.done.task_id == task_id
            known = ledger.replaced(known, done=None) if gone else known
        if task is None or task.status != Status.DEAD:
            gone = known.failed is not None and known.failed.task_id == task_id
            known = ledger.replaced(known, failed=None) if gone else known
        known = ledger.with_last(known, task) if task is not None else known
        red = tuple(one for one in before.red if one != task_id)
        if task is not None and is_red(task.status, task.triage):
            red += (task_id,)
        packed = packed_entry(known, red)
        left = 0 if red else self._kept(read_entry(packed))
        packed = b"" if left is None else packed
        where = (keys.WORK + work, keys.task(task_id), keys.PAST + work)
        return bool(self._link.run(_SET_WORK, where, data, stored, past, packed, str(left or 0), past, "1"))

    # -------------------------------------------------------------------------------------------------------- days
    def _wrong_days(self, proof: Proof, *, anew: bool) -> Iterator[tuple[str, str]]:
        """Works whose last failure never ran, or whose days are not what records prove; each with its last end."""
        works = proof.works()
        for start in range(0, len(works), SLICE):
            part = works[start : start + SLICE]
            for work, (stored, ran) in zip(part, self._known_works(part), strict=True):
                found = _righted(proof, work, stored, ran, anew=anew)
                if found is not None:
                    yield work, ledger.last_of(*found) or work

    def _set_days(self, proof: Proof, work: str, *, anew: bool) -> bool:
        data, past, before = self._raw(work)
        ((_, ran),) = self._known_works([work])
        found = _righted(proof, work, before, ran, anew=anew)
        if found is None or (not data and proof.proves(work)):  # it is gone, or comes just now
            return False
        entry, days = found
        packed = packed_entry(entry, before.red)
        left = 0 if before.red else self._kept(read_entry(packed))
        where = (keys.WORK + work, keys.task(ledger.last_of(entry, days)), keys.PAST + work)
        record = self._link.call("GET", where[1]) or b""
        told = (b"" if left is None else packed, str(left or 0), pack_days(days), str(ledger.KEPT_MS))
        return bool(self._link.run(_SET_WORK, where, data, record, past, *told))


def _righted(
    proof: Proof, work: str, stored: Stored | None, ran: Ran | None, *, anew: bool
) -> tuple[ledger.Entry, tuple[Day, ...]] | None:
    """``ran`` tells the day of the entry too."""
    entry = stored.entry if stored is not None else ledger.Entry()
    days = [day for day in (ran.days if ran is not None else ()) if day != entry.day]
    return proof.righted(work, entry, days, anew=anew)


def _named(entry: Stored) -> Iterator[str]:
    yield from (task_id for task_id in (entry.task_id, entry.failed_id, *entry.red) if task_id)


def _is_wrong(task_id: str, task: Task | None, entry: Stored | None) -> bool:
    if task is None:
        return entry is not None and task_id in _named(entry)
    red = entry is not None and task_id in entry.red
    if red != is_red(task.status, task.triage):
        return True
    won = entry.at if entry is not None else 0
    lost = entry.failed_at if entry is not None else 0
    if not ledger.counts(task):  # where a letter that never ran is the last failure, its days are set right too
        never = task.status == Status.DEAD
        return entry is not None and (entry.task_id == task_id or (entry.failed_id == task_id and not never))
    if task.status == Status.SUCCEEDED:
        return won < task.ended_at or (entry is not None and entry.failed_id == task_id)
    return lost < task.ended_at or (entry is not None and entry.task_id == task_id)


def _ids_of(found: Sequence[Wrong]) -> Iterator[list[tuple[str | None, str]]]:
    if found:
        yield [(work, task_id) for work, task_id, _, _ in found]
