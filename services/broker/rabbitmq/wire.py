"""pika's event-driven connection behind typed names, with the repairs that measuring asked for.

What differs from ``pika.SelectConnection`` (1.4): input is cut into frames in linear time and read in large pieces;
a short delivery is cut out of it as a whole (rabbitmq_cut);
output of one burst leaves in one write instead of three per message; a header that cannot be decoded (a foreign
producer's date beyond year 9999, say) does not tear the connection down again and again; a cancelled consumer's last
deliveries are delivered, not rejected; a connection can be dropped without the broker's consent (a blocked one never
answers a close).
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import pika
import pika.channel
from pika import exceptions, frame, spec

from services.broker.rabbitmq.cut import cut

log = logging.getLogger(__name__)

RECEIVE = 128 * 1024  #: bytes asked of the socket at once; pika's 4,096 make one system call per eight messages
PIECE = 256 * 1024  #: bytes written at once; what the socket does not take is copied, so not much more
UNREADABLE = "x-rpa-unreadable"  #: header of a delivery whose properties could not be decoded
#: what pika's decoder raises on foreign bytes
FOREIGN = (
    ValueError,
    ArithmeticError,
    OSError,
    RecursionError,
    LookupError,
    TypeError,
    struct.error,
    exceptions.AMQPError,
)
_size = struct.Struct(">BHL").unpack_from
_content = struct.Struct(">HHQ").unpack_from


Reply = Callable[[Any], None]  #: gets the frame of the broker's answer


class Channel(Protocol):
    """What is used of a channel; in the I/O thread only."""

    channel_number: int

    @property
    def is_open(self) -> bool: ...
    def basic_ack(self, delivery_tag: int, multiple: bool) -> None: ...
    def basic_nack(self, delivery_tag: int, multiple: bool, requeue: bool) -> None: ...
    def basic_qos(self, *, prefetch_count: int, callback: Reply) -> None: ...
    def basic_consume(
        self,
        queue: str,
        receive: Callable[..., None],
        *,
        consumer_tag: str,
        callback: Reply,
        arguments: Mapping[str, Any] | None = None,
    ) -> str: ...
    def cancel_consumer(self, tag: str, callback: Reply) -> None: ...
    def count_queue(self, queue: str) -> None: ...
    def find_queue(self, queue: str, callback: Reply) -> None: ...
    def find_exchange(self, exchange: str, callback: Reply) -> None: ...
    def on_declared(self, callback: Reply) -> None: ...
    def ask_exchange(self, exchange: str, kind: str) -> None: ...
    def ask_queue(self, queue: str, arguments: Mapping[str, Any]) -> None: ...
    def ask_binding(self, queue: str, exchange: str, key: str) -> None: ...
    def queue_delete(self, queue: str, *, if_unused: bool, if_empty: bool, callback: Reply) -> None: ...
    def queue_bind(self, queue: str, exchange: str, *, routing_key: str, callback: Reply) -> None: ...
    def queue_unbind(self, queue: str, exchange: str, *, routing_key: str, callback: Reply) -> None: ...
    def confirm_delivery(self, ack_nack_callback: Reply, *, callback: Reply) -> None: ...
    def add_callback(self, callback: Reply, replies: list[Any], *, one_shot: bool) -> None: ...
    def add_on_return_callback(self, callback: Callable[[Any, Any, Any, bytes], None]) -> None: ...
    def add_on_cancel_callback(self, callback: Reply) -> None: ...
    def add_on_close_callback(self, callback: Callable[[Any, BaseException], None]) -> None: ...
    def close(self) -> None: ...


class Listener(Protocol):
    """Who lives on a connection; called in its I/O thread."""

    def on_up(self) -> None: ...
    def on_down(self) -> None: ...
    def on_data(self) -> None:
        """A piece of input was worked off."""


def quiet() -> None:
    """Every failure is told by us, once; pika would add tracebacks, unless somebody has asked for them."""
    logger = logging.getLogger("pika")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)


class WireChannel(pika.channel.Channel):  # type: ignore[misc]  # pika has no types
    """A channel that can cancel a consumer without rejecting what is already on its way."""

    def cancel_consumer(self, tag: str, callback: Reply) -> None:
        """Stop a consumer; deliveries before the broker's answer still reach its callback."""

        def cancelled(answer: Any) -> None:
            self._consumers.pop(tag, None)
            callback(answer)

        self._rpc(spec.Basic.Cancel(consumer_tag=tag), cancelled, [(spec.Basic.CancelOk, {"consumer_tag": tag})])

    def receiver(self, tag: str) -> Callable[..., None] | None:
        """Who gets the deliveries of a consumer; None for one that is not known (any more)."""
        found: Callable[..., None] | None = self._consumers.get(tag) if self.is_open else None
        return found

    def count_queue(self, queue: str) -> None:
        """Ask for a queue's numbers without waiting for the answer before (pika sends one such call at a time)."""
        self._send_method(spec.Queue.Declare(queue=queue, passive=True, arguments={}))

    def find_queue(self, queue: str, callback: Reply) -> None:
        """Ask for a queue without making it; a missing one closes the channel."""
        self.queue_declare(queue, passive=True, callback=callback)

    def find_exchange(self, exchange: str, callback: Reply) -> None:
        """Ask for an exchange without making it; a missing one closes the channel."""
        self.exchange_declare(exchange, passive=True, callback=callback)

    def on_declared(self, callback: Reply) -> None:
        """Hear of each of what follows, in its order, that it is there; none waits for the one before."""
        answers = [spec.Exchange.DeclareOk, spec.Queue.DeclareOk, spec.Queue.BindOk]
        self.add_callback(callback, answers, one_shot=False)

    def ask_exchange(self, exchange: str, kind: str) -> None:
        self._send_method(spec.Exchange.Declare(exchange=exchange, type=kind, durable=True, arguments={}))

    def ask_queue(self, queue: str, arguments: Mapping[str, Any]) -> None:
        self._send_method(spec.Queue.Declare(queue=queue, durable=True, arguments=arguments))

    def ask_binding(self, queue: str, exchange: str, key: str) -> None:
        self._send_method(spec.Queue.Bind(queue=queue, exchange=exchange, routing_key=key, arguments={}))


