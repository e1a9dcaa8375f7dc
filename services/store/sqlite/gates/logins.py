"""Shops that wait for a login, on SQLite: within a write transaction, and as the store's callers see them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from functools import partial

import msgspec

from services.domain.gates.session import ClosedSession, Login
from services.domain.task.record import ENCODER
from services.domain.upkeep.stored import Instant
from services.store.sqlite.part import Part, blobs
from services.store.unreadable import all_of, all_sound

_READ = msgspec.msgpack.Decoder(ClosedSession).decode


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

    def logged_in_at(self, shop: str) -> int:
        """When somebody logged it in last."""
        row = self._conn.execute("SELECT at FROM logins WHERE shop = ?", (shop,)).fetchone()
        return row[0] if row is not None and type(row[0]) is int else 0

    def close(self, closed: ClosedSession) -> None:
        """From now on it waits."""
        self._conn.execute("INSERT INTO sessions (shop, data) VALUES (?, ?)", (closed.shop, ENCODER.encode(closed)))
        self._closed = None

    def open(self, shop: str, by: str) -> None:
        """Somebody has logged it in now."""
        self._conn.execute("INSERT OR REPLACE INTO logins (shop, at, who) VALUES (?, ?, ?)", (shop, self._now, by))
        self._conn.execute("DELETE FROM sessions WHERE shop = ?", (shop,))
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
            return _instants(conn.execute(sql).fetchall())

    def successes_of(self, task_type: str) -> Mapping[str, int]:
        """When a task of a type succeeded last in each shop."""
        with self._read() as conn:
            return _instants(
                conn.execute("SELECT shop, at FROM successes WHERE task_type = ?", (task_type,)).fetchall()
            )

    def last_runs(self) -> Mapping[str, tuple[int, str]]:
        """When and by whom a task of each shop was begun last."""
        sql = "SELECT platform || ':' || shop_id, at, worker FROM shop_tallies WHERE status = 'running' AND worker > ''"
        with self._read() as conn:
            rows = all_of(tuple[str, Instant, str], conn.execute(sql).fetchall(), "last run")
        return {shop: (at, worker) for shop, at, worker in rows}


def _instants(rows: list[tuple[object, ...]]) -> dict[str, int]:
    return dict(all_of(tuple[str, Instant], rows, "last success"))
