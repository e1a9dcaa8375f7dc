"""Questions about tasks: pages, frozen sets, and everything about one of them."""

from __future__ import annotations

import pytest

from services.domain.change import Claim, Resolve
from services.domain.errors import UsageError
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.step.transitions import LOOK_AHEAD
from services.domain.task.search.query import Total
from services.monitor import tasks
from services.monitor.tasks import TaskQueries
from services.ports import Letter, LogLine
from tests.support.counting import CountingStore
from tests.unit.services.engine.room import Room


@pytest.fixture
def queries(room: Room) -> TaskQueries:
    return TaskQueries(room.store, room.registry)


def closed(queries: TaskQueries, task_id: str) -> dict[str, str]:
    detail = queries.detail(task_id)
    assert detail is not None
    return {gate.name: gate.code for gate in detail.gates if gate.state == "closed"}


def test_a_filter_a_page_and_the_next(room: Room, queries: TaskQueries) -> None:
    for number in range(5):
        room.create(shop_id=f"s{number}")
        room.clock.advance(1)
    first = queries.page("status:queued", limit=2)
    second = queries.page("status:queued", limit=2, cursor=first.next or "")
    assert [task.shop_id for task in (*first.tasks, *second.tasks)] == ["s4", "s3", "s2", "s1"]
    assert first.total == 5
    with pytest.raises(UsageError):
        queries.page("colour:red")


def test_values_are_counted_within_the_rest_of_a_filter(
    room: Room, queries: TaskQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.store.put_shops([Shop(platform="pdd", shop_id=f"s{n}", group="east" if n else "") for n in range(3)])
    room.registry.forget()
    for number in range(3):
        room.create(shop_id=f"s{number}", task_type="sync_order" if number else "work")
    room.dead(shop_id="s1", task_type="sync_order")

    def told(text: str, field: str, *values: str) -> dict[str, tuple[int, bool]]:
        return {value: (one.number, one.exact) for value, one in queries.within(text, field, values).items()}

    assert told("status:queued", "type", "sync_order", "work", "other") == {"sync_order": (2, True), "work": (1, True)}
    assert told("type:sync_order", "status", "queued", "dead", "flight") == {
        "queued": (2, True), "dead": (1, True), "flight": (2, True),
    }  # fmt: skip
    assert told("status:dead", "shop", "pdd:s0", "pdd:s1") == {"pdd:s1": (1, True)}
    monkeypatch.setattr(tasks, "COUNTED_EACH", 1)
    assert told("type:sync_order", "shop", "pdd:s1", "pdd:s2") == {"pdd:s1": (2, True), "pdd:s2": (1, True)}
    assert told("type:sync_order", "group", "east", "west") == {"east": (3, True)}
    assert told("type:sync_order", "worker", "w1", "w2") == {}, "too many to be asked one by one"
    looked = told("error~expired", "status", "queued", "dead")
    assert {value: looked[value] for value in ("dead", "terminal")} == {"dead": (1, True), "terminal": (1, True)}
    monkeypatch.setattr(tasks, "SLICE", 1)
    monkeypatch.setattr(tasks, "LOOKED_PAGES", 2)
    assert told("s", "platform", "pdd", "temu") == {"pdd": (2, False)}, "of those that were looked at"


@pytest.mark.parametrize(("field", "values"), [("type", ["work", "other"]), ("platform", ["pdd", "temu"])])
def test_the_values_of_a_filter_are_counted_in_one_question(
    room: Room, field: str, values: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        room.create(shop_id=f"s{number}")
    store = CountingStore(room.store)
    queries = TaskQueries(store.port, room.registry)
    store.spent()
    assert {name: one.number for name, one in queries.within("status:queued", field, values).items()} == {values[0]: 3}
    assert (store.asked["grouped"], store.asked["query"]) == (1, 0)
    monkeypatch.setattr(tasks, "COUNTED_TOGETHER", 2)
    told = queries.within("status:queued", field, values)
    assert told == {values[0]: Total(3)}, "of more than are looked at together, indexes know more"


def test_a_frozen_set_has_every_page_up_to_its_limit(room: Room, queries: TaskQueries) -> None:
    room.producer.submit([room.spec(shop_id=f"s{number}") for number in range(1_050)])
    assert len(queries.ids("status:queued")) == 1_050
    assert len(queries.ids("status:queued", limit=7)) == 7
    assert queries.ids("status:dead") == ()


def test_a_task_that_waits_behind_the_same_work_names_it(room: Room, queries: TaskQueries) -> None:
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1))
    room.store.put_shops([Shop(platform="pdd", shop_id="s1", concurrency=5)])
    specs = [room.spec(payload={}, if_duplicate="queue") for _ in range(3)]
    made = []
    for spec in specs:
        made += room.producer.submit([spec]).created
        room.clock.advance(0.001)  # of the same instant, the ids would decide
    first, second, third = made
    assert twin(queries, first.task_id) == ("gate.no_twin", None)
    assert twin(queries, second.task_id) == twin(queries, third.task_id) == ("gate.twin_first", first.task_id)
    running = room.claim(room.task(first.task_id), "w7#1")
    assert twin(queries, third.task_id) == ("gate.twin_running", first.task_id)
    assert "twin" in closed(queries, second.task_id)
    room.finish(running, "held", error_kind="worker_lost")
    assert twin(queries, third.task_id) == ("gate.twin_held", first.task_id)
    room.ask(Resolve(task_id=first.task_id, to="succeeded", by="ann"))
    assert twin(queries, second.task_id) == ("gate.no_twin", None)
    assert twin(queries, third.task_id) == ("gate.twin_first", second.task_id)


