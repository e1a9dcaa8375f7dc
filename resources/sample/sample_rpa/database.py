"""The SQLite file that the flows fill: orders, goods, outbox; every write may be repeated without harm."""

from __future__ import annotations

import json
import sqlite3
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

_VERSION = 1
_BUSY_S = 20.0  #: writers of a whole fleet queue up on one file; each holds it for a few milliseconds
_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS orders (
        platform TEXT NOT NULL, shop_id TEXT NOT NULL, order_no TEXT NOT NULL,
        status TEXT NOT NULL, buyer TEXT NOT NULL, amount_cents INTEGER NOT NULL, currency TEXT NOT NULL,
        created_at TEXT NOT NULL, updated_at TEXT NOT NULL, items TEXT NOT NULL,
        PRIMARY KEY (platform, shop_id, order_no)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS goods (
        platform TEXT NOT NULL, shop_id TEXT NOT NULL, goods_id TEXT NOT NULL,
        title TEXT NOT NULL, price_cents INTEGER NOT NULL, currency TEXT NOT NULL, stock INTEGER NOT NULL,
        sold INTEGER NOT NULL, on_sale INTEGER NOT NULL, updated_at TEXT NOT NULL,
        PRIMARY KEY (platform, shop_id, goods_id)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS outbox (
        platform TEXT NOT NULL, shop_id TEXT NOT NULL, address TEXT NOT NULL,
        template TEXT NOT NULL, body TEXT NOT NULL, task_id TEXT NOT NULL,
        PRIMARY KEY (platform, shop_id, address)) WITHOUT ROWID""",
)
_ORDER = ("order_no", "status", "buyer", "amount_cents", "currency", "created_at", "updated_at", "items")
_GOODS = ("goods_id", "title", "price_cents", "currency", "stock", "sold", "on_sale", "updated_at")


def _upsert(table: str, columns: Sequence[str]) -> str:
    """Insert or bring up to date; an older copy, from a run that was overtaken, never replaces a newer one."""
    names = ("platform", "shop_id", *columns)
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns[1:])
    return (
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "
        f"ON CONFLICT (platform, shop_id, {columns[0]}) DO UPDATE SET {changes} "
        f"WHERE excluded.updated_at >= {table}.updated_at"
    )


class Database:
    """One connection of one run; several processes share the file."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
        if self._db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            self._create()
        self._db.execute("PRAGMA synchronous = NORMAL")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def put_orders(self, platform: str, shop: str, orders: Sequence[dict[str, Any]]) -> tuple[int, int]:
        """Upsert one page in one transaction; returns how many orders are new and how many have changed."""
        rows = [(platform, shop, *_cells(order, _ORDER)) for order in orders]
        with _Transaction(self._db):
            known = self._stamps(platform, shop, [str(order["order_no"]) for order in orders])
            self._db.executemany(_upsert("orders", _ORDER), rows)
        new = sum(order["order_no"] not in known for order in orders)
        changed = sum(known.get(order["order_no"], "~") < order["updated_at"] for order in orders)
        return new, changed

    def put_goods(self, platform: str, shop: str, goods: Iterable[dict[str, Any]]) -> None:
        """Upsert products in one transaction."""
        rows = [(platform, shop, *_cells(product, _GOODS)) for product in goods]
        with _Transaction(self._db):
            self._db.executemany(_upsert("goods", _GOODS), rows)

    def send_once(self, platform: str, shop: str, address: str, *, template: str, body: str, task_id: str) -> bool:
        """Put an e-mail into the outbox unless this address has had one; returns whether it is new."""
        row = (platform, shop, address, template, body, task_id)
        with _Transaction(self._db):
            cursor = self._db.execute("INSERT INTO outbox VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row)
        return cursor.rowcount == 1

    def _stamps(self, platform: str, shop: str, numbers: Sequence[str]) -> dict[str, str]:
        marks = ", ".join("?" * len(numbers))
        query = f"SELECT order_no, updated_at FROM orders WHERE platform = ? AND shop_id = ? AND order_no IN ({marks})"
        return dict(self._db.execute(query, (platform, shop, *numbers)).fetchall())

    def _create(self) -> None:
        """Safe for several processes at once on a new file."""
        deadline = time.monotonic() + _BUSY_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError:  # the switch to WAL answers "locked" at once, whatever the busy time-out
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        with _Transaction(self._db):
            for statement in _SCHEMA:
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {_VERSION}")


class _Transaction:
    """Takes the write lock at the start, so that no transaction fails half-way when it wants to write."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK" if kind else "COMMIT")


def _cells(record: dict[str, Any], columns: Sequence[str]) -> Iterator[object]:
    for name in columns:
        value = record[name]
        yield json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, list) else value
