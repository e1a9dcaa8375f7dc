"""How each shop does, learnt from events and, once, from the records."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from services.domain.change import Claim, CloseSession, SetTriage
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.insight import shop as insight
from services.domain.insight.shop import STUCK_MS, ShopNow
from services.domain.task.event import Event
from services.domain.task.order import BrokerHealth
from services.domain.task.search.query import Groups, Page, Query, Term
from services.engine.lead.run_keeper import RunKeeper
from services.messages import english
from services.monitor.live import Changes, Live, Snapshot, StoreHealth
from services.monitor.shops import states as shop_states
from services.monitor.shops.states import DAY_MS, HOUR_S, LastDay, LastHour, ShopStates
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


def look(room: Room, **fields: Any) -> Snapshot:
    """A fleet with a worker and a broker."""
    at_ms = room.clock.now_ms()
    usual: dict[str, Any] = {
        "counts": room.store.counts(),
        "broker": BrokerHealth(connected=True),
        "workers": (WorkerInfo(worker="w", host="h", pid=1, seen_at=at_ms),),
        "pauses": tuple(room.store.pauses()),
        "sessions": tuple(room.store.sessions()),
    }
    return Snapshot(at_ms=at_ms, taken=0.0, **(usual | fields))


def found(room: Room, seen: ShopStates, **fields: Any) -> dict[str, ShopNow]:
    return {shop.shop_id: shop for shop in seen.shops(look(room, **fields))}


def shown(room: Room, seen: ShopStates, **fields: Any) -> dict[str, str]:
    return {name: shop.state for name, shop in found(room, seen, **fields).items()}


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
    assert shown(room, seen)["s1"] == "waiting"
    room.clock.advance(2)
    shop = found(room, seen)["s1"]
    assert (shop.state, shop.since_ms) == ("stuck", begun)


def at_work(room: Room, ran_s: float, progress: int = -1) -> tuple[WorkerInfo, ...]:
    """A worker that has been at work for the first shop for so long."""
    now = room.clock.now_ms()
    slot = SlotState(task_id="t", task_type="work", shop="pdd:s1", since=now - round(ran_s * 1000), progress=progress)
    return (WorkerInfo(worker="w", host="h", pid=1, seen_at=now, slots=(slot,)),)


def test_a_shop_with_one_long_task_is_stuck_only_where_that_takes_longer_than_usual(room: Room) -> None:
    for _ in range(3):  # such tasks take 40 minutes
        task = room.running(shop_id="s2")
        room.clock.advance(2400)
        room.finish(task, "succeeded")
    seen = states(room)
    begun = room.clock.now_ms()
    room.running(shop_id="s1", lease_ms=86_400_000)
    seen.note(Changes(events=(event(room, "running", from_="queued"),)))
    room.clock.advance(2100)
    assert shown(room, seen, workers=at_work(room, 2100))["s1"] == "running", "as all before it"
    assert shown(room, seen)["s1"] == "stuck", "nobody is at work for it"
    room.clock.advance(1000)
    late = found(room, seen, workers=at_work(room, 3100))["s1"]
    assert (late.state, late.since_ms) == ("stuck", begun)


def test_a_shop_whose_task_hangs_is_stuck_from_then_on_and_says_why(room: Room) -> None:
    for _ in range(4):  # such tasks take 2 seconds
        task = room.running(shop_id="s2")
        room.clock.advance(2)
        room.finish(task, "succeeded")
    seen = states(room)
    room.running(shop_id="s1", lease_ms=86_400_000)
    begun = room.clock.now_ms()
    room.clock.advance(20)
    assert shown(room, seen, workers=at_work(room, 20))["s1"] == "running", "a little longer is no matter"
    room.clock.advance(40)
    hangs = found(room, seen, workers=at_work(room, 60))["s1"]
    assert (hangs.state, hangs.since_ms) == ("stuck", begun)
    assert english(insight.reasons(hangs, room.clock.now_ms())[0]) == "What runs there seems to hang, for 1 min now"
    assert shown(room, seen, workers=at_work(room, 60, progress=40))["s1"] == "running", "it says that it gets on"


def test_a_shop_whose_task_gets_further_is_not_stuck_though_nobody_knows_how_long_it_takes(room: Room) -> None:
    seen = states(room)
    room.running(shop_id="s1", lease_ms=86_400_000)
    seen.note(Changes(events=(event(room, "running", from_="queued"),)))
    looks = ((20, 10, "running"), (25, 20, "running"), (25, 20, "running"), (10, 20, "stuck"), (10, 30, "running"))
    for minutes, progress, state in looks:
        room.clock.advance(minutes * 60)
        assert shown(room, seen, workers=at_work(room, 6000, progress))["s1"] == state, (minutes, progress)
    assert shown(room, seen, workers=at_work(room, 6000))["s1"] == "stuck", "it says nothing"


def test_what_waited_before_the_start_counts_too(room: Room) -> None:
    room.create(shop_id="s1")
    room.clock.advance(STUCK_MS / 1000 + 1)
    seen = states(room)
    seen.prime()
    assert shown(room, seen)["s1"] == "stuck"


def test_a_shop_that_somebody_paused_before_is_not_stuck_under_it(room: Room) -> None:
    """Half an hour of quiet hours made it look as if its tasks hung."""
    room.create(shop_id="s1")
    begun = room.store.now_ms()
    room.clock.advance(STUCK_MS / 1000 + 1)
    seen = states(room)
    seen.prime()
    late = Pause(scope="platform:pdd", by="ann", at=begun + STUCK_MS + 500)
    one = found(room, seen, pauses=(replace(late, at=begun + 1_000),))["s1"]
    assert (one.state, one.under) == ("paused", "waiting")
    one = found(room, seen, pauses=(late,))["s1"]
    assert (one.state, one.under) == ("paused", "stuck"), "it was so before"


def test_what_ended_before_the_start_is_counted_once(room: Room) -> None:
    room.finish(room.running(), "succeeded")
    room.dead(shop_id="s2")
    room.clock.advance(1)
    seen = states(room)
    seen.note(Changes(events=(event(room, "succeeded"),)))
    seen.prime()
    seen.prime()
    assert seen.last_hour(room.clock.now_ms()) == (2, 1, 0)
    assert (seen.succeeded, seen.failed) == (1, 0)


def test_of_ends_too_many_to_be_looked_at_as_many_good_ones_are_counted_as_bad_ones_of_one_span(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a fleet that fails seldom seems to fail half of the time as soon as a window opens."""
    monkeypatch.setattr(shop_states, "PRIMED", 2)
    room.dead(shop_id="s2")
    for _ in range(3):
        room.clock.advance(60)
        room.finish(room.running(), "succeeded")
    now = room.clock.now_ms()
    room.clock.advance(1)
    seen = states(room)
    seen.prime()
    assert seen.last_hour(room.clock.now_ms()) == (2, 0, now - 60_000)
    room.clock.advance(HOUR_S)
    assert seen.last_hour(room.clock.now_ms())[2] == 0, "all of the hour is known by now"


