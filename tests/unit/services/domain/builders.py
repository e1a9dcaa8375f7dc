"""Records and messages for the tests of the domain."""

from __future__ import annotations

import json
from typing import Any

from services.domain.task.record import Attempt, Task

NOW = 1_795_000_000_000  # 2026-11-18T11:06:40Z
HOUR = 3_600_000


def task(**fields: Any) -> Task:
    """A task of shop pdd:shop017."""
    base: dict[str, Any] = {
        "task_id": "pdd_sync_order_shop017_1f3a9c20",
        "shop_id": "shop017",
        "platform": "pdd",
        "task_type": "sync_order",
        "payload": '{"since":"2026-11-20"}',
        "created_at": NOW,
    }
    return Task(**(base | fields))


def attempt(number: int = 1, outcome: str = "failed", kind: str = "unknown") -> Attempt:
    """One ended attempt."""
    return Attempt(
        number=number, worker="w1", started_at=NOW, ended_at=NOW + 1000, outcome=outcome, error_kind=kind, error="x"
    )


def message(**fields: Any) -> dict[str, Any]:
    """The contract's own example; a field given as ``...`` is left out."""
    base: dict[str, Any] = {
        "task_id": "pdd_sync_order_shop017_1f3a9c20",
        "shop_id": "shop017",
        "platform": "pdd",
        "task_type": "sync_order",
        "payload": {"since": "2026-11-20"},
        "priority": "high",
        "created_at": "2026-11-21T08:00:00+08:00",
        "retry_count": 0,
        "max_retries": 3,
    }
    return {name: value for name, value in (base | fields).items() if value is not ...}


def body(**fields: Any) -> bytes:
    """The bytes of ``message``."""
    return json.dumps(message(**fields), ensure_ascii=False).encode()
