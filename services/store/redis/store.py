"""The Redis driver of the Store port: one class joined from the parts that each know one duty."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from services.domain.errors import StoreError, StoreUnavailable, Unreadable
from services.domain.gates import listed, passing
from services.domain.gates.closed import BEGUN, ROOM, Closed
from services.domain.task.event import Event, EventBatch
from services.domain.task.status import Status
from services.domain.text.said import said, words_of
from services.domain.upkeep.stored import calendar
from services.ports import Clock, ScheduleEntry
from services.store.fleet_day import FleetDay
from services.store.redis import facts as redis_facts
from services.store.redis import keys, plan
from services.store.redis.apply import Operations
from services.store.redis.breakers import OpenBreakers, opened
from services.store.redis.client import Command, Link
from services.store.redis.entries import Entries
from services.store.redis.fleet import Fleet, pauses_in, workers_in
from services.store.redis.glance import Glance
from services.store.redis.journals import Journals
from services.store.redis.ledger import Ledger
from services.store.redis.life import Life
from services.store.redis.limits import Limits, limits_now, numbers_of
from services.store.redis.logins import Sessions, sessions_in
from services.store.redis.notes import Notes
from services.store.redis.part import Part, Ticker
from services.store.redis.query import Queries
from services.store.redis.reads import Reads, read_shop
from services.store.redis.script import PREFIX, load
from services.store.redis.soon import Soon
from services.store.redis.upkeep.aside import SetAside
from services.store.redis.upkeep.damage import Damages
from services.store.redis.upkeep.forget import Forgetting, place_of
from services.store.redis.upkeep.recount import Recounting
from services.store.redis.upkeep.walk import Window, walk
from services.store.unreadable import by_name, first, sound, text

_PUT = load("put_schedule")
_PACK = msgspec.msgpack.Encoder()
_ENTRY = msgspec.msgpack.Decoder(ScheduleEntry)
_KEYS = (keys.SCHEDULES, keys.SCHEDULE_VERSIONS, keys.SCHEDULES_DUE)
_EMPTY = "0-0"
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

    def closed(self, begun: int = 0) -> Closed:
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
                *([("ZRANGE", name, 0, begun - 1, "REV") for name in names] if begun else ()),
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
            passes=passing.DOCUMENT.readable(by_name(bytes.decode, passes, f"document ({passing.KIND})")),
            begun=frozenset(_uniqs(stored for found in replies[records:] for stored in found)),
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


class Events(Reads):
    """Follows ``{rpa}:events``; a cursor is ``{epoch}/{stream id}``."""

    def events(self, cursor: str, limit: int, wait_s: float) -> EventBatch:
        """Events after ``cursor`` ("" = from now on); waits for the first."""
        until = self._clock.monotonic() + wait_s
        while True:
            batch = self._look(cursor, limit)
            left = until - self._clock.monotonic()
            if batch.events or batch.gap or not cursor or left <= 0:
                return batch
            came = self._link.wait(keys.EVENTS, cursor.partition("/")[2], left)
            if self._link.closed.is_set() or (not came and self._clock.monotonic() >= until):
                return batch  # whoever follows asks at once again, and looks then

    def _look(self, cursor: str, limit: int) -> EventBatch:
        epoch, _, place = cursor.partition("/")
        if not _is_place(place):
            return self._newest(gap=bool(cursor))
        life, here, found, last = self._link.many(
            [
                ("HGET", keys.META, "epoch"),
                ("XRANGE", keys.EVENTS, place, place),
                ("XRANGE", keys.EVENTS, f"({place}", "+", "COUNT", limit),
                ("XLEN", keys.EVENTS),
            ],
            atomic=True,
        )
        if life is None or life != epoch.encode():
            return self._newest(gap=True)
        if not here and (place != _EMPTY or last >= keys.EVENTS_KEPT):
            return self._newest(gap=True)
        events = tuple(_event(epoch, stream_id.decode(), fields) for stream_id, fields in found)
        return EventBatch(events=events, cursor=events[-1].cursor if events else cursor)

    def _newest(self, *, gap: bool) -> EventBatch:
        epoch, last = self._link.many(
            [("HGET", keys.META, "epoch"), ("XREVRANGE", keys.EVENTS, "+", "-", "COUNT", 1)], atomic=True
        )
        place = last[0][0].decode() if last else _EMPTY
        return EventBatch(events=(), cursor=f"{self.epoch(epoch)}/{place}", gap=gap)


def _is_place(text: str) -> bool:
    first, dash, second = text.partition("-")
    return bool(dash) and all(part.isascii() and part.isdigit() and len(part) <= 19 for part in (first, second))


def _event(epoch: str, place: str, fields: Mapping[bytes, bytes]) -> Event:
    return Event(
        cursor=f"{epoch}/{place}",
        task_id=_text(fields, b"task_id"),
        shop_id=_text(fields, b"shop_id"),
        platform=_text(fields, b"platform"),
        task_type=_text(fields, b"task_type"),
        from_=_text(fields, b"from"),
        to=_text(fields, b"to"),
        at=_number(fields, b"at"),
        worker=_text(fields, b"worker"),
        gen=_number(fields, b"gen"),
        attempt=_number(fields, b"attempt"),
        lane=_text(fields, b"lane"),
    )


def _text(fields: Mapping[Any, bytes], name: bytes) -> str:
    return fields.get(name, b"").decode("utf-8", "replace")


def _number(fields: Mapping[Any, bytes], name: bytes) -> int:
    text = fields.get(name, b"")
    return int(text) if text.isdigit() and len(text) < 16 else 0


class Schedules(Part):
    """The calls are those of ``services.ports.Store``."""

    def put_schedule(self, entry: ScheduleEntry, expect: int) -> int:
        """Write a schedule that nobody else has changed."""
        self._link.check_writable()
        version = expect + 1 if expect else self._ticker.now_ms()  # never one that an older one of this name had
        kept = _PACK.encode(msgspec.structs.replace(entry, version=version))
        done = self._link.run(_PUT, _KEYS, entry.name, expect, version, entry.next_at, kept)
        return version if done else 0

    def remove_schedule(self, name: str, expect: int) -> bool:
        """Strike a schedule off that nobody else has changed."""
        self._link.check_writable()
        return bool(self._link.run(_PUT, _KEYS, name, expect, 0, 0, ""))

    def schedules(self) -> list[ScheduleEntry]:
        """All schedules by name."""
        found: Mapping[bytes, bytes] = self._link.call("HGETALL", keys.SCHEDULES)
        return list(self._hashes.by_name(keys.SCHEDULES, _ENTRY.decode, found, "schedule").values())

    def due_schedules(self, limit: int) -> list[ScheduleEntry]:
        """The due ones, the earliest first."""
        now = self._ticker.now_ms()

        def read(most: int) -> list[ScheduleEntry | None]:
            names = self._link.call("ZRANGE", keys.SCHEDULES_DUE, "-inf", now, "BYSCORE", "LIMIT", 0, most)
            return [_entry(found) for found in self._link.call("HMGET", keys.SCHEDULES, *names)] if names else []

        return [entry for entry in first(read, limit) if 0 < entry.next_at <= now]

    def wall_ms(self) -> int:
        """The clock of the server, which is read anew where it was set back."""
        return self._ticker.now_ms()


def _entry(found: bytes | None) -> ScheduleEntry | None:
    return None if found is None else sound(_ENTRY.decode, found, "schedule")


class Batches(Part):
    """The calls of ``services.ports.Store``."""

    def batches(self, limit: int, cursor: str = "") -> tuple[list[tuple[str, int]], str]:
        """By their register, which a script keeps; one whose records are gone is passed over."""
        found: list[tuple[str, int]] = []
        window = Window(descending=True, after=place_of(cursor))
        for places in walk(self._link, [keys.BATCHES], window, limit + 1):
            sizes = self._link.many([("ZCARD", keys.BATCH.encode() + name) for _, name in places])
            found += [
                (known, at) for (at, name), size in zip(places, sizes, strict=True) if size and (known := text(name))
            ]
            if len(found) > limit:
                break
        shown = [(name, calendar(begun)) for name, begun in found[:limit]]
        return shown, f"{found[limit - 1][1]}/{found[limit - 1][0]}" if len(found) > limit else ""

    def batch_counts(self, batches: Sequence[str]) -> list[dict[str, int]]:
        """How each batch stands: what its index has in common with each part of the status index, and what was
        removed.
        """
        named = [(keys.BATCH + name, keys.BURIED + name) if name else None for name in batches]
        found = iter(plan.count_by_status(self._link, [pair for pair in named if pair is not None]))
        return [next(found) if pair is not None else {} for pair in named]


class RedisStore(
    Recounting,
    Damages,
    SetAside,
    Operations,
    Queries,
    Events,
    Fleet,
    Forgetting,
    Limits,
    Ledger,
    OpenBreakers,
    Journals,
    Notes,
    Schedules,
    Sessions,
    Batches,
    ClosedGates,
):
    """Records and everything around them on one Redis (7.0 or newer); safe for any number of threads.

    Nothing is asked before the first call, so a store may be made while Redis is down.
    """

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        read_only: bool = False,
        insecure: bool = False,
        memory: Path | None = None,
    ) -> None:
        """``insecure``: the certificate of the server is not checked. ``memory``: as of ``Life``."""
        self._link = Link(url, read_only=read_only, insecure=insecure)
        self._clock = clock
        self._ticker = Ticker(self._link)
        self._life = Life(self._link, lambda: self._ticker.now_ms(), memory)
        self._hashes = Entries()
        self._day = FleetDay()
        self._soon = Soon(self._send_waiting)
        self._link.before = self._soon.settle

    def now_ms(self) -> int:
        """The store's clock, UTC ms."""
        return self._ticker.now_ms()

    def health(self) -> tuple[bool, float, str]:
        """(answers, latency ms, error text) of a round trip made now; what answers with an error takes no writes."""
        begun = self._clock.monotonic()
        try:
            # PING is refused, as a write is, where the last snapshot failed, and TIME answers while data are read
            self._link.call("SCAN", 0, "COUNT", 1)
        except StoreError as exc:
            return False, -1.0, words_of(exc)
        took = (self._clock.monotonic() - begun) * 1000
        self._link.try_write()
        return True, took, self._link.refusing

    def newer(self) -> str:
        """By what the data say of themselves; where nobody can read that, the doctor tells."""
        with contextlib.suppress(Unreadable):
            return self._link.newer()
        return ""

    def check_writable(self) -> None:
        """That this program may write what lies there.

        Raises:
            SchemaTooNew: a newer one wrote it.
            StoreError: nobody can tell.
        """
        self._link.check_writable()

    def missing_rights(self) -> str:
        """What this account lacks to work here, with the words that give it; "" for nothing.

        Raises:
            StoreUnavailable: its memory is full, of which a ping tells nothing.
        """
        commands, found = self._link.refused()
        if not commands and not found:
            if self._link.read_only:
                return ""
            self._link.call("SET", keys.NOTHING, "", "XX")  # changes only what is there, and that never is
            return ""
        rights = [f"+{name.casefold()}" for name in commands] + (["~{rpa}:*", "~executed:*"] if found else [])
        what = ", ".join([*commands, *(["{rpa}:*"] if found else [])])
        return said("store.no_rights", address=self._link.address, what=what, rights=" ".join(rights))

    def facts(self) -> Mapping[str, str]:
        """What Redis says about itself and its durability."""
        commands, keys = self._link.refused()
        denied = {"refused": ", ".join(commands), "refused_keys": "yes" if keys else ""}
        try:
            info = redis_facts.parsed(*(self._link.call("INFO", part) for part in redis_facts.PARTS))
        except StoreUnavailable:
            raise
        except StoreError:  # neither may this account ask
            return {**redis_facts.of_hello(self._link.server), **denied}
        try:
            config = self._link.call("CONFIG", "GET", "*appendfsync*")
        except StoreError:  # a hosted Redis may not let anybody ask
            config = None
        return {**redis_facts.chosen(info, config), **denied}

    def close(self) -> None:
        """Send what nobody waited for and drop the connections; who waits for events is let go within a second."""
        self._soon.close()
        self._link.close()
