"""``schedule`` as people and programs call it, on both pairs: first a look, then kept, run, switched, removed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from services import settings as config
from tests.integration.cli_rig import Cli, configure


@pytest.fixture
def cli(pair: str, place: config.Settings, tmp_path: Path) -> Cli:
    """The command line of an empty fleet with three shops."""
    home = tmp_path / "home"
    configure(home)
    words = () if pair == "embedded" else ("--broker", place.broker.url, "--redis", place.store.url)
    found = Cli(home, words)
    (home / "shops.csv").write_text("platform,shop_id,group\npdd,s1,vip\npdd,s2,\ntemu,s3,vip\n", encoding="utf-8")
    found.run("shop", "import", home / "shops.csv")
    return found


def test_a_schedule_from_the_first_look_to_its_end(cli: Cli) -> None:
    words = ("schedule", "add", "nightly", "--type", "sync_order", "--cron", "30 2 * * *", "--zone", "Europe/Berlin")
    words += ("--group", "vip", "--spread", "20m")
    look = cli.run(*words, "--dry-run")
    assert (look["dry_run"], look["schedule"]["shop_count"], look["warnings"]) == (True, 2, [])
    runs = look["schedule"]["upcoming"]
    assert [instant[10:21] for instant in runs] == ["T02:30:00+0"] * 5
    kept = cli.run(*words)["schedule"]
    assert (kept["upcoming"], kept["zone"], kept["enabled"], kept["last"]) == (runs, "Europe/Berlin", True, None)
    assert cli.run(*words, code=2)["field"] == "name", "a second one of this name has to be meant"

    assert cli.run("schedule", "run", "nightly", "--dry-run")["shops"] == ["pdd:s1", "temu:s3"]
    ran = cli.run("schedule", "run", "nightly", "--yes")["run"]
    assert (ran["created"], ran["active"], ran["failed"]) == (2, 0, 0)
    tasks = cli.run("task", "list", "--filter", f"batch:{ran['label']}")["tasks"]
    assert sorted(f"{task['platform']}:{task['shop_id']}" for task in tasks) == ["pdd:s1", "temu:s3"]

    assert cli.run("schedule", "skip", "nightly") == {"skipped": ["nightly"], "next": {"nightly": runs[1]}}
    assert cli.run("schedule", "disable", "nightly") == {"disabled": ["nightly"], "next": {"nightly": None}}
    shown = cli.run("schedule", "show", "nightly", "--next", 3)["schedule"]
    assert (shown["last"], shown["upcoming"], shown["enabled"]) == (ran, [], False)
    assert cli.run("schedule", "remove", "nightly", "--yes") == {"removed": ["nightly"]}
    assert cli.run("schedule", "list")["schedules"] == []


def test_shops_are_named_with_commas_as_for_tasks(cli: Cli) -> None:
    words = ("schedule", "add", "some", "--type", "sync_order", "--every", "1h", "--dry-run")
    for shops in (("--shop", "pdd:s1, pdd:s2"), ("--shop", "pdd:s1，pdd:s2"), ("--shop", "pdd:s1", "--shop", "pdd:s2")):
        assert cli.run(*words, *shops)["schedule"]["shop_count"] == 2
    assert cli.run(*words, "--platform", "pdd,temu")["schedule"]["shop_count"] == 3
    promised = ("promise", "set", "fresh", "--type", "sync_order", "--never-older-than", "60m", "--dry-run")
    cli.run(*promised, "--shop", "pdd:s1,temu:s3")


def test_an_expression_may_be_written_as_people_say_it(cli: Cli) -> None:
    words = ("schedule", "add", "some", "--type", "sync_order", "--all", "--dry-run")
    assert cli.run(*words, "--cron", "工作日 9点")["schedule"]["cron"] == "0 9 * * 1-5"
    assert cli.run(*words, "--cron", "now and then", code=2)["field"] == "cron"


def test_it_takes_the_types_that_tasks_take(cli: Cli) -> None:
    """Also one that nobody has defined, with the warning that a task has."""
    words = ("--type", "stocktaking", "--shop", "pdd:s1")
    added = cli.run("schedule", "add", "yearly", *words, "--every", "1h")
    (warning,) = added["warnings"]
    assert "nobody has defined the task type 'stocktaking'" in warning
    ran = cli.run("schedule", "run", "yearly", "--yes")["run"]
    assert (ran["created"], ran["failed"]) == (1, 0)
    (task,) = cli.run("task", "list", "--filter", "type:stocktaking")["tasks"]
    assert cli.run("task", "create", *words, code=1)["duplicates"][0]["existing"] == task["task_id"]


def test_for_people(cli: Cli) -> None:
    added = cli.call("schedule", "add", "prices", "--type", "sync_order", "--every", "90m", "--all", "--disabled")
    assert (added.returncode, added.stdout, added.stderr) == (0, "prices: every 90 min for 3 shops\n", "")
    assert cli.call("schedule", "enable", "prices").stdout.startswith("prices: enabled, next run 20")
    assert cli.call("schedule", "zone", "Asia/Shanghai").stdout == "Asia/Shanghai; schedules that follow it: 1\n"
    head, row = cli.call("schedule", "list").stdout.splitlines()
    assert head.split()[:4] == ["name", "type", "when", "shops"]
    assert row.split()[:6] == ["prices", "sync_order", "every", "90", "min", "3"]
    assert "+08:00" in row


def test_missing_runs_are_looked_for_and_made_up_for_once(cli: Cli) -> None:
    cli.run("schedule", "zone", "UTC")
    cron = f"{(datetime.now(UTC).minute + 30) % 60} * * * *"  # none while this runs, however long that takes
    cli.run("schedule", "add", "often", "--type", "sync_order", "--group", "vip", "--cron", cron)
    early = ("schedule", "backfill", "often", "--since", "2020-01-01")
    assert cli.run(*early, "--dry-run", code=2)["field"] == "since"
    nothing = cli.run("schedule", "backfill", "often", "--since", "now", "--until", "now", "--yes", code=2)
    assert nothing["field"] == "until"
    look = cli.run("schedule", "backfill", "often", "--since", "today", "--dry-run")
    assert (look["tasks"], look["runs"]) == (0, []), "it had no runs before it was made"
