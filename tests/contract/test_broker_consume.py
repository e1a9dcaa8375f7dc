"""Consume: order, window, settlement, and what happens to messages whose consumer is gone."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from services.clock import SystemClock
from services.domain.task.order import Order
from services.ports import Broker
from tests.contract.conftest import open_broker
from tests.contract.posts import buffered, collect, depth, order
from tests.contract.waiting import PATIENCE_S, eventually
from tests.support.rabbit_cluster import NODES

ROOT = Path(__file__).resolve().parents[2]


def test_what_lies_here_untaken_is_told_by_queue(broker: Broker, broker_kind: str) -> None:
    broker.publish([order(number) for number in range(3)])
    consumer = broker.consumer(["high", "normal"], window=5, name="c")
    buffered(consumer, 3)
    got = collect(consumer, 1, at_once=1)
    assert consumer.untouched() == ({} if broker_kind == "embedded" else {"rpa_tasks_normal": 2})
    consumer.ack([*got, *collect(consumer, 2)])
    assert consumer.untouched() == {}
    consumer.close()


@pytest.mark.needs("priority")
def test_the_higher_priority_goes_first_within_a_lane(broker: Broker) -> None:
    broker.publish([order(number, priority=priority) for number, priority in enumerate((1, 9, 5, 9, 1))])
    consumer = broker.consumer(["normal"], window=1, name="c")
    got = collect(consumer, 5, settle=True, at_once=1)
    by_priority, by_arrival = ["m1", "m3", "m2", "m0", "m4"], [f"m{number}" for number in range(5)]
    # before RabbitMQ 4.3 a quorum queue sorts nothing within a lane
    assert [delivery.message_id for delivery in got] in ([by_priority] if NODES == 1 else [by_priority, by_arrival])
    consumer.close()


def test_the_more_urgent_lane_goes_first_in_a_take(broker: Broker) -> None:
    for number, lane in enumerate(("low", "normal", "high", "low", "high")):
        broker.publish([order(number, lane)])
    consumer = broker.consumer(["high", "normal", "low"], window=10, name="c")
    buffered(consumer, 5)
    got = [*collect(consumer, 3), *collect(consumer, 2)]
    assert [delivery.message_id for delivery in got] == ["m2", "m4", "m1", "m0", "m3"]
    consumer.close()


def test_a_consumer_takes_its_own_lanes_only(broker: Broker) -> None:
    broker.publish([order(1, "high"), order(2, "low")])
    consumer = broker.consumer(["low"], window=10, name="c")
    assert [delivery.message_id for delivery in collect(consumer, 1, settle=True)] == ["m2"]
    assert consumer.take(5, 0.2) == []
    consumer.close()
    other = broker.consumer(["high"], window=10, name="d")
    assert [delivery.message_id for delivery in collect(other, 1, settle=True)] == ["m1"]
    other.close()


def test_take_waits_for_the_first_and_no_longer(broker: Broker) -> None:
    consumer = broker.consumer(["normal"], window=10, name="c")
    begun = time.monotonic()
    assert consumer.take(5, 0.3) == []
    assert 0.25 < time.monotonic() - begun < 10
    timer = threading.Timer(0.2, lambda: broker.publish([order(1)]))
    timer.start()
    begun = time.monotonic()
    assert [delivery.message_id for delivery in consumer.take(5, 60.0)] == ["m1"]
    assert time.monotonic() - begun < 40
    timer.join()
    consumer.close()


def test_an_acked_message_is_gone(broker: Broker) -> None:
    broker.publish([order(1), order(2)])
    first = broker.consumer(["normal"], window=10, name="a")
    first.ack(collect(first, 2))
    assert first.unacked() == 0
    first.close()
    second = broker.consumer(["normal"], window=10, name="b")
    assert second.take(5, 0.3) == []
    second.close()
    eventually(lambda: depth(broker, "normal").ready == 0)
    assert first.ack_lost == 0


def test_settling_twice_does_no_harm(broker: Broker) -> None:
    broker.publish([order(1), order(2)])
    consumer = broker.consumer(["normal"], window=10, name="c")
    got = collect(consumer, 2)
    consumer.ack(got[:1])
    consumer.ack(got)
    consumer.requeue(got)
    consumer.ack([])
    broker.publish([order(3)])
    assert [delivery.message_id for delivery in collect(consumer, 1)] == ["m3"]
    consumer.close()


def test_given_back_it_comes_again(broker: Broker) -> None:
    broker.publish([order(1)])
    consumer = broker.consumer(["normal"], window=10, name="c")
    got = collect(consumer, 1)
    consumer.requeue(got)
    (again,) = collect(consumer, 1)
    assert (again.message_id, again.redelivered) == ("m1", True)
    consumer.ack([again])
    consumer.close()


def test_close_gives_back_what_is_unsettled(broker: Broker) -> None:
    broker.publish([order(number) for number in range(5)])
    first = broker.consumer(["normal"], window=10, name="a")
    got = collect(first, 3)
    first.ack(got[:1])
    first.close()
    second = broker.consumer(["normal"], window=10, name="b")
    again = collect(second, 4)
    assert {delivery.message_id for delivery in again} == {f"m{number}" for number in range(1, 5)}
    assert {delivery.message_id for delivery in again if delivery.redelivered} >= {"m1", "m2"}
    assert first.take(5, 0.0) == []
    second.close()


def test_the_window_bounds_what_is_held(broker: Broker) -> None:
    broker.publish([order(number) for number in range(6)])
    consumer = broker.consumer(["normal"], window=2, name="c")
    got = collect(consumer, 2)
    assert consumer.take(10, 0.3) == []
    assert consumer.unacked() == 2
    consumer.ack(got[:1])
    got += collect(consumer, 1)
    assert consumer.take(10, 0.3) == []
    consumer.close()


def test_the_window_is_per_queue(broker: Broker) -> None:
    broker.publish([order(1, "high"), order(2, "high"), order(3, "low")])
    consumer = broker.consumer(["high", "low"], window=1, name="c")
    assert {delivery.message_id for delivery in collect(consumer, 2)} == {"m1", "m3"}
    assert consumer.take(5, 0.2) == []
    consumer.close()


def test_a_wider_window_lets_more_in(broker: Broker) -> None:
    broker.publish([order(number) for number in range(10)])
    consumer = broker.consumer(["normal"], window=1, name="c")
    held = collect(consumer, 1)
    consumer.set_window(8)
    held += collect(consumer, 7, seconds=15)
    assert len({delivery.message_id for delivery in held}) == 8
    consumer.ack(held)
    consumer.close()


def test_a_paused_consumer_takes_nothing_and_hoards_nothing(broker: Broker) -> None:
    broker.publish([order(number) for number in range(3)])
    consumer = broker.consumer(["normal"], window=10, name="c")
    (held,) = collect(consumer, 1)
    consumer.pause()
    assert consumer.take(10, 0.3) == []
    other = broker.consumer(["normal"], window=10, name="d")
    assert len(collect(other, 2, settle=True)) == 2
    other.close()
    consumer.ack([held])  # settling goes on
    broker.publish([order(7)])
    assert consumer.take(10, 0.2) == []
    consumer.resume()
    assert [delivery.message_id for delivery in collect(consumer, 1, settle=True)] == ["m7"]
    assert consumer.ack_lost == 0
    consumer.close()


def test_a_plan_says_how_many_of_each_lane_and_in_which_order(broker: Broker) -> None:
    lanes = ("high", "high", "high", "normal", "low", "low")
    broker.publish([order(number, lane) for number, lane in enumerate(lanes)])
    consumer = broker.consumer(["high", "normal", "low"], window=10, name="c")
    buffered(consumer, 6)

    def taken(limit: int, *plan: tuple[str, int]) -> list[str]:
        return [delivery.message_id for delivery in consumer.take(limit, 10.0, plan)]

    assert taken(3, ("low", 1), ("high", 5), ("normal", 5)) == ["m4", "m0", "m1"]
    assert taken(5, ("high", 0), ("normal", 2)) == ["m3"]
    assert consumer.take(5, 0.2, [("normal", 5)]) == []
    assert taken(5, ("low", 1), ("high", 1), ("low", 1)) == ["m5", "m2"]
    consumer.close()


def test_what_is_put_back_is_there_as_before(broker: Broker) -> None:
    broker.publish([order(number) for number in range(3)])
    consumer = broker.consumer(["normal"], window=10, name="c")
    got = collect(consumer, 3)
    consumer.ack(got[:1])
    consumer.put_back(got)
    again = collect(consumer, 2, settle=True)
    assert [(delivery.message_id, delivery.redelivered) for delivery in again] == [("m1", False), ("m2", False)]
    assert consumer.ack_lost == 0
    consumer.close()
    assert depth(broker, "normal").ready == 0


def test_what_nobody_takes_for_a_second_is_there_for_others(broker: Broker) -> None:
    """And only as long as nobody wants it here: the next take finds its lane again."""
    broker.publish([order(1, "high"), order(2, "low"), order(3, "low")])
    busy = broker.consumer(["high", "low"], window=10, name="busy")
    buffered(busy, 3)
    (held,) = busy.take(1, 10.0, [("high", 1)])
    idle = broker.consumer(["low"], window=1, name="idle")
    (got,) = collect(idle, 1, seconds=5.0)
    assert (got.message_id, busy.unacked()) == ("m2", 1)
    busy.ack([held])
    (last,) = busy.take(1, 10.0, [("high", 1), ("low", 1)])
    assert last.message_id == "m3"
    busy.ack([last])
    idle.close()
    busy.close()
    assert busy.ack_lost == 0


def test_two_consumers_share_without_doubles(broker: Broker) -> None:
    total = 400
    seen: list[str] = []
    consumers = [broker.consumer(["normal"], window=8, name=f"c{number}") for number in range(2)]

    def work(number: int) -> None:
        until = time.monotonic() + PATIENCE_S
        while True:
            got = consumers[number].take(8, 0.25)
            seen.extend(delivery.message_id for delivery in got)
            consumers[number].ack(got)
            if not got and (len(seen) >= total or time.monotonic() > until):
                return

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    broker.publish([order(number) for number in range(total)])
    for thread in threads:
        thread.join(60)
    assert sorted(seen) == sorted(f"m{number}" for number in range(total))
    for consumer in consumers:
        consumer.close()


def test_dead_letters_have_a_queue_of_their_own(broker: Broker) -> None:
    broker.publish([Order(kind="dead", routing_key="dead", body=b"{}", message_id="d1"), order(1)])
    consumer = broker.dead_letters(name="archiver")
    assert [delivery.message_id for delivery in collect(consumer, 1)] == ["d1"]
    assert consumer.take(5, 0.2) == []
    consumer.close()
    again = broker.dead_letters(name="archiver")
    assert [delivery.message_id for delivery in collect(again, 1)] == ["d1"], "it went back unsettled"
    again.close()


@pytest.mark.needs("depth")
def test_depths(broker: Broker) -> None:
    broker.publish([order(number, "high") for number in range(3)] + [order(9, "low")])
    eventually(lambda: depth(broker, "high").ready == 3)
    consumer = broker.consumer(["high"], window=2, name="c")
    got = collect(consumer, 2)

    def numbers() -> tuple[int, int | None, int]:
        found = depth(broker, "high")
        return found.ready, found.unacked, found.consumers

    eventually(lambda: numbers()[0] == 1 and numbers()[1] in (2, None) and numbers()[2] == 1)
    assert depth(broker, "normal").ready == 0
    consumer.ack(got)
    consumer.close()
    eventually(lambda: depth(broker, "high").consumers == 0)
    eventually(lambda: depth(broker, "high").ready == 1)
    assert depth(broker, "low").ready == 1
    assert {one.kind for one in broker.depths()} >= {"lane", "dead", "delay"}


def test_health(broker: Broker) -> None:
    broker.publish([order(1)])
    health = broker.health()
    assert (health.connected, health.blocked, health.error) == (True, False, "")
    assert health.version


VICTIM = """
import sys, time
sys.path.insert(0, {root!r})
from pathlib import Path
from services.clock import SystemClock
from tests.contract.conftest import open_broker
where = {where!r}
broker = open_broker({kind!r}, Path(where) if {kind!r} == "embedded" else where, SystemClock())
consumer = broker.consumer(["normal"], window=3, name="victim")
got = []
while len(got) < 3:
    got += consumer.take(3, 1.0)
