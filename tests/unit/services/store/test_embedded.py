"""What only the embedded store has: a file that lives on, one clock for all, a trimmed feed, errors in our words."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from services.broker.sqlite.broker import EmbeddedBroker
from services.clock import ManualClock
from services.domain.change import Claim, Create, Finish, Op
from services.domain.errors import SchemaTooNew, StoreError, StoreUnavailable, TaskError
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import WorkerInfo
from services.domain.step.transitions import LOOK_AHEAD
from services.domain.task.record import Attempt, Task
from services.ports import AuditEntry, Letter, LogLine, ScheduleEntry
from services.store.sqlite import feed, write
from services.store.sqlite.store import EmbeddedStore

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "fleet.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[EmbeddedStore]:
    opened = EmbeddedStore(path, ManualClock())
    yield opened
    opened.close()


def task(number: int, **fields: object) -> Task:
    base: dict[str, object] = {"task_id": f"t{number}", "shop_id": "s1", "platform": "pdd", "task_type": "sync"}
    return Task(**(base | fields))  # type: ignore[arg-type]


def test_everything_is_there_after_opening_again(path: Path) -> None:
    store = EmbeddedStore(path, ManualClock())
    store.apply([Create(task=task(1))])
    cursor = store.events("", 1, 0).cursor
    store.apply([Create(task=task(2))])
    store.close()
    store.close()
    again = EmbeddedStore(path, ManualClock())
    assert [found and found.task_id for found in again.get(["t1", "t2"])] == ["t1", "t2"]
    batch = again.events(cursor, 10, 0)
    assert ([event.task_id for event in batch.events], batch.gap) == (["t2"], False)
    assert again.counts().status == {"pending": 2}
    again.close()


def test_a_closed_store_is_unavailable(store: EmbeddedStore) -> None:
    store.close()
    with pytest.raises(StoreUnavailable):
        store.apply([Create(task=task(1))])
    with pytest.raises(StoreUnavailable):
        store.get(["t1"])
    assert store.health()[0] is False


def test_the_clock_never_runs_behind_what_is_stored(path: Path) -> None:
    early, late = ManualClock(1_700_000_000_000), ManualClock(1_800_000_000_000)
    first = EmbeddedStore(path, late)
    first.apply([Create(task=task(1))])
    first.close()
    second = EmbeddedStore(path, early)
    assert second.now_ms() == 1_800_000_000_000
    second.apply([Create(task=task(2))])
    (found,) = second.get(["t2"])
    assert found is not None
    assert found.created_at == 1_800_000_000_000
    second.close()


def test_another_process_may_be_ahead(path: Path) -> None:
    one = EmbeddedStore(path, ManualClock(1_700_000_000_000))
    two = EmbeddedStore(path, ManualClock(1_800_000_000_000))
    two.apply([Create(task=task(1))])
    one.apply([Create(task=task(2))])
    (found,) = one.get(["t2"])
    assert found is not None
    assert found.created_at == one.now_ms() == 1_800_000_000_000
    one.close()
    two.close()


def test_a_newer_file_is_refused(path: Path) -> None:
    EmbeddedStore(path, ManualClock()).close()
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE meta SET value = '99' WHERE key IN ('schema.store', 'writer.store')")
    with pytest.raises(SchemaTooNew, match="newer program"):
        EmbeddedStore(path, ManualClock())


def test_what_is_no_database_is_named(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"nonsense " * 1000)
    with pytest.raises(StoreError, match="no database"):
        EmbeddedStore(path, ManualClock())


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="ascii")
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        EmbeddedStore(tmp_path / "file" / "fleet.sqlite", ManualClock())


def test_a_batch_with_nonsense_changes_nothing(store: EmbeddedStore) -> None:
    with pytest.raises(TaskError, match="Op"):
        store.apply([Create(task=task(1)), Op()])
    assert store.counts().total == 0


@pytest.mark.parametrize("fields", [{"payload": "\ud800"}, {"error": "\udcff"}, {"queued_at": 2**70}])
def test_what_cannot_be_kept_is_refused_and_nothing_else(store: EmbeddedStore, fields: dict[str, object]) -> None:
    with pytest.raises(StoreError, match="cannot keep"):
        store.apply([Create(task=task(1, **fields))])
    assert store.counts().total == 0
    assert store.apply([Create(task=task(2))])[0].code == "created"


def test_the_feed_is_trimmed_and_says_so(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "EVENTS_KEPT", 20)
    monkeypatch.setattr(write, "EVENTS_TRIM", 10)
    start = store.events("", 1, 0).cursor
    for number in range(50):
        store.apply([Create(task=task(number))])
    batch = store.events(start, 10, 0)
    assert (batch.gap, batch.events) == (True, ())
    assert batch.cursor == store.events("", 1, 0).cursor
    epoch = start.partition("/")[0]
    recent = store.events(f"{epoch}/35", 100, 0)
    assert (len(recent.events), recent.gap) == (15, False)
    assert store.events(f"{epoch}/51", 1, 0).gap  # from a life of the file that is gone


def test_the_audit_cannot_be_rewritten(store: EmbeddedStore, path: Path) -> None:
    store.append_audit(AuditEntry(entry_id="e1", at=1, who="ann", action="task.cancel"))
    store.close_audit("e1", "done", 2)
    for sql in ("DELETE FROM audit", "UPDATE audit SET outcome = 'other'", "UPDATE audit SET data = x'00'"):
        with closing(sqlite3.connect(path)) as conn, pytest.raises(sqlite3.IntegrityError, match="append-only"):
            conn.execute(sql)


WRITER = """
import sys
from pathlib import Path
from services.clock import SystemClock
from services.domain.change import Create
from services.store.sqlite.store import EmbeddedStore
from tests.unit.services.store.test_embedded import task
store = EmbeddedStore(Path(sys.argv[1]), SystemClock())
for number in range(10_000_000):
    store.apply([Create(task=task(number, shop_id=f"s{number % 9}"))])
    print(number, flush=True)
