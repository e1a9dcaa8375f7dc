"""Every query of the dashboard and of the rules for Prometheus asks for what a worker or the API really serves."""

from __future__ import annotations

import json
import re
import shlex
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from services.cli import program
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli, configure

DEPLOY = Path(__file__).resolve().parents[2] / "resources" / "deploy"
BOARD = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
RULES = [
    rule for group in yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]  # fmt: skip
#: what Prometheus adds by itself
ADDED = {"instance", "job"}
SELECTED = re.compile(r"\b(fleetdeck_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")
#: values by label, by name of the sample
Served = dict[str, dict[str, set[str]]]


def targets(node: Any) -> Iterator[dict[str, str]]:
    if isinstance(node, dict):
        yield from ([node] if "expr" in node else [])
        for value in node.values():
            yield from targets(value)
    elif isinstance(node, list):
        for value in node:
            yield from targets(value)


PANELS = list(targets(BOARD))
QUERIES = [*(one["expr"] for one in PANELS), *(rule["expr"] for rule in RULES)]


def page(address: str) -> Served:
    found: Served = defaultdict(lambda: defaultdict(set))
    with urllib.request.urlopen(address, timeout=30) as answer:
        for family in text_string_to_metric_families(answer.read().decode()):
            for one in family.samples:
                labels = found[one.name]
                for label, value in one.labels.items():
                    labels[label].add(value)
    return found


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Served:
    """What a worker and the API of one fleet with a task in it serve."""
    home = tmp_path_factory.mktemp("metrics") / "home"
    configure(home)
    cli, found = Cli(home), Served()
    cli.run("task", "create", "--shop", "pdd:s1", "--type", "work")

    def address(pattern: str) -> str:
        told = re.findall(pattern, (home / "stderr.txt").read_text(encoding="utf-8"))
        return told[0] if told else ""

    with ExitStack() as stack:
        stack.enter_context(cli.start("worker", "--slots", "1", "--metrics", "127.0.0.1:0"))
        stack.enter_context(cli.start("api", "--port", "0"))
        places = [r"metrics at (http\S+)", r"status page at (http[^\s;]+)"]
        urls = [eventually(lambda pattern=pattern: address(pattern), 60) for pattern in places]
        eventually(lambda: "fleetdeck_worker_machine_cpu_percent" in page(urls[0]), 30)
        for url in (urls[0], f"{urls[1]}/metrics"):
            found |= page(url)
    return found


def wrong(query: str, served: Served) -> list[str]:
    """What a query asks for that nobody serves."""
    selected = SELECTED.findall(query)
    faults = [] if selected else ["it asks for nothing of this program"]
    for name, matchers in selected:
        if name not in served:
            faults.append(name)
            continue
        for label, how, value in MATCHER.findall(matchers):
            known = served[name].get(label, set())
            if label not in {*served[name], *ADDED}:
                faults.append(f"{name}{{{label}}}")
            elif how in ("=", "=~") and not set(value.split("|")) <= known:
                faults.append(f"{name}{{{label}={value}}}, of {sorted(known)}")
    offered = ADDED.union(*(served[name] for name, _ in selected if name in served))
    faults += [f"by {label}" for label in labels_of(query) - offered]
    return faults


def labels_of(query: str) -> set[str]:
    return {label.strip() for group in GROUPED.findall(query) for label in group.split(",")}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_asks_for_names_labels_and_values_that_are_served(query: str, served: Served) -> None:
    assert wrong(query, served) == []


@pytest.mark.parametrize(
    "query",
    ["max(fleetdeck_gone)", "max by (shop) (fleetdeck_led)", 'fleetdeck_workers{state="well"}', "up"],
)
def test_a_query_for_what_nobody_serves_is_found(query: str, served: Served) -> None:
    assert wrong(query, served)


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_a_rule_says_what_to_do_with_labels_and_commands_that_exist(rule: dict[str, Any]) -> None:
    told = rule["annotations"]
    assert told.keys() == {"summary", "remedy"}
    assert rule["labels"]["severity"] in ("critical", "warning")
    used = set(re.findall(r"\$labels\.(\w+)", told["summary"]))
    assert used <= labels_of(rule["expr"])
    for command in re.findall(r"`main\.py ([^`]+)`", told["remedy"]):
        program.grammar().parse_args(shlex.split(command))


def test_legends_use_labels_that_are_left() -> None:
    for one in PANELS:
        used = set(re.findall(r"\{\{\s*(\w+)\s*\}\}", one.get("legendFormat", "")))
        summed = re.search(r"\b(?:sum|max|min|count|avg)\b", one["expr"])
        assert used <= (labels_of(one["expr"]) if summed else ADDED), one["expr"]
