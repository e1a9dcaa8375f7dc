"""Homes of shops on the command line."""

from __future__ import annotations

from pathlib import Path

from services.clock import SystemClock
from services.domain.change import Claim
from services.domain.fleet.worker import WorkerInfo
from services.store.sqlite.store import EmbeddedStore
from tests.integration.cli_rig import Cli, configure


def test_a_shop_is_moved_to_a_node_that_is_known(tmp_path: Path) -> None:
    configure(tmp_path / "home")
    cli = Cli(tmp_path / "home")
    (task_id,) = cli.run("task", "create", "--shop", "pdd:s1", "--type", "work")["created"]
    assert cli.run("shop", "show", "pdd:s1")["shop"]["home"] == ""
    store = EmbeddedStore(cli.home / "local.sqlite", SystemClock())
    store.put_home("pdd:s1", "desk")
    store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, node="hall"))
    store.apply([Claim(task_id=task_id, gen=0, attempt=0, owner="w1#1", worker="w1", lease_ms=1000, home="hall")])
    store.close()

    assert cli.run("worker", "list")["workers"][0]["node"] == "hall"
    assert cli.run("shop", "show", "pdd:s1")["shop"]["home"] == "desk"
    shown = cli.run("task", "show", task_id)
    assert [gate["code"] for gate in shown["gates"] if gate["state"] == "closed"] == ["gate.home_gone"]
    assert shown["task"]["gate"] == "home_node:desk"
    assert "doctor.home_silent" in {one["code"] for one in cli.run("doctor", code=1)["findings"]}

    refused = cli.run("shop", "move", "pdd:s1", "--node", "attic", code=2)
    assert "known are: desk, hall" in refused["error"]
    assert refused["field"] == "node"
    moved = cli.run("shop", "move", "pdd:s1", "--node", "hall")
    assert (moved["moved"]["before"], moved["moved"]["node"], moved["moved"]["tasks"]) == ("desk", "hall", 1)
    assert cli.run("shop", "move", "s1", "--node", "attic", "--force")["moved"]["before"] == "hall"
    assert cli.run("task", "show", task_id)["task"]["gen"] == 1
    told = [one["outcome"] for one in cli.run("audit", "list")["entries"] if one["action"] == "shop.move"]
    assert told == ["done: 0 tasks moved", "done: 1 tasks moved"]
