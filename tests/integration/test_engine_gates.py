"""Limits of shops, pauses, plans: what waits, waits for a named reason and goes on by itself; both pairs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from services import assembly
from services.domain.fleet.shop import Pause
from services.domain.task.event import Event
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, lines


def most_at_once(events: Iterable[Event]) -> dict[str, int]:
    """The largest number of running tasks per shop, replayed from the event stream."""
    now: dict[str, set[str]] = {}
    most: dict[str, int] = {}
    for event in events:
        shop = now.setdefault(event.shop_id, set())
        if event.to == "running":
            shop.add(event.task_id)
        elif event.from_ == "running":
            shop.discard(event.task_id)
        most[event.shop_id] = max(most.get(event.shop_id, 0), len(shop))
    return most


def test_a_shop_never_runs_more_than_it_may(fleet: Fleet, seen: Path) -> None:
    fleet.shop("wide", concurrency=3)
    cursor = fleet.cursor()
    shops = ["s1", "s2", "s3", "wide"]
    ids = [fleet.create(shop, seen=str(seen), sleep=0.02, n=number) for number in range(12) for shop in shops]
    for name in ("w1", "w2"):
        fleet.worker(8, engine=fleet.open(), name=name)
    tasks = fleet.wait_ended(ids)
    assert {task.status for task in tasks} == {"succeeded"}
    assert len(lines(seen, "start")) == len(ids)
    most = most_at_once(fleet.events(cursor))
    assert {shop: most[shop] for shop in shops[:3]} == {"s1": 1, "s2": 1, "s3": 1}
    assert 2 <= most["wide"] <= 3
    assert all(task.attempt == 1 for task in tasks), "waiting at a gate is no attempt"


def test_of_those_that_wait_for_a_shop_the_most_urgent_goes_first(fleet: Fleet, seen: Path) -> None:
    gate = fleet.folder / "open"
    first = fleet.create(until=str(gate))
    fleet.worker(8)
    fleet.wait(first, "running")
    low, normal, high = (fleet.create(priority=word, seen=str(seen), n=word) for word in ("low", "normal", "high"))
    for task_id in (low, normal, high):
        assert fleet.wait(task_id, "blocked").gate == "shop_busy"
    assert fleet.engine.store.counts().shops["pdd:s1"] == {"running": 1, "blocked": 3}
    gate.touch()
    fleet.wait_ended([first, low, normal, high])
    assert [row[1] for row in lines(seen, "start")] == [high, normal, low]


def test_a_paused_shop_stands_still_and_others_go_on(fleet: Fleet) -> None:
    commands = fleet.commands().fleet
    commands.pause("shop:pdd:s1", reason="the login is being changed")
    waits, goes = fleet.create("s1"), fleet.create("s2")
    fleet.worker()
    fleet.wait(goes, "succeeded")
    assert fleet.wait(waits, "blocked").gate == "paused"
    detail = fleet.engine.store.pauses()
    assert [(pause.scope, pause.reason) for pause in detail] == [("shop:pdd:s1", "the login is being changed")]
    assert commands.resume("shop:pdd:s1") is True
    fleet.wait(waits, "succeeded")
    assert commands.resume("shop:pdd:s1") is False


def test_who_says_nothing_wipes_out_no_pause(fleet: Fleet) -> None:
    stood = Pause(scope="platform:pdd", by="alice@desk-01", at=1, reason="stock-taking")
    fleet.engine.store.set_pause(stood)
    commands = fleet.commands().fleet
    assert commands.pause("platform:pdd") == stood
    assert fleet.engine.store.pauses() == [stood]
    assert commands.pause("platform:pdd", reason="the bank asks") == stood
    assert [one.reason for one in fleet.engine.store.pauses()] == ["the bank asks"]
    assert commands.pause("platform:temu") is None


def test_a_pause_lets_what_runs_go_on(fleet: Fleet) -> None:
    gate = fleet.folder / "open"
    running = fleet.create(until=str(gate))
    fleet.worker()
    fleet.wait(running, "running")
    fleet.commands().fleet.pause("all")
    gate.touch()
    fleet.wait(running, "succeeded")


def test_all_platform_and_type_can_be_paused(fleet: Fleet) -> None:
    commands = fleet.commands().fleet
    fleet.worker()
    for number, scope in enumerate(("all", "platform:pdd", "type:work")):
        commands.pause(scope)
        task_id = fleet.create(f"s{number}")
        assert fleet.wait(task_id, "blocked").gate == "paused"
        commands.resume(scope)
        fleet.wait(task_id, "succeeded")


def test_the_reconciler_opens_what_nobody_opened(fleet: Fleet) -> None:
    """A pause that another program took away without telling."""
    fleet.commands().fleet.pause("shop:pdd:s1")
    task_id = fleet.create()
    fleet.worker()
    fleet.wait(task_id, "blocked")
    fleet.engine.store.clear_pause("shop:pdd:s1")
    assert fleet.reconciler().open_parked() == 1
    fleet.wait(task_id, "succeeded")


def test_more_slots_for_a_shop_release_what_waits(fleet: Fleet) -> None:
    fleet.shop("s1")
    fleet.engine.registry.forget()
    gate = fleet.folder / "open"
    first, second = fleet.create(until=str(gate), n=1), fleet.create(until=str(gate), n=2)
    fleet.worker()
    eventually(lambda: sorted(fleet.task(one).status for one in (first, second)) == ["blocked", "running"], 30)
    fleet.commands().fleet.set_concurrency("pdd:s1", 2)
    fleet.wait(first, "running")
    fleet.wait(second, "running")
    gate.touch()
    fleet.wait_ended([first, second])


def test_a_delayed_task_is_released_when_it_is_due(fleet: Fleet) -> None:
    asked = fleet.engine.store.now_ms()
    task_id, later = fleet.create(delay_s=0.4), fleet.create("s2", delay_s=3600)
    task = fleet.task(task_id)
    assert [fleet.task(one).status for one in (task_id, later)] == ["scheduled"] * 2
    assert asked <= task.due_at - 400 <= task.created_at, "counted from when it was asked for"
    assert fleet.ready("rpa_tasks_normal") == 0, "a plan waits in the store, not in the broker"
    fleet.worker()
    reconciler = fleet.reconciler()
    eventually(lambda: reconciler.release_due() == 1, 30)
    done = fleet.wait(task_id, "succeeded")
    assert done.started_at >= task.due_at
    assert reconciler.release_due() == 0
    assert fleet.task(later).status == "scheduled"


def test_cancelling_a_parked_task_frees_nothing_and_loses_nothing(fleet: Fleet) -> None:
    gate = fleet.folder / "open"
    first = fleet.create(until=str(gate), n=0)
    fleet.worker()
    fleet.wait(first, "running")
    parked = [fleet.create(n=number) for number in (1, 2)]
    for task_id in parked:
        fleet.wait(task_id, "blocked")
    assert fleet.commands().tasks.cancel(parked[:1]).done == (parked[0],)
    gate.touch()
    fleet.wait(parked[1], "succeeded")
    assert fleet.task(parked[0]).status == "cancelled"
    assert fleet.engine.store.parked_shops(10) == []


def test_a_twin_in_the_queue_is_told_whom_it_waits_for(fleet: Fleet, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    first = fleet.create(kind="single", until=str(gate))
    second = fleet.create(kind="single", until=str(gate), if_duplicate="queue")
    assert _twin(fleet, second) == ("gate.twin_first", first)
    assert _twin(fleet, first) == ("gate.no_twin", None)
    fleet.worker()
    fleet.wait(first, "running")
    fleet.wait(second, "blocked")
    assert _twin(fleet, second) == ("gate.twin_running", first)
    gate.touch()
    fleet.wait_ended([first, second])


def _twin(fleet: Fleet, task_id: str) -> tuple[str, object]:
    detail = assembly.queries(fleet.engine).tasks.detail(task_id)
    assert detail is not None
    (gate,) = [gate for gate in detail.gates if gate.name == "twin"]
    return gate.code, gate.params.get("twin")
