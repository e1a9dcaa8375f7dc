"""What needs a person, from the records and a snapshot."""

from __future__ import annotations

from typing import Any

from services.domain.change import Claim
from services.domain.insight.shop import ShopNow
from services.domain.order import BrokerHealth
from services.domain.query import Counts
from services.domain.shop import Pause
from services.domain.worker import SILENT_AFTER_MS, SlotState, WorkerInfo
from services.monitor.attention import AttentionFinder
from services.monitor.causes import CauseQueries
from services.monitor.live import Snapshot
from services.monitor.overview import Attention
from services.monitor.tasks import TaskQueries
from tests.unit.services.engine.room import Room


def worker(room: Room, name: str = "w1", silent_ms: int = 0, **fields: Any) -> WorkerInfo:
    seen = room.clock.now_ms() - silent_ms
    return WorkerInfo(worker=name, host="h", pid=1, seen_at=seen, slots=(SlotState(),), **fields)


def look(room: Room, **fields: Any) -> Snapshot:
    """A healthy fleet with a worker and a leader."""
    usual: dict[str, Any] = {
        "counts": room.store.counts(),
        "workers": (worker(room),),
        "broker": BrokerHealth(connected=True),
        "leader": "w1",
    }
    return Snapshot(at_ms=room.clock.now_ms(), taken=0.0, **(usual | fields))


def finder(room: Room) -> AttentionFinder:
    return AttentionFinder(room.store, CauseQueries(room.store), room.clock, lambda key: f"<{key}>")


def found(room: Room, **fields: Any) -> dict[str, Attention]:
    return {item.key: item for item in finder(room).find(look(room, **fields), (), None)}


def died(room: Room, shop: str, kind: str, task_type: str = "work", print_: str = "aaaa") -> None:
    task = room.running(f"w#{shop}{task_type}{kind}", shop_id=shop, task_type=task_type)
    room.finish(task, "dead", error=f"{kind}: no", error_kind=kind, fingerprint=print_)


def test_a_healthy_fleet_needs_nobody(room: Room) -> None:
    room.create()
    assert found(room) == {}


def test_before_the_first_snapshot_nothing_is_said(room: Room) -> None:
    assert finder(room).find(Snapshot(at_ms=0, taken=0.0), (), None) == ()


def test_one_reason_in_several_shops_and_flows_is_one_item(room: Room) -> None:
    died(room, "s1", "login_expired", "sync_order", "aaaa")
    died(room, "s2", "login_expired", "shop_crawl", "bbbb")
    (item,) = found(room).values()
    assert (item.code, item.params["kind"], item.params["count"], item.params["shops"]) == (
        "attention.dead_platform",
        "login_expired",
        2,
        2,
    )
    assert dict(item.verbs)["open_tasks"] == "status:dead triage:open kind:login_expired"


def test_a_reason_that_lies_with_a_flow_is_an_item_for_each_flow_which_can_be_paused(room: Room) -> None:
    died(room, "s1", "element_not_found", "sync_order", "aaaa")
    died(room, "s1", "element_not_found", "shop_crawl", "bbbb")
    items = found(room)
    assert sorted(items) == ["dead:element_not_found:shop_crawl:", "dead:element_not_found:sync_order:"]
    item = items["dead:element_not_found:sync_order:"]
    assert (item.code, item.params["shop"]) == ("attention.dead_shop", "<pdd:s1>")
    assert dict(item.verbs)["pause"] == "type:sync_order"


def test_a_paused_flow_can_be_resumed_instead(room: Room) -> None:
    died(room, "s1", "timeout", "sync_order")
    pause = Pause(scope="type:sync_order", by="chen@desk", at=1)
    items = found(room, pauses=(pause,))
    assert dict(items["dead:timeout:sync_order:"].verbs)["resume"] == "type:sync_order"
    assert items["paused:type:sync_order"].verbs == (("resume", "type:sync_order"),)


def test_a_paused_shop_is_left_to_the_heat_map(room: Room) -> None:
    assert found(room, pauses=(Pause(scope="shop:pdd:s1", by="chen@desk"),)) == {}


def test_causes_are_grouped_again_only_when_their_number_changed(room: Room) -> None:
    died(room, "s1", "network")
    eyes = finder(room)
    asked: list[str] = []
    real = eyes._causes.causes
    eyes._causes.causes = lambda *args: asked.append("asked") or real(*args)  # type: ignore[method-assign]
    for _turn in range(3):
        assert len(eyes.find(look(room), (), None)) == 1
    assert len(asked) == 1
    died(room, "s2", "network")
    assert eyes.find(look(room), (), None)[0].params["count"] == 2
    assert len(asked) == 2


