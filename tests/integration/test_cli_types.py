"""``type`` and ``audit`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.cli_rig import Cli


def test_a_type_is_exported_changed_and_imported(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "types"
    assert len(cli.run("type", "export", "--out", out)["written"]) >= 5
    assert cli.run("type", "export", "--out", out, code=2)["field"] == "--out"
    path = out / "batch_reply.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document | {"timeout_s": 60}), encoding="utf-8")
    preview = cli.run("type", "import", out, "--dry-run")
    changed = [one for one in preview["types"] if one["what"] != "unchanged"]
    assert changed == [{"name": "batch_reply", "what": "changed", "version": 1, "fields": ["timeout_s"]}]
    assert cli.run("type", "show", "batch_reply")["type"]["timeout_s"] == 300
    people = cli.call("type", "import", path)
    assert (people.returncode, people.stdout) == (0, "batch_reply: changed, version 1 (timeout_s)\n")
    shown = cli.run("type", "show", "batch_reply")
    assert (shown["type"]["timeout_s"], shown["versions"]) == (60, [0, 1])
    assert cli.run("type", "show", "batch_reply", "--version", 0)["type"]["timeout_s"] == 300
    assert cli.run("type", "show", "batch_reply", "--version", 9, code=2)["field"] == "--version"
    entry = cli.run("audit", "list", "--filter", "action:type.import target:batch_reply")["entries"][0]
    assert json.loads(entry["detail"]) == {"versions": {"batch_reply": 1}, "via": "cli"}
    printed = cli.call("type", "export", "batch_reply").stdout
    assert json.loads(printed)["timeout_s"] == 60


def test_an_executor_that_no_worker_brings_is_told(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps([{"name": "odd", "executor": "rpaa"}, {"name": "even", "executor": "http"}]))
    made = cli.run("type", "import", path)
    assert [one["name"] for one in made["types"]] == ["odd", "even"]
    assert made["warnings"] == ["odd: no executor here is called rpaa; did you mean rpa?"]


def test_bad_documents_change_nothing_and_are_all_listed(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "types.json"
    rows = [{"name": "good"}, {"name": "b a d"}, {"name": "odd", "timeout": 5}]
    path.write_text(json.dumps({"types": rows}), encoding="utf-8")
    document = cli.run("type", "import", path, code=2)
    assert [(one["place"], one["field"]) for one in document["errors"]] == [
        ("types.json[1]", "name"),
        ("types.json[2]", "timeout"),
    ]
    assert document["types"] == []
    assert "good" not in {one["name"] for one in cli.run("type", "list")["types"]}
    path.write_text("{", encoding="utf-8")
    assert "not JSON" in cli.run("type", "import", path, code=2)["error"]
    assert cli.run("type", "import", tmp_path / "nowhere.json", code=2)["field"] == "FILE"
    assert cli.run("type", "show", "nothing", code=2)["field"] == "name"
