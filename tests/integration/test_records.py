"""``export`` and ``import``: from one machine to another, and on both pairs."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from services import assembly
from services.domain.errors import NotAllowed
from services.domain.task.record import Task
from services.engine import recipe
from services.ports import Letter
from tests.integration.cli_rig import Cli, configure
from tests.integration.fleet_rig import Fleet


def test_what_is_left_moves_to_another_machine(tmp_path: Path) -> None:
    for name in ("old", "new"):
        configure(tmp_path / name)
    old, new = Cli(tmp_path / "old"), Cli(tmp_path / "new")
    rows = [
        {"platform": "pdd", "shop": "s1", "type": "work", "payload": {"fail": "missing_secret"}},
        {"platform": "pdd", "shop": "s2", "type": "work"},
        {"platform": "pdd", "shop": "s3", "type": "work", "delay": 3600},
    ]
    table = tmp_path / "tasks.jsonl"
    table.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    dead, done, plan = old.run("task", "create", "--file", table, "--allow-unknown")["created"]
    old.drain()
    (waits,) = old.run("task", "create", "--shop", "pdd:s4", "--type", "work", "--priority", "9")["created"]
    out = tmp_path / "all.jsonl"
    assert old.run("export", "--out", out)["exported"] == 4
    printed = old.call("export", "--filter", "status:dead").stdout
    assert json.loads(printed)["letter"]["task_id"] == dead

    preview = new.run("import", out, "--dry-run")
    assert (preview["count"], sum(preview["left_out"].values())) == (3, 1)
    taken = new.run("import", out, "--yes")
    assert sorted(taken["done"]) == sorted([dead, plan, waits])
    assert [(one["id"], one["code"]) for one in taken["skipped"]] == [(done, "import.history")]
    again = new.run("import", out, "--dry-run")
    assert (again["count"], sum(again["left_out"].values())) == (0, 4)
    assert any("here already" in why for why in again["left_out"])
    assert not old.run("import", out, "--yes")["done"], "all of it is there: nothing failed"
    other = tmp_path / "other.jsonl"
    other.write_text(out.read_text(encoding="utf-8").replace('"shop_id":"s4"', '"shop_id":"s5"'), encoding="utf-8")
    clash = new.run("import", other, "--yes", code=1)
    assert {one["id"]: one["code"] for one in clash["skipped"]}[waits] == "import.differs"
    letter = new.run("dead", "show", dead)
    assert (letter["task"]["error_kind"], len(letter["attempts"])) == ("missing_secret", 1)
    assert json.loads(letter["message"]["body"])["task_id"] == dead
    assert new.run("stats")["status"] == {"dead": 1, "queued": 1, "scheduled": 1}


def test_records_are_taken_over_on_this_pair(fleet: Fleet, tmp_path: Path) -> None:
    worker = fleet.worker()
    fleet.steward()
    failed = fleet.wait(fleet.create(fail="missing_secret", text="the secret desk is missing"), "dead")
    worker.stop(0.0)
    waiting = fleet.task(fleet.create("s2"))
    letter = Letter(task_id="imported_dead", body=b"\xff")
    moved = [
        type(failed)(**{name: getattr(task, name) for name in task.__struct_fields__} | {"task_id": name_, "uniq": ""})
        for task, name_ in ((failed, "imported_dead"), (waiting, "imported_waiting"))
    ]
    fleet.commands().tasks.cancel([waiting.task_id])
    outcome = fleet.commands().records.import_records(moved, {letter.task_id: letter})
    assert outcome.done == ("imported_dead", "imported_waiting")
    again = fleet.commands().records.import_records([*moved, fleet.task(waiting.task_id)], {})
    assert [one.why.code for one in again.skipped] == ["import.exists"] * 3
    dead = fleet.task("imported_dead")
    assert (dead.status, dead.triage, dead.error, dead.attempts) == ("dead", "open", failed.error, failed.attempts)
    stored = fleet.engine.store.get_letter("imported_dead")
    assert stored is not None
    assert stored.body == b"\xff"
    assert fleet.engine.store.counts().triage["open"] == 2
    fleet.worker()
    assert fleet.wait("imported_waiting", "succeeded").origin == "import"
    done = fleet.commands().dead_letters.republish(["imported_dead"], payload={"n": 1})
    assert fleet.wait(done.made["imported_dead"], "succeeded").parent == "imported_dead"


def test_a_story_longer_than_any_of_ours_stays_readable(fleet: Fleet) -> None:
    fleet.worker()
    fleet.steward()
    failed = fleet.wait(fleet.create(fail="missing_secret"), "dead")
    long = {"steps": failed.steps * 100, "attempts": failed.attempts * 300}
    moved = [msgspec.structs.replace(failed, task_id=name, uniq="", **long) for name in ("one", "two")]
    assert fleet.commands().records.import_records(moved, {}).done == ("one", "two")
    assert fleet.task("one").attempts == failed.attempts * 30
    done = fleet.commands().dead_letters.republish(["one"], payload={})
    assert fleet.wait(done.made["one"], "succeeded").parent == "one"


def test_what_no_worker_could_read_is_not_taken_over(fleet: Fleet) -> None:
    deep = '{"a":' * 100 + "1" + "}" * 100
    large = json.dumps({"a": "x" * recipe.MAX_PAYLOAD})
    base = Task(task_id="", platform="pdd", shop_id="s1", task_type="work", status="queued")
    moved = [msgspec.structs.replace(base, task_id=f"t{n}", payload=text) for n, text in enumerate((deep, large))]
    moved.append(msgspec.structs.replace(base, task_id="t2", payload="{}", created_at=1))
    good = msgspec.structs.replace(base, task_id="t3", payload=json.dumps({"rows": [{"n": n} for n in range(100)]}))
    outcome = fleet.commands().records.import_records([*moved, good], {})
    assert [(one.task_id, one.why.code) for one in outcome.skipped] == [(f"t{n}", "import.bad") for n in range(3)]
    assert outcome.done == ("t3",)
    fleet.worker()
    fleet.wait("t3", "succeeded")


def test_only_an_admin_takes_records_over(fleet: Fleet) -> None:
    who = fleet.commands().operator.who
    fleet.engine.store.put_document("role", who, '{"role": "operator"}')
    with pytest.raises(NotAllowed):
        assembly.commands(fleet.engine).records.import_records([], {})
