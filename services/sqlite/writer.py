"""One SQLite file, shared by the embedded drivers of a process: one writer thread with group commit, pooled readers."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from services import home_folder
from services import log as logs
from services.clock import together
from services.domain.errors import NotAllowed, SchemaTooNew, StoreUnavailable
from services.domain.text.said import said, words_of
from services.sqlite.holder import Displaced, Locked, Waiting, refuses, writer_of
from services.sqlite.setup import (
    BUSY_MS,
    Schema,
    check,
    check_not_newer,
    check_place,
    connect,
    connect_writer,
    migrate,
    refuse_network,
    remember,
    settled,
)

log = logging.getLogger(__name__)
T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
#: a transaction takes in no further job after this time
GROUP_SECONDS = 0.005
#: after this long without a pause the writer lets the other processes have a turn
STREAK_SECONDS, BREATH_SECONDS = 0.025, 0.001
#: a write that waits for the lock for so long is told of
WAITS_SECONDS = 5.0
#: for so long that is believed by who only looks
KEPT_SECONDS = 15.0
#: how often a waiting reader looks whether another process has written
POLL_SECONDS = 0.025
#: answers are kept for so long at most, though nothing was written: a file that was damaged in its place is noticed
ANEW_SECONDS = 10.0
#: so many of them
MOST_KEPT = 32
TOPICS = ("events", "messages")  #: what waiters can be woken for


class Closed(sqlite3.ProgrammingError):
    """The last user of the file has closed it."""


class _Write:
    """Work for the writer thread, and the place where its caller waits."""

    __slots__ = ("_done", "aside", "error", "result", "then", "wakes", "work")

    def __init__(
        self,
        work: Work[Any],
        wakes: str,
        then: Callable[[Any, BaseException | None], None] | None,
        aside: bool,
    ) -> None:
        self.work, self.wakes, self.then, self.aside = work, wakes, then, aside
        self.result: Any = None
        self.error: BaseException | None = None
        self._done = threading.Lock()
        self._done.acquire()

    def settle(self) -> None:
        if self.then is not None:
            self.then(self.result, self.error)
        self._done.release()

    def wait(self) -> Any:
        self._done.acquire()
        if self.error is not None:
            raise self.error
        return self.result


class Wakeup:
    """Tells waiting threads of this process that something of a kind was committed."""

    def __init__(self) -> None:
        self._ringing = threading.Lock()
        self._count = 0
        self._bells: list[threading.Lock] = []  #: of those who wait; a condition does the same in five times the steps

    def seen(self) -> int:
        """The number to give to ``wait``; take it before looking."""
        return self._count

    def ring(self) -> None:
        """Wake everybody."""
        with self._ringing:
            self._count += 1
            bells, self._bells = self._bells, []
        for bell in bells:
            bell.release()

    def wait(self, seen: int, seconds: float) -> bool:
        """Wait until it has rung after ``seen``; tell whether it has."""
        bell = threading.Lock()
        bell.acquire()
        with self._ringing:
            if self._count != seen:
                return True
            self._bells.append(bell)
        if not bell.acquire(timeout=seconds):
            with self._ringing:
                if bell in self._bells:
                    self._bells.remove(bell)
        return self._count != seen


def begin_immediate(conn: sqlite3.Connection) -> None:
    """Take the write lock, waiting for other processes; polls more often than SQLite's own busy handler.

    Raises:
        Held: another process keeps it.
    """
    deadline = time.monotonic() + BUSY_MS / 1000
    pause = 0.0002
    while True:
        try:
            conn.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            if time.monotonic() > deadline:
                raise Locked(str(exc), writer_of(_path(conn))) from exc
            time.sleep(pause)
            pause = min(pause * 1.5, BREATH_SECONDS)
        else:
            return


def _path(conn: sqlite3.Connection) -> Path:
    return Path(conn.execute("PRAGMA database_list").fetchone()[2])


class SharedFile:
    """Writer thread and readers of one file. Get it by ``open_file``, give it back by ``close_file``."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """``read_only``: it has no writer, and whoever wants to write is refused."""
        self.path = path
        self.read_only = read_only
        self.users = 0
        self.schemas: set[Schema] = set()  #: of the drivers that use it
        self._seen: tuple[int, ...] = ()  #: marks of the tables when they were last looked at
        self._wakeups = {topic: Wakeup() for topic in TOPICS}
        self._jobs: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._readers: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = self._stopping = False
        self._streak = 0.0
        self._thread: threading.Thread | None = None
        self._place = _place(path)
        self._log = Path(f"{path}-wal")  #: what was committed lately is only there
        self._log_place: tuple[int, int] | None = None  #: once something was
        self._refused: sqlite3.Error | None = None  #: why the last write failed, as the next one will
        self._failed_at = 0.0  #: since when no write succeeds, monotonic; 0 while they do
        self._asked_at = 0.0  #: since when the write lock is asked for in vain, monotonic; 0 where it is not
        self._asked = read_only  #: whether it was ever asked for, so that this can be told
        self._kept_at = -KEPT_SECONDS  #: when another process was found to keep it, by who has written nothing yet
        self._marking = threading.Lock()
        self._eye: sqlite3.Connection | None = None  #: sees that anybody has written; whoever has ``_marking`` uses it
        self._stamp = self._stamped = 0  #: see ``stamp``; at which version of the file
        self._others = -1  #: version of the file as the writer sees it: only other processes change that
        self._answers: dict[Hashable, tuple[int, float, Any]] = {}  #: with their stamps, and until when they may serve
        if not read_only:
            conn = connect_writer(path)
            name = f"sqlite-writer {path.name}"
            self._thread = threading.Thread(target=self._loop, args=(conn,), name=name, daemon=True)
            self._thread.start()

    @property
    def refusing(self) -> sqlite3.Error | None:
        """Why nothing is written: the disk did not take the last write, or another process has kept the lock for
        seconds. None since something was.
        """
        asked_at = self._asked_at
        if self._refused is None and (self.kept or (asked_at and time.monotonic() - asked_at >= WAITS_SECONDS)):
            return Waiting("database is locked", writer_of(self.path))
        return self._refused

    @property
    def kept(self) -> bool:
        """Whether this process has written nothing yet and another one was found to keep the lock."""
        return not self._asked and time.monotonic() - self._kept_at < KEPT_SECONDS

    def ask(self) -> None:
        """Of a process that has written nothing yet: ask for the write lock, for as long as one waits until it is told
        that another process keeps it. Remembered for a while, for who only looks asks again and again.
        """
        if self._asked or self.kept:
            return
        try:
            with contextlib.closing(connect(self.path, read_only=True)) as conn:
                conn.execute("PRAGMA query_only=OFF")  # opened so, it makes no file where none is any more
                conn.execute(f"PRAGMA busy_timeout={round(WAITS_SECONDS * 1000)}")
                conn.execute("BEGIN IMMEDIATE")
                conn.execute("ROLLBACK")
                self._asked = True
        except sqlite3.Error as exc:  # what else is wrong with it others tell
            if getattr(exc, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                self._kept_at = time.monotonic()

    # ------------------------------------------------------------------ writing
    def write(self, work: Work[T], wakes: str = "", *, aside: bool = False) -> T:
        """Run ``work`` in a transaction of the writer thread and wait until it is committed durably.

        It may share the transaction with other work and is run again if one of the others fails, so it must change
        nothing but the database. ``wakes`` names the topic whose waiters are woken. ``aside``: it changes nothing that
        an ``answer`` tells of, as a sign of life.
        """
        result: T = self._put(_Write(work, wakes, None, aside)).wait()
        return result

    def post(
        self,
        work: Work[T],
        wakes: str,
        then: Callable[[T | None, BaseException | None], None],
        *,
        aside: bool = False,
    ) -> None:
        """Like ``write`` without waiting; ``then`` gets result or error in the writer thread."""
        self._put(_Write(work, wakes, then, aside))

    def _put(self, job: _Write) -> _Write:
        if self.read_only:
            raise NotAllowed(said("file.read_only", path=str(self.path)), field="role")
        with self._lock:
            if self._closed:
                raise Closed(f"{self.path} is closed")
            self._jobs.put(job)
        return job

    def _loop(self, conn: sqlite3.Connection) -> None:
        while not self._stopping and (first := self._first()) is not None:
            self._commit(conn, [first])
        conn.close()

    def _first(self) -> _Write | None:
        try:
            job = self._jobs.get_nowait()
        except queue.Empty:
            job = self._jobs.get()
            self._streak = time.monotonic()
            return job
        if time.monotonic() - self._streak > STREAK_SECONDS:
            time.sleep(BREATH_SECONDS)
            self._streak = time.monotonic()
        return job

    def _commit(self, conn: sqlite3.Connection, group: list[_Write]) -> None:
        """One transaction for all work that waits; a job that fails is taken out and the others are run again."""
        while group:
            done = 0
            try:
                self._check_there()
                self._asked_at, self._asked = self._asked_at or time.monotonic(), True
                _take_back(conn)  # what could not be before
                begin_immediate(conn)
                self._asked_at = 0.0
                changes = conn.total_changes
                self._check_schema(conn)
                for done, job in enumerate(self._growing(group)):  # noqa: B007 - names the job that failed
                    job.result = job.work(conn)
                done = len(group)
                if self._failed_at and conn.total_changes == changes:
                    _write_same(conn)  # a commit of nothing would show nothing of the disk
                conn.execute("COMMIT")
            except BaseException as exc:  # noqa: BLE001 - handed to the caller whose work it was
                with contextlib.suppress(sqlite3.Error):  # without this thread every write would wait for ever
                    _take_back(conn)
                self._note(exc)
                self._fail(group, done, exc)
            else:
                self._log_place = self._log_place or _place(self._log)
                self._tell_back()
                self._mark(conn, aside=all(job.aside for job in group))
                self._settle(group)
                return

    def _mark(self, conn: sqlite3.Connection, *, aside: bool) -> None:
        """Something was committed; ``aside``: that alone would change no answer."""
        with self._marking:
            if aside:
                with contextlib.suppress(sqlite3.Error):  # what was committed stays so, and who reads next is told
                    seen, before = self._look(), self._others
                    self._others = _data_version(conn)
                    if self._others == before:  # no other process has written: what the eye has seen is this commit
                        self._stamped = seen
                        return
            self._stamp += 1

    def _look(self) -> int:
        if self._eye is None:
            self._eye = connect(self.path, read_only=self.read_only)
        return _data_version(self._eye)

    def _check_schema(self, conn: sqlite3.Connection) -> None:
        """A newer program may have changed the tables since they were opened here."""
        marks = ("schema_version", "user_version")
        seen = tuple(conn.execute(f"PRAGMA {mark}").fetchone()[0] for mark in marks)
        if seen != self._seen:
            for schema in tuple(self.schemas):
                check_not_newer(conn, self.path, schema)
            self._seen = seen

    def _note(self, exc: BaseException) -> None:
        if isinstance(exc, sqlite3.Error) and refuses(exc):
            self._refused = exc
        if isinstance(exc, sqlite3.OperationalError):
            self._failed_at = self._failed_at or time.monotonic()
        if not isinstance(exc, Locked):
            self._asked_at = 0.0

    def _tell_back(self) -> None:
        self._refused = None
        if self._failed_at:
            away = round(time.monotonic() - self._failed_at)
            self._failed_at = 0.0
            log.warning("%s takes writes again after %d s", self.path, away, extra=logs.back(StoreUnavailable))

    def _growing(self, group: list[_Write]) -> Iterator[_Write]:
        """The jobs of the group and then those that have come meanwhile."""
        started = time.monotonic()
        yield from group[:]
        while time.monotonic() - started < GROUP_SECONDS and (job := self._waiting()) is not None:
            group.append(job)
            yield job

    def _fail(self, group: list[_Write], done: int, exc: BaseException) -> None:
        """Tell the one that failed, or everybody if it was the commit, and leave the others in the group."""
        failed = group[done : done + 1] or group[:]
        group[:] = [job for job in group if job not in failed]
        for job in failed:
            job.error = exc
            job.settle()

    def _waiting(self) -> _Write | None:
        try:
            job = self._jobs.get_nowait()
        except queue.Empty:
            return None
        self._stopping = job is None
        return job

    def _settle(self, group: list[_Write]) -> None:
        for job in group:
            job.settle()
        for topic in {job.wakes for job in group} - {""}:
            self._wakeups[topic].ring()

    # ------------------------------------------------------------------ reading
    @contextlib.contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """A connection for reading, outside any transaction."""
        conn = self.lend()
        try:
            yield conn
        finally:
            self.give_back(conn)

    def lend(self) -> sqlite3.Connection:
        """The same, for who gives it back."""
        self._check_use()  # a new connection would make a new file
        with self._lock:
            if self._closed:
                raise Closed(f"{self.path} is closed")
            conn = self._readers.pop() if self._readers else None
        return connect(self.path, read_only=self.read_only) if conn is None else conn

    def give_back(self, conn: sqlite3.Connection) -> None:
        """It is needed no more."""
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        with self._lock:
            keep = not self._closed
            if keep:
                self._readers.append(conn)
        if not keep:
            conn.close()

    def _check_there(self) -> None:
        """Open files outlive their names: without a look one would go on with a file that is gone when all close it.

        Raises:
            Displaced: the file is not in its place any more.
        """
        if (now := _place(self.path)) != self._place:
            raise Displaced(self.path, replaced=now is not None)
        if self._log_place is not None and (now := _place(self._log)) != self._log_place:
            raise Displaced(self._log, replaced=now is not None)

    def _check_use(self) -> None:
        """The same for who reads: of a file that was closed this is told, for its log goes with the last who closes it.

        Raises:
            Closed: the last user of the file has closed it.
            Displaced: the file is not in its place any more.
        """
        try:
            self._check_there()
        except Displaced:
            if not self._closed:
                raise
        if self._closed:
            raise Closed(f"{self.path} is closed")

    def stamp(self) -> int:
        """A number that is another one once anybody has written more than what was put aside."""
        self._check_use()
        with self._marking:
            if self._closed:
                raise Closed(f"{self.path} is closed")
            seen = self._look()
            if seen != self._stamped:
                self._stamped = seen
                self._stamp += 1
            return self._stamp

    def answer(
        self, key: Hashable, read: Callable[[sqlite3.Connection], T], still: Callable[[T], bool] | None = None
    ) -> T:
        """What ``read`` tells of one instant: asked anew where anything was written since, where the answer does not
        hold ``still``, and now and then. It must not be changed, for others get it too.
        """
        stamp = self.stamp()  # before it is read: what is written meanwhile has another one
        known, now = self._answers.get(key), time.monotonic()
        if known is not None and known[0] == stamp and now < known[1] and (still is None or still(known[2])):
            found: T = known[2]
            return found
        with self.snapshot() as conn:
            found = read(conn)
        with self._lock:
            if len(self._answers) >= MOST_KEPT:
                self._answers = {one: kept for one, kept in self._answers.items() if kept[0] == stamp and now < kept[1]}
            if len(self._answers) < MOST_KEPT:
                self._answers[key] = stamp, now + ANEW_SECONDS, found
        return found

    def apart(self) -> sqlite3.Connection:
        """A connection for one look of its own, with settings of its own; whoever takes it closes it."""
        self._check_use()
        return connect(self.path, read_only=self.read_only)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A connection whose reads all see the same instant."""
        with self.reader() as conn:
            conn.execute("BEGIN")
            yield conn

    def wait_for(
        self,
        topic: str,
        seconds: float,
        look: Callable[[sqlite3.Connection], T | None],
        *,
        poll_s: float = POLL_SECONDS,
    ) -> T | None:
        """Look until there is something: at once, after each wake-up, and after each write of another process, which is
        seen after ``poll_s`` at the latest.
        """
        deadline = time.monotonic() + seconds
        wakeup = self._wakeups[topic]
        with self.reader() as conn:
            while True:
                seen, version = wakeup.seen(), _data_version(conn)
                found = look(conn)
                if found is not None or not self._sleep(conn, wakeup, (seen, version), deadline, poll_s):
                    return found

    def _sleep(
        self, conn: sqlite3.Connection, wakeup: Wakeup, before: tuple[int, int], deadline: float, poll_s: float
    ) -> bool:
        """Sleep until there may be news since what was seen before; False at the deadline."""
        seen, version = before
        while (left := deadline - time.monotonic()) > 0:
            rung = wakeup.wait(seen, min(left, together(poll_s)))
            if self._closed:
                raise Closed(f"{self.path} is closed")
            if rung or _data_version(conn) != version:
                return True
        return False

    def newer(self) -> str:
        """The sentence that a newer program wrote one of the drivers' tables, "" where none did, or nobody can tell."""
        with self.reader() as conn:
            try:
                for schema in tuple(self.schemas):
                    check_not_newer(conn, self.path, schema)
            except SchemaTooNew as exc:
                return words_of(exc)
            except StoreUnavailable:
                pass
        return ""

    # ------------------------------------------------------------------ the end
    def close(self) -> None:
        """Finish what waits and close every connection."""
        with self._lock:
            self._closed = True
            self._jobs.put(None)
        if self._thread is not None:
            self._thread.join()
        for wakeup in self._wakeups.values():
            wakeup.ring()
        with self._lock:
            readers, self._readers = self._readers, []
        with self._marking:
            eye, self._eye = self._eye, None
        for conn in (*readers, *([eye] if eye is not None else ())):
            conn.close()


