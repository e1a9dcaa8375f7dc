"""The Overview's answers over a real store."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Iterator

import pytest

from services.clock import SystemClock
from services.domain.errors import BrokerUnavailable, StoreUnavailable
from services.domain.fleet.shop import Shop
from services.domain.gates.quiet_hours import Quiet
from services.monitor.forecast.flow import FlowQueries
from services.monitor.history import History
from services.monitor.letters.causes import CauseQueries
from services.monitor.live import Live
from services.monitor.numbers.meter import Meter
from services.monitor.overview import DUE
from services.monitor.overview_source import OverviewQueries
from tests.contract.waiting import eventually
from tests.unit.services.engine.room import Room


@pytest.fixture
def live(room: Room) -> Iterator[Live]:
    made = Live(room.store, room.broker, SystemClock())
    yield made
    made.close()


@pytest.fixture
def overview(room: Room, live: Live) -> OverviewQueries:
    room.store.put_shops([Shop(platform="pdd", shop_id="s1", name="柚子")])
    return OverviewQueries(room.store, room.registry, live, History(None), CauseQueries(room.store), SystemClock())


def test_everything_of_one_moment(room: Room, live: Live, overview: OverviewQueries) -> None:
    room.create(shop_id="s1")
    room.dead(shop_id="s2")
    live.start()
    eventually(lambda: live.snapshot().counts.total == 2)
    now = overview.now()
    assert (now.dead_open, now.flow.facts.waiting, now.oldest_waiting_shop) == (1, 1, "柚子")
    assert {item.key.partition(":")[0] for item in now.attention} == {"dead", "no_workers"}


def test_a_retry_whose_delay_is_over_is_told_as_due(
    room: Room, live: Live, overview: OverviewQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.finish(room.running(shop_id="s1"), "retrying", delay_ms=600_000)
    live.start()
    eventually(lambda: live.snapshot().counts.status.get("retrying"))
    assert overview.now().retry_levels == ((600, 1),)
    monkeypatch.setattr(live, "now_ms", lambda: room.store.now_ms() + 700_000)
    assert overview.now().retry_levels == ((DUE, 1),)


def test_a_newer_snapshot_asks_nobody_and_changes_no_number_beside_its_items(
    room: Room, live: Live, overview: OverviewQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.start()
    eventually(lambda: live.snapshot().at_ms)
    now = overview.now()
    room.dead(shop_id="s1")
    eventually(lambda: live.snapshot().counts.triage)
    for name in ("query", "counts", "workers"):
        monkeypatch.setattr(room.store, name, None)
    assert overview.fresh(now) is now


def test_what_changes_while_it_is_asked_is_asked_again(room: Room, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    # by a clock that stands still: asking again is always cheap
    overview = OverviewQueries(room.store, room.registry, live, History(None), CauseQueries(room.store), room.clock)
    room.create(shop_id="s1")
    live.start()
    eventually(lambda: live.snapshot().counts.total == 1)
    ask, late = room.store.breakers, ["s2", "s3"]

    def meanwhile() -> object:
        if late:
            room.create(shop_id=late.pop())
        return ask()

    monkeypatch.setattr(room.store, "breakers", meanwhile)
    now = overview.now()
    (waits,) = (item for item in now.attention if item.key == "no_workers")
    assert now.flow.facts.waiting == waits.params["tasks"] == sum(shop.waiting for shop in now.shops) == 3


def test_it_tells_of_what_happened_since_the_newest_snapshot(room: Room, live: Live, overview: OverviewQueries) -> None:
    live.start()
    eventually(lambda: live.snapshot().at_ms)
    live.close()
    room.dead(shop_id="s1")
    assert not live.snapshot().counts.triage
    assert overview.now().dead_open == 1


class Slow(SystemClock):
    """A machine on which everything takes a second."""

    def __init__(self) -> None:
        super().__init__()
        self._at = 0.0

    def monotonic(self) -> float:  # type: ignore[override]
        """A second later each time."""
        self._at += 1.0
        return self._at


def test_between_two_judgements_the_numbers_are_of_the_moment(room: Room, live: Live) -> None:
    overview = OverviewQueries(room.store, room.registry, live, History(None), CauseQueries(room.store), Slow())
    room.create(shop_id="s1")
    live.start()
    eventually(lambda: live.snapshot().counts.total == 1)
    before = overview.now()
    room.create(shop_id="s2")
    now = overview.now()
    (waits,) = (item for item in now.attention if item.key == "no_workers")
    assert (before.flow.facts.waiting, now.flow.facts.waiting, waits.params["tasks"]) == (1, 2, 2)
    assert now.flow.state == before.flow.state


def test_snapshots_become_samples(room: Room, live: Live, overview: OverviewQueries) -> None:
    live.start()
    (first, *_rest) = eventually(lambda: overview.series(60, 100))
    assert first.at_ms > 0


def test_without_the_store_nobody_knows_how_a_shop_does(room: Room, live: Live, overview: OverviewQueries) -> None:
    room.create(shop_id="s1")
    live.start()
    eventually(lambda: live.snapshot().counts.total == 1)
    now = overview.now()
    room.store.silent = 10_000
    eventually(lambda: not live.snapshot().store.connected)
    (shop,) = overview.fresh(now).shops
    assert (shop.state, shop.under, shop.lost) == ("unknown", now.shops[0].under or now.shops[0].state, "store")
    room.store.silent = 0
    eventually(lambda: live.snapshot().store.connected)


def test_what_a_lost_broker_told_last_is_not_recorded_as_if_it_told_it_again(
    room: Room, live: Live, overview: OverviewQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.create(shop_id="s1")
    live.start()
    assert eventually(lambda: [row for row in overview.series(60, 100) if row.normal])[-1].told

    def silent() -> object:
        raise BrokerUnavailable("rabbit.example.com:5672 refused the connection")

    monkeypatch.setattr(room.broker, "depths", silent)

    def newest(told: bool) -> bool:
        room.clock.advance(1)
        return overview.series(60, 100)[-1].told is told

    eventually(lambda: newest(told=False))
    last = overview.series(60, 100)[-1]
    assert (last.told, last.normal, last.unacked) == (False, 0, 0)
    assert last.waiting == 1, "what waits the records tell"
    monkeypatch.undo()
    eventually(lambda: newest(told=True))
    assert overview.series(60, 100)[-1].normal == 1


class Told(SystemClock):
    """A clock that stands still until it is told to go on."""

    at = 1.0

    def monotonic(self) -> float:  # type: ignore[override]
        """As it was told."""
        return self.at


def test_letters_that_are_counted_before_they_may_be_grouped_are_owed(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, causes = Told(), CauseQueries(room.store)
    ask = causes.causes

    def slow() -> object:
        clock.at += 0.04  # so long it takes
        return ask()

    monkeypatch.setattr(causes, "causes", slow)
    overview = OverviewQueries(room.store, room.registry, live, History(None), causes, clock)
    room.dead(shop_id="s1")
    live.start()
    eventually(lambda: live.snapshot().at_ms)
    first = overview.now()
    assert (first.dead_open, first.owed_s) == (1, 0.0)
    room.dead(shop_id="s2")
    owing = overview.now()
    assert owing.dead_open == 1
    assert 0.0 < owing.owed_s < 0.1
    clock.at += owing.owed_s
    then = overview.now()
    assert (then.dead_open, then.owed_s) == (2, 0.0)


def test_causes_of_many_letters_are_told_later_and_all_else_at_once(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.monitor.attention.MANY", 1)
    clock, causes, may = Told(), CauseQueries(room.store), threading.Event()
    ask = causes.causes

    def slow() -> object:
        assert may.wait(10.0)
        return ask()

    monkeypatch.setattr(causes, "causes", slow)
    overview = OverviewQueries(room.store, room.registry, live, History(None), causes, clock)
    for shop_id in ("s1", "s2"):
        room.dead(shop_id=shop_id)
    live.start()
    eventually(lambda: live.snapshot().at_ms)
    first = overview.now()
    for _ in range(3):  # also while they are looked through
        now = overview.now()
        (item,) = (one for one in now.attention if one.key.startswith("dead:"))
        assert (now.dead_open, item.code, item.params) == (2, "attention.dead_counting", {"count": 2})
        clock.at += first.owed_s
        assert now.owed_s > 0.0
    may.set()
    eventually(lambda: overview.now().owed_s == 0.0)
    codes = [one.code for one in overview.now().attention if one.key.startswith("dead:")]
    assert codes == ["attention.dead_platform"]


@pytest.mark.parametrize("many", [0, 10], ids=["many letters", "few"])
def test_causes_that_cannot_be_read_are_told_as_that_and_asked_for_seldom(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr("services.monitor.attention.MANY", many)
    clock, causes, asked = Told(), CauseQueries(room.store), list[float]()
    ask = causes.causes

    def away() -> object:
        asked.append(clock.at)
        raise StoreUnavailable("it does not answer")

    monkeypatch.setattr(causes, "causes", away)
    overview = OverviewQueries(room.store, room.registry, live, History(None), causes, clock)
    room.dead(shop_id="s1")
    live.start()
    eventually(lambda: live.snapshot().at_ms)

    def told() -> list[str]:
        return [one.code for one in overview.now().attention if one.key.startswith("dead:")]

    if not many:
        clock.at += overview.now().owed_s
    for number in range(1, 8):
        eventually(lambda: overview.now().owed_s >= 1.0)
        for _ in range(5):
            assert told() == ["attention.dead_unread"]
        assert len(asked) == number, "nobody asks again at once"
        clock.at += overview.now().owed_s
    pauses = [after - before for before, after in itertools.pairwise(asked)]
    assert (pauses == sorted(pauses), pauses[0], pauses[-1]) == (True, 1.0, 20.0)
    monkeypatch.setattr(causes, "causes", ask)
    eventually(lambda: told() == ["attention.dead_shop"])


def test_what_goes_wrong_while_causes_are_looked_for_is_told(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.monitor.attention.MANY", 0)
    clock, causes = Told(), CauseQueries(room.store)

    def wrong() -> object:
        raise ValueError("no cause at all")

    monkeypatch.setattr(causes, "causes", wrong)
    overview = OverviewQueries(room.store, room.registry, live, History(None), causes, clock)
    room.dead(shop_id="s1")
    live.start()
    eventually(lambda: live.snapshot().at_ms)
    clock.at += overview.now().owed_s

    def told() -> bool:
        try:
            overview.now()
        except ValueError as exc:
            return str(exc) == "no cause at all"
        return False

    eventually(told)


def test_where_nothing_is_heard_gates_are_asked_for_seldom(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, asked, ask = Told(), [], room.store.breakers

    def asking() -> object:
        asked.append(clock.at)
        clock.at += 0.1  # so long it takes
        return ask()

    monkeypatch.setattr(room.store, "breakers", asking)
    queries = FlowQueries(room.store, room.registry, Meter(), clock)
    room.create(shop_id="s1")
    live.start()
    eventually(lambda: live.snapshot().counts.total == 1)
    queries.look(live.snapshot())
    for _ in range(20):
        clock.at += 0.9
        queries.look(live.snapshot())
    assert len(asked) == 1
    room.create(shop_id="s2")
    eventually(lambda: live.snapshot().counts.total == 2)
    queries.look(live.snapshot())
    assert len(asked) == 2
    clock.at += 30.0
    queries.look(live.snapshot())
    assert len(asked) == 3


def test_a_gate_that_opens_by_itself_is_asked_for_then(room: Room, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, asked, ask = Told(), [], room.store.breakers

    def asking() -> object:
        asked.append(clock.at)
        clock.at += 0.1
        return ask()

    monkeypatch.setattr(room.store, "breakers", asking)
    queries = FlowQueries(room.store, room.registry, Meter(), clock)
    live.start()
    eventually(lambda: live.snapshot().at_ms)
    looked = live.snapshot()
    closed = Quiet(scope="all", by="t", name="night", ends=looked.at_ms + 3_600_000)
    seen = dataclasses.replace(looked, pauses=(closed,))
    queries.look(seen)
    clock.at += 3.0
    queries.look(dataclasses.replace(seen, at_ms=seen.at_ms + 3_000))
    assert len(asked) == 1
    queries.look(dataclasses.replace(seen, at_ms=seen.at_ms + 3_700_000))
    assert len(asked) == 2


def test_what_comes_to_a_closed_shop_between_two_questions_is_not_said_to_start(
    room: Room, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, ask = Told(), room.store.breakers

    def slowly() -> object:
        clock.at += 0.1
        return ask()

    monkeypatch.setattr(room.store, "breakers", slowly)
    queries = FlowQueries(room.store, room.registry, Meter(), clock)
    room.create(shop_id="s1")
    live.start()
    eventually(lambda: live.snapshot().counts.total == 1)
    looked = live.snapshot()
    closed = Quiet(scope="platform:pdd", by="t", name="night", ends=looked.at_ms + 3_600_000)
    before = queries.look(dataclasses.replace(looked, pauses=(closed,)))
    assert (before.facts.laters, before.runnable) == ((("quiet", 1),), 0)
    room.create(shop_id="s1")
    room.create(shop_id="s2")
    eventually(lambda: live.snapshot().counts.total == 3)
    clock.at += 1.0
    after = queries.look(dataclasses.replace(live.snapshot(), pauses=(closed,)))
    assert (after.facts.laters, after.runnable) == ((("quiet", 3),), 0)
