"""Many shops with few questions."""

from __future__ import annotations

import gc

import pytest

from services.domain.fleet.shop import Pause, Shop
from services.domain.insight import shop as insight
from services.domain.task.search.query import Counts
from services.domain.task.status import Status
from services.monitor.live import Live
from services.monitor.shops import now as shops_now
from services.monitor.shops import states
from services.monitor.shops.queries import RAN_BY, ShopQueries
from services.monitor.tasks import TaskQueries
from tests.unit.services.engine.room import Room


def test_each_shop_is_judged_by_its_own_tasks(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shops_now, "SHOPS_AT_ONCE", 2)
    room.finish(room.running(shop_id="s1"), Status.SUCCEEDED)
    room.dead(shop_id="s2")
    room.store.set_pause(Pause(scope="shop:pdd:s3", by="ann"))
    found = TaskQueries(room.store, room.registry).shops_now(["pdd:s1", "pdd:s2", "pdd:s3", "pdd:s4", "pdd:s1"])
    wanted = [insight.LOGGED_IN, insight.LOGGED_OUT, insight.PAUSED, insight.NOT_KNOWN]
    assert [now.access for now in found.values()] == wanted


def test_what_is_as_it_was_is_not_made_again(room: Room) -> None:
    queries = ShopQueries(room.store, room.registry)
    room.finish(room.running(shop_id="s1"), Status.SUCCEEDED)
    first = queries.shops()
    again = queries.shops()
    assert again.rows is first.rows
    assert again.at_ms >= first.at_ms
    assert queries.shops(text="nobody").rows == ()
    room.dead(shop_id="s1")
    assert [row.now.state for row in queries.shops().rows] == [insight.DEAD]


def test_thousands_of_shops_are_nothing_that_a_collection_of_cycles_goes_through(room: Room) -> None:
    """It runs in the thread of the window: twenty objects of each of ten thousand shops would hold that up."""
    shops = [Shop(platform="pdd", shop_id=f"s{number}", tags=("new", f"t{number}")) for number in range(2_000)]
    room.store.put_shops(shops)
    room.registry.forget()
    room.dead(shop_id="s1")
    queries = ShopQueries(room.store, room.registry)
    gc.collect()
    before = len(gc.get_objects())
    rows = queries.shops().rows
    for _ in range(3):  # tuples leave one after the other, from within
        gc.collect()
    assert len(rows) == 2_000
    assert len(gc.get_objects()) - before < 500


def test_who_ran_each_of_many_shops_is_told_and_filtered_by_whoever_of_them_was_busy(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a busy shop did last must not hide who ran the one beside it, however long ago that was."""
    monkeypatch.setattr(states, "ASKED_LAST", 2)
    monkeypatch.setattr(states, "LOOKED_LAST", 1)
    for number in range(3):
        room.finish(room.running(shop_id=f"s{number}"), Status.SUCCEEDED)
    for _ in range(3):
        room.finish(room.running("w2#1", shop_id="s1"), Status.SUCCEEDED)
    room.create(shop_id="s3")
    queries = ShopQueries(room.store, room.registry)
    queries.states.follow(Live(room.store, room.broker, room.clock))
    assert {row.ran_by for row in queries.shops().rows} == {""}, "nobody asked"
    first, again = (queries.shops(telling=[RAN_BY]).rows for _look in range(2))
    told = {row.shop.shop_id: row.ran_by for row in first}
    assert told == {"s0": "w1", "s1": "w2", "s2": "w1", "s3": ""}
    assert first is again, "nothing happened"
    for text, wanted in (("worker:w2", {"s1"}), ("上次执行节点:w1", {"s0", "s2"}), ("-worker:w*", {"s3"})):
        assert {row.shop.shop_id for row in queries.shops(text).rows} == wanted, text
    assert {name: total.number for name, total in queries.within("", "worker").items()} == {"w1": 2, "w2": 1}


def test_tasks_are_counted_only_for_a_filter_that_asks_how_many(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.finish(room.running(platform="corner", shop_id="s1"), Status.SUCCEEDED)
    room.dead(shop_id="s2")
    queries, counts = ShopQueries(room.store, room.registry), room.store.counts
    assert [row.key for row in queries.shops("dead>0").rows] == ["pdd:s2"]
    found, asked = queries.states.look(), list[int]()

    def counted() -> Counts:
        asked.append(1)
        return counts()

    monkeypatch.setattr(queries.states, "look", lambda: found)
    monkeypatch.setattr(room.store, "counts", counted)
    assert [row.key for row in queries.shops("platform:pdd state:dead").rows] == ["pdd:s2"]
    assert [row.key for row in queries.shops("corner:s").rows] == ["corner:s1"], "tasks alone tell of that platform"
    assert not asked
    assert [row.key for row in queries.shops("死信:1").rows] == ["pdd:s2"]
    assert asked
