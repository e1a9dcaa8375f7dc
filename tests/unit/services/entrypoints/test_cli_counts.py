"""What the verbs of shops say was done, and what was so before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, Any]]


@pytest.mark.parametrize(("shops", "said"), [("pdd,s1\n", "1 shop imported"), ("pdd,s1\npdd,s2\n", "2 shops imported")])
def test_shops_of_a_file_are_counted_as_people_count(shops: str, said: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "shops.csv").write_text(f"platform,shop_id\n{shops}")
    assert run("shop", "import", str(tmp_path / "shops.csv"), people=True) == (0, f"{said}\n")


def test_a_second_pause_is_told_as_one(run: Run) -> None:
    run("task", "create", "--shop", "pdd:s1", "--type", "work")
    for noun, scope in (("shop", "pdd:s1"), ("queue", "platform:pdd")):
        words = (noun, "pause", scope, "--note", "calm", "--yes")
        assert [run(*words)[1]["was_paused"] for _ in range(2)] == [False, True]
        assert f"{scope} was paused already, by " in run(*words, people=True)[1]
        run(noun, "resume", scope, "--yes")
    assert "1 waiting task stays;" in run("queue", "pause", "all", "--yes", people=True)[1]


def test_a_rule_of_alerts_that_nobody_changed_is_set_back_by_no_act(run: Run) -> None:
    assert run("alert", "rule", "reset", "dead_letters")[1]["rule"]["name"] == "dead_letters"
    assert run("audit", "list")[1]["entries"] == []


def test_what_fits_nothing_is_no_act(run: Run) -> None:
    for words in (
        *((("task", verb)) for verb in ("cancel", "retry", "run-now")),
        *((("dead", verb)) for verb in ("republish", "archive", "ignore", "restore")),
    ):
        assert run(*words, "--filter", "shop:nobody", "--yes")[0] == 0
    assert run("audit", "list")[1]["entries"] == []


def test_a_queue_of_its_own_is_told_as_new_once(run: Run, tmp_path: Path) -> None:
    run("task", "create", "--shop", "pdd:s1", "--type", "work")
    given, again = (run("shop", "dedicate", "pdd:s1") for _ in range(2))
    assert [(code, told["was_dedicated"], told["moved"]) for code, told in (given, again)] == [
        (0, False, 1),
        (0, True, 0),
    ]
    assert run("shop", "dedicate", "s1", people=True)[1] == "pdd:s1 has the queue single_shop_s1 already\n"
    back = run("shop", "undedicate", "s1", people=True)[1]
    assert back.startswith("pdd:s1 shares the lanes; 1 waiting task moved there;")
    assert run("shop", "undedicate", "s1", people=True) == (0, "pdd:s1 has no queue of its own\n")


def test_a_limit_that_stands_already_is_told_and_no_act(run: Run, tmp_path: Path) -> None:
    run("task", "create", "--shop", "pdd:s1", "--type", "work")
    given, again = (run("shop", "limit", "pdd:s1", "--concurrency", "3") for _ in range(2))
    assert given == (0, {"shop": "pdd:s1", "concurrency": 3, "was": 1})
    assert again == (0, {"shop": "pdd:s1", "concurrency": 3, "was": 3})
    assert run("shop", "show", "s1")[1]["shop"]["concurrency"] == 3
    assert [entry["action"] for entry in run("audit", "list")[1]["entries"]].count("shop.concurrency") == 1
    told = run("shop", "limit", "s1", "--concurrency", "3", people=True)[1]
    assert told == "pdd:s1 was limited to 3 at once already\n"
    changed = run("shop", "limit", "s1", "--concurrency", "2", people=True)[1]
    assert changed == "pdd:s1: 2 at once from now on; before: 3\n"
