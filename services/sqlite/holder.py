"""Who writes to a SQLite file: its lock names no process, but the system knows who has it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

import msgspec
import psutil

from services.domain.text.said import Said, said

LOCKS = Path("/proc/locks")
#: the byte of the WAL index that a writer locks (https://www.sqlite.org/walformat.html)
WRITE_LOCK = 120


class Holder(msgspec.Struct, frozen=True):
    """A process that has the write lock."""

    pid: int
    name: str
    frozen: bool  #: stopped by a signal or a debugger: it will not let go by itself


class Locked(sqlite3.OperationalError):
    """Another process kept the write lock for longer than one waits; ``holder`` where the system tells who."""

    def __init__(self, text: str, holder: Holder | None) -> None:
        super().__init__(text)
        self.holder = holder


class Waiting(Locked):
    """Another process has kept the write lock for seconds, and it is still waited for."""


class Displaced(sqlite3.OperationalError):
    """The file was moved or removed while it is in use: what was written into it now would be found by nobody."""

    def __init__(self, path: Path, *, replaced: bool) -> None:
        """``replaced``: another file lies in its place."""
        super().__init__(f"{path} is not the file that is in use")
        self.path, self.replaced = path, replaced


def writer_of(path: Path) -> Holder | None:
    """The other process that has the write lock now; None for nobody, or where only Linux would tell.

    By the list of the system: to open the index and ask there would, at its closing, drop the locks that this process
    has on it.
    """
    try:
        place = Path(f"{path}-shm").stat().st_ino
        rows = LOCKS.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    for row in rows:
        words = row.split()
        if len(words) != 8 or words[1:4:2] != ["POSIX", "WRITE"] or words[5].rpartition(":")[2] != str(place):
            continue
        end = WRITE_LOCK if words[7] == "EOF" else int(words[7])
        pid = int(words[4])
        if int(words[6]) <= WRITE_LOCK <= end and pid > 0 and pid != os.getpid():
            return _described(pid)
    return None


#: no room for what is written, and none for what readers and writers share, which whoever opens the file makes anew
_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})


def is_full(exc: BaseException) -> bool:
    """Whether there was no room for what was to be written."""
    return isinstance(exc, sqlite3.Error) and getattr(exc, "sqlite_errorcode", 0) in _FULL


#: the disk took no writes: its errors, and the file or its folder made read-only while it is in use
_UNWRITTEN = frozenset(
    {
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_IOERR_DIR_FSYNC,
        sqlite3.SQLITE_IOERR_TRUNCATE,
        sqlite3.SQLITE_IOERR_DELETE,
        sqlite3.SQLITE_IOERR_SHMOPEN,
    }
)
_REFUSING = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})


def refuses(exc: BaseException) -> bool:
    """Whether it shows of a write that no other will succeed, though what is there may be read."""
    return isinstance(exc, sqlite3.Error) and getattr(exc, "sqlite_errorcode", 0) & 0xFF in _REFUSING


def _is_unwritten(exc: sqlite3.Error) -> bool:
    code = getattr(exc, "sqlite_errorcode", 0)
    return code in _UNWRITTEN or code & 0xFF == sqlite3.SQLITE_READONLY


def sentence(exc: sqlite3.Error) -> Said:
    """Why the file does not answer, and what to do where that is known."""
    if isinstance(exc, Displaced):
        return said("file.replaced" if exc.replaced else "file.moved", path=str(exc.path))
    if is_full(exc):
        return said("file.full")
    if _is_unwritten(exc):
        return said("file.unwritten", error=str(exc))
    if not isinstance(exc, Locked):
        return said("file.silent", error=str(exc))
    held = "file.waits" if isinstance(exc, Waiting) else "file.held"
    if exc.holder is None:
        return said(f"{held}_unknown")
    code = f"{held}_frozen" if exc.holder.frozen else held
    return said(code, pid=exc.holder.pid, name=exc.holder.name)


def _described(pid: int) -> Holder:
    name, frozen = "?", False
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        name = process.name()
        frozen = process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
    return Holder(pid, name, frozen)
