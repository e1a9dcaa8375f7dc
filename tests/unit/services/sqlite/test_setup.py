"""Opening the file: schema steps, too new a schema, what is no database, network folders."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from services.domain.errors import SchemaTooNew, StoreUnavailable
from services.sqlite import setup, writer
from services.sqlite.setup import Schema, migrate, refuse_network
from services.sqlite.writer import begin_immediate

ONE = Schema("part", ("CREATE TABLE a (x INTEGER);\nCREATE INDEX a_x ON a (x);\n",))
TWO = Schema("part", (*ONE.steps, "ALTER TABLE a ADD COLUMN y TEXT NOT NULL DEFAULT ''"))


def ask(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as conn:
        return conn.execute(sql).fetchall()


def test_a_new_file_gets_its_tables_and_an_epoch(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    epoch = migrate(path, ONE, begin_immediate)
    assert len(epoch) == 16
    assert ask(path, "PRAGMA user_version") == [(1,)]
    assert ask(path, "PRAGMA journal_mode") == [("wal",)]
    assert ask(path, "SELECT value FROM meta WHERE key = 'schema.part'") == [("1",)]
    assert migrate(path, ONE, begin_immediate) == epoch


def test_a_later_step_keeps_the_rows_and_a_copy_of_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    epoch = migrate(path, ONE, begin_immediate)
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("INSERT INTO a VALUES (5)")
    assert migrate(path, TWO, begin_immediate) == epoch
    assert ask(path, "SELECT x, y FROM a") == [(5, "")]
    assert ask(path, "PRAGMA user_version") == [(2,)]
    copies = list(tmp_path.glob("*.bak"))
    assert len(copies) == 1
    assert ask(copies[0], "SELECT * FROM a") == [(5,)]
    if os.name == "posix":
        assert copies[0].stat().st_mode & 0o077 == 0, "nobody else may read what the file itself hides"


def test_a_file_gives_room_back(tmp_path: Path) -> None:
    """Also one that was made before that was thought of, once it gets a later step."""
    path, old = tmp_path / "new.sqlite", tmp_path / "old.sqlite"
    migrate(path, ONE, begin_immediate)
    assert ask(path, "PRAGMA auto_vacuum") == [(2,)]
    with closing(sqlite3.connect(old)) as conn, conn:
        conn.execute("CREATE TABLE before_us (x)")
    migrate(old, ONE, begin_immediate)
    assert ask(old, "PRAGMA auto_vacuum") == [(0,)]
    migrate(old, TWO, begin_immediate)
    assert ask(old, "PRAGMA auto_vacuum") == [(2,)]


def test_parts_have_their_own_versions(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    migrate(path, TWO, begin_immediate)
    migrate(path, Schema("other", ("CREATE TABLE b (x)",)), begin_immediate)
    assert dict(ask(path, "SELECT key, value FROM meta WHERE key LIKE 'schema.%'")) == {  # type: ignore[arg-type]
        "schema.part": "2", "schema.other": "1",
    }  # fmt: skip
    assert ask(path, "PRAGMA user_version") == [(2,)]


def test_a_newer_schema_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    migrate(path, TWO, begin_immediate)
    with pytest.raises(SchemaTooNew, match="newer program"):
        migrate(path, ONE, begin_immediate)
    assert ask(path, "PRAGMA user_version") == [(2,)]


def test_a_newer_schema_that_older_programs_may_write_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    migrate(path, TWO, begin_immediate)
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE meta SET value = '1' WHERE key = 'writer.part'")
    assert migrate(path, ONE, begin_immediate) == ask(path, "SELECT value FROM meta WHERE key = 'epoch'")[0][0]
    assert ask(path, "SELECT value FROM meta WHERE key = 'schema.part'") == [("2",)]


def test_a_failing_step_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    migrate(path, ONE, begin_immediate)
    bad = Schema("part", (*ONE.steps, "CREATE TABLE c (x);\nNONSENSE;\n"))
    with pytest.raises(sqlite3.OperationalError):
        migrate(path, bad, begin_immediate)
    assert ask(path, "SELECT count(*) FROM sqlite_master WHERE name = 'c'") == [(0,)]
    migrate(path, TWO, begin_immediate)


def test_what_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    path.write_bytes(b"this is a letter to my aunt " * 100)
    with pytest.raises(sqlite3.DatabaseError):
        migrate(path, ONE, begin_immediate)


@pytest.mark.parametrize(
    ("mount", "kind", "opts", "refused"),
    [
        ("/", "ext4", "rw", False),
        ("/data", "nfs4", "rw", True),
        ("/data", "cifs", "rw", True),
        ("/data", "ext4", "rw", False),
        ("/data", "NTFS", "rw,remote", True),
        ("/other", "nfs4", "rw", False),
    ],
)
def test_network_folders_are_refused(
    monkeypatch: pytest.MonkeyPatch, mount: str, kind: str, opts: str, refused: bool
) -> None:
    parts = [SimpleNamespace(mountpoint="/", fstype="ext4", opts="rw")]
    parts.append(SimpleNamespace(mountpoint=mount, fstype=kind, opts=opts))
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: parts)
    if refused:
        with pytest.raises(StoreUnavailable, match="network"):
            refuse_network(Path("/data/fleet/f.sqlite"))
    else:
        refuse_network(Path("/data/fleet/f.sqlite"))


def test_a_share_of_windows_is_refused() -> None:
    with pytest.raises(StoreUnavailable, match="share"):
        setup.refuse_network(Path("\\\\server\\share\\f.sqlite"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has limits of its own")
def test_a_path_that_sqlite_cannot_have_is_refused_by_its_length(tmp_path: Path) -> None:
    """The longest is opened: the limit that is told is the one there is."""

    def place(length: int) -> Path:
        folder = tmp_path
        while length - len(os.fsencode(folder)) > 220:
            folder /= "店" * 33
        return folder / ("z" * (length - len(os.fsencode(folder)) - len("//f.sqlite"))) / "f.sqlite"

    longest, longer = place(setup.LONGEST), place(setup.LONGEST + 1)
    assert [len(os.fsencode(one)) for one in (longest, longer)] == [504, 505]
    setup.settled(longest).parent.mkdir(parents=True)
    setup.connect(longest).close()
    with pytest.raises(StoreUnavailable, match="505 bytes long, and SQLite opens none above 504"):
        setup.settled(longer)


@pytest.mark.parametrize("make", [setup.connect, setup.connect_writer])
def test_what_is_committed_survives_a_power_cut(tmp_path: Path, make: Callable[[Path], sqlite3.Connection]) -> None:
    """In the mode of the write-ahead log only FULL syncs it at each commit."""
    with closing(make(tmp_path / "fleet.sqlite")) as conn:
        assert conn.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
def test_a_link_to_a_disk_that_is_not_there_is_no_new_database(tmp_path: Path) -> None:
    disk, link = tmp_path / "disk", tmp_path / "local.sqlite"
    disk.mkdir()
    link.symlink_to(disk / "local.sqlite")
    for _ in range(2):
        writer.close_file(writer.open_file(link, ONE)[0])
    shutil.rmtree(disk)
    disk.mkdir()
    with pytest.raises(StoreUnavailable, match=r"is gone, though a database was there.*local\.sqlite\.known"):
        writer.open_file(link, ONE)
    assert not list(disk.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("what", "says"), [("pipe", "a pipe or a device"), ("device", "a pipe or a device"), ("circle", "a circle")]
)
@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_no_file_is_said(tmp_path: Path, what: str, says: str, read_only: bool) -> None:
    path = tmp_path / "local.sqlite"
    if what == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if what == "device" else path)
    with pytest.raises(StoreUnavailable, match=says):
        writer.open_file(path, ONE, read_only=read_only)
