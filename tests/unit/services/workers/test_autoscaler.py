"""What an autoscaler takes for waiting work."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import cast

import psutil
import pytest

from services.clock import ManualClock
from services.domain.fleet.autoscale import UP_LOOKS, Range
from services.domain.task.order import BrokerHealth, QueueDepth
from services.ports import Broker
from services.workers.worker import Autoscaler


class Lanes:
    """A broker with ten tasks in the high lane, which a worker may read or not."""

    closed: tuple[str, ...] = ()

    def depths(self) -> list[QueueDepth]:
        """Only the high lane has any."""
        names = ("rpa_tasks_high", "rpa_tasks_normal")
        return [QueueDepth(name=name, ready=10 * ("high" in name), unacked=0, consumers=1) for name in names]

    def health(self) -> BrokerHealth:
        """It answers."""
        return BrokerHealth(connected=True, closed=self.closed)


@pytest.mark.parametrize(("closed", "wanted"), [((), [3]), (("rpa_tasks_high",), [])])
def test_what_waits_in_a_lane_that_it_may_not_read_asks_for_no_slots(
    monkeypatch: pytest.MonkeyPatch, closed: tuple[str, ...], wanted: list[int]
) -> None:
    monkeypatch.setattr(psutil, "cpu_percent", lambda _interval: 10.0)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(percent=10.0))
    broker, stopping, sized = Lanes(), threading.Event(), list[int]()
    broker.closed = closed
    stopping.set()  # it looks when it is told to
    scaler = Autoscaler(
        cast("Broker", broker),
        ManualClock(),
        lanes=("high", "normal"),
        state=lambda: (2, 2),
        resize=sized.append,
        stopping=stopping,
        name="w",
    )
    scaler.within(Range(1, 8))
    for _look in range(UP_LOOKS):
        scaler.look()
    assert sized == wanted
