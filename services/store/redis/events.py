"""The event stream: what happened after a place, and whether something was missed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.domain.task.event import Event, EventBatch
from services.store.redis import keys
from services.store.redis.reads import Reads

_EMPTY = "0-0"


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
            self._link.wait(keys.EVENTS, cursor.partition("/")[2], left)
            if self._link.closed.is_set():
                return batch

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
