"""How records are made from messages and from other records: pure, shared by intake, archiver and commands."""

from __future__ import annotations

import json

import msgspec

from services.domain import envelope, task_type
from services.domain.status import Status
from services.domain.task import Task

MAX_RETRIES = 20


def adopt(parsed: envelope.Parsed, kind: task_type.TaskType) -> Task:
    """Record for a message that has none: a foreign producer's, or one whose record was lost (marked recovered)."""
    task = parsed.task
    uniq = task_type.uniqueness_key(kind, task.platform, task.shop_id, task.payload)
    return msgspec.structs.replace(
        task,
        status=Status.QUEUED,
        gen=parsed.gen,
        attempt=parsed.attempt,
        retries=min(parsed.attempt, MAX_RETRIES),
        timeout_s=kind.timeout_s,
        idempotent=kind.idempotent,
        expected_s=kind.expected_s,
        uniq=uniq,
        origin="foreign",
        marks=("foreign",) if parsed.foreign else ("recovered",),
    )


def successor(old: Task, task_id: str, *, by: str, payload: str | None = None, origin: str = "republish") -> Task:
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
        origin=origin,
        created_by=by,
        parent=old.task_id,
        uniq=old.uniq,
        timeout_s=old.timeout_s,
        idempotent=old.idempotent,
        expected_s=old.expected_s,
        extra=old.extra,
        type_version=old.type_version,
    )


def same_payload(left: str, right: str) -> bool:
    """Whether two JSON texts mean the same object."""
    if left == right:
        return True
    try:
        return bool(json.loads(left) == json.loads(right))
    except ValueError:
        return False


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
