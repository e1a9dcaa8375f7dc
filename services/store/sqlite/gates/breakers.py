"""The breakers of shops on SQLite: within a write transaction, and as the store's callers see them."""

from __future__ import annotations

import sqlite3

import msgspec

from services.domain.gates import breaker
from services.domain.gates.breaker import Breaker, Rule
from services.domain.upkeep.stored import Count, Instant
from services.store.sqlite.part import Part, words
from services.store.unreadable import all_sound, sound

_COLUMNS = "shop, outcomes, until, since, times, kind"
_PUT = f"INSERT OR REPLACE INTO breakers ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"


class Breakers:
    """Read when first needed; where nothing is remembered that is one question."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._known: dict[str, Breaker | None] = {}
        self._some: bool | None = None
        self._rule: Rule | None = None

    def of(self, shop: str) -> Breaker | None:
        """What is remembered of a shop."""
        if self._some is None:
            self._some = bool(self._conn.execute("SELECT EXISTS (SELECT 1 FROM breakers)").fetchone()[0])
        if not self._some:
            return None
        if shop not in self._known:
            row = self._conn.execute(f"SELECT {_COLUMNS} FROM breakers WHERE shop = ?", (shop,)).fetchone()
            self._known[shop] = sound(read_breaker, row, "breaker", shop) if row else None
        return self._known[shop]

    def put(self, shop: str, found: Breaker | None) -> None:
        """Remember, or forget."""
        self._known[shop] = found
        if found is None:
            self._conn.execute("DELETE FROM breakers WHERE shop = ?", (shop,))
        else:
            self._some = True
            row = (shop, found.outcomes, found.until, found.since, found.times, found.kind)
            self._conn.execute(_PUT, row)

    def rule(self) -> Rule:
        """When breakers open."""
        if self._rule is None:
            sql = "SELECT body FROM documents WHERE kind = ? AND name = ?"
            row = self._conn.execute(sql, (breaker.DOCUMENT, breaker.NAME)).fetchone()
            self._rule = breaker.parse(words(row[0]) if row else "")
        return self._rule


class OpenBreakers(Part):
    """The call of ``services.ports.Store``."""

    def breakers(self) -> list[Breaker]:
        """Those that are open."""
        with self._read() as conn:
            rows = conn.execute(f"SELECT {_COLUMNS} FROM breakers WHERE until > 0 ORDER BY shop")
            return all_sound(read_breaker, rows, "breaker")


def read_breaker(row: tuple[object, ...]) -> Breaker:
    """A row of the table.

    Raises:
        ValueError: it is something else.
    """
    kinds = tuple[str, str, Instant, Instant, Count, str]
    shop, outcomes, until, since, times, kind = msgspec.convert(row, type=kinds)
    if not set(outcomes) <= {"0", "1"}:
        raise ValueError("outcomes are 0 and 1")
    return Breaker(shop=shop, outcomes=outcomes, until=until, since=since, times=times, kind=kind)
