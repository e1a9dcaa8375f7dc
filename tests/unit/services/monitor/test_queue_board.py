"""The rows of Queues over a real store and broker."""

from __future__ import annotations

import dataclasses
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
from services.domain.insight import depth
from services.domain.task.order import BrokerHealth, QueueDepth
from services.domain.task.search.query import Query, equals
from services.engine.lead.shop_queues import ShopQueues
from services.monitor.history import History
from services.monitor.live import Live
from services.monitor.queues import board as board_module
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


def test_a_lane_has_one_depth_wherever_it_is_told(room: Room, live: Live) -> None:
    """On the page, in its curve, and wherever else lanes are told: what a shop's own queue parks counts in its lane."""
    board = QueueBoard(QueueQueries(room.store, room.registry, (30, 60)), live, History(None), room.clock)
    shops = [Shop(platform="pdd", shop_id=one, dedicated=one == "own") for one in ("own", "other")]
    room.store.put_shops(shops)
    room.registry.forget()
    queues = ShopQueues(room.store, room.broker, room.steps, room.registry, room.clock)
    queues.settle(shops[0], "test")
    room.create(shop_id="own", priority="normal")
    room.store.set_pause(Pause(scope="platform:pdd", by="ann", at=room.store.now_ms()))
    for lane in ("normal", "high"):
        for shop in ("own", "own", "other"):
            task = room.create(shop_id=shop, priority=lane)
            claim = Claim(
                task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner="w1#1", worker="w1", lease_ms=9
            )
            room.ask(claim)
            assert room.task(task.task_id).status == "blocked"
    board.now()  # after it own queues are known, and have curves
    live.start()
    eventually(lambda: live.snapshot().told and live.snapshot().counts.status.get("blocked") == 6)
    snapshot, now = live.snapshot(), board.now()
    rows = {row.lane: row for row in now.rows if row.lane}
    told = {one.lane: one.depth for one in depth.lanes(snapshot.counts, snapshot.depths)}
    assert {name: row.depth for name, row in rows.items()} == {name: told[name] for name in rows}
    assert rows["high"].parked == 3
    eventually(lambda: bool(board.story(rows["high"], 60, 9)))
    assert board.story(rows["high"], 60, 9)[-1].depth == rows["high"].depth
    for row in (*rows.values(), *(row for row in now.rows if row.shop)):
        where = equals("lane", row.lane) if row.lane else equals("shop", row.shop)
        waits = equals("status", "pending", "queued", "blocked")
        assert row.tasks == len(room.store.query(Query(terms=(waits, where))).tasks)
        assert row.apart is bool(row.lane)


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


@pytest.mark.parametrize("blocked", [False, True])
def test_of_queues_of_shops_that_are_not_listed_a_stuck_one_is_told_too(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch, blocked: bool
) -> None:
    shops = [Shop(platform="pdd", shop_id=f"s{number:02}", dedicated=True) for number in range(23)]
    room.store.put_shops(shops)
    for shop in shops:
        room.store.put_document(shop_queue.KIND, shop.key, shop_queue.DOCUMENT.dump(ShopQueue(state=OPEN)))
    depths = [
        QueueDepth(name=f"single_shop_{shop.shop_id}", kind="shop", ready=10 if at < 20 else 3, unacked=0, consumers=1)
        for at, shop in enumerate(shops[:22])
    ]
    monkeypatch.setattr(room.broker, "depths", lambda: depths)
    monkeypatch.setattr(room.broker, "health", lambda: BrokerHealth(connected=True, blocked=blocked))
    board = QueueBoard(QueueQueries(room.store, room.registry, (30, 60)), live, History(None), room.clock)
    for _ in range(3):
        room.create(shop_id="s20")
    live.start()
    eventually(lambda: live.snapshot().told and live.snapshot().counts.total == 3)
    questions: list[object] = []
    grouped = room.store.grouped
    monkeypatch.setattr(room.store, "grouped", lambda *asked: questions.append(asked) or grouped(*asked))
    assert board.now().unlisted == ("blocked",) * 3 * blocked
    assert not questions
    later = dataclasses.replace(live.snapshot(), at_ms=live.snapshot().at_ms + 7_200_000)
    monkeypatch.setattr(live, "snapshot", lambda: later)
    now = board.now()
    assert now.unlisted == (("blocked",) * 3 if blocked else ("stuck",))
    assert len(questions) == (0 if blocked else 1)
    assert now.needing() == Needing(number=23, worst="blocked") if blocked else Needing(number=1, worst="stuck")
    assert board.needing() == board.now(100).needing() == now.needing()


def test_the_oldest_of_a_lane_is_not_looked_for_behind_all_that_waits_in_queues_of_shops(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_module, "LOOKED", 4)
    monkeypatch.setattr(board_module, "PEEKED", 2)
    own = Shop(platform="pdd", shop_id="own", dedicated=True)
    room.store.put_shops([own, Shop(platform="pdd", shop_id="other")])
    room.registry.forget()
    ShopQueues(room.store, room.broker, room.steps, room.registry, room.clock).settle(own, "test")
    for _ in range(3):
        room.create(shop_id="own", priority="normal")
    room.clock.advance(1)
    behind = room.create(shop_id="other", priority="normal")
    board = QueueBoard(QueueQueries(room.store, room.registry, (30, 60)), live, History(None), room.clock)
    live.start()
    eventually(lambda: live.snapshot().told and live.snapshot().counts.total == 4)

    def oldest() -> int:
        return next(row.oldest_at for row in board.now().rows if row.lane == "normal")

    assert oldest() == behind.created_at
    for _ in range(3):
        room.create(shop_id="own", priority="normal")
    assert oldest() == behind.created_at, "the first ones are those that wait longest"
    monkeypatch.setattr(board_module, "LOOKED", 2)
    asked: list[Query] = []
    query = room.store.query
    monkeypatch.setattr(room.store, "query", lambda one: asked.append(one) or query(one))
    assert oldest() == 0
    of_lane = [one for one in asked if equals("lane", "normal") in one.terms]
    assert len(of_lane) == 1
