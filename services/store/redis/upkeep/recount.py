"""Indexes, counters, reservations, links and lots at limits compared with the records, on Redis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from services.domain.change import OpenShop
from services.domain.gates import dependency, limit, listed
from services.domain.step.transitions import RESERVATION_MS
from services.domain.task.record import ENCODER, Task
from services.domain.task.search.payload_match import BETWEEN
from services.domain.task.status import Status
from services.domain.upkeep.miscount import Miscount, some
from services.store.redis import keys
from services.store.redis import places as redis_places
from services.store.redis.apply import Operations, blob
from services.store.redis.limits import Limits
from services.store.redis.plan import all_parts
from services.store.redis.reads import read_kinds
from services.store.redis.script import PREFIX, load
from services.store.redis.upkeep.payloads import Payloads
from services.store.redis.upkeep.recount_works import Works
from services.store.unreadable import by_name, name_of, number, readable

SLICE = 500
TRIES = 3  #: a record that moved while it was looked at is looked at again
_SET_RIGHT = load("set_right")
_COUNT_SHOP, _SET_NUMBER = load("count_shop"), load("set_number")
_RESERVABLE = (Status.PENDING, Status.QUEUED, Status.BLOCKED)
#: sorted sets by the beginning of their names, whose members must be records that belong there
_INDEXES = (
    keys.BY_STATUS,
    keys.SHOP,
    keys.TYPE,
    keys.BATCH,
    keys.WORKER,
    keys.FINGERPRINT,
    keys.PAYLOAD,
    keys.LOT,
    keys.UNSERVED_OF,
    keys.UNIQUE,
)
_SINGLE = (keys.UPDATED, keys.LEASES, keys.RETRIES, keys.PLANNED, keys.OUTBOX)
#: the question whether a member is there, by the command that adds it
_HAS = {"SADD": "SISMEMBER", "ZADD": "ZSCORE"}
_DROP_NEEDED = load("drop_needed")
#: key of the record, its bytes, commands: see ``Recounting._set_right``
Change = tuple[str, bytes, Sequence[Sequence[Any]]]
Stored = tuple[str, bytes, Task | None]


class Recounting(Operations, Limits, Payloads, Works):
    """The call of ``services.ports.Store``."""

    _fields: tuple[str, ...] = ()  #: of payloads that are indexed whole

    def recount(self, *, mend: bool) -> list[Miscount]:
        """Places first, for the counters are made of them."""
        if mend:
            self._link.check_writable()
        self._fields = tuple(name for name, whole in self.indexed().items() if whole)
        found = [self._astray(mend=mend), self._strangers(mend=mend)]
        found += [self._shops(mend=mend), self._kinds(mend=mend), self._reservations(mend=mend)]
        found += [self._links(mend=mend), *self._limits(mend=mend), self.recount_works(mend=mend)]
        return [one for one in found if one.count]

    # ----------------------------------------------------------------------------------------------------- indexes
    def _astray(self, *, mend: bool) -> Miscount:
        """Records that do not stand where they should."""
        wrong: list[str] = []
        left = 0
        for ids in self._ids():
            changes = self._misplaced(ids)
            if changes:  # a second look: it may just have moved
                changes = self._misplaced(_ids_of(changes))
            wrong += _ids_of(changes)
            for _ in range(TRIES):
                if not changes or not mend or self._set_right(changes) == len(changes):
                    break
                changes = self._misplaced(_ids_of(changes))
            else:
                left += len(changes)
            left += len(changes) if not mend else 0
        return Miscount(kind="index", where=some(wrong), count=len(wrong), left=left)

    def _misplaced(self, ids: Sequence[str]) -> list[Change]:
        records = list(self._as_stored(ids))
        expected = [
            (task_id, stored, task, list(redis_places.places(task, marked=_marked(stored), fields=self._fields)))
            for task_id, stored, task in records
            if task is not None
        ]
        asked = [one for _, _, task, places in expected for one in _questions(task, places)]
        known = iter(self._link.many(asked))
        changes: list[Change] = []
        for task_id, stored, task, places in expected:
            commands = list(_lacking(task, places, known))
            if commands:
                changes.append((keys.task(task_id), stored, commands))
        return changes

    def _strangers(self, *, mend: bool) -> Miscount:
        """Members of indexes that have no record, or one that belongs elsewhere."""
        wrong: list[str] = []
        left = 0
        for name in self._index_names():
            for ids in self._members(name):
                changes = self._not_of(name, ids)
                if changes:  # a second look: it may just have moved
                    named = _ids_of(changes)
                    there = self._link.many([("ZSCORE", name, task_id) for task_id in named])
                    some_left = [one for one, score in zip(named, there, strict=True) if score is not None]
                    changes = self._not_of(name, some_left)
                wrong += _ids_of(changes)
                left += len(changes) - (self._set_right(changes) if mend else 0)
        return Miscount(kind="index", where=some(wrong), count=len(wrong), left=left)

    def _not_of(self, name: str, ids: Sequence[str]) -> list[Change]:
        return [
            (keys.task(task_id), stored, [("ZREM", name, task_id)])
            for task_id, stored, task in self._as_stored(ids)
            if not _belongs(task, stored, name, self._fields)
        ]

    # ---------------------------------------------------------------------------------------------------- counters
    def _shops(self, *, mend: bool) -> Miscount:
        """Each shop's numbers, counted in one step by its index and the parts of the status index."""
        counted = {str(status): place for place, status in enumerate(keys.COUNTED, 2)}
        parts = [one for one in all_parts() if one.status in counted and one.triage in ("", "open")]
        names = [part.name for part in parts]
        places = [str(counted[part.status]) for part in parts]
        wrong = []
        for member in self._link.call("ZRANGE", keys.SHOP_NAMES, 0, -1):
            shop = name_of(member)
            where = (keys.BY_SHOP, keys.SHOP + shop, *names)
            if self._link.run(_COUNT_SHOP, where, shop, "1" if mend else "0", *places):
                wrong.append(shop)
        return Miscount(kind="counter", where=some(wrong), count=len(wrong), left=0 if mend else len(wrong))

    def _kinds(self, *, mend: bool) -> Miscount:
        """Counters of all tasks: one that stays as it is while two counts agree that it is wrong, is wrong."""
        first = self._wrong_kinds()
        if not first:
            return Miscount(kind="counter", where="", count=0)
        again = self._wrong_kinds()
        sure = {field: true for field, true in again.items() if first.get(field) == true}
        made = 0
        for field, (kept, true) in sure.items() if mend else ():
            made += self._link.run(_SET_NUMBER, (keys.BY_KIND,), field, str(kept), str(true))
        left = len(again) - made
        return Miscount(kind="counter", where=some(sorted(again)), count=len(again), left=left)

    def _wrong_kinds(self) -> dict[str, tuple[int, int]]:
        """By field: the number that is kept, and the true one; those that changed meanwhile are left out."""
        before = self._kept_kinds()
        true: Counter[str] = Counter()
        for ids in self._ids():
            true.update(redis_places.kind(task) for _, _, task in self._as_stored(ids) if task is not None)
        after = self._kept_kinds()
        steady = {field for field in before | after | true if before.get(field, 0) == after.get(field, 0)}
        return {field: (after.get(field, 0), true[field]) for field in steady if after.get(field, 0) != true[field]}

    def _kept_kinds(self) -> dict[str, int]:
        return by_name(number, self._link.call("HGETALL", keys.BY_KIND), "counter")

    def _reservations(self, *, mend: bool) -> Miscount:
        """Those that no opening of a gate can have left: further ahead than any is made, or of a task that goes on. One
        that has run out promises nothing.
        """
        now = self._ticker.now_ms()
        latest = now + 2 * RESERVATION_MS
        wrong: list[str] = []
        left = 0
        names = [keys.RESERVED + name_of(shop) for shop in self._link.call("ZRANGE", keys.RESERVING, 0, -1)]
        names += [keys.LIMIT_RESERVED + name_of(scope) for scope in self._link.call("HKEYS", keys.LIMITS)]
        for name in names:
            until = {task_id: at for task_id, at in self._until(name).items() if at > now}
            changes = [
                (keys.task(task_id), stored, [("ZREM", name, task_id)])
                for task_id, stored, task in self._as_stored(list(until))
                if task is None or task.status not in _RESERVABLE or until[task_id] > latest
            ]
            wrong += _ids_of(changes)
            left += len(changes) - (self._set_right(changes) if mend else 0)
        return Miscount(kind="reservation", where=some(wrong), count=len(wrong), left=left)

    # ----------------------------------------------------------------------------------------------------- helpers
    def _ids(self) -> Iterator[list[str]]:
        for names in self._scan("MATCH", keys.TASK + "*"):
            yield [name_of(name).removeprefix(keys.TASK) for name in names]

    def _index_names(self) -> Iterator[str]:
        yield from _SINGLE
        for prefix in _INDEXES:
            for names in self._scan("MATCH", prefix + "*", "TYPE", "zset"):
                yield from (name for name in map(name_of, names) if name not in _SINGLE and self._is_whole(name))

    def _is_whole(self, name: str) -> bool:
        """Whether it is not one of those that are still being built, or forgotten."""
        term = name.removeprefix(keys.PAYLOAD)
        return term == name or term.rpartition(BETWEEN)[0] in self._fields

    def _members(self, name: str) -> Iterator[list[str]]:
        cursor = 0
        while True:
            cursor, found = self._link.call("ZSCAN", name, cursor, "COUNT", SLICE)
            if found:
                yield [name_of(member) for member, _ in found]
            if not cursor:
                return

    def _scan(self, *words: str) -> Iterator[list[bytes]]:
        cursor = 0
        while True:
            cursor, found = self._link.call("SCAN", cursor, *words, "COUNT", SLICE)
            if found:
                yield found
            if not cursor:
                return

    def _until(self, name: str) -> dict[str, float]:
        flat = self._link.call("ZRANGE", name, 0, -1, "WITHSCORES")
        return {name_of(member): float(score) for member, score in zip(flat[::2], flat[1::2], strict=True)}

    def _as_stored(self, ids: Sequence[str]) -> Iterable[Stored]:
        """Id, stored bytes ("" for none) and record."""
        stored = self._link.call("MGET", *map(keys.task, ids)) if ids else []
        for task_id, data in zip(ids, stored, strict=True):
            yield task_id, data or b"", readable(data[PREFIX:]) if data else None

    def _set_right(self, changes: Sequence[Change]) -> int:
        """How many could be made: a record that has changed since has set itself right."""
        if not changes:
            return 0
        packed = ENCODER.encode([(key, blob(stored), commands) for key, stored, commands in changes])
        return int(self._link.run(_SET_RIGHT, (keys.META,), packed))

    # ------------------------------------------------------------------------------------------------------ links
    def _links(self, *, mend: bool) -> Miscount:
        """Links of tasks that wait for nobody (any more), and names that nobody waits for."""
        wrong: set[str] = set()
        done = 0
        for prefix in (keys.NEEDS, keys.DEPENDANTS):
            for names in self._scan("MATCH", prefix + "*"):
                for name in names:
                    changes = self._stale(prefix, name_of(name).removeprefix(prefix))
                    wrong.update(key.removeprefix(keys.TASK) for key, _, _ in changes)
                    done += len(changes) - (self._set_right(changes) if mend else 0)
        idle = [name for name in self._needed() if not self._link.call("EXISTS", keys.DEPENDANTS + name)]
        for needed in idle if mend else ():
            self._link.run(_DROP_NEEDED, (keys.NEEDED, keys.DEPENDANTS + needed), needed)
        left = done + (0 if mend else len(idle))
        found = [*sorted(wrong), *idle]
        return Miscount(kind="link", where=some(found), count=len(found), left=min(left, len(found)))

    def _stale(self, prefix: str, name: str) -> list[Change]:
        if prefix == keys.NEEDS:
            return [
                (keys.task(task_id), stored, [("DEL", prefix + name)])
                for task_id, stored, task in self._as_stored([name])
                if not _waits_for_others(task)
            ]
        ids = [name_of(one) for one in self._link.call("ZRANGE", prefix + name, 0, -1)]
        return [
            (keys.task(task_id), stored, [("ZREM", prefix + name, task_id)])
            for start in range(0, len(ids), SLICE)
            for task_id, stored, task in self._as_stored(ids[start : start + SLICE])
            if not _waits_for_others(task)
        ]

    def _needed(self) -> list[str]:
        return sorted(name_of(name) for name in self._link.call("SMEMBERS", keys.NEEDED))

    # ----------------------------------------------------------------------------------------------------- limits
    def _limits(self, *, mend: bool) -> Iterator[Miscount]:
        """Running tasks of each limit; its lots that may start but for it and that nobody would let go."""
        set_ones = [name_of(scope) for scope in self._link.call("HKEYS", keys.LIMITS)]
        if not set_ones:
            return
        wrong = left = self._wrong_running(set_ones)
        if wrong and mend:
            self.recount_limits()
            left = []
        yield Miscount(kind="limit", where=some(wrong), count=len(wrong), left=len(left))
        lots = self._forgotten(set_ones)
        shops = list(dict.fromkeys(lot.rpartition("|")[0] for lot in lots))
        if mend and shops:
            self.apply([OpenShop(shop=shop, most=1) for shop in shops])
        yield Miscount(kind="waiting", where=some(lots), count=len(lots), left=0 if mend else len(lots))

    def _wrong_running(self, scopes: Sequence[str]) -> list[str]:
        """Those that differ from the counters by kind, which were set right before."""
        kept, kinds = self._link.many([("HGETALL", keys.LIMIT_RUNNING), ("HGETALL", keys.BY_KIND)])
        true = dict.fromkeys(scopes, 0)
        for (platform, task_type, _, status, *_), count in read_kinds(kinds):
            for scope in (f"{limit.PLATFORM}:{platform}", f"{limit.TYPE}:{task_type}"):
                if status == Status.RUNNING and scope in true:
                    true[scope] += count
        return sorted(scope for scope, number in true.items() if kept.get(scope.encode(), b"0") != b"%d" % number)

    def _forgotten(self, scopes: Sequence[str]) -> list[str]:
        """Lots ("shop|type") whose first task waits at a limit of its own, in no list of it, while its shop is free."""
        waiting = {
            name_of(lot) for scope in scopes for lot in self._link.call("ZRANGE", keys.LIMIT_WAITING + scope, 0, -1)
        }
        shops = [name_of(shop) for shop in self._link.call("SMEMBERS", keys.LOTS)]
        shut = {name_of(shop) for shop in self._link.call("ZRANGE", keys.BREAKERS_OPEN, 0, -1)}
        shut |= {name_of(shop) for shop in self._link.call("HKEYS", keys.SESSIONS)}
        pauses = {name_of(scope) for scope in self._link.call("HKEYS", keys.PAUSES)}
        documents = {
            kind: by_name(bytes.decode, self._link.call("HGETALL", keys.DOCUMENTS + kind), kind)
            for kind in listed.DOCUMENTS
        }
        pauses |= {one.scope for one in listed.switched((), documents, self._ticker.now_ms())}
        found: list[str] = []
        for shop in shops:
            platform = shop.partition(":")[0]
            if shop in shut or pauses & {"all", f"platform:{platform}", f"shop:{shop}"}:
                continue
            for kind in (name_of(one) for one in self._link.call("SMEMBERS", keys.LOT_TYPES + shop)):
                of_it = {f"{limit.PLATFORM}:{platform}", f"{limit.TYPE}:{kind}"} & set(scopes)
                lot = f"{shop}|{kind}"
                if of_it and lot not in waiting and f"type:{kind}" not in pauses and self._at_limit(shop, lot):
                    found.append(lot)
        return sorted(found)

    def _at_limit(self, shop: str, lot: str) -> bool:
        first = [name_of(one) for one in self._link.call("ZRANGE", keys.LOT + lot, 0, 0)]
        task = next((task for _, _, task in self._as_stored(first)), None)
        if task is None or task.gate != limit.GATE:
            return False
        if task.guard and self._link.call("ZCARD", keys.UNIQUE + task.guard) > 1:  # it may stand back for its twin
            return False
        return not self._link.call("ZCARD", keys.RESERVED + shop) and not self._is_busy(shop)

    def _is_busy(self, shop: str) -> bool:
        numbers = self._link.call("HGET", keys.BY_SHOP, shop) or b""
        counts = [int.from_bytes(numbers[place : place + 8], "big") for place in range(0, len(numbers), 8)]
        if len(counts) <= len(keys.COUNTED):  # none of ours
            return True
        taken = (Status.RUNNING, Status.PENDING, Status.QUEUED)  # by those on their way to a worker too
        busy = sum(counts[1 + keys.COUNTED.index(status)] for status in taken) if counts else 0
        return busy >= max(1, counts[0] if counts else 1)


