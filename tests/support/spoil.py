"""Spoils a store behind its back: every family of keys or table, every kind of wrong value, and undoes it again."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec
import redis

from services.store.redis import keys

DEEP = b"[" * 5000 + b"]" * 5000
#: what may stand where something else should, by the name of what is wrong with it
VALUES: dict[str, bytes] = {
    "empty": b"",
    "no text": b"\xff\xfe\x80 \xc3(",
    "no JSON": b"{not json",
    "JSON of another shape": b'[1, "two", {"three": null}]',
    "another document": b'{"schema": 999, "version": -7, "something": [true]}',
    "nested deep": DEEP,
    "huge": b"9" * 40,
    "large": str(2**62).encode(),
    "endless": b"inf",
    "undefined": b"nan",
    "negative": b"-5",
    "nothing": b"\xc0",  # nil, as msgpack has it
    "a map": msgspec.msgpack.encode({"scope": 5, "shop": None, "platform": -1, "since": float("inf")}),
    "a list": msgspec.msgpack.encode([1, None, float("nan"), "x"]),
    "a word": b"unheard-of",
}
#: as a column of SQLite holds them
CELLS: dict[str, Any] = {
    "empty": "",
    "no text": b"\xff\xfe\x80",
    "no JSON": "{not json",
    "JSON of another shape": '[1, "two", {"three": null}]',
    "nested deep": DEEP.decode(),
    "huge": 2**62,
    "endless": float("inf"),
    "fraction": 0.5,
    "negative": -5,
    "nothing": None,
    "a map": msgspec.msgpack.encode({"scope": 5, "shop": None, "since": float("inf")}),
    "a word": "unheard-of",
}


@dataclass(frozen=True)
class Spoiled:
    """One thing that was spoiled. ``said``: what the doctor must name."""

    place: str
    entry: str
    how: str

    def __str__(self) -> str:
        return f"{self.place} · {self.entry} · {self.how}"


class Spoiler(Protocol):
    """Of one kind of store."""

    def keep(self) -> None:
        """Remember everything as it is."""

    def restore(self) -> None:
        """Make everything as it was."""

    def targets(self) -> list[str]:
        """What can be spoiled: families of keys, or ``table.column``."""

    def spoil(self, target: str, how: str, rng: random.Random) -> Spoiled | None:
        """Put a wrong value somewhere in it; None where that is no wrong value there."""

    @property
    def hows(self) -> Sequence[str]:
        """The kinds of wrong values."""


def family(name: str) -> str:
    """The family of a key: its name without what there are many of."""
    known = sorted((one for one in vars(keys).values() if isinstance(one, str) and one.startswith(keys.ROOT)), key=len)
    begins = [one for one in known if name == one or (one.endswith(":") and one != keys.ROOT and name.startswith(one))]
    found = begins[-1] if begins else name
    return name if found == keys.DOCUMENTS else found


class RedisSpoiler:
    """Fields of hashes, members of sets, scores, strings, and whole keys of another kind."""

    def __init__(self, url: str, safe: str) -> None:
        self._db = redis.Redis.from_url(url)
        self._safe = safe
        self._kept: dict[bytes, bytes] = {}

    @property
    def hows(self) -> Sequence[str]:
        """Wrong values, a name that is no text, and another kind of key."""
        return (*VALUES, "a name that is no text", "another kind of key")

    def keep(self) -> None:
        """Every key as Redis packs it."""
        self._kept = {name: self._db.dump(name) for name in self._db.scan_iter(count=1000)}

    def restore(self) -> None:
        """Every key as it was, and no other."""
        with self._db.pipeline() as pipe:
            pipe.flushdb()
            for name, packed in self._kept.items():
                pipe.restore(name, 0, packed)
            pipe.execute()

    def targets(self) -> list[str]:
        """Families of the keys that there are."""
        names = (name.decode() for name in self._kept)
        return sorted({family(name) for name in names if name.startswith(keys.ROOT)})

    def keys_of(self, target: str) -> list[bytes]:
        """Keys of a family, without those of the shop that must go on."""
        found = [name for name in self._kept if family(name.decode()) == target]
        return sorted(name for name in found if self._safe.encode() not in name)

    def spoil(self, target: str, how: str, rng: random.Random) -> Spoiled | None:
        """One entry of one key."""
        names = self.keys_of(target)
        if not names:
            return None
        name = rng.choice(names)
        kind = self._db.type(name).decode()
        if how == "another kind of key":
            self._db.delete(name)
            if kind == "string":
                self._db.rpush(name, b"x")
            else:
                self._db.set(name, b"x")
            return Spoiled(name.decode(), "", how)
        if how == "a name that is no text":
            return self._name(name, kind)
        write: dict[str, Callable[[bytes, str, bytes, random.Random], str | None]] = {
            "hash": self._hash,
            "zset": self._zset,
            "string": self._string,
            "list": self._list,
        }
        entry = write[kind](name, how, VALUES[how], rng) if kind in write else None
        return None if entry is None else Spoiled(name.decode(), entry, how)

    def _name(self, name: bytes, kind: str) -> Spoiled | None:
        bad = b"\xff\xfe bad"
        if kind == "hash":
            self._db.hset(name, bad, b"1")
        elif kind == "zset":
            self._db.zadd(name, {bad: 1})
        elif kind == "set":
            self._db.sadd(name, bad)
        else:
            return None
        return Spoiled(name.decode(), "\\xff\\xfe bad", "a name that is no text")

    def _hash(self, name: bytes, how: str, value: bytes, rng: random.Random) -> str | None:
        fields = sorted(field for field in self._db.hkeys(name) if self._safe.encode() not in field)
        if not fields:
            return None
        field = rng.choice(fields)
        self._db.hset(name, field, value)
        return field.decode()

    def _zset(self, name: bytes, how: str, value: bytes, rng: random.Random) -> str | None:
        if how not in ("endless", "negative"):
            return None
        member = rng.choice(self._db.zrange(name, 0, -1))
        self._db.zadd(name, {member: float(value)})
        return member.decode() if how == "endless" else None

    def _string(self, name: bytes, how: str, value: bytes, rng: random.Random) -> str:
        self._db.set(name, value)
        return ""

    def _list(self, name: bytes, how: str, value: bytes, rng: random.Random) -> str:
        self._db.lset(name, 0, value)
        return ""


class SqliteSpoiler:
    """Single cells of every table."""

    def __init__(self, path: Path, safe: str) -> None:
        self._path, self._safe = path, safe
        self._copy = path.with_suffix(".kept")

    @property
    def hows(self) -> Sequence[str]:
        """Wrong values."""
        return tuple(CELLS)

    def keep(self) -> None:
        """The file, without a log beside it."""
        with closing(sqlite3.connect(self._path)) as conn, conn:
            conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        conn.close()
        shutil.copy(self._path, self._copy)

    def restore(self) -> None:
        """The file as it was."""
        for end in ("-wal", "-shm"):
            self._path.with_name(self._path.name + end).unlink(missing_ok=True)
        shutil.copy(self._copy, self._path)

    def targets(self) -> list[str]:
        """Columns of the tables that have rows; what the file says about itself decides whether it can be opened."""
        conn = sqlite3.connect(self._path)
        names = [name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        ours = [name for name in names if not name.startswith("sqlite_") and name not in ("aside", "meta")]
        full = [name for name in ours if conn.execute(f"SELECT 1 FROM {name}").fetchone()]
        found = [f"{name}.{row[1]}" for name in full for row in conn.execute(f"PRAGMA table_info({name})")]
        conn.close()
        return found

    def spoil(self, target: str, how: str, rng: random.Random) -> Spoiled | None:
        """One cell; what the file itself refuses (no value, twice the same key) is no fault that can come to be."""
        table, _, column = target.partition(".")
        conn = sqlite3.connect(self._path)
        conn.text_factory = bytes
        try:
            columns = [row[1].decode() for row in conn.execute(f"PRAGMA table_info({table})")]
            rows = [row for row in conn.execute(f"SELECT * FROM {table}") if not self._is_safe(row)]
            if not rows:
                return None
            row = rng.choice(rows)
            where = " AND ".join(f"({name} IS ? OR {name} IS CAST(? AS TEXT))" for name in columns)
            values = [value for value in row for _ in range(2)]
            if table == "audit":
                conn.execute("DROP TRIGGER IF EXISTS audit_is_closed_once")
            value = CELLS[how]
            if how == "no text" and isinstance(row[columns.index(column)], bytes) and column not in ("data", "body"):
                conn.execute(f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE {where}", [value, *values])
            else:
                conn.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", [value, *values])
            conn.commit()
        except sqlite3.IntegrityError:
            return None
        finally:
            conn.close()
        return Spoiled(table, column, how)

    def _is_safe(self, row: Sequence[Any]) -> bool:
        return any(isinstance(value, bytes) and self._safe.encode() in value for value in row)
