"""Dedicated queues: one message each at a time, turns where there are more queues than seats, no end with messages."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from services.domain.errors import TopologyMismatch
from services.domain.task.lane import LANES
from services.domain.task.order import Delivery
from services.ports import Broker, Consumer
from tests.contract.posts import buffered, collect, order
from tests.contract.waiting import eventually
from tests.support.rabbit_cluster import NODES


def opened(broker: Broker, count: int) -> list[str]:
    shops = [f"s{number}" for number in range(count)]
    for shop in shops:
        broker.open_shop("pdd", shop)
    return shops


def queues(broker: Broker) -> dict[str, int]:
    return {depth.name: depth.ready for depth in broker.depths() if depth.kind == "shop"}


@pytest.mark.needs("unroutable", "depth")
def test_a_shop_has_its_own_queue_and_nobody_else_takes_from_it(broker: Broker) -> None:
    assert [receipt.error for receipt in broker.publish([order(1, "s0")])] == ["unroutable"]
    opened(broker, 1)
    opened(broker, 1)
    assert [receipt.ok for receipt in broker.publish([order(1, "s0"), order(2, "normal")])] == [True, True]
    consumer = broker.consumer(LANES, window=5, name="c")
    assert [one.message_id for one in collect(consumer, 1, settle=True)] == ["m2"]
    assert consumer.take(5, 0.2) == []
    assert queues(broker) == {"single_shop_s0": 1}
    consumer.serve(["s0"], 2)
    (found,) = collect(consumer, 1, settle=True)
    assert (found.message_id, found.queue, found.routing_key) == ("m1", "single_shop_s0", "task.pdd.s0")
    consumer.close()


@pytest.mark.needs("unroutable", "depth")
def test_a_queue_takes_one_platform_only(broker: Broker, broker_kind: str) -> None:
    opened(broker, 1)
    assert [receipt.error for receipt in broker.publish([order(1, "s0", platform="temu")])] == ["unroutable"]
    if broker_kind == "embedded":
        with pytest.raises(TopologyMismatch, match="another platform"):
            broker.open_shop("temu", "s0")


@pytest.mark.needs("delay")
def test_a_retry_comes_back_to_the_queue_of_its_shop(broker: Broker) -> None:
    opened(broker, 1)
    consumer = broker.consumer(LANES, window=5, name="c")
    consumer.serve(["s0"], 1)
    assert broker.publish([order(1, "s0", delay_s=1)])[0].ok
    (found,) = collect(consumer, 1, settle=True)
    assert (found.message_id, found.queue) == ("m1", "single_shop_s0")
    consumer.close()


def test_messages_of_a_queue_go_in_their_order_one_at_a_time(broker: Broker) -> None:
    opened(broker, 1)
    priorities = (1, 9, 5) if NODES == 1 else (5, 5, 5)  # a quorum queue takes what is urgent first
    broker.publish([order(number, "s0", priority=priority) for number, priority in enumerate(priorities)])
    consumer = broker.consumer(LANES, window=5, name="c")
    consumer.serve(["s0"], 3)
    for number in range(3):
        (found,) = collect(consumer, 1)
        assert (found.message_id, consumer.unacked()) == (f"m{number}", 1)
        assert consumer.take(5, 0.05) == []
        consumer.ack([found])
    consumer.close()


def test_no_more_are_held_than_there_are_seats(broker: Broker) -> None:
    shops = opened(broker, 12)
    broker.publish([order(100 * number + n, shop) for number, shop in enumerate(shops) for n in range(3)])
    consumers = [broker.consumer(LANES, window=5, name=f"c{number}") for number in range(3)]
    for consumer in consumers:
        consumer.serve(shops, 2)
    done: set[str] = set()

    def work() -> bool:
        for consumer in consumers:
            assert consumer.unacked() <= 2
            taken = consumer.take(5, 0.02)
            assert len({one.queue for one in taken}) == len(taken)
            done.update(one.message_id for one in taken)
            consumer.ack(taken)
        return len(done) == 36

    eventually(work, 30)
    assert eventually(lambda: sum(queues(broker).values()) == 0)
    for consumer in consumers:
        consumer.close()


def test_a_full_queue_does_not_keep_the_others_out(broker: Broker) -> None:
    shops = opened(broker, 3)
    broker.publish([order(number, "s0") for number in range(300)] + [order(1001, "s1"), order(1002, "s2")])
    consumer = broker.consumer(LANES, window=5, name="c")
    consumer.serve(shops, 1)
    seen: list[str] = []

    def work() -> bool:
        taken = consumer.take(1, 0.05)
        seen.extend(one.message_id for one in taken)
        consumer.ack(taken)
        return {"m1001", "m1002"} <= set(seen)

    eventually(work, 30)
    consumer.close()


def test_a_message_of_a_shop_stands_in_its_own_lane(broker: Broker) -> None:
    opened(broker, 1)
    consumer = broker.consumer(LANES, window=5, name="c")
    consumer.serve(["s0"], 1)
    broker.publish([order(1, "s0", priority=9), order(2, "normal"), order(3, "high", priority=9), order(4, "low")])
    eventually(lambda: consumer.unacked() == 4 or sum(queues(broker).values()) == 1)
    got = collect(consumer, 4, at_once=4)
    places = [one.message_id for one in got]
    assert set(places[:2]) == {"m1", "m3"}
    assert places[2:] == ["m2", "m4"]
    consumer.close()


@pytest.mark.needs("depth")
def test_what_is_not_served_any_more_stays_in_its_queue(broker: Broker) -> None:
    shops = opened(broker, 2)
    consumer = broker.consumer(LANES, window=5, name="c")
    consumer.serve(shops, 2)
    broker.publish([order(1, "s0")])
    consumer.ack(collect(consumer, 1))
    consumer.serve(["s1"], 2)
    eventually(lambda: {one.name: one.consumers for one in broker.depths()}["single_shop_s0"] == 0)
    broker.publish([order(2, "s0"), order(3, "s1")])
    assert [one.message_id for one in collect(consumer, 1)] == ["m3"]
    assert consumer.take(5, 0.2) == []
    assert queues(broker)["single_shop_s0"] == 1
    consumer.close()


@pytest.mark.needs("depth")
def test_a_paused_consumer_gives_back_what_nobody_took(broker: Broker) -> None:
    shops = opened(broker, 2)
    consumer = broker.consumer(LANES, window=5, name="c")
    consumer.serve(shops, 2)
    broker.publish([order(1, "s0"), order(2, "s1")])
    consumer.pause()
    eventually(lambda: queues(broker) == {"single_shop_s0": 1, "single_shop_s1": 1})
    assert consumer.take(5, 0.05) == []
    consumer.resume()
    collect(consumer, 2, settle=True)
    consumer.close()


@pytest.mark.needs("unroutable", "depth")
def test_a_queue_ends_only_when_it_is_empty_and_nobody_serves_it(broker: Broker) -> None:
    opened(broker, 1)
    broker.publish([order(1, "s0")])
    assert not broker.close_shop("pdd", "s0")
    consumer = broker.consumer(LANES, window=5, name="c")
    consumer.serve(["s0"], 1)
    consumer.ack(collect(consumer, 1))
    eventually(lambda: {one.name: one.consumers for one in broker.depths()}["single_shop_s0"] == 1)
    assert not broker.close_shop("pdd", "s0")
    consumer.serve([], 1)
    eventually(lambda: broker.close_shop("pdd", "s0"))
    assert broker.close_shop("pdd", "s0")
    assert [receipt.error for receipt in broker.publish([order(2, "s0")])] == ["unroutable"]
    assert queues(broker) == {}
    assert broker.publish([order(3)])[0].ok
    assert [one.message_id for one in collect(consumer, 1)] == ["m3"]
    consumer.close()


def test_a_queue_that_comes_later_is_served_then(broker: Broker) -> None:
    consumer = broker.consumer(LANES, window=5, name="c")
    consumer.serve(["s0"], 1)
    assert consumer.take(1, 0.1) == []
    opened(broker, 1)
    broker.publish([order(1, "s0"), order(2)])
    assert {one.message_id for one in collect(consumer, 2, settle=True)} == {"m1", "m2"}
    consumer.close()


def test_a_message_counts_as_one_of_its_lane_in_the_plan(broker: Broker) -> None:
    opened(broker, 2)
    consumer = broker.consumer(LANES, window=5, name="c")
    consumer.serve(["s0", "s1"], 2)
    broker.publish([order(1, "s0", priority=1), order(2, "s1", priority=5), order(3, "low", priority=1)])
    found = collect_plan(consumer, (("normal", 1), ("low", 1)), 2)
    assert [one.message_id for one in found[:1]] == ["m2"]
    assert len(found) == 2
    assert consumer.take(5, 0.2, (("high", 5), ("normal", 5))) == []
    consumer.close()


def collect_plan(consumer: Consumer, plan: Sequence[tuple[str, int]], count: int) -> list[Delivery]:
    """One take once all is here."""
    buffered(consumer, 3)
    return consumer.take(count, 5.0, plan)
