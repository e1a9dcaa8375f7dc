"""``promise``: what is promised of the work of shops, on the command line."""

from __future__ import annotations

import pytest

from tests.integration.cli_rig import Cli

AGE = ("--type", "sync_order", "--platform", "pdd", "--never-older-than", "60m")


def test_one_is_made_listed_shown_changed_and_taken_away(cli: Cli) -> None:
    cli.run("task", "create", "--shop", "pdd:s1", "--type", "sync_order")
    assert cli.run("promise", "list")["promises"] == []
    assert "there are no promises" in cli.call("promise", "list").stdout
    made = cli.run("promise", "set", "orders", *AGE, "--owner", "ann", "--note", "the platform asks for it")
    assert (made["replaced"], made["promise"]["version"]) == (False, 1)
    (row,) = cli.run("promise", "list")["promises"]
    assert (row["name"], row["limit_s"], row["platforms"], row["owner"]) == ("orders", 3600, ["pdd"], "ann")
    assert row["promise"] == "sync_order never older than 60 min, every shop of pdd"
    assert "sync_order never older than 60 min" in cli.call("promise", "show", "orders").stdout
    words = ("--type", "sync_order", "--all", "--by", "08:00", "--days", "mon-fri")
    again = cli.run("promise", "set", "orders", *words)
    assert (again["replaced"], again["promise"]["version"]) == (True, 2)
    assert again["promise"]["promise"] == "sync_order done by 08:00, every shop, on mon-fri"
    assert again["promise"]["created_at"] == row["created_at"]
    assert cli.run("promise", "disable", "orders") == {"name": "orders", "enabled": False, "changed": True}
    assert cli.run("promise", "disable", "orders")["changed"] is False
    assert cli.run("promise", "show", "orders")["enabled"] is False
    assert cli.run("promise", "enable", "orders")["changed"] is True
    assert cli.run("promise", "remove", "orders", "--note", "done") == {"removed": "orders", "was_set": True}
    assert cli.run("promise", "list")["promises"] == []
    fresh = cli.run("promise", "set", "orders", *AGE)
    assert fresh["promise"]["version"] == 5  # what it was before is kept under its versions
    acts = [one["action"] for one in cli.run("audit", "list", "--limit", "20")["entries"]]
    assert {"promise.set", "promise.enable", "promise.remove"} <= set(acts)


def test_a_dry_run_says_how_it_would_stand_and_keeps_nothing(cli: Cli) -> None:
    sheet = cli.home.parent / "shops.csv"
    sheet.write_text("platform,shop_id\npdd,s1\n", encoding="utf-8")
    cli.run("shop", "import", sheet)
    cli.run("task", "create", "--shop", "pdd:s1", "--type", "sync_order")
    found = cli.run("promise", "set", "orders", *AGE, "--dry-run")["dry_run"]
    assert (found["state"], found["total"], found["not_due"]) == ("not_due", 1, 1)  # it never ran, and is promised now
    goods = ("promise", "set", "goods", "--type", "sync_order", "--all", "--from", "00:00", "--by", "24:00")
    found = cli.run(*goods, "--dry-run")["dry_run"]
    assert (found["state"], found["at_risk"]) == ("at_risk", 1)
    (shop,) = found["shops"]
    assert shop["checks"] == {"created": "passed", "gates": "passed", "login": "passed", "worker": "holds", "page": ""}
    assert (shop["held_by"], shop["verb"]) == ("no worker is heard of", "start_worker")
    assert (found["causes"][0]["shops"], found["causes"][0]["named"]) == (1, ["pdd:s1"])
    told = cli.call(*goods, "--dry-run").stdout
    assert "if this were kept:" in told
    assert "no worker is heard of" in told
    assert "Of 1 shop it is not known how it stood before" in told
    assert found["before"] == {"known": True, "breaks": 0, "shops": 0, "last": None, "unknown": 1}
    assert cli.run("promise", "list")["promises"] == []


def test_what_nobody_judges_is_said(cli: Cli) -> None:
    cli.run("task", "create", "--shop", "pdd:s1", "--type", "sync_order")
    cli.run("promise", "set", "orders", *AGE)
    (row,) = cli.run("promise", "list")["promises"]
    assert (row["state"], row["judged_at"]) == ("unjudged", None)
    assert "no worker leads" in cli.call("promise", "list").stdout
    assert "no worker leads" in cli.call("promise", "show", "orders").stdout


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("set", "orders", "--type", "sync_order", "--all"), "limit"),
        (("set", "orders", *AGE, "--by", "08:00"), "limit"),
        (("set", "orders", *AGE, "--from", "07:00"), "from"),
        (("set", "orders", "--type", "sync_order", "--all", "--by", "08:00", "--hours", "07:00-08:00"), "hours"),
        (("set", "orders", "--type", "sync_order", "--never-older-than", "60m"), "shop"),
        (("set", "orders", *AGE, "--all"), "shop"),
        (("show", "orders"), "name"),
        (("enable", "orders"), "name"),
        (("remove", "orders"), "name"),
    ],
)
def test_what_cannot_be_is_wrong_usage(cli: Cli, words: tuple[str, ...], field: str) -> None:
    assert cli.run("promise", *words, code=2)["field"] == field
    assert cli.run("promise", "list")["promises"] == []
