"""Outcomes on disk: what was kept comes back whole, once, and nothing else is mistaken for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from services.domain.change import Finish
from services.domain.task.record import Attempt
from services.workers import spool as module
from services.workers.spool import Spool


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "spool" / "a-store"


def op(number: int, **fields: object) -> Finish:
    attempt = Attempt(number=1, worker="w1", started_at=5, ended_at=9, outcome="succeeded")
    known = {"task_id": f"t{number}", "owner": f"w1#{number}", "to": "succeeded", "attempt": attempt}
    return Finish(**(known | fields))  # type: ignore[arg-type]


def left_by_another(folder: Path, *ops: Finish) -> Path:
    """The file of a worker that is no more."""
    spool = Spool(folder)
    spool.keep(ops)
    spool.close()
    (path,) = folder.glob("*.spool")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.suffix for path in folder.iterdir()) if folder.exists() else []


def test_what_was_kept_comes_back_as_it_was(folder: Path) -> None:
    first = op(1, result='{"orders": "три\\n"}')
    second = op(2, to="retrying", delay_ms=30_000, error="no net", error_kind="network", fingerprint="f")
    left_by_another(folder, first, second)
    assert Spool(folder).adopt() == [first, second]


@pytest.mark.skipif(sys.platform == "win32", reason="modes say nothing there")
def test_nobody_else_on_this_machine_reads_it(folder: Path) -> None:
    folder.mkdir(parents=True)  # by somebody whose folders are open
    folder.chmod(0o755)
    before = os.umask(0)
    try:
        path = left_by_another(folder, op(1))
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_a_disk_that_is_full_in_the_middle_of_a_line_spoils_no_other(folder: Path) -> None:
    import resource

    spool = Spool(folder)
    spool.keep([op(1)])
    (path,) = folder.glob("*.spool")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40, hard))
    try:
        spool.keep([op(2)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    spool.keep([op(3)])
    spool.close()
    assert Spool(folder).adopt() == [op(1), op(3)], "the second one waits in memory"


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_a_disk_that_is_full_from_the_beginning_leaves_no_file_that_says_nothing(folder: Path) -> None:
    import resource

    spool = Spool(folder)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        spool.keep([op(1)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(folder.iterdir()) == []
    spool.keep([op(1)])
    spool.close()
    assert Spool(folder).adopt() == [op(1)]


def test_a_file_ends_with_its_last_open_outcome(folder: Path) -> None:
    spool = Spool(folder)
    spool.keep([op(1), op(2)])
    spool.settle(["w1#1"])
    assert names(folder) == [".spool"]
    spool.settle(["w1#2", "unknown"])
    assert names(folder) == []
    spool.keep([op(3)])
    assert names(folder) == [".spool"], "the next silence begins another one"


def test_what_is_kept_is_on_the_disk_before_anybody_counts_on_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut takes what the system has not written: everything in the file was there at the last sync of it."""
    synced: dict[str, int] = {}
    real = os.fsync

    def fsync(number: int) -> None:
        real(number)
        synced[str(Path(f"/proc/self/fd/{number}").readlink())] = os.fstat(number).st_size

    monkeypatch.setattr(os, "fsync", fsync)
    spool = Spool(folder)
    for number in range(3):
        spool.keep([op(number)])
        (path,) = folder.glob("*.spool")
        assert synced[str(path.resolve())] == path.stat().st_size > 0


def test_nobody_takes_what_a_living_worker_is_at(folder: Path) -> None:
    living, other = Spool(folder), Spool(folder)
    living.keep([op(1)])
    assert other.adopt() == []
    living.close()
    assert other.adopt() == [op(1)]
    assert Spool(folder).adopt() == [], "one takes it over"


def test_a_file_of_another_living_process_is_left_alone(folder: Path) -> None:
    path = left_by_another(folder, op(1))
    code = (
        "import sys; from services.executors import process_tree as p; print(p.owner(), flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        number, _, started = child.stdout.readline().decode().strip().partition(":")
        path.rename(folder / f"{number}-{started}-0a.spool")
        assert Spool(folder).adopt() == []
        child.communicate(b"\n")
    assert Spool(folder).adopt() == [op(1)]


def test_an_outcome_is_written_once(folder: Path) -> None:
    left_by_another(folder, op(1))
    spool = Spool(folder)
    spool.adopt()
    spool.keep([op(1), op(2), op(2)][:2])
    spool.keep([op(2)])
    spool.close()
    assert Spool(folder).adopt() in ([op(1), op(2)], [op(2), op(1)])


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_a_line_that_was_not_finished_takes_no_other_with_it(
    folder: Path, cut: int, caplog: pytest.LogCaptureFixture
) -> None:
    path = left_by_another(folder, op(1), op(2))
    path.write_bytes(path.read_bytes()[:-cut])
    spool = Spool(folder)
    found = spool.adopt()
    if cut == 1:  # only its end of line is missing
        assert found == [op(1), op(2)]
        return
    assert found == [op(1)]
    assert "1 of 2 outcomes" in caplog.text
    spool.settle(["w1#1"])
    assert names(folder) == [".aside"], "kept for a person"


def test_a_changed_byte_is_noticed(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = left_by_another(folder, op(1), op(2))
    path.write_bytes(path.read_bytes().replace(b'"t1"', b'"t9"'))
    assert Spool(folder).adopt() == [op(2)]
    assert "1 of 2 outcomes" in caplog.text


@pytest.mark.parametrize("kind", ["foreign", "nonsense", "empty", "binary"])
def test_what_is_no_spool_of_this_store_is_set_aside(folder: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    path = left_by_another(folder, op(1))
    if kind == "foreign":
        other = folder.with_name("b-store")
        left_by_another(other, op(1)).rename(path)
    else:
        path.write_bytes({"nonsense": b"hello\n", "empty": b"", "binary": bytes(range(256)) * 9}[kind])
    assert Spool(folder).adopt() == []
    assert names(folder) == [".aside"]
    assert "set aside" in caplog.text
    assert Spool(folder).adopt() == []


def test_it_grows_to_its_limit_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "LIMIT", 2_000)
    spool = Spool(folder)
    for number in range(50):
        spool.keep([op(number)])
    (path,) = folder.glob("*.spool")
    assert path.stat().st_size <= 2_000
    assert caplog.text.count("wait in memory only") == 1
    spool.close()
    kept = Spool(folder).adopt()
    assert kept == [op(number) for number in range(len(kept))]
    assert kept


def test_a_disk_that_takes_nothing_is_told_and_stops_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("not a folder")
    spool = Spool(tmp_path / "file" / "a-store")
    spool.keep([op(1)])
    spool.settle(["w1#1"])
    assert spool.adopt() == []
    assert "wait in memory only" in caplog.text