print("took", *(delivery.message_id for delivery in got), flush=True)
time.sleep(600)
"""


def test_a_killed_consumer_gives_its_messages_back(broker: Broker, broker_kind: str, broker_place: Any) -> None:
    broker.publish([order(number) for number in range(5)])
    code = VICTIM.format(root=str(ROOT), where=str(broker_place), kind=broker_kind)
    victim = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)
    assert victim.stdout is not None
    took = set(victim.stdout.readline().decode().split()[1:])
    assert took == {"m0", "m1", "m2"}
    consumer = broker.consumer(["normal"], window=10, name="heir")
    left = collect(consumer, 2)
    assert consumer.take(5, 0.3) == []
    victim.kill()
    got = collect(consumer, 3, seconds=20)
    victim.stdout.close()
    victim.wait()
    assert {delivery.message_id for delivery in got} == took
    assert all(delivery.redelivered for delivery in got)
    assert not any(delivery.redelivered for delivery in left)
    consumer.close()


def test_another_process_hears_at_once(broker: Broker, broker_kind: str, broker_place: Any) -> None:
    other = open_broker(broker_kind, broker_place, SystemClock())
    consumer = other.consumer(["normal"], window=5, name="far")
    timer = threading.Timer(0.1, lambda: broker.publish([order(1)]))
    timer.start()
    assert [delivery.message_id for delivery in consumer.take(5, 10.0)] == ["m1"]
    timer.join()
    consumer.close()
    other.close()
