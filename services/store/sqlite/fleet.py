"""What the embedded store keeps about the fleet: shops, pauses, documents, workers and who leads."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from services.domain.fleet.shop import Pause, Shop, read_pause
from services.domain.fleet.worker import Heard, WorkerInfo
from services.domain.gates import home, listed
from services.domain.gates.home import Home
from services.domain.task.record import ENCODER
from services.domain.upkeep.stored import Instant
from services.store.sqlite.gates.unserved import homebound_kinds, unserved_kinds
from services.store.sqlite.part import Part, blobs, store_errors, words
from services.store.sqlite.write import IN_LIST, text_list
from services.store.unreadable import all_sound

DAY_MS = 86_400_000
_FORGET_ORDERS = """DELETE FROM worker_orders
    WHERE worker IN (SELECT worker FROM worker_orders GROUP BY worker HAVING max(at) < ?)"""
_SHOP = msgspec.msgpack.Decoder(Shop)
read_worker = msgspec.msgpack.Decoder(WorkerInfo).decode


class Fleet(Part):
    """Shops, pauses, documents, workers, leader leases; the calls are those of ``services.ports.Store``."""

    _shops_read: tuple[list[bytes], list[Shop]] = ([], [])  #: as they were stored, and what they say

    def put_shops(self, shops: Iterable[Shop]) -> None:
        """Insert or replace."""
        rows = [(shop.platform, shop.shop_id, shop.concurrency, ENCODER.encode(shop)) for shop in shops]
        sql = "INSERT OR REPLACE INTO shops (platform, shop_id, concurrency, data) VALUES (?, ?, ?, ?)"
        self._write(lambda conn: conn.executemany(sql, rows))

    def shops(self) -> list[Shop]:
        """All shops. They are asked for every few seconds and hardly ever change: what has not is not decoded anew."""
        with store_errors(self._file.path):
            return list(self._file.answer("shops", self._told_shops))

    def _told_shops(self, conn: sqlite3.Connection) -> list[Shop]:
        stored = list(blobs(conn.execute("SELECT data FROM shops")))
        before, shops = self._shops_read
        if stored != before:
            shops = all_sound(_SHOP.decode, stored, "shop")
            self._shops_read = (stored, shops)
        return shops

    def set_pause(self, pause: Pause) -> None:
        """Close a switch."""
        row = (pause.scope, self._packed(pause))
        self._write(lambda conn: conn.execute("INSERT OR REPLACE INTO pauses (scope, data) VALUES (?, ?)", row))

    def _packed(self, pause: Pause) -> bytes:
        return ENCODER.encode(pause if pause.at else replace(pause, at=self.now_ms()))

    def clear_pause(self, scope: str) -> bool:
        """Open a switch."""
        return self._write(lambda conn: conn.execute("DELETE FROM pauses WHERE scope = ?", (scope,)).rowcount > 0)

    def swap_pause(self, scope: str, by: str, pause: Pause | None) -> bool:
        """Close or open a switch in the place of this one's pause."""
        after = None if pause is None else self._packed(pause)

        def swap(conn: sqlite3.Connection) -> bool:
            found = list(blobs(conn.execute("SELECT data FROM pauses WHERE scope = ?", (scope,))))
            known = all_sound(read_pause, found, "pause")
            if bool(found) != bool(by) or [one.by for one in known] != [by] * bool(by):
                return False
            if after is None:
                conn.execute("DELETE FROM pauses WHERE scope = ?", (scope,))
            else:
                conn.execute("INSERT OR REPLACE INTO pauses (scope, data) VALUES (?, ?)", (scope, after))
            return True

        return self._write(swap)

    def pauses(self) -> list[Pause]:
        """The closed switches."""
        with self._read() as conn:
            return all_sound(read_pause, blobs(conn.execute("SELECT data FROM pauses ORDER BY scope")), "pause")

    def switches(self) -> list[Pause]:
        """The closed switches of all gates."""
        documents = {kind: self.documents(kind) for kind in listed.DOCUMENTS}
        return listed.switched(self.pauses(), documents, self.now_ms())

    def homes(self, shops: Iterable[str] | None = None) -> dict[str, Home]:
        """Where shops are at home."""
        one_of = "" if shops is None else f" WHERE shop {IN_LIST}"
        values = () if shops is None else (text_list(shops),)
        with self._read() as conn:
            rows = conn.execute(f"SELECT shop, node, since FROM homes{one_of} ORDER BY shop", values)
            return {found.shop: found for found in all_sound(read_home, rows, "home")}

    def put_home(self, shop: str, node: str) -> None:
        """Let a shop be at home somewhere."""
        row = (shop, node, self.now_ms())
        self._write(lambda conn: conn.execute("INSERT OR REPLACE INTO homes (shop, node, since) VALUES (?, ?, ?)", row))

    def put_document(self, kind: str, name: str, body: str) -> None:
        """Keep a document."""
        row = (kind, name, body)
        sql = "INSERT OR REPLACE INTO documents (kind, name, body) VALUES (?, ?, ?)"
        self._write(lambda conn: conn.execute(sql, row), aside=True)

    def add_document(self, kind: str, name: str, body: str) -> bool:
        """Keep a document where there is none."""
        row = (kind, name, body)
        sql = "INSERT OR IGNORE INTO documents (kind, name, body) VALUES (?, ?, ?)"
        return self._write(lambda conn: conn.execute(sql, row).rowcount > 0)

    def swap_document(self, kind: str, name: str, before: str, body: str) -> bool:
        """Keep a document in the place of this one, or strike it off."""
        row = (kind, name, before)
        where = "WHERE kind = ? AND name = ? AND body = ?"
        if not body:
            return self._write(lambda conn: conn.execute(f"DELETE FROM documents {where}", row).rowcount > 0)
        sql = f"UPDATE documents SET body = ? {where}"
        return self._write(lambda conn: conn.execute(sql, (body, *row)).rowcount > 0)

    def remove_document(self, kind: str, name: str) -> bool:
        """Strike a document off."""
        row = (kind, name)
        sql = "DELETE FROM documents WHERE kind = ? AND name = ?"
        return self._write(lambda conn: conn.execute(sql, row).rowcount > 0)

    def document(self, kind: str, name: str) -> str | None:
        """A document of a kind by its name."""
        with self._read() as conn:
            found = conn.execute("SELECT body FROM documents WHERE kind = ? AND name = ?", (kind, name)).fetchone()
            return words(found[0]) if found is not None else None

    def documents(self, kind: str) -> Mapping[str, str]:
        """Documents of a kind by name."""
        with self._read() as conn:
            rows = conn.execute("SELECT name, body FROM documents WHERE kind = ? ORDER BY name", (kind,))
            return {str(name): words(body) for name, body in rows}

    def heartbeat(self, info: WorkerInfo) -> Heard:
        """Record a worker, hand its orders out, and say what waits for a capable one."""
        now = self.now_ms()
        row = (info.worker, now, ENCODER.encode(replace(info, seen_at=now)))

        def beat(conn: sqlite3.Connection) -> Heard:
            conn.execute("INSERT OR REPLACE INTO workers (worker, seen_at, data) VALUES (?, ?, ?)", row)
            conn.execute("DELETE FROM workers WHERE seen_at < ?", (now - DAY_MS,))
            # all of a worker's orders live a day from the last one, as the list on a server does
            conn.execute(_FORGET_ORDERS, (now - DAY_MS,))
            sql = "SELECT body FROM worker_orders WHERE worker = ? ORDER BY id"
            orders = tuple(words(body) for (body,) in conn.execute(sql, (info.worker,)))
            if orders:
                conn.execute("DELETE FROM worker_orders WHERE worker = ?", (info.worker,))
            own = homebound_kinds(conn, info.node)
            return Heard(orders=orders, unserved=unserved_kinds(conn), homebound=own)

        return self._write(beat, aside=True)

    def workers(self) -> list[WorkerInfo]:
        """Workers seen within a day."""
        sql = "SELECT data FROM workers WHERE seen_at >= ? ORDER BY worker"
        with self._read() as conn:
            return all_sound(read_worker, blobs(conn.execute(sql, (self.now_ms() - DAY_MS,))), "heartbeat")

    def tell_worker(self, worker: str, order: str) -> None:
        """Leave an order."""
        row = (worker, order, self.now_ms())
        self._write(lambda conn: conn.execute("INSERT INTO worker_orders (worker, body, at) VALUES (?, ?, ?)", row))

    def strike_off(self, worker: str, seen_at: int) -> bool:
        """Take one off the list unless it was heard of since."""

        def strike(conn: sqlite3.Connection) -> bool:
            conn.execute("DELETE FROM workers WHERE worker = ? AND seen_at = ?", (worker, seen_at))
            return conn.execute("SELECT 1 FROM workers WHERE worker = ?", (worker,)).fetchone() is None

        return self._write(strike)

    def forget_worker(self, worker: str) -> None:
        """Strike a worker and its orders off."""

        def forget(conn: sqlite3.Connection) -> None:
            conn.execute("DELETE FROM workers WHERE worker = ?", (worker,))
            conn.execute("DELETE FROM worker_orders WHERE worker = ?", (worker,))

        self._write(forget)

    def lead(self, role: str, holder: str, ttl_ms: int) -> bool:
        """Take or prolong a lease."""

        def take(conn: sqlite3.Connection) -> bool:
            now = self._now(conn)
            sql = """INSERT INTO leaders (role, holder, until) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET holder = excluded.holder, until = excluded.until
                WHERE holder = excluded.holder OR until <= ?"""
            return conn.execute(sql, (role, holder, now + ttl_ms, now)).rowcount > 0

        return self._write(take, aside=True)

    def leader(self, role: str) -> str:
        """Who leads now."""
        with self._read() as conn:
            sql = "SELECT holder FROM leaders WHERE role = ? AND until > ?"
            row = conn.execute(sql, (role, self.now_ms())).fetchone()
            return str(row[0]) if row else ""

    def resign(self, role: str, holder: str) -> None:
        """Give a lease up."""
        row = (role, holder)
        self._write(lambda conn: conn.execute("DELETE FROM leaders WHERE role = ? AND holder = ?", row))


def read_home(row: tuple[object, ...]) -> Home:
    """A row: shop, node, since when.

    Raises:
        ValueError: it is something else.
    """
    shop, node, since = msgspec.convert(row, type=tuple[str, str, Instant])
    if not home.valid_node(node):
        raise ValueError("it names no node")
    return Home(shop=shop, node=node, since=since)
