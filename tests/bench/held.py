"""What the broker says is held while a benchmark runs, by how much it passed the slots, and for how long.

The queues are asked one after the other, and a worker that goes from one to another meanwhile is seen at both: their
sum is an upper bound. A channel knows what it has out, all at once, but tells it five times a second at best.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import psutil

from services.broker.rabbitmq.management import TOTALS
from services.domain.task.lane import is_shop_queue
from services.ports import Store
from tests.support.services import RabbitMQ

LOOK_S = 0.2
#: of so many looks one also counts connections, channels, consumers and memory, which costs the broker more
SELDOM = 10
UNACKED = "messages_unacknowledged"
HELD = f"columns=name,prefetch_count,{UNACKED}"
#: of the node: channels tell what they have out as often as they are asked
SETTINGS = f"collect_statistics_interval = {round(LOOK_S * 1000)}"
KINDS = {"connections": "vhosts/{}/connections", "channels": "vhosts/{}/channels", "consumers": "consumers/{}"}


@dataclass(frozen=True, slots=True)
class Look:
    """Deliveries without an acknowledgement at one moment."""

    at: float  #: seconds
    shops: int  #: of all queues of single shops
    all: int  #: of all queues
    worker: int  #: of queues of single shops, of that worker that has most
    told: int  #: by the heartbeats: tasks in slots and messages at hand


def longest_above(series: Sequence[tuple[float, int]], bound: int) -> float:
    """Seconds of the longest stretch of looks in a row, given as (second, number), that all found more than ``bound``.

    A stretch ends with the first look that did not, so a single one counts as long as the pause after it.
    """
    longest, since = 0.0, None
    for at, number in series:
        since = at if since is None and number > bound else since
        if since is not None:
            longest = max(longest, at - since)
        since = since if number > bound else None
    return longest


class Watch:
    """Looks in a thread of its own, five times a second as far as the broker answers that fast."""

    def __init__(self, rabbit: RabbitMQ, vhost: str, store: Store, workers: Sequence[psutil.Process]) -> None:
        self._rabbit, self._vhost, self._store, self._workers = rabbit, vhost, store, workers
        self.looks: list[Look] = []
        self.most: dict[str, float] = {}  #: connections, channels, consumers and MB at their highest
        self._error: Exception | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            while not self._ended.is_set():
                began = time.perf_counter()
                self.looks.append(self._look())
                if len(self.looks) % SELDOM == 1:
                    self._measure()
                self._ended.wait(max(0.0, LOOK_S - (time.perf_counter() - began)))
        except Exception as exc:
            self._error = exc

    def _look(self) -> Look:
        queues: list[dict[str, Any]] = self._rabbit.api("GET", f"/api/queues/{self._vhost}?{TOTALS}")
        held = {row["name"]: int(row.get(UNACKED, 0)) for row in queues}
        shops = sum(number for name, number in held.items() if is_shop_queue(name))
        channels: list[dict[str, Any]] = self._rabbit.api("GET", f"/api/vhosts/{self._vhost}/channels?{HELD}")
        # nobody else takes one message at a time
        workers = [int(row.get(UNACKED, 0)) for row in channels if row.get("prefetch_count") == 1]
        told = sum(worker.busy + worker.prefetched for worker in self._store.workers())
        return Look(time.perf_counter(), shops, sum(held.values()), max(workers, default=0), told)

    def _measure(self) -> None:
        now: dict[str, float] = {
            f"RabbitMQ {kind}": len(self._rabbit.api("GET", f"/api/{path.format(self._vhost)}?columns=name,queue"))
            for kind, path in KINDS.items()
        }
        now["RabbitMQ MB"] = _resident(psutil.Process(self._rabbit.pid))
        now["worker process MB"] = max(_resident(worker) for worker in self._workers)
        self.most = {name: max(number, self.most.get(name, 0.0)) for name, number in now.items()}


def _resident(process: psutil.Process) -> float:
    """MB of a process and its children."""
    return float(sum(one.memory_info().rss for one in (process, *process.children(recursive=True)))) / 1e6
