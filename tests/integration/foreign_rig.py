"""What a program does that knows only the wire contract: it publishes with bare pika."""

from __future__ import annotations

import json
from typing import Any

import pika

from tests.integration.fleet_rig import Fleet, channel

SAMPLE = {
    "task_id": "pdd_work_s1_1f3a9c20",
    "shop_id": "s1",
    "platform": "pdd",
    "task_type": "work",
    "payload": {"since": "2026-11-20"},
    "priority": "high",
    "created_at": "2026-11-21T08:00:00+08:00",
    "retry_count": 0,
    "max_retries": 3,
}


def send(fleet: Fleet, *bodies: Any, lane: str = "high", platform: str = "pdd", **properties: Any) -> None:
    """Publish as the contract says."""
    chosen = {"content_type": "application/json", "delivery_mode": 2, "priority": 9} | properties
    with channel(fleet.settings.broker.url) as raw:
        raw.confirm_delivery()
        for body in bodies:
            named = chosen | ({"message_id": body["task_id"]} if isinstance(body, dict) and "task_id" in body else {})
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            raw.basic_publish(
                "rpa_task_exchange", f"task.{platform}.{lane}", data, pika.BasicProperties(**named), mandatory=True
            )


def message(**fields: Any) -> dict[str, Any]:
    """The sample of the contract with other fields."""
    return SAMPLE | fields
