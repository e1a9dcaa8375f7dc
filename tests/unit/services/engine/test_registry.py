"""Task types and shops, read now and then and kept while the store is silent."""

from __future__ import annotations

import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.domain.errors import StoreUnavailable
from services.domain.fleet import shop_queue
from services.domain.fleet.shop import Shop
from services.domain.fleet.shop_queue import ShopQueue
from services.domain.types import task_type
from services.engine.registry import REFRESH_S
from tests.contract.waiting import PATIENCE_S
from tests.unit.services.engine.room import Room


def test_a_type_nobody_defined_has_the_defaults_under_its_name(room: Room) -> None:
    kind = room.registry.task_type("anything")
    assert (kind.name, kind.executor, kind.version) == ("anything", "rpa", 0)
    assert not room.registry.knows("anything")


def test_changes_are_seen_after_a_few_seconds_or_when_told(room: Room) -> None:
    assert room.registry.types() == {}
    room.store.put_document("type", "work", '{"name":"work","timeout_s":7}')
    room.store.put_shops([Shop(platform="pdd", shop_id="s1")])
    assert not room.registry.knows("work")
    room.clock.advance(REFRESH_S)
    assert room.registry.task_type("work").timeout_s == 7
    assert set(room.registry.shops()) == {"pdd:s1"}
    room.store.put_document("type", "work", '{"name":"work","timeout_s":8}')
    room.registry.forget()
    assert room.registry.task_type("work").timeout_s == 8


def test_who_asks_while_another_reads_goes_on_with_what_is_known(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.define("once", idempotent=False)
    room.clock.advance(REFRESH_S)
    reads, let = threading.Event(), threading.Event()
    shops = room.store.shops

    def slowly() -> list[Shop]:
        reads.set()
        assert let.wait(PATIENCE_S)
        return shops()

    assert room.registry.shops() == {}
    room.store.put_shops([Shop(platform="pdd", shop_id="s1")])
    room.clock.advance(REFRESH_S)
    monkeypatch.setattr(room.store, "shops", slowly)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(room.registry.shops)
        assert reads.wait(PATIENCE_S)
        try:
            assert pool.submit(room.registry.shops).result(PATIENCE_S) == {}
        finally:
            let.set()
        assert set(first.result(PATIENCE_S)) == {"pdd:s1"}


def test_what_was_read_outlives_a_silent_store(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    room.define("once", idempotent=False)
    room.clock.advance(REFRESH_S)
    room.store.silent = 1
    assert room.registry.task_type("once").idempotent is False
    assert "as they were" in caplog.text
    assert room.registry.task_type("once").idempotent is False, "and is not asked again for each task"


def test_a_store_that_never_answered_is_an_error(room: Room) -> None:
    room.store.silent = 1
    with pytest.raises(StoreUnavailable):
        room.registry.task_type("once")
    assert room.registry.task_type("once").name == "once"


def test_a_type_that_became_unreadable_stays_as_it_was(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    room.define("once", idempotent=False)
    for body in ("no json", '{"name": "once", "timeout_s": "long"}'):
        room.store.put_document("type", "once", body)
        room.registry.forget()
        assert room.registry.task_type("once").idempotent is False
    room.store.put_document("type", "other", "no json")
    room.registry.forget()
    assert room.registry.task_type("other").version == 0
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * len(caplog.records)


def test_keys_of_a_newer_program_are_passed_over(room: Room) -> None:
    room.store.put_document("type", "once", '{"name": "once", "idempotent": false, "invented_later": 1}')
    assert room.registry.task_type("once").idempotent is False


def test_a_type_whose_old_schema_cannot_be_run_keeps_its_policy_and_refuses_payloads(room: Room) -> None:
    schema = {"properties": {"sku": {"pattern": "^(?!x)"}}}
    body = json.dumps({"name": "once", "version": 3, "idempotent": False, "executor": "http", "schema": schema})
    room.store.put_document("type", "once", body)
    kind = room.registry.task_type("once")
    assert (kind.version, kind.idempotent, kind.executor) == (3, False, "http")
    (problem,) = task_type.validate_payload(kind, {})
    assert "looks ahead" in problem.message


@pytest.mark.parametrize(("state", "queue"), [("", ""), (shop_queue.OPEN, "s1"), (shop_queue.CLOSING, "")])
def test_a_task_goes_to_the_own_queue_of_its_shop_only_while_that_is_open(room: Room, state: str, queue: str) -> None:
    room.store.put_shops([Shop(platform="pdd", shop_id="s1", dedicated=state == shop_queue.OPEN)])
    if state:
        room.store.put_document(shop_queue.KIND, "pdd:s1", shop_queue.DOCUMENT.dump(ShopQueue(state=state)))
    room.registry.forget()
    assert room.create(shop_id="s1").queue == queue
