"""The store on one machine: records, events and everything else in one SQLite file."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from services.domain.change import UNREADABLE, Answer, Op
from services.domain.errors import StoreError, StoreUnavailable
from services.domain.gates.dependency import GATE
from services.domain.step import kernel
from services.domain.task.record import Task
from services.domain.task.search import log_match
from services.domain.task.search.query import Groups, Page, Query, Term
from services.domain.task.status import Status
from services.domain.text.said import said, words_of
from services.domain.upkeep.damage import shown
from services.domain.upkeep.stored import Count, Instant, calendar
from services.ports import Clock
from services.sqlite.holder import sentence, writer_of
from services.sqlite.writer import close_file, open_file
from services.store.fleet_day import FleetDay
from services.store.sqlite import query as embedded_query
from services.store.sqlite.feed import Feed
from services.store.sqlite.gates.closed import ClosedGates
from services.store.sqlite.gates.unserved import Unserved
from services.store.sqlite.journals import Journals, with_marks
from services.store.sqlite.ledger import Ledger
from services.store.sqlite.notes import Notes
from services.store.sqlite.part import Part, store_errors, words
from services.store.sqlite.payloads import Payloads
from services.store.sqlite.schedules import Schedules
from services.store.sqlite.schema import SCHEMA
from services.store.sqlite.transaction import Transaction
from services.store.sqlite.upkeep.aside import SetAside
from services.store.sqlite.upkeep.damage import Damages
from services.store.sqlite.upkeep.forget import Forgetting
from services.store.sqlite.upkeep.recount import Recounting
from services.store.sqlite.write import IN_LIST, text_list
from services.store.unreadable import WRONG, all_sound, first, readable

log = logging.getLogger(__name__)
#: operations in one transaction at most, so that a long batch does not keep everybody else waiting
CHUNK = 250
#: a disk with less room is full for what is written here
LEAST_BYTES = 64 * 1024
#: an uncounted page of no more is kept while nothing is written: what watches asks for the first few again and again
KEPT_ROWS = 5
_watermark = partial(msgspec.convert, type=tuple[str, int, Instant])
#: one step of the index for each batch, however many tasks it has
_NAMES = """WITH RECURSIVE names (batch) AS (
        SELECT min(batch) FROM tasks INDEXED BY tasks_batch WHERE batch <> ''
        UNION ALL
        SELECT (SELECT min(batch) FROM tasks INDEXED BY tasks_batch WHERE batch > names.batch AND batch <> '')
        FROM names WHERE names.batch IS NOT NULL
    ), begun (batch, at) AS (
        SELECT batch, (SELECT min(created_at) FROM tasks INDEXED BY tasks_batch WHERE tasks.batch = names.batch
            AND tasks.batch <> '') FROM names WHERE batch IS NOT NULL
    )
    SELECT batch, at FROM begun WHERE :at < 0 OR (at, batch) < (:at, :name) ORDER BY at DESC, batch DESC LIMIT :limit"""


_STANDING = f"""SELECT batch, status, count(*) FROM tasks INDEXED BY tasks_batch
    WHERE batch {IN_LIST} AND batch <> '' GROUP BY batch, status"""
#: batches that one question names
_AT_ONCE = 500

_counted = partial(msgspec.convert, type=tuple[str, str, Count])


class Batches(Part):
    """The calls of ``services.ports.Store``."""

    def batches(self, limit: int, cursor: str = "") -> tuple[list[tuple[str, int]], str]:
        """By the index of batches."""
        at, _, name = cursor.partition("/")
        values = {"at": int(at) if at else -1, "name": name, "limit": limit + 1}
        with self._read() as conn:
            rows = conn.execute(_NAMES, values)
            found = [(words(batch), begun if type(begun) is int else 0) for batch, begun in rows]
        shown = [(name, calendar(begun)) for name, begun in found[:limit]]
        return shown, f"{found[limit - 1][1]}/{found[limit - 1][0]}" if len(found) > limit else ""

    def batch_counts(self, batches: Sequence[str]) -> list[dict[str, int]]:
        """How each batch stands."""
        found: dict[str, dict[str, int]] = {name: {} for name in batches}
        for start in range(0, len(batches), _AT_ONCE):
            names = (text_list(batches[start : start + _AT_ONCE]),)
            with store_errors(self._file.path), self._file.snapshot() as conn:
                rows = all_sound(_counted, conn.execute(_STANDING, names), "status of tasks")
                gone = conn.execute(f"SELECT batch, status, n FROM buried WHERE batch {IN_LIST}", names)
                rows += all_sound(_counted, gone, "count of removed tasks")
            for name, status, number in rows:
                found[name][status] = found[name].get(status, 0) + number
        return [found[name] for name in batches]


class EmbeddedStore(
    Batches, ClosedGates, Damages, SetAside, Feed, Forgetting, Ledger, Journals, Payloads, Recounting, Notes, Schedules,
    Unserved,
):  # fmt: skip
    """``services.ports.Store`` on SQLite; any thread may call it, several processes may open the same file."""

    def __init__(self, path: Path, clock: Clock, *, lifo: Iterable[str] = (), read_only: bool = False) -> None:
        """Open or make the file. ``lifo``: lanes in which the youngest task of a priority goes first; ``read_only``:
        nothing is made or changed.

        Raises:
            SchemaTooNew: a newer program wrote it.
            StoreUnavailable: it cannot be opened now, or lies on a network folder; read-only: it is not there yet.
            StoreError: it is no database.
        """
        try:
            with store_errors(path):
                file, epoch = open_file(path, SCHEMA, read_only=read_only)
        except OSError as exc:
            raise StoreUnavailable(said("file.cannot_open", path=str(path), error=str(exc))) from exc
        super().__init__(file, epoch, clock)
        self._is_open = True
        self._lifo, self._day = frozenset(lifo), FleetDay()
        with self._read() as conn:
            self._now(conn)

    def close(self) -> None:
        """Give the file back."""
        if self._is_open:
            self._is_open = False
            close_file(self._file)

    # --------------------------------------------------------------------- changes
    def apply(self, ops: Sequence[Op]) -> list[Answer]:
        kernel.check(ops)
        answers: list[Answer] = []
        for start in range(0, len(ops), CHUNK):
            answers += self._apply(ops[start : start + CHUNK])
        return answers

    def apply_soon(self, ops: Sequence[Op]) -> None:
        """At once: a later transaction would have a later instant."""
        self.apply(ops)

    def _apply(self, ops: Sequence[Op]) -> list[Answer]:
        def work(conn: sqlite3.Connection) -> list[Answer]:
            now = self._now(conn)
            session = Transaction(conn, now, self._lifo, self._day)
            session.prepare(ops)
            answers = kernel.apply(session, with_marks(conn, ops, now))
            session.flush()
            return answers

        try:
            return self._write(work, "events")
        except WRONG as exc:  # one of them meets something that is none of ours: the others must not wait for it
            if len(ops) > 1:
                return [answer for op in ops for answer in self._apply([op])]
            place = f"what it keeps for a {type(ops[0]).__name__}"
            told = said("store.unreadable", address=str(self._file.path), place=f"{place} ({exc})"[:200])
            log.error("%s", told)
            return [Answer(UNREADABLE, words=told)]

    # ----------------------------------------------------------------------- reads
    def get(self, task_ids: Sequence[str]) -> list[Task | None]:
        """Records at the places of their ids."""
        sql = f"SELECT data FROM tasks WHERE task_id {IN_LIST}"
        with self._read() as conn:
            found = {task.task_id: task for task in _tasks(conn, sql, (text_list(task_ids),))}
        return [found.get(task_id) for task_id in task_ids]

    def unread(self, task_id: str) -> Literal["", "there", "aside"]:
        """Whether it is there and nobody can read it, or was taken out of the way for that."""
        if self.get([task_id])[0] is not None:
            return ""
        with self._read() as conn:
            if conn.execute("SELECT 1 FROM tasks WHERE task_id = ?", (task_id,)).fetchone() is not None:
                return "there"
            sql = """SELECT 1 FROM documents WHERE kind = 'broken' AND name = ?
                UNION ALL SELECT 1 FROM aside WHERE place = 'tasks' AND entry = ?"""
            return "" if conn.execute(sql, (task_id, shown(task_id))).fetchone() is None else "aside"

    def query(self, query: Query) -> Page:
        with store_errors(self._file.path):
            if query.limit > KEPT_ROWS or query.want_total or log_match.of_logs(query.terms):
                with self._file.snapshot() as conn:
                    return embedded_query.run(conn, query)
            return self._file.answer(query, lambda conn: embedded_query.run(conn, query))

    def grouped(self, terms: Sequence[Term], by: str, most: int) -> Groups:
        with store_errors(self._file.path), self._file.snapshot() as conn:
            return embedded_query.grouped(conn, terms, by, most)

    def outbox(self, older_than_ms: int, limit: int) -> list[Task]:
        """Records with an old outbox mark."""
        sql = "SELECT data FROM tasks WHERE outbox_at > 0 AND outbox_at <= ? ORDER BY outbox_at, rowid LIMIT ?"
        return self._first(sql, (self.now_ms() - older_than_ms,), limit)

    def expired(self, limit: int) -> list[Task]:
        """Running records without a live lease."""
        sql = "SELECT data FROM tasks WHERE lease_until > 0 AND lease_until <= ? ORDER BY lease_until LIMIT ?"
        return self._first(sql, (self.now_ms(),), limit)

    def due(self, limit: int, grace_ms: int = 0) -> list[Task]:
        """Plans that are due and retries that are overdue."""
        now = self.now_ms()
        # left to itself SQLite reads all that is planned or waits for another try, each second
        sql = """SELECT data FROM tasks INDEXED BY tasks_due WHERE due_at > 0 AND due_at <= ?
            AND (status = 'scheduled' OR status = 'retrying' AND due_at <= ?) ORDER BY due_at, task_id LIMIT ?"""
        return self._first(sql, (now, now - grace_ms), limit)

    def oldest_queued(self, lane: str, limit: int) -> list[Task]:
        """Queued records of a lane."""
        sql = """SELECT data FROM tasks WHERE rowid IN (SELECT rowid FROM tasks INDEXED BY tasks_waiting
            WHERE status = 'queued' AND lane = ? ORDER BY queued_at, task_id LIMIT ?)"""
        return sorted(self._found(sql, (lane, limit)), key=lambda task: (task.queued_at, task.task_id))

    def delivered(self) -> Mapping[tuple[str, int], int]:
        """The watermarks."""
        with self._read() as conn:
            rows = all_sound(_watermark, conn.execute("SELECT queue, priority, at FROM watermarks"), "watermark")
        return {(queue, priority): at for queue, priority, at in rows}

    def queued_before(self, before: Mapping[tuple[str, int], int], limit: int) -> list[Task]:
        """Queued records by lane and priority that were created before an instant."""
        sql = """SELECT data FROM tasks INDEXED BY tasks_waiting WHERE status = 'queued' AND lane = ? AND priority = ?
            AND created_at < ? ORDER BY created_at LIMIT ?"""
        found = [task for place, at in before.items() for task in self._found(sql, (*place, at, limit))]
        return sorted(found, key=lambda task: (task.created_at, task.task_id))

    def waiting_ahead(self, tasks: Sequence[Task]) -> list[int]:
        """How many go before each."""
        above = """SELECT priority, count(*) FROM tasks INDEXED BY tasks_waiting WHERE status = 'queued' AND lane = ?
            GROUP BY priority"""
        with self._read() as conn:
            queued = {lane: conn.execute(above, (lane,)).fetchall() for lane in {task.lane for task in tasks}}
            return [
                sum(n for priority, n in queued[task.lane] if isinstance(priority, int) and priority > task.priority)
                + self._before(conn, task)
                for task in tasks
            ]

    def _before(self, conn: sqlite3.Connection, task: Task) -> int:
        """Queued tasks of its lane and priority that go first."""
        at, than = ("created_at > :at", ">") if task.lane in self._lifo else ("created_at < :at", "<")
        sql = f"""SELECT count(*) FROM tasks INDEXED BY tasks_waiting WHERE status = 'queued' AND lane = :lane
            AND priority = :priority AND ({at} OR created_at = :at AND task_id {than} :id)"""
        values = {"lane": task.lane, "priority": task.priority, "at": task.created_at, "id": task.task_id}
        return int(conn.execute(sql, values).fetchone()[0])

    def holders(self, uniqs: Sequence[str]) -> list[Task | None]:
        """Who holds these uniqueness keys."""
        sql = f"SELECT data FROM tasks WHERE held_uniq {IN_LIST}"
        best: dict[str, Task] = {}
        for task in sorted(self._found(sql, (text_list(uniqs),)), key=_turn):
            best.setdefault(task.guard, task)
        return [best.get(uniq) for uniq in uniqs]

    def parked_shops(self, limit: int) -> list[str]:
        """Shops with a lot that is not empty."""
        sql = """SELECT platform || ':' || shop_id FROM shop_tallies AS shop WHERE status = 'blocked' AND n > 0
            AND EXISTS (SELECT 1 FROM tasks INDEXED BY tasks_lot WHERE lot = shop.platform || ':' || shop.shop_id)
            ORDER BY random() LIMIT ?"""
        with self._read() as conn:
            return [words(shop) for (shop,) in conn.execute(sql, (limit,))]

    def overdue(self, limit: int) -> list[str]:
        """Tasks that should have begun by now."""
        sql = "SELECT task_id FROM deadlines WHERE at <= ? ORDER BY at, task_id LIMIT ?"
        with self._read() as conn:
            return [words(name) for (name,) in conn.execute(sql, (self.now_ms(), limit))]

    def forget_deadlines(self, task_ids: Sequence[str]) -> None:
        """They have been looked at."""
        rows = [(task_id,) for task_id in task_ids]
        if rows:
            self._write(lambda conn: conn.executemany("DELETE FROM deadlines WHERE task_id = ?", rows))

    def needs(self, task_ids: Sequence[str]) -> list[list[str]]:
        """What these tasks still wait for."""
        sql = f"SELECT task_id, needs FROM dependencies WHERE task_id {IN_LIST} ORDER BY needs"
        found: dict[str, list[str]] = {task_id: [] for task_id in task_ids}
        with self._read() as conn:
            for task_id, name in conn.execute(sql, (text_list(found),)):
                found.setdefault(words(task_id), []).append(words(name))
        return [list(found[task_id]) for task_id in task_ids]

    def dependants(self, task_id: str, limit: int) -> list[str]:
        """Who still waits for a task."""
        sql = "SELECT DISTINCT task_id FROM dependencies WHERE needs = ? ORDER BY task_id LIMIT ?"
        with self._read() as conn:
            return [words(name) for (name,) in conn.execute(sql, (task_id, limit))]

    def untold(self, limit: int) -> list[str]:
        """Ended tasks that have dependants who do not know it."""
        with self._read() as conn:
            return [
                words(name)
                for (name,) in conn.execute("SELECT task_id FROM untold ORDER BY random() LIMIT ?", (limit,))
            ]

    def health(self) -> tuple[bool, float, str]:
        """A round trip."""
        begun = time.perf_counter()
        try:
            with self._read() as conn:
                conn.execute("SELECT count(*) FROM meta").fetchone()
            self._file.ask()
        except StoreError as exc:
            return False, -1.0, words_of(exc)
        refusing = self._file.refusing or self._full()
        return True, (time.perf_counter() - begun) * 1000, "" if refusing is None else sentence(refusing)

    def newer(self) -> str:
        """By what the file says of itself."""
        with store_errors(self._file.path):
            return self._file.newer()

    def _full(self) -> sqlite3.Error | None:
        """That its disk is, as a process knows that has written nothing yet."""
        with contextlib.suppress(OSError):
            size = shutil.disk_usage(self._file.path.parent)
            free = size.total - size.used if getattr(os, "geteuid", lambda: 1)() == 0 else size.free
            if size.total and free < LEAST_BYTES:  # some file systems do not tell
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                return error
        return None

    def facts(self) -> Mapping[str, str]:
        """What holds the records."""
        found = {"kind": "sqlite", "version": sqlite3.sqlite_version}
        holder = writer_of(self._file.path)
        return found | (
            {"frozen_writer": f"{holder.pid} {holder.name}"} if holder is not None and holder.frozen else {}
        )

    def _first(self, sql: str, values: tuple[int, ...], limit: int) -> list[Task]:
        """So many records, whatever stands among them that is none."""
        with self._read() as conn:
            return first(lambda most: [readable(data) for (data,) in conn.execute(sql, (*values, most))], limit)

    def _found(self, sql: str, values: tuple[str | int, ...]) -> list[Task]:
        with self._read() as conn:
            return _tasks(conn, sql, values)


def _turn(task: Task) -> tuple[int, int, str]:
    """Where a task stands among those of its key: started ones first, last those that may not start yet."""
    begun = task.status in (Status.RUNNING, Status.HELD)
    planned = task.status == Status.SCHEDULED or task.gate == GATE
    return (0 if begun else 2 if planned else 1), task.created_at, task.task_id


def _tasks(conn: sqlite3.Connection, sql: str, values: tuple[str | int, ...]) -> list[Task]:
    return [task for (data,) in conn.execute(sql, values) if (task := readable(data)) is not None]
