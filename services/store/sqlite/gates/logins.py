"""Shops that wait for a login, on SQLite: within a write transaction, and as the store's callers see them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from functools import partial

import msgspec

from services.domain.change import Answer, CloseSession, Finish, OpenSession
from services.domain.gates.session import ClosedSession, Login
from services.domain.task.record import ENCODER, Task
from services.domain.task.status import Status
from services.domain.upkeep.stored import Instant
from services.store.sqlite.part import Part, blobs
from services.store.unreadable import all_sound

_READ = msgspec.msgpack.Decoder(ClosedSession).decode
_STALE, _OK = Answer("stale"), Answer("ok")


class Logins:
    """Read when first needed; closed gates are few."""

    def __init__(self, conn: sqlite3.Connection, now: int) -> None:
        self._conn, self._now = conn, now
        self._closed: set[str] | None = None

    def is_closed(self, shop: str) -> bool:
        """Whether the shop waits for a person."""
        if self._closed is None:
            self._closed = {shop for (shop,) in self._conn.execute("SELECT shop FROM sessions")}
        return shop in self._closed

    def ended(self, task: Task, op: Finish) -> str:
        """An attempt says that its shop asks for a person; what becomes of the task."""
        row = self._conn.execute("SELECT at FROM logins WHERE shop = ?", (task.shop,)).fetchone()
        if row is not None and type(row[0]) is int and row[0] > task.started_at:  # it began before somebody logged in
            return Status.PENDING
        if not self.is_closed(task.shop):
            self._close(
                ClosedSession(
                    shop=task.shop,
                    kind=op.error_kind,
                    since=self._now,
                    task_id=task.task_id,
                    attempt=op.attempt.number,
                    worker=op.attempt.worker,
                )
            )
        return Status.BLOCKED

    def close(self, op: CloseSession) -> Answer:
        """A person says so."""
        if self.is_closed(op.shop):
            return _STALE
        self._close(ClosedSession(shop=op.shop, kind=op.kind, since=self._now, by=op.by, note=op.note))
        return _OK

    def open(self, op: OpenSession) -> Answer:
        """A person has logged in."""
        was = self.is_closed(op.shop)
        self._conn.execute("INSERT OR REPLACE INTO logins VALUES (?, ?, ?)", (op.shop, self._now, op.by))
        if not was:
            return _STALE
        self._conn.execute("DELETE FROM sessions WHERE shop = ?", (op.shop,))
        self._closed = None
        return _OK

    def _close(self, closed: ClosedSession) -> None:
        self._conn.execute("INSERT INTO sessions VALUES (?, ?)", (closed.shop, ENCODER.encode(closed)))
        self._closed = None


class Sessions(Part):
    """The calls of ``services.ports.Store``."""

    def sessions(self) -> list[ClosedSession]:
        """The closed ones."""
        with self._read() as conn:
            return all_sound(_READ, blobs(conn.execute("SELECT data FROM sessions ORDER BY shop")), "session")

    def logins(self) -> Mapping[str, Login]:
        """Who logged in last, by shop."""
        with self._read() as conn:
            rows = conn.execute("SELECT shop, at, who FROM logins")
            found = all_sound(partial(msgspec.convert, type=tuple[str, Instant, str]), rows, "login")
        return {shop: Login(shop=shop, at=at, by=who) for shop, at, who in found}

    def successes(self) -> Mapping[str, int]:
        """When a task of each shop succeeded last."""
        sql = "SELECT platform || ':' || shop_id, at FROM shop_tallies WHERE status = 'succeeded' AND at > 0"
        with self._read() as conn:
            rows = conn.execute(sql).fetchall()
        return dict(all_sound(partial(msgspec.convert, type=tuple[str, Instant]), rows, "last success"))
