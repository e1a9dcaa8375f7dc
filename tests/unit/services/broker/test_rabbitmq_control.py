"""Declaring what is wanted, saying what stands in the way, restoring what was lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from services.broker.rabbitmq.control import Control
from services.broker.rabbitmq.errors import ChannelLost
from services.domain.errors import BrokerUnavailable, TopologyMismatch
from tests.unit.services.broker.rabbitmq_fakes import FakeChannel, FakeLink


class DirectLink(FakeLink):
    """A link whose ``call`` plays the broker: ``script`` decides what happens to each channel."""

    def __init__(self) -> None:
        super().__init__()
        self.script: Callable[[FakeChannel], None] = lambda channel: channel.answer()
        self.down = False

    def call(self, work: Callable[[Future[Any]], None], _timeout: float) -> Any:
        if self.down:
            raise BrokerUnavailable("not there")
        answer: Future[Any] = Future()
        work(answer)
        while not answer.done():
            self.script(self.open())
            self.run()
        try:
            return answer.result(0)
        except ChannelLost as exc:
            if exc.code:
                raise
            raise BrokerUnavailable(exc.text) from exc


class FakeManagement:
    def arguments(self, queue: str) -> Mapping[str, object] | None:
        return {"x-max-priority": 3, "of": queue}


class Rig:
    def __init__(self, profile: str = "single") -> None:
        self.link = DirectLink()
        self.control = Control(self.link, FakeManagement(), profile)  # type: ignore[arg-type]

    def declared(self, kind: str) -> list[str]:
        return [call[1] for channel in self.link.channels for call in channel.told(kind)]


@pytest.fixture
def rig() -> Rig:
    return Rig()


def refuse(queue: str, code: int, text: str) -> Callable[[FakeChannel], None]:
    """Answer everything before ``queue``, then close the channel; count what is asked otherwise."""

    def script(channel: FakeChannel) -> None:
        for place, call in enumerate(channel.calls):
            if call[:2] == ("queue", queue):
                channel.answer(place)
                channel.lose(code, text)
                return
        if channel.told("count"):
            for _ in channel.told("count"):
                assert channel.on_reply is not None
                channel.on_reply(SimpleNamespace(method=SimpleNamespace(message_count=0, consumer_count=0)))
        channel.answer()

    return script


def test_ensure_declares_the_base_the_platforms_the_delays_and_the_log(rig: Rig) -> None:
    rig.control.ensure(["pdd"], [30])
    assert rig.declared("queue") == [
        "rpa_dead_queue",
        "rpa_tasks_high",
        "rpa_tasks_normal",
        "rpa_tasks_low",
        "rpa_delay_30s",
        "rpa_notice_late",
        "rpa_notice_queue",
        "rpa_dead_log",
    ]
    assert rig.control.delays == {30}
    assert rig.control.latency_ms >= 0
    assert not any(channel.is_open for channel in rig.link.channels)


def test_another_argument_stops_with_both_sets_and_is_not_remembered(rig: Rig) -> None:
    rig.link.script = refuse("rpa_tasks_low", 406, "PRECONDITION_FAILED - inequivalent arg")
    with pytest.raises(TopologyMismatch, match=r"rpa_tasks_low.*'x-max-priority': 10.*'x-max-priority': 3"):
        rig.control.ensure(["pdd"], [30])
    assert rig.control.delays == set()


def test_another_refusal_is_told_as_it_is(rig: Rig) -> None:
    rig.link.script = refuse("rpa_tasks_low", 404, "NOT_FOUND - no exchange")
    with pytest.raises(BrokerUnavailable, match="no exchange"):
        rig.control.ensure([], [])


DOWN = "NOT_FOUND - home node 'rabbit@b' of durable queue 'rpa_tasks_low' in vhost 'fleet' is down or inaccessible"


@pytest.mark.parametrize(("code", "text"), [(404, DOWN), (405, "RESOURCE_LOCKED"), (541, "INTERNAL_ERROR")])
def test_a_queue_out_of_reach_is_told_once_and_the_others_are_declared(
    rig: Rig, caplog: pytest.LogCaptureFixture, code: int, text: str
) -> None:
    rig.link.script = refuse("rpa_tasks_low", code, text)
    rig.control.ensure(["pdd"], [30])
    rig.control.ensure(["pdd"], [30])
    assert rig.control.unreachable == {"rpa_tasks_low": text}
    assert {"rpa_dead_queue", "rpa_tasks_high", "rpa_delay_30s", "rpa_dead_log"} <= set(rig.declared("queue"))
    assert "rpa_delay_30s" in rig.declared("bind")
    assert caplog.text.count("rpa_tasks_low cannot be reached") == 1
    rig.link.script = lambda channel: channel.answer()
    rig.control.ensure(["pdd"], [30])
    assert rig.control.unreachable == {}
    assert "rpa_tasks_low can be reached again" in caplog.text


def test_a_queue_that_nobody_answers_for_is_passed_over(rig: Rig) -> None:
    def script(channel: FakeChannel) -> None:
        for place, call in enumerate(channel.calls):
            if call[:2] == ("queue", "rpa_tasks_high"):
                channel.answer(place)
                rig.link.tick(4)
                return
        channel.answer()

    rig.link.script = script
    rig.control.ensure(["pdd"], [30])
    assert list(rig.control.unreachable) == ["rpa_tasks_high"]
    assert "rpa_delay_30s" in rig.declared("bind")


def test_a_broker_that_opens_no_channel_is_no_matter_of_its_queues(rig: Rig) -> None:
    rig.control.ensure([], [])
    done: list[int] = []
    rig.control.restore(lambda: done.append(1))
    rig.link.tick(30)
    assert not done
    rig.link.open().answer()
    rig.link.open().answer()
    rig.link.open().answer()
    assert done == [1]
    assert rig.control.unreachable == {}


def accept(*wanted: dict[str, Any]) -> Callable[[FakeChannel], None]:
    """Nothing but these arguments for the dead queue."""

    def script(channel: FakeChannel) -> None:
        for place, call in enumerate(channel.calls):
            if call[:2] == ("queue", "rpa_dead_queue") and call[2] not in wanted:
                channel.answer(place)
                channel.lose(406, "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'rpa_dead_queue'")
                return
        channel.answer()

    return script


@pytest.mark.parametrize(
    ("version", "stands"),
    [
        ("3.10.8", {"x-queue-type": "quorum"}),
        ("4.0.5", {"x-queue-type": "quorum", "x-delivery-limit": -1}),
        ("4.0.5", {"x-queue-type": "quorum"}),
        ("3.8.9", {"x-queue-type": "classic"}),
        ("4.0.5", {"x-queue-type": "classic"}),
    ],
)
def test_on_a_cluster_the_best_that_stands_is_accepted(version: str, stands: dict[str, Any]) -> None:
    rig = Rig("cluster")
    rig.link.version = version
    rig.link.script = accept(stands)
    rig.control.ensure(["pdd"], [30])
    asked = [call[2] for channel in rig.link.channels for call in channel.told("queue") if call[1] == "rpa_dead_queue"]
    assert asked[-1] == stands
    assert rig.control.unreachable == {}


def test_what_does_not_fit_at_all_is_told_with_what_is_wanted() -> None:
    rig = Rig("cluster")
    rig.link.script = accept()
    with pytest.raises(TopologyMismatch, match=r"Fleetdeck needs {'x-queue-type': 'quorum'}"):
        rig.control.ensure([], [])


def test_who_may_not_declare_is_content_with_what_is_there(rig: Rig) -> None:
    rig.link.script = refuse("rpa_dead_queue", 403, "ACCESS_REFUSED - access to queue")
    rig.control.ensure(["pdd"], [30])
    assert rig.control.delays == {30}


def test_who_may_not_declare_is_told_what_is_missing(rig: Rig) -> None:
    inner = refuse("rpa_dead_queue", 403, "ACCESS_REFUSED - access to queue")

    def script(channel: FakeChannel) -> None:
        if channel.told("count"):
            channel.lose(404, "NOT_FOUND")
        else:
            inner(channel)

    rig.link.script = script
    with pytest.raises(BrokerUnavailable, match=r"rpa_dead_queue.* are missing and user 'guest' may not create them"):
        rig.control.ensure([], [])


def test_a_broker_without_streams_is_good_enough_and_asked_once(rig: Rig) -> None:
    rig.link.script = refuse("rpa_dead_log", 406, "PRECONDITION_FAILED - unknown queue type")
    rig.control.ensure(["pdd"], [])
    rig.control.ensure(["temu"], [])
    assert rig.declared("queue").count("rpa_dead_log") == 1


def test_an_old_broker_is_not_asked_for_streams(rig: Rig) -> None:
    rig.link.version = "3.8.9"
    rig.control.ensure([], [])
    assert "rpa_dead_log" not in rig.declared("queue")


def test_what_could_not_be_declared_is_wanted_all_the_same(rig: Rig) -> None:
    rig.link.down = True
    with pytest.raises(BrokerUnavailable):
        rig.control.ensure(["pdd"], [30])
    done: list[str] = []
    rig.control.restore(lambda: done.append("on"))
    rig.link.open().answer()
    assert "rpa_delay_30s" in rig.declared("queue")
    assert not done
    rig.link.open().answer()
    rig.link.open().answer()
    assert done == ["on"]
    assert rig.declared("queue")[-1] == "rpa_dead_log"


def test_restorations_asked_for_meanwhile_join_the_one_under_way(rig: Rig) -> None:
    rig.control.ensure(["pdd"], [])
    before = len(rig.link.channels)
    done: list[int] = []
    for number in range(3):
        rig.control.restore(lambda number=number: done.append(number))  # type: ignore[misc]
    rig.link.open().answer()
    rig.link.open().answer()
    rig.link.open().answer()
    assert done == [0, 1, 2]
    assert len(rig.link.channels) == before + 3


def test_nothing_wanted_or_nobody_there_lets_the_caller_go_on(rig: Rig) -> None:
    done: list[int] = []
    rig.control.restore(lambda: done.append(1))
    rig.control.ensure([], [])
    rig.link.fail()
    rig.control.restore(lambda: done.append(2))
    assert done == [1, 2]


def test_a_restoration_that_meets_a_mismatch_says_so_until_it_is_gone(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    rig.control.ensure([], [])
    done: list[int] = []
    rig.control.restore(lambda: done.append(1))
    refuse("rpa_tasks_high", 406, "PRECONDITION_FAILED")(rig.link.open())
    rig.link.run()
    rig.link.open().answer()
    rig.link.open().answer()
    rig.link.open().answer()
    assert done == [1]
    assert "rpa_tasks_high exists with other arguments" in rig.control.error
    assert "rpa_tasks_high" in caplog.text
    rig.control.restore(lambda: done.append(2))
    rig.link.open().answer()
    rig.link.open().answer()
    rig.link.open().answer()
    assert done == [1, 2]
    assert rig.control.error == ""


def test_what_comes_back_with_other_arguments_is_reached_and_keeps_nothing_else_away(rig: Rig) -> None:
    rig.link.script = refuse("rpa_tasks_high", 404, DOWN.replace("low", "high"))
    rig.control.ensure(["pdd"], [30])
    assert list(rig.control.unreachable) == ["rpa_tasks_high"]
    before = len(rig.link.channels)
    done: list[int] = []
    rig.control.restore(lambda: done.append(1))
    refuse("rpa_tasks_high", 406, "PRECONDITION_FAILED - inequivalent arg")(rig.link.open())
    rig.link.run()
    rig.link.open().answer()
    rig.link.open().answer()
    rig.link.open().answer()
    assert done == [1]
    assert rig.control.unreachable == {}
    assert "rpa_tasks_high exists with other arguments" in rig.control.error
    again = [call[1] for channel in rig.link.channels[before:] for call in channel.told("queue", "bind")]
    assert {"rpa_tasks_low", "rpa_delay_30s", "rpa_dead_log"} <= set(again)


def test_counting_nothing_asks_nothing(rig: Rig) -> None:
    assert rig.control.count([]) == {}
    assert rig.link.channels == []


def lost_at_first(code: int, text: str) -> Callable[[FakeChannel], None]:
    """The first channel ends behind its first answer; the others are answered."""
    seen: list[FakeChannel] = []

    def script(channel: FakeChannel) -> None:
        seen.append(channel)
        channel.answer(None if seen[1:] else 1)
        channel.lose(code, text)

    return script


def test_a_queue_that_was_deleted_already_has_no_notices_left() -> None:
    """Who deleted it may have been lost before it ended them."""
    rig = Rig("cluster")
    rig.link.script = lost_at_first(404, "NOT_FOUND - no queue 'single_shop_s1'")
    assert rig.control.close_shop("pdd", "s1")
    assert rig.link.channels[-1].told("unbind") == [("unbind", "rpa_notice_queue", "rpa_task_exchange", "task.pdd.s1")]
    assert rig.declared("bind") == []


@pytest.mark.parametrize(("code", "text"), [(404, DOWN), (541, "INTERNAL_ERROR"), (0, "the connection was lost")])
def test_a_queue_that_could_not_be_looked_at_gets_messages_again(code: int, text: str) -> None:
    rig = Rig("cluster")
    rig.link.script = lost_at_first(code, text)
    with pytest.raises(BrokerUnavailable, match=text[:9]):
        rig.control.close_shop("pdd", "s1")
    assert rig.link.channels[-1].told("bind") == [("bind", "single_shop_s1", "rpa_task_exchange", "task.pdd.s1")]