def test_a_silent_worker_says_when_its_tasks_come_back(room: Room) -> None:
    room.running("w2#1", lease_ms=90_000)
    silent = worker(room, "w2", SILENT_AFTER_MS + 1)
    item = found(room, workers=(worker(room), silent))["silent:w2"]
    assert (item.code, item.params["tasks"], item.params["left_ms"]) == ("attention.worker_silent", 1, 90_000)
    idle = worker(room, "w3", SILENT_AFTER_MS + 1)
    assert found(room, workers=(worker(room), idle))["silent:w3"].code == "attention.worker_silent_idle"


def test_a_worker_that_said_goodbye_is_not_silent(room: Room) -> None:
    gone = worker(room, "w2", SILENT_AFTER_MS + 1, state="stopped")
    assert found(room, workers=(worker(room), gone)) == {}


def test_waiting_tasks_without_a_worker(room: Room) -> None:
    room.create()
    item = found(room, workers=())["no_workers"]
    assert (item.severity, item.params["tasks"]) == ("dead", 1)
    assert item.verbs[0] == ("start_worker", "")


def test_a_lane_that_no_worker_takes(room: Room) -> None:
    counts = Counts(lanes={"high": {"queued": 3}, "low": {"queued": 1}}, status={"queued": 4})
    items = found(room, counts=counts, workers=(worker(room, lanes=("high", "normal")),))
    assert set(items) == {"unserved:low"}
    assert items["unserved:low"].params == {"lane": "low", "tasks": 1}


def test_broker_leader_and_held_tasks(room: Room) -> None:
    task = room.running()
    room.finish(task, "held")
    blocked = BrokerHealth(connected=True, blocked=True, since_ms=7)
    items = found(room, broker=blocked, leader="")
    assert set(items) == {"blocked", "no_leader", "held"}
    assert items["blocked"].since_ms == 7
    assert items["held"].params["tasks"] == 1


def test_stuck_shops_are_one_item_that_names_three(room: Room) -> None:
    cells = [ShopNow(platform="pdd", shop_id=f"s{n}", name=f"店{n}", state="stuck", since_ms=100 - n) for n in range(5)]
    (item,) = finder(room).find(look(room), cells, None)
    assert (item.code, item.params["shops"], item.params["more"]) == ("attention.shops_stuck_more", 5, 2)
    assert item.params["names"] == "店0\n店1\n店2"
    assert item.since_ms == 96
    assert item.verbs == (("open_tasks", "shop:pdd:s0,pdd:s1,pdd:s2,pdd:s3,pdd:s4 status:active"),)


def test_a_type_that_no_worker_can_run_is_named_with_what_it_needs(room: Room) -> None:
    room.define("mail", executor="python")
    for shop, kind in (("s1", "mail"), ("s2", "mail"), ("s3", "flow")):
        task = room.create(shop_id=shop, task_type=kind)
        room.ask(Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1, able=False))
    poor = worker(room, "w1", lacks={"rpa": "flowrun"})
    finder = AttentionFinder(room.store, CauseQueries(room.store), room.clock, str, room.registry.task_type)
    items = {item.key: item for item in finder.find(look(room, workers=(poor,)), (), None)}
    assert set(items) == {"needs:mail", "needs:flow"}
    mail, flow = items["needs:mail"], items["needs:flow"]
    assert (mail.code, mail.params) == ("attention.needs_handler", {"type": "mail", "need": "mail", "tasks": 2})
    assert (flow.code, flow.params["need"]) == ("attention.needs_program", "flowrun")
    assert mail.verbs[0] == ("open_tasks", "gate:no_worker type:mail")
    able = worker(room, "w2", executors=("python", "rpa"), handlers=("mail",))
    assert finder.find(look(room, workers=(poor, able)), (), None) == ()


def test_a_node_that_tasks_wait_for_and_where_no_worker_runs(room: Room) -> None:
    for number in range(2):
        task = room.create(shop_id=f"s{number}")
        room.store.put_home(task.shop, "desk")
        room.ask(Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1, home="hall"))
    hall, desk = worker(room, "w1", node="hall"), worker(room, "w2", node="desk")
    (item,) = finder(room).find(look(room, workers=(hall,)), (), None)
    assert (item.key, item.code, item.params) == (
        "home:desk", "attention.home_silent", {"node": "desk", "tasks": 2},
    )  # fmt: skip
    assert item.verbs[0] == ("open_tasks", "gate:home_node:desk")
    assert {task.gate for task in TaskQueries(room.store, room.registry).each(item.verbs[0][1])} == {"home_node:desk"}
    assert len(tuple(TaskQueries(room.store, room.registry).each("gate:home_node"))) == 2
    assert finder(room).find(look(room, workers=(hall, desk)), (), None) == ()
