"""How each shop does, learnt from events and, once, from the records."""

from __future__ import annotations

from services.domain.event import Event
from services.domain.shop import Pause, Shop
from services.monitor.live import Changes, Snapshot
from services.monitor.shop_states import HOUR_S, STUCK_MS, LastHour, ShopStates
from tests.unit.services.engine.room import Room


def event(room: Room, to: str, shop: str = "s1", from_: str = "running") -> Event:
    return Event(
        cursor="",
        task_id="t",
        shop_id=shop,
        platform="pdd",
        task_type="work",
        from_=from_,
        to=to,
        at=room.clock.now_ms(),
        worker="w",
        gen=1,
        attempt=1,
    )


def states(room: Room) -> ShopStates:
    room.store.put_shops([Shop(platform="pdd", shop_id="s1", name="柚子"), Shop(platform="pdd", shop_id="s2")])
    room.registry.forget()
    return ShopStates(room.store, room.registry)


def shown(room: Room, seen: ShopStates) -> dict[str, str]:
    snapshot = Snapshot(at_ms=room.clock.now_ms(), taken=0.0, counts=room.store.counts())
    return {cell.shop_id: cell.state for cell in seen.cells(snapshot)}


def test_a_shop_is_idle_until_something_succeeds(room: Room) -> None:
    seen = states(room)
    assert shown(room, seen) == {"s1": "idle", "s2": "idle"}
    seen.note(Changes(events=(event(room, "succeeded"),)))
    assert shown(room, seen) == {"s1": "healthy", "s2": "idle"}


def test_the_worst_state_wins(room: Room) -> None:
    seen = states(room)
    room.running(shop_id="s1")
    assert shown(room, seen)["s1"] == "running"
    room.dead(shop_id="s2")
    assert shown(room, seen)["s2"] == "dead"


def test_a_shop_that_has_work_and_finishes_nothing_for_half_an_hour_is_stuck(room: Room) -> None:
    seen = states(room)
    room.create(shop_id="s1")
    seen.note(Changes(events=(event(room, "pending", from_=""),)))
    begun = room.clock.now_ms()
    room.clock.advance(STUCK_MS / 1000 - 1)
    assert shown(room, seen)["s1"] == "healthy"
    room.clock.advance(2)
    assert shown(room, seen)["s1"] == "stuck"
    assert seen.waits_since("pdd:s1", 0) == begun


def test_what_waited_before_the_start_counts_too(room: Room) -> None:
    room.create(shop_id="s1")
    room.clock.advance(STUCK_MS / 1000 + 1)
    seen = states(room)
    seen.prime()
    assert shown(room, seen)["s1"] == "stuck"


def test_what_ended_before_the_start_is_counted_once(room: Room) -> None:
    room.finish(room.running(), "succeeded")
    room.dead(shop_id="s2")
    room.clock.advance(1)
    seen = states(room)
    seen.note(Changes(events=(event(room, "succeeded"),)))
    seen.prime()
    seen.prime()
    assert seen.last_hour(room.clock.now_ms()) == (2, 1)
    assert (seen.succeeded, seen.failed) == (1, 0)


def test_a_pause_covers_the_state_beneath(room: Room) -> None:
    seen = states(room)
    pauses = (Pause(scope="shop:pdd:s1", by="me"),)
    cells = seen.cells(Snapshot(at_ms=1, taken=0.0, pauses=pauses))
    assert [(cell.state, cell.under) for cell in cells] == [("paused", "idle"), ("idle", "")]


def test_an_hour_forgets_what_is_older() -> None:
    hour = LastHour()
    hour.add(5_000, good=True)
    hour.add(5_900, good=False)
    hour.add(9_000, good=True)
    hour.prepend([(4_000, True), (1_000, False)])
    assert hour.counts(9_000) == (3, 2)
    assert hour.counts((HOUR_S + 5) * 1000) == (2, 1)
    assert hour.counts((HOUR_S + 6) * 1000) == (1, 0)
