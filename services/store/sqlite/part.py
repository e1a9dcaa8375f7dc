"""What every part of the embedded store stands on: the shared file, the clock, and errors in our own words."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from services.clock import Onward
from services.domain.errors import StoreClosed, StoreError, StoreUnavailable
from services.domain.text.said import said
from services.ports import Clock
from services.sqlite.holder import sentence
from services.sqlite.setup import mark_of
from services.sqlite.writer import Closed, SharedFile

T = TypeVar("T")
#: a clock that was set back may be so much behind what it wrote
_AHEAD_MS = 10 * 366 * 86_400_000


class store_errors:
    """Turn SQLite's errors into ours, into ``StoreUnavailable`` what may pass. No generator, as ``_Reading``."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing has happened yet."""

    def __exit__(self, _kind: type[BaseException] | None, exc: BaseException | None, _trace: object) -> None:
        if exc is not None:
            _raise_ours(exc, self._path)


def _raise_ours(exc: BaseException, path: Path) -> None:
    if isinstance(exc, sqlite3.IntegrityError | UnicodeEncodeError | OverflowError):
        raise StoreError(said("file.cannot_keep", error=str(exc))) from exc
    if isinstance(exc, Closed):
        raise StoreClosed(sentence(exc)) from exc
    if isinstance(exc, sqlite3.OperationalError | sqlite3.ProgrammingError):
        raise StoreUnavailable(sentence(exc)) from exc
    if isinstance(exc, sqlite3.Error):  # whoever puts a backup back need not start the workers again
        raise StoreUnavailable(said("file.damaged", path=str(path), mark=str(mark_of(path)), error=str(exc))) from exc


class _Reading:
    """A connection for reading, with our errors. Nearly all that is read is so short that a generator would take as
    long, and dozens of questions are asked each second.
    """

    __slots__ = ("_conn", "_file")

    def __init__(self, file: SharedFile) -> None:
        self._file = file
        self._conn: sqlite3.Connection | None = None

    def __enter__(self) -> sqlite3.Connection:
        try:
            self._conn = conn = self._file.lend()
        except Exception as exc:
            _raise_ours(exc, self._file.path)
            raise
        return conn

    def __exit__(self, _kind: type[BaseException] | None, exc: BaseException | None, _trace: object) -> None:
        try:
            if self._conn is not None:
                self._file.give_back(self._conn)
        except Exception as later:
            _raise_ours(later, self._file.path)
            raise
        if exc is not None:
            _raise_ours(exc, self._file.path)


class Part:
    """Base of the parts; each adds the calls of one concern."""

    def __init__(self, file: SharedFile, epoch: str, clock: Clock) -> None:
        self._file, self._epoch, self._clock = file, epoch, clock
        self._onward = Onward()

    def now_ms(self) -> int:
        """The wall clock, never less than it was nor than what is stored."""
        return self._onward.tell(self._clock.now_ms(), self._clock.monotonic())

    def _now(self, conn: sqlite3.Connection) -> int:
        """The instant of a transaction: another process may have stored a later one."""
        row = conn.execute("SELECT at FROM events ORDER BY id DESC LIMIT 1").fetchone()
        now = self.now_ms()
        # an instant that no clock can have shown would lead all that is written from now on astray
        if row and type(row[0]) is int and now < row[0] < now + _AHEAD_MS:
            return self._onward.tell(row[0], self._clock.monotonic())
        return now

    def _write(self, work: Callable[[sqlite3.Connection], T], wakes: str = "", *, aside: bool = False) -> T:
        with store_errors(self._file.path):
            return self._file.write(work, wakes, aside=aside)

    def _read(self) -> _Reading:
        return _Reading(self._file)


def blobs(rows: Iterable[tuple[object, ...]]) -> Iterator[bytes]:
    """The only column of rows, as bytes whatever stands there."""
    for (data,) in rows:
        yield data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")


def words(stored: object) -> str:
    """A text column as text, whatever stands there."""
    return stored.decode("utf-8", "replace") if isinstance(stored, bytes) else str(stored)
