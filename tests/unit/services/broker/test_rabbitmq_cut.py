"""Deliveries cut out of the input in one pass read as pika reads them, and everything else is left to pika."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pika import frame, spec

from services.broker.rabbitmq.cut import WHOLE, cut, of_pika

WORDS = st.text(max_size=40).filter(lambda text: len(text.encode()) < 120)
TABLES = st.dictionaries(
    st.text(min_size=1, max_size=20), st.one_of(st.integers(-(2**31), 2**31 - 1), st.text(max_size=400), st.booleans())
)


def wire(body: bytes = b"{}", *, tag: int = 7, redelivered: bool = False, key: str = "k", **properties: Any) -> bytes:
    method = spec.Basic.Deliver("consumer.1", tag, redelivered, "an exchange", key)
    header = frame.Header(3, len(body), spec.BasicProperties(**properties)).marshal()
    parts = [frame.Method(3, method).marshal(), header]
    if body:
        parts.append(frame.Body(3, body).marshal())
    return b"".join(parts)


@given(
    body=st.binary(max_size=300),
    tag=st.integers(1, 2**63 - 1),
    redelivered=st.booleans(),
    key=WORDS,
    properties=st.fixed_dictionaries(
        {},
        optional={
            "content_type": WORDS,
            "content_encoding": WORDS,
            "headers": TABLES,
            "delivery_mode": st.integers(1, 2),
            "priority": st.integers(0, 255),
            "correlation_id": WORDS,
            "reply_to": WORDS,
            "expiration": WORDS,
            "message_id": WORDS,
            "timestamp": st.integers(0, 2**40),
            "type": WORDS,
            "app_id": WORDS,
        },
    ),
    before=st.binary(max_size=9),
    behind=st.binary(max_size=9),
)
def test_it_reads_what_pika_reads(
    body: bytes, tag: int, redelivered: bool, key: str, properties: dict[str, Any], before: bytes, behind: bytes
) -> None:
    data = wire(body, tag=tag, redelivered=redelivered, key=key, **properties)
    found = cut(before + data + behind, len(before))
    assert found is not None
    assert (found.channel, found.consumer_tag, found.end) == (3, "consumer.1", len(before) + len(data))
    known = spec.BasicProperties().decode(b"".join(spec.BasicProperties(**properties).encode()))
    same = of_pika(spec.Basic.Deliver("consumer.1", tag, redelivered, "an exchange", key), known, body)
    for name in (
        "delivery_tag", "redelivered", "routing_key", "content_type", "content_encoding", "headers", "priority",
        "message_id", "body",
    ):  # fmt: skip
        assert getattr(found, name) == getattr(same, name), name


@given(properties=TABLES, share=st.floats(0, 0.999))
def test_a_delivery_that_is_not_whole_is_left_alone(properties: dict[str, Any], share: float) -> None:
    data = wire(b'{"task_id": "t"}', headers=properties)
    assert cut(data[: int(len(data) * share)], 0) is None


@pytest.mark.parametrize(
    "data",
    [
        frame.Heartbeat().marshal(),
        frame.Method(3, spec.Basic.CancelOk("consumer.1")).marshal() + b" " * 40,
        frame.Header(3, 2, spec.BasicProperties()).marshal() + frame.Body(3, b"{}").marshal(),
        wire(b"x" * (WHOLE + 1)),
        wire()[:-1] + b"\x00",
    ],
    ids=["heartbeat", "another method", "the middle of a delivery", "a large body", "a broken end"],
)
def test_everything_else_is_left_to_pika(data: bytes) -> None:
    assert cut(data, 0) is None


def test_a_header_that_cannot_be_read_is_left_to_pika() -> None:
    good = wire(headers={"when": "0123456789"})
    bad = good.replace(b"\x04whenS\x00\x00\x00\x0a0123456789", b"\x04whenT\x00\x00\xff\xff\xff\xff\xff\xff012345")
    assert len(bad) == len(good)
    assert bad != good
    assert cut(good, 0) is not None
    assert cut(bad, 0) is None


def test_the_headers_of_one_message_are_not_those_of_the_next() -> None:
    first, second = (cut(wire(headers={"x-rpa-gen": number}), 0) for number in (1, 2))
    assert first is not None
    assert second is not None
    assert (first.headers, second.headers) == ({"x-rpa-gen": 1}, {"x-rpa-gen": 2})
