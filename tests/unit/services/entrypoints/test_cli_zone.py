"""People read every instant in the zone of the fleet; programs read UTC as before."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from services.clock import SystemClock
from services.domain.change import Claim, Create, Finish
from services.domain.fleet import remote
from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import BrowserState, WorkerInfo
from services.domain.task.record import Attempt, Task
from services.engine.zone import set_fleet_zone
from services.store.sqlite.store import EmbeddedStore

Run = Callable[..., tuple[int, Any]]
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d\S*")


@pytest.fixture
def store(run: Run, tmp_path: Path) -> EmbeddedStore:
    """Of a fleet in Shanghai, where a shop asks for a login and a task is dead."""
    store = EmbeddedStore(tmp_path / "local.sqlite", SystemClock())
    set_fleet_zone(store, "Asia/Shanghai")
    store.put_shops([Shop(platform="pdd", shop_id="s1")])
    for name, to, kind in (("t1", "blocked", "captcha"), ("t2", "dead", "transient")):
        task = Task(task_id=name, platform="pdd", shop_id="s1", task_type="work")
        store.apply([Create(task=task), Claim(task_id=name, gen=0, attempt=0, owner=name, worker="w", lease_ms=60_000)])
        ended = Attempt(1, "w", 1, 2, "failed", kind)
        store.apply([Finish(task_id=name, owner=name, to=to, attempt=ended, error_kind=kind)])
    return store


def test_instants_stand_in_the_zone_of_the_fleet(run: Run, store: EmbeddedStore) -> None:
    run("quiet", "set", "night", "all", "--weekly", "mon-fri 22:00-06:00", "--note", "calm")
    run("view", "share", "mine")
    (cause,) = run("causes")[1]["causes"]
    for words in (
        ("shop", "show", "s1"),
        ("shop", "session", "list"),
        ("quiet", "show", "night"),
        ("causes", cause["fingerprint"]),
        ("view", "list"),
        ("view", "show", "mine"),
    ):
        code, told = run(*words, people=True)
        found = INSTANT.findall(told)
        assert (code, bool(found)) == (0, True), told
        assert [one for one in found if not one.endswith("+08:00")] == [], told
    assert run("shop", "show", "s1")[1]["shop"]["since"].endswith("+00:00")
    assert cause["first_at"].endswith("+00:00")


def test_what_people_write_is_meant_there_too(run: Run, store: EmbeddedStore, tmp_path: Path) -> None:
    day = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=9)
    words = ("task", "create", "--type", "work", "--not-before", f"{day}T08:00")
    (by_options,) = run(*words, "--shop", "pdd:s7")[1]["created"]
    file = tmp_path / "tasks.csv"
    file.write_text(f"shop,platform,type,not_before\ns2,pdd,work,{day} 08:00\n", "utf-8")
    (by_file,) = run("task", "create", "--file", str(file), "--allow-unknown")[1]["created"]
    for task in (by_options, by_file):
        assert run("task", "show", task)[1]["task"]["due_at"] == f"{day}T00:00:00.000+00:00"


def test_before_somebody_set_a_zone_both_are_those_of_this_machine(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('time_zone = "Asia/Tokyo"\n')
    day = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=9)
    words = ("task", "create", "--shop", "pdd:s1", "--type", "work", "--not-before", f"{day}T08:00")
    (made,) = run(*words)[1]["created"]
    shown = run("task", "show", made, people=True)[1]
    assert f"{day}T08:00:00+09:00" in shown
    assert "+00:00" not in shown
    rows = INSTANT.findall(run("task", "list", people=True)[1])
    assert rows
    assert all(one.endswith("+09:00") for one in rows)
    assert run("schedule", "zone", people=True)[1].startswith("Asia/Tokyo\nnobody has set it yet")
    run("schedule", "zone", "Asia/Shanghai")
    assert run("schedule", "zone", people=True)[1] == "Asia/Shanghai\n"


def test_a_zone_that_this_machine_does_not_know_is_in_the_way_of_times_alone(run: Run, store: EmbeddedStore) -> None:
    set_fleet_zone(store, "Mars/Base")  # by a machine that knows newer ones
    words = ("task", "create", "--shop", "pdd:s1", "--type")
    assert run(*words, "now")[0] == 0
    assert run(*words, "soon", "--delay", "2h", "--deadline", "3h")[0] == 0
    day = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=9)
    code, told = run(*words, "then", "--not-before", f"{day}T08:00")
    assert (code, "Mars/Base" in told["error"]) == (2, True)


def test_full_width_signs_are_read_as_in_a_file(run: Run, store: EmbeddedStore) -> None:
    day = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=9)
    wide = f"{day}T08:30".translate({ord(one): chr(ord(one) + 0xFEE0) for one in "0123456789:"})
    (made,) = run("task", "create", "--shop", "pdd:s1", "--type", "work", "--not-before", wide)[1]["created"]
    assert run("task", "show", made)[1]["task"]["due_at"] == f"{day}T00:30:00.000+00:00"


@pytest.mark.parametrize(
    ("noun", "rows", "field", "since", "until"),
    [("task", "tasks", "created_at", "created>=", "created<"), ("audit", "entries", "at", "since:", "until:")],
)
def test_filters_mean_the_times_that_rows_show(
    noun: str, rows: str, field: str, since: str, until: str, run: Run, store: EmbeddedStore, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text('time_zone = "Asia/Tokyo"\n')  # of this machine, and of its windows
    run("task", "create", "--shop", "pdd:s1", "--type", "other")
    one = run(noun, "list")[1][rows][0]
    at = dt.datetime.fromisoformat(one[field]).astimezone(ZoneInfo("Asia/Shanghai"))
    before, after = (f"{at + dt.timedelta(minutes=by):%Y-%m-%dT%H:%M}" for by in (-1, 1))
    for text, found in ((since + before, True), (since + after, False), (until + after, True), (until + before, False)):
        assert (one in run(noun, "list", "--filter", text)[1][rows]) is found, text


def test_lines_of_logs_too(run: Run, store: EmbeddedStore, tmp_path: Path) -> None:
    """What this machine has logged stands in its own zone: it can be read without the fleet."""
    store.heartbeat(WorkerInfo(worker="desk-1", host="h", pid=1))
    at = 1_790_000_000_123
    shown = remote.WorkerLog(worker="desk-1", at=at, lines=(remote.LogLine(at, "info", "began"),))
    store.put_document(remote.LOGS, "desk-1", remote.dump(shown).decode())
    assert run("worker", "log", "desk-1", people=True)[1] == "2026-09-21T22:13:20.123+08:00  info     began\n"
    assert run("worker", "log", "desk-1")[1]["lines"][0]["at"] == at
    (tmp_path / "config.toml").write_text('time_zone = "Asia/Tokyo"\n')
    (tmp_path / "logs").mkdir(exist_ok=True)
    line = {"at": "2026-09-21T14:13:20.123+00:00", "level": "info", "logger": "x", "text": "began"}
    (tmp_path / "logs" / "worker.jsonl").write_text(json.dumps(line) + "\n")
    assert run("log", people=True)[1].startswith("2026-09-21T23:13:20.123+09:00  info ")
    assert run("log")[1]["records"] == [line]


def test_one_browser_is_counted_as_one(run: Run, store: EmbeddedStore) -> None:
    browser = BrowserState(shop="pdd:s1", profile="pdd_s1", state="lent", since=store.now_ms(), uses=1, port=9222)
    store.heartbeat(WorkerInfo(worker="desk-1", host="h", pid=1, browsers=1, pool=(browser,)))
    told = run("worker", "show", "desk-1", people=True)[1]
    assert "  1 browser\n" in told
