"""Reads of records by id and by what is due, and the counters."""

from __future__ import annotations

import heapq
import math
import re
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from services.domain.task.lane import MIN_PRIORITY
from services.domain.task.record import Task
from services.domain.task.search.query import Counts
from services.domain.task.status import TERMINAL, Status
from services.domain.upkeep.stored import LARGEST
from services.ports.upkeep import Parked
from services.store.redis import keys
from services.store.redis.apply import read_record
from services.store.redis.client import Command
from services.store.redis.part import Part
from services.store.unreadable import by_name, first, instant, name_of, number, text, texts

#: records asked for in one command
SLICE = 500
#: tasks of one priority among which the longest queued ones are looked for
_LOOK = 500
#: a key may be held by tasks whose records were lost with their Redis; who comes behind so many of them is found
_GHOSTS = 3
#: after so long without news the counters of shops are asked for only this often
REST_AFTER_S, ANEW_S = 5.0, 10.0
#: what the counters of all tasks tell apart, in their order
Kind = tuple[str, str, str, str, str, str]
KIND = ("platform", "type", "lane", "status", "triage", "priority")
_STATUSES = frozenset(map(str, Status))
_COUNTED = tuple(map(str, keys.COUNTED))  #: one string for each, however many shops have one
_NUMBERS = struct.Struct(f">{1 + len(keys.COUNTED)}Q")
#: what tells that nothing was counted otherwise
_COUNTERS: Sequence[Command] = (
    ("HGETALL", keys.BY_KIND),
    ("ZCARD", keys.OUTBOX),
    ("HGET", keys.META, "epoch"),
    ("XREVRANGE", keys.EVENTS, "+", "-", "COUNT", 1),
)


class _Counted(msgspec.Struct, frozen=True):
    """What was counted at the last look: ``told`` by ``_COUNTERS``."""

    told: list[Any] | None = None
    since: float = math.inf  #: since when they tell the same (monotonic seconds), and until when that is believed
    until: float = 0.0
    counts: Counts = msgspec.field(default_factory=Counts)


