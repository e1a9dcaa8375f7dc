"""The wire message of a task: read with every bad input refused, and written so that other programs understand it."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

import msgspec

from services.domain.errors import BadMessage
from services.domain.fleet import shop
from services.domain.task import classify, ids, lane, own_words, wire
from services.domain.task.order import GivenUp, Order
from services.domain.task.record import ERROR_LIMIT, Task
from services.domain.task.status import DEAD, LETTER, ORDER, QUEUED, RETRYING, Triage, message_of

GEN, ATTEMPT, SCHEMA = "x-rpa-gen", "x-rpa-attempt", "x-rpa-schema"
ONCE = "x-rpa-once"  #: the task may not run twice
BATCH = "x-rpa-batch"  #: of which batch it is, for a store that has lost its record
CALLED = "message_task_id"  #: in the result of bytes that are no task: the id that stands in them
ERROR, ERROR_KIND = "x-rpa-error", "x-rpa-error-kind"
SCHEMA_VERSION = 1
MAX_RETRIES, MAX_RETRY_COUNT, MAX_COUNTER = 20, 10_000, 2**31 - 1
#: the store's clock and ours may differ a little, and a delay of 30 s must not become the 60 s level for it; of short
#: levels a tenth at most, or two seconds would be rounded down to one
DELAY_SLACK_MS = 1_000
#: what names a batch is shorter; a header that is longer is none of ours
_MOST_NAME = 200
_LANES = frozenset(word.value for word in lane.LANES)
_JSON = msgspec.json.Decoder(msgspec.Raw)  # reads to the end and keeps the bytes


class Parsed(msgspec.Struct, frozen=True):
    """A message that is a task. ``foreign``: another program published it (no ``x-rpa-gen``)."""

    task: Task
    gen: int
    attempt: int
    foreign: bool


class DeadReason(msgspec.Struct, frozen=True):
    """Why a message lies in the dead-letter queue, by its own account or the broker's."""

    kind: str
    error: str
    returned: bool = False  #: only because it came back too often, which says nothing about the task


def parse(
    body: bytes,
    headers: Mapping[str, object] | None = None,
    *,
    routing_key: str = "",
    content_type: str = "",
    content_encoding: str = "",
    now_ms: int,
    local_tz: tzinfo | None = None,
) -> Parsed:
    """Read a message.

    Args:
        now_ms: arrival, for a message without ``created_at``.
        local_tz: zone of a ``created_at`` without one; None is the machine's.

    Raises:
        BadMessage: the sentence names what is wrong; ``kind`` is bad_message or bad_payload.
    """
    headers = _table(headers)
    wire.check_properties(content_type, content_encoding)
    foreign = headers.get(GEN) is None  # a header may be there without a value
    fields, extra = wire.read(body, strict=foreign)
    if _counter(headers, SCHEMA, 1) > SCHEMA_VERSION:
        raise wire.bad("msg_schema", header=SCHEMA, value=str(headers[SCHEMA]), known=SCHEMA_VERSION)
    gen = _counter(headers, GEN, 0)
    retries = _whole("retry_count", fields.retry_count, MAX_RETRY_COUNT)
    attempt = _counter(headers, ATTEMPT, retries)
    created = wire.instant(fields.created_at, local_tz) if fields.created_at else now_ms
    lane_name, priority, queue = _place(fields, routing_key)
    task = Task(
        task_id=fields.task_id,
        shop_id=fields.shop_id,
        platform=fields.platform,
        task_type=fields.task_type,
        payload=wire.payload_text(fields.payload),
        lane=lane_name,
        priority=priority,
        queue=queue,
        status=QUEUED,
        gen=gen,
        attempt=attempt,
        retries=min(retries, MAX_RETRIES),
        max_retries=min(_whole("max_retries", fields.max_retries, MAX_COUNTER), MAX_RETRIES),
        created_at=created,
        queued_at=now_ms,
        batch="" if foreign else _name(headers.get(BATCH)),
        origin="foreign" if foreign else "",
        idempotent=foreign or not _counter(headers, ONCE, 0),
        extra=extra,
    )
    return Parsed(task, gen, attempt, foreign)


