"""What needs a person, from the records and a snapshot."""

from __future__ import annotations

from typing import Any

import msgspec

from services import messages
from services.domain import schedule as schedules
from services.domain.change import Claim
from services.domain.insight.shop import ShopNow
from services.domain.order import BrokerHealth
from services.domain.query import Counts
from services.domain.shop import Pause
from services.domain.worker import SILENT_AFTER_MS, LinkState, SlotState, WorkerInfo
from services.engine.fates import Fates
from services.monitor.attention import AttentionFinder
from services.monitor.causes import CauseQueries
from services.monitor.live import Snapshot
from services.monitor.overview import Attention
from services.monitor.tasks import TaskQueries
from services.ports import ScheduleEntry
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
    made = usual | fields
    now = room.clock.now_ms()
    made.setdefault("fates", Fates(room.store).find(made["workers"], now))
    return Snapshot(at_ms=now, taken=0.0, **made)


def finder(room: Room) -> AttentionFinder:
    return AttentionFinder(room.store, CauseQueries(room.store), room.clock, lambda key: f"<{key}>")


def found(room: Room, **fields: Any) -> dict[str, Attention]:
    return {item.key: item for item in finder(room).find(look(room, **fields), (), None)}


def said(item: Attention) -> list[str]:
    return [messages.english(fact) for fact in item.facts]


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
    task = room.running("w2#1", lease_ms=60_000)
    room.clock.advance(20)
    late = worker(room, "w2", 20_000)
    item = found(room, workers=(worker(room), late))["silent:w2"]
    assert (item.code, item.params["tasks"], item.params["left_ms"]) == ("attention.worker_late", 1, 41_000)
    assert said(item) == ["1 task goes to another worker in 41 s"]
    assert item.verbs == (("open_worker", "w2"), ("open_tasks", f"id:{task.task_id}"))
    silent = worker(room, "w2", SILENT_AFTER_MS + 1)
    assert found(room, workers=(worker(room), silent))["silent:w2"].code == "attention.worker_silent"


def test_a_worker_that_is_gone_says_what_became_of_its_tasks_until_it_is_forgotten(room: Room) -> None:
    task = room.running("w2#1", lease_ms=1_000)
    room.finish(task, "held")
    slots = (SlotState(task_id=task.task_id, attempt=1),)
    gone = msgspec.structs.replace(worker(room, "w2", 90_000), slots=slots)
    item = found(room, workers=(worker(room), gone))["silent:w2"]
    assert (item.code, said(item)) == ("attention.worker_gone", ["1 task is held: a person decides"])
    assert item.verbs[-1] == ("forget_worker", "w2")
    idle = worker(room, "w3", SILENT_AFTER_MS + 1)
    item = found(room, workers=(worker(room), idle))["silent:w3"]
    assert (item.code, said(item)) == ("attention.worker_gone", ["it held no task"])


def test_waiting_tasks_while_every_worker_leaves(room: Room) -> None:
    room.create()
    items = found(room, workers=(worker(room, state="draining"),))
    assert items["no_workers"].code == "attention.no_takers"
    assert found(room, workers=(worker(room, "w1", 15_000),))["no_workers"].code == "attention.no_workers"


def test_a_fleet_without_a_leader_is_told_also_where_no_worker_lives(room: Room) -> None:
    assert "no_leader" not in found(room, leader="", workers=()), "nothing is there to look after"
    room.create(delay_s=3600)
    item = found(room, leader="", workers=())["no_leader"]
    assert item.verbs[0] == ("start_worker", "")
    moment = room.clock.now_ms() - 14_000
    assert "no_leader" not in found(room, leader="", workers=(), leaderless_ms=moment), "another one may follow"


def test_who_is_held_back_is_told_with_reason_and_remedy_by_a_heartbeat_alone(room: Room) -> None:
    link = LinkState(blocked_at=5, why="low on disk")
    item = found(room, workers=(worker(room, link=link),))["blocked"]
    assert (item.code, item.since_ms, item.params["names"]) == ("attention.publisher_blocked", 5, "w1")
    assert said(item) == [
        "The broker is out of disk and takes no new messages",
        "Free disk on the server of RabbitMQ; then everything goes on by itself.",
    ]
    quiet = LinkState(unanswered=3, unanswered_at=7)
    item = found(room, workers=(worker(room, link=quiet),))["blocked"]
    assert (item.code, item.params["tasks"], item.since_ms) == ("attention.publisher_silent", 3, 7)


def plan(room: Room, name: str, due_s: float) -> None:
    kept = schedules.Planned(schedule=schedules.Schedule(name=name, task_type="work", cron="0 2 * * *", all_shops=True))
    due = room.clock.now_ms() + round(due_s * 1000)
    assert room.store.put_schedule(ScheduleEntry(name=name, body=schedules.dump(kept), next_at=due), 0)


def test_a_late_schedule_is_told_with_its_reason(room: Room) -> None:
    plan(room, "nightly", -7200)
    plan(room, "soon", -59)
    item = found(room, leader="", workers=(), leaderless_ms=1)["schedule_late:nightly"]
    assert (item.params["seconds"], item.severity) == (7200, "dead")
    assert said(item) == ["Nobody fires schedules: no worker leads. Start a worker; the run is caught up."]
    assert item.verbs == (("open_schedule", "nightly"), ("start_worker", ""))
    assert said(found(room)["schedule_late:nightly"]) == ["w1 leads and has not fired it; look at its log."]
    link = LinkState(blocked_at=5, why="low on disk")
    held = found(room, workers=(worker(room, link=link),))["schedule_late:nightly"]
    assert said(held) == ["The broker takes no new messages; see what it needs. The run is caught up then."]
    room.clock.advance(60)
    assert found(room)["schedule_late"].params["count"] == 2


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
