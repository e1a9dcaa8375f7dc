"""What every part of the embedded store stands on: the shared file, the clock, and errors in our own words."""

from __future__ import annotations

import contextlib
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


@contextlib.contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours; what may pass by itself is ``StoreUnavailable``."""
    try:
        yield
    except (sqlite3.IntegrityError, UnicodeEncodeError, OverflowError) as exc:
        raise StoreError(said("file.cannot_keep", error=str(exc))) from exc
    except Closed as exc:
        raise StoreClosed(sentence(exc)) from exc
    except (sqlite3.OperationalError, sqlite3.ProgrammingError) as exc:
        raise StoreUnavailable(sentence(exc)) from exc
    except sqlite3.Error as exc:  # whoever puts a backup back need not start the workers again
        raise StoreUnavailable(said("file.damaged", path=str(path), mark=str(mark_of(path)), error=str(exc))) from exc


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

    @contextlib.contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with store_errors(self._file.path), self._file.reader() as conn:
            yield conn


def blobs(rows: Iterable[tuple[object, ...]]) -> Iterator[bytes]:
    """The only column of rows, as bytes whatever stands there."""
    for (data,) in rows:
        yield data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")


def words(stored: object) -> str:
    """A text column as text, whatever stands there."""
    return stored.decode("utf-8", "replace") if isinstance(stored, bytes) else str(stored)