class WireConnection(pika.SelectConnection):  # type: ignore[misc]  # pika has no types
    """One connection of one I/O thread."""

    def __init__(self, parameters: Any, after_data: Callable[[], None], **callbacks: Any) -> None:
        self._after_data = after_data
        self._frame_buffer = b""
        self._cork: list[bytes] | None = None
        super().__init__(parameters, **callbacks)

    @property
    def body_limit(self) -> int:
        """Most bytes of a body in one frame, as negotiated."""
        return int(self._body_max_length)

    @property
    def version(self) -> str:
        """The server's version, "" before the handshake."""
        value = (self.server_properties or {}).get("version", "")
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    def abort(self, reason: str) -> None:
        """Drop the connection at once; the close (or open error) callback follows."""
        if self._transport is not None and not self.is_closed:
            self._terminate_stream(exceptions.StreamLostError(reason))
        elif not self.is_closed and not self.is_closing:
            self.close()  # TCP or TLS is not up yet: nothing to be polite about

    def send(self, frames: Sequence[bytes]) -> None:
        """Write frames that are encoded already, in few large pieces."""
        start = size = 0
        for place, data in enumerate(frames, 1):
            size += len(data)
            if size >= PIECE or place == len(frames):
                self._output_marshaled_frames(frames[start:place])
                start, size = place, 0

    @contextmanager
    def corked(self) -> Iterator[None]:
        """Collect what is written inside and send it as one piece."""
        if self._cork is not None:
            yield
            return
        self._cork = []
        try:
            yield
        finally:
            pieces, self._cork = self._cork, None
            if pieces and self._transport is not None:
                super()._adapter_emit_data(b"".join(pieces))

    def _adapter_emit_data(self, data: bytes) -> None:
        if self._cork is None:
            super()._adapter_emit_data(data)
        else:
            self._cork.append(data)

    def _output_marshaled_frames(self, marshaled_frames: Sequence[bytes]) -> None:
        data = b"".join(marshaled_frames)
        self.bytes_sent += len(data)
        self.frames_sent += len(marshaled_frames)
        self._adapter_emit_data(data)

    def _create_channel(self, channel_number: int, on_open_callback: Callable[[Any], None] | None) -> WireChannel:
        return WireChannel(self, channel_number, on_open_callback)

    def _proto_connection_made(self, transport: Any) -> None:
        transport._MAX_RECV_BYTES = RECEIVE  # noqa: SLF001  # no public way; checked by a unit test
        super()._proto_connection_made(transport)

    def _on_data_available(self, data_in: bytes) -> None:
        if data_in[:4] == b"AMQP":  # the server speaks another version of the protocol
            super()._on_data_available(data_in)
            return
        data = self._frame_buffer + data_in if self._frame_buffer else data_in
        start, length = self._take_deliveries(data, 0), len(data)
        self._frame_buffer = b""
        while length - start >= spec.FRAME_HEADER_SIZE:
            kind, number, size = _size(data, start)
            end = start + spec.FRAME_HEADER_SIZE + size + spec.FRAME_END_SIZE
            if end > length:
                break
            self.bytes_received += end - start
            self._process_frame(_decode(data[start:end], kind, number))
            start = self._take_deliveries(data, end)
        self._frame_buffer = data[start:]
        self._after_data()

    def _take_deliveries(self, data: bytes, start: int) -> int:
        """Hand out the short deliveries that stand here one behind the other; answer where they end."""
        while (found := cut(data, start)) is not None:
            channel = self._channels.get(found.channel)
            receive = channel.receiver(found.consumer_tag) if channel is not None else None
            if receive is None:
                break
            self.bytes_received += found.end - start
            receive(channel, found, found, found.body)
            start = found.end
        return start


def _decode(data: bytes, kind: int, number: int) -> Any:
    """Decode one whole frame; properties that cannot be read become a marked, empty set of them."""
    try:
        return frame.decode_frame(data)[1]
    except FOREIGN as exc:
        if kind != spec.FRAME_HEADER:
            raise
        log.warning("a message has properties that cannot be read (%s); it is delivered without them", exc)
        _class, _weight, body_size = _content(data, spec.FRAME_HEADER_SIZE)
        why = f"{type(exc).__name__}: {exc}"[:200]
        return frame.Header(number, body_size, spec.BasicProperties(headers={UNREADABLE: why}))
