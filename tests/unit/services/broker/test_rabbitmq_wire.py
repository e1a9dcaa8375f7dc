"""The repairs on pika, and that the places they hold on to are still there."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator
from typing import Any

import pika
import pytest
from pika import frame, spec
from pika.adapters import base_connection
from pika.adapters.utils import io_services_utils

from services.broker.rabbitmq.wire import RECEIVE, UNREADABLE, WireChannel, WireConnection


class Loose(WireConnection):
    """A connection without a socket: frames in, bytes out."""

    def __init__(self) -> None:
        self.frames: list[Any] = []
        self.out: list[bytes] = []
        self.data = 0
        super().__init__(pika.ConnectionParameters("h"), self.count, internal_connection_workflow=False)

    def count(self) -> None:
        self.data += 1

    def _process_frame(self, item: Any) -> None:
        self.frames.append(item)


class FakeTransport:
    _MAX_RECV_BYTES = 4096

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)


@pytest.fixture
def loose() -> Iterator[Loose]:
    made = Loose()
    made._transport = FakeTransport()
    made._set_connection_state(made.CONNECTION_OPEN)
    yield made
    made.ioloop.close()


def message(body: bytes, **properties: Any) -> bytes:
    deliver = spec.Basic.Deliver("tag", 1, False, "e", "k")
    header = frame.Header(1, len(body), spec.BasicProperties(**properties))
    return b"".join((frame.Method(1, deliver).marshal(), header.marshal(), frame.Body(1, body).marshal()))


@pytest.mark.parametrize("piece", [1, 2, 7, 64, 5000])
def test_frames_are_cut_right_however_the_input_is_cut(loose: Loose, piece: int) -> None:
    data = b"".join(message(bytes([number]) * number, message_id=f"m{number}") for number in range(1, 40))
    for start in range(0, len(data), piece):
        loose._on_data_available(data[start : start + piece])
    assert len(loose.frames) == 39 * 3
    assert [item.fragment[:1] for item in loose.frames[2::3]] == [bytes([number]) for number in range(1, 40)]
    assert [item.properties.message_id for item in loose.frames[1::3]] == [f"m{number}" for number in range(1, 40)]
    assert loose._frame_buffer == b""
    assert loose.bytes_received == len(data)
    assert loose.data == -(-len(data) // piece), "told once per piece of input"


def test_properties_that_cannot_be_read_are_marked_and_the_body_is_kept(loose: Loose) -> None:
    good = message(b"body", headers={"when": 1})
    broken = good.replace(b"\x04whenI", b"\x04when\x01", 1)  # a field type nobody knows
    assert broken != good
    loose._on_data_available(broken + message(b"next"))
    _method, header, body = loose.frames[:3]
    assert UNREADABLE in header.properties.headers
    assert (header.body_size, header.channel_number, body.fragment) == (4, 1, b"body")
    assert loose.frames[5].fragment == b"next"


def test_a_frame_without_its_end_mark_is_an_error(loose: Loose) -> None:
    with pytest.raises(pika.exceptions.InvalidFrameError):
        loose._on_data_available(frame.Heartbeat().marshal()[:-1] + b"x")


def test_a_burst_leaves_as_one_piece(loose: Loose) -> None:
    with loose.corked():
        loose.send([b"o", b"ne"])
        with loose.corked():
            loose.send([b"two"])
        assert loose._transport.written == []
    assert loose._transport.written == [b"onetwo"]
    with loose.corked():
        pass
    loose._output_marshaled_frames([b"a", b"b"])
    assert loose._transport.written == [b"onetwo", b"ab"]
    assert loose.frames_sent >= 4


def test_what_was_corked_while_the_connection_went_is_dropped(loose: Loose) -> None:
    with loose.corked():
        loose.send([b"late"])
        transport, loose._transport = loose._transport, None
    assert transport.written == []


def test_much_leaves_in_a_few_large_pieces(loose: Loose) -> None:
    frames = [bytes([number % 256]) * 1000 for number in range(1000)]
    loose.send(frames)
    assert b"".join(loose._transport.written) == b"".join(frames)
    assert len(loose._transport.written) == 4
    loose.send([])
    assert len(loose._transport.written) == 4


def test_versions_are_shown_as_text(loose: Loose) -> None:
    assert loose.version == ""
    loose.server_properties = {"version": b"3.10.8"}
    assert loose.version == "3.10.8"


def test_pika_still_has_what_the_repairs_hold_on_to() -> None:
    connection = pika.connection.Connection
    for name in (
        "_on_data_available",
        "_process_frame",
        "_output_marshaled_frames",
        "_adapter_emit_data",
        "_create_channel",
        "_terminate_stream",
    ):
        assert callable(getattr(connection, name)), name
    assert "_body_max_length" in inspect.getsource(connection)
    assert "_frame_buffer" in inspect.getsource(connection._on_data_available)
    assert callable(base_connection.BaseConnection._proto_connection_made)
    assert "_transport" in inspect.getsource(base_connection.BaseConnection)
    assert io_services_utils._AsyncTransportBase._MAX_RECV_BYTES == 4096 < RECEIVE
    assert "_MAX_RECV_BYTES" in inspect.getsource(io_services_utils._AsyncTransportBase._consume)
    for name in ("_rpc", "_send_method"):
        assert callable(getattr(pika.channel.Channel, name)), name


def test_a_cancelled_consumer_still_receives_what_was_on_its_way(loose: Loose) -> None:
    channel = _opened(loose)
    got: deque[int] = deque()
    done: list[Any] = []
    channel._consumers["t"] = lambda _channel, method, *_: got.append(method.delivery_tag)
    channel.cancel_consumer("t", done.append)

    def deliver(tag: int) -> None:
        method = frame.Method(1, spec.Basic.Deliver("t", tag, False, "e", "k"))
        channel._on_deliver(method, frame.Header(1, 0, spec.BasicProperties()), b"")

    deliver(1)
    answer = frame.Method(1, spec.Basic.CancelOk("t"))
    loose.callbacks.process(1, answer.method, loose, answer)
    assert list(got) == [1]
    assert done == [answer]
    assert "t" not in channel._consumers
    assert b"".join(loose._transport.written).count(b"\x00\x3c\x00\x5a") == 0, "no reject was sent"


def test_nothing_is_asked_for_that_rabbitmq_4_has_given_up(loose: Loose) -> None:
    """Queues that outlive no connection and belong to nobody, and a prefetch for a whole channel."""
    channel = _opened(loose)
    channel.ask_queue("q", {})
    (declare,) = _methods(loose)
    assert (declare.durable, declare.exclusive, declare.auto_delete) == (True, False, False)
    channel.basic_qos(prefetch_count=8, callback=lambda _frame: None)
    (qos,) = _methods(loose)
    assert qos.global_qos is False


def test_what_is_declared_waits_for_no_answer_and_hears_each_in_its_order(loose: Loose) -> None:
    channel, heard = _opened(loose), []
    channel.on_declared(lambda answer: heard.append(type(answer.method)))
    channel.ask_exchange("e", "topic")
    channel.ask_queue("q", {"x-queue-type": "classic"})
    channel.ask_binding("q", "e", "k")
    exchange, queue, binding = _methods(loose)
    assert (exchange.exchange, exchange.type, exchange.durable) == ("e", "topic", True)
    assert (queue.queue, queue.arguments, queue.durable) == ("q", {"x-queue-type": "classic"}, True)
    assert (binding.queue, binding.exchange, binding.routing_key) == ("q", "e", "k")
    answers = [spec.Exchange.DeclareOk(), spec.Queue.DeclareOk("q", 0, 0), spec.Queue.BindOk()]
    for answer in answers:
        loose.callbacks.process(1, answer, loose, frame.Method(1, answer))
    assert heard == [spec.Exchange.DeclareOk, spec.Queue.DeclareOk, spec.Queue.BindOk]


def _opened(loose: Loose) -> WireChannel:
    channel = WireChannel(loose, 1, lambda _channel: None)
    channel._set_state(channel.OPEN)
    return channel


def _methods(loose: Loose) -> list[Any]:
    """The methods that were written since."""
    data = b"".join(loose._transport.written)
    loose._transport.written.clear()
    found = []
    while data:
        size, one = frame.decode_frame(data)
        found.append(one.method)
        data = data[size:]
    return found
