"""What a worker shows to a person at another machine ends with the worker, whatever its store does."""

from __future__ import annotations

import threading
from pathlib import Path

from services.clock import ManualClock, SystemClock
from services.domain.fleet import remote
from services.store.sqlite.store import EmbeddedStore
from services.workers.remote import LogShow
from tests.contract.waiting import eventually


def test_a_log_is_shown_no_more_after_its_worker_though_the_store_is_gone(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "fleet.sqlite", ManualClock())
    shown = LogShow(store, SystemClock(), "w-1")
    shown.show(60)
    eventually(lambda: store.documents(remote.LOGS))
    store.close()
    shown.close()
    assert "w-1-log" not in [thread.name for thread in threading.enumerate()]