def twin(queries: TaskQueries, task_id: str) -> tuple[str, object]:
    """What the gate says, and whom it names."""
    detail = queries.detail(task_id)
    assert detail is not None
    (gate,) = [gate for gate in detail.gates if gate.name == "twin"]
    return gate.code, gate.params.get("twin")


def test_why_a_task_waits(room: Room, queries: TaskQueries) -> None:
    task = room.create()
    assert closed(queries, task.task_id) == {"no_worker": "gate.no_worker_at_all"}
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, lacks={"rpa": "flowrun"}))
    assert closed(queries, task.task_id) == {"no_worker": "gate.needs_program"}
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, executors=("rpa",), slots=(SlotState(),)))
    assert closed(queries, task.task_id) == {"lane_order": "gate.front"}
    room.store.set_pause(Pause(scope="shop:pdd:s1", by="ann", reason="login"))
    assert closed(queries, task.task_id) == {"paused": "gate.paused"}
    room.store.clear_pause("shop:pdd:s1")
    room.running("w1#9")
    assert (
        room.ask(Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1)).code == "blocked"
    )
    assert closed(queries, task.task_id) == {"shop_busy": "gate.shop_busy"}


def test_parked_behind_messages_it_names_the_first(room: Room, queries: TaskQueries) -> None:
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, executors=("rpa",)))
    tasks = []
    for _ in range(LOOK_AHEAD + 3):
        tasks.append(room.create())
        room.clock.advance(0.01)
    first, last, parked = tasks[0], tasks[-2], tasks[-1]
    detail = queries.detail(parked.task_id)
    assert detail is not None
    (gate,) = [gate for gate in detail.gates if gate.name == "shop_busy"]
    assert (gate.code, gate.params["first"]) == ("gate.shop_queue", first.task_id)
    assert (gate.params["count"], gate.params["ahead"]) == (LOOK_AHEAD + 1, 1)
    assert last.status == "blocked"


@pytest.mark.parametrize("most", [1000, 2])
def test_what_a_pause_of_its_type_holds_back_does_not_go_first(
    room: Room, queries: TaskQueries, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("services.monitor.waits.waiting.OF_SHOP", most)
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, executors=("rpa",)))
    room.running("w1#9")
    for _ in range(LOOK_AHEAD + 5):
        room.create(task_type="full_sync")
        room.clock.advance(0.01)
    room.create()
    room.clock.advance(0.01)
    last = room.create()

    def ahead() -> object:
        detail = queries.detail(last.task_id)
        assert detail is not None
        return next(gate for gate in detail.gates if gate.name == "shop_busy").params["ahead"]

    before = ahead()
    assert isinstance(before, int)
    room.store.set_pause(Pause(scope="type:full_sync", by="ann", reason="the file server moves"))
    held = list(queries.each("type:full_sync status:blocked"))
    assert len(held) >= 5
    assert ahead() == before - len(held)


def test_how_many_go_first(room: Room, queries: TaskQueries) -> None:
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, executors=("rpa",)))
    for number in range(3):
        room.create(shop_id=f"x{number}")
        room.clock.advance(1)
    detail = queries.detail(room.create().task_id)
    assert detail is not None
    (gate,) = [gate for gate in detail.gates if gate.name == "lane_order"]
    assert (gate.state, gate.params["ahead"]) == ("closed", 3)


def test_only_what_asks_for_it_has_a_verdict_and_a_letter(room: Room, queries: TaskQueries) -> None:
    task = room.dead()
    room.store.put_letter(Letter(task_id=task.task_id, body=b"{}"))
    detail = queries.detail(task.task_id)
    assert detail is not None
    assert detail.verdict is not None
    assert (detail.gates, detail.letter is not None) == ((), True)
    running = queries.detail(room.running(shop_id="s2").task_id)
    assert running is not None
    assert (running.gates, running.verdict, running.letter) == ((), None, None)
    assert queries.detail("nobody") is None


def test_the_log_of_an_attempt_goes_on_from_a_place(room: Room, queries: TaskQueries) -> None:
    task = room.running()
    room.store.append_log(task.task_id, 1, [LogLine(1, "out", "one"), LogLine(2, "err", "two")])
    first = queries.log(task.task_id, 1)
    assert ([line.text for line in first.lines], first.place) == (["one", "two"], 2)
    room.store.append_log(task.task_id, 1, [LogLine(3, "out", "three")])
    assert [line.text for line in queries.log(task.task_id, 1, first.place).lines] == ["three"]


def test_those_that_exist_in_the_order_asked(room: Room, queries: TaskQueries) -> None:
    first, second = room.create(), room.create(shop_id="s2")
    assert queries.get([second.task_id, "nobody", first.task_id]) == [second, first]
