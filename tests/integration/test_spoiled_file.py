"""A local database that is none any more: one sentence and exit code 3, and never a new one in its place."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from services.cli import program
from tests.integration.cli_rig import ROOT, Cli, configure

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("task", "list"),
    ("stats",),
    ("shop", "list"),
    ("doctor",),
    ("repair",),
    ("task", "create", "--shop", "pdd:s1", "--type", "work"),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose database has a task in it."""
    configure(tmp_path)
    Cli(tmp_path).run("task", "create", "--shop", "pdd:s1", "--type", "work")
    return tmp_path


def database(home: Path) -> Path:
    """The file."""
    (found,) = home.glob("*.sqlite")
    return found


def sql(home: Path, *statements: str) -> None:
    """Change it behind the program's back."""
    with closing(sqlite3.connect(database(home))) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for statement in statements:
            conn.execute(statement)
        conn.commit()


def _emptied(home: Path) -> None:
    for part in home.glob("*.sqlite*"):
        if part.suffix != ".known":
            part.write_bytes(b"")


def _gone(home: Path) -> None:
    for part in home.glob("*.sqlite*"):
        if part.suffix != ".known":
            part.unlink()


def _truncated(home: Path) -> None:
    sql(home)
    path = database(home)
    os.truncate(path, path.stat().st_size // 3)


def _no_database(home: Path) -> None:
    _gone(home)
    (home / "local.sqlite").write_bytes(b"no database at all " * 1000)


def _folder(home: Path) -> None:
    _gone(home)
    (home / "local.sqlite").mkdir()


def _said(*statements: str) -> Callable[[Path], None]:
    return lambda home: sql(home, *statements)


SPOILED: dict[str, tuple[Callable[[Path], None], str]] = {
    "emptied": (_emptied, "is empty, though a database was there"),
    "gone": (_gone, "is gone, though a database was there"),
    "truncated": (_truncated, "local.sqlite is damaged or no database"),
    "no database": (_no_database, "local.sqlite is damaged or no database"),
    "a folder": (_folder, "is a folder"),
    "no epoch": (_said("DELETE FROM meta WHERE key = 'epoch'"), "epoch"),
    "an epoch that is none": (_said("UPDATE meta SET value = '' WHERE key = 'epoch'"), "epoch"),
    "bytes as epoch": (_said("UPDATE meta SET value = x'fffe' WHERE key = 'epoch'"), "epoch"),
    "schema no number": (_said("UPDATE meta SET value = 'abc' WHERE key = 'schema.store'"), "schema.store"),
    "schema huge": (_said(f"UPDATE meta SET value = '{'9' * 40}' WHERE key = 'schema.store'"), "schema.store"),
    "schema negative": (_said("UPDATE meta SET value = '-1' WHERE key = 'schema.store'"), "schema.store"),
    "schema nought": (_said("UPDATE meta SET value = '0' WHERE key = 'schema.broker'"), "schema.broker"),
    "no schema": (_said("DELETE FROM meta WHERE key = 'schema.store'"), "schema.store"),
    "no schema of the broker": (_said("DELETE FROM meta WHERE key = 'schema.broker'"), "schema.broker"),
    "no meta": (_said("DROP TABLE meta"), "meta"),
    "no tasks": (_said("DROP TABLE tasks"), "tasks"),
    "no documents": (_said("DROP TABLE documents"), "documents"),
    "no messages": (_said("DROP TABLE messages"), "messages"),
    "no audit": (_said("DROP TABLE audit"), "audit"),
}


@pytest.mark.parametrize("how", sorted(SPOILED))
def test_one_sentence_and_nothing_new(
    home: Path, how: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil, wanted = SPOILED[how]
    spoil(home)
    monkeypatch.setenv("FLEETDECK_HOME", str(home))
    before = {path.name: path.stat().st_size for path in home.glob("local.sqlite")}
    done = Cli(home).call("worker", "--drain")
    said = {("worker", "--drain"): (done.returncode, done.stdout + done.stderr)}
    for words in COMMANDS:  # in this process, which is sooner
        code = program.run(words, lambda _request: 0)
        said[words] = code, "".join(capsys.readouterr())
    for words, (code, text) in said.items():
        assert code == 3, (words, text)
        assert "Traceback" not in text
        assert wanted in text, (words, text)
    after = {path.name: path.stat().st_size for path in home.glob("local.sqlite")}
    assert after == before, "nothing was made in its place"


def test_a_backup_that_is_put_back_is_taken(home: Path) -> None:
    sql(home)
    kept = home / "kept"
    shutil.copy(database(home), kept)
    _emptied(home)
    assert Cli(home).call("stats").returncode == 3
    for part in home.glob("*.sqlite-*"):
        part.unlink()
    shutil.copy(kept, home / "local.sqlite")
    assert Cli(home).run("stats")["status"] == {"queued": 1}


def test_who_removes_the_mark_begins_anew(home: Path) -> None:
    _gone(home)
    (home / "local.sqlite.known").unlink()
    assert Cli(home).run("stats")["status"] == {}


def test_where_all_of_the_home_was_removed_the_first_command_says_that_it_begins_anew(home: Path) -> None:
    shutil.rmtree(home)
    first, second = Cli(home).call("task", "list"), Cli(home).call("task", "list")
    assert f"there was no database, so an empty one was made: {database(home)}" in first.stderr
    assert (first.returncode, second.returncode, second.stderr) == (0, 0, "")


def test_a_home_of_before_gets_its_mark_when_it_is_opened(home: Path) -> None:
    mark = home / "local.sqlite.known"
    mark.unlink()
    assert Cli(home).run("stats")["status"] == {"queued": 1}
    assert mark.exists()
    assert mark.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_a_file_without_the_right_to_write(home: Path) -> None:
    database(home).chmod(0o400)
    done = Cli(home).call("stats")
    assert (done.returncode, "may not be read and written" in done.stderr) == (3, True), done.stderr


def test_who_only_looks_where_nothing_can_be_written_is_told_the_way_out(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sql(home)
    access = os.access
    monkeypatch.setenv("FLEETDECK_HOME", str(home))
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != home and access(path, mode))  # as root, too
    code = program.run(("--read-only", "stats"), lambda _request: 0)
    said = capsys.readouterr().err
    assert (code, "local.sqlite cannot be looked at" in said, "FLEETDECK_HOME" in said) == (3, True, True), said


def test_a_full_disk(home: Path) -> None:
    """As a limit on the size of a file makes one: no write goes through any more."""

    def limit() -> None:  # the index of the log has room, the log has not
        resource.setrlimit(resource.RLIMIT_FSIZE, (34_000, 34_000))

    words = [sys.executable, str(ROOT / "main.py"), "task", "create", "--shop", "pdd:s2", "--type", "work", "--json"]
    environment = {**os.environ, "FLEETDECK_HOME": str(home)}
    done = subprocess.run(
        words, env=environment, preexec_fn=limit, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 3, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)["error"]
    assert Cli(home).run("stats")["status"] == {"queued": 1}, "what was there is there"


CONFIGURATIONS: dict[str, tuple[bytes, str]] = {
    "nested": (b"a = " + b"[" * 5000 + b"]" * 5000, "nested too deep"),
    "nested tables": (b"a = " + b"{a = " * 5000 + b"1" + b"}" * 5000, "nested too deep"),
    "no text": (b"language = 'en'\ntheme = '\xff\xfe'\n", "line 2"),
    "twice": (b"language = 'en'\nlanguage = 'en'\n", "line 2"),
    "a table twice": (b"[worker]\nslots = 1\n[worker]\nslots = 2\n", "line 3"),
    "another type": (b"[worker]\nslots = 'many'\n", "worker.slots"),
    "a table for a number": (b"[worker]\nslots = {a = 1}\n", "worker.slots"),
    "a number for a table": (b"worker = 5\n", "worker"),
    "huge": (b"# " + b"x" * 2_000_000 + b"\n", "which no configuration needs"),
    "a huge number": (b"[worker]\nslots = " + b"9" * 5000 + b"\n", "config.toml"),
    "endless": (b"[worker]\ngrace_seconds = inf\n", "worker.grace_seconds"),
    "undefined": (b"[worker]\ngrace_seconds = nan\n", "worker.grace_seconds"),
    "a name that steers a terminal": (b'[worker]\nname = "a\\u001b[31mb"\n', "worker.name"),
    "a name of two lines": (b'[worker]\nname = "a\\nb"\n', "worker.name"),
    "a name that turns letters round": (b'[worker]\nname = "a\\u202eb"\n', "worker.name"),
    "a long name": (b'[worker]\nname = "' + b"x" * 5000 + b'"\n', "worker.name"),
}


@pytest.mark.parametrize("how", sorted(CONFIGURATIONS))
def test_a_configuration_that_cannot_be(tmp_path: Path, how: str) -> None:
    text, wanted = CONFIGURATIONS[how]
    (tmp_path / "config.toml").write_bytes(text)
    for words in (("stats",), ("doctor",), ("worker", "--drain")):
        done = Cli(tmp_path).call(*words)
        assert done.returncode == 2, (words, done.stdout, done.stderr[-2000:])
        assert wanted in done.stderr
        assert "config.toml" in done.stderr
        assert "Traceback" not in done.stderr
        assert len(done.stderr) < 3000
        assert "\x1b" not in done.stderr