def test_what_a_program_has_watched_itself_it_knows_though_it_looks_at_the_records_later(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shop_states, "PRIMED", 2)
    seen, begun = states(room), room.clock.now_ms()
    for _ in range(3):
        room.clock.advance(60)
        room.finish(room.running(), "succeeded")
        seen.note(Changes(events=(event(room, "succeeded"),)))
    seen.prime()
    assert seen.last_hour(room.clock.now_ms()) == (3, 0, begun)


def test_how_a_day_ended_is_counted_by_shop_from_records_and_then_from_events(room: Room) -> None:
    room.finish(room.running(), "succeeded")
    room.clock.advance(3600)
    for _ in range(2):
        room.finish(room.running(), "succeeded")
    letter = room.dead(shop_id="s1")
    room.clock.advance(20 * 3600)
    room.triage(letter.task_id, "archived")  # it died no later by that
    seen = states(room)
    assert found(room, seen)["s1"].success_share is None, "nobody has asked"
    seen.learn_day()
    seen.learn_day()
    assert (found(room, seen)["s1"].ended, found(room, seen)["s1"].ended_well) == (4, 3)
    assert found(room, seen)["s2"].success_share is None
    room.clock.advance(60)
    seen.note(Changes(events=(event(room, "succeeded"), event(room, "dead", shop="s2"))))
    assert found(room, seen)["s1"].success_share == 0.8
    assert found(room, seen)["s2"].success_share == 0
    room.clock.advance(3.5 * 3600)
    assert (found(room, seen)["s1"].ended, found(room, seen)["s1"].ended_well) == (4, 3), "the first is a day ago"
    room.clock.advance(20 * 3600)
    seen.note(Changes(events=(event(room, "dead"),)))
    assert found(room, seen)["s1"].ended == 2
    seen.note(Changes(events=(), gap=True))
    assert found(room, seen)["s1"].success_share is None, "some were missed"
    seen.learn_day()
    assert found(room, seen)["s1"].success_share is None, "the records tell of none in this day"


