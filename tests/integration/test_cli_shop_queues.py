"""``shop dedicate`` and what shows it, called in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.cli import program, record_files
from services.domain.task.envelope import bad_record
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


def test_a_message_without_a_platform_is_in_nobodys_way(run: Any, tmp_path: Path) -> None:
    run("task", "create", "--shop", "pdd:s1", "--type", "work")
    letter = bad_record(b'{"shop_id": "s1"}', kind="bad_message", error="platform is missing", now_ms=1)
    file = tmp_path / "letters.jsonl"
    file.write_text(record_files.write(letter, None), "utf-8")
    assert run("import", str(file), "--yes")["done"]
    assert {shop["platform"] for shop in run("shop", "list")["shops"]} == {"pdd", "unknown"}
    assert run("shop", "show", "s1")["shop"]["platform"] == "pdd"
    assert run("shop", "dedicate", "pdd:s1")["dedicated"] == "pdd:s1"
    run("shop", "pause", "unknown:s1")  # registers it
    assert run("task", "create", "--shop", "s1", "--type", "other")["created"][0].startswith("pdd_")
    assert run("shop", "show", "unknown:s1")["shop"]["shop_id"] == "s1"


def test_a_repair_says_what_it_does(run: Any) -> None:
    run("task", "create", "--shop", "pdd:s1", "--type", "work")
    looked = run("repair", "--dry-run")
    assert (looked["dry_run"], looked["found"]) == (True, [])
    assert (run("repair")["left"], run("repair")["found"]) == (0, [])
    assert next(entry["action"] for entry in run("audit", "list")["entries"]) == "repair"