class Reads(Part):
    """What needs no filter."""

    _numbers = _Counted()

    def get(self, task_ids: Sequence[str]) -> list[Task | None]:
        """Records at the places of their ids."""
        found: list[Task | None] = []
        for start in range(0, len(task_ids), SLICE):
            part = task_ids[start : start + SLICE]
            found += map(read_record, self._link.call("MGET", *map(keys.task, part)))
        return found

    def unread(self, task_id: str) -> Literal["", "there", "aside"]:
        """Whether it is there and nobody can read it, or was taken out of the way for that."""
        if self.get([task_id])[0] is not None:
            return ""
        name = keys.task(task_id)
        there, broken, notes = self._link.many(
            [("EXISTS", name), ("EXISTS", keys.BROKEN + task_id), ("HKEYS", keys.ASIDE_NOTES)]
        )
        if there:
            return "there"
        moved = re.compile(re.escape(f"{keys.ASIDE}{name}").encode() + rb":\d+\n")
        return "aside" if broken or any(map(moved.fullmatch, notes)) else ""

    def outbox(self, older_than_ms: int, limit: int) -> list[Task]:
        """Records whose outbox mark is at least this many ms old, oldest first."""
        until = self._ticker.now_ms() - older_than_ms if older_than_ms > 0 else "+inf"
        return self._first(keys.OUTBOX, until, limit)

    def expired(self, limit: int) -> list[Task]:
        """Running records whose lease has run out, the longest silent first."""
        return self._first(keys.LEASES, self._ticker.now_ms(), limit)

    def due(self, limit: int, grace_ms: int = 0) -> list[Task]:
        """Scheduled records that are due, and retrying ones that are due since ``grace_ms``."""
        now = self._ticker.now_ms()
        tasks = self._first(keys.PLANNED, now, limit) + self._first(keys.RETRIES, now - grace_ms, limit)
        return sorted(tasks, key=lambda task: (task.due_at, task.task_id))[:limit]

    def oldest_queued(self, lane: str, limit: int) -> list[Task]:
        """Queued records of a lane, earliest ``queued_at`` first, among the oldest ones of each priority."""
        found = self._link.many([("ZRANGE", name, 0, max(limit, _LOOK) - 1) for name in keys.queued(lane)])
        tasks = self._records(task_id for ids in found for task_id in ids)
        return sorted(tasks, key=lambda task: (task.queued_at, task.task_id))[:limit]

    def delivered(self) -> Mapping[tuple[str, int], int]:
        """The watermarks."""
        found: dict[tuple[str, int], int] = {}
        for place, at in by_name(instant, self._link.call("HGETALL", keys.WATERMARKS), "watermark").items():
            queue, _, priority = place.rpartition("|")
            if priority.isdecimal():
                found[queue, int(priority)] = at
        return found

    def queued_before(self, before: Mapping[tuple[str, int], int], limit: int) -> list[Task]:
        """Queued records by lane and priority that were created before an instant."""
        commands: list[Command] = [
            ("ZRANGEBYSCORE", keys.status(Status.QUEUED, priority, lane), "-inf", f"({at}", "LIMIT", 0, limit)
            for (lane, priority), at in before.items()
        ]
        ids = [task_id for found in self._link.many(commands) for task_id in found] if commands else []
        return sorted(self._records(ids), key=lambda task: (task.created_at, task.task_id))

    def parked_shops(self, limit: int) -> list[str]:
        """Shops with tasks in their lot, others each time where there are more than ``limit``."""
        return sorted(texts(self._link.call("SRANDMEMBER", keys.LOTS, limit)))

    def unserved(self) -> Mapping[tuple[str, str], int]:
        """How many tasks wait for a worker that can run them, by lane and type."""
        return {(lane, name): size for (lane, name, node), size in self._fetched().items() if not node}

    def homebound(self) -> Mapping[tuple[str, str, str], int]:
        """How many tasks wait for the home of their shop, by lane, type and node."""
        return {kind: size for kind, size in self._fetched().items() if kind[2]}

    def _fetched(self) -> Mapping[tuple[str, str, str], int]:
        kinds = sorted(map(keys.kind, texts(self._link.call("SMEMBERS", keys.UNSERVED))))
        sizes = self._link.many([("ZCARD", keys.unserved(*kind)) for kind in kinds]) if kinds else []
        return {kind: size for kind, size in zip(kinds, sizes, strict=True) if size}

    def unserved_tasks(self, kinds: Sequence[Parked], limit: int) -> list[Task]:
        """The best of them."""
        if not kinds:
            return []
        commands = [("ZRANGE", keys.unserved(*kind), 0, limit - 1, "WITHSCORES") for kind in kinds]
        found = [
            (float(score), member)
            for reply in self._link.many(commands)
            for member, score in zip(reply[::2], reply[1::2], strict=True)
        ]
        ids = [name_of(member) for _, member in heapq.nsmallest(limit, found)]
        tasks = self.get(ids)
        gone = [task_id for task_id, task in zip(ids, tasks, strict=True) if task is None]
        if gone and not self._link.read_only:  # they must not stand in the way of those behind them
            self._link.many([("ZREM", keys.unserved(*kind), *gone) for kind in kinds])
        return [task for task in tasks if task is not None]

    def overdue(self, limit: int) -> list[str]:
        """Tasks that should have begun by now."""
        now = self._ticker.now_ms()
        found = self._link.call("ZRANGE", keys.DEADLINES, "-inf", now, "BYSCORE", "LIMIT", 0, limit)
        return texts(found)

    def forget_deadlines(self, task_ids: Sequence[str]) -> None:
        """They have been looked at."""
        if task_ids:
            self._link.check_writable()
            self._link.call("ZREM", keys.DEADLINES, *task_ids)

    def needs(self, task_ids: Sequence[str]) -> list[list[str]]:
        """What these tasks still wait for."""
        found = self._link.many([("SMEMBERS", keys.NEEDS + task_id) for task_id in task_ids])
        return [sorted(texts(names)) for names in found]

    def dependants(self, task_id: str, limit: int) -> list[str]:
        """Who still waits for a task."""
        return sorted(texts(self._link.call("ZRANGE", keys.DEPENDANTS + task_id, 0, -1)))[:limit]

    def untold(self, limit: int) -> list[str]:
        """Ended tasks that have dependants who do not know it."""
        return texts(self._link.call("SRANDMEMBER", keys.UNTOLD, limit))

    def waiting_ahead(self, tasks: Sequence[Task]) -> list[int]:
        """How many go before each."""
        places = [(keys.queued(task.lane)[task.priority - MIN_PRIORITY :], task) for task in tasks]
        names = sorted({name for (_, *above), _ in places for name in above})
        own: list[Command] = [
            command
            for (name, *_), task in places
            for command in (("ZRANK", name, task.task_id), ("ZCOUNT", name, "-inf", f"({task.created_at}"))
        ]
        found = self._link.many([*(("ZCARD", name) for name in names), *own])
        sizes, ranks = dict(zip(names, found, strict=False)), found[len(names) :]
        return [
            int(sum(sizes[name] for name in above) + (older if rank is None else rank))
            for ((_, *above), _), rank, older in zip(places, ranks[::2], ranks[1::2], strict=True)
        ]

    def holders(self, uniqs: Sequence[str]) -> list[Task | None]:
        """Who holds these uniqueness keys."""
        found: list[Task | None] = []
        for start in range(0, len(uniqs), SLICE):
            part = uniqs[start : start + SLICE]
            first = self._link.many([("ZRANGE", keys.UNIQUE + uniq, 0, _GHOSTS) for uniq in part])
            rows = [texts(row) if uniq else [] for uniq, row in zip(part, first, strict=True)]
            ids = sorted({one for row in rows for one in row})
            known = {task.task_id: task for task in self.get(ids) if task is not None}
            found += [next((known[one] for one in row if one in known), None) for row in rows]
        return found

    def counts(self) -> Counts:
        """The counters and the place in the event stream, of one instant; others get them too.

        Where nothing was counted otherwise for a while, those of thousands of shops are not asked for again: whatever
        is written counts otherwise, or is an event. Now and then they are, for what was put right.
        """
        before = self._numbers  # once: another thread may put its own there
        at_rest = before.since + REST_AFTER_S <= time.monotonic() < before.until
        if at_rest and self._link.many(_COUNTERS, atomic=True) == before.told:
            return before.counts
        *told, shops = self._link.many([*_COUNTERS, ("HGETALL", keys.BY_SHOP)], atomic=True)
        found = self._counts(told, shops)
        now = time.monotonic()
        self._numbers = _Counted(told, before.since if told == before.told else now, now + ANEW_S, found)
        return found

    def _counts(self, told: Sequence[Any], shops: Mapping[bytes, bytes]) -> Counts:
        kinds, unsent, epoch, last = told
        status: dict[str, int] = {}
        triage: dict[str, int] = {}
        lanes: dict[str, dict[str, int]] = {}
        stood = by_name(number, kinds, "counter")
        for kind, count in _sound_kinds(stood):
            _, _, lane, state, verdict, _ = kind
            status[state] = status.get(state, 0) + count
            if verdict:
                triage[verdict] = triage.get(verdict, 0) + count
            if state not in TERMINAL:
                table = lanes.setdefault(lane, {})
                table[state] = table.get(state, 0) + count
        rows = self._shop_rows(shops)
        place = f"{self.epoch(epoch)}/{last[0][0].decode() if last else '0-0'}"
        return Counts(
            status=status,
            lanes=lanes,
            shops={name: row for name, row in rows.items() if row},
            triage=triage,
            total=sum(status.values()),
            unsent=int(unsent),
            cursor=place,
            lost=any(count < 0 for count in stood.values()),
        )

    def _shop_rows(self, counters: Mapping[bytes, bytes]) -> dict[str, dict[str, int]]:
        return self._hashes.by_name(keys.BY_SHOP, _shop_row, counters, "counter of a shop")

    def epoch(self, known: bytes | None) -> str:
        """The life of this data; an empty store begins one, and another than was known is noticed, unless nobody may
        change it.
        """
        found = text(known or b"", "epoch") or ""
        if self._link.read_only or (known is not None and found == self._life.known):
            return found
        return self._life.begin()

    def _first(self, index: str, until: float | str, limit: int) -> list[Task]:
        """So many records from the beginning of an index, whatever stands among them that is none."""

        def read(most: int) -> list[Task | None]:
            ids = self._link.call("ZRANGEBYSCORE", index, "-inf", until, "LIMIT", 0, most)
            return self.get([name_of(task_id) for task_id in ids])

        return first(read, limit)

    def _records(self, ids: Iterable[bytes]) -> list[Task]:
        return [task for task in self.get([name_of(task_id) for task_id in ids]) if task is not None]


def _shop_row(packed: bytes) -> dict[str, int]:
    """How many tasks of a shop stand in each counted status.

    Raises:
        ValueError: it is something else.
    """
    return {status: number for status, number in zip(_COUNTED, read_shop(packed)[1:], strict=True) if number > 0}


def read_shop(packed: bytes) -> tuple[int, ...]:
    """Slots of a shop and its counters.

    Raises:
        ValueError: it is something else.
    """
    found: tuple[int, ...] = _NUMBERS.unpack_from(packed)
    if max(found) > LARGEST:
        raise ValueError("it counts more than there can be")
    return found


def read_kinds(stored: Mapping[bytes, bytes]) -> Iterator[tuple[Kind, int]]:
    """The counters of all tasks by platform, type, lane, status, triage and priority; one below 0, which is left where
    the others were lost, tells of none.
    """
    yield from _sound_kinds(by_name(number, stored, "counter"))


def _sound_kinds(stood: Mapping[str, int]) -> Iterator[tuple[Kind, int]]:
    for field, count in stood.items():
        words = field.split("|")
        if count > 0 and len(words) == len(KIND) and words[3] in _STATUSES and words[5].isdecimal():
            yield (words[0], words[1], words[2], words[3], words[4], words[5]), count
