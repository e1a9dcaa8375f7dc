"""Opens the SQLite file of the embedded drivers: place, settings of a connection, schema steps."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import secrets
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import psutil

from services import home_folder
from services.domain.errors import SchemaTooNew, StoreUnavailable
from services.domain.text.said import newer, said
from services.version import VERSION

BUSY_MS = 30_000
NETWORK_TYPES = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afpfs", "webdav", "davfs", "ceph", "fuse.ceph",
    "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "lustre", "vboxsf", "fuse.vmhgfs-fuse",
})  # fmt: skip
#: bytes that are no text would end the reading of every row around them
_TEXT = functools.partial(str, encoding="utf-8", errors="replace")
_TABLE = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)
#: bytes of a path that SQLite opens, with room for the names that it makes of it; Windows has limits of its own
LONGEST = 504
#: more steps than there will ever be
_MOST_STEPS = 10_000
_META = "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"


class Schema(msgspec.Struct, frozen=True):
    """Tables of one driver. Each step is an SQL script that takes it one version further; append, never change one."""

    name: str
    steps: tuple[str, ...]


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection without implicit transactions; whoever has it in hand may use it from any thread.

    ``read_only``: it makes no file and SQLite refuses each statement that would change something.
    """
    conn = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={'rw' if read_only else 'rwc'}",
        uri=True,
        timeout=BUSY_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        if read_only:
            conn.execute("PRAGMA query_only=ON")
        conn.text_factory = _TEXT
        conn.execute("PRAGMA synchronous=FULL")
        conn.execute("PRAGMA temp_store=MEMORY")
        # the system keeps the file's pages too; each of a dozen readers with more of its own only takes more memory
        conn.execute("PRAGMA cache_size=-4096")
    except BaseException:
        conn.close()
        raise
    return conn


def connect_writer(path: Path) -> sqlite3.Connection:
    """The connection of the writer thread: larger cache, rarer checkpoints; waits for locks by itself."""
    conn = connect(path)
    conn.execute("PRAGMA cache_size=-32768")
    conn.execute("PRAGMA wal_autocheckpoint=4000")
    conn.execute("PRAGMA journal_size_limit=67108864")
    conn.execute("PRAGMA busy_timeout=0")
    return conn


def refuse_network(path: Path) -> None:
    """SQLite's locks do not hold on network folders, so two machines would ruin the file.

    Raises:
        StoreUnavailable: the folder lies on another machine.
    """
    if str(path).startswith("\\\\"):
        raise StoreUnavailable(said("file.share", path=str(path)))
    best = ""
    kind = ""
    for part in psutil.disk_partitions(all=True):
        inside = path.is_relative_to(part.mountpoint)
        if inside and len(part.mountpoint) >= len(best):
            best, kind = part.mountpoint, "nfs" if "remote" in part.opts.split(",") else part.fstype.lower()
    if kind in NETWORK_TYPES:
        raise StoreUnavailable(said("file.network", path=str(path), kind=kind))


def settled(path: Path) -> Path:
    """Where the file really lies, also behind links.

    Raises:
        StoreUnavailable: links lead in a circle, or the path is longer than SQLite can have it.
    """
    circle = StoreUnavailable(said("file.cannot_open", path=str(path), error="links lead in a circle"))
    try:
        found = path.resolve()
    except (OSError, RuntimeError) as exc:
        raise circle from exc
    # Python 3.13 gives a circle back as it stands; Path.is_symlink raises where nobody may look
    if os.path.islink(found):  # noqa: PTH114
        raise circle
    if sys.platform != "win32" and (long := len(os.fsencode(found))) > LONGEST:
        raise StoreUnavailable(said("file.long", path=str(found), n=long, most=LONGEST))
    return found


