"""``quiet``: hours in which nothing starts, on the command line."""

from __future__ import annotations

import pytest

from tests.integration.cli_rig import Cli


def test_a_platform_is_quiet_and_what_waited_goes_on_when_that_is_over(cli: Cli) -> None:
    (task_id,) = cli.run("task", "create", "--shop", "temu:s1", "--type", "work")["created"]
    (other,) = cli.run("task", "create", "--shop", "pdd:s1", "--type", "work")["created"]
    made = cli.run("quiet", "set", "sale", "platform:temu", "--once", "now", "2h", "--note", "stock-taking")
    assert made["replaced"] is False
    assert (made["quiet_hours"]["state"], made["quiet_hours"]["scope"]) == ("open", "platform:temu")
    cli.drain()
    assert cli.run("task", "show", other)["task"]["status"] == "succeeded"
    shown = cli.run("task", "show", task_id)
    (closed,) = [gate for gate in shown["gates"] if gate["state"] == "closed"]
    assert (closed["gate"] if "gate" in closed else closed["name"]) == "quiet_hours"
    assert closed["params"]["reason"] == "stock-taking"
    assert "Quiet hours until " in cli.call("task", "show", task_id).stdout
    (listed,) = cli.run("task", "list", "--filter", "gate:quiet_hours")["tasks"]
    assert listed["task_id"] == task_id
    assert cli.run("stats")["gates"] == {"quiet_hours": 1}
    assert "in quiet hours" in cli.call("stats").stdout
    assert "Quiet hours until " in cli.call("doctor").stdout
    removed = cli.run("quiet", "remove", "sale", "--note", "done")
    assert removed == {"removed": "sale", "was_set": True}
    cli.drain()
    assert cli.run("task", "show", task_id)["task"]["status"] == "succeeded"


def test_they_are_listed_shown_and_replaced(cli: Cli) -> None:
    assert cli.run("quiet", "list")["quiet_hours"] == []
    assert "there are no quiet hours" in cli.call("quiet", "list").stdout
    words = ("quiet", "set", "night", "all", "--weekly", "mon-fri 22:00-06:00", "--weekly", "sat,sun 00:00-24:00")
    cli.run(*words, "--note", "risk control")
    (row,) = cli.run("quiet", "list")["quiet_hours"]
    assert row["when"] == ["mon,tue,wed,thu,fri 22:00-06:00", "sat,sun 00:00-24:00"]
    assert (row["name"], row["scope"], row["reason"]) == ("night", "all", "risk control")
    assert row == cli.run("quiet", "show", "night")
    assert "reason: risk control" in cli.call("quiet", "show", "night").stdout
    again = cli.run("quiet", "set", "night", "type:work", "--weekly", "daily 12:00-13:00", "--note", "lunch")
    assert again["replaced"] is True
    assert [one["scope"] for one in cli.run("quiet", "list")["quiet_hours"]] == ["type:work"]


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("set", "night", "lane:high", "--weekly", "daily 12:00-13:00", "--note", "x"), "scope"),
        (("set", "night", "all", "--weekly", "at night", "--note", "x"), "when"),
        (("set", "night", "all", "--note", "x"), "when"),
        (("set", "night", "all", "--weekly", "daily 12:00-13:00", "--note", " "), "reason"),
        (("show", "night"), "name"),
        (("remove", "night"), "name"),
    ],
)
def test_what_cannot_be_is_wrong_usage(cli: Cli, words: tuple[str, ...], field: str) -> None:
    document = cli.run("quiet", *words, code=2)
    assert document["field"] == field
    assert cli.run("quiet", "list")["quiet_hours"] == []


def test_a_fleet_whose_time_zone_nobody_has_set_calls_it_by_one_name(cli: Cli) -> None:
    cli.environment["TZ"] = "Etc/UTC"
    told = {cli.run(noun, "list")["time_zone"] for noun in ("quiet", "promise", "schedule")}
    assert told == {"UTC"}


def test_those_of_a_day_far_ahead_wait_and_say_when(cli: Cli) -> None:
    words = ("quiet", "set", "sale", "platform:pdd", "--note", "spring sale", "--once")
    told = cli.call(*words, "2099-03-27T22:00+00:00", "2099-03-28T06:00+00:00").stdout
    assert "waits, from 2099-03-2" in told
    (row,) = cli.run("quiet", "list")["quiet_hours"]
    assert row["state"] == "waits"
    assert row["from"]
    assert row["until"]


def test_a_shop_that_nobody_knows_is_doubted(cli: Cli) -> None:
    cli.run("task", "create", "--shop", "pdd:s1", "--type", "work")
    words = ("--once", "now", "2h", "--note", "stock-taking")
    assert cli.run("quiet", "set", "one", "shop:pdd:s1", *words)["warnings"] == []
    (told,) = cli.run("quiet", "set", "two", "shop:pdd:S1", *words)["warnings"]
    assert "nothing is known of shop:pdd:S1" in told
    assert "shop:pdd:s1" in told.removeprefix("nothing is known of shop:pdd:S1")


def test_they_begin_now_and_end_when_the_clocks_of_the_fleet_show_a_time(cli: Cli) -> None:
    cli.run("schedule", "zone", "Asia/Tokyo")
    made = cli.run("quiet", "set", "sale", "platform:pdd", "--once", "now", "06:00", "--note", "stock-taking")
    assert made["quiet_hours"]["state"] == "open"
    assert made["quiet_hours"]["until"].endswith("T06:00:00+09:00")
    assert cli.run("quiet", "set", "x", "all", "--once", "now", "26:00", "--note", "x", code=2)["field"] == "when"
