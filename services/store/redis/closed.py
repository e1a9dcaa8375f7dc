"""All that closes gates, read from Redis in two round trips at most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from services.domain.gates import listed, passing
from services.domain.gates.closed import BEGUN, ROOM, Closed
from services.domain.task.status import Status
from services.store.redis import keys
from services.store.redis.breakers import opened
from services.store.redis.client import Command
from services.store.redis.fleet import pauses_in, workers_in
from services.store.redis.glance import Glance
from services.store.redis.limits import limits_now, numbers_of
from services.store.redis.logins import sessions_in
from services.store.redis.part import Part
from services.store.redis.reads import read_shop
from services.store.redis.script import PREFIX
from services.store.unreadable import by_name

#: records in one command
_SLICE = 500
_GLANCE = msgspec.msgpack.Decoder(Glance, strict=False)
#: where the numbers of ``ROOM`` stand among the counters of a shop, behind its slots
_PLACES = tuple((place, str(status)) for place, status in enumerate(keys.COUNTED, start=1) if status in ROOM)
_RUNNING, _BLOCKED = (1 + keys.COUNTED.index(status) for status in (Status.RUNNING, Status.BLOCKED))
#: where these stand among the bytes of a counter: most shops have neither, and are not unpacked
_RUN, _WAIT = (slice(8 * place, 8 * place + 8) for place in (_RUNNING, _BLOCKED))
_NONE = bytes(8)


class ClosedGates(Part):
    """The call of ``services.ports.Store``."""

    def closed(self, in_hand: int = 0) -> Closed:
        """All that closes gates."""
        now = self._ticker.now_ms()
        names = [keys.status(status, priority) for status in BEGUN for priority in keys.PRIORITIES]
        pauses, sessions, shops, limits, workers, counters, passes, *more = self._link.many(
            [
                ("HGETALL", keys.PAUSES),
                ("HGETALL", keys.SESSIONS),
                ("ZRANGE", keys.BREAKERS_OPEN, 0, -1),
                ("HGETALL", keys.LIMITS),
                ("HGETALL", keys.WORKERS),
                ("HGETALL", keys.BY_SHOP),
                ("HGETALL", keys.DOCUMENTS + passing.KIND),
                *(("HGETALL", keys.DOCUMENTS + kind) for kind in listed.DOCUMENTS),
                *([("ZRANGE", name, 0, in_hand - 1, "REV") for name in names] if in_hand else ()),
            ]
        )
        documents = {
            kind: by_name(bytes.decode, found, f"document ({kind})")
            for kind, found in zip(listed.DOCUMENTS, more, strict=False)
        }
        members = more[len(documents) :]
        shops = sorted(shops)
        ids = [task_id for found in members for task_id in found]
        asked: list[Command] = [("HMGET", keys.BREAKERS, *shops)] if shops else []
        asked += numbers_of(limits, now)
        records = len(asked)
        for start in range(0, len(ids), _SLICE):
            asked.append(("MGET", *(keys.TASK.encode() + task_id for task_id in ids[start : start + _SLICE])))
        replies = self._link.many(asked)
        return Closed(
            pauses=tuple(listed.switched(pauses_in(pauses), documents, now)),
            sessions=tuple(sessions_in(sessions)),
            breakers=tuple(opened(shops, replies[0]) if shops else ()),
            limits=tuple(limits_now(limits, replies[bool(shops) : records], now)),
            workers=tuple(workers_in(workers, now)),
            shops=_room(counters),
            passes=passing.read(by_name(bytes.decode, passes, f"document ({passing.KIND})")),
            in_hand=frozenset(_uniqs(stored for found in replies[records:] for stored in found)),
        )


def _room(counters: Mapping[bytes, bytes]) -> dict[str, dict[str, int]]:
    found = {}
    counters = {name: one for name, one in counters.items() if one[_RUN] != _NONE or one[_WAIT] != _NONE}
    for name, numbers in by_name(read_shop, counters, "counter of a shop").items():
        if numbers[_BLOCKED]:
            found[name] = {status: numbers[place] for place, status in _PLACES if numbers[place]}
        elif numbers[_RUNNING]:
            found[name] = {str(Status.RUNNING): numbers[_RUNNING]}
    return found


def _uniqs(records: Iterable[bytes | None]) -> Iterable[str]:
    for stored in records:
        try:
            uniq = _GLANCE.decode(stored[PREFIX:]).uniq if stored is not None else ""
        except (msgspec.DecodeError, RecursionError):
            continue
        if uniq:
            yield uniq
