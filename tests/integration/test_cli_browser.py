"""A browser flow as a person has it done: created, worked off and looked at from the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.executors.browser.executor import NAMES
from tests.integration import cli_rig
from tests.integration.cli_rig import Cli
from tests.support.browser_lab import PASSWORD, Lab

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not any(shutil.which(name) for name in NAMES), reason="there is no Chromium here"),
]
ORDERS = "/desk/pdd/s1/orders"


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    lab = Lab()
    lab.start()
    cli_rig.configure(tmp_path / "home")
    sites = json.dumps({"pdd": lab.front.url})
    yield Cli(
        tmp_path / "home",
        environment={"FLEETDECK_EXECUTORS__BROWSER__SITES": sites, "FLEETDECK_SECRET__PDD__S1__PASSWORD": PASSWORD},
    )
    lab.stop()


def create(cli: Cli, payload: dict, code: int = 0) -> dict:
    words = ("--shop", "s1", "--platform", "pdd", "--type", "browser_flow", "--payload", json.dumps(payload))
    return cli.run("task", "create", *words, code=code)


def test_a_flow_is_created_worked_off_and_looked_at(cli: Cli) -> None:
    login = [
        {"do": "goto", "url": ORDERS},
        {"do": "fill", "selector": "[name=user]", "value": "{{payload.user}}"},
        {"do": "fill", "selector": "[name=password]", "value": "{{secret.password}}"},
        {"do": "click", "selector": "button"},
    ]
    take = {"do": "extract", "as": "orders", "selector": "table.orders", "what": "table"}
    shot = {"do": "screenshot", "name": "first page"}
    good = create(cli, {"user": "me", "steps": [*login, take, shot]})["created"][0]
    missing = {"do": "click", "name": "press print", "selector": "#print", "timeout_s": 0.5, "fails_as": "bad_payload"}
    bad = create(cli, {"steps": [{"do": "goto", "url": ORDERS}, missing]})["created"][0]

    cli.drain()

    done, failed = cli.run("task", "show", good), cli.run("task", "show", bad)
    assert done["task"]["status"] == "succeeded", done["task"]["error"]
    assert len(done["task"]["result"]["orders"]) == 10
    assert [one["step"] for one in done["attempts"][0]["artifacts"] if one["kind"] == "image"] == ["first page"]
    assert (failed["task"]["status"], failed["task"]["error_kind"]) == ("dead", "bad_payload")
    kept = {one["name"]: one["step"] for one in failed["attempts"][0]["artifacts"]}
    assert kept["press print.png"] == "press print"
    assert PASSWORD not in json.dumps([done, failed])


def test_a_fault_is_told_with_its_place(cli: Cli) -> None:
    refused = create(cli, {"steps": [{"do": "goto", "url": ORDERS}, {"do": "click"}]}, code=2)
    assert "steps[1].selector" in json.dumps(refused)
