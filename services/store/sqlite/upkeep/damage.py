"""What cannot be read on SQLite: every row of every table, by what its columns are declared as and by their readers."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import msgspec

from services.domain.errors import UsageError
from services.domain.fleet.shop import Pause, Shop, read_pause, valid_scope
from services.domain.gates.session import ClosedSession
from services.domain.task import own_words, tombstone
from services.domain.task.record import ENCODER, check, decode
from services.domain.task.status import TERMINAL
from services.domain.upkeep.damage import SCHEDULE, WHY_LIMIT, Check, Damage, shown
from services.domain.upkeep.stored import LARGEST
from services.ports import AuditEntry, Letter
from services.store.sqlite.fleet import read_home, read_worker
from services.store.sqlite.gates.breakers import read_breaker
from services.store.sqlite.gates.limits import read_limit
from services.store.sqlite.notes import read_suppressed
from services.store.sqlite.part import Part, store_errors
from services.store.sqlite.schedules import read_schedule
from services.store.unreadable import WRONG

#: tables with a row for each task, which only a deep look reads
_OF_TASKS = frozenset(
    {"tasks", "events", "logs", "letters", "messages", "executed", "tombstones", "dependencies", "works", "work_days"}
)
_OURS = frozenset({"aside", "meta"})
_KINDS: Mapping[str, type] = {"INTEGER": int, "BLOB": bytes, "REAL": float}
Row = Mapping[str, Any]


def _data(read: Callable[[bytes], object]) -> Callable[[Row], object]:
    return lambda row: read(row["data"])


def _typed(kind: type) -> Callable[[Row], object]:
    return _data(msgspec.msgpack.Decoder(kind, strict=False).decode)


def _tomb(row: Row) -> object:
    if tombstone.read("", row["body"]).status not in TERMINAL:
        raise ValueError("it does not say how the task ended")
    return row


def _json(column: str, kind: type) -> Callable[[Row], object]:
    return lambda row: msgspec.json.decode(row[column], type=kind)


#: what their rows are to people, and the columns that name them
_THINGS: Mapping[str, tuple[str, ...]] = {
    "tasks": ("task", "task_id"),
    "letters": ("letter", "task_id"),
    "shops": ("shop", "platform", "shop_id"),
    "limits": ("limit", "scope"),
    "pauses": ("pause", "scope"),
    "sessions": ("session", "shop"),
    "schedules": ("schedule", "name"),
    "breakers": ("breaker", "shop"),
    "homes": ("home", "shop"),
    "workers": ("worker", "worker"),
    "logs": ("log", "task_id"),
    "audit": ("audit", "entry_id"),
    "notes": ("notes", "task_id"),
}
#: beside the kinds of the columns
_READ: Mapping[str, Callable[[Row], object]] = {
    "tasks": lambda row: check(decode(row["data"])),
    "letters": _typed(Letter),
    "shops": _typed(Shop),
    "pauses": lambda row: read_pause(row["data"], row["scope"]),
    "workers": _data(read_worker),
    "sessions": _typed(ClosedSession),
    "audit": _typed(AuditEntry),
    "suppressed": _data(read_suppressed),
    "tombstones": _tomb,
    "homes": lambda row: read_home((row["shop"], row["node"], row["since"])),
    "limits": lambda row: read_limit((row["scope"], row["concurrency"], row["per_minute"])),
    "schedules": lambda row: read_schedule((row["name"], row["body"], row["next_at"], row["version"])),
    "breakers": lambda row: read_breaker(
        (row["shop"], row["outcomes"], row["until"], row["since"], row["times"], row["kind"])
    ),
    "messages": _json("headers", dict[str, Any]),
    "consumers": _json("queues", list[str]),
}


class Damages(Part):
    """The calls of ``services.ports.upkeep``; it knows every table of the file, also those of the broker."""

    def damage(self, check: Check, *, deep: bool) -> list[Damage]:
        """Table by table."""
        found: list[Damage] = []
        with store_errors(self._file.path), closing(self._file.apart()) as conn:
            conn.text_factory = bytes
            known = {(place, ref) for place, ref in conn.execute("SELECT place, ref FROM aside WHERE place = 'audit'")}
            for table in _tables(conn):
                if deep or table not in _OF_TASKS:
                    found += _of_table(conn, table, check)
        return [one for one in found if (one.place.encode(), b"".join(one.ref)) not in known]

    def set_aside(self, found: Sequence[Damage]) -> int:
        """One transaction for all."""
        now = self.now_ms()
        return self._write(lambda conn: sum(_move(conn, one, now) for one in found))


def _tables(conn: sqlite3.Connection) -> list[str]:
    rows = conn.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    names = [name.decode() for (name,) in rows]
    return [name for name in names if name not in _OURS and not name.startswith("sqlite_")]


def _columns(conn: sqlite3.Connection, table: str) -> list[tuple[str, str, bool]]:
    """Name, declared kind, whether it belongs to the key."""
    rows = conn.execute(f"PRAGMA table_info({table})").fetchall()
    return [(_text(row[1]), _text(row[2]).upper(), bool(row[5])) for row in rows]


def _text(word: object) -> str:
    return word.decode() if isinstance(word, bytes) else str(word)


def _of_table(conn: sqlite3.Connection, table: str, check: Check) -> Iterator[Damage]:
    columns = _columns(conn, table)
    keyed = [name for name, _, is_key in columns if is_key]
    names = [name for name, *_ in columns]
    # of a record all columns but its bytes follow from them: repair writes them anew
    asked = [
        (place, name, kind)
        for place, (name, kind, _) in enumerate(columns)
        if table != "tasks" or name in ("task_id", "data")
    ]
    read = _READ.get(table)
    for values in conn.execute(f"SELECT {', '.join(names)} FROM {table}"):
        try:
            row: dict[str, Any] = {name: _read_cell(name, kind, values[place]) for place, name, kind in asked}
            if read is not None:
                read(row)
            if table == "documents":
                check(row["kind"], row["name"], row["body"])
            elif table == "schedules":
                check(SCHEDULE, row["name"], row["body"])
        except (*WRONG, UsageError) as exc:
            raw = dict(zip(names, values, strict=True))
            entry = "|".join(shown(raw[name]) for name in keyed)
            ref = tuple(ENCODER.encode(raw[name]) for name in keyed)
            why = str(exc)[:WHY_LIMIT] or type(exc).__name__
            document = (shown(raw["kind"]), shown(raw["name"])) if table == "documents" else ("", "")
            thing, *named = _THINGS.get(table, ("",))
            yield Damage(
                place=table,
                entry=entry,
                why=why,
                shape="row",
                document=document,
                ref=ref,
                data=_packed_row(raw),
                thing=thing,
                name=":".join(shown(raw[name]) for name in named),
            )


def _read_cell(name: str, kind: str, value: object) -> object:
    if kind == "TEXT" and isinstance(value, bytes):
        return value.decode()
    wanted = _KINDS.get(kind)
    if value is None or (wanted is not None and type(value) is wanted):
        if type(value) is int and abs(value) > LARGEST:
            raise ValueError(f"{name} is too large a number")
        return value
    raise ValueError(f"{name} is no {kind.lower()}")


def _packed_row(raw: Row) -> bytes:
    return ENCODER.encode(dict(raw))


def _move(conn: sqlite3.Connection, one: Damage, now: int) -> int:
    table = one.place
    keyed = [name for name, _, is_key in _columns(conn, table) if is_key]
    values = [msgspec.msgpack.decode(part) for part in one.ref]
    # text came as bytes; a blob that stands in a text column is none
    tests = [f"({name} IS ? OR {name} IS CAST(? AS TEXT))" for name in keyed]
    where = f"FROM {table} WHERE {' AND '.join(tests)}"
    asked = [value for value in values for _ in range(2)]
    if conn.execute(f"SELECT 1 {where}", asked).fetchone() is None:
        return 0
    row = (table, one.entry, now, one.why, b"".join(one.ref), one.data)
    conn.execute("INSERT INTO aside (place, entry, at, why, ref, data) VALUES (?, ?, ?, ?, ?, ?)", row)
    if table != "audit":  # the trail is never shortened
        conn.execute(f"DELETE {where}", asked)
    _instead(conn, table, values, now)
    return 1


def _instead(conn: sqlite3.Connection, table: str, values: Sequence[Any], now: int) -> None:
    """What keeps a gate closed whose row cannot be read: a person opens it."""
    note, by = own_words.write("own.entry_aside"), own_words.REPAIR
    try:
        names = [value.decode() if isinstance(value, bytes) else str(value) for value in values]
    except UnicodeDecodeError:
        return
    if table == "pauses" and valid_scope(names[0]):
        pause = Pause(scope=names[0], by=by, at=now, reason=note)
        conn.execute("INSERT INTO pauses (scope, data) VALUES (?, ?)", (pause.scope, ENCODER.encode(pause)))
    elif table == "sessions":
        closed = ClosedSession(shop=names[0], kind="login_expired", since=now, by=by, note=note)
        conn.execute("INSERT INTO sessions (shop, data) VALUES (?, ?)", (closed.shop, ENCODER.encode(closed)))
