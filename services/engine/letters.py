"""Dead letters as they are kept: the whole message beside a record, also of bytes that are no task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from services.domain.change import Create, Op
from services.domain.task import envelope
from services.domain.task.order import Delivery
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
