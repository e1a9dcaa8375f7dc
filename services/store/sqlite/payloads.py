"""The index of payload fields: written with the records, asked by filters, built and forgotten in slices."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from services.domain.task.record import Task
from services.domain.task.search.match import is_scan
from services.domain.task.search.payload_match import BETWEEN, asked_of_index, index_terms
from services.domain.task.search.query import PAYLOAD, Term
from services.store.sqlite.part import Part, words
from services.store.unreadable import readable

#: records that one call learns from, and rows that it forgets
SLICE, FORGOTTEN = 500, 5_000
_NAMES = "SELECT name FROM payload_fields WHERE forgotten = 0"
_WHOLE = f"{_NAMES} AND built IS NULL"
_ADD = "INSERT OR IGNORE INTO payload_terms (term, task_id) VALUES (?, ?)"
#: a row, by term and task
REMOVE = "DELETE FROM payload_terms WHERE term = ? AND task_id = ?"


def names(conn: sqlite3.Connection) -> list[str]:
    """The fields of which every new record is noted."""
    return [words(name) for (name,) in conn.execute(_NAMES)]


def whole(conn: sqlite3.Connection) -> list[str]:
    """Those of which every record is noted."""
    return [words(name) for (name,) in conn.execute(_WHOLE)]


def add(conn: sqlite3.Connection, tasks: Sequence[Task]) -> None:
    """Note new records."""
    if fields := names(conn):
        conn.executemany(_ADD, [row for task in tasks for row in rows_of(task, fields)])


def remove(conn: sqlite3.Connection, task: Task) -> None:
    """A record goes."""
    if fields := names(conn):
        conn.executemany(REMOVE, list(rows_of(task, fields)))


def rows_of(task: Task, fields: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What the index should have of a record."""
    return ((term, task.task_id) for term in index_terms(task.payload, fields))


def answered(conn: sqlite3.Connection, terms: Iterable[Term]) -> dict[str, tuple[str, ...]]:
    """By field of the filter, what to look up instead of looking into payloads; a field that is asked twice is left to
    the payloads.
    """
    asked = [term for term in terms if term.field.startswith(PAYLOAD)]
    if not asked:
        return {}
    known = {f"{PAYLOAD}{name}" for name in whole(conn)}
    fields = [term.field for term in asked]
    found = {term.field: asked_of_index(term) for term in asked if term.field in known}
    return {field: terms for field, terms in found.items() if terms is not None and fields.count(field) == 1}


def searched(terms: Iterable[Term], known: Mapping[str, object]) -> tuple[str, ...]:
    """The fields for which records are looked into."""
    return tuple(dict.fromkeys(term.field for term in terms if is_scan(term) and term.field not in known))


class Payloads(Part):
    """The calls of ``services.ports.upkeep.PayloadIndex``."""

    def indexed(self) -> Mapping[str, bool]:
        sql = "SELECT name, built IS NULL FROM payload_fields WHERE forgotten = 0 ORDER BY name"
        with self._read() as conn:
            return {words(name): bool(whole) for name, whole in conn.execute(sql)}

    def index_fields(self, names: Iterable[str]) -> None:
        wanted = msgspec.json.encode(list(names)).decode()

        def work(conn: sqlite3.Connection) -> None:
            listed = "(SELECT value FROM json_each(?))"
            conn.execute(f"UPDATE payload_fields SET forgotten = 1 WHERE name NOT IN {listed}", (wanted,))
            conn.execute(
                "INSERT OR IGNORE INTO payload_fields (name, built, forgotten) SELECT value, 0, 0 FROM json_each(?)",
                (wanted,),
            )

        self._write(work)

    def index_more(self) -> bool:
        with self._read() as conn:
            sql = "SELECT EXISTS (SELECT 1 FROM payload_fields WHERE forgotten OR built IS NOT NULL)"
            (left,) = conn.execute(sql).fetchone()
        return bool(left) and self._write(_go_on)


def _go_on(conn: sqlite3.Connection) -> bool:
    for (name,) in conn.execute("SELECT name FROM payload_fields WHERE forgotten").fetchall():
        start, end = f"{words(name)}{BETWEEN}", f"{words(name)}{chr(ord(BETWEEN) + 1)}"
        some = "SELECT term, task_id FROM payload_terms WHERE term >= ? AND term < ? LIMIT ?"
        rows = conn.execute(some, (start, end, FORGOTTEN)).fetchall()
        conn.executemany(REMOVE, rows)
        if len(rows) < FORGOTTEN:
            conn.execute("DELETE FROM payload_fields WHERE name = ?", (name,))
        return True
    row = conn.execute("SELECT min(built) FROM payload_fields WHERE built IS NOT NULL").fetchone()
    if row is None or row[0] is None:
        return False
    at = row[0]
    fields = [words(name) for (name,) in conn.execute("SELECT name FROM payload_fields WHERE built = ?", (at,))]
    found = conn.execute("SELECT rowid, data FROM tasks WHERE rowid > ? ORDER BY rowid LIMIT ?", (at, SLICE)).fetchall()
    tasks = [task for _, data in found if (task := readable(data)) is not None]
    conn.executemany(_ADD, [row for task in tasks for row in rows_of(task, fields)])
    place = found[-1][0] if len(found) == SLICE else None
    conn.execute("UPDATE payload_fields SET built = ? WHERE built = ?", (place, at))
    return True
