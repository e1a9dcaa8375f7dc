"""Who waits for whom, and who waits at which limit, compared with the records, on Redis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from services.domain.change import OpenShop
from services.domain.gates import dependency, limit, listed
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.upkeep.miscount import Miscount, some
from services.store.redis import keys
from services.store.redis.apply import Operations
from services.store.redis.limits import Limits
from services.store.redis.reads import read_kinds
from services.store.redis.script import load
from services.store.unreadable import by_name, name_of

SLICE = 500
_DROP_NEEDED = load("drop_needed")
#: key of the record, its bytes, commands: see ``redis_recount``
Change = tuple[str, bytes, Sequence[Sequence[Any]]]
Stored = tuple[str, bytes, Task | None]


def waits_for_others(task: Task | None) -> bool:
    """Whether links of a record may stand."""
    if task is None:
        return False
    return task.status == Status.SCHEDULED or (task.status, task.gate) == (Status.BLOCKED, dependency.GATE)


class Sides(Operations, Limits):
    """Parts of ``recount``; what they stand on is in ``redis_recount``."""

    def _as_stored(self, ids: Sequence[str]) -> Iterable[Stored]:
        raise NotImplementedError

    def _set_right(self, changes: Sequence[Change]) -> int:
        raise NotImplementedError

    def _scan(self, *words: str) -> Iterator[list[bytes]]:
        raise NotImplementedError

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
                if not waits_for_others(task)
            ]
        ids = [name_of(one) for one in self._link.call("ZRANGE", prefix + name, 0, -1)]
        return [
            (keys.task(task_id), stored, [("ZREM", prefix + name, task_id)])
            for start in range(0, len(ids), SLICE)
            for task_id, stored, task in self._as_stored(ids[start : start + SLICE])
            if not waits_for_others(task)
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
        for (platform, task_type, _, status, *_), number in read_kinds(kinds):
            for scope in (f"{limit.PLATFORM}:{platform}", f"{limit.TYPE}:{task_type}"):
                if status == Status.RUNNING and scope in true:
                    true[scope] += number
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
