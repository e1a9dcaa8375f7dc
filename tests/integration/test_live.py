"""The watcher of the fleet: what it cannot read is shown as lost, and it never stops looking."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from services import assembly
from services.monitor.live import Changes, Snapshot
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet


def failing(real: Callable[..., Any], times: int) -> Callable[..., Any]:
    """The first answers are unreadable."""
    left = [times]

    def ask(*args: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise ValueError("not enough values to unpack")
        return real(*args)

    return ask


def test_a_store_that_answers_nonsense_is_lost_and_then_found_again(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = fleet.engine.store
    monkeypatch.setattr(store, "counts", failing(store.counts, 1))
    monkeypatch.setattr(store, "events", failing(store.events, 1))
    live = assembly.live(fleet.engine)
    looks: list[Snapshot] = []
    changes: list[Changes] = []
    live.on_snapshot(looks.append)
    live.on_changes(changes.append)
    live.start()
    try:
        eventually(lambda: looks and looks[-1].store.connected and looks[-1].at_ms, 30)
        assert not looks[0].store.connected
        assert "unpack" in looks[0].store.error
        assert live.wait_following(30.0)
        task_id = fleet.create()
        eventually(lambda: task_id in {event.task_id for batch in changes for event in batch.events}, 30)
    finally:
        live.close()


def test_snapshots_go_on_beside_a_broker_that_does_not_answer(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    real, frozen, thawed = fleet.engine.broker.depths, threading.Event(), threading.Event()

    def depths() -> Any:
        if frozen.is_set():
            thawed.wait(60)
        return real()

    monkeypatch.setattr(fleet.engine.broker, "depths", depths)
    live = assembly.live(fleet.engine)
    looks: list[Snapshot] = []
    live.on_snapshot(looks.append)
    live.start()
    try:
        eventually(lambda: looks and looks[-1].told, 30)
        known = looks[-1].depths
        frozen.set()
        fleet.create()
        eventually(lambda: looks[-1].counts.total == 1 and not looks[-1].told, 30)
        assert looks[-1].depths == known, "what was told last"
        fleet.create("s2")
        eventually(lambda: looks[-1].counts.total == 2, 30)
        assert max(late.taken - early.taken for early, late in pairwise(looks)) < 5
        thawed.set()
        eventually(lambda: looks[-1].told and sum(one.ready for one in looks[-1].depths if one.kind == "lane") == 2, 30)
    finally:
        thawed.set()
        live.close()
