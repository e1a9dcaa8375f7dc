"""A look at what stands: everything is asked at once, and what is silent is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import pytest

from services.broker.rabbitmq.broker import look_at
from services.broker.rabbitmq.errors import ChannelLost
from services.broker.rabbitmq.topology import Declarable, Exchange, Queue
from services.domain.errors import BrokerUnavailable
from services.domain.task.order import Inspection
from tests.unit.services.broker.rabbitmq_fakes import FakeChannel, FakeLink

PARTS = [Exchange("e", "topic"), Queue("a"), Queue("b"), Queue("c")]
DOWN = "NOT_FOUND - home node 'n' of durable queue 'b' in vhost 'v' is down or inaccessible"
Script = Mapping[str, Callable[[FakeChannel], None]]


class Answering(FakeLink):
    """A link whose ``call`` plays the broker: it says nothing to what the script leaves out."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script

    def call(self, work: Callable[[Future[Any]], None], _timeout: float) -> Any:
        answer: Future[Any] = Future()
        work(answer)
        for _ in PARTS:
            self._opens.popleft()()
        for channel in self.channels:
            ((_find, name),) = channel.told("find")
            if name in self.script:
                self.script[name](channel)
        if not answer.done():
            self.tick(6.5)
        return answer.result(0)


class Silent:
    """No management API."""

    def arguments(self, _queue: str) -> None:
        return None

    def exchange_kind(self, _exchange: str) -> None:
        return None


def yes(channel: FakeChannel) -> None:
    channel.answer()


def no(code: int, text: str) -> Callable[[FakeChannel], None]:
    return lambda channel: channel.lose(code, text)


def seen(script: Script) -> Inspection:
    parts: list[Declarable] = list(PARTS)
    return look_at(Answering(script), Silent(), parts)  # type: ignore[arg-type]


def test_what_is_there_what_is_missing_and_what_is_out_of_reach() -> None:
    found = seen({"e": yes, "a": yes, "b": no(404, DOWN), "c": no(404, "NOT_FOUND - no queue 'c'")})
    assert (found.present, found.missing, found.unreachable) == (3, ("c",), (("b", DOWN),))


def test_queues_that_nobody_answers_for_are_out_of_reach_and_waited_for_once() -> None:
    found = seen({"e": yes, "a": yes})
    assert found.missing == ()
    assert [name for name, _ in found.unreachable] == ["b", "c"]
    assert all("does not answer" in why for _, why in found.unreachable)


def test_a_broker_that_answers_nothing_is_no_matter_of_its_queues() -> None:
    with pytest.raises(ChannelLost, match="does not answer"):
        seen({})


def test_a_connection_that_is_lost_is_told_as_such() -> None:
    with pytest.raises(ChannelLost, match="the connection was lost"):
        seen({"e": yes, "a": no(0, "the connection was lost"), "b": yes, "c": yes})


def test_another_refusal_is_told_as_it_is() -> None:
    with pytest.raises(BrokerUnavailable, match="refused to look at a: X"):
        seen({"e": yes, "a": no(501, "X"), "b": yes, "c": yes})
