"""Columns, counters, reservations, deadlines, links and lots at limits compared with the records, on SQLite."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from services.domain.change import Answer, Op, OpenShop
from services.domain.fleet.shop import scopes_of
from services.domain.gates import dependency, limit, listed
from services.domain.step.transitions import RESERVATION_MS
from services.domain.task.record import Task
from services.domain.task.search.payload_match import BETWEEN
from services.domain.task.status import Status
from services.domain.upkeep.miscount import Miscount, some
from services.store.sqlite import payloads
from services.store.sqlite.gates import switches
from services.store.sqlite.part import Part, words
from services.store.sqlite.upkeep import recount_works
from services.store.sqlite.write import COLUMNS, IN_LIST, row_of, text_list
from services.store.unreadable import readable

SLICE = 500
#: sums by which two lists of rows are compared: what moves meanwhile touches few of them
SUMS = 4_096
_RESERVABLE = (Status.PENDING, Status.QUEUED, Status.BLOCKED)
_NAMES = ", ".join(COLUMNS)
_SET = ", ".join(f"{name} = ?" for name in COLUMNS)
#: table, its key columns, and how the tasks make it
_TALLIES = (
    ("tallies", "lane, platform, task_type, status, triage"),
    ("shop_tallies", "shop_id, platform, status, triage"),
)
Read = Callable[[], AbstractContextManager[sqlite3.Connection]]
Write = Callable[[Callable[[sqlite3.Connection], Any]], Any]
#: rows whose task waits for nobody (any more)
_STALE = f"""FROM dependencies WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.task_id = dependencies.task_id
    AND (status = 'scheduled' OR (status = 'blocked' AND gate = '{dependency.GATE}')))"""
#: lots whose shop is free and may start, that a limit holds back and that stand in none of its lists; a task that has
#: an active twin may stand back for it, and for others of its shop that are on their way to a worker
_FORGOTTEN = f"""SELECT DISTINCT lot, lot || '|' || task_type FROM tasks
    WHERE lot IS NOT NULL AND gate = '{limit.GATE}'
    AND EXISTS (SELECT 1 FROM limits WHERE scope IN ('platform:' || platform, 'type:' || task_type))
    AND NOT EXISTS (SELECT 1 FROM limit_waits WHERE limit_waits.lot = tasks.lot || '|' || task_type
        AND scope IN ('platform:' || platform, 'type:' || task_type))
    AND NOT EXISTS (SELECT 1 FROM tasks AS twin
        WHERE twin.held_uniq = tasks.held_uniq AND twin.held_uniq <> '' AND twin.task_id <> tasks.task_id)
    AND NOT EXISTS (SELECT 1 FROM sessions WHERE shop = tasks.lot)
    AND NOT EXISTS (SELECT 1 FROM breakers WHERE shop = tasks.lot AND until > 0)
    AND NOT EXISTS (SELECT 1 FROM reservations
        WHERE reservations.platform = tasks.platform AND reservations.shop_id = tasks.shop_id)
    AND (SELECT coalesce(sum(n), 0) FROM shop_tallies WHERE shop_tallies.shop_id = tasks.shop_id
        AND shop_tallies.platform = tasks.platform AND status IN ('running', 'pending', 'queued'))
      < max(1, coalesce((SELECT concurrency FROM shops
        WHERE shops.shop_id = tasks.shop_id AND shops.platform = tasks.platform), 1))
    ORDER BY 2"""


def _deadlines(read: Read, write: Write, tasks: Sequence[Task], *, mend: bool) -> list[str]:
    """Ids of these tasks that the list of deadlines does not know; with ``mend`` they are put there."""
    bound = {task.task_id: task.deadline for task in tasks if task.bound}
    if not bound:
        return []
    with read() as conn:
        sql = f"SELECT task_id, at FROM deadlines WHERE task_id {IN_LIST}"
        known = dict(conn.execute(sql, (text_list(bound),)).fetchall())
    missing = [task_id for task_id, at in bound.items() if known.get(task_id) != at]
    if missing and mend:
        write(lambda conn: _put(conn, missing))
    return missing


def _put(conn: sqlite3.Connection, task_ids: Sequence[str]) -> None:
    for task in _as_they_are(conn, task_ids):
        if task.bound:
            conn.execute("INSERT OR REPLACE INTO deadlines (task_id, at) VALUES (?, ?)", (task.task_id, task.deadline))


class _Sums:
    """Tells of two lists of rows, in any order, which rows may be in one of them alone, and keeps neither: reading each
    record once more, in the order of the index, would take as long as all else.
    """

    def __init__(self) -> None:
        self._sums = [0] * SUMS

    def add(self, rows: Iterable[tuple[str, str]], sign: int) -> None:
        """``sign``: 1 for one of the lists, -1 for the other."""
        for row in rows:
            digest = hash(row)
            self._sums[digest % SUMS] += sign * digest

    def all_same(self) -> bool:
        """Whether both have the same rows."""
        return not any(self._sums)

    def differ(self, row: tuple[str, str]) -> bool:
        """Whether it may be in one alone."""
        return self._sums[hash(row) % SUMS] != 0


def _unnoted(read: Read, write: Write, tasks: Sequence[Task], sums: _Sums, *, mend: bool) -> list[str]:
    """Ids of these tasks that the index of payloads does not know as it should; with ``mend`` it learns them."""
    with read() as conn:
        fields = payloads.whole(conn)
        if not fields:
            return []
        rows = {row for task in tasks for row in payloads.rows_of(task, fields)}
        sums.add(rows, 1)
        asked = (msgspec.json.encode(sorted(rows)).decode(),)
        sql = """SELECT term, task_id FROM json_each(?) AS one JOIN payload_terms
            ON term = json_extract(one.value, '$[0]') AND task_id = json_extract(one.value, '$[1]')"""
        known = {(words(term), words(task_id)) for term, task_id in conn.execute(sql, asked)}
    missing = sorted({task_id for _, task_id in rows - known})
    if missing and mend:
        write(lambda conn: payloads.add(conn, _as_they_are(conn, missing)))
    return missing


def _as_they_are(conn: sqlite3.Connection, task_ids: Sequence[str]) -> list[Task]:
    found = conn.execute(f"SELECT data FROM tasks WHERE task_id {IN_LIST}", (text_list(task_ids),)).fetchall()
    return [task for (data,) in found if (task := readable(data)) is not None]


def _noted(read: Read) -> Iterator[list[tuple[str, str]]]:
    """The index of payloads, in slices."""
    last = ("", "")
    while True:
        with read() as conn:
            sql = "SELECT term, task_id FROM payload_terms WHERE (term, task_id) > (?, ?) ORDER BY 1, 2 LIMIT ?"
            rows = conn.execute(sql, (*last, SLICE)).fetchall() if payloads.whole(conn) else []
        if not rows:
            return
        yield rows
        last = rows[-1]


def _strangers(read: Read, write: Write, sums: _Sums, *, mend: bool) -> list[str]:
    """Ids that the index of payloads has though there is no such record, or it says something else."""
    for rows in _noted(read):
        sums.add(rows, -1)
    wrong: list[tuple[str, str]] = []
    for rows in () if sums.all_same() else _noted(read):
        if doubtful := [row for row in rows if sums.differ(row)]:
            with read() as conn:
                fields = payloads.whole(conn)
                tasks = _as_they_are(conn, list({task_id for _, task_id in doubtful}))
            right = {row for task in tasks for row in payloads.rows_of(task, fields)}
            wrong += [row for row in doubtful if row not in right and row[0].rpartition(BETWEEN)[0] in fields]
    if wrong and mend:
        write(lambda conn: conn.executemany(payloads.REMOVE, wrong))
    return list(dict.fromkeys(task_id for _, task_id in wrong))


def _links(read: Read, write: Write, *, mend: bool) -> Miscount:
    """Links of tasks that wait for nobody any more."""
    with read() as conn:
        stale = [words(task_id) for (task_id,) in conn.execute(f"SELECT DISTINCT task_id {_STALE} ORDER BY task_id")]
    if stale and mend:
        write(lambda conn: conn.execute(f"DELETE {_STALE}"))
    return Miscount(kind="link", where=some(stale), count=len(stale), left=0 if mend else len(stale))


def _forgotten(read: Read, now_ms: int) -> tuple[list[str], list[str]]:
    """Shops with lots that nobody would let go when their limit has room, and those lots."""
    with read() as conn:
        shut = switches.shut(conn, now_ms)
        rows = [(words(shop), words(lot)) for shop, lot in conn.execute(_FORGOTTEN)]
    lots = [lot for shop, lot in rows if not listed.at_switch(shut, scopes_of(shop, lot.removeprefix(f"{shop}|")))]
    return list(dict.fromkeys(lot.rpartition("|")[0] for lot in lots)), lots


class Recounting(Part):
    """The call of ``services.ports.Store``."""

    def recount(self, *, mend: bool) -> list[Miscount]:
        """Rows first, for the counters are made of them."""
        found = [*self._rows(mend=mend), *self._tallies(mend=mend), *self._reservations(mend=mend)]
        found += [_links(self._read, self._write, mend=mend), self._waiting(mend=mend)]
        found.append(self.recount_works(mend=mend))
        return [one for one in found if one.count]

    def recount_works(self, *, mend: bool, anew: bool = False) -> Miscount:
        return recount_works.works(self._read, self._write, self.now_ms(), mend=mend, anew=anew)

    def apply(self, ops: Sequence[Op]) -> list[Answer]:
        raise NotImplementedError

    def _waiting(self, *, mend: bool) -> Miscount:
        """Lots that may start but for a limit and that it has forgotten."""
        shops, lots = _forgotten(self._read, self.now_ms())
        if shops and mend:
            self.apply([OpenShop(shop=shop, most=1) for shop in shops])
        return Miscount(kind="waiting", where=some(lots), count=len(lots), left=0 if mend else len(lots))

    def _rows(self, *, mend: bool) -> list[Miscount]:
        wrong: list[str] = []
        sums = _Sums()
        for rows in self._slices():
            tasks: list[Task] = []
            for place, row, data in rows:
                task = readable(data)
                if task is None:  # told among the damage
                    continue
                tasks.append(task)
                if row_of(task, _mark(row[-1])) != row:
                    wrong.append(task.task_id)
                    if mend:
                        self._write(functools.partial(_set_right, place=place))
            late = _deadlines(self._read, self._write, tasks, mend=mend)
            late += _unnoted(self._read, self._write, tasks, sums, mend=mend)
            wrong += [task_id for task_id in late if task_id not in wrong]
        strangers = _strangers(self._read, self._write, sums, mend=mend)
        wrong += [task_id for task_id in strangers if task_id not in wrong]
        return [
            Miscount(kind="index", where=some(wrong), count=len(wrong), left=0 if mend else len(wrong)),
        ]

    def _slices(self) -> Iterator[list[tuple[int, tuple[Any, ...], bytes]]]:
        last = 0
        while True:
            with self._read() as conn:
                sql = f"SELECT rowid, data, {_NAMES} FROM tasks WHERE rowid > ? ORDER BY rowid LIMIT ?"
                rows = [(row[0], tuple(row[2:]), row[1]) for row in conn.execute(sql, (last, SLICE))]
            if not rows:
                return
            yield rows
            last = rows[-1][0]

    def _tallies(self, *, mend: bool) -> list[Miscount]:
        found: list[Miscount] = []
        for table, columns in _TALLIES:
            with self._read() as conn:
                wrong = _wrong_tallies(conn, table, columns)
            if wrong and mend:
                self._write(functools.partial(_count_anew, table=table, columns=columns))
            left = 0 if mend else len(wrong)
            found.append(Miscount(kind="counter", where=some(wrong), count=len(wrong), left=left))
        return found

    def _reservations(self, *, mend: bool) -> list[Miscount]:
        """Those that no opening of a gate can have left: further ahead than any is made, or of a task that goes on. One
        that has run out promises nothing; it is swept away when the next is made.
        """
        now = self.now_ms()
        wrong: list[str] = []
        for table in ("reservations", "limit_reservations"):
            stale = f"""FROM {table} WHERE until > ? OR until > ? AND NOT EXISTS (SELECT 1 FROM tasks
                WHERE tasks.task_id = {table}.task_id
                AND status IN ({", ".join(f"'{status}'" for status in _RESERVABLE)}))"""
            latest = (now + 2 * RESERVATION_MS, now)
            with self._read() as conn:
                found = [words(task_id) for (task_id,) in conn.execute(f"SELECT task_id {stale}", latest)]
            if found and mend:
                self._write(functools.partial(_strike, sql=f"DELETE {stale}", latest=latest))
            wrong += found
        left = 0 if mend else len(wrong)
        return [Miscount(kind="reservation", where=some(wrong), count=len(wrong), left=left)]


def _set_right(conn: sqlite3.Connection, place: int) -> None:
    row = conn.execute("SELECT data, outbox_at FROM tasks WHERE rowid = ?", (place,)).fetchone()
    task = readable(row[0]) if row is not None else None
    if task is not None:
        conn.execute(f"UPDATE tasks SET {_SET} WHERE rowid = ?", (*row_of(task, _mark(row[1])), place))


def _wrong_tallies(conn: sqlite3.Connection, table: str, columns: str) -> list[str]:
    true = f"SELECT {columns}, count(*) AS n FROM tasks GROUP BY {columns}"
    kept = f"SELECT {columns}, n FROM {table} WHERE n <> 0"
    differ = f"SELECT * FROM ({true} EXCEPT {kept}) UNION SELECT * FROM ({kept} EXCEPT {true})"
    rows = conn.execute(f"SELECT DISTINCT {columns} FROM ({differ})")
    return ["|".join(map(str, row)) for row in rows]


def _count_anew(conn: sqlite3.Connection, table: str, columns: str) -> None:
    conn.execute(f"UPDATE {table} SET n = 0")  # what else is noted beside a number stays
    conn.execute(f"""INSERT INTO {table} ({columns}, n) SELECT {columns}, count(*) FROM tasks WHERE true
        GROUP BY {columns} ON CONFLICT DO UPDATE SET n = excluded.n""")


def _strike(conn: sqlite3.Connection, sql: str, latest: tuple[int, int]) -> None:
    conn.execute(sql, latest)


def _mark(stored: object) -> int:
    """The outbox mark; what is none counts as an old one, so that the message is sent again rather than never."""
    return stored if type(stored) is int else 1
