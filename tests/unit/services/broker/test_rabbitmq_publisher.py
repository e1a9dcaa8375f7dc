"""One window for all threads, one answer for every order; the broker's part is played by the test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pika import frame, spec

from services.broker.rabbitmq.publisher import Publisher
from services.domain.task.order import Order, Receipt
from tests.unit.services.broker.rabbitmq_fakes import FakeChannel, FakeLink

OK = Receipt(True)


def order(name: str = "m", **fields: Any) -> Order:
    return Order(**({"kind": "work", "routing_key": "task.pdd.high", "body": b"{}", "message_id": name} | fields))


class Desk:
    """A publisher, its fake link and a thread that publishes."""

    def __init__(self, window: int = 1000, *, cluster: bool = False, **timing: Any) -> None:
        self.link = FakeLink(**timing)
        self.missing = 0
        self.publisher = Publisher(
            self.link,
            self.link.clock,
            self._miss,
            window=window,
            cluster=cluster,  # type: ignore[arg-type]
        )
        self.channel = self.ready()

    def _miss(self) -> None:
        self.missing += 1

    def ready(self) -> FakeChannel:
        channel = self.link.open()
        channel.answer()
        return channel

    @contextmanager
    def publishing(self, orders: list[Order]) -> Iterator[list[Receipt]]:
        """Publish in a thread; the answers are there after the block."""
        found: list[Receipt] = []
        thread = threading.Thread(target=lambda: found.extend(self.publisher.publish(orders)))
        thread.start()
        while not self.link.posted:
            assert thread.is_alive()
        self.link.run()
        yield found
        thread.join(60)  # beside other busy tests it may get its turn late
        assert not thread.is_alive()

    def sent(self) -> list[str]:
        """Ids of the messages written so far."""
        data, found = b"".join(self.link.connection.sent), []
        while data:
            length, item = frame.decode_frame(data)
            data = data[length:]
            if isinstance(item, frame.Header):
                found.append(item.properties.message_id)
        return found


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_batch_leaves_in_one_write_and_is_answered_by_one_multiple_ack(desk: Desk) -> None:
    with desk.publishing([order(f"m{number}") for number in range(5)]) as found:
        assert len(desk.link.connection.sent) == 1
        assert desk.sent() == [f"m{number}" for number in range(5)]
        desk.channel.confirm(5, multiple=True)
    assert found == [OK] * 5


def test_acks_nacks_and_returns_find_their_orders(desk: Desk) -> None:
    orders = [order("a"), order("b"), order("a", routing_key="task.pdd.nowhere"), order("a"), order("c")]
    with desk.publishing(orders) as found:
        desk.channel.give_back("a", "rpa_task_exchange", "task.pdd.nowhere")
        desk.channel.confirm(3, multiple=True)
        desk.channel.confirm(5, nack=True)
        desk.channel.confirm(4)
    assert [answer.error for answer in found] == ["", "", "unroutable", "", "nack"]
    assert desk.missing == 1


def test_equal_orders_are_returned_one_by_one(desk: Desk) -> None:
    with desk.publishing([order(), order(), order()]) as found:
        for _ in range(2):
            desk.channel.give_back("m", "rpa_task_exchange", "task.pdd.high")
        desk.channel.confirm(3, multiple=True)
    assert [answer.ok for answer in found] == [False, False, True]


def test_the_window_is_never_exceeded_and_moves_on() -> None:
    desk = Desk(window=10)
    with desk.publishing([order(f"m{number}") for number in range(25)]) as found:
        assert len(desk.sent()) == 10
        desk.channel.confirm(4, multiple=True)
        assert len(desk.sent()) == 10, "refilled in larger pieces, not one by one"
        desk.channel.confirm(5)
        assert len(desk.sent()) == 15
        desk.channel.confirm(15, multiple=True)
        assert len(desk.sent()) == 25
        desk.channel.confirm(25, multiple=True)
    assert found == [OK] * 25
    assert desk.sent() == [f"m{number}" for number in range(25)]


def test_large_bodies_narrow_the_window(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.broker.rabbitmq.publisher.WINDOW_BYTES", 3000)
    with desk.publishing([order(f"m{number}", body=bytes(2000)) for number in range(4)]) as found:
        assert len(desk.sent()) == 2
        desk.channel.confirm(2, multiple=True)
        assert len(desk.sent()) == 4
        desk.channel.confirm(4, multiple=True)
    assert found == [OK] * 4


def test_what_a_cluster_refuses_goes_again_on_a_channel_of_its_own() -> None:
    """A channel that met a queue while its leader was just gone never gets anything into it."""
    desk = Desk(cluster=True)
    with desk.publishing([order("a"), order("b"), order("c")]) as found:
        desk.channel.confirm(2)
        desk.channel.confirm(1, nack=True)
        desk.link.tick(1)
        assert not desk.channel.is_open
        desk.link.tick(1)
        fresh = desk.ready()
        assert desk.sent() == ["a", "b", "c", "c", "a"]
        fresh.confirm(2, multiple=True)
    assert found == [OK] * 3


def test_what_a_cluster_refuses_again_and_again_is_told_so() -> None:
    desk = Desk(cluster=True)
    with desk.publishing([order("a")]) as found:
        channel = desk.channel
        for _ in range(4):
            channel.confirm(1, nack=True)
            desk.link.tick(3)
            desk.link.tick(1)
            channel = desk.ready()
    assert found == [Receipt(False, "nack")]
    with desk.publishing([order("b")]) as found:
        channel.confirm(1)
    assert found == [OK]


def test_what_a_cluster_does_not_answer_goes_again_on_a_channel_of_its_own() -> None:
    """The leader of its queue has died with it, and nobody will ever confirm it on the channel that sent it."""
    desk = Desk(cluster=True)
    with desk.publishing([order("m1"), order("m2")]) as found:
        desk.channel.confirm(2)
        desk.link.clock.advance(6)
        while not desk.link.posted:
            pass
        desk.link.run()
        assert not desk.channel.is_open
        desk.link.tick(1)
        desk.ready().confirm(1)
    assert found == [OK, OK]
    assert desk.sent() == ["m1", "m2", "m1"]


def test_a_cluster_that_never_answers_is_told_so() -> None:
    desk = Desk(cluster=True, publish=30.0)
    with desk.publishing([order("m1")]) as found:
        for again in range(1, 4):
            desk.link.clock.advance(5.1 * again)
            while not desk.link.posted:
                pass
            desk.link.run()
            desk.link.tick(1)
            desk.ready()
        desk.link.clock.advance(31)
    assert found == [Receipt(False, "timeout")]
    assert desk.sent() == ["m1"] * 4


def test_a_single_broker_that_refuses_is_believed(desk: Desk) -> None:
    with desk.publishing([order("a")]) as found:
        desk.channel.confirm(1, nack=True)
    assert found == [Receipt(False, "nack")]
    assert desk.channel.is_open


def test_a_queue_that_rejects_is_named_until_it_takes_something(desk: Desk) -> None:
    with desk.publishing([order(name, routing_key="task.pdd.low") for name in "abc"]):
        desk.channel.confirm(2, nack=True)
        desk.channel.confirm(3, nack=True)
        desk.channel.confirm(1)
    queues, since = desk.publisher.rejecting
    assert queues == ("rpa_tasks_low",), "what had been taken before is confirmed later"
    desk.link.clock.advance(1)
    with desk.publishing([order("a", routing_key="task.pdd.low")]):
        desk.channel.confirm(4, nack=True)
    assert desk.publisher.rejecting == (queues, since), "it has rejected since then"
    desk.link.clock.advance(1)
    with desk.publishing([order("a", routing_key="task.pdd.low")]):
        desk.channel.confirm(5)
    assert desk.publisher.rejecting == ((), 0)


def test_many_threads_wake_the_io_thread_once(desk: Desk) -> None:
    threads = [threading.Thread(target=desk.publisher.publish, args=([order(f"m{number}")],)) for number in range(20)]
    for thread in threads:
        thread.start()
    while len(desk.publisher._waiting) < 20:
        pass
    assert desk.link.run() == 1
    desk.channel.confirm(20, multiple=True)
    for thread in threads:
        thread.join(5)


def test_an_unfit_order_does_not_hold_up_the_others(desk: Desk) -> None:
    with desk.publishing([order(routing_key="x" * 300), order("good")]) as found:
        desk.channel.confirm(1)
    assert found[0].error.startswith("refused: ShortStringTooLong")
    assert found[1] == OK
    assert desk.publisher.publish([order(routing_key="x" * 300)])[0].error.startswith("refused")
    assert desk.publisher.publish([]) == []


def test_silence_ends_in_a_timeout_and_frees_the_window() -> None:
    desk = Desk(window=2, publish=30.0)
    with desk.publishing([order(f"m{number}") for number in range(3)]) as found:
        desk.link.clock.advance(31)
    assert [answer.error for answer in found] == ["timeout"] * 3
    desk.link.run()
    with desk.publishing([order("next")]) as found:
        assert desk.sent()[-1] == "next", "what was given up no longer counts"
        desk.channel.confirm(2, multiple=True)  # too late: nobody waits for these
        desk.channel.confirm(3)
    assert found == [OK]


def test_a_blocked_broker_gets_a_short_grace_and_nothing_more_to_hold() -> None:
    desk = Desk(grace=2.0)
    desk.link.blocked, desk.link.blocked_at = True, desk.link.now()
    with desk.publishing([order()]) as found:
        assert desk.sent() == []
        desk.link.clock.advance(2.1)
    assert found == [Receipt(False, "blocked")]
    desk.link.run()
    desk.link.blocked = False
    with desk.publishing([order("free")]) as found:
        desk.channel.confirm(1)
    assert found == [OK]
    assert desk.sent() == ["free"]


def test_a_lost_connection_sends_again_what_was_on_its_way() -> None:
    desk = Desk(reconnect=5.0)
    with desk.publishing([order("a"), order("b"), order("c")]) as found:
        desk.channel.confirm(1)
        desk.link.fail()
        desk.link.come_back()
        channel = desk.ready()
        assert desk.sent() == ["b", "c"]
        channel.confirm(2, multiple=True)
    assert found == [OK] * 3


def test_a_connection_that_stays_away_is_told() -> None:
    desk = Desk(reconnect=5.0)
    with desk.publishing([order("a")]) as found:
        desk.link.fail()
        desk.link.clock.advance(5.1)
    assert found == [Receipt(False, "disconnected")]
    desk.link.failed_at = desk.link.now()
    with desk.publishing([order("b")]) as found:
        assert desk.link.nudged, "a caller makes the link try now"
    assert found == [Receipt(False, "disconnected")]


def test_a_closed_link_answers_at_once(desk: Desk) -> None:
    desk.link.closing = True
    assert desk.publisher.publish([order()]) == [Receipt(False, "disconnected")]


def test_a_missing_exchange_refuses_its_orders_only(desk: Desk) -> None:
    with desk.publishing([order("a"), order("late", kind="delay", delay_s=7), order("b")]) as found:
        desk.channel.lose(404, "NOT_FOUND - no exchange 'rpa_delay_7s' in vhost '/'")
        desk.link.tick(1)
        channel = desk.ready()
        assert desk.sent()[3:] == ["a"], "one at a time from here"
        channel.confirm(1)
        channel.confirm(2)
    assert [answer.ok for answer in found] == [True, False, True]
    assert found[1].error.startswith("refused: NOT_FOUND")
    assert desk.missing == 1


def test_the_order_that_breaks_the_channel_is_found_alone(desk: Desk) -> None:
    with desk.publishing([order("a"), order("poison"), order("b"), order("c")]) as found:
        desk.channel.lose(406, "PRECONDITION_FAILED - message size is larger than configured max size")
        desk.link.tick(1)
        channel = desk.ready()
        channel.confirm(1)
        assert desk.sent()[-1] == "poison"
        channel.lose(406, "PRECONDITION_FAILED - message size is larger than configured max size")
        desk.link.tick(1)
        channel = desk.ready()
        channel.confirm(1)
        channel.confirm(2)
    assert [answer.ok for answer in found] == [True, False, True, True]
    assert found[1].error.startswith("refused: PRECONDITION_FAILED")
    with desk.publishing([order("d"), order("e")]) as found:
        assert desk.sent()[-2:] == ["d", "e"], "together again"
        channel.confirm(4, multiple=True)
    assert found == [OK, OK]


def test_confirms_of_an_older_channel_cannot_be_mistaken(desk: Desk) -> None:
    with desk.publishing([order("a")]) as found:
        desk.link.fail()
        assert isinstance(spec.Basic.Ack(1), spec.Basic.Ack)
        desk.link.come_back()
        channel = desk.ready()
        assert not found
        channel.confirm(1)
    assert found == [OK]
