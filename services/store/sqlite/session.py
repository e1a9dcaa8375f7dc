"""One write transaction as the operations see it: records read in bulk, changed in memory, written back at the end."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Container, Iterable, Iterator, Mapping

from services.domain.fleet.shop import Shop
from services.domain.gates.dependency import AT_ONCE, GATE
from services.domain.task.record import ENCODER, Task
from services.domain.task.status import ACTIVE, Status
from services.domain.task.transitions import RESERVATION_MS
from services.store.sqlite import write
from services.store.sqlite.gates import switches
from services.store.sqlite.gates.breakers import Breakers
from services.store.sqlite.gates.homes import Homes
from services.store.sqlite.gates.limits import Limits
from services.store.sqlite.gates.logins import Logins
from services.store.sqlite.gates.passes import Passes
from services.store.sqlite.ledger import Works
from services.store.sqlite.under_way import UnderWay
from services.store.sqlite.upkeep.tombstones import Tombstones
from services.store.unreadable import readable

#: what becomes of the outbox mark
KEEP_MARK, CLEAR_MARK, SET_MARK = range(3)
#: shop identity as it is looked up: (platform, shop_id)
ShopKey = tuple[str, str]
_COUNTED = f"""SELECT platform, shop_id, status, n FROM shop_tallies
    WHERE shop_id {write.IN_LIST} AND status IN ('running', 'blocked', 'pending', 'queued')"""
_LIMITS = f"SELECT platform, shop_id, concurrency FROM shops WHERE shop_id {write.IN_LIST}"
_RESERVED = f"SELECT platform, shop_id, task_id FROM reservations WHERE shop_id {write.IN_LIST} AND until > ?"


class Session:
    """Reads are cached and agree with what was changed in this session; ``flush`` writes it all."""

    def __init__(self, conn: sqlite3.Connection, now: int, lifo: Container[str] = ()) -> None:
        self.conn, self.now, self.lifo = conn, now, lifo
        self._out = write.Buffer()
        self._tasks: dict[str, tuple[Task, int] | None] = {}
        self._counted: dict[ShopKey, dict[str, int]] = {}
        self._under_way = UnderWay(conn, self._write_tasks)
        self._limits: dict[ShopKey, int | None] = {}
        self._reserved: dict[ShopKey, set[str]] = {}
        self._holders: dict[str, dict[str, tuple[str, int]]] = {}
        self._switches: Mapping[str, frozenset[str]] | None = None
        self.breakers, self.passes = Breakers(conn, now), Passes(conn, now)
        self.logins, self.homes = Logins(conn, now), Homes(conn, now)
        self.limits = Limits(conn, now, self._write_counted)
        self._watermarks: dict[tuple[str, int], int] = {}
        self.works = Works(conn, now, self._write_tasks)
        self.stones = Tombstones(conn, now)
        self._anybody_waits: bool | None = None
        self.tell_left = AT_ONCE  #: dependants that may still be told in this transaction
        self.dropped: list[Task] = []  #: cancelled by the present operation over a task that they depend on

    # ------------------------------------------------------------------ records
    def load(self, task_ids: Iterable[str]) -> None:
        """Read records in one go."""
        wanted = [task_id for task_id in task_ids if task_id not in self._tasks]
        if not wanted:
            return
        self._tasks.update(dict.fromkeys(wanted))
        sql = f"SELECT rowid, data, outbox_at FROM tasks WHERE task_id {write.IN_LIST}"
        for place, data, outbox_at in self.conn.execute(sql, (write.text_list(wanted),)).fetchall():
            task = readable(data)
            if task is None:
                write.put_aside(self.conn, place)
                continue
            outbox_at = outbox_at if type(outbox_at) is int else 0
            self._tasks[task.task_id] = (task, outbox_at)
            self._out.stored(task, outbox_at, place)

    def get(self, task_id: str) -> Task | None:
        """The record as it stands."""
        if task_id not in self._tasks:
            self.load([task_id])
        found = self._tasks[task_id]
        return found[0] if found is not None else None

    def is_marked(self, task_id: str) -> bool:
        """Whether the record has an outbox mark."""
        self.get(task_id)
        found = self._tasks[task_id]
        return found is not None and found[1] > 0

    def put(self, task: Task, mark: int = KEEP_MARK) -> Task:
        """Store a record; new steps become an event, counters follow."""
        self.get(task.task_id)
        before = self._tasks[task.task_id]
        old, outbox_at = before if before is not None else (None, 0)
        if task is old and mark == KEEP_MARK:
            return task
        if mark != KEEP_MARK:
            outbox_at = self.now if mark == SET_MARK else 0
        self._tasks[task.task_id] = (task, outbox_at)
        self._out.put(old, task, outbox_at)
        self._follow(old, task)
        return task

    def tell(self, task: Task) -> None:
        """Let people look at a record again that stays as it is."""
        self._out.tell(task, self.now)

    def remove(self, task: Task) -> None:
        """Take the record of an ended task out; counters follow, an event says so."""
        self._out.remove(self.conn, task, self.now)
        self._tasks[task.task_id] = None
        counted = self._counted.get((task.platform, task.shop_id))
        if counted is not None:
            counted[task.status] = counted.get(task.status, 0) - 1

    def _follow(self, old: Task | None, task: Task) -> None:
        counted = self._counted.get((task.platform, task.shop_id))
        if counted is not None:
            if old is not None:
                counted[old.status] = counted.get(old.status, 0) - 1
            counted[task.status] = counted.get(task.status, 0) + 1
        self._under_way.follow(old, task)
        self.limits.follow(old, task)
        self.works.follow(old, task)
        if old is not None and old.guard in self._holders:
            self._holders[old.guard].pop(task.task_id, None)
        if task.guard in self._holders and task.status in ACTIVE:
            self._holders[task.guard][task.task_id] = (_standing(task.status, task.gate), task.created_at)

    def flush(self) -> None:
        """Write records, events and counters."""
        self._out.write_tasks(self.conn)
        self._out.write_tallies(self.conn, self.now)
        self._out.write_events(self.conn)
        self.works.flush()
        self.conn.executemany(write.WATERMARK, [(*place, at) for place, at in self._watermarks.items()])

    def delivered(self, task: Task) -> None:
        """Note that the message of a queued task came out of its queue.

        One that was published twice does not tell which of the two came.
        """
        if task.status != Status.QUEUED or task.queued_at > task.updated_at:
            return
        place = (task.queue or str(task.lane), task.priority)
        self._watermarks[place] = max(self._watermarks.get(place, 0), task.queued_at)

    # -------------------------------------------------------------------- shops
    def load_shops(self, keys: Iterable[ShopKey]) -> None:
        """Read limits, counts and reservations of shops in one go."""
        wanted = {key for key in keys if key not in self._counted}
        if not wanted:
            return
        self._write_counted()
        for key in wanted:
            self._counted[key], self._limits[key], self._reserved[key] = {}, None, set()
        names = write.text_list({name for _, name in wanted})
        for platform, shop_id, status, n in self.conn.execute(_COUNTED, (names,)):
            self._counted.get((platform, shop_id), {})[status] = n
        for platform, shop_id, limit in self.conn.execute(_LIMITS, (names,)):
            self._limits[platform, shop_id] = limit
        for platform, shop_id, task_id in self.conn.execute(_RESERVED, (names, self.now)):
            self._reserved.get((platform, shop_id), set()).add(task_id)

    def _write_tasks(self) -> None:
        self._out.write_tasks(self.conn)

    def _write_counted(self) -> None:
        self._out.write_tasks(self.conn)
        self._out.write_tallies(self.conn, self.now)

    def _need_shop(self, key: ShopKey) -> None:
        if key not in self._counted:
            self.load_shops([key])

    def count(self, key: ShopKey, status: str) -> int:
        """Tasks of a shop: those running, blocked, pending or queued."""
        self._need_shop(key)
        return self._counted[key].get(status, 0)

    def under_way(self, key: ShopKey, priority: int = 0) -> int:
        """Its tasks that a message is under way for, of those at least so urgent."""
        self._need_shop(key)
        counted = self._counted[key]
        total = counted.get("pending", 0) + counted.get("queued", 0)
        if not priority or not total:
            return total
        return self._under_way.count(key, priority, self._counted)

    def left_for(self, key: ShopKey, priority: int = 0) -> int:
        """Slots left for a task so urgent behind what runs and is on its way; below 0: what is on its way ahead."""
        under_way = max(self.under_way(key, priority), len(self._reserved[key]))  # who is awaited is on its way
        return (self._limits[key] or 1) - self.count(key, Status.RUNNING) - under_way

    def free_slots(self, key: ShopKey, but: str = "", *, anyway: bool = False) -> int:
        """Slots that are neither running nor reserved for others than ``but``; behind an open breaker none, or one.
        ``anyway``: for a task that passes the breaker.
        """
        running = self.count(key, Status.RUNNING)
        limit, reserved = self._limits[key], self._reserved[key]
        shop = f"{key[0]}:{key[1]}"
        if not anyway and self.breakers.is_shut(shop):
            return 0
        if not anyway and self.breakers.is_probing(shop):
            limit = 1
        return (1 if limit is None else limit) - running - len(reserved) + (but in reserved)

    def register(self, key: ShopKey) -> None:
        """Make an unknown shop known."""
        self._need_shop(key)
        if self._limits[key] is None:
            shop = Shop(platform=key[0], shop_id=key[1], unregistered=True)
            self.conn.execute(
                "INSERT OR IGNORE INTO shops (platform, shop_id, concurrency, data) VALUES (?, ?, ?, ?)",
                (*key, shop.concurrency, ENCODER.encode(shop)),
            )
            self._limits[key] = shop.concurrency

    def reserve(self, task: Task, for_ms: int = RESERVATION_MS) -> None:
        """Keep a slot of its shop, and a place of its limits, for one task."""
        key, task_id = (task.platform, task.shop_id), task.task_id
        self._need_shop(key)
        self._reserved[key].add(task_id)
        self.limits.reserve(task, for_ms)
        self.conn.execute("DELETE FROM reservations WHERE until <= ?", (self.now,))
        self.conn.execute(
            "INSERT OR REPLACE INTO reservations (task_id, platform, shop_id, until) VALUES (?, ?, ?, ?)",
            (task_id, *key, self.now + for_ms),
        )

    def unreserve(self, task: Task) -> bool:
        """Give up what is kept for a task; tell whether that was a slot of its shop."""
        key, task_id = (task.platform, task.shop_id), task.task_id
        self._need_shop(key)
        self.limits.unreserve(task)
        if task_id not in self._reserved[key]:
            return False
        self._reserved[key].discard(task_id)
        self.conn.execute("DELETE FROM reservations WHERE task_id = ?", (task_id,))
        return True

    def has_promise(self, task: Task) -> bool:
        """Whether a slot of its shop is kept for a task."""
        key = (task.platform, task.shop_id)
        self._need_shop(key)
        return task.task_id in self._reserved[key]

    def lot(self, key: ShopKey, without: Collection[str] = ()) -> Iterator[tuple[str, str]]:
        """(task id, uniq) of the parked tasks of a shop in their order, without those of paused and of other types."""
        if not self.count(key, Status.BLOCKED):
            return
        self._out.write_tasks(self.conn)
        shut = frozenset().union(*self.switches().values())
        types = [scope.removeprefix("type:") for scope in shut if scope.startswith("type:")]
        types += without
        rows = self.conn.execute(
            f"""SELECT task_id, uniq FROM tasks WHERE lot = ? AND NOT task_type {write.IN_LIST}
                ORDER BY priority DESC, created_at, task_id""",
            (f"{key[0]}:{key[1]}", write.text_list(types)),
        )
        try:
            yield from rows
        finally:
            rows.close()

    def lot_of_type(self, key: ShopKey, kind: str) -> Iterator[tuple[str, str]]:
        """(task id, uniq) of the parked tasks of a shop that are of one type, in their order."""
        self._out.write_tasks(self.conn)
        rows = self.conn.execute(
            """SELECT task_id, uniq FROM tasks INDEXED BY tasks_lot_type WHERE lot = ? AND task_type = ?
                ORDER BY priority DESC, created_at, task_id""",
            (f"{key[0]}:{key[1]}", kind),
        )
        try:
            yield from rows
        finally:
            rows.close()

    # -------------------------------------------------------------------- gates
    @property
    def anybody_waits(self) -> bool:
        """Whether any task waits for another one."""
        if self._anybody_waits is None:
            (found,) = self.conn.execute("SELECT EXISTS (SELECT 1 FROM dependencies)").fetchone()
            self._anybody_waits = bool(found)
        return self._anybody_waits

    @anybody_waits.setter
    def anybody_waits(self, waits: bool) -> None:
        self._anybody_waits = waits

    def switches(self) -> Mapping[str, frozenset[str]]:
        """What is closed by a switch, by the gate of that."""
        if self._switches is None:
            self._switches = switches.shut(self.conn, self.now)
        return self._switches

    def load_uniqs(self, uniqs: Iterable[str]) -> None:
        """Read in one go who holds these uniqueness keys."""
        wanted = {uniq for uniq in uniqs if uniq and uniq not in self._holders}
        if not wanted:
            return
        self._out.write_tasks(self.conn)
        self._holders.update({uniq: {} for uniq in wanted})
        sql = f"SELECT held_uniq, task_id, status, gate, created_at FROM tasks WHERE held_uniq {write.IN_LIST}"
        for uniq, task_id, status, gate, created_at in self.conn.execute(sql, (write.text_list(wanted),)):
            self._holders[uniq][task_id] = (_standing(status, gate), created_at)

    def holder(self, uniq: str) -> str | None:
        """The active task that was created first of those that hold the key."""
        if uniq not in self._holders:
            self.load_uniqs([uniq])
        ranked = sorted((created_at, task_id) for task_id, (_, created_at) in self._holders[uniq].items())
        return next((task_id for _, task_id in ranked if self.get(task_id) is not None), None)

    def goes_first(self, uniq: str) -> str | None:
        """The task of this key that closes the twin gate for all others: running or held, else created first."""
        if uniq not in self._holders:
            self.load_uniqs([uniq])
        holders = self._holders[uniq]
        if len(holders) == 1:
            return next(iter(holders))
        ranked = [
            (status not in (Status.RUNNING, Status.HELD), created_at, task_id)
            for task_id, (status, created_at) in holders.items()
            if status != Status.SCHEDULED
        ]
        return min(ranked)[2] if ranked else None


def _standing(status: str, gate: str) -> str:
    """The status that counts among twins: who waits for another task stands back like a scheduled one."""
    return Status.SCHEDULED if gate == GATE else status
