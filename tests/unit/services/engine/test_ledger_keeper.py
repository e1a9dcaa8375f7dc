"""What ended before there was a ledger is counted once, by whoever leads; again where older programs wrote in it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from services.clock import ManualClock
from services.domain.change import Create
from services.domain.errors import StoreUnavailable
from services.domain.fleet.worker import WorkerInfo
from services.domain.task import ledger
from services.domain.task.record import Task
from services.domain.upkeep.miscount import Miscount
from services.engine.lead.ledger_keeper import LedgerKeeper
from services.store.sqlite.store import EmbeddedStore

WORK, NAME = "4f2c", "store.sqlite"


class Store(EmbeddedStore):
    """Remembers how often it has walked, and whether days anew; ``fails``: it does not answer so often.
    ``stop``: set after a walk.
    """

    fails = 0
    stop: threading.Event | None = None

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.walks: list[bool] = []

    def recount_works(self, *, mend: bool, anew: bool = False) -> Miscount:
        self.walks.append(anew)
        if self.fails:
            self.fails -= 1
            raise StoreUnavailable("nobody answers")
        if self.stop is not None:
            self.stop.set()
        return super().recount_works(mend=mend, anew=anew)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """One of before: three tasks have ended, and no ledger knows of it."""
    with closing(Store(tmp_path / NAME, ManualClock())) as made:
        for number in range(1, 4):
            at = made.now_ms() - number
            task = Task(
                task_id=f"t{number}", shop_id="s1", platform="pdd", task_type="sync_order", payload="{}", uniq=WORK,
                status="succeeded", created_at=at, updated_at=at, ended_at=at, reason="it was moved here",
            )  # fmt: skip
            made.apply([Create(task=task)])
        forget(tmp_path)
        yield made


def forget(folder: Path) -> None:
    with closing(sqlite3.connect(folder / NAME, timeout=30)) as conn, conn:
        conn.execute("DELETE FROM works")
        conn.execute("DELETE FROM work_days")


def known(store: Store) -> int:
    """Ends that the ledger knows."""
    (ran,) = store.ran([WORK])
    return sum(day.count for day in ran.days) if ran else 0


def test_it_is_counted_once(store: Store, tmp_path: Path) -> None:
    assert known(store) == 0
    assert LedgerKeeper(store, ManualClock()).count()
    assert (known(store), store.walks) == (3, [True])
    forget(tmp_path)
    assert LedgerKeeper(store, ManualClock()).count()
    assert (known(store), store.walks) == (0, [True]), "repair is there for that"


def test_a_mark_that_is_none_counts_as_none(store: Store) -> None:
    store.put_document("fleet", "ledger", "{")
    assert LedgerKeeper(store, ManualClock()).count()
    assert known(store) == 3


def test_it_runs_in_a_thread_of_its_own_and_outlives_a_silent_store(
    store: Store, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.fails, store.stop = 2, threading.Event()
    monkeypatch.setattr("services.engine.lead.ledger_keeper.AGAIN_S", 0.0)
    LedgerKeeper(store, ManualClock()).run(store.stop)
    assert (known(store), len(store.walks)) == (3, 3)
    assert caplog.text.count("is not counted yet") == 2


def test_who_no_longer_leads_leaves_it_to_the_next_one(store: Store) -> None:
    stop = threading.Event()
    stop.set()
    LedgerKeeper(store, ManualClock()).run(stop)
    assert store.walks == []


def test_while_a_worker_of_an_older_program_is_about_it_is_not_done(store: Store) -> None:
    keeper, old, new = LedgerKeeper(store, ManualClock()), WorkerInfo(worker="old", host="h", pid=1), "new"
    store.heartbeat(WorkerInfo(worker=new, host="h", pid=2, ledger=ledger.FORM))
    store.heartbeat(old)
    assert not keeper.count()
    assert (known(store), store.walks) == (3, [True]), "what is known is counted at once"
    assert not LedgerKeeper(store, ManualClock()).count()
    assert store.walks == [True], "and not again and again"
    store.forget_worker(old.worker)
    assert LedgerKeeper(store, ManualClock()).count()
    assert store.walks == [True, False], "days are taken apart once"
    assert keeper.count()
    store.heartbeat(old)
    assert not keeper.count()
    store.forget_worker(old.worker)
    assert keeper.count()
    assert store.walks == [True, False, False], "one that came later is looked after too"