def _marked(stored: bytes) -> bool:
    return stored[PREFIX - 1] == 1


def _belongs(task: Task | None, stored: bytes, name: str, fields: Sequence[str]) -> bool:
    if task is None:
        return False
    return any(key == name for key, _ in redis_places.places(task, marked=_marked(stored), fields=fields))


def _questions(task: Task, places: Sequence[redis_places.Place]) -> Iterator[Sequence[Any]]:
    for key, _ in places:
        yield ("ZSCORE", key, task.task_id)
        for add, name, member in redis_places.companions(task, key):
            yield (_HAS[add], name, member)


def _lacking(task: Task, places: Sequence[redis_places.Place], known: Iterator[Any]) -> Iterator[Sequence[Any]]:
    """What must be written; ``known``: the answers to the questions."""
    for key, score in places:
        stands = next(known)
        if stands is None or (score is not None and float(stands) != score):
            yield ("ZADD", key, str(task.created_at if score is None else score), task.task_id)
        for add, name, member in redis_places.companions(task, key):
            there = next(known)
            if there is None or (add == "SADD" and not there):
                yield (add, name, *(("0",) if add == "ZADD" else ()), member)


def _ids_of(changes: Sequence[Change]) -> list[str]:
    return [key.removeprefix(keys.TASK) for key, _, _ in changes]


def _waits_for_others(task: Task | None) -> bool:
    """Whether links of a record may stand."""
    if task is None:
        return False
    return task.status == Status.SCHEDULED or (task.status, task.gate) == (Status.BLOCKED, dependency.GATE)
