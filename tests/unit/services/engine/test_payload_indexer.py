"""Which payload fields the store is told to index."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.engine.lead.payload_indexer import MOST, PayloadIndexer
from services.store.sqlite.store import EmbeddedStore


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[EmbeddedStore]:
    made = EmbeddedStore(tmp_path / "fleet.sqlite", clock)
    yield made
    made.close()


def put(store: EmbeddedStore, name: str, *fields: str) -> None:
    store.put_document("type", name, json.dumps({"name": name, "indexed": fields}))


def test_it_follows_what_the_types_name(store: EmbeddedStore, clock: ManualClock) -> None:
    keeper = PayloadIndexer(store, clock)
    keeper.look()
    assert store.indexed() == {}
    put(store, "sync", "order_id")
    put(store, "reply", "order_id", "buyer.id")
    keeper.look()
    assert store.indexed() == {"buyer.id": False, "order_id": False}
    put(store, "reply")
    keeper.look()
    assert store.indexed() == {"order_id": False}


def test_a_type_that_cannot_be_read_takes_no_index_away(store: EmbeddedStore, clock: ManualClock) -> None:
    put(store, "sync", "order_id")
    keeper = PayloadIndexer(store, clock)
    keeper.look()
    store.put_document("type", "sync", "{")
    put(store, "reply", "buyer")
    keeper.look()
    assert set(store.indexed()) == {"buyer", "order_id"}


def test_a_fleet_has_room_for_so_many(store: EmbeddedStore, clock: ManualClock) -> None:
    for number in range(MOST):
        put(store, f"type{number}", f"a{number:02}", f"b{number:02}")
    PayloadIndexer(store, clock).look()
    assert set(store.indexed()) == {f"a{number:02}" for number in range(MOST)}


def test_who_leads_builds_it(store: EmbeddedStore, clock: ManualClock) -> None:
    put(store, "sync", "order_id")
    stop = threading.Event()
    keeper = PayloadIndexer(store, clock)
    thread = threading.Thread(target=keeper.run, args=(stop,))
    thread.start()
    for _ in range(500):
        if store.indexed() == {"order_id": True}:
            break
        clock.advance(0.01)
        thread.join(0.01)
    stop.set()
    clock.advance(10)
    thread.join(5)
    assert store.indexed() == {"order_id": True}
