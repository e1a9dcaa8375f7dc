"""Two workers that were given one name, on both pairs."""

from __future__ import annotations

import os
import threading

import pytest

from services.domain.errors import UsageError
from services.domain.fleet.worker import WorkerInfo
from tests.integration.fleet_rig import Fleet

OTHER = WorkerInfo(worker="desk-3", host="far", pid=41)


def test_a_name_under_which_another_process_works_is_refused(fleet: Fleet) -> None:
    store, over = fleet.engine.store, threading.Event()

    def beat() -> None:
        while not over.wait(0.1):
            store.heartbeat(OTHER)

    store.heartbeat(OTHER)
    other = threading.Thread(target=beat)
    other.start()
    try:
        with pytest.raises(UsageError, match="desk-3 works already: process 41 on far") as refused:
            fleet.worker(name="desk-3")
        assert refused.value.field == "worker.name"
        assert [(one.host, one.pid) for one in store.workers()] == [("far", 41)], "it was not written over"
        fleet.worker(name="desk-4")
    finally:
        over.set()
        other.join()


def test_the_name_of_one_that_was_killed_a_moment_ago_is_taken(fleet: Fleet) -> None:
    fleet.engine.store.heartbeat(OTHER)
    worker = fleet.worker(name="desk-3")
    (seen,) = fleet.engine.store.workers()
    assert (seen.worker, seen.pid) == (worker.name, os.getpid())


def test_a_worker_that_leaves_gives_its_name_to_the_next_of_its_process(fleet: Fleet) -> None:
    first = fleet.worker(name="desk-3")
    assert fleet.worker(name="desk-3").name == first.name
