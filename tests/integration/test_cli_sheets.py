"""``task create --file`` with the spreadsheet of an operator, on both pairs of drivers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from services.domain.task.record import Task
from services.domain.task.search.query import Query
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet
from tests.integration.test_cli_republish import cli_words
from tests.support import task_sheets

COUNTS = {"sync_order": 96, "refresh_goods": 99, "single_product": 98}


@pytest.fixture
def shops(fleet: Fleet) -> list[str]:
    """Keys of the shops that are registered."""
    fleet.engine.store.put_shops(task_sheets.shops())
    fleet.engine.broker.ensure(platforms={"pdd", "temu"})
    fleet.engine.registry.forget()
    return sorted(fleet.engine.registry.shops())


@pytest.fixture
def cli(fleet: Fleet) -> Cli:
    """The command line of this fleet."""
    return Cli(fleet.settings.home_path, words=cli_words(fleet))


def tasks(fleet: Fleet) -> list[Task]:
    """All records."""
    return list(fleet.engine.store.query(Query(limit=500)).tasks)


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".jsonl"])
def test_a_file_of_three_types_becomes_what_each_row_says(
    cli: Cli, fleet: Fleet, shops: list[str], tmp_path: Path, ending: str
) -> None:
    good = task_sheets.rows(shops)
    path = task_sheets.write(tmp_path / f"tasks{ending}", task_sheets.spoilt(good))
    first = 1 if ending == ".jsonl" else 2
    bad = [(row - 2 + first, task_sheets.HEADER[column]) for row, column, _value in task_sheets.BAD]

    told = cli.run("task", "create", "--file", path, "--dry-run", code=2)
    assert told["mapping"] == dict(
        zip(task_sheets.HEADER, ("platform", "shop", "type", "priority", "payload"), strict=True)
    )
    assert (told["rows"], told["tasks"], told["bad_rows"], told["types"]) == (300, 293, 7, COUNTS)
    assert [(one["row"], one["column"]) for one in told["bad"]] == bad
    assert all(one["reason"] for one in told["bad"])
    assert cli.run("task", "create", "--file", path, code=2)["created"] == []
    assert tasks(fleet) == [], "one bad row keeps all from being created"

    done = cli.run("task", "create", "--file", path, "--skip-bad", code=2)
    assert len(done["created"]) == 293
    made = tasks(fleet)
    assert Counter(task.task_type for task in made) == COUNTS
    wanted = []
    left_out = {row for row, _column in bad}
    for number, (_platform, shop_id, _kind, priority, _payload) in enumerate(good):
        if number + first in left_out:
            continue
        kind = task_sheets.TYPES[number % 3]
        lane = {"sync_order": 6, "refresh_goods": 2, "single_product": 10}[kind]
        level = {"高": 10, "普通": 6, "低": 2, "9": 9, 5: 5, "": lane}[priority]  # type: ignore[index]
        payload = {"goods_id": f"G{number:04}"} if kind == "single_product" else {"page_size": 10 + number % 50}
        wanted.append((shop_id, kind, level, json.dumps(payload)))
    found = [(task.shop_id, task.task_type, task.priority, json.dumps(json.loads(task.payload))) for task in made]
    assert Counter(found) == Counter(wanted)
    assert {task.origin for task in made} == {"file"}


def test_columns_are_named_by_the_person_and_what_is_ignored_is_said(
    cli: Cli, fleet: Fleet, shops: list[str], tmp_path: Path
) -> None:
    platform, _, shop_id = shops[0].partition(":")
    header = ("商家", "号", "活儿", "备注", "n", "说法")
    path = task_sheets.write(tmp_path / "a.csv", [[platform, shop_id, "同步订单", "x", 20, "y"]], header)
    words = ("task", "create", "--file", path)
    assert cli.run(*words, "--map", "号=colour", code=2)["field"] == "--map"
    maps = [word for one in ("商家=平台", "号=shop", "活儿=type", "n=payload.page_size") for word in ("--map", one)]
    said = cli.call(*words, *maps, "--dry-run").stdout
    assert "column 商家 is platform" in said
    assert "column 备注 is ignored: a note for people" in said
    assert "column 说法 is ignored: not known" in said
    assert "1 task of sync_order" in said
    (task_id,) = cli.run(*words, *maps, "--priority", "low")["created"]
    (task,) = fleet.engine.store.get([task_id])
    assert task is not None
    assert (task.payload, task.priority) == ('{"page_size":20}', 2)


def test_every_bad_row_is_printed_for_a_person(cli: Cli, shops: list[str], tmp_path: Path) -> None:
    path = task_sheets.write(tmp_path / "a.csv", task_sheets.spoilt(task_sheets.rows(shops)))
    done = cli.call("task", "create", "--file", path)
    assert done.returncode == 2
    for row, column, _value in task_sheets.BAD:
        assert any(line.startswith(f"row {row}: {task_sheets.HEADER[column]}") for line in done.stdout.splitlines()), (
            done.stdout
        )
    assert "nothing was created" in done.stdout


def test_one_of_a_kind_is_told_as_one(cli: Cli, shops: list[str], tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("today's work,\n\nshop,type\npdd:s1,sync_order\n", encoding="utf-8")
    said = cli.call("task", "create", "--file", path, "--dry-run", "--allow-unknown").stdout.splitlines()
    assert {
        "1 line above the header is not read",
        "1 task of sync_order",
        "1 task would be created; nothing was created",
    } <= set(said)


def test_what_waits_for_a_bad_row_is_bad_too(cli: Cli, fleet: Fleet, tmp_path: Path) -> None:
    rows = [["a", "pdd:s1", "sync_order", "", "page_size=0"], ["b", "pdd:s2", "sync_order", "a", ""]]
    path = task_sheets.write(tmp_path / "a.csv", rows, ("key", "shop", "type", "depends_on", "参数"))
    told = cli.run("task", "create", "--file", path, "--skip-bad", code=2)
    assert [(one["row"], one["column"]) for one in told["bad"]] == [(2, "参数"), (3, "depends_on")]
    assert tasks(fleet) == []


def test_rows_come_after_what_is_open_of_a_type(cli: Cli, fleet: Fleet, tmp_path: Path) -> None:
    """In the store, in the same file, for the same shop; a shop that has none waits for nothing, and is counted."""
    (first,) = cli.run("task", "create", "--shop", "pdd:s1", "--type", "sync_order")["created"]
    rows = [["pdd:s1", "refresh_goods", "同步订单"], ["pdd:s2", "refresh_goods", "sync_order"]]
    rows += [["pdd:s3", "refresh_goods", "sync_order"], ["pdd:s3", "sync_order", ""]]
    path = task_sheets.write(tmp_path / "a.csv", rows, ("shop", "type", "after"))
    counted = [{"type": "sync_order", "waiting": 2, "tasks": 2, "free": 1}]
    told = cli.run("task", "create", "--file", path, "--dry-run")
    assert (told["after"], told["tasks"]) == (counted, 4)
    said = cli.call("task", "create", "--file", path, "--dry-run").stdout
    assert "after sync_order: 2 wait for 2 tasks, 1 has none open" in said
    assert cli.run("task", "create", "--file", path)["after"] == counted
    made = {(task.shop_id, task.task_type): task for task in tasks(fleet)}
    assert made["s1", "refresh_goods"].depends_on == (first,)
    assert made["s2", "refresh_goods"].depends_on == ()
    assert made["s3", "refresh_goods"].depends_on == (made["s3", "sync_order"].task_id,)

    one = cli.run("task", "create", "--shop", "pdd:s1,pdd:s2", "--type", "single_product", "--after", "refresh_goods",
                  "--payload", '{"goods_id": "G1"}')  # fmt: skip
    assert one["after"] == [{"type": "refresh_goods", "waiting": 2, "tasks": 2, "free": 0}]
    circle = [["pdd:s4", "refresh_goods", "sync_order"], ["pdd:s4", "sync_order", "refresh_goods"]]
    path = task_sheets.write(tmp_path / "b.csv", circle, ("shop", "type", "after"))
    bad = cli.run("task", "create", "--file", path, code=2)["bad"]
    assert [(fault["row"], fault["column"], "is a circle" in fault["reason"]) for fault in bad] == [
        (2, "after", True),
        (3, "after", True),
    ]


def test_rows_that_are_active_already_are_told_before_anything_is_created(
    cli: Cli, fleet: Fleet, tmp_path: Path
) -> None:
    header, rows = ("shop", "type"), [["pdd:s1", "sync_order"], ["pdd:s2", "sync_order"], ["pdd:s3", "sync_order"]]
    (first,) = cli.run("task", "create", "--file", task_sheets.write(tmp_path / "a.csv", rows[1:2], header))["created"]
    path = task_sheets.write(tmp_path / "b.csv", [*rows, rows[1]], header)
    words = ("task", "create", "--file", path)

    told = cli.run(*words, "--dry-run", code=1)
    assert (told["tasks"], told["created"], told["duplicates"]) == (2, [], [])
    status = told["active"][0].pop("status")
    assert told["active"] == [{"row": 3, "shop": "pdd:s2", "type": "sync_order", "existing": first}]
    assert (told["repeated"][0]["row"], told["repeated"][0]["reason"]) == (5, f"active already ({status}): {first}")
    said = cli.call(*words, "--dry-run").stdout
    assert "1 row is the same work as tasks that wait or run: left out" in said
    assert f"row 3: 'pdd:s2 sync_order': active already ({status}): {first}" in said
    assert "2 tasks would be created" in said
    queued = cli.call(*words, "--dry-run", "--if-duplicate", "queue").stdout
    assert "created to run after those" in queued
    assert "4 tasks would be created" in queued
    assert len(tasks(fleet)) == 1

    done = cli.call(*words)
    assert done.returncode == 1
    assert "1 row is the same work as tasks that wait or run: left out" in done.stdout
    assert done.stdout.count(first) == 2, "once as the row that is left out, once for the row that repeats it"
    assert len(tasks(fleet)) == 3
    assert cli.run("stats")["duplicates"]["refused"] == 1, "the guard keeps its account"
