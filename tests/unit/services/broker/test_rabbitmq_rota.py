"""Many queues of single shops, few seats: who sits, who gets up, and never more messages than seats."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

import pytest

from services.broker.rabbitmq.consumer import DeliveryChannel
from services.broker.rabbitmq.ledger import Verb
from services.broker.rabbitmq.rota import IDLE, LONG, PERMITTED, TURN, UNTAKEN, Rota
from tests.unit.services.broker.rabbitmq_fakes import FakeLink


class Counts:
    """A broker that can be asked how many messages wait."""

    def __init__(self, ready: dict[str, int]) -> None:
        self.ready = ready

    def counting(self, names: list[str], answer: Future[dict[str, tuple[int, int]]]) -> None:
        answer.set_result({name: (self.ready[name], 0) for name in names if name in self.ready})


class Rig:
    """A rota with its channel open; deliveries are noted by a real ledger."""

    def __init__(self, ready: dict[str, int], seats: int) -> None:
        self.link, self.counts = FakeLink(), Counts(ready)
        self.side = DeliveryChannel(self.link, threading.Condition(), (), named=True)  # type: ignore[arg-type]
        self.rota = Rota(self.link, self.counts, self.side, name="w1")  # type: ignore[arg-type]
        self.link.add(self.rota)
        self.rota.serve(tuple(ready), seats)
        self.channel = self.link.open()
        self.go_on()

    def go_on(self) -> None:
        """Let what was posted run and the broker answer, until nothing is left to do at this moment."""
        while self.link.run() or self.channel.owed:
            self.channel.answer()

    def sat(self) -> list[str]:
        """Queues in the order in which they were consumed."""
        return [queue for _, queue in self.channel.told("consume")]

    def tag(self, queue: str) -> str:
        (tag,) = [tag for tag in self.channel.receivers if f".{queue}." in tag]
        return tag

    def bring(self, queue: str, number: int) -> None:
        self.channel.deliver(self.tag(queue), number)
        self.link.data()

    def settle(self) -> None:
        """Whatever was delivered is acknowledged."""
        with self.side._cond:
            taken = [self.side.ledger.pop(one.queue) for one in self.side.ledger.fronts()]
        self.side.settle(taken, Verb.ACK)
        self.link.post(self.rota.look)
        self.go_on()

    def refuse(self, queue: str) -> None:
        """The broker does not let this user take from it, and closes the channel for that; a new one opens."""
        self.channel.lose(403, f"ACCESS_REFUSED - access to queue '{queue}' in vhost '/' refused for user 'w'")
        self.link.tick(1)
        self.channel = self.link.open()

    def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds / TURN) + 1):
            self.link.tick(TURN)
            self.go_on()


def test_with_fewer_queues_than_seats_each_has_its_own_and_keeps_it() -> None:
    rig = Rig({"a": 0, "b": 0}, seats=3)
    rig.bring("a", 1)
    rig.settle()
    rig.pass_time(2 * LONG)
    assert sorted(rig.sat()) == ["a", "b"]
    assert not rig.channel.told("cancel")


def test_who_brought_all_that_was_counted_gets_up_at_once_and_the_next_sits_when_it_is_settled() -> None:
    rig = Rig({"a": 1, "b": 1, "c": 1}, seats=1)
    rig.bring("a", 1)
    rig.pass_time(TURN)
    assert len(rig.channel.told("cancel")) == 1
    assert rig.sat() == ["a"], "its message is still in hand: that is a seat"
    rig.settle()
    assert rig.sat() == ["a", "b"], "nobody waits whether a brings more"


def test_who_has_more_keeps_the_seat_for_its_time() -> None:
    rig = Rig({"a": 9, "b": 1}, seats=1)
    rig.bring("a", 1)
    rig.settle()
    rig.pass_time(IDLE / 2)
    assert rig.sat() == ["a"]
    for number in range(2, 30):
        if rig.channel.told("cancel"):
            break
        rig.bring("a", number)
        rig.settle()
        rig.pass_time(IDLE / 2)
    rig.settle()
    assert rig.sat() == ["a", "b"]


def test_who_was_emptied_by_others_is_given_up_soon() -> None:
    rig = Rig({"a": 5, "b": 1}, seats=1)
    rig.pass_time(IDLE)
    assert rig.sat() == ["a", "b"]


@pytest.mark.parametrize("settled", [False, True])
def test_a_message_that_comes_with_the_answer_to_the_cancel_still_takes_the_seat(settled: bool) -> None:
    rig = Rig({"a": 5, "b": 1, "c": 1}, seats=1)
    while not rig.channel.told("cancel"):  # without an answer of the broker
        rig.link.tick(TURN)
    rig.channel.deliver(rig.tag("a"), 1)  # of the same piece of input as what follows
    rig.channel.answer()
    assert rig.sat() == ["a"]
    rig.link.data()
    if settled:
        rig.settle()
    assert rig.sat() == (["a", "b"] if settled else ["a"])


def test_no_more_messages_are_held_than_there_are_seats_whatever_the_order() -> None:
    names = [f"q{number}" for number in range(12)]
    rig = Rig(dict.fromkeys(names, 3), seats=4)
    most, tag = 0, 0
    for turn in range(200):
        for queue in names:
            seat: Any = rig.rota._sitting.get(queue)
            if seat is not None and queue not in rig.side.busy() and rig.counts.ready[queue]:
                tag += 1
                rig.counts.ready[queue] -= 1
                rig.channel.deliver(seat.tag, tag)
        rig.link.data()
        most = max(most, rig.side.unacked())
        if turn % 3 == 0:
            rig.settle()
        rig.pass_time(TURN)
    assert most == 4
    assert not any(rig.counts.ready.values()), "each had its turns"


def test_a_queue_that_this_user_may_not_take_from_keeps_nobody_from_the_others() -> None:
    """Each try closes the channel, and what runs would lose its message with it."""
    rig = Rig({"a": 1, "b": 1}, seats=2)
    rig.refuse("b")
    rig.pass_time(10)
    assert rig.sat() == ["a"]
    assert "'b'" in rig.rota.error
    rig.link.tick(PERMITTED)
    rig.pass_time(1)
    assert rig.sat() == ["a", "b"]
    assert rig.rota.error == ""


def test_a_queue_that_was_refused_once_and_rests_now_is_not_said_to_be_refused() -> None:
    rig = Rig({"a": 1, "b": 1}, seats=2)
    rig.refuse("b")
    rig.link.tick(PERMITTED)
    rig.pass_time(1)
    assert rig.sat() == ["a", "b"]
    rig.bring("b", 1)
    rig.pass_time(UNTAKEN)
    assert len(rig.channel.told("cancel")) == 1, "nobody took its message"
    assert rig.rota.error == ""


def test_a_refused_queue_that_is_served_no_more_is_spoken_of_no_more() -> None:
    rig = Rig({"a": 1, "b": 1}, seats=2)
    rig.refuse("b")
    rig.pass_time(1)
    assert "'b'" in rig.rota.error
    rig.rota.serve(("a",), 2)
    assert rig.rota.error == ""


def test_messages_in_a_refused_queue_take_the_seat_from_nobody() -> None:
    rig = Rig({"a": 9, "b": 1}, seats=1)
    rig.refuse("b")
    rig.pass_time(3 * LONG)
    assert rig.sat() == ["a"]
    assert not rig.channel.told("cancel")