def _place(path: Path) -> tuple[int, int] | None:
    """What tells a file from every other, None where there is none. Windows moves and removes no file in use."""
    if sys.platform == "win32":
        return 0, 0
    try:
        found = os.stat(path)  # noqa: PTH116 - asked at every look: half the time of Path.stat
    except OSError:  # also where its folder may not be looked into any more
        return None
    return found.st_dev, found.st_ino


def _take_back(conn: sqlite3.Connection) -> None:
    if conn.in_transaction:
        conn.execute("ROLLBACK")


def _write_same(conn: sqlite3.Connection) -> None:
    """Write a page as it is."""
    conn.execute(f"PRAGMA user_version = {conn.execute('PRAGMA user_version').fetchone()[0]}")


def _data_version(conn: sqlite3.Connection) -> int:
    (version,) = conn.execute("PRAGMA data_version").fetchone()
    return int(version)


_open: dict[tuple[int, Path, bool], SharedFile] = {}
_open_lock = threading.Lock()


def open_file(path: Path, schema: Schema, *, read_only: bool = False) -> tuple[SharedFile, str]:
    """The shared file with the driver's tables in it, and the epoch id of its data; ``read_only``: nothing is made or
    brought to the present version.

    Raises:
        StoreUnavailable: the folder is not on this machine, the file is not what it was, or is gone; read-only: it is
            not there, or an older one.
        SchemaTooNew: a newer program wrote the file.
        sqlite3.Error: the file cannot be opened or is no database.
        OSError: its folder cannot be made.
    """
    named, path = path, settled(path)
    if not read_only:
        home_folder.check_there(named)
        home_folder.check_there(path)
        path.parent.mkdir(parents=True, exist_ok=True)
    refuse_network(path)
    check_place(path, named=named, read_only=read_only)
    if not read_only:
        home_folder.keep_private(path)  # its log and its index get the mode of the file
    with _open_lock:
        epoch = check(path, schema) if read_only else migrate(path, schema, begin_immediate)
        if not read_only:
            for place in dict.fromkeys((path, named)):
                remember(place, epoch)
        key = (os.getpid(), path, read_only)
        file = _open.get(key)
        if file is None:
            file = _open[key] = SharedFile(path, read_only=read_only)
        file.users += 1
        file.schemas.add(schema)
        return file, epoch


def close_file(file: SharedFile) -> None:
    """Give the file back; the last user closes it."""
    with _open_lock:
        file.users -= 1
        if file.users:
            return
        _open.pop((os.getpid(), file.path, file.read_only), None)
    file.close()
