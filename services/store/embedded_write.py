"""What a session has changed, gathered and written with few statements: records, events, counters."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from services.domain.status import ACTIVE, Status
from services.domain.task import Task, encode

EVENTS_KEPT, EVENTS_TRIM = 100_000, 1_000
#: for a parameter made by ``text_list``: any number of values without a new statement for each number
IN_LIST = "IN (SELECT value FROM json_each(?))"
_COLUMNS = (
    "task_id", "status", "triage", "platform", "shop_id", "task_type", "lane", "priority", "worker", "batch", "fp",
    "error_kind", "gate", "uniq", "attempt", "created_at", "updated_at", "due_at", "queued_at", "lease_until",
    "held_uniq", "lot", "outbox_at",
)  # fmt: skip
_INSERT = f"INSERT INTO tasks ({', '.join(_COLUMNS)}, data) VALUES ({', '.join('?' * (len(_COLUMNS) + 1))})"
_EVENT = f"INSERT INTO events VALUES (NULL{', ?' * 11})"
_TALLY = "INSERT INTO tallies VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n"
_SHOP_TALLY = "INSERT INTO shop_tallies VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n"
_updates: dict[tuple[int, ...], str] = {}


def text_list(values: Iterable[str]) -> str:
    """The parameter of ``IN_LIST``."""
    return msgspec.json.encode(list(values)).decode()


class Buffer:
    """Changes that are not in the database yet."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[Any, ...]] = {}
        self._dirty: dict[str, tuple[Task, int]] = {}
        self._events: list[tuple[Any, ...]] = []
        self._tally: Counter[tuple[str, ...]] = Counter()
        self._shop_tally: Counter[tuple[str, str, str, str]] = Counter()

    def stored(self, task: Task, outbox_at: int) -> None:
        """Say how a record stands in the database."""
        self._rows[task.task_id] = _row(task, outbox_at)

    def put(self, old: Task | None, task: Task, outbox_at: int) -> None:
        """Gather a changed record with what follows from it."""
        self._dirty[task.task_id] = (task, outbox_at)
        if old is None or old.steps is not task.steps:
            self._events.append(_event(task))
        if old is not None:
            self._tally[_tally_key(old)] -= 1
            self._shop_tally[_shop_key(old)] -= 1
        self._tally[_tally_key(task)] += 1
        self._shop_tally[_shop_key(task)] += 1

    def shop_changes(self, key: tuple[str, str]) -> dict[str, int]:
        """What the counters of a shop in the database do not know yet, by status."""
        found: dict[str, int] = {}
        for (shop_id, platform, status, _), change in self._shop_tally.items():
            if (platform, shop_id) == key:
                found[status] = found.get(status, 0) + change
        return found

    def write_tasks(self, conn: sqlite3.Connection) -> None:
        """Bring the records into the database, so that its indexes can be asked."""
        new: list[tuple[Any, ...]] = []
        changed: dict[tuple[int, ...], list[tuple[Any, ...]]] = {}
        for task_id, (task, outbox_at) in self._dirty.items():
            row = _row(task, outbox_at)
            before = self._rows.get(task_id)
            self._rows[task_id] = row
            if before is None:
                new.append((*row, encode(task)))
                continue
            places = tuple(place for place, value in enumerate(row) if value != before[place])
            changed.setdefault(places, []).append((*(row[place] for place in places), encode(task), task_id))
        self._dirty.clear()
        if new:
            conn.executemany(_INSERT, new)
        for places, rows in changed.items():
            conn.executemany(_update(places), rows)

    def write_rest(self, conn: sqlite3.Connection) -> None:
        """Bring events and counters into the database."""
        tallies = [(*key, change) for key, change in self._tally.items() if change]
        shops = [(*key, change) for key, change in self._shop_tally.items() if change]
        if tallies:
            conn.executemany(_TALLY, tallies)
        if shops:
            conn.executemany(_SHOP_TALLY, shops)
        if self._events:
            conn.executemany(_EVENT, self._events)
            (last,) = conn.execute("SELECT max(id) FROM events").fetchone()
            if last // EVENTS_TRIM != (last - len(self._events)) // EVENTS_TRIM:
                conn.execute("DELETE FROM events WHERE id <= ?", (last - EVENTS_KEPT,))


def _row(task: Task, outbox_at: int) -> tuple[Any, ...]:
    status = task.status
    return (
        task.task_id, status, task.triage, task.platform, task.shop_id, task.task_type, task.lane, task.priority,
        task.worker, task.batch, task.fingerprint, task.error_kind, task.gate, task.uniq, task.attempt, task.created_at,
        task.updated_at, task.due_at, task.queued_at, task.lease_until,
        task.uniq if task.uniq and status in ACTIVE else None,
        task.shop if status == Status.BLOCKED else None,
        outbox_at,
    )  # fmt: skip


def _update(places: tuple[int, ...]) -> str:
    sql = _updates.get(places)
    if sql is None:
        names = "".join(f"{_COLUMNS[place]} = ?, " for place in places)
        sql = _updates[places] = f"UPDATE tasks SET {names}data = ? WHERE task_id = ?"
    return sql


def _event(task: Task) -> tuple[Any, ...]:
    step = task.steps[-1]
    return (
        task.task_id, task.shop_id, task.platform, task.task_type, step.from_, step.to, step.at, step.worker, step.gen,
        step.attempt, task.lane,
    )  # fmt: skip


def _tally_key(task: Task) -> tuple[str, ...]:
    return task.lane, task.platform, task.task_type, task.status, task.triage


def _shop_key(task: Task) -> tuple[str, str, str, str]:
    return task.shop_id, task.platform, task.status, task.triage
