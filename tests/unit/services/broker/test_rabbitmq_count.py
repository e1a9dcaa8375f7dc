"""Counting all queues with one write."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from services.broker.rabbitmq.count import Count, Numbers
from services.broker.rabbitmq.errors import ChannelLost
from tests.unit.services.broker.rabbitmq_fakes import FakeChannel, FakeLink


class Rig:
    def __init__(self, *names: str) -> None:
        self.link = FakeLink()
        self.answer: Future[Numbers] = Future()
        self.latencies: list[float] = []
        Count(self.link, names, self.answer, self.latencies.append).start()  # type: ignore[arg-type]
        self.channel: FakeChannel = self.link.open()

    def say(self, ready: int, consumers: int) -> None:
        assert self.channel.on_reply is not None
        self.channel.on_reply(SimpleNamespace(method=SimpleNamespace(message_count=ready, consumer_count=consumers)))


def test_all_questions_leave_together_and_answers_come_in_their_order() -> None:
    rig = Rig("a", "b")
    assert rig.channel.told("count") == [("count", "a"), ("count", "b")]
    assert rig.link.connection.corks == 1
    rig.link.clock.advance(0.003)
    rig.say(1, 2)
    rig.say(3, 4)
    assert rig.answer.result(0) == {"a": (1, 2), "b": (3, 4)}
    assert rig.latencies == [pytest.approx(3.0)]
    assert not rig.channel.is_open


def test_a_missing_queue_is_left_out_and_the_rest_asked_again() -> None:
    rig = Rig("a", "gone", "b", "gone too")
    rig.say(1, 0)
    rig.channel.lose(404, "NOT_FOUND - no queue 'gone'")
    rig.link.run()
    rig.channel = rig.link.open()
    assert rig.channel.told("count") == [("count", "b"), ("count", "gone too")]
    rig.say(2, 0)
    rig.channel.lose(404, "NOT_FOUND - no queue 'gone too'")
    assert rig.answer.result(0) == {"a": (1, 0), "b": (2, 0)}


def test_a_lost_connection_ends_the_count() -> None:
    rig = Rig("a")
    rig.link.fail()
    assert isinstance(rig.answer.exception(0), ChannelLost)
    rig = Rig("gone", "b")
    rig.channel.lose(404, "NOT_FOUND")
    rig.link.fail()
    rig.link.run()
    assert isinstance(rig.answer.exception(0), ChannelLost)


def test_another_refusal_is_told() -> None:
    rig = Rig("a")
    rig.channel.lose(504, "CHANNEL_ERROR")
    error = rig.answer.exception(0)
    assert isinstance(error, ChannelLost)
    assert error.code == 504
