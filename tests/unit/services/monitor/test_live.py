"""The watcher: events once each and in order, snapshots, and the truth about what does not answer."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from services.clock import SystemClock
from services.domain.errors import StoreUnavailable
from services.domain.fleet.worker import WorkerInfo
from services.domain.task.event import EventBatch
from services.domain.task.order import BrokerHealth
from services.domain.task.search.query import Page, Query
from services.monitor.live import REST_S, SLOW_S, SNAPSHOT_S, Changes, Live, Snapshot, backoff_s
from tests.contract.waiting import eventually
from tests.unit.services.engine.room import Room


class Ears:
    """What the listeners heard."""

    def __init__(self, live: Live) -> None:
        self.changes: list[Changes] = []
        self.snapshots: list[Snapshot] = []
        live.on_changes(self.changes.append)
        live.on_snapshot(self.snapshots.append)

    def moves(self, task_id: str) -> list[str]:
        return [event.to for batch in self.changes for event in batch.events if event.task_id == task_id]


@pytest.fixture
def live(room: Room) -> Iterator[Live]:
    made = Live(room.store, room.broker, SystemClock())
    yield made
    made.close()


def test_every_event_is_told_once_and_in_order(room: Room, live: Live) -> None:
    room.create(shop_id="before")
    ears = Ears(live)
    live.start()
    assert live.wait_following(10)
    task = room.create()
    room.finish(room.claim(task), "succeeded")
    eventually(lambda: ears.moves(task.task_id)[-1:] == ["succeeded"])
    assert ears.moves(task.task_id) == ["pending", "queued", "running", "succeeded"]
    assert all("before" not in event.task_id for batch in ears.changes for event in batch.events)


def test_snapshots_carry_counts_depths_and_workers(room: Room, live: Live) -> None:
    ears = Ears(live)
    room.create()
    live.start()
    eventually(lambda: ears.snapshots and ears.snapshots[-1].counts.status == {"queued": 1})
    found = eventually(lambda: live.snapshot() if live.snapshot().depths else None)
    assert {depth.name: depth.ready for depth in found.depths}["rpa_tasks_normal"] == 1
    assert (found.store.connected, found.leader, found.retry_in_s) == (True, "", 0.0)


def test_the_workers_of_a_snapshot_are_judged_once_at_its_moment_and_anew_later() -> None:
    info = WorkerInfo(worker="w1", host="host", pid=1, seen_at=1_000)
    seen = Snapshot(at_ms=2_000, taken=0.0, workers=(info,))
    assert seen.fleet().living == 1
    assert seen.fleet() is seen.fleet(2_000), "a thousand workers are not judged again for each who asks"
    assert seen.fleet(600_000).living == 0
    later = dataclasses.replace(seen, at_ms=600_000)
    assert later.fleet().living == 0
    assert seen == dataclasses.replace(seen), "what was asked makes no other snapshot of it"


def test_a_silent_store_is_shown_and_comes_back(room: Room, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    live.start()
    eventually(lambda: live.snapshot().at_ms)

    def silent() -> Any:
        raise StoreUnavailable("nobody answers")

    with monkeypatch.context() as patch:
        patch.setattr(room.store, "counts", silent)
        eventually(lambda: not live.snapshot().store.connected)
        assert live.snapshot().store.error == "nobody answers"
        assert live.snapshot().retry_in_s > 0
    live.try_now()
    eventually(lambda: live.snapshot().store.connected)


def test_each_wait_for_a_server_doubles_up_to_half_a_minute_and_no_two_windows_wait_alike() -> None:
    for failures, most_s in enumerate((1, 2, 4, 8, 16, 30, 30)):
        waits = {backoff_s(failures) for _window in range(20)}
        assert len(waits) > 1
        assert 0.8 * most_s <= min(waits) <= max(waits) <= most_s


def test_a_broker_that_goes_while_the_store_is_lost_is_told_before_the_next_try(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.monitor.live.BACKOFF_S", (0.05, 0.05, 60.0))
    live.start()
    eventually(lambda: live.snapshot().at_ms)

    def silent() -> Any:
        raise StoreUnavailable("nobody answers")

    with monkeypatch.context() as patch:
        patch.setattr(room.store, "counts", silent)
        eventually(lambda: live.snapshot().tries == 3)  # it is tried again after most of a minute
        assert live.snapshot().broker.connected
        patch.setattr(room.broker, "health", lambda: BrokerHealth(connected=False, error="gone"))
        eventually(lambda: not live.snapshot().broker.connected)
        assert (live.snapshot().tries, live.snapshot().store.connected) == (3, False)


def test_a_gap_is_told(room: Room, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    ears = Ears(live)
    live.start()
    assert live.wait_following(10)
    real = room.store.events
    told: list[bool] = []

    def events(cursor: str, limit: int, wait_s: float) -> EventBatch:
        if not told and cursor:
            told.append(True)
            return EventBatch(events=(), cursor=real("", 1, 0.0).cursor, gap=True)
        return real(cursor, limit, wait_s)

    monkeypatch.setattr(room.store, "events", events)
    eventually(lambda: sum(batch.gap for batch in ears.changes) > 1)
    task = room.create()
    eventually(lambda: ears.moves(task.task_id))


def test_after_an_outage_of_the_stream_a_gap_is_told(room: Room, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    ears = Ears(live)
    live.start()
    assert live.wait_following(10)
    real = room.store.events
    left = [1]

    def events(cursor: str, limit: int, wait_s: float) -> EventBatch:
        if left[0] and cursor:
            left[0] -= 1
            raise StoreUnavailable("cut")
        return real(cursor, limit, wait_s)

    monkeypatch.setattr(room.store, "events", events)
    eventually(lambda: sum(batch.gap for batch in ears.changes) > 1, 10)


def test_instants_are_those_of_the_store_whatever_this_machine_thinks(room: Room, live: Live) -> None:
    live.start()
    eventually(lambda: live.snapshot().leader == "" and live.snapshot().at_ms)
    room.clock.advance(3600)
    eventually(lambda: abs(live.snapshot().at_ms - room.clock.now_ms()) < 60_000)


def test_a_clock_that_differs_from_that_of_the_store_is_told(room: Room, live: Live) -> None:
    room.clock.advance(3600)
    live.start()
    eventually(lambda: live.snapshot().at_ms)
    surely = abs(room.clock.now_ms() - SystemClock().now_ms())
    assert abs(live.snapshot().skew_ms - surely) < 60_000
    same = Live(room.store, room.broker, room.clock)
    try:
        same.start()
        eventually(lambda: same.snapshot().at_ms)
        assert same.snapshot().skew_ms == 0
    finally:
        same.close()


def test_a_clock_on_the_wall_that_was_set_back_is_told_of_an_engine_on_this_machine_too(room: Room, live: Live) -> None:
    """Its instants do not run backwards: till that clock is there, all times on screen are ahead of it."""
    room.clock.behind_ms = 49 * 60_000
    same = Live(room.store, room.broker, room.clock)
    try:
        same.start()
        eventually(lambda: same.snapshot().at_ms)
        assert same.snapshot().skew_ms == 49 * 60_000
        same.close()  # the clock stands still from now on
        assert same.now_ms() == room.store.now_ms(), "as all that is compared with it"
    finally:
        same.close()


def test_a_store_that_is_lost_in_a_gap_is_followed_again(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    ears = Ears(live)
    live.start()
    assert live.wait_following(10)
    real, ask = room.store.events, room.store.query
    told: list[bool] = []

    def events(cursor: str, limit: int, wait_s: float) -> EventBatch:
        if not told and cursor:
            told.append(True)
            return EventBatch(events=(), cursor=cursor, gap=True)
        return real(cursor, limit, wait_s)

    def query(query: Query) -> Page:
        if told == [True]:
            told.append(True)
            raise StoreUnavailable("nobody answers")
        return ask(query)

    monkeypatch.setattr(room.store, "query", query)
    monkeypatch.setattr(room.store, "events", events)
    eventually(lambda: len(told) > 1)
    eventually(lambda: sum(batch.gap for batch in ears.changes) > 1)
    task = room.create()
    eventually(lambda: ears.moves(task.task_id)[-1:] == ["queued"])


class Hasty(SystemClock):
    """Time passes as it is waited for, unless somebody is woken first; keeps for how long it was to be."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead, self.waits = 0.0, list[float]()

    def monotonic(self) -> float:
        return SystemClock.monotonic() + self.ahead

    def wait(self, event: threading.Event, seconds: float) -> bool:
        self.waits.append(seconds)
        if event.wait(0.005):
            return True
        self.ahead += seconds
        return False