def check_place(path: Path, *, named: Path | None = None, read_only: bool = False) -> None:
    """Refuse what stands in the file's place and is none, and an empty place where a database was before: one that is
    made anew there would hide that everything is lost. ``named``: the link that led here, whose own mark counts too,
    for a link to a disk that is not there leads to an empty place.

    Raises:
        StoreUnavailable: the text says what is there, and what to do.
    """
    try:
        if path.is_dir():
            raise StoreUnavailable(said("file.folder", path=str(path)))
        if path.exists() and not path.is_file():
            raise StoreUnavailable(said("file.no_file", path=str(path)))
        size = path.stat().st_size if path.exists() else -1
        marks = [mark for mark in map(mark_of, dict.fromkeys((path, named or path))) if mark.exists()]
        writable = size < 0 or os.access(path, os.R_OK if read_only else os.R_OK | os.W_OK)
    except OSError as exc:
        raise StoreUnavailable(said("file.cannot_open", path=str(path), error=str(exc.strerror or exc))) from exc
    if marks and size <= 0:
        code = "file.gone" if size < 0 else "file.emptied"
        raise StoreUnavailable(said(code, path=str(path), mark=" and ".join(map(str, marks))))
    if not writable:
        raise StoreUnavailable(said("file.no_right", path=str(path)))
    # what writers share with readers is a file beside it, which whoever comes first makes
    if read_only and size >= 0 and not os.access(path.parent, os.W_OK) and not Path(f"{path}-shm").exists():
        raise StoreUnavailable(said("file.no_place", path=str(path)))


def mark_of(path: Path) -> Path:
    """What remembers that there was a database, beside it."""
    return path.with_name(f"{path.name}.known")


def remember(path: Path, epoch: str) -> None:
    """Note down beside the file that there is one, once; where that cannot be written, nothing is remembered."""
    mark = mark_of(path)
    with contextlib.suppress(OSError):
        if not mark.exists():
            mark.write_text(f"{epoch}\n", encoding="ascii")
            mark.chmod(0o600)


def migrate(path: Path, schema: Schema, begin: Callable[[sqlite3.Connection], None]) -> str:
    """Bring the driver's tables to the present version; returns the epoch id of the file.

    Raises:
        SchemaTooNew: a newer program has been here; ``check`` tells whether it can be read.
    """
    conn = connect(path)
    try:
        _give_back_room(conn)
        _use_wal(conn)
        found = _whole(conn, path, schema)
        if 0 < found < len(schema.steps):
            _back_up(conn, path, schema, found)
        if found < len(schema.steps):
            begin(conn)
            _step(conn, schema)
            conn.execute("COMMIT")
        check_not_newer(conn, path, schema)
        return _epoch(conn, path)
    finally:
        conn.close()


def check(path: Path, schema: Schema) -> str:
    """That a file has the driver's tables as this version reads them, whatever a newer one has added; returns its epoch
    id and changes nothing.

    Raises:
        StoreUnavailable: there is no file, or it must be brought to the present version first.
        SchemaTooNew: a newer program has been here, and left less than this one reads.
    """
    if not path.exists():
        raise StoreUnavailable(said("file.not_there", path=str(path)))
    conn = connect(path, read_only=True)
    try:
        found = _whole(conn, path, schema)
        if found < len(schema.steps):
            raise StoreUnavailable(said("file.too_old", path=str(path)))
        return _epoch(conn, path)
    finally:
        conn.close()


def _give_back_room(conn: sqlite3.Connection) -> None:
    """Let pages that became free be given back to the machine later; a file decides that when it is made."""
    (pages,) = conn.execute("PRAGMA page_count").fetchone()
    if not pages:
        conn.execute("PRAGMA auto_vacuum=INCREMENTAL")


def _use_wal(conn: sqlite3.Connection) -> None:
    """The change needs the file alone for a moment, and SQLite does not wait for that by itself."""
    deadline = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            (mode,) = conn.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError:
            mode = ""
            if time.monotonic() > deadline:
                raise
        if mode == "wal":
            return
        time.sleep(0.005)


def _version(conn: sqlite3.Connection, schema: Schema, kind: str = "schema") -> int:
    known = conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
    if known is None:
        return 0
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (f"{kind}.{schema.name}",)).fetchone()
    if row is None:
        return 0
    try:
        found = int(row[0])
    except (TypeError, ValueError):
        found = -1
    if not 0 < found < _MOST_STEPS or str(found) != str(row[0]):
        file = conn.execute("PRAGMA database_list").fetchone()[2]
        shown = f"{kind}.{schema.name} = {row[0]!r:.40}"
        raise StoreUnavailable(said("file.bad_meta", path=str(file), what=shown))
    return found


