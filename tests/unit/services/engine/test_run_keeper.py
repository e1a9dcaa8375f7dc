"""Who began the last task of each shop is told by notes only where no program can have begun one without them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.domain.change import Claim, Create, Published
from services.domain.fleet.worker import WorkerInfo
from services.domain.task.record import Task
from services.engine.lead.run_keeper import RunKeeper, last_runs
from services.store.sqlite.store import EmbeddedStore


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[EmbeddedStore]:
    with closing(EmbeddedStore(tmp_path / "store.sqlite", clock)) as made:
        yield made


def begin(store: EmbeddedStore, shop: str, worker: str) -> None:
    task_id = f"{shop}-{store.now_ms()}"
    task = Task(task_id=task_id, shop_id=shop, platform="pdd", task_type="work", payload="{}")
    claim = Claim(task_id=task_id, gen=0, attempt=0, owner=f"{worker}#1", worker=worker, lease_ms=1000)
    answers = store.apply([Create(task=task), Published(task_id=task_id, status="pending", gen=0, attempt=0), claim])
    assert answers[-1].code == "run"


def told(store: EmbeddedStore) -> dict[str, str]:
    return {shop: worker for shop, (_, worker) in last_runs(store).items()}


def test_notes_from_before_somebody_looked_who_is_about_are_not_believed(
    store: EmbeddedStore, clock: ManualClock
) -> None:
    begin(store, "s1", "w1")
    assert told(store) == {}
    clock.advance(1)
    RunKeeper(store, clock).tick()
    assert told(store) == {}
    begin(store, "s2", "w2")
    assert told(store) == {"pdd:s2": "w2"}


def test_while_a_worker_of_an_older_program_is_about_none_is_and_after_it_only_later_ones(
    store: EmbeddedStore, clock: ManualClock
) -> None:
    keeper = RunKeeper(store, clock)
    store.heartbeat(WorkerInfo(worker="new", host="h", pid=1, notes_runs=True))
    keeper.tick()
    begin(store, "s1", "new")
    assert told(store) == {"pdd:s1": "new"}
    store.heartbeat(WorkerInfo(worker="old", host="h", pid=2))
    assert told(store) == {}, "at once, before the leader has looked"
    clock.advance(61)
    keeper.tick()
    store.forget_worker("old")
    assert told(store) == {}, "what it began nobody noted"
    clock.advance(61)
    keeper.tick()
    begin(store, "s2", "new")
    assert told(store) == {"pdd:s2": "new"}


def test_a_mark_that_is_none_counts_as_none(store: EmbeddedStore, clock: ManualClock) -> None:
    store.put_document("fleet", "runs_noted", "{")
    begin(store, "s1", "w1")
    assert told(store) == {}
    clock.advance(1)
    RunKeeper(store, clock).tick()
    begin(store, "s2", "w1")
    assert told(store) == {"pdd:s2": "w1"}


def test_a_file_of_before_tells_of_nobody_until_a_task_is_begun(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "store.sqlite"
    with closing(EmbeddedStore(path, clock)) as store:
        begin(store, "s1", "w1")
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("ALTER TABLE shop_tallies DROP COLUMN worker")
        conn.execute("UPDATE meta SET value = value - 1 WHERE key IN ('schema.store', 'writer.store')")
    with closing(EmbeddedStore(path, clock)) as store:
        assert store.last_runs() == {}
        begin(store, "s2", "w2")
        assert {shop: worker for shop, (_, worker) in store.last_runs().items()} == {"pdd:s2": "w2"}
