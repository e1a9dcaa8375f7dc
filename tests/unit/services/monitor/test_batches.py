"""Batches found by a part of their names."""

from __future__ import annotations

import pytest

from services.domain.change import Create
from services.domain.task.record import Task
from services.monitor import batches as module
from services.monitor.batches import KEPT_MS, BatchQueries
from tests.support.counting import CountingStore
from tests.unit.services.engine.room import Room


def put(room: Room, *names: str) -> None:
    for name in names:
        room.clock.advance(1)
        task = Task(task_id=f"pdd_work_s1_{name}", shop_id="s1", platform="pdd", task_type="work", batch=name)
        room.store.apply([Create(task=task)])


def test_a_search_that_goes_on_reads_old_names_once_a_minute(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 4)
    put(room, "early", *(f"b{number}" for number in range(14)))
    counting = CountingStore(room.store)
    ask = BatchQueries(counting.port)

    def found(text: str) -> tuple[list[str], bool, int]:
        counting.spent()
        views, more = ask.named(text, 3)
        assert all(view.begun_at for view in views)
        return [view.batch for view in views], more, counting.spent()["batches"]

    assert found("EAR") == (["early"], False, 4)
    assert found("nothing") == ([], False, 1)
    assert found("b1") == (["b13", "b12", "b11"], True, 1)
    put(room, "late", "latest")
    assert found("l") == (["latest", "late", "early"], False, 1)
    put(room, *(f"c{number}" for number in range(9)))
    assert found("late") == (["latest", "late"], False, 7), "all newest ones are new: what is between is not known"
    room.clock.advance(KEPT_MS // 1000 + 1)
    assert found("early") == (["early"], False, 7)