def _whole(conn: sqlite3.Connection, path: Path, schema: Schema) -> int:
    """The version whose tables are there, read at one instant: another process may be making them."""
    conn.execute("BEGIN")
    try:
        found = _version(conn, schema)
        _check_whole(conn, path, schema, found)
    finally:
        conn.execute("ROLLBACK")
    return found


def _check_whole(conn: sqlite3.Connection, path: Path, schema: Schema, version: int) -> None:
    """That the tables are there which its version says, and no others of ours.

    Raises:
        StoreUnavailable: the text names what is missing.
    """
    if version > (known := len(schema.steps)):
        if not _columns_of(schema) <= _columns(conn):
            raise SchemaTooNew(said("file.too_new", path=str(path), found=version, known=known))
        return
    names = {str(name) for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    wanted = [name for step in schema.steps[:version] for name in _TABLE.findall(step)]
    missing = [name for name in wanted if name not in names]
    if version == 0 and names & {name for step in schema.steps for name in _TABLE.findall(step)}:
        missing = [f"meta: schema.{schema.name}"]
    if missing:
        raise StoreUnavailable(said("file.lacks", path=str(path), what=", ".join(missing[:5])))
    if version:
        _epoch(conn, path)


def _columns(conn: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    sql = "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'"
    return frozenset(conn.execute(sql))


def _columns_of(schema: Schema) -> frozenset[tuple[str, str]]:
    """Those that this version reads."""
    with contextlib.closing(sqlite3.connect(":memory:")) as conn:
        for script in schema.steps:
            conn.executescript(script)
        return _columns(conn)


def _epoch(conn: sqlite3.Connection, path: Path) -> str:
    row = conn.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
    if row is None or not str(row[0]).isalnum() or not str(row[0]).isascii():
        raise StoreUnavailable(said("file.bad_meta", path=str(path), what="epoch"))
    return str(row[0])


def check_not_newer(conn: sqlite3.Connection, path: Path, schema: Schema) -> None:
    """That a program of this version may write what is in the file.

    Raises:
        SchemaTooNew: a newer program has been here and wants no older one to.
    """
    known = len(schema.steps)
    needed = _version(conn, schema, "writer") or _version(conn, schema)
    if needed > known:
        row = conn.execute("SELECT value FROM meta WHERE key = 'program'").fetchone()
        raise SchemaTooNew(newer(str(path), str(row[0]) if row else "", needed, known))


def _step(conn: sqlite3.Connection, schema: Schema) -> None:
    """Inside a transaction: another process may have done it in between, so look again."""
    conn.execute(_META)
    conn.execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('epoch', ?)", (secrets.token_hex(8),))
    for script in schema.steps[_version(conn, schema) :]:
        for statement in script.split(";\n"):
            if statement.strip():
                conn.execute(statement)
    version = max(len(schema.steps), _version(conn, schema))
    for key, value in ((f"schema.{schema.name}", version), (f"writer.{schema.name}", version), ("program", VERSION)):
        conn.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, str(value)))
    (highest,) = conn.execute("SELECT max(CAST(value AS INTEGER)) FROM meta WHERE key LIKE 'schema.%'").fetchone()
    conn.execute(f"PRAGMA user_version={int(highest)}")


def _back_up(conn: sqlite3.Connection, path: Path, schema: Schema, version: int) -> None:
    copy = path.with_name(f"{path.name}.{schema.name}-v{version}.bak")
    copy.unlink(missing_ok=True)
    home_folder.keep_private(copy)  # all that the file holds stands in it
    conn.execute("VACUUM INTO ?", (str(copy),))
    if conn.execute("PRAGMA auto_vacuum").fetchone()[0] == 0:  # a file of before: it is written anew, once
        with contextlib.suppress(sqlite3.OperationalError):  # somebody works on it: it stays as it is
            conn.execute("PRAGMA busy_timeout=1000")
            conn.execute("PRAGMA auto_vacuum=INCREMENTAL")
            conn.execute("VACUUM")
        conn.execute(f"PRAGMA busy_timeout={BUSY_MS}")
