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


def test_a_schedule_leaves_out_what_was_done(once: Cli) -> None:
    (first,) = once.run(*WORDS)["created"]
    once.drain()
    once.run("schedule", "add", "nightly", "--type", "once", "--shop", "pdd:s1", "--cron", "0 3 * * *")
    run = once.run("schedule", "run", "nightly", "--yes", code=1)["run"]
    assert (run["created"], run["done"]) == (0, 1)
    assert [one["task_id"] for one in once.run("task", "list")["tasks"]] == [first]
