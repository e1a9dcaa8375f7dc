"""The deploy files name only what there is: options, settings, packages. Queries: tests/integration."""

from __future__ import annotations

import configparser
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from services import settings as config
from services.cli import program

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


def test_prometheus_asks_where_the_workers_of_the_compose_file_listen() -> None:
    document = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text(encoding="utf-8"))
    assert all((DEPLOY / name).is_file() for name in document["rule_files"])
    (job,) = document["scrape_configs"]
    told = {f"{name}:{part['command'][-1].rpartition(':')[2]}" for name, part in WORKERS.items()}
    assert set(job["static_configs"][0]["targets"]) == told


def test_the_image_has_what_a_worker_and_its_handlers_import() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    copied = {word for line in re.findall(r"^COPY (.+) \S+$", dockerfile, re.MULTILINE) for word in line.split()}
    assert {"main.py", "fleetdeck.py", "services", "resources"} <= copied, "handlers say: from fleetdeck import …"
    (installed,) = re.findall(r"apt-get install .*", dockerfile)
    assert {"chromium", "chromium-sandbox", "libatomic1", "tini"} <= set(installed.split())
    assert re.search(r"^USER (?!root|0)\w+$", dockerfile, re.MULTILINE), "Chromium of root has no sandbox at all"


@pytest.mark.parametrize("name", list(WORKERS))
def test_containers_get_no_right_that_chromium_does_not_need(name: str) -> None:
    assert WORKERS[name]["cap_drop"] == ["ALL"]
    told = dict(option.split("=", 1) for option in WORKERS[name]["security_opt"])
    assert told["no-new-privileges"] == "true"
    assert (DEPLOY / told["seccomp"]).is_file(), "docker reads it from beside the compose file"
