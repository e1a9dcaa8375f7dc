"""A link against servers that refuse, keep silent, hang up or speak something else; no broker needed."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import pytest

from services.broker.rabbitmq.connection import Link
from services.broker.rabbitmq.timing import Timing
from services.broker.rabbitmq.url import parse
from services.clock import SystemClock
from services.domain.errors import BrokerUnavailable

QUICK = Timing(connect=0.5, close=0.5, call=1.0)


@contextmanager
def server(behave: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port where every visitor meets ``behave``."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.05)
    stop = threading.Event()
    visitors: list[socket.socket] = []

    def serve() -> None:
        while not stop.is_set():
            try:
                visitor, _place = listening.accept()
            except TimeoutError:
                continue
            visitors.append(visitor)
            behave(visitor)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield int(listening.getsockname()[1])
    finally:
        stop.set()
        thread.join()
        for visitor in visitors:
            visitor.close()
        listening.close()


@contextmanager
def link(url: str, timing: Timing = QUICK) -> Iterator[Link]:
    made = Link(parse(url), SystemClock(), timing, name="test")
    try:
        yield made
    finally:
        started = time.monotonic()
        made.close()
        assert time.monotonic() - started < 20
        assert not [thread for thread in threading.enumerate() if thread.name == "rabbitmq-test"]


def reason(url: str) -> str:
    with link(url) as made:
        started = time.monotonic()
        with pytest.raises(BrokerUnavailable) as caught:
            made.wait_up(60)
        assert time.monotonic() - started < 40
        assert made.error == str(caught.value)
        assert not made.up
        return made.error


def test_nobody_there() -> None:
    assert "Nothing listens at 127.0.0.1:9" in reason("amqp://127.0.0.1:9")


def test_every_node_is_tried_before_somebody_is_told_that_none_answers() -> None:
    with server(lambda visitor: visitor.close()) as port:
        told = reason(f"amqp://127.0.0.1:9,127.0.0.1:{port},127.0.0.1:10")
    assert "127.0.0.1" in told
    assert "Nothing listens at 127.0.0.1:9, 127.0.0.1:10" in reason("amqp://127.0.0.1:9,127.0.0.1:10")


def test_a_silent_server() -> None:
    with server(lambda _visitor: None) as port:
        assert "did not answer in time" in reason(f"amqp://127.0.0.1:{port}")


def test_a_silent_tls_server() -> None:
    with server(lambda _visitor: None) as port:
        assert "did not answer in time" in reason(f"amqps://127.0.0.1:{port}")


def test_a_server_that_hangs_up() -> None:
    with server(lambda visitor: visitor.close()) as port:
        assert "does not speak AMQP" in reason(f"amqp://127.0.0.1:{port}")


def test_a_server_that_speaks_another_version() -> None:
    def answer(visitor: socket.socket) -> None:
        visitor.sendall(b"AMQP\x00\x01\x00\x00")
        visitor.close()

    with server(answer) as port:
        assert "does not speak AMQP" in reason(f"amqp://127.0.0.1:{port}")


def test_a_web_server() -> None:
    with server(lambda visitor: visitor.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as port:
        text = reason(f"amqp://127.0.0.1:{port}")
        assert "does not speak AMQP" in text or "did not answer in time" in text


def test_it_tries_again_by_itself_and_at_once_when_somebody_asks() -> None:
    visits: list[float] = []

    def note(visitor: socket.socket) -> None:
        visits.append(time.monotonic())
        visitor.close()

    with server(note) as port, link(f"amqp://127.0.0.1:{port}") as made:
        made.start()
        deadline = time.monotonic() + 5
        while len(visits) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(visits) == 3
        assert visits[1] - visits[0] < 0.6
        assert 0.6 < visits[2] - visits[1] < 1.6
        with pytest.raises(BrokerUnavailable):
            made.wait_up(1)
        assert len(visits) == 3, "an attempt made a moment ago is answer enough"
        time.sleep(1.1)
        before = len(visits)
        with pytest.raises(BrokerUnavailable):
            made.wait_up(1)
        assert len(visits) == before + 1


def test_work_for_a_link_that_is_not_up_is_refused() -> None:
    with link("amqp://127.0.0.1:9") as made, pytest.raises(BrokerUnavailable, match="Nothing listens"):
        made.call(lambda answer: answer.set_result(1), 1.0)


def test_the_fault_of_one_callback_does_not_end_the_thread(caplog: pytest.LogCaptureFixture) -> None:
    def fault() -> None:
        raise RuntimeError("boom")

    with link("amqp://127.0.0.1:9") as made:
        made.start()
        made.post(fault)
        done: Future[int] = Future()
        made.post(lambda: done.set_result(1))
        assert done.result(2) == 1
        assert "boom" in caplog.text


def test_a_link_never_used_closes_without_a_trace() -> None:
    with link("amqp://127.0.0.1:9"):
        pass


def test_closing_twice_and_using_afterwards() -> None:
    with link("amqp://127.0.0.1:9") as made:
        made.start()
        made.close()
        with pytest.raises(BrokerUnavailable, match="closed by this program"):
            made.wait_up(1)
        made.post(lambda: None)
        made.start()
