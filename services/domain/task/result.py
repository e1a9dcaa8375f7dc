"""The message that tells how a task ended: the nine fields of its contract and what came of it."""

from __future__ import annotations

import msgspec

from services.domain.task import envelope, wire
from services.domain.task.artifact import ArtifactMark
from services.domain.task.event import Event
from services.domain.task.order import Order
from services.domain.task.record import ERROR_LIMIT, Task


def result_order(task: Task, event: Event) -> Order:
    """The message of one terminal transition, with routing key ``result.{platform}.{task_type}.{status}``.

    Instants are ISO 8601 in UTC or null; ``result`` is a JSON value or null. ``artifacts``, only where there are some:
    the files of the attempt that ended, at most ``artifact.IN_RECORD``, each with name, kind, size in bytes, sha256 and
    place, which is relative to where the fleet keeps artifacts.
    """
    fields = envelope.contract(task) | {
        "status": event.to,
        "attempt": event.attempt,
        "worker": event.worker or task.worker,
        "started_at": envelope.iso(task.started_at) if task.started_at else None,
        "ended_at": envelope.iso(event.at),
        "result": msgspec.Raw(task.result.encode()) if task.result else None,
        "error": task.error[-ERROR_LIMIT:],
    }
    if files := [_file(mark) for one in task.attempts if one.number == event.attempt for mark in one.artifacts]:
        fields["artifacts"] = files
    if task.error_kind:
        fields["error_kind"] = task.error_kind
    return Order(
        kind="result",
        routing_key=f"result.{task.platform}.{task.task_type}.{event.to}",
        body=wire.write(fields, task.extra),
        message_id=task.task_id,
        headers=envelope.headers_of(task),
        platform=task.platform,
    )


def _file(mark: ArtifactMark) -> dict[str, str | int]:
    return {"name": mark.name, "kind": mark.kind, "size": mark.size, "sha256": mark.sha256, "place": mark.place}
