"""The rows of Queues over a real store and broker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from services.clock import SystemClock
from services.domain.change import Claim
from services.domain.errors import BrokerUnavailable
from services.domain.fleet import shop_queue
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.shop_queue import OPEN, ShopQueue
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task.order import BrokerHealth, QueueDepth
from services.engine.lead.shop_queues import ShopQueues
from services.monitor.history import History
from services.monitor.live import Live
from services.monitor.queues.board import DELAY, Needing, QueueBoard
from services.monitor.queues.queries import QueueQueries
from tests.contract.waiting import eventually
from tests.unit.services.engine.room import Room


@pytest.fixture
def live(room: Room) -> Iterator[Live]:
    made = Live(room.store, room.broker, SystemClock())
    yield made
    made.close()


def test_of_a_lost_broker_no_queue_is_called_empty(room: Room, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    board = QueueBoard(QueueQueries(room.store, room.registry, (30, 60)), live, History(None), room.clock)
    room.create(shop_id="s1")
    live.start()
    eventually(lambda: live.snapshot().told)

    def of_broker() -> set[tuple[int | None, str]]:
        return {(row.ready, row.state) for row in board.now().rows if row.kind == DELAY or row.lane == "high"}

    assert of_broker() == {(0, "empty")}

    def silent() -> object:
        raise BrokerUnavailable("rabbit.example.com:5672 refused the connection")

    monkeypatch.setattr(room.broker, "depths", silent)
    eventually(lambda: not live.snapshot().told)
    assert of_broker() == {(None, "unknown")}
    monkeypatch.undo()
    eventually(lambda: live.snapshot().told)
    assert of_broker() == {(0, "empty")}


@pytest.mark.parametrize(
    ("workers", "most", "state"),
    [
        (["#"], 1, "running"),
        (["."], 1, "no_consumer"),
        (["########", "##"], 8, "running"),
        (["#......."], 8, "no_consumer"),
        (["#", "."], 1, "no_consumer"),
        (["##......"], 2, "running"),
        (["##......"], 3, "no_consumer"),
    ],
)
def test_a_lane_whose_workers_have_no_free_slot_lacks_no_consumer(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch, workers: list[str], most: int, state: str
) -> None:
    """They take their consumers back until one is free; nobody has to start another worker for that."""
    board = QueueBoard(QueueQueries(room.store, room.registry, (30, 60)), live, History(None), room.clock)
    room.create(shop_id="s1")
    info = WorkerInfo(worker="", host="h", pid=1, state="running", lanes=("normal",), shares={"normal": (0, most)})
    for number, drawn in enumerate(workers):
        slots = tuple(SlotState(task_id=f"t{at}" if one == "#" else "", lane="normal") for at, one in enumerate(drawn))
        room.store.heartbeat(replace(info, worker=f"w{number}", slots=slots))
    lanes = [QueueDepth(name=f"rpa_tasks_{one}", ready=1, unacked=0, consumers=0) for one in ("high", "normal")]
    monkeypatch.setattr(room.broker, "depths", lambda: lanes)
    live.start()
    eventually(lambda: live.snapshot().told and len(live.snapshot().workers) == len(workers))
    rows = {row.lane: row.state for row in board.now().rows}
    assert (rows["normal"], rows["high"]) == (state, "no_consumer")


def test_who_may_not_read_a_lane_serves_the_queues_of_shops_and_not_that_lane(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All its slots are busy, so that no queue has a consumer; one that it serves lacks none."""
    board = QueueBoard(QueueQueries(room.store, room.registry, (30, 60)), live, History(None), room.clock)
    room.store.put_shops([Shop(platform="pdd", shop_id="own", dedicated=True)])
    room.registry.forget()
    room.store.put_document(shop_queue.KIND, "pdd:own", shop_queue.DOCUMENT.dump(ShopQueue(state=OPEN)))
    busy = (SlotState(task_id="t", lane="normal"),)
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, state="running", slots=busy, closed=("low",)))
    names = ("rpa_tasks_high", "rpa_tasks_normal", "rpa_tasks_low", "single_shop_own")
    depths = [QueueDepth(name=one, ready=1, unacked=0, consumers=0) for one in names]
    monkeypatch.setattr(room.broker, "depths", lambda: depths)
    live.start()
    eventually(lambda: live.snapshot().told and live.snapshot().workers)
    lacking = {row.name for row in board.now().rows if row.state == "no_consumer"}
    assert lacking == {"rpa_tasks_low"}


