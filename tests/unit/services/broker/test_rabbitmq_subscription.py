"""From what is there to what is wanted: windows, pauses, losses and the watchdog, step by step."""

from __future__ import annotations

import threading
from collections.abc import Container
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from services.broker.rabbitmq.cut import Cut
from services.broker.rabbitmq.subscription import PERMITTED, STALL, STUCK, WATCH, Subscription
from tests.unit.services.broker.rabbitmq_fakes import FakeChannel, FakeLink

QUEUES = ("rpa_tasks_high", "rpa_tasks_low")


class FakeOwner:
    def __init__(self) -> None:
        self.log: list[Any] = []
        self.holding = 0

    def on_channel(self, channel: FakeChannel) -> None:
        self.log.append("channel")

    def on_lost(self) -> None:
        self.log.append("lost")

    def on_delivery(self, queue: str, source: int, found: Cut, _now: float) -> None:
        self.log.append((queue, source, found.delivery_tag))

    def on_data(self) -> None:
        return

    def give_back(self, keep: Container[int]) -> None:
        self.log.append(("back", keep))

    def on_settled(self) -> None:
        return

    def unacked(self) -> int:
        return self.holding


class FakeControl:
    def __init__(self) -> None:
        self.restored = 0
        self.numbers: dict[str, tuple[int, int]] = {}
        self.unreachable: dict[str, str] = {}

    def restore(self, then: Any) -> None:
        self.restored += 1
        then()

    def counting(self, _names: Any, answer: Future[dict[str, tuple[int, int]]]) -> None:
        answer.set_result(self.numbers)


class Rig:
    def __init__(self, window: int = 8) -> None:
        self.link, self.owner, self.control = FakeLink(), FakeOwner(), FakeControl()
        self.subscription = Subscription(
            self.link,  # type: ignore[arg-type]
            self.control,  # type: ignore[arg-type]
            QUEUES,
            self.owner,  # type: ignore[arg-type]
            window=window,
            name="w1",
        )
        self.link.add(self.subscription)
        self.channel = self.link.open()

    def tags(self) -> list[str]:
        return [item.tag for item in self.subscription._active.values()]


@pytest.fixture
def rig() -> Rig:
    made = Rig()
    made.channel.answer()
    return made


def test_it_restores_what_is_wanted_and_then_consumes_each_queue() -> None:
    rig = Rig(window=8)
    assert rig.control.restored == 1
    rig.channel.answer()
    assert rig.channel.calls == [("qos", 8), ("consume", QUEUES[0]), ("consume", QUEUES[1])]
    assert rig.owner.log == ["channel"]


def test_a_new_window_starts_new_consumers_before_it_cancels_the_old(rig: Rig) -> None:
    old = rig.tags()
    rig.channel.calls.clear()
    rig.subscription.set_window(64)
    assert [call[0] for call in rig.channel.calls] == ["qos", "consume", "consume", "cancel", "cancel"]
    assert [call[1] for call in rig.channel.told("cancel")] == old
    rig.channel.answer()
    assert "back" not in str(rig.owner.log), "a larger window keeps what is here"
    assert not set(rig.tags()) & set(old)


def test_a_smaller_window_gives_back_what_the_old_consumers_brought_once_they_are_gone(rig: Rig) -> None:
    rig.subscription.set_window(1)
    rig.channel.answer(4)
    assert "back" not in str(rig.owner.log)
    rig.channel.answer()
    assert rig.owner.log[-1] == ("back", {item.number for item in rig.subscription._active.values()})


def test_wishes_made_on_the_way_are_carried_out_after_it(rig: Rig) -> None:
    rig.channel.calls.clear()
    rig.subscription.set_window(64)
    rig.subscription.set_window(1)
    rig.subscription.set_running(False)
    rig.subscription.set_running(True)
    assert [call for call in rig.channel.calls if call[0] == "qos"] == [("qos", 64)]
    rig.channel.answer()
    assert [call for call in rig.channel.calls if call[0] == "qos"] == [("qos", 64), ("qos", 1)]
    assert len(rig.channel.told("cancel")) == 4


def test_a_pause_cancels_and_then_gives_everything_back(rig: Rig) -> None:
    rig.subscription.set_running(False)
    assert len(rig.channel.told("cancel")) == 2
    assert "back" not in str(rig.owner.log)
    rig.channel.answer()
    assert rig.owner.log[-1] == ("back", set())
    rig.subscription.set_running(True)
    rig.channel.answer()
    assert len(rig.channel.told("consume")) == 4


def test_deliveries_come_with_their_queue_and_source(rig: Rig) -> None:
    rig.channel.deliver(rig.tags()[1], 7)
    assert rig.owner.log[-1] == (QUEUES[1], 2, 7)


def test_a_lost_connection_forgets_the_channel_and_comes_back(rig: Rig) -> None:
    rig.link.fail()
    assert rig.owner.log[-1] == "lost"
    assert rig.subscription.channel is None
    rig.link.come_back()
    assert rig.control.restored == 2
    channel = rig.link.open()
    channel.answer()
    assert len(channel.told("consume")) == 2


def test_answers_of_an_old_channel_do_not_count(rig: Rig) -> None:
    rig.subscription.set_window(64)
    owed = rig.channel.owed
    rig.link.fail()
    rig.link.come_back()
    for callback in owed:
        callback(None)
    channel = rig.link.open()
    channel.answer()
    assert rig.subscription._steps == 0


