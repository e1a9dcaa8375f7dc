"""A work that a type wants done once in a while: asked for again it needs a reason, whoever asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services import settings as config
from tests.integration.cli_rig import Cli, configure

WORDS = ("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "once")


@pytest.fixture
def once(pair: str, place: config.Settings, tmp_path: Path) -> Cli:
    """The command line of a fleet with a type that is done once a day."""
    home = tmp_path / "home"
    configure(home)
    cli = Cli(home, () if pair == "embedded" else ("--broker", place.broker.url, "--redis", place.store.url))
    kind = {"name": "once", "executor": "python", "uniqueness": "shop_type", "unique_for": "1d"}
    path = tmp_path / "once.json"
    path.write_text(json.dumps(kind), encoding="utf-8")
    cli.run("type", "import", path)
    return cli


def asked_again(cli: Cli, task_id: str) -> str:
    """What a person reads of why a task was asked for again."""
    return "".join(
        line for line in cli.call("task", "show", task_id).stdout.splitlines() if "Asked for again by" in line
    )


def test_it_is_created_again_only_with_a_reason(once: Cli) -> None:
    (first,) = once.run(*WORDS)["created"]
    once.drain()
    assert once.run("task", "show", first)["task"]["status"] == "succeeded"
    refused = once.run(*WORDS, code=1)
    assert refused["created"] == []
    (told,) = refused["done"]
    assert (told["existing"], told["shop"], told["type"]) == (first, "pdd:s1", "once")
    assert told["by"]
    assert told["at"]
    people = once.call(*WORDS)
    assert f"as {first}" in people.stdout
    assert "--reason" in people.stdout
    (again,) = once.run(*WORDS, "--reason", "the shop lost it")["created"]
    once.drain()
    assert once.run("task", "show", again)["task"]["status"] == "succeeded"
    assert (asked_again(once, first), ": the shop lost it" in asked_again(once, again)) == ("", True)
    (first,) = once.run("task", "create", "--shop", "pdd:s2", "--type", "once", "--reason", "new shop")["created"]
    assert asked_again(once, first) == "", "nobody had done it"


def test_the_third_who_asks_for_an_order_sync_of_the_sample_is_asked_why(once: Cli) -> None:
    """Nobody has set anything: the types that a new store has see to it."""
    words = ("task", "create", "--shop", "pdd:s1", "--type", "sync_order")
    (first,) = once.run(*words)["created"]
    assert [one["existing"] for one in once.run(*words, code=1)["duplicates"]] == [first]
    once.drain()
    assert [one["existing"] for one in once.run(*words, code=1)["done"]] == [first]
    (again,) = once.run(*words, "--reason", "an order came meanwhile")["created"]
    once.drain()
    assert once.run("task", "show", again)["task"]["status"] == "succeeded"


def test_what_was_cancelled_and_done_since_is_created_again_only_with_a_reason(once: Cli) -> None:
    (old,) = once.run(*WORDS)["created"]
    once.run("task", "cancel", old)
    (later,) = once.run(*WORDS)["created"]
    once.drain()
    refused = once.run("task", "create-again", old, code=1)
    assert refused["done"] == []
    assert later in refused["skipped"][0]["reason"]
    made = once.run("task", "create-again", old, "--reason", "the shop lost it")
    assert made["done"] == [old]
    assert once.run("task", "show", made["created"][old])["task"]["reason"] == "the shop lost it"
    assert ": the shop lost it" in asked_again(once, made["created"][old])
    entry = next(one for one in once.run("audit", "list")["entries"] if one["action"] == "task.create_again")
    assert "the shop lost it" in json.dumps(entry["detail"])


def test_a_file_tells_what_was_done_before_anything_is_created(once: Cli, tmp_path: Path) -> None:
    (first,) = once.run(*WORDS)["created"]
    once.drain()
    sheet = tmp_path / "again.csv"
    sheet.write_text("shop,type\npdd:s1,once\npdd:s2,once\n", encoding="utf-8")
    words = ("task", "create", "--file", sheet, "--allow-unknown")
    told = once.run(*words, "--dry-run", code=1)
    assert (told["tasks"], told["created"]) == (1, [])
    (before,) = told["before"]
    assert (before["row"], before["existing"], before["needs_reason"]) == (2, first, True)
    people = once.call(*words, "--dry-run").stdout
    assert "row 2: 'pdd:s1 once': done already" in people
    assert f"as {first}, by " in people
    assert "1 row was done already: left out (--reason: done again)" in people
    made = once.run(*words, "--reason", "the shop lost it")
    assert (len(made["created"]), made["done"]) == (2, [])


def test_a_schedule_leaves_out_what_was_done(once: Cli) -> None:
    (first,) = once.run(*WORDS)["created"]
    once.drain()
    once.run("schedule", "add", "nightly", "--type", "once", "--shop", "pdd:s1", "--cron", "0 3 * * *")
    run = once.run("schedule", "run", "nightly", "--yes", code=1)["run"]
    assert (run["created"], run["done"]) == (0, 1)
    assert [one["task_id"] for one in once.run("task", "list")["tasks"]] == [first]
    head, row = (line.split() for line in once.call("schedule", "list").stdout.splitlines())
    assert " ".join(head).endswith("created left out failed")
    assert row[-3:] == ["0", "1", "0"]


def letter_overtaken(cli: Cli) -> tuple[str, str]:
    """A dead letter and the task that did its work later."""
    words = ("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "single")
    fails = json.dumps({"fail": "bad_payload", "text": "no such page"})
    (letter,) = cli.run(*words, "--payload", fails)["created"]
    cli.drain()
    assert cli.run("task", "show", letter)["task"]["status"] == "dead"
    (later,) = cli.run(*words)["created"]
    cli.drain()
    return letter, later


def test_a_letter_whose_work_was_done_later_says_so_everywhere(once: Cli, tmp_path: Path) -> None:
    kind = {"name": "single", "executor": "python", "uniqueness": "shop_type"}
    (tmp_path / "single.json").write_text(json.dumps(kind), encoding="utf-8")
    once.run("type", "import", tmp_path / "single.json")
    letter, later = letter_overtaken(once)
    assert once.run("stats")["dead_open"] == 0
    (row,) = once.run("dead", "list", "--triage", "overtaken")["tasks"]
    assert (row["task_id"], row["successor"]) == (letter, later)
    assert once.run("dead", "list", "--filter", "triage:overtaken")["tasks"] == [row], "the filter says which are meant"
    shown = once.run("dead", "show", letter)
    assert (shown["verdict"]["level"], shown["verdict"]["code"]) == ("would_duplicate", "verdict.ran_after")
    assert shown["same_work"]["id"] == later
    assert once.run("task", "show", letter)["same_work"]["id"] == later
    assert f"as {later}" in once.call("task", "show", letter).stdout

    once.run("dead", "restore", letter)
    assert once.run("stats")["dead_open"] == 1
    preview = once.run("dead", "republish", letter, "--dry-run")
    assert preview["states"] == {"done": 1}
    assert preview["items"][0]["existing"] == later
    skipped = once.run("dead", "republish", letter, "--yes", code=1)
    assert skipped["done"] == []
    assert later in skipped["skipped"][0]["reason"]
    assert once.run("task", "list", "--filter", "status:queued")["tasks"] == []
    refused = once.run("dead", "republish", letter, "--yes", "--skip", "none", code=2)
    assert refused["field"] == "--reason"
    assert later in refused["error"]
    for more in (("--if-duplicate", "force"), ("--skip", "schema,done")):
        kept = once.run("dead", "republish", letter, "--reason", "incident 12", *more, code=1)
        assert kept["done"] == [], "what is left out is said by --skip, and that reason is for something else"
    made = once.run("dead", "republish", letter, "--reason", "the shop lost it")
    assert made["done"] == [letter]
    fresh = once.run("task", "show", made["created"][letter])
    assert fresh["task"]["reason"] == "the shop lost it"
    entry = next(one for one in once.run("audit", "list")["entries"] if one["action"] == "dead.republish")
    assert "the shop lost it" in json.dumps(entry["detail"])


def test_whoever_sends_many_that_were_done_later_states_their_number(once: Cli, tmp_path: Path) -> None:
    kind = {"name": "single", "executor": "python", "uniqueness": "shop_type"}
    (tmp_path / "single.json").write_text(json.dumps(kind), encoding="utf-8")
    once.run("type", "import", tmp_path / "single.json")
    letter, _later = letter_overtaken(once)
    words = ("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "work")
    (other,) = once.run(*words, "--payload", json.dumps({"fail": "bad_payload", "text": "no such page"}))["created"]
    once.drain()
    send = ("dead", "republish", letter, other, "--skip", "none", "--yes")
    for more in ((), ("--overtaken", 2)):
        refused = once.run(*send, *more, code=2)
        assert refused["field"] == "--overtaken"
        assert "the work of 1 of these has succeeded since" in refused["error"]
    assert once.run("task", "list", "--filter", "status:queued")["tasks"] == []
    kept = once.run("dead", "republish", letter, other, "--skip", "done", "--overtaken", 1, "--yes", code=2)
    assert kept["field"] == "--overtaken"
    by_number = ("dead", "republish", letter, other, "--yes", "--overtaken", 1)  # the number says that they go
    made = once.run(*by_number, "--reason", "the shop lost it")
    assert set(made["done"]) == {letter, other}
    reasons = [once.run("task", "show", made["created"][one])["task"]["reason"] for one in (letter, other)]
    assert reasons == ["the shop lost it", ""]


def test_who_creates_what_has_run_before_is_told(once: Cli) -> None:
    words = ("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "work")
    (first,) = once.run(*words)["created"]
    once.drain()
    again = once.run(*words)
    assert [one["id"] for one in again["same_work"]] == [first]
    assert [one["task_id"] for one in again["same_work"]] == again["created"]
