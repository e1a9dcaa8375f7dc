"""Several processes take from the same lanes: each message goes to one of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from services.ports import Broker
from tests.contract.conftest import apart
from tests.contract.posts import depth, order
from tests.contract.waiting import eventually

pytestmark = pytest.mark.race

ROOT = Path(__file__).resolve().parents[2]
TOTAL, TAKERS = 600, 3
TAKER = """
import sys, threading
from pathlib import Path
from services.clock import SystemClock
from tests.contract.conftest import open_broker
kind, where, name = sys.argv[1:]
broker = open_broker(kind, Path(where) if kind == "embedded" else where, SystemClock())
consumer = broker.consumer(["high", "normal"], window=16, name=name)
print("ready", flush=True)
sent = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), sent.set()), daemon=True).start()
idle = 0
while idle < 6 or not sent.is_set():
    taken = consumer.take(16, 0.25)
    idle = 0 if taken else idle + 1
    print(*(delivery.message_id for delivery in taken), flush=True)
    consumer.ack(taken)
consumer.close()
broker.close()
"""


def test_processes_share_the_lanes(broker: Broker, broker_kind: str, broker_place: Any) -> None:
    command = [sys.executable, "-c", TAKER, broker_kind]
    takers = [
        subprocess.Popen(
            [*command, apart(broker_kind, broker_place, number + 1), f"t{number}"],
            cwd=ROOT,
            stdin=subprocess.PIPE,  # closed when everything is sent: nobody who waited long for the first leaves before
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(TAKERS)
    ]
    for process in takers:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"ready"
    if broker_kind == "rabbitmq":  # attaches on a thread of its own: who is late finds nothing left
        eventually(lambda: all(depth(broker, lane).consumers == TAKERS for lane in ("high", "normal")))
    for start in range(0, TOTAL, 20):
        orders = [order(number, "high" if number % 3 else "normal") for number in range(start, start + 20)]
        assert all(receipt.ok for receipt in broker.publish(orders))
    taken: list[list[bytes]] = []
    for process in takers:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err.decode()
        taken.append(out.split())
    assert sorted(name for names in taken for name in names) == sorted(f"m{n}".encode() for n in range(TOTAL))
    assert sum(bool(names) for names in taken) >= 2
    if broker.capabilities.depth:
        eventually(lambda: depth(broker, "high").ready + depth(broker, "normal").ready == 0)
        return
    left = broker.consumer(["high", "normal"], window=16, name="left")
    assert left.take(16, 0.3) == []
    left.close()
