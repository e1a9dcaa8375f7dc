"""The deploy files name only what there is: options, settings, metrics, queues."""

from __future__ import annotations

import configparser
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from services import settings as config
from services.domain.task.lane import LANES
from services.domain.task.search.query import Counts
from services.domain.fleet.worker import WorkerInfo
from services.cli import program
from services.monitor.numbers import metrics

DEPLOY = Path(__file__).resolve().parents[3] / "resources" / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
WORKERS = {name: part for name, part in COMPOSE["services"].items() if name.startswith("worker")}


def unit() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEPLOY / "fleetdeck-worker@.service", encoding="utf-8")
    return parser["Service"]


def commands() -> Iterator[list[str]]:
    """The words behind main.py of every way in which a worker is started."""
    yield shlex.split(unit()["ExecStart"].replace("%i", "1"))[2:]
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    yield json.loads(re.findall(r"^CMD (\[.*\])$", dockerfile, re.MULTILINE)[0])
    yield from (part["command"] for part in WORKERS.values())


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_workers_are_started_with_options_that_exist(words: list[str]) -> None:
    found = program.grammar().parse_args(words)
    assert words[0] == "worker"
    assert found.metrics[1] > 0


@pytest.mark.parametrize("name", list(WORKERS))
def test_the_settings_of_the_workers_are_settings(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable, value in WORKERS[name]["environment"].items():
        monkeypatch.setenv(variable, re.sub(r"\$\{(\w+)[^}]*\}", "secret", value))
    settings = config.load(home=tmp_path)
    assert not settings.embedded
    assert settings.artifacts.place
    grace = int(WORKERS[name]["stop_grace_period"].removesuffix("s"))
    assert grace > settings.worker.grace_seconds, "whoever stops it must wait longer than its tasks may take"


def test_the_store_loses_nothing_and_throws_nothing_away() -> None:
    command = " ".join(COMPOSE["services"]["store"]["command"])
    assert "--appendonly yes --appendfsync always --maxmemory-policy noeviction" in command


def test_nothing_listens_for_strangers_and_no_password_is_written_down() -> None:
    ports = [port for part in COMPOSE["services"].values() for port in part.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
    lines = (DEPLOY / "env.example").read_text(encoding="utf-8").split()
    assert lines == ["BROKER_PASSWORD=", "STORE_PASSWORD="]


def test_the_unit_waits_longer_than_the_grace_and_signals_the_worker_alone() -> None:
    service = unit()
    assert int(service["TimeoutStopSec"]) > config.WorkerSettings().grace_seconds
    assert (service["KillMode"], service["KillSignal"]) == ("mixed", "SIGTERM")


def test_the_scaler_watches_every_lane() -> None:
    documents = list(yaml.safe_load_all((DEPLOY / "keda.yaml").read_text(encoding="utf-8")))
    (scaled,) = [one for one in documents if one["kind"] == "ScaledObject"]
    queues = [trigger["metadata"]["queueName"] for trigger in scaled["spec"]["triggers"]]
    assert sorted(queues) == sorted(f"rpa_tasks_{lane}" for lane in LANES)
    assert scaled["spec"]["minReplicaCount"] >= 1, "the leader runs in a worker"


def _expressions(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from ([node["expr"]] if "expr" in node else [])
        for value in node.values():
            yield from _expressions(value)
    elif isinstance(node, list):
        for value in node:
            yield from _expressions(value)


def test_the_dashboard_shows_metrics_that_workers_serve() -> None:
    board = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    used = {name for text in _expressions(board) for name in re.findall(r"\bfleetdeck_\w+", text)}
    info = WorkerInfo(
        worker="w", host="h", pid=1, cpu=1.0, memory_mb=1.0, browsers=0, cpu_machine=1.0, memory_machine=1.0
    )
    families = [*metrics.of_worker(info, leads=False), *metrics.of_fleet(Counts(), [])]
    served = {one.name + ("_total" if one.type == "counter" else "") for one in families}
    assert used
    assert used <= served | {"fleetdeck_services_up"}


def test_prometheus_asks_where_the_workers_of_the_compose_file_listen() -> None:
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text(encoding="utf-8"))["scrape_configs"]
    told = {f"{name}:{part['command'][-1].rpartition(':')[2]}" for name, part in WORKERS.items()}
    assert set(job["static_configs"][0]["targets"]) == told


def test_the_image_has_what_a_worker_and_its_handlers_import() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    copied = {word for line in re.findall(r"^COPY (.+) \S+$", dockerfile, re.MULTILINE) for word in line.split()}
    assert {"main.py", "fleetdeck.py", "services", "resources"} <= copied, "handlers say: from fleetdeck import …"