"""


def test_what_was_answered_survives_a_kill(path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    answered = [int(process.stdout.readline()) for _ in range(200)]
    process.kill()
    answered += [int(line) for line in process.stdout.read().split(b"\n")[:-1]]
    process.stdout.close()
    process.wait()
    store = EmbeddedStore(path, ManualClock())
    assert None not in store.get([f"t{number}" for number in answered])
    assert store.counts().total == store.counts().status["pending"] >= len(answered)
    store.close()
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_where_the_youngest_goes_first_nobody_waits_for_older_ones_of_its_shop(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "fleet.sqlite", ManualClock(), lifo=("low",))
    for lane, waiting in (("low", set()), ("normal", {"blocked"})):
        answers = store.apply(
            [Create(task=task(n, task_id=f"{lane}{n}", lane=lane, shop_id=lane[:3])) for n in range(LOOK_AHEAD + 3)]
        )
        assert {answer.task.status for answer in answers if answer.task} == {"pending"} | waiting
    store.close()


def test_what_another_process_writes_is_heard_also_after_a_rest(
    store: EmbeddedStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "REST_AFTER_S", 0.0)
    with closing(EmbeddedStore(path, ManualClock(), read_only=True)) as other, ThreadPoolExecutor(1) as pool:
        heard = pool.submit(other.events, other.events("", 1, 0.0).cursor, 10, 30.0)  # through a file of its own
        store.apply([Create(task=task(1))])
        assert [event.task_id for event in heard.result(60).events] == ["t1"]


def test_a_column_that_a_newer_program_has_added_is_in_nobody_s_way(path: Path) -> None:
    store, broker = EmbeddedStore(path, ManualClock()), EmbeddedBroker(path, ManualClock())
    with closing(sqlite3.connect(path)) as conn, conn:
        tables = conn.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        for (table,) in tables.fetchall():
            conn.execute(f"ALTER TABLE {table} ADD COLUMN later TEXT NOT NULL DEFAULT 'good'")
    end = Attempt(number=1, worker="w", started_at=1, ended_at=2, outcome="succeeded")
    answers = store.apply([
        Create(task=task(1, uniq="work", payload='{"n": 1}', deadline=2_000_000_000_000)),
        Create(task=task(2, depends_on=("t1",))),
        Claim(task_id="t1", owner="w#1", gen=0, attempt=0, worker="w", lease_ms=1000, home="node"),
        Finish(task_id="t1", owner="w#1", to="succeeded", attempt=end),
    ])  # fmt: skip
    assert [answer.code for answer in answers] == ["created", "created", "run", "ok"]
    store.put_letter(Letter(task_id="t3", body=b"{}"))
    store.mark_executed(["t1"])
    store.append_log("t1", 1, [LogLine(at=1, stream="out", text="a")])
    store.set_pause(Pause(scope="all", by="ann", at=1))
    store.put_home("pdd:s2", "node")
    store.put_document("note", "a", "{}")
    assert store.add_document("note", "b", "{}")
    store.heartbeat(WorkerInfo(worker="w", host="here", pid=1))
    assert store.lead("leader", "w", 1000)
    assert store.put_schedule(ScheduleEntry(name="nightly", body="{}", next_at=1), 0)
    broker.ensure(delays=[30])
    broker.open_shop("pdd", "s1")
    broker.close()
    store.close()
