"""Cuts a whole delivery out of the input in one pass, where pika makes three frames and four objects of it.

Only what is short and plain is cut here: everything else (a part still under way, a large body, properties that cannot
be read) is left to pika, frame by frame. Layout: AMQP 0-9-1, sections 2.3.5 (frames), 4.2.6 (content) and 1.8.3.9
(Basic.Deliver).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pika import data as tables
from pika import exceptions, spec

#: larger bodies are put together by pika; waiting here for their end would copy the input again and again
WHOLE = 64 * 1024
#: header tables of up to this many bytes are remembered: nearly all messages carry the same few
REMEMBERED = 256

_HEAD = spec.FRAME_HEADER_SIZE
_END = spec.FRAME_END
_DELIVER = spec.Basic.Deliver.INDEX
_method = struct.Struct(">BHLL").unpack_from
_frame = struct.Struct(">BHL").unpack_from
_content = struct.Struct(">HHQH").unpack_from
_tag = struct.Struct(">QB").unpack_from
_properties = spec.BasicProperties
_MORE_FLAGS = 1
#: between the priority and the message id: short texts that nobody here asks for
_SKIPPED = (_properties.FLAG_CORRELATION_ID, _properties.FLAG_REPLY_TO, _properties.FLAG_EXPIRATION)


class Cut:
    """One delivery; it stands for both what pika calls the method and what it calls the properties."""

    __slots__ = (
        "body", "channel", "consumer_tag", "content_encoding", "content_type", "delivery_tag", "end", "headers",
        "message_id", "priority", "redelivered", "routing_key",
    )  # fmt: skip

    channel: int
    consumer_tag: str
    delivery_tag: int
    redelivered: bool
    routing_key: str
    content_type: str
    content_encoding: str
    headers: Mapping[str, object]
    priority: int | None
    message_id: str
    body: bytes
    end: int  #: place behind its last frame


def cut(data: bytes, start: int) -> Cut | None:
    """The delivery that begins at ``start``; None where pika must read what is there."""
    length = len(data)
    if length - start < _HEAD + 4:
        return None
    kind, channel, size, index = _method(data, start)
    if kind != spec.FRAME_METHOD or index != _DELIVER:
        return None
    header = start + _HEAD + size + 1
    if length - header < _HEAD + 14:
        return None
    kind, _, header_size = _frame(data, header)
    _, _, body_size, flags = _content(data, header + _HEAD)
    begin = header + _HEAD + header_size + 1
    if kind != spec.FRAME_HEADER or body_size > WHOLE or flags & _MORE_FLAGS:
        return None
    end = begin + (body_size + _HEAD + 1 if body_size else 0)
    if end > length:
        return None
    found = Cut()
    found.channel, found.end = channel, end
    try:
        _read_method(found, data, start + _HEAD + 4)
        _read_properties(found, data, header + _HEAD + 14, begin - 1, flags)
    except (IndexError, struct.error, ValueError, ArithmeticError, OSError, RecursionError, exceptions.AMQPError):
        return None
    if body_size and (_frame(data, begin)[2] != body_size or data[begin] != spec.FRAME_BODY):
        return None
    found.body = data[begin + _HEAD : end - 1] if body_size else b""
    return found if data[end - 1] == _END else None


def of_pika(method: Any, properties: Any, body: bytes) -> Cut:
    """The same from what pika has put together."""
    found = Cut()
    found.delivery_tag, found.redelivered = method.delivery_tag, bool(method.redelivered)
    found.routing_key = text(method.routing_key)
    found.content_type, found.content_encoding = text(properties.content_type), text(properties.content_encoding)
    found.message_id, found.priority = text(properties.message_id), properties.priority
    found.headers, found.body = with_text_keys(properties.headers), body
    return found


def _read_method(found: Cut, data: bytes, place: int) -> None:
    stop = place + 1 + data[place]
    found.consumer_tag = _text(data[place + 1 : stop])
    found.delivery_tag, redelivered = _tag(data, stop)
    found.redelivered = bool(redelivered)
    place = stop + 9
    place += 1 + data[place]  # the exchange
    found.routing_key = _text(data[place + 1 : place + 1 + data[place]])


def _read_properties(found: Cut, data: bytes, place: int, limit: int, flags: int) -> None:
    found.content_type = found.content_encoding = found.message_id = ""
    if flags & _properties.FLAG_CONTENT_TYPE:
        found.content_type, place = _short(data, place, _text)
    if flags & _properties.FLAG_CONTENT_ENCODING:
        found.content_encoding, place = _short(data, place, _text)
    found.headers, place = _headers(data, place) if flags & _properties.FLAG_HEADERS else ({}, place)
    if flags & _properties.FLAG_DELIVERY_MODE:
        place += 1
    found.priority, place = (data[place], place + 1) if flags & _properties.FLAG_PRIORITY else (None, place)
    for flag in _SKIPPED:
        if flags & flag:
            place += 1 + data[place]
    if flags & _properties.FLAG_MESSAGE_ID:
        found.message_id, place = _short(data, place, text)
    if place > limit:
        raise ValueError("the properties are longer than their frame")


def _headers(data: bytes, place: int) -> tuple[Mapping[str, object], int]:
    stop = place + 4 + int.from_bytes(data[place : place + 4], "big")
    read = _known_table if stop - place <= REMEMBERED else read_table
    return read(data[place:stop]), stop


def _short(data: bytes, place: int, read: Any) -> tuple[str, int]:
    stop = place + 1 + data[place]
    return read(data[place + 1 : stop]), stop


def text(value: object) -> str:
    """A short string of the wire, readable also where it was not UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def read_table(data: bytes) -> Mapping[str, object]:
    """A table of headers, its names as texts.

    Raises:
        ValueError, struct.error and others: it cannot be read.
    """
    return with_text_keys(tables.decode_table(data, 0)[0])


def with_text_keys(table: Mapping[Any, Any] | None) -> Mapping[str, object]:
    """The same table with texts for names."""
    return {text(key): value for key, value in table.items()} if table else {}


_text = lru_cache(maxsize=4096)(text)
_known_table = lru_cache(maxsize=4096)(read_table)