def test_where_nothing_happens_for_a_while_it_looks_less_often_until_something_does(room: Room) -> None:
    hasty = Hasty()
    live = Live(room.store, room.broker, hasty)
    ears = Ears(live)
    live.start()
    try:
        assert live.wait_following(10)
        eventually(lambda: hasty.waits[-3:] == [REST_S] * 3)
        hasty.waits.clear()
        task = room.create()
        eventually(lambda: ears.moves(task.task_id)[-1:] == ["queued"])
        eventually(lambda: ears.snapshots[-1].counts.status == {"queued": 1})
        eventually(lambda: any(SNAPSHOT_S <= one <= SLOW_S for one in hasty.waits))
        eventually(lambda: hasty.waits[-3:] == [REST_S] * 3)
    finally:
        live.close()


def test_that_the_stream_is_cut_is_told_at_once_and_not_with_the_next_look(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Patient(SystemClock):
        """Between two looks it waits until it is woken."""

        def wait(self, event: threading.Event, seconds: float) -> bool:
            return event.wait(60.0 if seconds >= SLOW_S else seconds)

    def silent(*_asked: object) -> Any:
        raise StoreUnavailable("cut")

    live = Live(room.store, room.broker, Patient())
    live.start()
    try:
        assert live.wait_following(10)
        eventually(lambda: live.snapshot().at_ms and live.snapshot().depths)
        monkeypatch.setattr(room.store, "counts", silent)
        monkeypatch.setattr(room.store, "events", silent)
        eventually(lambda: not live.snapshot().store.connected)
    finally:
        live.close()
