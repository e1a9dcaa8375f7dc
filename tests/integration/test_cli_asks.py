"""Commands that change many things: each asks first, and each preview of theirs leaves everything as it was."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from services import assembly
from services import settings as config
from services.cli import program
from services.commands.tasks import TaskSpec
from services.domain.change import Cancel, Claim, Finish
from services.domain.fleet.shop import Shop
from services.domain.task.record import Attempt
from services.domain.task.status import Status
from services.profiles.book import Book, SavedProfile
from tests.support.grammar import commands

#: what the commands here are told; FOLDER, QUEUED, DEAD, HELD, CANCELLED stand for what is there
ACTS = {
    "task cancel": "--filter status:queued",
    "task retry": "--filter status:held --reason seen",
    "task create-again": "--filter status:cancelled",
    "task run-now": "--filter status:queued",
    "task prioritize": "--filter status:queued --priority high",
    "task resolve": "--filter status:held --as again --note seen",
    "dead republish": "--filter kind:timeout",
    "dead archive": "--filter kind:timeout",
    "dead ignore": "--filter kind:timeout",
    "dead restore": "--filter triage:archived",
    "batch raise": "nightly",
    "batch retry": "nightly",
    "batch cancel": "nightly",
    "schedule run": "hourly",
    "import": "FOLDER/records.jsonl",
}
#: previews of commands that do not ask, or not where nothing is missing
LOOKS = {
    "schedule backfill": "hourly --since today",
    "task create": "--file FOLDER/tasks.csv --platform pdd --type sync_order",
    "type import": "FOLDER/type.json",
    "schedule add": "nightly --cron @daily --type sync_order --all",
    "promise set": "orders --type sync_order --all --never-older-than 1h",
    "repair": "",
    "queue purge": "rpa_tasks_normal",
}
#: they ask, and have no preview
QUESTIONS = {
    "schedule remove": "hourly",
    "queue pause": "all",
    "queue resume": "type:unused",
    "view remove": "Refunds",
}
#: they ask in a production fleet only, where something is written over, where it is about more than one, or where there
#: are faults to accept: their own tests try that
ELSEWHERE = {
    "promise disable", "promise enable", "promise remove", "token revoke",
    "audit accept", "export", "type export", "quiet set", "quiet remove", "shop dedicate", "shop undedicate",
    "shop limit", "shop breaker", "shop session open", "shop session close", "shop move", "shop pause",
    "shop resume", "worker browser", "worker drain", "worker resume", "worker stop",
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two of everything that these commands are for."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("FLEETDECK_HOME", str(folder))
    engine = assembly.open_engine(config.load(home=folder))
    try:
        commands, store = assembly.commands(engine), engine.store
        commands.fleet.import_shops([Shop(platform="pdd", shop_id=f"s{n}") for n in range(10)])
        specs = [
            TaskSpec(platform="pdd", shop_id=f"s{n}", task_type="work", payload={"n": n}, batch="nightly")
            for n in range(10)
        ]
        made = commands.tasks.create(specs, origin="cli").created
        for task, to in zip(made[2:], ["dead"] * 4 + ["held"] * 2, strict=False):
            claim = Claim(
                task_id=task.task_id, gen=0, attempt=0, owner=f"w#{task.task_id}", worker="w", lease_ms=60_000
            )
            assert store.apply([claim])[0].code == "run"
            attempt = Attempt(1, "w", 1, 2, "failed")
            end = Finish(
                task_id=task.task_id, owner=claim.owner, to=to, attempt=attempt, error="slow", error_kind="timeout"
            )
            assert store.apply([end])[0].code == "ok"
        store.apply([Cancel(task_id=task.task_id, by="ann") for task in made[8:]])
        commands.fleet.pause("type:unused")
        commands.dead_letters.set_triage([task.task_id for task in made[4:6]], "archived")
    finally:
        engine.close()
    (tmp_path / "tasks.csv").write_text("shop_id,payload\ns1,{}\ns2,{}\n", encoding="utf-8")
    (tmp_path / "type.json").write_text(json.dumps({"name": "work", "version": 1}), encoding="utf-8")
    assert call("schedule", "add", "hourly", "--cron", "@hourly", "--type", "sync_order", "--all") == 0
    assert call("view", "share", "Refunds", "--filter", "type:refund") == 0
    assert call("export", "--filter", "status:dead", "--out", str(tmp_path / "records.jsonl")) == 0
    return folder


def call(*words: str) -> int:
    """The exit code of a command."""
    return program.run(words, lambda _request: 0)


def state(home: Path) -> dict[str, list[Any]]:
    """Every row of the fleet, but for who holds which lease."""
    found: dict[str, list[Any]] = {}
    for path in home.glob("*.sqlite"):
        with closing(sqlite3.connect(path)) as db:
            for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                if name not in ("leases", "processes"):
                    found[f"{path.stem} {name}"] = sorted(map(repr, db.execute(f"SELECT * FROM {name}")))
    return found


def words_of(command: str, rest: str, folder: Path) -> list[str]:
    return [*command.split(), *rest.replace("FOLDER", str(folder)).split()]


def test_no_command_that_asks_or_previews_is_left_out() -> None:
    asks = {name for name, options in commands() if "--yes" in options}
    looks = {name for name, options in commands() if "--dry-run" in options}
    assert looks == {*ACTS, *LOOKS}
    assert asks - LOOKS.keys() == {*ACTS, *QUESTIONS, *ELSEWHERE}


@pytest.mark.parametrize("command", [*ACTS, *LOOKS])
def test_a_preview_leaves_everything_as_it_was(command: str, home: Path, tmp_path: Path) -> None:
    words = words_of(command, (ACTS | LOOKS)[command], tmp_path)
    before = state(home)
    assert call(*words, "--dry-run") == 0
    assert state(home) == before


@pytest.mark.parametrize("command", [*ACTS, *QUESTIONS])
def test_without_a_yes_nothing_is_done(
    command: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = words_of(command, (ACTS | QUESTIONS)[command], tmp_path)
    before = state(home)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))  # a script, not a person
    assert call(*words) == 2
    assert "--yes" in capsys.readouterr().err
    assert state(home) == before
    assert call(*words, "--yes") in (0, 1)
    assert state(home) != before, "and with it something is"


@pytest.mark.parametrize("command", ["task cancel", "dead archive"])
def test_a_filter_is_asked_about_even_where_it_finds_one(command: str, home: Path) -> None:
    engine = assembly.open_engine(config.load(home=home))
    try:
        wanted = "status:dead triage:open" if command.startswith("dead") else "status:queued"
        (one,) = assembly.queries(engine).tasks.page(wanted, limit=1).tasks
    finally:
        engine.close()
    before = state(home)
    assert call(*command.split(), "--filter", f"id:{one.task_id}") == 2
    assert state(home) == before
    assert call(*command.split(), one.task_id) == 0, "one that is named is meant"


#: where somebody wrote that a connection is that of real shops, and the words that open it
PRODUCTION = {
    "above all": 'environment = "production"\n',
    "in a profile": '[profiles.east]\nenvironment = "Production"\n',
    "as its tag": '[profiles.east]\nenvironment = "PROD"\n',
    "in the window": "",
}


@pytest.mark.parametrize("where", PRODUCTION)
def test_in_production_small_acts_are_asked_about_too(where: str, home: Path, tmp_path: Path) -> None:
    (home / "config.toml").write_text(PRODUCTION[where], encoding="utf-8")
    if where == "in the window":
        Book(home).put(SavedProfile(name="east", environment="production"))
    opened = () if where == "above all" else ("--profile", "east")
    (tmp_path / "shops.csv").write_text("platform,shop_id\npdd,s1\n", encoding="utf-8")
    assert call("shop", "import", str(tmp_path / "shops.csv"), *opened) == 0
    for line in (
        "promise set orders --type sync_order --all --never-older-than 1h",
        "promise disable orders",
        "promise remove orders",
        "quiet set night all --weekly daily,22:00-06:00 --note calm",
        "quiet remove night",
        "shop pause pdd:s1",
    ):
        words = [word.replace(",", " ") for word in line.split()]
        before = state(home)
        assert call(*words, *opened) == 2, f"{line}: nobody is there who could be asked"
        assert state(home) == before, line
        assert call(*words, *opened, "--yes") == 0, line
        assert state(home) != before, line


@pytest.mark.parametrize("environment", ["", "staging", "产品"])
def test_elsewhere_they_are_not(environment: str, home: Path) -> None:
    (home / "config.toml").write_text(f'environment = "{environment}"\n', encoding="utf-8")
    assert call("quiet", "set", "night", "all", "--weekly", "daily 22:00-06:00", "--note", "calm") == 0
    assert call("quiet", "remove", "night") == 0
    assert call("shop", "pause", "pdd:s1") == 0


def test_what_is_meant_is_named_once(home: Path) -> None:
    before = state(home)
    for words in (["task", "cancel", "--yes"], ["task", "cancel", "x", "--filter", "status:queued", "--yes"]):
        assert call(*words) == 2
    assert state(home) == before


def test_a_task_that_was_not_done_is_an_exit_code(home: Path) -> None:
    assert call("task", "cancel", "nobody", "--yes") == 1
    engine = assembly.open_engine(config.load(home=home))
    try:
        (ended,) = engine.store.ended(Status.CANCELLED, "", 2**53, 1, "").tasks
    finally:
        engine.close()
    assert call("task", "run-now", ended.task_id) == 1


@pytest.mark.parametrize("empty", [("--at", ""), ("--at=",)])
def test_an_option_that_a_script_left_empty_is_not_left_out(home: Path, empty: tuple[str, ...]) -> None:
    """It would start at once what was meant for later."""
    before = state(home)
    words = ("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "other", "--payload", "{}")
    assert call(*words, *empty) == 2
    assert state(home) == before
    assert call(*words) == 0


def test_what_was_put_away_is_not_meant_unless_it_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    for verb, number in (("archive", 2), ("ignore", 2), ("republish", 2), ("restore", 4)):
        assert call("dead", verb, "--filter", "kind:timeout", "--dry-run", "--json") == 0
        assert json.loads(capsys.readouterr().out)["count"] == number
