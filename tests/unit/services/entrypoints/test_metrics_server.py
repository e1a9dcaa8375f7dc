"""The metrics page of a worker, as Prometheus reads it."""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from prometheus_client.core import Metric
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from services.cli import metrics_server
from services.cli.run import metrics_address
from services.domain.errors import StoreUnavailable, UsageError
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task.order import QueueDepth
from services.domain.task.search.query import Counts
from services.monitor.numbers import metrics

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


def read(url: str, accept: str = "*/*") -> str:
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": accept}), timeout=30) as answer:
        return str(answer.read().decode())


def test_the_page_and_its_neighbours() -> None:
    with metrics_server.serving(("127.0.0.1", 0), own, fleet) as url:
        lines = read(url).splitlines()
        assert read(url.replace("/metrics", "/healthz")) == "ok\n"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            read(url.replace("/metrics", "/secrets"))
    for line in (
        'fleetdeck_worker_info{host="h",state="running",version="1",worker="w\\"1\\\\"} 1.0',
        "fleetdeck_worker_slots 2.0",
        "fleetdeck_worker_slots_busy 1.0",
        "fleetdeck_worker_tasks_succeeded_total 7.0",
        "fleetdeck_worker_memory_bytes 5e+07",
        "fleetdeck_worker_leads 1.0",
        'fleetdeck_tasks{status="queued"} 3.0',
        'fleetdeck_tasks{status="running"} 0.0',  # left out, a rule on it would never fire
        'fleetdeck_lane_ready{lane="high"} 4.0',
        "fleetdeck_dead_letters_open 2.0",
        "fleetdeck_services_up 1.0",
    ):
        assert line in lines
    assert "# TYPE fleetdeck_worker_tasks_succeeded_total counter" in lines
    assert not [line for line in lines if "cpu_percent" in line], "what is unknown is left out"


def test_a_silent_store_leaves_the_worker_its_own_numbers() -> None:
    def silent() -> list[Metric]:
        raise StoreUnavailable("nobody answers")

    with metrics_server.serving(("127.0.0.1", 0), own, silent) as url:
        lines = read(url).splitlines()
    assert "fleetdeck_services_up 0.0" in lines
    assert "fleetdeck_worker_slots 2.0" in lines


def test_both_formats_and_a_choice_of_names() -> None:
    with metrics_server.serving(("127.0.0.1", 0), own, fleet) as url:
        plain = text_string_to_metric_families(read(url))
        strict = openmetrics.text_string_to_metric_families(read(url, "application/openmetrics-text; version=1.0.0"))
        values = [
            {(one.name, *one.labels.values()): one.value for two in page for one in two.samples}
            for page in (plain, strict)
        ]
        chosen = text_string_to_metric_families(read(url + "?name[]=fleetdeck_worker_slots"))
        assert [one.name for one in chosen] == ["fleetdeck_worker_slots"]
    assert values[0] == values[1]
    assert values[0]["fleetdeck_tasks", "queued"] == 3
    assert values[0]["fleetdeck_worker_info", "h", "running", "1", 'w"1\\'] == 1


def test_no_other_command_loads_the_library() -> None:
    code = "import sys, services.cli.program; sys.exit('prometheus_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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
    assert metrics_address("9100") == ("127.0.0.1", 9100)
    assert metrics_address("0.0.0.0:9100") == ("0.0.0.0", 9100)
    for bad in ("", "x", "70000", ":9100", "h:"):
        with pytest.raises(argparse.ArgumentTypeError):
            metrics_address(bad)
