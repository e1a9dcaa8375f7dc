"""One write transaction as the kernel sees it (``services.domain.step.view``): records read in bulk, changed in memory,
written back at the end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from services.domain.change import (
    Cancel,
    Claim,
    CloseBreaker,
    CloseSession,
    Create,
    Finish,
    GiveUp,
    Move,
    Op,
    OpenLimit,
    OpenSession,
    OpenShop,
    Republish,
    Resolve,
)
from services.domain.gates.dependency import AT_ONCE
from services.domain.step.view import Mark, Standing
from services.domain.task.record import Task, check
from services.domain.task.status import ACTIVE, QUEUED, SUCCEEDED
from services.store import fleet_day
from services.store.fleet_day import FleetDay
from services.store.sqlite import write
from services.store.sqlite.gates import switches
from services.store.sqlite.gates.breakers import Breakers
from services.store.sqlite.gates.homes import Homes
from services.store.sqlite.gates.limits import Limits
from services.store.sqlite.gates.logins import Logins
from services.store.sqlite.gates.needs import Needs
from services.store.sqlite.gates.passes import Passes
from services.store.sqlite.ledger import Works
from services.store.sqlite.notes import Kept
from services.store.sqlite.shops import Shops
from services.store.sqlite.upkeep.tombstones import Tombstones
from services.store.unreadable import readable

#: they name no task
_OF_SHOPS = frozenset({Create, OpenShop, OpenLimit, CloseBreaker, CloseSession, OpenSession})
#: a tuple, for a union written where it is asked for is made anew for each operation
_FRESH = (Create, Republish)
_TOUCHING, _ENDING = frozenset({Claim, Finish, Cancel, Move, Resolve, GiveUp}), frozenset({Finish, Resolve})
_PAPERS = tuple(f"DELETE FROM {table} WHERE task_id = ?" for table in ("letters", "logs", "notes"))
_HOLDERS = f"SELECT held_uniq, task_id, status, gate, created_at FROM tasks WHERE held_uniq {write.IN_LIST}"
_KEEP, _SET = Mark.KEEP, Mark.SET
_ZONE = "SELECT body FROM documents WHERE kind = ? AND name = ?"


class Transaction:
    """Reads are cached and agree with what was changed in this session; ``flush`` writes it all."""

    def __init__(
        self, conn: sqlite3.Connection, now: int, lifo: Container[str] = (), day: FleetDay | None = None
    ) -> None:
        """``day``: remembers between transactions when the fleet's day begins."""
        self.now, self.lifo = now, lifo
        self._conn, self._day = conn, day or FleetDay()
        self._out = write.Buffer()
        self._tasks: dict[str, tuple[Task, int] | None] = {}
        self._holders: dict[str, dict[str, Standing]] = {}
        self._switches: Mapping[str, frozenset[str]] | None = None
        self._watermarks: dict[tuple[str, int], int] = {}
        self.shops = Shops(conn, now, self._write_tasks, self._write_counted)
        self.limits = Limits(conn, now, self._write_counted)
        self.breakers, self.logins = Breakers(conn), Logins(conn, now)
        self.homes, self.passes = Homes(conn, now), Passes(conn)
        self.needs, self.works = Needs(conn), Works(conn, now, self._write_tasks, self._day_begins)
        self.stones, self.annotations = Tombstones(conn, now), Kept(conn, now)
        self.tell_left = AT_ONCE
        self.dropped: list[Task] = []

    def prepare(self, ops: Sequence[Op]) -> None:
        """Read in a few statements what a batch will look at."""
        fresh = [op.task for op in ops if isinstance(op, _FRESH)]
        if fresh:
            self.stones.load([op.task.task_id for op in ops if isinstance(op, Create)])
        named: list[Any] = [op for op in ops if type(op) not in _OF_SHOPS]
        self.load([task.task_id for task in fresh] + [op.task_id for op in named])
        shops = {task.shop for task in fresh} | {op.shop for op in ops if isinstance(op, OpenShop)}
        guards, works = {task.guard for task in fresh}, set()
        for op in named:
            task = (self.get(op.task_id) or getattr(op, "adopt", None)) if type(op) in _TOUCHING else None
            if task is None:
                continue
            shops.add(task.shop)
            if type(op) is not Finish:  # an end asks for them only where something of its shop is parked
                guards.add(task.guard)
            if type(op) in _ENDING and op.to == SUCCEEDED:
                works.add(task.work)
        self.shops.load(shops)
        self._load_holders(guards)
        self.works.load(works)

    # ------------------------------------------------------------------ records
    def load(self, task_ids: Iterable[str]) -> None:
        """Read records in one go.

        Raises:
            ValueError: one has a status that only another program knows; it is left as it is.
        """
        wanted = [task_id for task_id in task_ids if task_id not in self._tasks]
        if not wanted:
            return
        self._tasks.update(dict.fromkeys(wanted))
        sql = f"SELECT rowid, data, outbox_at FROM tasks WHERE task_id {write.IN_LIST}"
        for place, data, outbox_at in self._conn.execute(sql, (write.text_list(wanted),)).fetchall():
            task = readable(data)
            if task is None:
                write.put_aside(self._conn, place)
                continue
            check(task)
            outbox_at = outbox_at if type(outbox_at) is int else 0
            self._tasks[task.task_id] = (task, outbox_at)
            self._out.stored(task, outbox_at, place)

    def get(self, task_id: str) -> Task | None:
        """The record as it stands."""
        try:
            found = self._tasks[task_id]
        except KeyError:
            self.load([task_id])
            found = self._tasks[task_id]
        return found[0] if found is not None else None

    def is_marked(self, task_id: str) -> bool:
        """Whether the record has an outbox mark."""
        self.get(task_id)
        found = self._tasks[task_id]
        return found is not None and found[1] > 0

    def put(self, task: Task, mark: Mark = Mark.KEEP) -> Task:
        """Store a record; new steps become an event, counters follow."""
        task_id = task.task_id
        if task_id not in self._tasks:
            self.load([task_id])
        old, outbox_at = self._tasks[task_id] or (None, 0)
        if mark is not _KEEP:
            outbox_at = self.now if mark is _SET else 0
        elif task is old:
            return task
        self._tasks[task_id] = (task, outbox_at)
        self._out.put(old, task, outbox_at)
        self.shops.follow(old, task)
        self.limits.follow(old, task)
        self.works.follow(old, task)
        if self._holders:
            self._follow_holders(old, task)
        return task

    def tell(self, task: Task) -> None:
        """Let people look at a record again that stays as it is."""
        self._out.tell(task, self.now)

    def remove(self, task: Task) -> None:
        """Take the record of an ended task out; counters follow, an event says so."""
        self._out.remove(self._conn, task, self.now)
        self._tasks[task.task_id] = None
        self.shops.follow(task, None)
        for sql in _PAPERS:
            self._conn.execute(sql, (task.task_id,))

    def _follow_holders(self, old: Task | None, task: Task) -> None:
        now = self._holders.get(task.guard)
        before = now if old is None or old.uniq == task.uniq else self._holders.get(old.guard)
        if before is not None and old is not None:
            before.pop(task.task_id, None)
        if now is not None and task.status in ACTIVE:
            now[task.task_id] = Standing(task.status, task.gate, task.created_at)

    def delivered(self, task: Task) -> None:
        """Note that the message of a queued task came out of its queue.

        One that was published twice does not tell which of the two came.
        """
        if task.status != QUEUED or task.queued_at > task.updated_at:
            return
        place = (task.queue or str(task.lane), task.priority)
        self._watermarks[place] = max(self._watermarks.get(place, 0), task.queued_at)

    def note_deadline(self, task: Task) -> None:
        """Somebody is to look at it then."""
        self._conn.execute(
            "INSERT OR REPLACE INTO deadlines (task_id, at) VALUES (?, ?)", (task.task_id, task.deadline)
        )

    def flush(self) -> None:
        """Write records, events and counters."""
        self._write_counted()
        self._out.write_events(self._conn)
        self.shops.flush()
        self.works.flush()
        self._conn.executemany(write.WATERMARK, [(*place, at) for place, at in self._watermarks.items()])

    def _day_begins(self) -> int:
        return self._day.begins(self.now, lambda: fleet_zone(self._conn))

    def _write_tasks(self) -> None:
        self._out.write_tasks(self._conn)

    def _write_counted(self) -> None:
        self._out.write_tasks(self._conn)
        self._out.write_tallies(self._conn, self.now)

    # -------------------------------------------------------------------- gates
    def switches(self) -> Mapping[str, frozenset[str]]:
        """What is closed by a switch, by the gate of that."""
        if self._switches is None:
            shut = switches.shut(self._conn, self.now)
            self._switches = {gate: scopes for gate, scopes in shut.items() if scopes}
        return self._switches

    def _load_holders(self, uniqs: Iterable[str]) -> None:
        wanted = {uniq for uniq in uniqs if uniq and uniq not in self._holders}
        if not wanted:
            return
        self._write_tasks()
        self._holders.update({uniq: {} for uniq in wanted})
        for uniq, task_id, status, gate, created_at in self._conn.execute(_HOLDERS, (write.text_list(wanted),)):
            self._holders[uniq][task_id] = Standing(status, gate, created_at)

    def holders(self, uniq: str) -> Mapping[str, Standing]:
        """The active tasks that hold a uniqueness key."""
        if uniq not in self._holders:
            self._load_holders([uniq])
        return self._holders.get(uniq, {})


def fleet_zone(conn: sqlite3.Connection) -> str:
    """The fleet's time zone; "" where nobody has set one."""
    row = conn.execute(_ZONE, (fleet_day.KIND, fleet_day.NAME)).fetchone()
    return fleet_day.zone_of(row[0] if row is not None else None)
