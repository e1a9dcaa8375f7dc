"""``queue pause|resume`` and orders to workers, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from services.domain.fleet.worker import BrowserState, WorkerInfo
from services.store.sqlite.store import EmbeddedStore
from tests.integration.cli_rig import Cli


class Slow:
    """A clock two minutes behind: what it dates is old already."""

    def now_ms(self) -> int:
        from services.clock import SystemClock

        return SystemClock().now_ms() - 120_000

    def monotonic(self) -> float:
        return 0.0


def test_a_platform_and_a_type_are_held_and_released(cli: Cli) -> None:
    (task_id,) = cli.run("task", "create", "--shop", "pdd:s1", "--type", "work")["created"]
    (other,) = cli.run("task", "create", "--shop", "temu:s1", "--type", "work")["created"]
    paused = cli.run("queue", "pause", "platform:pdd", "--note", "maintenance", "--yes")
    assert (paused["paused"], paused["waiting"], paused["warnings"]) == ("platform:pdd", 1, [])
    assert "did you mean type:sync_order?" in cli.run("queue", "pause", "type:sync_oder", "--yes")["warnings"][0]
    cli.drain()
    assert cli.run("task", "show", other)["task"]["status"] == "succeeded"
    shown = cli.run("task", "show", task_id)
    assert [gate["params"]["reason"] for gate in shown["gates"] if gate["state"] == "closed"] == ["maintenance"]
    scopes = {one["scope"]: one["reason"] for one in cli.run("queue", "list")["pauses"]}
    assert scopes == {"platform:pdd": "maintenance", "type:sync_oder": ""}
    assert "paused: platform:pdd" in cli.call("queue", "list").stdout
    resumed = cli.run("queue", "resume", "platform:pdd", "--yes")
    assert (resumed["was_paused"], resumed["still_paused"]) == (True, ["type:sync_oder"])
    assert cli.run("queue", "resume", "platform:pdd")["was_paused"] is False
    cli.drain()
    assert cli.run("task", "show", task_id)["task"]["status"] == "succeeded"


def test_the_list_names_every_gate_that_is_closed_for_a_scope(cli: Cli) -> None:
    cli.run("task", "create", "--shop", "temu:s1", "--type", "work")
    cli.run("quiet", "set", "sale", "platform:temu", "--once", "now", "2h", "--note", "stock-taking")
    cli.run("shop", "session", "close", "temu:s1", "--kind", "captcha", "--note", "asks for a picture")
    listed = cli.run("queue", "list")
    assert [(one["gate"], one["scope"], one["reason"]) for one in listed["closed"]] == [
        ("quiet_hours", "platform:temu", "stock-taking"),
        ("session", "shop:temu:s1", "asks for a picture"),
    ]
    assert listed["closed"][0]["until"]
    assert listed["pauses"] == []
    told = cli.call("queue", "list").stdout
    assert "quiet hours: platform:temu by " in told
    assert "needs login: shop:temu:s1 by " in told


def test_a_silent_worker_is_shown_as_such_and_told_with_a_warning(cli: Cli) -> None:
    cli.run("stats")
    store = EmbeddedStore(cli.home / "local.sqlite", Slow())  # type: ignore[arg-type]
    browser = BrowserState(shop="pdd:s1", profile="pdd_s1", state="lent", since=store.now_ms(), uses=1, port=9222)
    store.heartbeat(WorkerInfo(worker="desk-1", host="h", pid=1, browsers=2, pool=(browser,)))
    store.close()
    (worker,) = cli.run("worker", "list")["workers"]
    assert worker["silent"] is True
    shown = cli.call("worker", "show", "desk").stdout
    assert "pdd:s1: lent for 0.0 s, used 1 time, port 9222, profile pdd_s1" in shown
    assert "2 browsers, among them" in shown
    assert cli.run("worker", "show", "desk-1")["worker"]["pool"] == worker["pool"]
    told = cli.run("worker", "drain", "desk")
    assert (told["worker"], told["order"]) == ("desk-1", "drain")
    assert "is silent" in told["warnings"][0]
    assert cli.run("worker", "stop", "--all", code=2)["error"] == "no worker is alive"


def test_a_queue_is_emptied_after_an_export_and_by_its_typed_name(cli: Cli, tmp_path: Path) -> None:
    (task_id,) = cli.run("task", "create", "--shop", "pdd:s1", "--type", "work", "--priority", "low")["created"]
    seen = cli.run("queue", "peek", "low")
    assert ([one["task_id"] for one in seen["tasks"]], seen["queue"]) == ([task_id], "rpa_tasks_low")
    file = tmp_path / "low.jsonl"
    for words in (("--confirm", "rpa_tasks_low"), ("--export", file), ("--export", file, "--confirm", "low")):
        assert cli.call("queue", "purge", "low", *words).returncode == 2
        assert not file.exists()
    done = cli.run("queue", "purge", "low", "--export", file, "--confirm", "rpa_tasks_low", "--reason", "wrong prices")
    assert (done["done"], done["file"]) == ([task_id], str(file))
    assert json.loads(file.read_text(encoding="utf-8"))["task"]["task_id"] == task_id
    assert cli.run("task", "show", task_id)["task"]["reason"] == "wrong prices"
    again = cli.call("queue", "purge", "low", "--export", file, "--confirm", "rpa_tasks_low")
    assert "is there already" in again.stderr
    assert cli.call("queue", "peek", "low").stdout.strip() == "nothing waits in rpa_tasks_low"
