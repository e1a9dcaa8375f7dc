"""Shops as one write transaction on SQLite sees them: read in bulk, counted along, their lots read in order."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator

from services.domain.fleet.shop import Shop
from services.domain.task.record import ENCODER, Task
from services.domain.task.status import UNDER_WAY
from services.store.sqlite import write

_COUNTED = f"""SELECT platform, shop_id, status, n FROM shop_tallies
    WHERE shop_id {write.IN_LIST} AND n <> 0
    AND (status = 'running' OR status = 'blocked' OR status = 'pending' OR status = 'queued')"""
_SLOTS = f"SELECT platform, shop_id, concurrency FROM shops WHERE shop_id {write.IN_LIST}"
_PROMISED = f"SELECT platform, shop_id, task_id FROM reservations WHERE shop_id {write.IN_LIST} AND until > ?"
_PROMISE = "INSERT OR REPLACE INTO reservations (task_id, platform, shop_id, until) VALUES (?, ?, ?, ?)"
_NEW = "INSERT OR IGNORE INTO shops (platform, shop_id, concurrency, data) VALUES (?, ?, ?, ?)"
_LOT = f"""SELECT task_id, held_uniq FROM tasks WHERE lot = ? AND NOT task_type {write.IN_LIST}
    ORDER BY priority DESC, created_at, task_id"""
_LOT_OF_TYPE = """SELECT task_id, held_uniq FROM tasks INDEXED BY tasks_lot_type WHERE lot = ? AND task_type = ?
    ORDER BY priority DESC, created_at, task_id"""
_BY_PRIORITY = f"""SELECT platform, shop_id, priority, count(*) FROM tasks INDEXED BY tasks_under_way
    WHERE shop_id {write.IN_LIST} AND status IN ('pending', 'queued') GROUP BY 1, 2, 3"""


class UnderWay:
    """Of a shop's tasks that a message is under way for, how many are how urgent: read when somebody asks, then kept up
    to date; ``before_reading`` writes down what has changed so far.
    """

    def __init__(self, conn: sqlite3.Connection, before_reading: Callable[[], None]) -> None:
        self._conn, self._before_reading = conn, before_reading
        self.known: dict[str, Counter[int]] = {}  #: of those that somebody has asked about

    def count(self, shop: str, priority: int, others: Collection[str]) -> int:
        """Those of a shop that are at least so urgent. ``others``: shops to be asked about in one go."""
        if shop not in self.known:
            self._read({shop, *others} - self.known.keys())
        return sum(n for urgency, n in self.known[shop].items() if urgency >= priority)

    def _read(self, wanted: Collection[str]) -> None:
        self._before_reading()
        self.known.update({shop: Counter() for shop in wanted})
        names = write.text_list({shop.partition(":")[2] for shop in wanted})
        for platform, shop_id, priority, n in self._conn.execute(_BY_PRIORITY, (names,)):
            if (shop := f"{platform}:{shop_id}") in wanted:
                self.known[shop][priority] = n

    def follow(self, old: Task | None, task: Task) -> None:
        """Count what a change does to a shop that somebody has asked about."""
        known = self.known.get(task.shop)
        if known is None:
            return
        if old is not None and old.status in UNDER_WAY:
            known[old.priority] -= 1
        if task.status in UNDER_WAY:
            known[task.priority] += 1


class _Seen:
    """A shop as it stands: its tasks by status, its slots (None: nobody knows it), for whom one is kept; the last two
    once they are ``read``, for most of those that end a task do not need them.
    """

    __slots__ = ("counted", "promised", "read", "slots")

    def __init__(self) -> None:
        self.counted: dict[str, int] = {}
        self.read = False
        self.slots: int | None = None
        self.promised: set[str] = set()


class Shops:
    """Each shop is read when somebody asks, together with those that were announced, then kept up to date."""

    def __init__(
        self, conn: sqlite3.Connection, now: int, write_tasks: Callable[[], None], write_counted: Callable[[], None]
    ) -> None:
        """``write_tasks`` and ``write_counted`` bring what has changed so far into the database."""
        self._conn, self._now = conn, now
        self._write_tasks, self._write_counted = write_tasks, write_counted
        self._seen: dict[str, _Seen] = {}
        self._new: list[tuple[str, str, int, bytes]] = []
        self._under_way = UnderWay(conn, write_tasks)

    def load(self, shops: Iterable[str]) -> None:
        """Count their tasks in one go."""
        wanted = {shop for shop in shops if shop not in self._seen}
        if not wanted:
            return
        self._write_counted()
        read = {shop: _Seen() for shop in wanted}
        names = write.text_list({shop.partition(":")[2] for shop in wanted})
        for platform, shop_id, status, n in self._conn.execute(_COUNTED, (names,)):
            if (seen := read.get(f"{platform}:{shop_id}")) is not None:
                seen.counted[status] = n
        self._seen.update(read)

    def whole(self, shop: str) -> _Seen:
        """A shop with its slots and promises, read for all that have been counted."""
        seen = self._seen.get(shop) or self._of(shop)
        if not seen.read:
            wanted = {name: one for name, one in self._seen.items() if not one.read}
            names = write.text_list({name.partition(":")[2] for name in wanted})
            for platform, shop_id, slots in self._conn.execute(_SLOTS, (names,)):
                if (one := wanted.get(f"{platform}:{shop_id}")) is not None:
                    one.slots = slots
            for platform, shop_id, task_id in self._conn.execute(_PROMISED, (names, self._now)):
                if (one := wanted.get(f"{platform}:{shop_id}")) is not None:
                    one.promised.add(task_id)
            for one in wanted.values():
                one.read = True
        return seen

    def _of(self, shop: str) -> _Seen:
        if shop not in self._seen:
            self.load([shop])
        return self._seen[shop]

    def follow(self, old: Task | None, task: Task | None) -> None:
        """A record changes; None: there was none, or it goes."""
        whose = task if task is not None else old
        seen = self._seen.get(whose.shop) if whose is not None else None
        if seen is not None:
            counted = seen.counted
            if old is not None:
                counted[old.status] = counted.get(old.status, 0) - 1
            if task is not None:
                counted[task.status] = counted.get(task.status, 0) + 1
        if task is not None and self._under_way.known:
            self._under_way.follow(old, task)

    def count(self, shop: str, status: str) -> int:
        """Tasks of a shop: those running, blocked, pending or queued."""
        return self._of(shop).counted.get(status, 0)

    def under_way(self, shop: str, priority: int = 0) -> int:
        """Its tasks that a message is under way for, of those at least so urgent."""
        counted = self._of(shop).counted
        total = counted.get("pending", 0) + counted.get("queued", 0)
        if not priority or not total:
            return total
        return self._under_way.count(shop, priority, self._seen)

    def register(self, shop: str) -> None:
        """Make an unknown shop known."""
        seen = self.whole(shop)
        if seen.slots is None:
            platform, _, shop_id = shop.partition(":")
            one = Shop(platform=platform, shop_id=shop_id, unregistered=True)
            self._new.append((platform, shop_id, one.concurrency, ENCODER.encode(one)))
            seen.slots = one.concurrency

    def flush(self) -> None:
        """Write those that became known; nobody reads them before from the database."""
        self._conn.executemany(_NEW, self._new)
        self._new.clear()

    def promise(self, task: Task, until: int) -> None:
        """Keep a slot for a task."""
        self.whole(task.shop).promised.add(task.task_id)
        self._conn.execute("DELETE FROM reservations WHERE until <= ?", (self._now,))
        self._conn.execute(_PROMISE, (task.task_id, task.platform, task.shop_id, until))

    def take_back(self, task: Task) -> None:
        """Keep it no longer."""
        self.whole(task.shop).promised.discard(task.task_id)
        self._conn.execute("DELETE FROM reservations WHERE task_id = ?", (task.task_id,))

    def lot(self, shop: str, without: Collection[str]) -> Iterator[tuple[str, str]]:
        """(task id, guard) of its parked tasks in their order, without those of some types."""
        if self.count(shop, "blocked"):
            yield from self._rows(_LOT, (shop, write.text_list(without)))

    def lot_of_type(self, shop: str, kind: str) -> Iterator[tuple[str, str]]:
        """Those of one type."""
        yield from self._rows(_LOT_OF_TYPE, (shop, kind))

    def _rows(self, sql: str, values: tuple[str, str]) -> Iterator[tuple[str, str]]:
        self._write_tasks()
        rows = self._conn.execute(sql, values)
        try:
            for task_id, guard in rows:
                yield task_id, guard or ""
        finally:
            rows.close()
