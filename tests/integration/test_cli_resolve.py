"""A person decides about tasks whose outcome is unknown, and has read before whether they may run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services import assembly
from services import settings as config
from tests.contract.rig import Rig
from tests.integration.cli_rig import Cli, configure


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    configure(tmp_path)
    return Cli(tmp_path)


@pytest.fixture
def held(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Makes a held task of a shop."""
    monkeypatch.setenv("FLEETDECK_HOME", str(cli.home))
    engine = assembly.open_engine(config.load())
    rig = Rig(engine.store, None)
    yield lambda shop: rig.held(shop_id=shop, idempotent=False).task_id
    engine.close()


def test_the_verdict_is_shown_and_each_decision_recorded(cli: Cli, held: Callable[[str], str]) -> None:
    ran, again, never = held("s1"), held("s2"), held("s3")
    verdict = cli.run("task", "show", ran)["verdict"]
    assert (verdict["level"], verdict["code"]) == ("check", "verdict.outcome_unknown")
    assert verdict["text"]
    done = cli.run("task", "resolve", ran, "--as", "succeeded", "--note", "the buyers have the answer")
    assert (done["done"], done["failed"], done["skipped"]) == ([ran], [], [])
    cli.run("task", "resolve", again, "--as", "again", "--note", "the shop lost it")
    cli.run("task", "resolve", never, "--as", "dead", "--note", "seller closed")
    shown = [cli.run("task", "show", task_id)["task"] for task_id in (ran, again, never)]
    assert [record["status"] for record in shown] == ["succeeded", "queued", "dead"]
    assert shown[2]["triage"] == "open"
    assert "Let run again by" in (told := cli.call("task", "show", again).stdout)
    assert "the shop lost it" in told
    said = cli.run("audit", "list", "--filter", "task.resolve")
    assert "the buyers have the answer" in str(said)
    late = cli.run("task", "resolve", ran, "--as", "dead", code=1)
    assert late["done"] == []
    assert [one["id"] for one in (*late["skipped"], *late["failed"])] == [ran]


def test_nobody_says_that_it_ran_without_saying_how_he_knows(cli: Cli, held: Callable[[str], str]) -> None:
    task_id = held("s1")
    refused = cli.run("task", "resolve", task_id, "--as", "succeeded", "--note", " ", code=2)
    assert refused["field"] == "--note"
    preview = cli.run("task", "resolve", "--filter", "shop:s1", "--as", "again", "--note", "lost", "--dry-run")
    assert preview["ids"] == [task_id]
    assert cli.run("task", "show", task_id)["task"]["status"] == "held"


def test_nobody_lets_it_run_again_without_saying_why(cli: Cli, held: Callable[[str], str]) -> None:
    """Its work may be done: that it is done twice is somebody's decision, with a reason that is kept."""
    task_id = held("s1")
    assert cli.run("task", "resolve", task_id, "--as", "again", code=2)["field"] == "--note"
    assert cli.run("task", "retry", task_id, code=1)["skipped"][0]["code"] == "retry.say_why"
    assert cli.run("task", "show", task_id)["task"]["status"] == "held"
    assert cli.run("task", "retry", task_id, "--reason", "the shop lost it")["done"] == [task_id]
    assert cli.run("task", "show", task_id)["task"]["triage_note"] == "the shop lost it"


def test_nobody_gives_it_up_without_saying_why(cli: Cli, held: Callable[[str], str]) -> None:
    """When it is over the same work may be done by others: that is a second time, if it was done."""
    one, other = held("s1"), held("s2")
    for words in (("cancel", one), ("resolve", other, "--as", "dead")):
        assert cli.run("task", *words, code=1)["skipped"][0]["code"] == "give_up.say_why"
    assert {cli.run("task", "show", task_id)["task"]["status"] for task_id in (one, other)} == {"held"}
    assert cli.run("task", "cancel", one, "--reason", "the shop lost it")["done"] == [one]
    assert cli.run("task", "show", one)["task"]["reason"] == "the shop lost it"