def test_a_consumer_cancelled_by_the_broker_starts_again_after_a_pause(rig: Rig) -> None:
    assert rig.channel.on_cancel is not None
    rig.channel.on_cancel(SimpleNamespace(method=SimpleNamespace(consumer_tag=rig.tags()[0])))
    rig.channel.calls.clear()
    rig.link.tick(0.3)
    assert rig.control.restored == 2
    rig.channel.answer()
    assert rig.channel.told("consume") == [("consume", QUEUES[0])]


def test_a_channel_closed_by_the_broker_is_made_again(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    text = "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 1800000 ms."
    rig.channel.lose(406, text)
    assert rig.owner.log[-1] == "lost"
    assert "consumer_timeout" in caplog.text
    rig.link.tick(0.3)
    channel = rig.link.open()
    channel.answer()
    assert len(channel.told("consume")) == 2


def test_a_queue_that_this_user_may_not_take_from_keeps_nobody_from_the_others(rig: Rig) -> None:
    """Each try closes its channel, and what runs would lose its message with it: it is made on another one."""
    rig.channel.lose(403, f"ACCESS_REFUSED - access to queue '{QUEUES[1]}' in vhost '/' refused for user 'w'")
    rig.link.tick(0.3)
    channel = rig.link.open()
    channel.answer()
    assert channel.told("consume") == [("consume", QUEUES[0])]
    assert QUEUES[1] in rig.subscription.error
    rig.link.tick(PERMITTED + 1)
    refused = rig.link.open()
    assert refused.told("consume") == [("consume", QUEUES[1])]
    refused.lose(403, "ACCESS_REFUSED")
    assert channel.is_open
    rig.link.tick(PERMITTED + 1)
    rig.link.open().answer()
    channel.answer()
    assert channel.told("consume") == [("consume", QUEUES[0]), ("consume", QUEUES[1])]
    assert rig.subscription.error == ""


def test_a_refused_queue_is_tried_again_while_another_one_is_away(rig: Rig) -> None:
    rig.channel.lose(403, f"ACCESS_REFUSED - access to queue '{QUEUES[1]}' in vhost '/' refused for user 'w'")
    rig.control.unreachable = {QUEUES[0]: "its server is away"}
    rig.link.tick(0.3)
    rig.link.open().answer()
    for _look in range(round(PERMITTED / WATCH) + 1):
        rig.link.tick(WATCH)
    assert rig.link.open().told("consume") == [("consume", QUEUES[1])]
    assert rig.control.restored > PERMITTED / WATCH, "the one that is away is asked for all the while"


def test_failing_again_and_again_makes_the_pauses_grow(rig: Rig) -> None:
    for expected in (0.2, 1.0, 2.0, 4.0, 8.0, 8.0):
        rig.link.channels[-1].lose(404, "NOT_FOUND - no queue")
        due = min(timer[0] for timer in rig.link.timers if timer[1] == rig.subscription._again)
        assert 0.75 * expected <= due - rig.link.now() <= 1.25 * expected
        rig.link.tick(due - rig.link.now())
        rig.link.open().answer(0)


def test_leaving_cancels_gives_back_and_closes_in_this_order(rig: Rig) -> None:
    left = threading.Event()
    rig.subscription.leave(left)
    assert not left.is_set()
    rig.channel.answer()
    assert [call[0] for call in rig.channel.calls[-3:]] == ["cancel", "cancel", "close"]
    assert ("back", set()) in rig.owner.log
    assert left.is_set()
    assert not [timer for timer in rig.link.timers if timer[1] == rig.subscription._look]


def test_leaving_without_a_channel_is_done_at_once() -> None:
    rig = Rig()
    rig.link.fail()
    left = threading.Event()
    rig.subscription.leave(left)
    assert left.is_set()
    rig.link.come_back()
    assert rig.subscription.channel is None


def test_leaving_before_the_channel_opens_closes_it() -> None:
    link, owner = FakeLink(), FakeOwner()
    subscription = Subscription(link, FakeControl(), QUEUES, owner, window=1, name="w")  # type: ignore[arg-type]
    link.add(subscription)
    left = threading.Event()
    subscription.leave(left)
    assert left.is_set()
    assert not link.open().is_open


def test_the_watchdog_starts_a_consumer_that_is_missing(rig: Rig) -> None:
    rig.subscription._active.clear()
    rig.link.tick(WATCH + 1)
    rig.link.tick(0.3)
    rig.channel.answer()
    assert len(rig.channel.told("consume")) == 4


def test_the_watchdog_leaves_a_paused_consumer_alone(rig: Rig) -> None:
    rig.subscription.set_running(False)
    rig.channel.answer()
    rig.link.tick(WATCH + 1)
    rig.link.tick(WATCH + 1)
    assert len(rig.channel.told("consume")) == 2
    assert rig.link.aborted == []


def test_the_watchdog_ends_a_connection_that_does_not_answer(rig: Rig) -> None:
    rig.subscription.set_window(64)
    for _ in range(int(STUCK / WATCH) + 2):
        rig.link.tick(WATCH + 0.1)
    assert rig.link.aborted


@pytest.mark.parametrize(
    ("numbers", "held", "broken"),
    [((5, 1), 0, True), ((0, 1), 0, False), ((5, 2), 0, False), ((5, 1), 3, False)],
)
def test_messages_that_wait_while_nothing_comes_mean_a_broken_connection(
    rig: Rig, numbers: tuple[int, int], held: int, broken: bool
) -> None:
    rig.control.numbers = {QUEUES[0]: numbers}
    rig.owner.holding = held
    for _ in range(int(STALL / WATCH) + 2):
        rig.link.tick(WATCH + 0.1)
    assert bool(rig.link.aborted) is broken
