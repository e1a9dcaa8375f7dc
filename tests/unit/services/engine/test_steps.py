"""What follows a step: what is confirmed loses its mark, what is not keeps it; what ended is marked, workers hear."""

from __future__ import annotations

import pytest
from msgspec import structs

from services.domain.change import Cancel, Claim, Create, Nudge, OpenShop, SetTriage
from services.domain.errors import BrokerUnavailable, StoreUnavailable
from services.domain.fleet.shop import Pause
from services.domain.task import envelope
from services.domain.task.order import Order
from tests.unit.services.engine.room import DELAYS, Room


def marks(room: Room) -> set[str]:
    return {task.task_id for task in room.store.outbox(0, 100)}


def test_each_state_goes_where_it_belongs(room: Room) -> None:
    pending = room.recorded()
    retrying = room.finish(room.running(shop_id="s2"), "retrying", delay_ms=30_000, error_kind="network")
    dead = room.dead(shop_id="s3")
    room.take()
    assert marks(room) == {pending.task_id, retrying.task_id, dead.task_id}
    receipts = room.steps.publish([pending, retrying, dead])
    assert [receipt.ok for receipt in receipts] == [True, True, True]
    assert (room.ready("rpa_tasks_normal"), room.ready("rpa_delay_30s"), room.ready("rpa_dead_queue")) == (1, 1, 1)
    assert marks(room) == set()
    assert room.task(pending.task_id).status == "queued"
    assert room.task(retrying.task_id).status == "retrying"


def test_what_needs_no_message_is_sent_nowhere(room: Room) -> None:
    running = room.running()
    room.take()
    assert [receipt.ok for receipt in room.steps.publish([running])] == [True]
    assert room.ready() == 0
    assert room.steps.publish([]) == []