def build(task: Task) -> tuple[bytes, dict[str, str | int]]:
    """Body and headers of a task's work order: the nine fields of the contract and what came along unknown."""
    return wire.write(contract(task), task.extra), headers_of(task)


def build_dead(task: Task) -> tuple[bytes, dict[str, str | int]]:
    """Body and headers of a dead letter: the same object with its error."""
    fields = contract(task)
    fields["error"] = task.error[-ERROR_LIMIT:]
    told = {"error_kind": task.error_kind, "fingerprint": task.fingerprint, "worker": task.worker}
    fields |= {name: value for name, value in told.items() if value}
    if task.ended_at:
        fields["failed_at"] = iso(task.ended_at)
    return wire.write(fields, task.extra), headers_of(task)


def order_for(task: Task, now_ms: int, delays: Sequence[int]) -> Order:
    """The message that the record's state calls for: to its lane, into a delay queue or to the dead letters.

    The wait is rounded up to the nearest of ``delays`` (seconds); one longer than all of them takes the longest.

    Raises:
        ValueError: the state has no message, or its fields make none (a payload that is not JSON, a lane that is none).
        OverflowError, OSError: an instant is no date.
    """
    kind = message_of(task.status)
    if kind == LETTER:
        body, headers = build_dead(task)
        return Order(
            kind="dead",
            routing_key="dead",
            body=body,
            message_id=task.task_id,
            headers=headers,
            platform=task.platform,
        )
    if kind != ORDER:
        raise ValueError(f"{task.task_id}: a {task.status} task has no message")
    body, headers = build(task)
    delay = level(task.due_at - now_ms, delays) if task.status == RETRYING else 0
    return Order(
        kind="delay" if delay else "work",
        routing_key=f"task.{task.platform}.{task.queue or task.lane}",
        body=body,
        message_id=task.task_id,
        priority=lane.message_priority(task.priority),
        delay_s=delay,
        headers=headers,
        platform=task.platform,
    )


def bad_record(body: bytes, *, kind: str, error: str, now_ms: int) -> Task:
    """The record of bytes that are no task: dead, named after the bytes, with what can be read of them.

    Who sent it knows the id in the message alone: a search finds the record by it, and its result names it.
    """
    seen = wire.salvage(body)
    called = seen.get("task_id")
    called = called if ids.valid_foreign_id(called) else ""
    head = f"{own_words.write('own.msg_called', called=called)}\n" if called and error else ""
    shop_id, platform, task_type = (seen.get(name) for name in ("shop_id", "platform", "task_type"))
    return Task(
        task_id=ids.unread_id(hashlib.sha256(body).hexdigest()),
        shop_id=str(shop_id) if shop.valid_shop_id(shop_id) else shop.UNREAD,
        platform=str(platform) if shop.valid_word(platform) else shop.UNREAD,
        task_type=str(task_type) if ids.valid_task_type(task_type) else shop.UNREAD,
        status=DEAD,
        triage=Triage.OPEN,
        created_at=now_ms,
        ended_at=now_ms,
        error=head + error[-(ERROR_LIMIT - len(head)) :],
        error_kind=kind,
        origin="foreign",
        extra=wire.write({CALLED: called}, "").decode() if called else "",
    )


def dead_reason(
    body: bytes, headers: Mapping[str, object] | None = None, given_up: GivenUp | None = None
) -> DeadReason:
    """Why this message is in the dead-letter queue: its headers, else its ``error``, else what the broker tells."""
    headers = headers or {}
    seen = wire.salvage(body)
    error = _text(headers.get(ERROR)) or _text(seen.get("error"))
    kind = _text(headers.get(ERROR_KIND)) or _text(seen.get("error_kind"))
    if error or kind:
        return DeadReason(kind if kind in classify.KINDS else classify.classify(error), error[-ERROR_LIMIT:])
    reason, queue = (given_up.reason, given_up.queue[:255]) if given_up else ("", "")
    sentences = {
        "expired": "the message expired in its queue before any worker took it",
        "maxlen": "the queue was over its length limit and the broker dropped the message",
        "rejected": "a consumer rejected the message without saying why",
        "delivery_limit": "the message came back too often without being acknowledged",
    }
    text = sentences.get(reason, "the message was dead-lettered and nobody recorded why")
    sentence = f"{text} (queue {queue})" if queue else text
    kind = classify.EXPIRED if reason == "expired" else classify.UNKNOWN
    return DeadReason(kind, sentence, returned=reason == "delivery_limit")


