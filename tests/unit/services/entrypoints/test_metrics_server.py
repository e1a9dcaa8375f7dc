"""The metrics page of a worker, as Prometheus reads it."""

from __future__ import annotations

import argparse
import socket
import urllib.error
import urllib.request

import pytest

from services.cli import metrics_server
from services.domain.errors import StoreUnavailable, UsageError
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task.order import QueueDepth
from services.domain.task.query import Counts
from services.monitor import metrics
from services.monitor.metrics import Metric

INFO = WorkerInfo(
    worker='w"1\\', host="h", pid=1, version="1", slots=(SlotState(task_id="t"), SlotState()), done=7, memory_mb=50.0
)


def own() -> list[Metric]:
    return metrics.of_worker(INFO, leads=True)


def fleet() -> list[Metric]:
    counts = Counts(status={"queued": 3}, lanes={}, triage={"open": 2}, total=5)
    return metrics.of_fleet(
        counts, [QueueDepth(name="rpa_tasks_high", ready=4, unacked=None, consumers=1, kind="lane")]
    )


def read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return str(answer.read().decode())


def test_the_page_and_its_neighbours() -> None:
    with metrics_server.serving(("127.0.0.1", 0), own, fleet) as url:
        lines = read(url).splitlines()
        assert read(url.replace("/metrics", "/healthz")) == "ok\n"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            read(url.replace("/metrics", "/secrets"))
    for line in (
        'fleetdeck_worker_info{worker="w\\"1\\\\",host="h",version="1",state="running"} 1',
        "fleetdeck_worker_slots 2",
        "fleetdeck_worker_slots_busy 1",
        "fleetdeck_worker_tasks_succeeded_total 7",
        "fleetdeck_worker_memory_bytes 50000000",
        "fleetdeck_worker_leads 1",
        'fleetdeck_tasks{status="queued"} 3',
        'fleetdeck_lane_ready{lane="high"} 4',
        "fleetdeck_dead_letters_open 2",
        "fleetdeck_services_up 1",
    ):
        assert line in lines
    assert "# TYPE fleetdeck_worker_tasks_succeeded_total counter" in lines
    assert not [line for line in lines if "cpu_percent" in line], "what is unknown is left out"


def test_a_silent_store_leaves_the_worker_its_own_numbers() -> None:
    def silent() -> list[Metric]:
        raise StoreUnavailable("nobody answers")

    with metrics_server.serving(("127.0.0.1", 0), own, silent) as url:
        lines = read(url).splitlines()
    assert "fleetdeck_services_up 0" in lines
    assert "fleetdeck_worker_slots 2" in lines


def test_a_place_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with (
            pytest.raises(UsageError, match="cannot be listened on"),
            metrics_server.serving(("127.0.0.1", taken.getsockname()[1]), own, fleet),
        ):
            pass


def test_where() -> None:
    assert metrics_server.address("9100") == ("127.0.0.1", 9100)
    assert metrics_server.address("0.0.0.0:9100") == ("0.0.0.0", 9100)
    for bad in ("", "x", "70000", ":9100", "h:"):
        with pytest.raises(argparse.ArgumentTypeError):
            metrics_server.address(bad)