def test_a_refused_message_keeps_its_mark(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    tasks = [room.recorded(), room.recorded(shop_id="s2")]
    room.broker.refuses = "blocked"
    assert [(receipt.ok, receipt.error) for receipt in room.steps.publish(tasks)] == [(False, "blocked")] * 2
    assert marks(room) == {task.task_id for task in tasks}
    assert "2 messages wait in the outbox" in caplog.text


def test_a_record_without_a_message_does_not_hold_up_the_others(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    bad = structs.replace(room.producer.prepare(room.spec()), lane="express")
    room.ask(Create(task=bad))
    good = room.recorded(shop_id="s2")
    assert [receipt.ok for receipt in room.steps.publish([room.task(bad.task_id), good])] == [True, True]
    assert (room.task(bad.task_id).status, room.task(good.task_id).status) == ("dead", "queued")
    assert room.store.executed([bad.task_id]) == [True]
    assert "no message can be made of" in caplog.text


def test_it_waits_for_a_store_that_is_silent(room: Room) -> None:
    bad = structs.replace(room.producer.prepare(room.spec()), lane="express")
    room.ask(Create(task=bad))
    task = room.task(bad.task_id)
    room.store.forgetful = 1
    assert [receipt.ok for receipt in room.steps.publish([task])] == [False]
    assert [receipt.ok for receipt in room.steps.publish([task])] == [True], "asked again"
    assert room.task(bad.task_id).status == "dead"


@pytest.mark.parametrize("silent", [1, 2])
def test_a_silent_store_loses_nothing_and_ends_no_thread(
    room: Room, silent: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Silent before the message is made, or after the broker has confirmed it."""
    task = room.recorded()
    if silent == 1:
        room.store.silent = 1
        assert [receipt.ok for receipt in room.steps.publish([task])] == [False]
        assert room.ready() == 0
    else:
        room.store.forgetful = 1
        assert [receipt.ok for receipt in room.steps.publish([task])] == [True]
        assert room.ready() == 1
    assert caplog.text


def test_what_ends_in_the_wake_of_another_is_started_by_nobody_any_more(room: Room) -> None:
    first = room.create()
    after = room.create(shop_id="s2", depends_on=(first.task_id,), on_dependency_failure="cancel")
    room.steps.apply([Cancel(task_id=first.task_id, by="ann")])
    assert (room.task(first.task_id).status, room.task(after.task_id).status) == ("cancelled", "cancelled")
    assert room.store.executed([first.task_id, after.task_id]) == [True, True]


def test_a_message_says_what_a_worker_needs(room: Room) -> None:
    task = room.create(priority=9)
    (delivery,) = room.take("high")
    parsed = envelope.parse(delivery.body, delivery.headers, routing_key=delivery.routing_key, now_ms=1)
    assert (parsed.task.task_id, parsed.gen, parsed.attempt, parsed.foreign) == (task.task_id, 0, 0, False)
    assert (delivery.priority, parsed.task.priority, parsed.task.payload) == (8, 9, task.payload)


@pytest.mark.parametrize(
    ("wait_s", "level"), [(1, 30), (30, 30), (32, 60), (60, 60), (62, 120), (120, 120), (999, 120)]
)
def test_a_delay_is_rounded_up_to_a_level(room: Room, wait_s: int, level: int) -> None:
    task = room.finish(room.running(), "retrying", delay_ms=wait_s * 1000)
    assert envelope.order_for(task, room.store.now_ms(), DELAYS).delay_s == level


def test_short_levels_are_not_rounded_down(room: Room) -> None:
    task = room.finish(room.running(), "retrying", delay_ms=2_000)
    assert envelope.order_for(task, room.store.now_ms(), (1, 2, 4)).delay_s == 2


def test_platforms_are_made_known_once(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[set[str]] = []
    real = room.broker.ensure
    monkeypatch.setattr(room.broker, "ensure", lambda **words: (asked.append(set(words["platforms"])), real(**words)))
    for names in (["pdd"], ["pdd", "temu"], ["temu"]):
        room.steps.dispatcher.know(names)
    assert asked == [{"pdd"}, {"temu"}]


def test_a_broker_that_is_away_is_told_of_a_platform_later(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**_: object) -> None:
        raise BrokerUnavailable("nobody there")

    with monkeypatch.context() as patch:
        patch.setattr(room.broker, "ensure", away)
        room.steps.dispatcher.know(["pdd"])
    asked: list[object] = []
    monkeypatch.setattr(room.broker, "ensure", lambda **words: asked.append(words))
    room.steps.dispatcher.know(["pdd"])
    assert len(asked) == 1


# ------------------------------------------------------------------------------------------ whole steps
def test_what_many_steps_release_goes_in_one_batch(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.store.set_pause(Pause(scope="all", by="ann"))
    shops = [f"s{number}" for number in range(3)]
    for shop in shops:
        task = room.create(shop_id=shop)
        claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=60_000)
        assert room.ask(claim).code == "blocked"
    room.store.clear_pause("all")
    room.take()
    sent: list[int] = []
    real = room.broker.publish

    def publish(orders: list[Order]) -> object:
        sent.append(len(orders))
        return real(orders)

    monkeypatch.setattr(room.broker, "publish", publish)
    answers = room.steps.apply([OpenShop(shop=f"pdd:{shop}") for shop in shops])
    assert sent == [sum(len(answer.released) for answer in answers)] == [3]
    assert marks(room) == set()


def test_nothing_is_published_twice_or_for_nothing(room: Room) -> None:
    dead = room.dead()
    room.steps.publish([dead])
    room.steps.apply([SetTriage(task_id=dead.task_id, triage="archived", by="ann")])
    room.steps.apply([])
    assert room.ready("rpa_dead_queue") == 1
    task = room.create(shop_id="s2")
    room.take()
    room.steps.apply([Nudge(task_id=task.task_id, gen=0, attempt=0), Cancel(task_id=task.task_id, by="ann")])
    assert room.ready() == 0, "it was cancelled in the same breath"


def test_a_letter_that_comes_with_its_record_is_not_sent_again(room: Room) -> None:
    dead = structs.replace(room.producer.prepare(room.spec()), status="dead", error="gone", error_kind="network")
    room.steps.apply([Create(task=dead)])
    assert room.ready("rpa_dead_queue") == 0
    assert room.store.executed([dead.task_id]) == [True], "no other program runs it either"


def test_what_follows_may_fail_without_the_step(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded is recorded: the caller must not hear that it failed."""

    def away(*_: object) -> None:
        raise StoreUnavailable("nobody answers")

    waiting, running = room.create(), room.running(shop_id="s2")
    monkeypatch.setattr(room.store, "mark_executed", away)
    monkeypatch.setattr(room.store, "tell_worker", away)
    answers = room.steps.apply([Cancel(task_id=task.task_id, by="ann") for task in (waiting, running)])
    assert [answer.code for answer in answers] == ["ok", "requested"]
    assert room.task(waiting.task_id).status == "cancelled"


def test_the_worker_of_a_task_that_is_cancelled_hears_of_it(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(room.store, "tell_worker", lambda worker, order: told.append((worker, order)))
    task = room.running()
    room.steps.apply([Cancel(task_id=task.task_id, by="ann")])
    assert told == [(task.worker, f"cancel={task.task_id}")]
