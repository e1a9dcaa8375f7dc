"""Dead letters as they are kept: the whole message beside a record, also of bytes that are no task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from services.domain.change import Create, Op
from services.domain.task import envelope, fingerprint
from services.domain.task.order import Delivery
from services.domain.task.status import Status, Triage
from services.domain.types.task_type import TaskType
from services.engine import recipe
from services.engine.steps import Steps
from services.ports import Letter, Store


class Bad(NamedTuple):
    """A message that is no task, and why."""

    delivery: Delivery
    kind: str  #: bad_message, bad_payload, id_conflict
    error: str


def keep_bad(store: Store, steps: Steps, found: Sequence[Bad], now: int) -> None:
    """Record them dead, named after their bytes, with these beside. What is known already stays as it is.

    Raises:
        StoreError: some may be missing; it is safe to repeat.
    """
    ops: list[Op] = []
    for delivery, kind, error in found:
        record = envelope.bad_record(delivery.body, kind=kind, error=error, now_ms=now)
        store.put_letter(letter_of(record.task_id, delivery, kind, error, now))
        ops.append(Create(task=record, on_duplicate="force"))
    if ops:
        steps.apply(ops)


def given_up(parsed: envelope.Parsed, kind: TaskType, reason: envelope.DeadReason, now: int) -> Create:
    """Records a task as dead of which there is no record: its message was given up before anybody claimed it.

    No gate is asked: what somebody has given up does not wait for its shop, and must never start from here.
    """
    dead = msgspec.structs.replace(
        recipe.adopt(parsed, kind),
        status=Status.DEAD,
        triage=Triage.OPEN,
        created_at=parsed.task.created_at or now,
        ended_at=now,
        error=reason.error,
        error_kind=reason.kind,
        fingerprint=fingerprint.fingerprint(parsed.task.task_type, reason.kind, reason.error),
    )
    return Create(task=dead, on_duplicate="force")


def letter_of(task_id: str, delivery: Delivery, kind: str, error: str, now: int) -> Letter:
    """The whole original message, as it is kept."""
    return Letter(
        task_id=task_id,
        body=delivery.body,
        headers=json.dumps({str(key): _plain(value) for key, value in delivery.headers.items()}),
        routing_key=delivery.routing_key,
        queue=delivery.queue,
        content_type=delivery.content_type,
        stored_at=now,
        error_kind=kind,
        error=error,
    )


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) or value is None else repr(value)[:500]
