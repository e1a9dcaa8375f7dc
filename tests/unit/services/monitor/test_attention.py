"""What needs a person, from the records and a snapshot."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from services import messages
from services.commands.bulk.republisher import Changes, Republisher
from services.domain.change import Claim, Finish, SetTriage
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import SILENT_AFTER_MS, LinkState, SlotState, WorkerInfo
from services.domain.gates.session import ClosedSession
from services.domain.insight.forecast import flow
from services.domain.insight.shop import ShopNow
from services.domain.plans import schedule as schedules
from services.domain.task.order import BrokerHealth
from services.domain.task.record import Attempt, Task
from services.domain.task.search.query import Counts, Query, equals
from services.domain.text import said as words
from services.domain.text.message import Message
from services.domain.types import task_type
from services.domain.types.task_type import TaskType
from services.engine.fates import Fates
from services.monitor import live
from services.monitor.attention import AttentionFinder, BrokenRun, dependencies, english
from services.monitor.attention.look import Look
from services.monitor.letters.causes import CauseQueries, Causes
from services.monitor.live import Snapshot, StoreHealth
from services.monitor.overview import Attention
from services.monitor.tasks import TaskQueries
from services.ports import ScheduleEntry
from tests.unit.services.engine.room import Room

RESTART = "Start it again on the machine h (python main.py worker, or its service), or start one here"


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
    return AttentionFinder(room.store, CauseQueries(room.store), room.clock, lambda key: f"<{key}>", room.registry)


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


def test_dead_letters_are_as_many_as_the_items_tell_of_until_they_are_grouped_anew(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = CauseQueries.causes

    def slow(asked: CauseQueries) -> Causes:
        room.clock.advance(1)
        return group(asked)

    monkeypatch.setattr(CauseQueries, "causes", slow)
    asked = finder(room)

    def told() -> tuple[int, object]:
        seen = asked.agreed(look(room))
        items = asked.find(seen, (), None)
        return seen.counts.triage["open"], sum(
            int(item.params["count"]) for item in items if item.key.startswith("dead:")
        )

    died(room, "s1", "login_expired")
    assert told() == (1, 1)
    died(room, "s2", "login_expired")
    assert told() == (1, 1), "grouping them took long, so it is not done for each look"
    room.clock.advance(30)
    assert told() == (2, 2)


def test_letters_that_are_grouped_in_no_time_are_counted_at_once(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    group = CauseQueries.causes

    def brief(asked: CauseQueries) -> Causes:
        room.clock.advance(0.02)
        return group(asked)

    monkeypatch.setattr(CauseQueries, "causes", brief)
    eyes = finder(room)
    for number in range(1, 4):
        died(room, f"s{number}", "login_expired")
        assert eyes.agreed(look(room)).counts.triage["open"] == number
        room.clock.advance(0.1)  # as often as a window asks


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


def test_a_reason_that_lies_with_a_flow_is_an_item_for_each_flow(room: Room) -> None:
    died(room, "s1", "element_not_found", "sync_order", "aaaa")
    died(room, "s1", "element_not_found", "shop_crawl", "bbbb")
    items = found(room)
    assert sorted(items) == ["dead:element_not_found:shop_crawl:", "dead:element_not_found:sync_order:"]
    item = items["dead:element_not_found:sync_order:"]
    assert (item.code, item.params["shop"]) == ("attention.dead_shop", "<pdd:s1>")


def test_where_it_lies_calls_the_shop_as_people_do(room: Room) -> None:
    for number in range(2, 9):
        room.finish(room.running(f"w#{number}", shop_id=f"s{number}", task_type="sync_order"), "succeeded")
    died(room, "s1", "element_not_found", "sync_order", "aaaa")
    (item,) = found(room).values()
    assert "1 of 8 shops that ran it: <pdd:s1> itself" in [messages.english(fact) for fact in item.facts]


def shops(*keys: str, **fields: Any) -> list[ShopNow]:
    parts = [key.split(":") for key in keys]
    return [ShopNow(platform=platform, shop_id=shop, name=shop, **fields) for platform, shop in parts]


def test_verbs_of_a_cause_reach_no_wider_than_the_cause(room: Room) -> None:
    eyes = finder(room)
    died(room, "s1", "login_expired")
    (item,) = eyes.find(look(room), shops("pdd:s1", "temu:t1"), None)
    wide = [verb for verb in item.verbs if verb[0] not in ("triage", "open_tasks")]
    assert wide == [("login_shop", "pdd:s1"), ("pause", "shop:pdd:s1"), ("open_shop", "pdd:s1")]


@pytest.mark.parametrize(
    ("others", "pause"),
    [(("pdd:s1", "temu:t1"), ("pause", "platform:pdd")), (("pdd:s1", "pdd:s2"), ("pause", "type:sync_order"))],
)
def test_a_page_of_one_platform_pauses_not_the_type_on_all(
    room: Room, others: tuple[str, ...], pause: tuple[str, str]
) -> None:
    for shop in ("s1", "s2"):
        died(room, shop, "element_not_found", "sync_order")
    (item,) = finder(room).find(look(room), shops(*others), None)
    assert item.code == "attention.dead_platform"
    assert [verb for verb in item.verbs if verb[0] == "pause"] == [pause]


def test_a_cause_is_titled_by_its_pattern(room: Room) -> None:
    for shop in ("s1", "s2"):
        task = room.running(f"w#{shop}", shop_id=shop, task_type="sync_order")
        error = f"Traceback\nSelectorNotFound: .order-list (shop {shop})"
        room.finish(task, "dead", error=error, error_kind="element_not_found", fingerprint="aaaa")
    (item,) = found(room).values()
    assert item.cause is not None
    assert english(item).startswith("Page element missing: .order-list: 2 dead letters in 2 shops")


def test_many_causes_are_few_items(room: Room) -> None:
    for number in range(9):
        died(room, f"s{number}", "element_not_found", f"flow{number}", f"{number:04d}")
    items = [item for item in found(room).values() if item.key.startswith("dead:")]
    assert (len(items), items[-1].key, items[-1].params["causes"]) == (6, "dead:more", 4)


def test_an_account_in_danger_comes_before_what_fails_more_often(room: Room) -> None:
    for number in range(9):
        died(room, f"s{number}", "timeout", f"flow{number % 8}", f"{number % 8:04d}")
    died(room, "s1", "login_expired", print_="bbbb")
    died(room, "s2", "risk_control", print_="cccc")
    died(room, "s3", "captcha", print_="dddd")
    items = [item for item in found(room).values() if item.key.startswith("dead:")]
    assert [item.params.get("kind") for item in items[:4]] == ["risk_control", "captcha", "login_expired", "timeout"]
    assert (items[-1].key, items[-1].params["causes"]) == ("dead:more", 6), "what is left out is counted"


def test_what_would_pass_now_comes_before_an_account_in_danger_and_is_the_first_click(room: Room) -> None:
    died(room, "s2", "risk_control", print_="c" * 16)
    for number in range(2):
        died(room, f"s{number + 3}", "timeout", "crawl", print_="d" * 16)
    died(room, "s1", "network", print_="a" * 16)
    room.clock.advance(60)
    room.finish(room.running(shop_id="s1"), "succeeded")
    first, second, third = (item for item in found(room).values() if item.key.startswith("dead:"))
    assert (first.params["kind"], first.verbs[0]) == ("network", ("triage_now", "a" * 16))
    assert [item.params["kind"] for item in (second, third)] == ["risk_control", "timeout"]


def test_one_line_goes_on_behind_a_sentence_without_its_stop(room: Room) -> None:
    for number in range(6):
        died(room, f"s{number}", "missing_secret", print_="a" * 16)
    (item,) = found(room).values()
    assert item.facts
    assert ".;" not in english(item)


def test_a_changed_page_is_told_to_who_makes_the_flow(room: Room) -> None:
    died(room, "s1", "element_not_found", print_="a" * 16)
    (item,) = found(room).values()
    assert "a retry fails again until the flow is adapted. Tell who makes the flow" in english(item)
    assert [verb for verb, _target in item.verbs[:2]] == ["triage", "copy_flow"]
    died(room, "s2", "network", print_="b" * 16)
    other = next(one for one in found(room).values() if one.params["kind"] == "network")
    assert "copy_flow" not in dict(other.verbs)


def test_refused_parameters_are_told_to_who_creates_the_tasks(room: Room) -> None:
    died(room, "s1", "bad_payload", print_="a" * 16)
    (item,) = found(room).values()
    assert [verb for verb, _target in item.verbs[:2]] == ["triage", "copy_creator"]
    assert "put right where the tasks are created" in english(item)


def test_a_paused_flow_can_be_resumed_instead(room: Room) -> None:
    for shop in ("s1", "s2"):
        died(room, shop, "timeout", "sync_order")
    pause = Pause(scope="type:sync_order", by="chen@desk", at=1)
    items = found(room, pauses=(pause,))
    assert dict(items["dead:timeout:sync_order:"].verbs)["resume"] == "type:sync_order"
    listed = ("open_tasks", "gate:paused type:sync_order")
    assert items["paused:type:sync_order"].verbs == (("resume", "type:sync_order"), listed)


def test_a_pause_with_a_note_offers_its_end_first_too_which_asks_with_that_note(room: Room) -> None:
    pause = Pause(scope="type:sync_order", by="chen@desk", at=1, reason="ask Li first")
    item = found(room, pauses=(pause,))["paused:type:sync_order"]
    assert item.verbs == (("resume", "type:sync_order"), ("open_tasks", "gate:paused type:sync_order"))
    assert english(item) == "sync_order is paused: “ask Li first” (chen@desk); 0 tasks waiting"


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
    assert said(item) == ["1 task goes to another worker in 41 s", RESTART]
    assert item.verbs == (("open_worker", "w2"), ("open_tasks", f"id:{task.task_id}"), ("start_worker", ""))
    silent = worker(room, "w2", SILENT_AFTER_MS + 1)
    assert found(room, workers=(worker(room), silent))["silent:w2"].code == "attention.worker_silent"


def test_a_worker_that_is_gone_says_what_became_of_its_tasks_until_it_is_forgotten(room: Room) -> None:
    task = room.running("w2#1", lease_ms=1_000)
    room.finish(task, "held")
    slots = (SlotState(task_id=task.task_id, attempt=1),)
    gone = msgspec.structs.replace(worker(room, "w2", 90_000), slots=slots)
    item = found(room, workers=(worker(room), gone))["silent:w2"]
    assert (item.code, said(item)[0]) == ("attention.worker_gone", "1 task is held: a person decides")
    assert item.verbs[-1] == ("forget_worker", "w2")
    idle = worker(room, "w3", SILENT_AFTER_MS + 1)
    item = found(room, workers=(worker(room), idle))["silent:w3"]
    assert (item.code, said(item)) == (
        "attention.worker_gone",
        ["it held no task", RESTART],
    )


def test_a_worker_that_was_started_anew_after_a_crash_is_missed_no_more(room: Room) -> None:
    gone = worker(room, "w2", 47 * 60_000)
    before = msgspec.structs.replace(worker(room, "w1"), started_at=gone.seen_at - 1)
    again = msgspec.structs.replace(worker(room, "w3"), started_at=gone.seen_at + 5_000)
    assert said(found(room, workers=(before, gone))["silent:w2"])[-1] == RESTART
    assert "silent:w2" not in found(room, workers=(before, gone, again))
    second = worker(room, "w4", 46 * 60_000)
    left = found(room, workers=(before, gone, second, again))
    assert [key for key in left if key.startswith("silent:")] == ["silent:w4"], "one for one"
    for other in ({"host": "h2"}, {"lanes": ("high",)}, {"seen_at": gone.seen_at}):
        assert "silent:w2" in found(room, workers=(before, gone, msgspec.structs.replace(again, **other))), other


def test_what_it_held_is_told_also_of_one_that_was_started_anew(room: Room) -> None:
    task = room.running("w2#1", lease_ms=1_000)
    room.finish(task, "held")
    slots = (SlotState(task_id=task.task_id, attempt=1),)
    gone = msgspec.structs.replace(worker(room, "w2", 90_000), slots=slots)
    again = msgspec.structs.replace(worker(room, "w3"), started_at=gone.seen_at + 5_000)
    item = found(room, workers=(gone, again))["silent:w2"]
    assert said(item) == [
        "1 task is held: a person decides",
        "w3 was started there since: it need not be started again",
    ]
    assert "start_worker" not in dict(item.verbs)


def test_waiting_tasks_while_every_worker_leaves(room: Room) -> None:
    room.create()
    items = found(room, workers=(worker(room, state="draining"),))
    assert items["no_workers"].code == "attention.no_takers"
    assert found(room, workers=(worker(room, "w1", 15_000),))["no_workers"].code == "attention.no_workers"


def test_without_a_broker_nobody_is_asked_to_start_a_worker_that_could_not_lead(room: Room) -> None:
    room.create()
    gone: dict[str, Any] = {"leader": "", "leaderless_ms": 1}
    assert "no_leader" in found(room, **gone)
    assert "no_leader" not in found(room, broker=BrokerHealth(connected=False, error="refused"), **gone)


def test_a_broker_that_does_not_answer_is_an_item_with_its_cause_and_a_message_for_who_runs_it(room: Room) -> None:
    lost = BrokerHealth(connected=False, error="nothing listens at 10.0.0.9:5672: start RabbitMQ", since_ms=7)
    idle = found(room, broker=lost)["broker_lost"]
    assert english(idle).startswith("The broker does not answer: nothing new starts: Whoever runs the server must act")
    assert idle.verbs == (("copy_server", ""),), "nothing waits that a list could show"
    room.create()
    item = found(room, broker=lost)["broker_lost"]
    assert (item.severity, item.since_ms, item.params["tasks"]) == ("dead", 7, 1)
    assert english(item).startswith("The broker does not answer, nothing new starts: 1 task waiting: Whoever runs")
    assert said(item) == ["Cause: nothing listens at 10.0.0.9:5672: start RabbitMQ"]
    assert item.verbs[0] == ("copy_server", "")
    assert "broker_lost" not in found(room)


def test_a_full_disk_is_told_by_who_has_written_nothing_yet(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    assert live.look(room.store).no_writes == ""
    monkeypatch.setattr("shutil.disk_usage", lambda _place: SimpleNamespace(total=1, used=1, free=0))
    assert "disk of the local database is full" in live.look(room.store).no_writes


def test_while_the_store_takes_no_writes_that_is_told_and_nobody_is_sent_to_start_a_worker(room: Room) -> None:
    room.create()
    gone: dict[str, Any] = {"workers": (worker(room, "w1", 60_000),), "leader": "", "leaderless_ms": 1}
    assert {"no_workers", "silent:w1", "no_leader"} <= found(room, **gone).keys()
    full = words.said("file.full")
    item = found(room, store=StoreHealth(error=full), **gone)
    assert list(item) == ["store_refuses"], "nobody could write a heartbeat"
    assert said(item["store_refuses"]) == [f"Cause: {full}"]
    assert item["store_refuses"].verbs == (("copy_server", ""),)


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
    assert (item.code, item.since_ms, item.params["names"]) == ("attention.publisher_blocked_idle", 5, "w1")
    assert english(item).startswith("Broker takes no messages: What is created is recorded, none is lost")
    assert item.verbs == (("copy_server", ""),), "there are no tasks to open"
    assert said(item) == [
        "The broker is out of disk and takes no new messages",
        "Whoever runs the server of RabbitMQ must free disk there; then everything is sent by itself.",
    ]
    quiet = LinkState(unanswered=3, unanswered_at=7)
    item = found(room, workers=(worker(room, link=quiet),))["blocked"]
    assert (item.code, item.params["tasks"], item.since_ms) == ("attention.publisher_silent", 3, 7)
    room.recorded()
    full = LinkState(rejecting=("rpa_tasks_low",), rejecting_at=7)
    item = found(room, workers=(worker(room, link=full),))["blocked"]
    assert english(item).startswith("A queue rejects messages: 1 task not sent: None is lost")
    assert said(item)[0] == "The broker rejects what is sent to rpa_tasks_low"


def plan(room: Room, name: str, due_s: float) -> None:
    kept = schedules.Planned(schedule=schedules.Schedule(name=name, task_type="work", cron="0 2 * * *", all_shops=True))
    due = room.clock.now_ms() + round(due_s * 1000)
    assert room.store.put_schedule(ScheduleEntry(name=name, body=schedules.dump(kept), next_at=due), 0)


def test_a_late_schedule_is_told_with_its_reason(room: Room) -> None:
    plan(room, "nightly", -7200)
    plan(room, "soon", -59)
    item = found(room, leader="", workers=(), leaderless_ms=1)["schedule_late:nightly"]
    assert (item.params["seconds"], item.severity) == (7200, "dead")
    assert said(item) == [
        "Nobody fires schedules: no worker leads. Start a worker; 1 run makes up for all that were missed."
    ]
    assert item.verbs == (("start_worker", ""), ("open_schedule", "nightly"))
    assert said(found(room)["schedule_late:nightly"]) == ["w1 leads and has not fired it; look at its log."]
    link = LinkState(blocked_at=5, why="low on disk")
    held = found(room, workers=(worker(room, link=link),))["schedule_late:nightly"]
    assert said(held) == ["The broker takes no new messages; see what it needs. The run is caught up then."]
    room.clock.advance(60)
    assert found(room)["schedule_late"].params["count"] == 2


def test_of_many_silent_workers_the_first_few_are_told_each_and_the_others_together(room: Room) -> None:
    late = [worker(room, f"w{number:02d}", 20_000 + number) for number in range(30)]
    items = found(room, workers=(worker(room), *late))
    silent = [key for key in items if key.startswith("silent:")]
    assert len(silent) == 6
    assert silent[-1] == "silent:others"
    others = items["silent:others"]
    assert english(others).startswith("25 workers besides not heard of: w05, w06, w07 and 22 more")
    assert others.since_ms == late[-1].seen_at
    assert len([key for key in found(room, workers=tuple(late[:6])) if key.startswith("silent:")]) == 6


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


def test_a_lane_that_its_worker_may_not_read_has_none(room: Room) -> None:
    counts = Counts(lanes={"high": {"queued": 3}, "low": {"queued": 1}}, status={"queued": 4})
    items = found(room, counts=counts, workers=(worker(room, closed=("low",)),))
    assert set(items) == {"unserved:low"}


def test_broker_leader_and_held_tasks(room: Room) -> None:
    task = room.running()
    room.finish(task, "held")
    blocked = BrokerHealth(connected=True, blocked=True, since_ms=7)
    items = found(room, broker=blocked, leader="")
    assert set(items) == {"blocked", "no_leader", f"held:{task.task_id}"}
    assert items["blocked"].since_ms == 7


def test_a_shop_that_is_stuck_for_a_task_that_hangs_did_not_finish_nothing_for_half_an_hour(room: Room) -> None:
    hangs = ShopNow(platform="pdd", shop_id="s1", state="stuck", since_ms=5, hangs_at=5)
    assert finder(room).find(look(room), [hangs], None) == ()


def test_stuck_shops_are_one_item_that_names_three(room: Room) -> None:
    cells = [ShopNow(platform="pdd", shop_id=f"s{n}", name=f"店{n}", state="stuck", since_ms=100 - n) for n in range(5)]
    (item,) = finder(room).find(look(room), cells, None)
    assert (item.code, item.params["shops"], item.params["more"]) == ("attention.shops_stuck_more", 5, 2)
    assert item.params["names"] == "店0\n店1\n店2"
    assert item.since_ms == 96
    assert item.verbs == (("open_tasks", "shop:pdd:s0,pdd:s1,pdd:s2,pdd:s3,pdd:s4 status:active"),)


def test_a_type_that_no_worker_can_run_is_named_with_what_it_needs(room: Room) -> None:
    room.define("mail", executor="python")
    room.define("push", executor="http")
    for shop, kind in (("s1", "mail"), ("s2", "mail"), ("s3", "flow"), ("s4", "push")):
        task = room.create(shop_id=shop, task_type=kind)
        room.ask(Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1, able=False))
    poor = worker(room, "w1", lacks={"rpa": "flowrun", "http:push": "executors.http.requests.push"})
    finder = AttentionFinder(room.store, CauseQueries(room.store), room.clock, str, room.registry)
    items = {item.key: item for item in finder.find(look(room, workers=(poor,)), (), None)}
    assert set(items) == {"needs:mail", "needs:flow", "needs:push"}
    mail, flow = items["needs:mail"], items["needs:flow"]
    assert (mail.code, mail.params) == ("attention.needs_handler", {"type": "mail", "need": "mail", "tasks": 2})
    assert english(mail) == "No worker can run mail: 2 tasks waiting for a worker with the handler mail", "by its code"
    assert (flow.code, flow.params["need"]) == ("attention.needs_program", "flowrun")
    assert english(items["needs:push"]) == (
        "No worker can run push: 1 task waiting for a worker with executors.http.requests.push in its config.toml"
    ), "a table of its settings is no program"
    assert mail.verbs[0] == ("open_tasks", "gate:no_worker type:mail")
    able = worker(room, "w2", executors=("python", "rpa", "http"), handlers=("mail",))
    assert finder.find(look(room, workers=(poor, able)), (), None) == ()
    apart = worker(room, "w3", lanes=("low",))
    left = {item.key for item in finder.find(look(room, workers=(apart,)), (), None)}
    assert not any(key.startswith("needs:") for key in left), "nobody serves the lane: what one could run is not known"


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


def test_what_only_a_person_can_decide_stands_first_and_says_whose_it_is_and_since_when(room: Room) -> None:
    died(room, "s9", "network")
    task = room.running("w7#1", task_type="sync_order")
    room.clock.advance(60)
    room.finish(task, "held")
    held_at = room.clock.now_ms()
    room.clock.advance(300)
    first = finder(room).find(look(room), (), None)[0]
    assert (first.code, first.since_ms) == ("attention.held_task", held_at)
    assert first.params == {"type": "sync_order", "shop": "<pdd:s1>", "worker": "w7"}
    assert "Look in the shop's backend whether it was done, then decide" in english(first)
    assert first.verbs == (("decide", f"id:{task.task_id}"), ("look_shop", "pdd:s1"))
    late = Attempt(number=1, worker="w7", started_at=held_at, ended_at=held_at, outcome="succeeded")
    assert room.ask(Finish(task_id=task.task_id, owner=task.owner, to="succeeded", attempt=late)).code == "fenced"
    first = finder(room).find(look(room), (), None)[0]
    assert (first.code, first.params["worker"]) == ("attention.held_late", "w7")
    assert "Worker w7 came back and says that it ended well" in english(first)


def test_what_was_held_because_others_did_or_do_its_work_is_not_called_unknown(room: Room) -> None:
    room.define("once", idempotent=False, uniqueness="shop_type")
    first = room.running("w#1", task_type="once")
    twin = room.create(task_type="once", if_duplicate="hold")
    assert found(room)[f"held:{twin.task_id}"].code == "attention.held_twin"
    behind = room.create(task_type="once", if_duplicate="queue")
    room.finish(first, "succeeded")
    once = Claim(task_id=behind.task_id, gen=0, attempt=0, owner="w#2", worker="w", lease_ms=60_000, once=True)
    assert room.ask(once).code == "stale"
    item = found(room)[f"held:{behind.task_id}"]
    assert (item.code, item.params["id"]) == ("attention.held_done", first.task_id)
    assert f"The same work succeeded as {first.task_id}" in english(item)
    assert item.verbs == (("decide", f"id:{behind.task_id}"),)


def test_what_was_held_because_nobody_can_read_whether_it_was_done_names_the_entry(room: Room, tmp_path: Path) -> None:
    room.define("once", idempotent=False, uniqueness="shop_type")
    first = room.running("w#1", task_type="once")
    task = room.create(task_type="once", if_duplicate="queue")
    room.finish(first, "succeeded")
    with closing(sqlite3.connect(tmp_path / "room.sqlite", timeout=30)) as db, db:
        db.execute("UPDATE works SET at = 'soon'")
    once = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#2", worker="w", lease_ms=60_000, once=True)
    assert room.ask(once).code == "stale"
    item = found(room)[f"held:{task.task_id}"]
    assert (item.code, item.params["work"]) == ("attention.held_unread", task.uniq)
    assert f"`repair` sets the entry {task.uniq} of the ledger aside" in english(item)


def test_many_held_tasks_are_one_item_as_old_as_the_oldest(room: Room) -> None:
    begun = room.clock.now_ms()
    for number in range(5):
        room.finish(room.running(f"w#{number}", shop_id=f"s{number}"), "held")
        room.clock.advance(10)
    item = found(room)["held"]
    assert (item.since_ms, item.params["tasks"], item.params["more"]) == (begun, 5, 2)
    assert item.verbs == (("decide", "status:held"),)


def test_logins_are_one_group_with_its_names_and_its_oldest(room: Room) -> None:
    sessions = tuple(
        ClosedSession(shop=f"pdd:s{number}", kind="login_expired", since=1_000 - number) for number in range(4)
    )
    (item,) = found(room, sessions=sessions).values()
    assert (item.key, item.code, item.since_ms) == ("sessions", "attention.sessions_more", 997)
    assert (item.params["shops"], item.params["names"], item.params["more"]) == (4, "<pdd:s3>\n<pdd:s2>\n<pdd:s1>", 1)
    assert item.verbs[0] == ("login_shops", "session")


def test_no_worker_is_as_old_as_the_last_worker_s_leave_or_the_oldest_task(room: Room) -> None:
    left = room.clock.now_ms()
    gone = worker(room, "w1")
    room.clock.advance(100)
    task = room.create()
    room.clock.advance(1_000)
    for workers, since in (((), task.created_at), ((gone,), task.created_at)):
        items = {item.key: item for item in finder(room).find(look(room, workers=workers), (), task)}
        assert items["no_workers"].since_ms == since
    assert left < task.created_at
    later = worker(room, "w2", SILENT_AFTER_MS + 1)
    items = {item.key: item for item in finder(room).find(look(room, workers=(later,)), (), task)}
    assert items["no_workers"].since_ms == later.seen_at
    planned = replace(task, due_at=room.clock.now_ms() + 60_000)
    items = {item.key: item for item in finder(room).find(look(room, workers=()), (), planned)}
    assert items["no_workers"].since_ms == task.created_at, "what is to come is not since when"


@pytest.mark.parametrize("idempotent", [True, False])
def test_tasks_behind_a_dead_one_are_an_item_that_opens_republishes_and_cancels(room: Room, idempotent: bool) -> None:
    kind = TaskType(name="sync_order", idempotent=idempotent)
    room.store.put_document("type", kind.name, task_type.dump(kind))
    room.registry.forget()
    first = room.running("w#1", task_type="sync_order")
    behind = [room.create(depends_on=(first.task_id,)) for _n in range(2)]
    assert found(room) == {}, "it may still succeed"
    room.clock.advance(5)
    died_at = room.finish(first, "dead", error="no", error_kind="crashed", fingerprint="aaaa").ended_at
    items = found(room)
    assert [key.partition(":")[0] for key in items] == ["dependency", "dead"], "what others wait for comes first"
    item = items[f"dependency:{first.task_id}"]
    assert item.verbs[0][0] == ("republish" if idempotent else "open_task"), "twice is not for every type"
    assert (item.code, item.params["tasks"], item.params["type"]) == ("attention.dependency_dead", 2, "sync_order")
    assert item.since_ms == max(died_at, min(task.created_at for task in behind))
    verbs = dict(item.verbs)
    assert verbs["open_task"] == f"id:{first.task_id}"
    assert verbs["republish"] == first.task_id
    assert set(verbs["cancel_tasks"].split(",")) == {task.task_id for task in behind}


def test_what_would_fail_again_is_not_offered_to_be_republished(room: Room) -> None:
    first = room.running("w#1", task_type="sync_order")
    room.create(depends_on=(first.task_id,))
    room.finish(first, "dead", error="no #order", error_kind="element_not_found", fingerprint="a" * 16)
    items = found(room)
    item = items[f"dependency:{first.task_id}"]
    assert item.code == "attention.dependency_hopeless"
    assert [verb for verb, _target in item.verbs] == ["open_task", "cancel_tasks"]
    assert [one.code for one in item.facts] == ["worth.page"]
    (dead,) = [one for one in items.values() if one.key.startswith("dead:")]
    assert (dead.verbs[0], [one.code for one in dead.facts]) == (("triage", "a" * 16), ["worth.page"])
    other = room.running("w#2", task_type="sync_order")
    room.clock.advance(5)
    room.finish(other, "succeeded")
    items = found(room)
    assert ("republish", first.task_id) in items[f"dependency:{first.task_id}"].verbs
    (dead,) = [one for one in items.values() if one.key.startswith("dead:")]
    assert (dead.verbs[0], [one.code for one in dead.facts]) == (("triage_now", "a" * 16), ["worth.succeeded_since"])


def in_vain(room: Room, number: int, status: str = "dead") -> list[Task]:
    """As many that ended so for one reason, each with a task behind it, which is returned."""
    behind = []
    for place in range(number):
        first = room.running(f"w#{status}{place}", task_type="sync_order", shop_id=f"s{place}")
        behind.append(room.create(depends_on=(first.task_id,)))
        more = {"error": "no #order", "error_kind": "element_not_found", "fingerprint": "a" * 16}
        room.finish(first, status, **(more if status == "dead" else {}))
    return behind


def test_tasks_that_wait_in_vain_for_one_reason_are_one_item_where_they_are_many(room: Room) -> None:
    behind = in_vain(room, 2)
    assert {key.partition(":")[0] for key in found(room)} == {"dependency", "dead"}
    behind += in_vain(room, 2)
    (item,) = [one for key, one in found(room).items() if key.startswith("depend")]
    assert english(item) == (
        "4 tasks waiting for tasks that died: 4 dead letters in 2 shops (Page element missing): see the cause, or"
        " cancel what waits; the page has changed: a retry fails again until the flow is adapted. Tell who makes the"
        " flow."
    )
    verbs = dict(item.verbs)
    assert verbs["triage"] == "a" * 16
    assert set(verbs["cancel_tasks"].split(",")) == {task.task_id for task in behind}
    (cause,) = room.store.query(Query(terms=(equals("status", "dead"),), limit=1)).tasks[:1]
    for letter in room.store.query(Query(terms=(equals("status", "dead"),), limit=9)).tasks:
        room.store.apply([SetTriage(task_id=letter.task_id, triage="ignored", by="ann")])
    (item,) = [one for key, one in found(room).items() if key.startswith("depend")]
    assert english(item) == (
        "4 tasks waiting for tasks that died: 4 dead letters of sync_order in 2 shops, which nobody has open: republish"
        " them, or cancel what waits"
    )
    assert cause.task_id in dict(item.verbs)["open_tasks"]


def test_letters_that_are_not_grouped_yet_are_not_said_to_be_put_aside(room: Room) -> None:
    in_vain(room, 3)
    look = Look(snapshot=live.look(room.store), store=room.store)
    (item,) = dependencies.items(look)
    assert english(item) == (
        "3 tasks waiting for tasks that died: 3 dead letters of sync_order in 3 shops: see the cause, or cancel what"
        " waits"
    )
    assert item.verbs[0] == ("triage", "a" * 16)


def test_tasks_behind_many_cancelled_ones_are_one_item(room: Room) -> None:
    in_vain(room, 3, "cancelled")
    (item,) = found(room).values()
    assert english(item) == (
        "3 tasks waiting for tasks that were cancelled: sync_order in 3 shops will never succeed: cancel what waits"
    )
    assert [verb for verb, _target in item.verbs] == ["cancel_tasks", "open_tasks"]


def test_more_than_are_looked_at_are_told_as_at_least_so_many(room: Room) -> None:
    first = room.running("w#1", task_type="sync_order")
    other = [room.running(f"w#{place}", task_type="sync_order", shop_id=f"t{place}") for place in range(2)]
    for task in (first, *other):
        for _n in range(80):
            room.create(depends_on=(task.task_id,))
        room.finish(task, "cancelled")
    (item,) = found(room).values()
    assert item.params["tasks"] == 200
    assert said(item) == [messages.english(Message("attention.at_least"))]


def test_what_nobody_could_send_is_told_though_nobody_says_why(room: Room) -> None:
    task = room.recorded()
    assert finder(room).find(look(room), (), None) == (), "one that is just on its way is nothing"
    room.clock.advance(11)
    items = finder(room).find(look(room), (), None)
    (item,) = [one for one in items if one.code == "attention.unsent"]
    assert (item.params["tasks"], item.since_ms) == (1, task.updated_at or task.created_at)
    assert "disk" not in english(item), "of what nobody could tell the cause none is named"
    room.steps.publish([task])
    assert "blocked" not in found(room)


def test_of_the_database_of_this_computer_nobody_who_runs_a_server_is_spoken_of(room: Room) -> None:
    here = BrokerHealth(connected=True, embedded=True)
    room.recorded()
    room.clock.advance(11)
    item = found(room, broker=here)["blocked"]
    assert english(item).startswith("Not in their lanes yet: 1 task recorded, none lost: This computer writes")
    lost = BrokerHealth(connected=False, embedded=True, error="database is locked")
    item = found(room, broker=lost)["broker_lost"]
    assert english(item).startswith("The database of this computer does not answer, nothing new starts: 1 task")
    assert not {"broker", "RabbitMQ", "server"} & set(re.findall(r"\w+", english(item)))


def test_a_shop_that_floods_is_told_with_its_share_while_others_wait(room: Room) -> None:
    task = room.create()
    seen = [
        *shops("pdd:s1", waiting=146, running=1, state="running"),
        *shops("pdd:s2", "pdd:s3", waiting=2, state="waiting"),
        *shops("pdd:s4", running=1, state="running"),
    ]
    (item,) = finder(room).find(look(room), seen, task)
    assert (item.key, item.code, item.since_ms) == ("flood:pdd:s1", "attention.flood_shop", task.created_at)
    assert {name: item.params[name] for name in ("tasks", "all", "share", "others")} == {
        "tasks": 146, "all": 150, "share": "50.0\u202f%", "others": 2,
    }  # fmt: skip
    assert [verb for verb, _what in item.verbs] == ["lower_tasks", "open_tasks", "open_shop", "pause"]
    (alone,) = finder(room).find(look(room), seen[:1], task)
    assert (alone.code, alone.params["tasks"], alone.params["running"]) == ("attention.flood_alone", 146, 1)
    assert [verb for verb, _what in alone.verbs] == ["open_shop", "open_tasks"], "a pause would only make it worse"
    few = [*shops("pdd:s1", waiting=30, state="waiting"), *shops("pdd:s2", waiting=2, state="waiting")]
    assert finder(room).find(look(room), few, task) == ()


def test_of_shops_with_queues_of_much_the_same_length_none_is_blamed_alone(room: Room) -> None:
    task = room.create()
    two = [*shops("pdd:s1", waiting=80, state="waiting"), *shops("pdd:s2", waiting=79, state="waiting")]
    seen = [*two, *shops("pdd:s3", waiting=1, state="waiting")]
    (item,) = finder(room).find(look(room), seen, task)
    assert (item.code, item.params["names"], item.params["tasks"]) == ("attention.flood_shops", "s1\ns2", 159)
    theirs = "shop:pdd:s1,pdd:s2 status:waiting"
    assert item.verbs == (("lower_tasks", theirs), ("open_tasks", theirs), ("open_shop", "pdd:s1"))
    assert english(item).startswith("s1, s2 flood the queues: 159 of 160 waiting tasks are theirs")
    turned = [*reversed(two), seen[2]]
    assert finder(room).find(look(room), turned, task)[0].key == item.key
    (alone,) = finder(room).find(look(room), two, task)
    assert alone.code == "attention.flood_shops_alone"
    assert alone.verbs == (("open_shop", "pdd:s1"), ("open_tasks", theirs)), "its limit is set there"
    many = [*shops("pdd:s1", "pdd:s2", "pdd:s3", "pdd:s4", waiting=40, state="waiting")]
    assert finder(room).find(look(room), many, task) == ()


def test_a_group_that_floods_is_told_where_no_shop_alone_does(room: Room) -> None:
    seen = [
        *shops("pdd:s1", "pdd:s2", "pdd:s4", waiting=40, group="north", state="waiting"),
        *shops("pdd:s3", waiting=5, state="waiting"),
    ]
    (item,) = finder(room).find(look(room), seen, None)
    assert (item.code, item.params["name"], item.params["tasks"]) == ("attention.flood_group", "north", 120)


def test_a_queue_that_grows_is_told_by_the_answer_of_the_headline(room: Room) -> None:
    rates = flow.Rates(in_s=3.0, out_s=2.0, window_s=60.0)
    facts = flow.Facts(waiting=90, slots=6, busy=6, workers=1, rates=rates)
    grows = flow.Flow(state=flow.GROWING, facts=facts, more_slots=3, helps=(flow.MORE_SLOTS,))
    (item,) = finder(room).find(look(room), (), None, grows)
    told = [messages.english(one) for one in item.facts]
    assert told == ["In 3.0/s, out 2.0/s", "All 6 slots are busy; about 3 more would keep up"]
    assert "growing: in 3.0/s, out 2.0/s" in messages.english_headline(flow.headline(replace(grows, runnable=90)))
    assert item.verbs[0] == ("open_workers", "")
    steady = flow.Flow(state=flow.STEADY, facts=facts)
    assert finder(room).find(look(room), (), None, steady) == ()


def test_a_burst_in_which_nobody_has_waited_for_long_is_no_queue_that_grows(room: Room) -> None:
    facts = flow.Facts(waiting=90, slots=6, busy=6, workers=1, rates=flow.Rates(in_s=3.0, out_s=2.0, window_s=60.0))
    grows = flow.Flow(state=flow.GROWING, facts=facts, more_slots=3, helps=(flow.MORE_SLOTS,))
    oldest = room.create()
    room.clock.advance(29)
    assert finder(room).find(look(room), (), oldest, grows) == ()
    room.clock.advance(2)
    (item,) = finder(room).find(look(room), (), oldest, grows)
    assert (item.key, item.since_ms) == ("growing", oldest.created_at), "not for longer than the oldest has waited"


def test_a_lane_that_grows_is_named_with_the_slots_that_do_not_take_it(room: Room) -> None:
    rates = flow.Rates(in_s=3.0, out_s=0.2, window_s=60.0)
    facts = flow.Facts(waiting=90, slots=1, busy=1, lane="low", elsewhere=5, alone="w1", workers=2, rates=rates)
    grows = flow.Flow(state=flow.GROWING, facts=facts, more_slots=4, helps=(flow.MORE_SLOTS,))
    (item,) = finder(room).find(look(room), (), None, grows)
    assert english(item).startswith("The low lane grows: 90 tasks waiting")
    assert "the only slot for the lane low is busy, 5 free ones do not take it; about 4 more that take" in english(item)
    assert english(item).endswith("give worker w1 more slots, or start one here that takes all lanes")
    done = (("more_slots", "w1=5"), ("start_worker", ""))
    assert item.verbs[:2] == done, "what it says can be done right there"
    several = replace(grows, facts=replace(facts, alone=""), more_slots=90)
    (item,) = finder(room).find(look(room), (), None, several)
    assert english(item).endswith("give the workers that take it more slots, or start one here that takes all lanes")
    assert item.verbs[:2] == (("start_worker", ""), ("open_workers", ""))


def test_a_task_that_hangs_is_told_with_how_long_such_tasks_take_and_what_stands_behind_it(room: Room) -> None:
    for number in range(4):
        task = room.running(f"w1#{number}", task_type="crawl")
        room.clock.advance(2)
        room.finish(task, "succeeded")
    begun = room.clock.now_ms()
    slot = SlotState(task_id="long", task_type="crawl", shop="pdd:s1", since=begun)
    behind = shops("pdd:s1", waiting=2, running=1, state="running")
    busy = (worker(room, "w1"),)
    room.clock.advance(20)
    busy = (msgspec.structs.replace(worker(room, "w1"), slots=(slot,)),)
    assert finder(room).find(look(room, workers=busy), behind, None) == (), "a little longer is no matter"
    room.clock.advance(40)
    busy = (msgspec.structs.replace(worker(room, "w1"), slots=(slot,)),)
    (item,) = finder(room).find(look(room, workers=busy), behind, None)
    assert (item.key, item.code, item.params["waiting"]) == ("hung:long", "attention.hung_before", 2)
    assert said(item) == ["It has run for 1 min, usually 2 s, and says nothing of how far it is"]
    assert item.verbs[0] == ("stop_task", "long")
    moves = (msgspec.structs.replace(busy[0], slots=(msgspec.structs.replace(slot, progress=40),)),)
    assert finder(room).find(look(room, workers=moves), behind, None) == (), "it says that it gets on"


def test_a_republish_that_ended_in_the_middle_is_told_before_its_causes(room: Room) -> None:
    died(room, "s1", "timeout")
    broken = BrokenRun(run_id="r1", who="ann@desk", sent=7, of=16, at_ms=5)
    causes = CauseQueries(room.store)
    tells = AttentionFinder(room.store, causes, room.clock, str, room.registry, lambda: broken)
    first, second = tells.find(look(room), (), None)
    assert english(first).startswith("A republish stopped half way: 7 of 16 sent: by ann@desk; it does not go on by")
    assert (first.verbs, second.key.partition(":")[0]) == ((("triage_run", ""),), "dead")


def test_a_pause_says_how_many_wait_for_it(room: Room) -> None:
    pause = Pause(scope="platform:pdd", by="ann", at=1)
    room.store.set_pause(pause)
    room.create(shop_id="s1")
    room.create(shop_id="s2")
    item = found(room, pauses=(pause,))["paused:platform:pdd"]
    assert item.params["waiting"] == 2


def test_republished_letters_that_die_again_are_told(room: Room) -> None:
    for number in range(3):
        died(room, f"s{number}", "network")
    letters = [task.task_id for task in TaskQueries(room.store, room.registry).each("status:dead")]
    republisher = Republisher(room.store, room.steps, room.registry, "ann")
    made = republisher.apply(republisher.prepare(letters, changes=Changes(), if_duplicate="reject")).made
    assert "republished:aaaa" not in found(room)
    again = [room.task(task_id) for task_id in made.values()]
    for number, task in enumerate(again[:2]):
        room.finish(room.claim(task, f"x#{number}"), "dead", error="no", error_kind="network", fingerprint="aaaa")
    item = found(room)["republished:aaaa"]
    told = {"again": 2, "of": 3, "left": 1, "done": 0}
    assert (item.code, item.params) == ("attention.republished_running", told)
    room.finish(room.claim(again[2], "x#9"), "succeeded")
    item = found(room)["republished:aaaa"]
    assert (item.code, item.params["done"]) == ("attention.republished_again", 1)
    for task in again[:2]:
        room.ask(SetTriage(task_id=task.task_id, triage="ignored", by="ann"))
    assert "republished:aaaa" not in found(room)


def test_a_cause_that_would_pass_now_is_told_so_though_no_letter_came_or_went(room: Room) -> None:
    for number in range(2):
        died(room, f"s{number}", "network", print_="a" * 16)
    tells = finder(room)
    assert tells.find(look(room), (), None)[0].verbs[0][0] == "triage"
    room.clock.advance(5)
    room.finish(room.running(shop_id="s1"), "succeeded")
    room.clock.advance(30)
    assert tells.find(look(room), (), None)[0].verbs[0][0] == "triage_now"


def test_a_cause_that_was_edited_and_died_again_is_one_item_that_says_so(room: Room) -> None:
    for number in range(3):
        died(room, f"s{number}", "bad_payload", print_="a" * 16)
    died(room, "s9", "risk_control", print_="b" * 16)
    (letter,) = [task for task in TaskQueries(room.store, room.registry).each("status:dead") if task.shop_id == "s0"]
    republisher = Republisher(room.store, room.steps, room.registry, "ann")
    changes = Changes(payload={"n": 2})
    made = republisher.apply(republisher.prepare([letter.task_id], changes=changes, if_duplicate="reject")).made
    again = room.claim(room.task(made[letter.task_id]), "x#1")
    room.finish(again, "dead", error="bad_payload: no", error_kind="bad_payload", fingerprint="a" * 16)
    first, second = (item for item in found(room).values() if item.severity == "dead")
    assert (first.key.partition(":")[0], first.params["count"], second.params["kind"]) == ("dead", 3, "risk_control")
    assert "1 of 1 that were republished died of it again, 1 of them with a changed message" in english(first)


def test_republished_letters_that_fail_again_are_told_before_they_die(room: Room) -> None:
    died(room, "s1", "network", print_="a" * 16)
    died(room, "s2", "network", print_="a" * 16)
    letters = [task.task_id for task in TaskQueries(room.store, room.registry).each("status:dead")]
    republisher = Republisher(room.store, room.steps, room.registry, "ann")
    made = republisher.apply(republisher.prepare(letters, changes=Changes(), if_duplicate="reject")).made
    first, second = (room.claim(room.task(task_id), f"x#{task_id}") for task_id in made.values())
    room.finish(first, "succeeded")
    failed = Attempt(
        number=1, worker="w", started_at=second.started_at, ended_at=second.started_at + 5, outcome="failed",
        error_kind="network",
    )  # fmt: skip
    room.finish(second, "retrying", delay_ms=60_000, attempt=failed)
    item = found(room)["republished:" + "a" * 16]
    told = {"failing": 1, "of": 2, "done": 1, "left_ms": 60_000}
    assert (item.code, item.params) == ("attention.republished_failing", told)
    assert "1 succeeded and 1 failed again. They try again by themselves, the first in 1 min" in english(item)
    assert item.verbs == (("open_tasks", f"id:{second.task_id}"),)
    died(room, "s3", "network", print_="a" * 16)
    (dead,) = [one for key, one in found(room).items() if key.startswith("dead:")]
    assert dead.facts[0].code == "worth.failing", "it is about to be seen whether the rest would pass"
    assert dead.verbs[0][0] == "triage"


def failed(room: Room, shop: str, retries: int, delay_ms: int) -> Task:
    """A task that waits for its second attempt."""
    task = room.claim(room.create(shop_id=shop, max_retries=retries), f"r#{shop}")
    one = Attempt(
        number=1, worker="w", started_at=task.started_at, ended_at=task.started_at + 5, outcome="failed",
        error_kind="network",
    )  # fmt: skip
    room.finish(task, "retrying", delay_ms=delay_ms, attempt=one, error="network: no", error_kind="network")
    return room.task(task.task_id)


def test_a_last_try_that_comes_is_told_low_in_the_list(room: Room) -> None:
    failed(room, "s1", 3, 1_000)
    assert "last_tries" not in found(room), "two more follow"
    alone = failed(room, "s2", 1, 60_000)
    item = found(room)["last_tries"]
    assert (item.code, item.severity, item.verbs) == (
        "attention.last_try", "retrying", (("open_tasks", f"id:{alone.task_id}"),),
    )  # fmt: skip
    assert english(item) == (
        "work of <pdd:s2>: the last try starts in 1 min: It goes by itself; if it fails, it is a dead letter;"
        " network error"
    )
    second = failed(room, "s3", 1, 30_000)
    pause = Pause(scope="all", by="ann", at=1)
    items = found(room, pauses=(pause,))
    assert list(items)[-2:] == ["last_tries", "paused:all"]
    item = items["last_tries"]
    assert (item.params["tasks"], item.params["until"]) == (2, second.due_at)
    assert english(item).startswith("2 tasks before the last try, the first in 30 s: <pdd:s3>, <pdd:s2>. They go by")
    room.clock.advance(31)
    assert "the first now" in english(found(room)["last_tries"])


def test_items_stand_in_the_order_of_what_a_person_must_do(room: Room) -> None:
    died(room, "s9", "network")
    room.finish(room.running("w#1"), "held")
    session = ClosedSession(shop="pdd:s2", kind="captcha", since=5)
    items = finder(room).find(
        look(room, sessions=(session,), leader="", pauses=(Pause(scope="all", by="ann", at=1),)), (), None
    )
    assert [item.key.partition(":")[0] for item in items] == ["held", "session", "dead", "no_leader", "paused"]


def test_workers_that_cannot_reach_the_broker_are_an_item(room: Room) -> None:
    room.create()
    since = room.clock.now_ms() - 90_000
    apart = [worker(room, f"w{n}", link=LinkState(error="lost", lost_at=since)) for n in (2, 3, 4, 5)]
    items = found(room, workers=(worker(room), *apart[:1]))
    assert list(items) == ["cut_off"]
    assert english(items["cut_off"]) == "1 worker cannot reach the broker: w2"
    assert (items["cut_off"].since_ms, items["cut_off"].verbs) == (since, (("open_worker", "w2"),))
    (several,) = found(room, workers=(worker(room), *apart)).values()
    assert english(several) == "4 workers cannot reach the broker: w2, w3, w4 and 1 more"
    (nobody,) = found(room, workers=apart[:2]).values()
    assert english(nobody) == "No worker takes tasks: 1 task waiting; 2 workers cannot reach the broker"
    assert nobody.severity == "dead"
    assert list(found(room, workers=apart[:2], broker=BrokerHealth(connected=False, error="lost"))) == ["broker_lost"]