def test_of_ends_too_many_to_be_counted_the_newest_are(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shop_states, "MOST_ENDS", 1)
    room.finish(room.running(), "succeeded")
    room.clock.advance(3600)
    room.finish(room.running(), "succeeded")
    room.clock.advance(60)
    seen = states(room)
    seen.learn_day()
    assert found(room, seen)["s1"].ended == 1


def test_bad_ends_are_counted_no_further_back_than_good_ones(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a share that knows all bad ones and some good ones nobody could say what it is a share of."""
    monkeypatch.setattr(shop_states, "MOST_ENDS", 2)
    for _ in range(2):
        room.finish(room.running(), "succeeded")
    room.dead(shop_id="s1")
    room.clock.advance(3600)
    for _ in range(2):
        room.finish(room.running(), "succeeded")
    room.clock.advance(60)
    seen = states(room)
    seen.learn_day()
    assert (found(room, seen)["s1"].ended, found(room, seen)["s1"].ended_well) == (2, 2)


def test_a_day_of_very_many_shops_takes_little_memory() -> None:
    shops = [f"pdd:s{number}" for number in range(2_000)]
    tracemalloc.start()
    day = LastDay(0)
    for part in range(96):
        for shop in shops:
            day.add(part * 900_000, shop, 3, 2)
    _now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5_000_000
    assert set(day.of_each(DAY_MS - 1).values()) == {(288, 192)}
    assert set(day.of_each(DAY_MS + 900_000).values()) == {(285, 190)}
    assert day.of_each(3 * DAY_MS) == {}


def test_bad_ends_from_before_good_ones_are_kept_are_not_counted(room: Room) -> None:
    room.dead(shop_id="s1")
    room.clock.advance(7 * 3600)
    room.finish(room.running(), "succeeded")
    room.clock.advance(60)
    states(room)
    seen = ShopStates(room.store, room.registry, keeps_ms=6 * 3_600_000)
    seen.learn_day()
    assert (found(room, seen)["s1"].ended, found(room, seen)["s1"].ended_well) == (1, 1)


def test_looks_go_on_while_a_day_is_learnt(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, grouped = states(room), room.store.grouped
    seen.follow(Live(room.store, room.broker, room.clock))
    seen.look()
    begun, go_on = threading.Event(), threading.Event()

    def slow(terms: Sequence[Term], by: str, most: int) -> Groups:
        begun.set()
        go_on.wait(20)
        return grouped(terms, by, most)

    monkeypatch.setattr(room.store, "grouped", slow)
    learning, looking = threading.Thread(target=seen.learn_day), threading.Thread(target=seen.look)
    learning.start()
    assert begun.wait(10)
    looking.start()
    looking.join(5)
    waited = looking.is_alive()
    go_on.set()
    learning.join(20)
    looking.join(20)
    assert not waited


def test_who_ran_a_shop_last_is_told_by_records_and_events(room: Room) -> None:
    room.finish(room.running(), "succeeded")
    seen = states(room)
    assert seen.ran_by(["pdd:s1", "pdd:s2"]) == {"pdd:s1": "w1", "pdd:s2": ""}, "nobody ran the other one"


def test_who_ran_a_shop_last_is_told_by_notes_and_of_the_others_by_records(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.finish(room.running(shop_id="s2"), "succeeded")
    room.clock.advance(60)
    RunKeeper(room.store, room.clock).tick()
    room.finish(room.running("w3#1", shop_id="s1"), "succeeded")
    asked, query = list[str](), room.store.query
    monkeypatch.setattr(room.store, "query", lambda one: asked.extend(one.terms[0].values) or query(one))
    assert states(room).ran_by(["pdd:s1", "pdd:s2"]) == {"pdd:s1": "w3", "pdd:s2": "w1"}
    assert asked == ["pdd:s2"], "no record of the other one is looked at"


def test_a_letter_that_was_touched_since_does_not_hide_who_ran_the_shop_after_it(room: Room) -> None:
    """Also where a busy shop beside it leaves room for that letter alone."""
    letter = room.dead(shop_id="s2")
    room.clock.advance(60)
    room.finish(room.running("w2#1", shop_id="s2"), "succeeded")
    room.clock.advance(60)
    for _ in range(12):
        room.finish(room.running("w3#1", shop_id="s1"), "succeeded")
    room.clock.advance(60)
    room.ask(SetTriage(task_id=letter.task_id, by="ann", triage="ignored"))
    assert states(room).ran_by(["pdd:s1", "pdd:s2"]) == {"pdd:s1": "w3", "pdd:s2": "w2"}


def test_a_page_that_was_cut_short_hides_nobody(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store looks at so many tasks of the fleet alone, and then says where to go on."""
    shops = [f"pdd:s{number}" for number in range(5)]
    for number in range(5):
        room.finish(room.running(f"w{number}#1", shop_id=f"s{number}"), "succeeded")
    whole = room.store.query

    def query(asked: Query) -> Page:
        page = whole(asked)
        return replace(page, tasks=page.tasks[:1], next="more") if len(asked.terms[0].values) > 2 else page

    monkeypatch.setattr(room.store, "query", query)
    assert states(room).ran_by(shops) == {shop: f"w{number}" for number, shop in enumerate(shops)}


def test_a_pause_covers_the_state_beneath(room: Room) -> None:
    seen = states(room)
    shops = found(room, seen, pauses=(Pause(scope="shop:pdd:s1", by="me"),))
    assert [(shop.state, shop.under) for shop in shops.values()] == [("paused", "idle"), ("idle", "")]


def test_what_waits_is_known_to_wait_while_nobody_works_and_the_reason_is_told(room: Room) -> None:
    seen = states(room)
    room.create(shop_id="s1")
    why = {
        "1 waiting: no worker takes tasks": {"workers": ()},
        "1 waiting: the broker does not answer": {"broker": BrokerHealth(connected=False)},
    }
    for words, lost in why.items():
        assert shown(room, seen, **lost) == {"s1": "waiting", "s2": "idle"}
        shop = found(room, seen, **lost)["s1"]
        assert english(insight.reasons(shop, room.clock.now_ms())[0]) == words
    assert shown(room, seen, store=StoreHealth(connected=False)) == {"s1": "unknown", "s2": "unknown"}


def test_a_shop_is_seen_as_soon_as_a_task_tells_of_it(room: Room) -> None:
    seen = states(room)
    room.create(shop_id="never-heard-of")
    assert shown(room, seen)["never-heard-of"] == "waiting"


def test_a_held_task_and_a_closed_login_are_states_of_their_own(room: Room) -> None:
    seen = states(room)
    held = room.running(shop_id="s1")
    room.finish(held, "held")
    room.clock.advance(60)
    room.ask(CloseSession(shop="pdd:s2", kind="captcha", by="ann"))
    shops = found(room, seen)
    assert {name: shop.state for name, shop in shops.items()} == {"s1": "held", "s2": "login"}
    assert shops["s1"].since_ms == room.clock.now_ms() - 60_000
    assert shops["s2"].access == "captcha"


def test_a_paused_type_is_told_to_the_shops_whose_tasks_wait_behind_it(room: Room) -> None:
    seen = states(room)
    room.store.set_pause(Pause(scope="type:work", by="ann", at=1))
    task = room.create(shop_id="s1")
    room.ask(Claim(task_id=task.task_id, gen=task.gen, attempt=0, owner="w#1", worker="w", lease_ms=1))
    shops = found(room, seen)
    assert [pause.scope for pause in shops["s1"].pauses] == ["type:work"]
    assert (shops["s1"].state, shops["s1"].since_ms, shops["s1"].paused) == ("paused_type", 1, False)
    assert (shops["s2"].state, shops["s2"].pauses) == ("idle", ())
    room.create(shop_id="s1", task_type="another")
    assert found(room, seen)["s1"].state == "waiting", "that one is not paused"


def test_who_follows_nothing_learns_of_waits_anew_at_each_look(room: Room) -> None:
    seen = states(room)
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1))
    task = room.create(shop_id="s1")
    room.clock.advance(STUCK_MS / 1000 + 1)
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1))
    assert {shop.shop_id: shop.state for shop in seen.look()} == {"s1": "stuck", "s2": "idle"}
    room.finish(room.claim(task), "succeeded")
    room.create(shop_id="s1")
    assert {shop.shop_id: shop.state for shop in seen.look()} == {"s1": "waiting", "s2": "idle"}


def test_an_hour_forgets_what_is_older() -> None:
    hour = LastHour()
    hour.add(5_000, good=True)
    hour.add(5_900, good=False)
    hour.add(9_000, good=True)
    hour.prepend([(4_000, True), (1_000, False)])
    assert hour.counts(9_000) == (3, 2)
    assert hour.counts((HOUR_S + 5) * 1000) == (2, 1)
    assert hour.counts((HOUR_S + 6) * 1000) == (1, 0)
