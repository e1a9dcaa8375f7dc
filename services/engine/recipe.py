"""How records are made from messages and from other records: pure, shared by intake, archiver and commands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from services.domain.change import Create
from services.domain.errors import BadMessage, UsageError
from services.domain.step import transitions
from services.domain.task import classify, envelope
from services.domain.task.ledger import Done
from services.domain.task.record import RECOVERED, Task
from services.domain.task.status import Status
from services.domain.text.said import said
from services.domain.types import task_type

MAX_RETRIES = 20
MAX_PAYLOAD = 512 * 1024
LOST_RECORD = "the record of this task was lost and made again from its message; whether it has run is not known"
SHALLOW = 50  #: with fewer brackets nothing can be too deep
#: one for all, for making one costs as much as writing a small payload
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def payload_text(payload: Mapping[str, Any]) -> str:
    """The payload as compact JSON.

    Raises:
        UsageError: it is not JSON or too large.
    """
    try:
        text = _COMPACT(payload)
        size = len(text.encode())
    except UnicodeEncodeError as exc:
        half = f"\\u{ord(exc.object[exc.start]):04x}"
        raise UsageError(said("payload.half", half=half), field="payload") from exc
    except (TypeError, ValueError, RecursionError) as exc:
        raise UsageError(said("payload.not_json", error=str(exc)[:280]), field="payload") from exc
    if size > MAX_PAYLOAD:
        raise UsageError(said("payload.large", size=size, most=MAX_PAYLOAD), field="payload")
    return text


def check_readable(task: Task, now_ms: int) -> None:
    """Refuse a new task whose message no worker could read because it is nested too deeply: it would wait for ever.

    Raises:
        UsageError: the payload is the part that a person can change.
    """
    if task.payload.count("{") + task.payload.count("[") < SHALLOW:
        return
    body, headers = envelope.build(msgspec.structs.replace(task, created_at=now_ms))
    try:
        envelope.parse(body, headers, routing_key=f"task.{task.platform}.{task.lane}", now_ms=now_ms)
    except BadMessage as exc:
        raise UsageError(said("payload.no_message", error=str(exc)), field="payload") from exc


def adopt(parsed: envelope.Parsed, kind: task_type.TaskType) -> Task:
    """Record for a message that has none: a foreign producer's, or one whose record was lost (marked recovered).

    Nobody knows how far a lost record had come: what may not run twice is held for a person.
    """
    task = parsed.task
    uniq = task_type.uniqueness_key(kind, task.platform, task.shop_id, task.payload)
    idempotent = kind.idempotent and task.idempotent  # what the type was may be lost with the record
    held = not parsed.foreign and not idempotent
    return msgspec.structs.replace(
        task,
        status=Status.HELD if held else Status.QUEUED,
        error=LOST_RECORD if held else "",
        gen=parsed.gen,
        attempt=parsed.attempt,
        retries=min(task.retries, MAX_RETRIES),
        timeout_s=kind.timeout_s,
        idempotent=idempotent,
        expected_s=kind.expected_s,
        uniq=uniq,
        origin="foreign" if parsed.foreign else RECOVERED,
        marks=("foreign",) if parsed.foreign else (RECOVERED,),
    )


def begun(task: Task) -> Create:
    """The record of a running attempt as it was before its claim, for a store that has lost it: whoever renews the
    lease or records the end next finds it there, and takes the claim up again.
    """
    return Create(
        task=msgspec.structs.replace(
            task,
            status=Status.QUEUED,
            attempt=task.attempt - 1,
            marks=transitions.marked(task, RECOVERED),
            depends_on=(),
        ),
        on_duplicate="queue",
    )


def successor(old: Task, task_id: str, *, by: str, payload: str | None = None) -> Task:
    """A fresh pending record for the same work, under a new id, linked to the old one."""
    return Task(
        task_id=task_id,
        shop_id=old.shop_id,
        platform=old.platform,
        task_type=old.task_type,
        payload=old.payload if payload is None else payload,
        lane=old.lane,
        priority=old.priority,
        queue=old.queue,
        status=Status.PENDING,
        max_retries=old.max_retries,
        batch=old.batch,
        origin="republish",
        created_by=by,
        parent=old.task_id,
        uniq=old.work,
        timeout_s=old.timeout_s,
        idempotent=old.idempotent,
        expected_s=old.expected_s,
        extra=old.extra,
        type_version=old.type_version,
    )


def done_already(fresh: Task, done: Done | None) -> Task:
    """The same, held for a person instead of sent: ``done`` has done its work, None where that is gone by now."""
    error, kind = transitions.not_again(fresh.work, done) if done is not None else ("", classify.ALREADY_DONE)
    return msgspec.structs.replace(fresh, status=Status.HELD, error=error, error_kind=kind)


def same_payload(left: str, right: str) -> bool:
    """Whether two JSON texts mean the same object."""
    return left == right or task_type.canonical_json(left) == task_type.canonical_json(right)


def same_work(left: Task, right: Task) -> bool:
    """Whether two records, or a message and a record, ask for the same work of the same shop."""
    if (left.platform, left.shop_id, left.task_type) != (right.platform, right.shop_id, right.task_type):
        return False
    return same_payload(left.payload, right.payload)


def refreshed(task: Task, kind: task_type.TaskType) -> Task:
    """The record under today's policy of its type: time-out, retries, idempotence and uniqueness of this payload."""
    return msgspec.structs.replace(
        task,
        uniq=task_type.uniqueness_key(kind, task.platform, task.shop_id, task.payload),
        timeout_s=kind.timeout_s,
        idempotent=kind.idempotent,
        expected_s=kind.expected_s,
        type_version=kind.version,
    )
