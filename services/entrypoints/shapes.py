"""Records as the JSON documents of the command line."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import msgspec

from services.domain.task import Task
from services.domain.tombstone import Tombstone

INSTANTS = frozenset(
    {"created_at", "updated_at", "due_at", "queued_at", "started_at", "ended_at", "lease_until", "deadline"}
)
_JSON_TEXTS = frozenset({"payload", "result", "extra"})
_PARTS = frozenset({"steps", "attempts"})


def task(record: Task) -> dict[str, Any]:
    """All fields of the record: instants as ISO 8601 in UTC (null when not yet), JSON texts as JSON."""
    return {name: _field(name, getattr(record, name)) for name in record.__struct_fields__ if name not in _PARTS}


def document(record: Task, gates: list[Any]) -> dict[str, Any]:
    """The document of ``task show``."""
    return {"task": task(record), "attempts": attempts(record), "gates": gates, "events": events(record)}


def attempts(record: Task) -> list[dict[str, Any]]:
    """Every attempt, oldest first."""
    return [
        {
            **msgspec.structs.asdict(one),
            "started_at": iso(one.started_at),
            "ended_at": iso(one.ended_at),
            "artifacts": [{**msgspec.structs.asdict(file), "at": iso(file.at)} for file in one.artifacts],
        }
        for one in record.attempts
    ]


def events(record: Task) -> list[dict[str, Any]]:
    """The transitions kept in the record, oldest first."""
    return [
        {
            "at": iso(step.at),
            "from": step.from_,
            "to": step.to,
            "worker": step.worker,
            "gen": step.gen,
            "attempt": step.attempt,
            "note": step.note,
        }
        for step in record.steps
    ]


def iso(instant_ms: int) -> str | None:
    """ISO 8601 with milliseconds in UTC, None for 0."""
    if not instant_ms:
        return None
    return dt.datetime.fromtimestamp(instant_ms / 1000, dt.UTC).isoformat(timespec="milliseconds")


def _field(name: str, value: Any) -> Any:
    if name in INSTANTS:
        return iso(value)
    if name in _JSON_TEXTS:
        return _parsed(value)
    return [*value] if isinstance(value, tuple) else value


def _parsed(text: str) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def removed(stone: Tombstone) -> str:
    """What can still be said about a task whose record was removed."""
    later = f" and was republished as {stone.successor}" if stone.successor else ""
    return f"the record of {stone.task_id} was removed: it was {stone.status} on {iso(stone.ended_at)}{later}"
