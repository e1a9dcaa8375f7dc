"""``dead republish`` over many: preview, probes, pace, Ctrl-C, once more; and the same bulk on both pairs."""

from __future__ import annotations

import json
import signal
import sys

import pytest

from services.commands.bulk.republish import Options
from services.domain.change import Create
from services.domain.fleet.shop import Pause
from services.domain.task.record import Task
from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli, eventually_ended
from tests.integration.fleet_rig import HANDLERS, Fleet

FAILS = {"fail": "missing_secret", "text": "the secret desk/password is missing"}


def dead_ones(cli: Cli, count: int) -> list[str]:
    """As many dead letters, each of another shop."""
    table = cli.home / "tasks.jsonl"
    rows = [
        {"platform": "pdd", "shop": f"s{number}", "type": "work", "payload": FAILS | {"n": number}}
        for number in range(count)
    ]
    table.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    ids = cli.run("task", "create", "--file", table, "--allow-unknown")["created"]
    cli.drain()
    assert cli.run("stats")["dead_open"] == count
    return list(ids)


def test_a_dry_run_counts_and_changes_nothing(cli: Cli) -> None:
    ids = dead_ones(cli, 3)
    cli.run("shop", "pause", "pdd:s1")
    again = cli.run("dead", "republish", ids[2])["created"][ids[2]]
    preview = cli.run("dead", "republish", *ids, "--dry-run", "--rate", 30)
    assert preview["dry_run"] is True
    assert preview["states"] == {"ready": 1, "paused": 1, "gone": 1}
    assert preview["shops"] == {"pdd:s0": 1, "pdd:s1": 1}
    assert (preview["types"], preview["platforms"], preview["seconds"]) == ({"work": 2}, {"pdd": 2}, 2)
    (gone,) = [item for item in preview["items"] if item["state"] == "gone"]
    assert (gone["id"], gone["code"]) == (ids[2], "dead.already")
    assert again in gone["reason"]
    people = cli.call("dead", "republish", "--filter", "type:work", "--dry-run")
    assert people.returncode == 0
    assert "2 dead letters" in people.stdout
    assert "paused" in people.stdout
    assert cli.run("stats")["dead_open"] == 2


def test_probes_that_fail_again_leave_the_rest_dead(cli: Cli) -> None:
    ids = dead_ones(cli, 5)
    with cli.start("worker", "--handlers", HANDLERS):
        done = cli.run("dead", "republish", "--filter", "kind:missing_secret", "--probe", 2, "--yes", code=1)
    assert (len(done["done"]), len(done["left"])) == (2, 3)
    assert done["stopped"]["code"] == "bulk.probe_same"
    assert any(probe["same_failure"] for probe in done["probes"])
    assert set(done["left"]) < set(ids)
    assert all(cli.run("task", "show", task_id)["task"]["triage"] == "open" for task_id in done["left"])


def test_ctrl_c_leaves_the_rest_dead_and_the_same_words_go_on(cli: Cli) -> None:
    ids = dead_ones(cli, 4)
    words = ("dead", "republish", "--filter", "status:dead", "--rate", "3", "--yes")
    with cli.start(*words) as process:
        eventually(lambda: cli.run("stats")["dead_open"] < 4, 60)
        process.send_signal(signal.SIGINT)
        assert eventually_ended(process) == 1
    told = (cli.home / "stderr.txt").read_text(encoding="utf-8")
    assert "republish: 1 of 4 sent" in told
    assert "Traceback" not in told
    left = cli.run("stats")["dead_open"]
    assert 0 < left < 4
    entry = cli.run("audit", "list", "--limit", 1)["entries"][0]
    assert entry["outcome"].endswith("bulk.stopped")
    done = cli.run("dead", "republish", *ids, "--yes", code=1)
    assert (len(done["done"]), len(done["skipped"])) == (left, 4 - left)
    assert {one["code"] for one in done["skipped"]} == {"dead.already"}
    assert cli.run("stats")["dead_open"] == 0


