"""Who keeps the write lock of the local file is named, with what to do about it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.domain.errors import StoreUnavailable
from services.domain.fleet.shop import Pause
from services.domain.text.said import words_of
from services.domain.upkeep import health
from services.sqlite import holder
from services.sqlite import writer as shared_file
from services.store.sqlite.store import EmbeddedStore
from tests.support.stopped import stop

WRITES = """
import sqlite3, sys
conn = sqlite3.connect(sys.argv[1], isolation_level=None)
conn.execute("BEGIN IMMEDIATE")
print("has it", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedStore]:
    monkeypatch.setattr(shared_file, "BUSY_MS", 200)
    opened = EmbeddedStore(tmp_path / "f.sqlite", SystemClock())
    yield opened
    opened.close()


@pytest.fixture
def writer(store: EmbeddedStore, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process in the middle of a transaction."""
    words = [sys.executable, "-I", "-S", "-c", WRITES, str(tmp_path / "f.sqlite")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"has it\n"
        yield child
        child.kill()


def refused(store: EmbeddedStore) -> str:
    with pytest.raises(StoreUnavailable) as caught:
        store.set_pause(Pause(scope="all", by="ann"))
    return words_of(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a lock")
def test_a_frozen_writer_is_named(store: EmbeddedStore, writer: subprocess.Popen[bytes]) -> None:
    assert "process " + str(writer.pid) in refused(store)
    assert "frozen" not in refused(store)
    assert "frozen_writer" not in store.facts()
    stop(writer.pid)
    assert f"kill -CONT {writer.pid}" in refused(store)
    (found,) = health.of_store(store.facts(), production=False)
    assert (found.level, found.message.params["pid"]) == ("error", str(writer.pid))
    assert found.remedy is not None
    assert store.pauses() == [], "reading goes on"
    writer.send_signal(signal.SIGCONT)
    writer.kill()
    writer.wait(30)
    store.set_pause(Pause(scope="all", by="ann"))
    assert len(store.pauses()) == 1


def test_where_the_system_does_not_tell_the_remedy_is_told(
    store: EmbeddedStore, writer: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holder, "LOCKS", tmp_path / "none")
    assert "another process has been writing" in refused(store)
    writer.kill()


def test_nobody_writes(store: EmbeddedStore, tmp_path: Path) -> None:
    assert holder.writer_of(tmp_path / "f.sqlite") is None
    assert holder.writer_of(tmp_path / "no such file") is None