def test_the_forecast_follows_a_loss_of_the_broker_at_once(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = QueueBoard(QueueQueries(room.store, room.registry, (30, 60)), live, History(None), room.clock)
    room.create(shop_id="s1")
    live.start()
    eventually(lambda: live.snapshot().told)

    def told() -> set[str]:
        return {row.said.code for row in board.forecast().rows}

    assert told() == {"drain.nobody"}
    monkeypatch.setattr(room.broker, "health", lambda: BrokerHealth(connected=False))
    eventually(lambda: not live.snapshot().broker.connected)
    assert told() == {"drain.lost"}
    monkeypatch.undo()
    eventually(lambda: live.snapshot().broker.connected)
    assert told() == {"drain.nobody"}


def test_a_delay_that_is_configured_no_more_is_listed_while_messages_wait_in_it(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [
        QueueDepth(name=f"rpa_delay_{level}s", kind=DELAY, ready=ready, unacked=None, consumers=0)
        for level, ready in ((90, 2), (45, 0))
    ]
    depths = room.broker.depths()
    monkeypatch.setattr(room.broker, "depths", lambda: [*depths, *left])
    board = QueueBoard(QueueQueries(room.store, room.registry, (30,)), live, History(None), room.clock)
    live.start()
    eventually(lambda: live.snapshot().told)
    assert [row.name for row in board.now().rows if row.kind == DELAY] == ["rpa_delay_30s", "rpa_delay_90s"]


def test_the_forecast_is_looked_at_seldom_while_nobody_works_and_nothing_is_heard(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = QueueBoard(QueueQueries(room.store, room.registry, (30, 60)), live, History(None), room.clock)
    room.create(shop_id="s1")
    live.start()
    eventually(lambda: bool(live.snapshot().told and live.snapshot().counts.total))
    first, told = board.forecast(), live.snapshot().heard()
    room.clock.advance(60)
    assert board.forecast() is first
    room.clock.advance(90)
    assert board.forecast() is not first
    first = board.forecast()
    room.create(shop_id="s2")
    eventually(lambda: live.snapshot().heard() != told)
    room.clock.advance(31)
    assert {row.waiting for row in board.forecast().rows} == {2}


@pytest.mark.parametrize("lanes", [("normal",), ("normal", "high")])
def test_what_is_parked_of_a_shop_with_a_queue_of_its_own_waits_in_no_lane(
    room: Room, live: Live, lanes: tuple[str, ...]
) -> None:
    board = QueueBoard(QueueQueries(room.store, room.registry, (30, 60)), live, History(None), room.clock)
    shops = [Shop(platform="pdd", shop_id=one, dedicated=one == "own") for one in ("own", "other")]
    room.store.put_shops(shops)
    room.registry.forget()
    queues = ShopQueues(room.store, room.broker, room.steps, room.registry, room.clock)
    queues.settle(shops[0], "test")
    room.store.set_pause(Pause(scope="platform:pdd", by="ann", at=room.store.now_ms()))
    for lane in lanes:
        for shop in ("own", "own", "other"):
            task = room.create(shop_id=shop, priority=lane)
            claim = Claim(
                task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner="w1#1", worker="w1", lease_ms=9
            )
            room.ask(claim)
            assert room.task(task.task_id).status == "blocked"
    live.start()
    eventually(lambda: live.snapshot().told and live.snapshot().counts.status.get("blocked") == 3 * len(lanes))
    rows = {row.name: row for row in board.now().rows}
    parked = {name: row.parked for name, row in rows.items() if row.parked}
    assert parked == {f"rpa_tasks_{lane}": 1 for lane in lanes} | {"single_shop_own": 2 * len(lanes)}
    assert {row.without for row in rows.values() if row.lane} == {("pdd:own",)}
    for name, number in parked.items():
        assert len(board.questions.peek(name).tasks) == number


def test_queues_of_shops_that_are_not_listed_count_all_the_same(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    shops = [Shop(platform="pdd", shop_id=f"s{number:02}", dedicated=True) for number in range(30)]
    room.store.put_shops(shops)
    for shop in shops:
        room.store.put_document(shop_queue.KIND, shop.key, shop_queue.DOCUMENT.dump(ShopQueue(state=OPEN)))
    depths = [
        QueueDepth(name=f"single_shop_{shop.shop_id}", kind="shop", ready=40 - at, unacked=2, consumers=int(at < 25))
        for at, shop in enumerate(shops)
    ]
    lanes = [QueueDepth(name="rpa_tasks_normal", kind="lane", ready=7, unacked=1, consumers=1)]
    monkeypatch.setattr(room.broker, "depths", lambda: [*lanes, *depths])
    board = QueueBoard(QueueQueries(room.store, room.registry, (30, 60)), live, History(None), room.clock)
    live.start()
    eventually(lambda: live.snapshot().told)
    now = board.now()
    assert len([row for row in now.rows if row.kind == "shop"]) == 20
    assert (now.ready, now.held) == (7 + sum(40 - at for at in range(30)), 61)
    assert (now.unlisted, now.needing(), board.needing()) == (
        ("no_consumer",) * 5,
        Needing(number=5, worst="no_consumer"),
        now.needing(),
    )
    everything = board.now(100)
    assert (len([row for row in everything.rows if row.kind == "shop"]), everything.unlisted) == (30, ())
    assert everything.needing() == now.needing()
