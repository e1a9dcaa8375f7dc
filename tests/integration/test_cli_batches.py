"""Dependencies and batches on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.cli_rig import Cli


def create(cli: Cli, shop: str, *words: object) -> str:
    document = cli.run("task", "create", "--shop", f"pdd:{shop}", "--type", "work", *words)
    (task_id,) = document["created"]
    assert (document["errors"], document["batch"]) == ([], "")
    return str(task_id)


def test_a_task_waits_for_others(cli: Cli) -> None:
    one, two = create(cli, "s1"), create(cli, "s2")
    last = create(cli, "s3", "--depends-on", one, "--depends-on", two, "--on-dependency-failure", "cancel")
    shown = cli.run("task", "show", last)
    task = shown["task"]
    assert (task["status"], task["gate"], task["depends_on"]) == ("blocked", "dependency", [one, two])
    assert task["on_dependency_failure"] == "cancel"
    (closed,) = [gate for gate in shown["gates"] if gate["state"] == "closed"]
    assert (closed["name"], closed["params"]["open"], closed["params"]["status"]) == ("dependency", 2, "queued")
    words = cli.call("task", "show", last).stdout
    assert "Waits for 2 of the 2 tasks it depends on" in words
    cli.drain()
    done = cli.run("task", "show", last)["task"]
    assert done["status"] == "succeeded"
    assert done["started_at"] >= max(cli.run("task", "show", other)["task"]["ended_at"] for other in (one, two))


def test_a_cancelled_dependency_takes_others_along(cli: Cli) -> None:
    one = create(cli, "s1")
    two = create(cli, "s2", "--depends-on", one, "--on-dependency-failure", "cancel")
    held = create(cli, "s3", "--depends-on", two)
    cli.run("task", "cancel", one)
    shown = cli.run("task", "show", two)["task"]
    assert (shown["status"], shown["reason"]) == ("cancelled", f"dependency {one} is cancelled")
    words = cli.call("task", "show", held).stdout
    assert f"It depends on {two}, which was cancelled" in words


def test_an_unknown_dependency_is_2_and_named(cli: Cli) -> None:
    document = cli.run("task", "create", "--shop", "pdd:s1", "--type", "work", "--depends-on", "pdd_nobody_1", code=2)
    assert document["created"] == []
    (error,) = document["errors"]
    assert error["field"] == "depends_on"
    assert "'pdd_nobody_1'" in error["error"]
    assert "name a task that exists" in error["error"]


def test_a_file_of_rows_that_wait_for_each_other(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "chain.csv"
    path.write_text("key,shop,type,depends_on\nc,pdd:s3,work,a b\nb,pdd:s2,work,a\na,pdd:s1,work,\n", encoding="utf-8")
    document = cli.run("task", "create", "--file", path, "--allow-unknown")
    assert (len(document["created"]), document["errors"]) == (3, [])
    batch = document["batch"]
    assert batch.startswith("file-")
    listed = cli.run("task", "list", "--filter", f"batch:{batch}")
    assert {one["shop_id"]: one["status"] for one in listed["tasks"]} == {
        "s1": "queued", "s2": "blocked", "s3": "blocked",
    }  # fmt: skip
    cli.drain()
    stats = cli.run("stats", "--batch", batch)
    assert stats == {"batch": batch, "status": {"succeeded": 3}, "total": 3, "ended": 3, "progress": 100}


def test_a_circle_in_a_file_is_2_and_its_path_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "circle.jsonl"
    rows = [
        {"key": "a", "shop": "pdd:s1", "type": "work", "depends_on": ["b"]},
        {"key": "b", "shop": "pdd:s2", "type": "work", "depends_on": ["a"]},
        {"key": "own", "shop": "pdd:s3", "type": "work", "depends_on": ["own"]},
        {"shop": "pdd:s4", "type": "work"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    document = cli.run("task", "create", "--file", path, "--allow-unknown", "--skip-bad", code=2)
    assert len(document["created"]) == 1
    assert [(error["line"], error["field"]) for error in document["errors"]] == [
        (1, "depends_on"), (2, "depends_on"), (3, "depends_on"),
    ]  # fmt: skip
    assert "a → b → a" in document["errors"][0]["error"]
    assert "own → own" in document["errors"][2]["error"]


def test_several_shops_are_one_batch(cli: Cli) -> None:
    document = cli.run("task", "create", "--type", "work", "--shop", "pdd:s1,pdd:s2", "--shop", "temu:s3")
    batch = document["batch"]
    assert (len(document["created"]), batch[:4]) == (3, "cli-")
    stats = cli.run("stats", "--batch", batch)
    assert (stats["status"], stats["total"], stats["progress"]) == ({"queued": 3}, 3, 0)
    assert sorted(cli.run("task", "cancel", "--filter", f"batch:{batch}", "--yes")["done"]) == sorted(
        document["created"]
    )
    assert cli.run("stats", "--batch", batch)["status"] == {"cancelled": 3}
    assert "3 of 3 ended (100.0\u202f%)" in cli.call("stats", "--batch", batch).stdout


def test_a_batch_of_a_name_is_retried_as_one(cli: Cli) -> None:
    payload = json.dumps({"fail": "bad_payload"})
    words = ("--type", "work", "--batch", "nightly", "--payload", payload)
    document = cli.run("task", "create", "--shop", "pdd:s1,pdd:s2", *words)
    assert document["batch"] == "nightly"
    cli.drain()
    assert cli.run("stats", "--batch", "nightly")["status"] == {"dead": 2}
    planned = cli.run("batch", "retry", "nightly", "--dry-run")
    assert (planned["count"], planned["likely"]) == (2, {"passes": 0, "again": 2, "login": 0, "unknown": 0})
    assert "2 likely fail again" in cli.call("batch", "retry", "nightly", "--dry-run").stdout
    again = cli.run("batch", "retry", "nightly", "--yes")
    assert sorted(again["created"]) == sorted(document["created"])
    assert (again["before"], again["after"]) == ({"dead": 2}, {"queued": 2}), "as they stand, not the records"
    assert cli.run("batch", "retry", "nightly", "--dry-run")["count"] == 0, "a letter is republished once"
    assert "0.0\u202f%" in cli.call("batch", "list").stdout
    assert cli.run("batch", "list")["batches"][0]["status"] == {"queued": 2}, "each stands once, as its successor"


def test_a_batch_is_looked_at_and_cancelled_as_one(cli: Cli) -> None:
    document = cli.run("task", "create", "--shop", "pdd:s1,pdd:s2,pdd:s3", "--type", "work", "--batch", "nightly")
    create(cli, "s9")
    (listed,) = cli.run("batch", "list")["batches"]
    assert (listed["batch"], listed["status"], listed["progress"]) == ("nightly", {"queued": 3}, 0)
    planned = cli.run("batch", "cancel", "nightly", "--dry-run")
    assert (planned["count"], sorted(planned["ids"])) == (3, sorted(document["created"]))
    assert cli.run("batch", "raise", "nightly", "--dry-run")["raised"]["end"] is None
    assert "no worker takes them" in cli.call("batch", "raise", "nightly", "--dry-run").stdout
    assert cli.run("batch", "show", "nightly")["status"] == {"queued": 3}
    assert cli.run("batch", "cancel", "nightly", code=2)["field"] == "--yes"
    done = cli.run("batch", "cancel", "nightly", "--reason", "wrong day", "--yes")
    assert (done["before"], done["after"], len(done["done"])) == ({"queued": 3}, {"cancelled": 3}, 3)
    assert cli.run("batch", "cancel", "nightly", "--yes")["done"] == []
    shown = cli.run("batch", "show", "nightly")
    assert (shown["total"], shown["ended"], shown["progress"], shown["left_s"]) == (3, 3, 100, 0.0)
    entries = [one for one in cli.run("audit", "list")["entries"] if one["action"] != "task.create"]
    assert [one["action"] for one in entries] == ["batch.cancel"] * 2, "one entry, however many tasks"
    assert entries[-1]["target"] == ["nightly", *planned["ids"]]
    assert entries[-1]["outcome"] == "done; after: cancelled 3"
    for verb in ("show", "cancel", "retry"):
        refused = cli.run("batch", verb, "nobody", code=2)
        assert refused["field"] == "name"
        assert "no batch nobody" in refused["error"]
