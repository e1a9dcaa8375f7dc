"""``task try``: one attempt of one task goes through a pause, and nobody else does."""

from __future__ import annotations

from tests.integration.cli_rig import Cli

WHY = "the buyer is on the phone"


def test_one_runs_behind_a_pause_and_the_others_wait(cli: Cli) -> None:
    ids = [cli.run("task", "create", "--shop", f"temu:s{n}", "--type", "work")["created"][0] for n in (1, 2)]
    cli.run("queue", "pause", "platform:temu", "--note", "audit", "--yes")
    cli.drain()
    first, other = ids
    done = cli.run("task", "try", first, "--reason", WHY)
    assert done["done"] == [first]
    gates = {gate["name"]: gate for gate in cli.run("task", "show", first)["gates"]}
    assert gates["paused"]["state"] == "ok"
    assert gates["paused"]["params"]["reason"] == WHY
    assert f"lets the next attempt through: {WHY}" not in cli.call("task", "show", other).stdout
    assert [one["task_id"] for one in cli.run("task", "list", "--filter", "gate:paused")["tasks"]] == [other]
    cli.drain()
    shown = cli.run("task", "show", first)
    assert shown["task"]["status"] == "succeeded"
    assert any(WHY in one["note"] for one in shown["events"])
    assert cli.run("task", "show", other)["task"]["status"] == "blocked"
    (entry,) = [one for one in cli.run("audit", "list")["entries"] if one["action"] == "task.try"]
    assert entry["target"] == [first]
    assert WHY in str(entry["detail"])
    assert cli.run("queue", "list")["pauses"]


def test_where_nothing_holds_it_back_that_is_said_and_a_reason_is_needed(cli: Cli) -> None:
    (task_id,) = cli.run("task", "create", "--shop", "temu:s1", "--type", "work")["created"]
    refused = cli.run("task", "try", task_id, "--reason", WHY, code=1)
    assert [one["code"] for one in refused["skipped"]] == ["task.nothing_to_pass"]
    assert cli.run("task", "try", task_id, "--reason", " ", code=2)["field"] == "reason"
    assert cli.run("task", "try", "nobody", "--reason", WHY, code=1)["skipped"][0]["code"] == "task.unknown"


def test_it_can_be_taken_back_until_an_attempt_begins(cli: Cli) -> None:
    (task_id,) = cli.run("task", "create", "--shop", "temu:s1", "--type", "work")["created"]
    cli.run("queue", "pause", "platform:temu", "--note", "audit", "--yes")
    cli.drain()
    cli.run("task", "try", task_id, "--reason", WHY)
    assert cli.run("task", "try", task_id, "--undo")["done"] == [task_id]
    notes = [one["note"] for one in cli.run("task", "show", task_id)["events"]]
    given = next(place for place, note in enumerate(notes) if note.startswith("anyway "))
    assert notes[-1].startswith("not anyway "), "who reads the task sees that it no longer stands"
    assert given < len(notes) - 1
    cli.drain()
    assert cli.run("task", "show", task_id)["task"]["status"] == "blocked"
    again = cli.run("task", "try", task_id, "--undo", code=1)
    assert [one["code"] for one in again["skipped"]] == ["task.no_pass"]
    assert [one["action"] for one in cli.run("audit", "list")["entries"]].count("task.try_back") == 2
    cli.run("task", "try", task_id, "--reason", WHY)
    cli.drain()
    assert cli.run("task", "show", task_id)["task"]["status"] == "succeeded"
    assert cli.run("task", "try", task_id, "--undo", code=1)["skipped"]
