"""The ledger compared with the records, on Redis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from services.domain.task.ledger import done_by, is_red
from services.domain.task.record import ENCODER, Task
from services.domain.task.status import Status
from services.domain.upkeep.miscount import Miscount, some
from services.store.redis import keys
from services.store.redis.ledger import Entry, Ledger
from services.store.redis.script import load
from services.store.unreadable import name_of

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

    def _works(self, *, mend: bool) -> Miscount:
        """Successes and red tasks that it does not know, and those that it names and that are none."""
        wrong: list[str] = []
        left = 0
        for found in (*self._unknown(), *self._astray_works()):
            again = [one for ids in _ids_of(found) for one in self._wrong_works(ids)]  # it may just have moved
            wrong += [task_id for _, task_id, _, _ in again]
            left += sum(not (mend and self._set_work(one)) for one in again)
        return Miscount(kind="ledger", where=some(wrong), count=len(wrong), left=left)

    def _unknown(self) -> Iterator[list[Wrong]]:
        for ids in self._ids():
            yield list(self._wrong_works([(None, task_id) for task_id in ids]))

    def _astray_works(self) -> Iterator[list[Wrong]]:
        for names in self._scan("MATCH", keys.WORK + "*", "TYPE", "string"):
            works = [name_of(name).removeprefix(keys.WORK) for name in names]
            named = [
                (work, task_id)
                for work, entry in zip(works, self._work_entries(works), strict=True)
                for task_id in (dict.fromkeys((entry.task_id, *entry.red)) if entry is not None else ())
                if task_id
            ]
            yield list(self._wrong_works(named))

    def _wrong_works(self, named: Sequence[tuple[str | None, str]]) -> Iterator[Wrong]:
        """Of these tasks, in the entry that names each (None: its own one), those that stand there wrongly."""
        for start in range(0, len(named), SLICE):
            part = named[start : start + SLICE]
            records = list(self._as_stored([task_id for _, task_id in part]))
            works = [
                work if work is not None else task.work if task is not None else ""
                for (work, _), (_, _, task) in zip(part, records, strict=True)
            ]
            buried = [
                stone is not None for stone in self._link.call("MGET", *(keys.TOMB + task_id for _, task_id in part))
            ]
            for work, entry, stone, (task_id, stored, task) in zip(
                works, self._work_entries(works), buried, records, strict=True
            ):
                own = task if task is not None and task.work == work else None
                if work and _is_wrong(task_id, own, entry, buried=stone):
                    yield work, task_id, stored, own

    def _set_work(self, wrong: Wrong) -> bool:
        work, task_id, stored, task = wrong
        did = done_by(task) if task is not None and task.status == Status.SUCCEEDED else None
        packed = ENCODER.encode((did.at, did.by, did.worker)) if did is not None else b""
        red = "1" if task is not None and is_red(task.status, task.triage) else "0"
        names = (keys.WORK + work, keys.task(task_id), keys.TOMB + task_id)
        return bool(self._link.run(_SET_WORK, names, stored, task_id, packed, red))


def _is_wrong(task_id: str, task: Task | None, entry: Entry | None, *, buried: bool) -> bool:
    if task is None:
        return entry is not None and (task_id in entry.red or (entry.task_id == task_id and not buried))
    at = entry.at if entry is not None else 0
    red = entry is not None and task_id in entry.red
    if red != is_red(task.status, task.triage):
        return True
    if task.status != Status.SUCCEEDED:
        return entry is not None and entry.task_id == task_id
    return at < task.ended_at


def _ids_of(found: Sequence[Wrong]) -> Iterator[list[tuple[str | None, str]]]:
    if found:
        yield [(work, task_id) for work, task_id, _, _ in found]
