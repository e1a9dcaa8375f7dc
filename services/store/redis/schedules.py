"""Schedules on Redis: written by compare-and-set, found by the instant of their next run."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from services.ports import ScheduleEntry
from services.store.redis import keys
from services.store.redis.part import Part
from services.store.redis.script import load
from services.store.unreadable import by_name, first, sound

_PUT = load("put_schedule")
_PACK = msgspec.msgpack.Encoder()
_ENTRY = msgspec.msgpack.Decoder(ScheduleEntry)
_KEYS = (keys.SCHEDULES, keys.SCHEDULE_VERSIONS, keys.SCHEDULES_DUE)


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
        return list(by_name(_ENTRY.decode, found, "schedule").values())

    def due_schedules(self, limit: int) -> list[ScheduleEntry]:
        """The due ones, the earliest first."""
        now = self._ticker.now_ms()

        def read(most: int) -> list[ScheduleEntry | None]:
            names = self._link.call("ZRANGE", keys.SCHEDULES_DUE, "-inf", now, "BYSCORE", "LIMIT", 0, most)
            return [_entry(found) for found in self._link.call("HMGET", keys.SCHEDULES, *names)] if names else []

        return [entry for entry in first(read, limit) if 0 < entry.next_at <= now]


def _entry(found: bytes | None) -> ScheduleEntry | None:
    return None if found is None else sound(_ENTRY.decode, found, "schedule")
