"""Batches found by a part of their names, and counted where others stand for what was cancelled."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from services.domain.change import Cancel, Create
from services.domain.insight.batch import Chances, replaced
from services.domain.task.record import Task
from services.monitor import batches as module
from services.monitor.batches import KEPT_MS, BatchQueries
from services.monitor.forecast.drain import Raised
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


def test_of_a_batch_with_letters_only_these_are_read(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 2)
    tasks = [
        Task(task_id=f"t{number}", shop_id=f"s{number}", platform="pdd", task_type="work", batch="b")
        for number in range(20)
    ]
    letter = replace(tasks[0], task_id="x", status="dead", triage="republished", successor="t0")
    room.store.apply([Create(task=task) for task in (*tasks, letter)])
    counting = CountingStore(room.store)
    (view,), _after = BatchQueries(counting.port).page(10)
    assert view.counts == {"pending": 20}
    assert counting.spent()["query"] == 1


@pytest.mark.parametrize("number", [3, 5, 6])
def test_a_batch_that_was_cancelled_and_created_again_counts_once_however_large(
    number: int, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PAGE": 2, "MOST": 5, "READ": 20}.items():
        monkeypatch.setattr(module, name, value)
    ids = [f"pdd_work_s{n}_{n}" for n in range(number)]
    tasks = [Task(task_id=one, shop_id=one[9], platform="pdd", task_type="work", batch="B") for one in ids]
    room.store.apply([Create(task=task) for task in tasks])
    room.store.apply([Cancel(task_id=one, by="root@vm") for one in ids])
    room.clock.advance(1)
    again = [replace(task, task_id=f"{task.task_id}a", parent=task.task_id) for task in tasks]
    room.store.apply([Create(task=task) for task in again])
    ask = BatchQueries(room.store)
    assert ask.show("B").counts == {"pending": number}
    read = ask.tasks("B", 5)
    left = {one.task_id for one in read} - {one.task_id for one in replaced(read)}
    assert left >= {one.task_id for one in again[-5:]}
    assert len(left) == min(5, number)


def test_of_more_letters_than_are_looked_at_the_others_are_told_as_not_known(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Letters that live on as others are none of them, and take nobody's place."""
    monkeypatch.setattr(module, "MOST", 4)
    monkeypatch.setattr(module, "PAGE", 2)
    for number in range(7):
        room.dead(shop_id=f"s{number}", batch="nightly")
    for number in range(5):
        letter = room.dead(shop_id=f"old{number}", batch="nightly")
        room.triage(letter.task_id, "archived")
    asked: list[int] = []

    def chances(tasks: Sequence[Task]) -> Chances:
        asked.append(len(tasks))
        return Chances(passes=len(tasks))

    raised: list[str] = []

    def found_raised(batch: str) -> Raised:
        raised.append(batch)
        return Raised()

    queries = BatchQueries(room.store, chances, found_raised)
    ahead = queries.ahead("nightly", retried=True, raised=False)
    assert ahead is not None
    assert (asked, ahead.chances, ahead.raised) == ([4], Chances(passes=4, unknown=3), None)
    assert raised == [], "what nobody is shown is not reckoned"
    ahead = queries.ahead("nightly", retried=False, raised=True)
    assert ahead is not None
    assert (asked, ahead.chances, raised) == ([4], None, ["nightly"])
