"""What a session has changed, gathered and written with few statements: records, events, counters."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import compress
from operator import ne
from typing import Any

import msgspec

from services.domain.gates.home import in_lot
from services.domain.step.transitions import WATERMARK_MS
from services.domain.task.record import Step, Task, encode
from services.domain.task.status import ACTIVE, BLOCKED, RUNNING, SUCCEEDED
from services.store.sqlite import payloads

EVENTS_KEPT, EVENTS_TRIM = 100_000, 1_000
#: for a parameter made by ``text_list``: any number of values without a new statement for each number
IN_LIST = "IN (SELECT value FROM json_each(?))"
COLUMNS = (
    "task_id", "status", "triage", "platform", "shop_id", "task_type", "lane", "priority", "worker", "batch", "fp",
    "error_kind", "gate", "uniq", "attempt", "created_at", "updated_at", "due_at", "queued_at", "lease_until",
    "held_uniq", "lot", "outbox_at",
)  # fmt: skip
_NUMBERS = range(len(COLUMNS))
_INSERT = f"INSERT INTO tasks ({', '.join(COLUMNS)}, data) VALUES ({', '.join('?' * (len(COLUMNS) + 1))})"
_EVENT = f"""INSERT INTO events (task_id, shop_id, platform, task_type, from_, to_, at, worker, gen, attempt, lane)
    VALUES (?{", ?" * 10})"""
_TALLY = """INSERT INTO tallies (lane, platform, task_type, status, triage, n) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET n = n + excluded.n"""
_SHOP_TALLY = """INSERT INTO shop_tallies (shop_id, platform, status, triage, n, at, worker)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n, at = max(at, excluded.at),
    worker = coalesce(nullif(excluded.worker, ''), worker)"""
_SUCCESS = """INSERT INTO successes (task_type, shop, at) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET at = max(at, excluded.at)"""
#: by queue and priority, only where it moves far enough
WATERMARK = f"""INSERT INTO watermarks (queue, priority, at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
    SET at = excluded.at WHERE excluded.at >= at + {WATERMARK_MS}"""
_updates: dict[tuple[bool, tuple[int, ...]], str] = {}


def text_list(values: Iterable[str]) -> str:
    """The parameter of ``IN_LIST``."""
    return msgspec.json.encode(list(values)).decode()


def put_aside(conn: sqlite3.Connection, place: int) -> None:
    """Keep the bytes of a row that is no record where they are in nobody's way, and count it no more."""
    where = "FROM tasks WHERE rowid = ?"
    conn.execute(
        f"INSERT OR REPLACE INTO documents (kind, name, body) SELECT 'broken', task_id, hex(data) {where}", (place,)
    )
    sql = f"SELECT lane, platform, task_type, shop_id, status, triage {where}"
    lane, platform, task_type, shop_id, status, triage = conn.execute(sql, (place,)).fetchone()
    conn.execute(_TALLY, (lane, platform, task_type, status, triage, -1))
    conn.execute(_SHOP_TALLY, (shop_id, platform, status, triage, -1, 0, ""))
    conn.execute(f"DELETE {where}", (place,))


class Buffer:
    """Changes that are not in the database yet."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[Any, ...]] = {}
        self._places: dict[str, int] = {}
        self._dirty: dict[str, tuple[Task, int]] = {}
        self._events: list[tuple[Any, ...]] = []
        self._kinds: dict[tuple[str, ...], int] = {}
        self._shops: dict[tuple[str, ...], int] = {}
        self._did: set[tuple[str, ...]] = set()  # of those that something succeeded in, if as many were removed too
        self._done: dict[tuple[str, str], int] = {}
        self._begun: dict[tuple[str, ...], str] = {}  # who began the last task of a shop, by the place of what runs

    def stored(self, task: Task, outbox_at: int, place: int) -> None:
        """Say how a record stands in the database, and in which row."""
        self._rows[task.task_id] = row_of(task, outbox_at)
        self._places[task.task_id] = place

    def put(self, old: Task | None, task: Task, outbox_at: int) -> None:
        """Gather a changed record with its event."""
        self._dirty[task.task_id] = (task, outbox_at)
        if old is None or old.steps is not task.steps:
            step = task.steps[-1]
            self._events.append(_event(task, step))
            if step.to == RUNNING:
                self._begun[task.shop_id, task.platform, RUNNING, ""] = step.worker

    def write_tasks(self, conn: sqlite3.Connection) -> None:
        """Bring the records into the database, so that its indexes can be asked."""
        if not self._dirty:
            return
        new: list[tuple[Any, ...]] = []
        fresh: list[Task] = []
        changed: dict[tuple[bool, tuple[int, ...]], list[tuple[Any, ...]]] = {}
        for task_id, (task, outbox_at) in self._dirty.items():
            row = row_of(task, outbox_at)
            before = self._rows.get(task_id)
            self._rows[task_id] = row
            self._count(before, row)
            if row[1] == SUCCEEDED:
                place_of = (task.task_type, task.shop)
                self._done[place_of] = max(self._done.get(place_of, 0), task.ended_at)
            if before is None:
                new.append((*row, encode(task)))
                fresh.append(task)
                continue
            columns = tuple(compress(_NUMBERS, map(ne, before, row)))
            place = self._places.get(task_id)
            values = (*[row[n] for n in columns], encode(task), task_id if place is None else place)
            known = changed.get((place is None, columns))
            if known is None:
                known = changed[place is None, columns] = []
            known.append(values)
        self._dirty.clear()
        if new:
            conn.executemany(_INSERT, new)
            payloads.add(conn, fresh)
        for (by_id, columns), rows in changed.items():
            conn.executemany(_update(by_id, columns), rows)

    def remove(self, conn: sqlite3.Connection, task: Task, now: int) -> None:
        """Take a record out, with an event from its status to ""."""
        self.write_tasks(conn)
        before = self._rows.pop(task.task_id)
        self._places.pop(task.task_id, None)
        conn.execute("DELETE FROM tasks WHERE task_id = ?", (task.task_id,))
        payloads.remove(conn, task)
        self._count(before, None)
        self._events.append(_event(task, Step(now, task.status, "", "", task.gen, task.attempt)))

    def tell(self, task: Task, now: int) -> None:
        """An event of a record that stays as it is."""
        self._events.append(_event(task, Step(now, task.status, task.status, "", task.gen, task.attempt)))

    def _count(self, before: tuple[Any, ...] | None, row: tuple[Any, ...] | None) -> None:
        """Let the counters follow a record; see ``COLUMNS`` for the numbers."""
        kinds, shops = self._kinds, self._shops
        if before is not None:
            status, triage, platform, shop_id, task_type, lane = before[1:7]
            if row is not None and row[1] == status and row[2] == triage and row[6] == lane:
                return
            kind, place = (lane, platform, task_type, status, triage), (shop_id, platform, status, triage)
            kinds[kind] = kinds.get(kind, 0) - 1
            shops[place] = shops.get(place, 0) - 1
        if row is not None:
            status, triage, platform, shop_id, task_type, lane = row[1:7]
            kind, place = (lane, platform, task_type, status, triage), (shop_id, platform, status, triage)
            kinds[kind] = kinds.get(kind, 0) + 1
            shops[place] = shops.get(place, 0) + 1
            if status == SUCCEEDED:
                self._did.add(place)

    def write_tallies(self, conn: sqlite3.Connection, now: int) -> None:
        """Bring the counters up to the written records."""
        if not self._shops:
            return
        conn.executemany(_TALLY, [(*key, n) for key, n in self._kinds.items() if n])
        did, begun = self._did, self._begun
        rows = [
            (*key, n, now if key in did or key in begun else 0, begun.get(key, ""))
            for key, n in (dict.fromkeys(begun, 0) | self._shops).items()
            if n or key in did or key in begun
        ]
        conn.executemany(_SHOP_TALLY, rows)
        for gathered in (self._kinds, self._shops, did, begun):
            gathered.clear()
        conn.executemany(_SUCCESS, [(*where, at) for where, at in self._done.items()])
        self._done.clear()

    def write_events(self, conn: sqlite3.Connection) -> None:
        """Append the events, and now and then forget the oldest."""
        if not self._events:
            return
        conn.executemany(_EVENT, self._events)
        (last,) = conn.execute("SELECT max(id) FROM events").fetchone()
        if last // EVENTS_TRIM != (last - len(self._events)) // EVENTS_TRIM:
            conn.execute("DELETE FROM events WHERE id <= ?", (last - EVENTS_KEPT,))
        self._events.clear()


def row_of(task: Task, outbox_at: int) -> tuple[Any, ...]:
    status = str(task.status)
    return (
        task.task_id, status, task.triage, task.platform, task.shop_id, task.task_type, str(task.lane), task.priority,
        task.worker, task.batch, task.fingerprint, task.error_kind, task.gate, task.uniq, task.attempt, task.created_at,
        task.updated_at, task.due_at, task.queued_at, task.lease_until,
        task.guard or None if status in ACTIVE else None,
        task.shop if status == BLOCKED and in_lot(task.gate) else None,
        outbox_at,
    )  # fmt: skip


def _update(by_id: bool, columns: tuple[int, ...]) -> str:
    key = (by_id, columns)
    sql = _updates.get(key)
    if sql is None:
        names = "".join(f"{COLUMNS[number]} = ?, " for number in columns)
        sql = _updates[key] = f"UPDATE tasks SET {names}data = ? WHERE {'task_id' if by_id else 'rowid'} = ?"
    return sql


def _event(task: Task, step: Step) -> tuple[Any, ...]:
    return (
        task.task_id, task.shop_id, task.platform, task.task_type, step.from_, step.to, step.at, step.worker, step.gen,
        step.attempt, str(task.lane),
    )  # fmt: skip
