"""Shops, pauses, task types and orders to workers."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.change import Claim
from services.domain.errors import NotAllowed, UsageError
from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import WorkerInfo
from tests.unit.services.commands.conftest import Desk, desk_of
from tests.unit.services.engine.room import Room


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"platform": "p.d"}, "platform"), ({"shop_id": "#"}, "shop_id"), ({"concurrency": 0}, "concurrency")],
)
def test_a_bad_shop_spoils_the_whole_import(room: Room, desk: Desk, fields: dict[str, Any], field: str) -> None:
    base: dict[str, Any] = {"platform": "pdd", "shop_id": "s2"}
    with pytest.raises(UsageError) as caught:
        desk.fleet.import_shops([Shop(platform="pdd", shop_id="s1"), Shop(**(base | fields))])
    assert caught.value.field == field
    assert room.store.shops() == []


def test_imported_shops_are_known_at_once(room: Room, desk: Desk) -> None:
    room.registry.shops()
    assert desk.fleet.import_shops([Shop(platform="pdd", shop_id="s1", name="一号店")]) == 1
    assert room.registry.shops()["pdd:s1"].name == "一号店"


@pytest.mark.parametrize(
    "scope", ["", "everything", "all:x", "platform:", "platform:a:b", "shop:pdd", "shop:pdd:s#1", "type:os.system"]
)
def test_a_scope_that_is_none_is_refused(room: Room, desk: Desk, scope: str) -> None:
    for act in (desk.fleet.pause, desk.fleet.resume):
        with pytest.raises(UsageError) as caught:
            act(scope)
        assert caught.value.field == "scope"
    assert room.store.pauses() == []


@pytest.mark.parametrize("scope", ["all", "platform:pdd", "shop:pdd:s1", "type:work"])
def test_what_waits_behind_a_pause_is_released_by_its_end(room: Room, desk: Desk, scope: str) -> None:
    desk.fleet.pause(scope, reason="night")
    (pause,) = room.store.pauses()
    assert (pause.scope, pause.by, pause.reason) == (scope, "ann@desk", "night")
    task = room.create()
    room.take()
    claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1)
    assert room.ask(claim).code == "blocked"
    assert desk.fleet.resume(scope) is True
    assert (room.task(task.task_id).status, room.ready()) == ("queued", 1)
    assert desk.fleet.resume(scope) is False


def test_more_concurrency_releases_at_once(room: Room, desk: Desk) -> None:
    desk.fleet.import_shops([Shop(platform="pdd", shop_id="s1")])
    room.running()
    task = room.create()
    room.take()
    assert (
        room.ask(Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#2", worker="w", lease_ms=1)).code == "blocked"
    )
    desk.fleet.set_concurrency("pdd:s1", 2)
    assert (room.task(task.task_id).status, room.ready()) == ("queued", 1)
    for key, number, field in (("pdd:s9", 2, "shop"), ("pdd:s1", 0, "concurrency"), ("pdd:s1", 65, "concurrency")):
        with pytest.raises(UsageError) as caught:
            desk.fleet.set_concurrency(key, number)
        assert caught.value.field == field


def test_task_types_are_an_admins(room: Room, desk: Desk) -> None:
    (made,) = desk.fleet.import_types(['{"name": "work", "timeout_s": 5}'])
    assert (made.kind.name, made.what, made.kind.version) == ("work", "created", 1)
    assert room.registry.task_type("work").timeout_s == 5
    for body in (
        "no json",
        '{"name": "work", "timeout": 5}',
        '{"name": "os.system"}',
        '{"name": "work", "timeout_s": 0}',
    ):
        with pytest.raises(UsageError):
            desk.fleet.import_types([body])
    with pytest.raises(NotAllowed):
        desk_of(room, "operator").fleet.import_types(['{"name": "work"}'])


@pytest.mark.parametrize("order", ["dance", "slots", "slots=0", "slots=many", "slots=513", "drain=1", "cancel=t1"])
def test_an_order_that_is_none_is_refused(room: Room, desk: Desk, order: str) -> None:
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1))
    with pytest.raises(UsageError):
        desk.fleet.tell_worker("w1", order)
    assert room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1)).orders == ()


def test_an_order_reaches_the_worker_once(room: Room, desk: Desk) -> None:
    info = WorkerInfo(worker="w1", host="h", pid=1)
    room.store.heartbeat(info)
    desk.fleet.tell_worker("w1", "slots=4")
    desk.fleet.tell_worker("w1", "drain")
    assert room.store.heartbeat(info).orders == ("slots=4", "drain")
    assert room.store.heartbeat(info).orders == ()
    with pytest.raises(UsageError, match="no worker"):
        desk.fleet.tell_worker("w2", "drain")
