"""Where shops are at home, as one transaction on SQLite sees it."""

from __future__ import annotations

import sqlite3

from services.domain.gates import home


class Homes:
    """Asked only for tasks that need the profile of their shop."""

    def __init__(self, conn: sqlite3.Connection, now: int) -> None:
        self._conn, self._now = conn, now
        self._known: dict[str, str | None] = {}

    def of(self, shop: str) -> str | None:
        """The node of a shop, "" where it has none, None where nobody can read which."""
        if shop not in self._known:
            found = self._conn.execute("SELECT node FROM homes WHERE shop = ?", (shop,)).fetchone()
            self._known[shop] = "" if not found else found[0] if home.valid_node(found[0]) else None
        return self._known[shop]

    def settle(self, shop: str, node: str) -> None:
        """Make a node the home of a shop that has none."""
        if self.of(shop) == "":
            self._conn.execute(
                "INSERT OR IGNORE INTO homes (shop, node, since) VALUES (?, ?, ?)", (shop, node, self._now)
            )
            self._known[shop] = node