def contract(task: Task) -> dict[str, Any]:
    """The nine fields that every program understands."""
    word = lane.DEFAULT_PRIORITY.get(lane.Lane(task.lane)) == task.priority
    return {
        "task_id": task.task_id,
        "shop_id": task.shop_id,
        "platform": task.platform,
        "task_type": task.task_type,
        "payload": _JSON.decode(task.payload),
        "priority": task.lane if word else task.priority,
        "created_at": iso(task.created_at),
        "retry_count": task.retries,
        "max_retries": task.max_retries,
    }


def headers_of(task: Task) -> dict[str, str | int]:
    """What tells a twin or an old copy of a message from the one that counts."""
    told: dict[str, str | int] = {GEN: task.gen, ATTEMPT: task.attempt, SCHEMA: SCHEMA_VERSION}
    if task.batch:
        told[BATCH] = task.batch
    return told if task.idempotent else {**told, ONCE: 1}


def level(wait_ms: int, delays: Sequence[int]) -> int:
    """Smallest of the delays (seconds) that is long enough, the longest where none is; 0 for what is due."""
    if wait_ms <= 0 or not delays:
        return 0
    enough = (one for one in delays if one * 1000 + min(DELAY_SLACK_MS, one * 100) >= wait_ms)
    return min(enough, default=max(delays))


def _place(fields: wire.Fields, routing_key: str) -> tuple[str, int, str]:
    """Lane, priority and dedicated queue: the routing key's third word is the lane, or the shop whose queue it is."""
    words = routing_key.split(".")
    third = words[2] if len(words) == 3 and words[0] == "task" else ""
    keyed = third in _LANES
    lane_name, priority = _urgency(fields.priority, third if keyed else "")
    return lane_name, priority, third if third == fields.shop_id and not keyed else ""


@functools.lru_cache(maxsize=256, typed=True)
def _urgency(said: str | int | None, keyed: str) -> tuple[str, int]:
    """Lane and priority of what the body says, in the lane of the routing key if that names one."""
    try:
        lane_name, priority = lane.parse_priority(said)
    except ValueError as exc:
        raise BadMessage(str(exc)) from exc
    if not keyed or keyed == lane_name:
        return lane_name, priority
    by_word = isinstance(said, str) and said.strip().lower() in _LANES
    return lane.Lane(keyed), lane.DEFAULT_PRIORITY[lane.Lane(keyed)] if by_word else priority


@functools.lru_cache(maxsize=1024)
def iso(instant: int) -> str:
    """An instant as messages write it."""
    return datetime.fromtimestamp(instant / 1000, UTC).isoformat(timespec="milliseconds")


def _table(headers: object) -> Mapping[str, object]:
    if type(headers) is dict:
        return headers
    if headers is None:
        return {}
    if not isinstance(headers, Mapping):
        raise wire.bad("msg_headers")
    return headers


def _counter(headers: Mapping[str, object], name: str, default: int) -> int:
    value = headers.get(name)
    if type(value) is int and 0 <= value <= MAX_COUNTER:
        return value
    return default if value is None else _whole(name, value, MAX_COUNTER)


def _name(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= _MOST_NAME else ""


def _whole(name: str, value: object, limit: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        value = int(value)  # eight bytes wide, as Java and Go send one, it is of a class of its own
        if 0 <= value <= limit:
            return value
    raise wire.bad("msg_whole", field=name, most=limit, value=f"{value!r:.60}")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