def test_people_read_how_far_it_is_and_json_stays_clean(cli: Cli) -> None:
    dead_ones(cli, 2)
    done = cli.call("dead", "republish", "--filter", "shop:s0", "--rate", "600", "--yes")
    assert (done.returncode, "republish: 1 of 1 sent" in done.stderr) == (0, True)
    done = cli.call("dead", "republish", "--filter", "shop:s1", "--rate", "600", "--yes", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["stopped"] is None


# ----------------------------------------------------------------------------------------------------------- both pairs
def failed(fleet: Fleet, count: int) -> list[str]:
    """Dead letters of as many shops; the worker stays."""
    specs = [
        TaskSpec(platform="pdd", shop_id=f"s{number}", task_type="work", payload=FAILS | {"n": number})
        for number in range(count)
    ]
    ids = [task.task_id for task in fleet.submit(*specs).created]
    assert {task.status for task in fleet.wait_ended(ids)} == {"dead"}
    return ids


def test_a_plan_and_a_run_on_this_pair(fleet: Fleet) -> None:
    fleet.worker()
    fleet.steward()
    ids = failed(fleet, 5)
    bulk = fleet.commands().bulk
    fleet.engine.store.set_pause(Pause(scope="shop:pdd:s4", by="test"))
    assert bulk.plan(ids).states() == {"ready": 4, "paused": 1}
    ended = bulk.run(bulk.plan(ids), Options(probe=1))
    assert ended.why is not None
    assert (ended.why.code, len(ended.left)) == ("bulk.probe_same", 4)
    mended = bulk.plan(ended.left, fields={"fail_first": 0})
    ended = bulk.run(mended, Options(probe=2, rate=6000, skip=frozenset({"paused"})))
    assert (ended.why, len(ended.outcome.done)) == (None, 3)
    assert [one.why.code for one in ended.outcome.skipped] == ["gate.paused_unsaid"]
    fresh = fleet.wait_ended(list(ended.outcome.made.values()))
    assert {task.status for task in fresh} == {"succeeded"}


def test_the_same_work_in_every_state_is_found(fleet: Fleet) -> None:
    worker = fleet.worker()
    ids = failed(fleet, 2)
    worker.stop(0.0)
    payloads = [json.loads(fleet.task(task_id).payload) for task_id in ids]
    waiting = fleet.create("s0", **payloads[0])
    later = fleet.create("s1", delay_s=3600, **payloads[1])
    plan = fleet.commands().bulk.plan(ids)
    assert [(item.state, item.existing, item.existing_status) for item in plan.items] == [
        ("duplicate", waiting, "queued"),
        ("duplicate", later, "scheduled"),
    ]
    ended = fleet.commands().bulk.run(plan)
    assert [one.why.code for one in ended.outcome.skipped] == ["task.duplicate", "task.duplicate"]
    assert len(fleet.commands().bulk.run(plan, Options(if_duplicate="queue")).outcome.done) == 2


if sys.platform == "win32":  # Ctrl-C reaches a process group there, the test itself among it
    del test_ctrl_c_leaves_the_rest_dead_and_the_same_words_go_on


@pytest.mark.fault
def test_kill_9_in_the_middle_of_five_hundred_and_then_go_on(cli: Cli, fleet: Fleet) -> None:
    """FAULTS 8.28: each exactly once, whoever goes on, and the store knows how far it was."""
    store, rig = fleet.engine.store, fleet.commands()
    letters = [
        Task(
            task_id=f"pdd_work_s{number}_x", shop_id=f"s{number}", platform="pdd", task_type="work",
            payload=json.dumps({"n": number}), status="dead", origin="import",
        )
        for number in range(500)
    ]  # fmt: skip
    store.apply([Create(task=task) for task in letters])
    ids = [task.task_id for task in letters]

    def closed() -> int:
        return store.counts().triage.get("republished", 0)

    there = Cli(fleet.settings.home_path, words=cli_words(fleet))
    with there.start("dead", "republish", "--filter", "type:work", "--rate", 12_000, "--yes") as process:
        eventually(lambda: closed() >= 60, 60)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    done = closed()
    assert 60 <= done < 500
    (view,) = rig.bulk.runs()
    assert (view.state, view.entry.total) == ("running", 500)
    run_id, role = view.entry.run_id, f"bulk:{view.entry.run_id}"
    assert store.lead(role, store.leader(role), 3_000)  # its ten seconds are nearly over
    told = there.run("dead", "republish", "--resume", "--yes")
    assert (len(told["done"]), told["skipped"], told["left"], told["stopped"]) == (500, [], [], None)
    made = [fleet.task(task_id).successor for task_id in ids]
    assert len(set(made)) == 500
    assert sum(store.counts().status.values()) == 1000
    (row,) = there.run("dead", "runs")["runs"]
    assert (row["run"], row["state"], row["done"], row["left"]) == (run_id, "done", 500, 0)


def cli_words(fleet: Fleet) -> tuple[str, ...]:
    """How a command finds this fleet."""
    if fleet.settings.embedded:
        return ()
    return ("--broker", fleet.settings.broker.url, "--redis", fleet.settings.store.url)
