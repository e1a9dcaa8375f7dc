"""How soon 200 messages of another program are recorded, and on the window, while no worker runs: with a console alone,
and with an engine that leads.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pika

from console.connection.open_connection import OpenConnection
from services import assembly, settings, workforce
from services.domain.task.status import Status
from services.engine.lead.leader import ROLE

COUNT = 200
SETTLE_S, PATIENCE_S = 3.0, 60.0


def measure(count: int, fresh: Callable[[], dict[str, str]]) -> dict[str, float]:
    """Seconds from the first publication; ``fresh`` gives the addresses of an empty fleet."""
    found: dict[str, float] = {}
    for who, leads in (("a console alone", False), ("an engine leads", True)):
        recorded, seen = _once(count, leads=leads, **fresh())
        found |= {f"{who}: all recorded, s (aim 2)": recorded, f"{who}: all on the window, s (aim 2)": seen}
    return found


def _once(count: int, *, leads: bool, broker: str, redis: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        config = settings.load(home=Path(folder), broker=broker, redis=redis)
        engine = assembly.open_engine(config)
        engine.broker.ensure(platforms={"pdd"})
        steward = workforce.steward(engine)
        session = OpenConnection(config)
        try:
            session.start()
            if leads:
                steward.start()
                _until(lambda: bool(engine.store.leader(ROLE)))
            time.sleep(SETTLE_S)
            began = time.perf_counter()
            _publish(broker, count)
            _until(lambda: engine.store.counts().status.get(Status.QUEUED, 0) >= count)
            recorded = time.perf_counter() - began
            _until(lambda: session.live.snapshot().counts.status.get(Status.QUEUED, 0) >= count)
            return recorded, time.perf_counter() - began
        finally:
            session.close(0.0)
            if leads:
                steward.close()
            engine.close()


def _publish(url: str, count: int) -> None:
    """As a program does that knows the exchange and nothing else, each message confirmed."""
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    channel.confirm_delivery()
    for number in range(count):
        body = {
            "task_id": f"f{number}",
            "platform": "pdd",
            "shop_id": f"s{number}",
            "task_type": "sync_order",
            "payload": {"n": number},
        }
        told = pika.BasicProperties(content_type="application/json", delivery_mode=2, message_id=f"f{number}")
        channel.basic_publish("rpa_task_exchange", "task.pdd.high", json.dumps(body).encode(), told, mandatory=True)
    connection.close()


def _until(done: Callable[[], bool]) -> None:
    end = time.perf_counter() + PATIENCE_S
    while not done():
        if time.perf_counter() > end:
            raise RuntimeError("the messages were not recorded")
        time.sleep(0.01)
