"""``shop dedicate`` and what shows it, called in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.cli import program
from tests.integration.cli_rig import configure


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Call the command line; its document."""
    configure(tmp_path)
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))

    def call(*words: str, code: int = 0) -> dict[str, Any]:
        assert program.run([*words, "--json"], lambda _request: 0) == code
        document = json.loads(capsys.readouterr().out)
        assert isinstance(document, dict)
        return document

    return call


def test_a_shop_gets_a_queue_and_gives_it_back(run: Any) -> None:
    run("task", "create", "--shop", "pdd:s1", "--type", "work")
    assert run("shop", "dedicate", "s1") == {
        "dedicated": "pdd:s1",
        "queue": "single_shop_s1",
        "moved": 1,
        "was_dedicated": False,
    }
    queues = {one["name"]: one for one in run("queue", "list")["queues"]}
    assert (queues["single_shop_s1"]["kind"], queues["single_shop_s1"]["ready"]) == ("shop", 1)
    assert run("stats")["lanes"]["dedicated"]["ready"] == 1
    assert run("shop", "show", "s1")["shop"]["dedicated"] is True
    assert run("shop", "undedicate", "pdd:s1") == {"undedicated": "pdd:s1", "moved": 1, "was_dedicated": True}
    actions = [entry["action"] for entry in run("audit", "list")["entries"]]
    assert actions[:2] == ["shop.undedicate", "shop.dedicate"]


def test_what_is_in_the_way_is_named(run: Any) -> None:
    run("task", "create", "--shop", "pdd:s1,temu:s1", "--type", "work")
    refused = run("shop", "dedicate", "pdd:s1", code=2)
    assert (refused["field"], "temu:s1" in refused["error"]) == ("dedicated", True)
    assert run("shop", "dedicate", "pdd:nobody", code=2)["field"] == "shop"


def test_a_repair_says_what_it_does(run: Any) -> None:
    run("task", "create", "--shop", "pdd:s1", "--type", "work")
    looked = run("repair", "--dry-run")
    assert (looked["dry_run"], looked["found"]) == (True, [])
    assert (run("repair")["left"], run("repair")["found"]) == (0, [])
    assert next(entry["action"] for entry in run("audit", "list")["entries"]) == "repair"
