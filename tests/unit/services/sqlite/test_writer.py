"""The shared file: group commit, failures that hit only their own work, readers, waiting, several processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from services.sqlite import writer
from services.sqlite.holder import Displaced, sentence
from services.sqlite.setup import Schema
from services.sqlite.writer import Closed, SharedFile, Wakeup, begin_immediate, close_file, open_file
from tests.contract.waiting import eventually

ROOT = Path(__file__).resolve().parents[4]
SCHEMA = Schema("test", ("CREATE TABLE numbers (n INTEGER NOT NULL)",))


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SharedFile]:
    shared, _ = open_file(tmp_path / "a.sqlite", SCHEMA)
    yield shared
    close_file(shared)


def insert(n: int | None) -> writer.Work[int | None]:
    def work(conn: sqlite3.Connection) -> int | None:
        conn.execute("INSERT INTO numbers VALUES (?)", (n,))
        return n

    return work


def numbers(file: SharedFile) -> list[int]:
    with file.reader() as conn:
        return [n for (n,) in conn.execute("SELECT n FROM numbers ORDER BY n")]


def test_work_is_done_and_answered(file: SharedFile) -> None:
    assert file.write(insert(1)) == 1
    assert numbers(file) == [1]


def test_what_waits_joins_one_transaction(file: SharedFile, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[float] = []

    def begin(conn: sqlite3.Connection) -> None:
        begun.append(time.monotonic())
        begin_immediate(conn)

    monkeypatch.setattr(writer, "begin_immediate", begin)
    gate = threading.Event()
    threads = [threading.Thread(target=lambda: file.write(lambda conn: gate.wait(5)))]
    threads += [threading.Thread(target=lambda: file.write(insert(0))) for _ in range(20)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)  # let them queue up behind the slow one
    gate.set()
    for thread in threads:
        thread.join()
    assert numbers(file) == [0] * 20
    assert len(begun) <= 4


def test_a_writer_that_never_rests_lets_other_processes_have_a_turn(
    file: SharedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for the lock looks now and then, and would find it taken each time."""
    now, takes_s = [0.0], 0.01
    breaths: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=breaths.append)
    monkeypatch.setattr(writer, "time", clock)

    def work(conn: sqlite3.Connection) -> None:
        now[0] += takes_s

    def several() -> None:
        for _ in range(10):
            file.write(work)

    threads = [threading.Thread(target=several) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(breaths) == {writer.BREATH_SECONDS}
    assert len(breaths) <= 200 * takes_s / writer.STREAK_SECONDS, "and wastes no time with it"


def test_a_failure_hits_only_its_own_work(file: SharedFile) -> None:
    gate = threading.Event()
    blocker = threading.Thread(target=lambda: file.write(lambda conn: gate.wait(5)))
    blocker.start()
    outcomes: dict[int, str] = {}

    def ask(n: int) -> None:
        try:
            file.write(insert(None if n % 5 == 0 else n))
            outcomes[n] = "ok"
        except sqlite3.IntegrityError:
            outcomes[n] = "refused"

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    gate.set()
    for thread in [*threads, blocker]:
        thread.join()
    assert {n for n, outcome in outcomes.items() if outcome == "refused"} == {0, 5, 10, 15}
    assert numbers(file) == [n for n in range(20) if n % 5]


def test_an_error_of_another_kind_comes_to_the_caller(file: SharedFile) -> None:
    def fail(conn: sqlite3.Connection) -> None:
        conn.execute("INSERT INTO numbers VALUES (9)")
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        file.write(fail)
    assert file.write(insert(1)) == 1
    assert numbers(file) == [1]


def test_posted_work_reports_after_its_commit(file: SharedFile) -> None:
    heard: list[tuple[int | None, BaseException | None, list[int]]] = []
    done = threading.Event()

    def then(result: int | None, error: BaseException | None) -> None:
        heard.append((result, error, numbers(file)))
        done.set()

    file.post(insert(7), "", then)
    assert done.wait(5)
    assert heard == [(7, None, [7])]
    done.clear()
    file.post(insert(None), "", then)
    assert done.wait(5)
    assert isinstance(heard[1][1], sqlite3.IntegrityError)


def test_one_file_has_one_writer_and_the_last_user_closes_it(tmp_path: Path) -> None:
    first, epoch = open_file(tmp_path / "a.sqlite", SCHEMA)
    second, again = open_file(tmp_path / "." / "a.sqlite", SCHEMA)
    assert (first, epoch) == (second, again)
    close_file(first)
    assert second.write(insert(1)) == 1
    close_file(second)
    with pytest.raises(Closed):
        first.write(insert(2))
    with pytest.raises(Closed), first.reader():
        pass
    third, same = open_file(tmp_path / "a.sqlite", SCHEMA)
    assert third is not first
    assert same == epoch
    assert numbers(third) == [1]
    close_file(third)


def test_what_was_asked_before_the_end_is_done(tmp_path: Path) -> None:
    file, _ = open_file(tmp_path / "a.sqlite", SCHEMA)
    for n in range(500):
        file.post(insert(n), "", lambda result, error: None)
    close_file(file)
    file, _ = open_file(tmp_path / "a.sqlite", SCHEMA)
    assert numbers(file) == list(range(500))
    close_file(file)


def test_a_waiter_is_woken_by_its_topic(file: SharedFile) -> None:
    found: list[list[int]] = []

    def look(conn: sqlite3.Connection) -> list[int] | None:
        return [n for (n,) in conn.execute("SELECT n FROM numbers")] or None

    thread = threading.Thread(target=lambda: found.append(file.wait_for("messages", 10, look) or []))
    thread.start()
    begun = time.monotonic()
    file.write(insert(3), "messages")
    thread.join(10)
    assert found == [[3]]
    assert time.monotonic() - begun < 5
    assert file.wait_for("messages", 0, lambda conn: None) is None


def test_a_waiter_ends_with_the_file(tmp_path: Path) -> None:
    file, _ = open_file(tmp_path / "a.sqlite", SCHEMA)
    ended: list[BaseException] = []

    def wait() -> None:
        try:
            file.wait_for("events", 30, lambda conn: None)
        except Closed as exc:
            ended.append(exc)

    thread = threading.Thread(target=wait)
    thread.start()
    close_file(file)
    thread.join(5)
    assert len(ended) == 1 or not thread.is_alive()


OTHER = """
import sys, time
from pathlib import Path
from tests.unit.services.sqlite.test_writer import SCHEMA
from services.sqlite.writer import open_file, close_file
file, _ = open_file(Path(sys.argv[1]), SCHEMA)
worst, count, end = 0.0, 0, time.monotonic() + float(sys.argv[2])
while not count or time.monotonic() < end:
    begun = time.monotonic()
    file.write(lambda conn: conn.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(200)]))
    worst = max(worst, time.monotonic() - begun)
    count += 1
print(count, worst)
close_file(file)
"""


def start_other(file: SharedFile, seconds: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", OTHER, str(file.path), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)


def test_processes_take_turns(file: SharedFile) -> None:
    others = [start_other(file, 2.0) for _ in range(4)]
    reports = []
    for process in others:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err.decode()
        count, worst = out.split()
        reports.append((int(count), float(worst)))
    assert all(count > 3 for count, _ in reports), reports
    assert len(numbers(file)) == 200 * sum(count for count, _ in reports)


def test_a_writer_in_another_process_is_heard(file: SharedFile) -> None:
    process = start_other(file, 0.0)
    found = file.wait_for("events", 30, lambda conn: conn.execute("SELECT n FROM numbers LIMIT 1").fetchone())
    assert found == (0,)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows moves and removes no file in use")
def test_a_file_that_is_taken_away_is_written_no_more_and_goes_on_when_it_is_back(
    file: SharedFile, caplog: pytest.LogCaptureFixture
) -> None:
    """Open files outlive their names: all that is written into one is gone when it is closed."""
    file.write(insert(1))
    asked = Asked(file)
    asked()
    away = file.path.rename(file.path.with_name("away"))
    for act in (lambda: file.write(insert(2)), lambda: numbers(file), asked):
        with pytest.raises(Displaced) as gone:
            act()
        assert "was moved or removed" in str(sentence(gone.value))
    assert not file.path.exists(), "none was made in its place"
    file.path.write_bytes(b"")
    with pytest.raises(Displaced) as other:
        file.write(insert(2))
    assert "another file was put in the place" in str(sentence(other.value))
    away.replace(file.path)
    assert "takes writes again" not in caplog.text
    file.write(insert(3))
    assert numbers(file) == [1, 3]
    file.write(insert(4))
    assert caplog.text.count("takes writes again") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be taken away there")
def test_without_the_log_of_its_last_commits_a_file_is_written_no_more(file: SharedFile) -> None:
    """Other processes begin a log of their own, and never see what this one goes on to write."""
    file.write(insert(1))
    log = Path(f"{file.path}-wal")
    away = log.rename(log.with_name("away"))
    for act in (lambda: file.write(insert(2)), lambda: numbers(file)):
        with pytest.raises(Displaced) as gone:
            act()
        assert f"{log} was moved or removed" in str(sentence(gone.value))
    log.write_bytes(b"")
    with pytest.raises(Displaced) as other:
        file.write(insert(2))
    assert "another file was put in the place" in str(sentence(other.value))
    away.replace(log)
    file.write(insert(3))
    assert numbers(file) == [1, 3]


def test_of_a_file_that_was_closed_nobody_is_told_that_it_was_taken_away(tmp_path: Path) -> None:
    """The log of its last commits goes with the last who closes it."""
    file, _ = open_file(tmp_path / "closed.sqlite", SCHEMA)
    file.write(insert(1))
    close_file(file)
    for act in (file.stamp, file.apart, Asked(file), lambda: numbers(file), lambda: file.write(insert(2))):
        with pytest.raises(Closed):
            act()


def test_what_cannot_be_taken_back_holds_up_no_later_work(file: SharedFile) -> None:
    """The one thread that writes goes on, whatever a disk says to it."""
    refused: list[str] = []

    def authorize(_action: int, what: str | None, *_rest: str | None) -> int:
        if what == "ROLLBACK" and not refused:
            refused.append(what)
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    def fails(conn: sqlite3.Connection) -> None:
        conn.set_authorizer(authorize)
        conn.execute("INSERT INTO numbers VALUES (7)")
        raise ValueError("spoilt")

    with pytest.raises(ValueError, match="spoilt"):
        file.write(fails)
    assert refused
    done = threading.Event()
    file.post(insert(1), "", lambda _result, _error: done.set())
    assert done.wait(5)
    assert numbers(file) == [1]


def test_a_full_disk_is_told_until_something_is_written_again(file: SharedFile) -> None:
    def pages(most: int) -> writer.Work[object]:
        return lambda conn: conn.execute(f"PRAGMA max_page_count = {most}").fetchone()

    file.write(pages(1))  # SQLite takes the present number instead
    with pytest.raises(sqlite3.OperationalError, match="full") as full:
        file.write(lambda conn: conn.execute("INSERT INTO numbers VALUES (zeroblob(1000000))"))
    assert sentence(full.value).message.code == "file.full"
    file.write(pages(1_000_000))
    assert file.refusing is None


def test_a_disk_that_takes_no_writes_is_told_until_something_is_written_again(file: SharedFile) -> None:
    """What is there is still read, so nothing else shows why no task starts."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE

    def fails(_conn: sqlite3.Connection) -> None:
        raise error

    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        file.write(fails)
    assert numbers(file) == []
    assert file.refusing is error
    assert sentence(error).message.code == "file.unwritten"
    with file.reader() as other:
        before = other.execute("PRAGMA data_version").fetchone()
        file.write(lambda _conn: None)
        assert other.execute("PRAGMA data_version").fetchone() != before, "what changes nothing shows it by a write"
    assert file.refusing is None


def test_no_room_for_what_readers_and_writers_share_is_a_full_disk_too() -> None:
    """So SQLite calls it when the file is opened: it makes that anew."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    assert sentence(error).message.code == "file.full"
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_READ
    assert sentence(error).message.code == "file.silent"
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
    assert sentence(error).message.code == "file.unwritten"


def test_who_only_looks_is_told_of_a_lock_that_another_keeps(file: SharedFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "WAITS_SECONDS", 0.02)
    looks = SharedFile(file.path)
    other = sqlite3.connect(file.path, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        looks.ask()
        why = looks.refusing
        assert why is not None
        assert sentence(why).message.code == "file.waits_unknown"
        other.close()
        monkeypatch.setattr(writer, "KEPT_SECONDS", 0.0)
        looks.ask()
        assert looks.refusing is None
    finally:
        other.close()
        looks.close()


def test_a_lock_that_another_keeps_for_seconds_is_told_until_something_is_written_again(
    file: SharedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "WAITS_SECONDS", 0.02)
    other = sqlite3.connect(file.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    written = threading.Event()
    file.post(insert(1), "", lambda _result, _error: written.set())
    why = eventually(lambda: file.refusing)
    assert why is not None
    assert sentence(why).message.code == "file.waits_unknown"
    assert numbers(file) == [], "what is there can be read"
    other.close()
    assert written.wait(5)
    assert file.refusing is None


class Asked:
    """The numbers in the file, as an answer that is kept, and how often they were read for it."""

    def __init__(self, file: SharedFile) -> None:
        self._file, self.times, self.holds = file, 0, True

    def __call__(self) -> list[int]:
        return self._file.answer("numbers", self._read, lambda _found: self.holds)

    def _read(self, conn: sqlite3.Connection) -> list[int]:
        self.times += 1
        return [n for (n,) in conn.execute("SELECT n FROM numbers ORDER BY n")]


def nothing(_conn: sqlite3.Connection) -> None:
    """A write of something else."""


def test_what_is_asked_again_is_read_again_only_once_something_was_written(file: SharedFile) -> None:
    asked = Asked(file)
    assert [asked(), asked()] == [[], []]
    assert asked.times == 1
    file.write(insert(1))
    assert [asked(), asked()] == [[1], [1]]


def test_a_write_aside_lets_answers_stand(file: SharedFile) -> None:
    asked = Asked(file)
    file.write(nothing, aside=True)
    asked()
    for _ in range(3):
        file.write(lambda conn: conn.execute("CREATE TABLE IF NOT EXISTS signs (n INTEGER)"), aside=True)
        file.write(lambda conn: conn.execute("INSERT INTO signs VALUES (1)"), aside=True)
        asked()
    assert asked.times == 1


@pytest.mark.parametrize("looked", [False, True])
@pytest.mark.parametrize("other", [False, True])
def test_a_write_aside_hides_none_that_came_before(file: SharedFile, other: bool, looked: bool) -> None:
    asked, number = Asked(file), 0
    file.write(nothing, aside=True)
    other_process = sqlite3.connect(file.path)
    for number in range(3):
        asked()
        if looked:
            file.write(lambda conn: conn.execute("CREATE TABLE IF NOT EXISTS signs (n INTEGER)"), aside=True)
        if other:
            other_process.execute("INSERT INTO numbers VALUES (?)", (number,))
            other_process.commit()
        else:
            file.write(insert(number))
        file.write(lambda conn: conn.execute("INSERT OR REPLACE INTO meta VALUES ('sign', '1')"), aside=True)
        assert asked() == list(range(number + 1))
    other_process.close()


def test_an_answer_that_does_not_hold_or_is_old_is_read_again(
    file: SharedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(file)
    asked()
    asked.holds = False
    asked()
    assert asked.times == 2
    asked.holds = True
    asked()
    assert asked.times == 2
    monkeypatch.setattr(writer, "ANEW_SECONDS", 0.0)
    asked.holds = False
    asked()
    asked.holds = True
    asked()
    assert asked.times == 4


def test_answers_end_with_the_file(tmp_path: Path) -> None:
    shared, _ = open_file(tmp_path / "a.sqlite", SCHEMA)
    asked = Asked(shared)
    asked()
    close_file(shared)
    with pytest.raises(Closed):
        asked()


def test_a_ring_wakes_whoever_waits_and_nobody_who_has_not_seen_it_waits() -> None:
    wakeup, seen = Wakeup(), threading.Barrier(3)
    told: list[bool] = []

    def wait() -> None:
        before = wakeup.seen()
        seen.wait(10)
        told.append(wakeup.wait(before, 30.0))

    waiting = [threading.Thread(target=wait) for _ in range(2)]
    for thread in waiting:
        thread.start()
    before = wakeup.seen()
    seen.wait(10)
    wakeup.ring()
    for thread in waiting:
        thread.join(10)
    assert told == [True, True]
    assert wakeup.wait(before, 30.0), "it has rung meanwhile"
    assert not wakeup.wait(wakeup.seen(), 0.001)
    wakeup.ring()
