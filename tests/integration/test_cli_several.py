"""Several shops in one act, what attempts have printed, and causes."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from services import assembly
from services import settings as config
from services.cli import program
from services.domain.change import Claim, Create, Finish
from services.domain.fleet import remote
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.task.record import Attempt, Task
from services.engine.spec import TaskSpec
from services.engine.zone import set_fleet_zone
from services.ports import LogLine
from tests.integration.cli_rig import ROOT


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[assembly.Engine]:
    """A fleet of four shops."""
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    engine = assembly.open_engine(config.load())
    shops = [Shop(platform="pdd", shop_id=f"s{n}") for n in range(3)] + [
        Shop(platform="temu", shop_id="t1", group="eu")
    ]
    assembly.commands(engine).fleet.import_shops(shops)
    yield engine
    engine.close()


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = program.run((*words, "--json"), lambda _: 0)
    return code, json.loads(capsys.readouterr().out)


def entries(engine: assembly.Engine, action: str) -> list[tuple[str, ...]]:
    return [one.target for one in reversed(engine.store.audit(100)) if one.action == action]


def test_people_read_when_workers_were_lost_in_the_time_of_the_fleet(
    engine: assembly.Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "schedule", "zone", "Asia/Shanghai")[0] == 0
    lost = (1_790_000_000_000, 1_790_000_060_000)
    task = Task(task_id="t1", shop_id="s1", platform="pdd", task_type="work", losses=lost)
    engine.store.apply([Create(task=task)])
    assert call(capsys, "task", "show", "t1")[1]["task"]["losses"] == [*lost], "programs go on reading numbers"
    assert program.run(("task", "show", "t1"), lambda _: 0) == 0
    shown = capsys.readouterr().out
    (told,) = (line for line in shown.splitlines() if line.startswith("losses"))
    assert told.split(maxsplit=1)[1] == "2026-09-21T22:13:20+08:00, 2026-09-21T22:14:20+08:00"
    assert "+00:00" not in shown, "every other time of it too"
    assert all(line[14:15] in (" ", "") or " -> " in line for line in shown.splitlines()), "one column of names"
    for words in (("task", "list"), ("queue", "peek", "rpa_tasks_normal"), ("audit", "list")):
        assert program.run(words, lambda _: 0) == 0
        listed = capsys.readouterr().out
        assert "+08:00" in listed
        assert "+00:00" not in listed
    assert re.search(r"^at +who +from +action .*\n.* cli +fleet\.time_zone ", listed, re.MULTILINE), listed
    set_fleet_zone(engine.store, "Mars/Olympus")
    assert program.run(("task", "show", "t1"), lambda _: 0) == 0
    assert "2026-09-21T14:13:20+00:00" in capsys.readouterr().out, "in UTC where this machine does not know the zone"


def test_several_shops_are_paused_each_with_an_entry_and_one_summary(
    engine: assembly.Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = call(capsys, "shop", "pause", "s0", "pdd:s1", "pdd:s0", "t1", "--note", "stock", "--yes")
    assert (code, told["done"], told["failed"]) == (0, ["pdd:s0", "pdd:s1", "temu:t1"], [])
    assert entries(engine, "pause") == [("shop:pdd:s0",), ("shop:pdd:s1",), ("shop:temu:t1",)]
    assert {one.scope: one.reason for one in engine.store.pauses()} == dict.fromkeys(
        ("shop:pdd:s0", "shop:pdd:s1", "shop:temu:t1"), "stock"
    )
    assert program.run(("shop", "resume", "s0", "s1", "--yes"), lambda _: 0) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "resume: 2 of 2 shops done"
    assert [one.scope for one in engine.store.pauses()] == ["shop:temu:t1"]


def test_a_pause_without_a_word_leaves_the_one_of_another_person_as_it_is(
    engine: assembly.Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, scope in ((("shop", "pause", "pdd:s0"), "shop:pdd:s0"), (("queue", "pause", "all"), "all")):
        stood = Pause(scope=scope, by="alice@desk-01", at=1, reason="stock-taking")
        engine.store.set_pause(stood)
        assert call(capsys, *words, "--yes")[1]["was_paused"]
        assert program.run((*words, "--yes"), lambda _: 0) == 0
        assert "was paused already, by alice@desk-01; it stays so" in capsys.readouterr().out
        assert [one for one in engine.store.pauses() if one.scope == scope] == [stood]
        assert program.run((*words, "--yes", "--note", "the bank asks"), lambda _: 0) == 0
        assert "by alice@desk-01; your name and note stand there now instead" in capsys.readouterr().out
        (now,) = [one for one in engine.store.pauses() if one.scope == scope]
        assert (now.reason, now.by != stood.by) == ("the bank asks", True)
    assert entries(engine, "pause") == [("shop:pdd:s0",), ("all",)], "what changed nothing is no act"


@pytest.mark.parametrize(
    "words",
    [("pause",), ("resume",), ("dedicate",), ("undedicate",), ("limit", "--concurrency=3"),
     ("move", "--node", "n1", "--force"), ("session", "open"),
     ("session", "close"), ("breaker", "--close")],
)  # fmt: skip
def test_every_act_on_a_shop_takes_several_asks_first_and_begins_nothing_with_a_wrong_name(
    words: tuple[str, ...], engine: assembly.Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    before = len(engine.store.audit(100))
    code, told = call(capsys, "shop", *words, "s0", "s1")
    assert (code, told["field"]) == (2, "--yes")
    code, told = call(capsys, "shop", *words, "s0", "nobody", "--yes")
    assert (code, "no shop 'nobody'" in told["error"]) == (2, True)
    assert len(engine.store.audit(100)) == before
    code, told = call(capsys, "shop", *words, "s0", "s1", "--yes")
    assert (code, told["done"], len(told["shops"])) == (0, ["pdd:s0", "pdd:s1"], 2)
    assert len(engine.store.audit(100)) == before + 2
    code, told = call(capsys, "shop", *words, "s2")
    assert (code, "done" in told) == (0, False), "one is done without a question, and told as ever"


def test_what_was_so_before_is_told_without_another_look_at_all_shops(
    engine: assembly.Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    read = type(engine.store).shops
    monkeypatch.setattr(type(engine.store), "shops", lambda store, *args: looks.append(store) or read(store, *args))

    def cost(*shops: str) -> int:
        before = len(looks)
        told = call(capsys, "shop", "undedicate", *shops, "--yes")[1]
        assert not told.get("failed")
        return len(looks) - before

    assert cost("s0", "s1", "s2") - cost("s0", "s1") == 1, "each is looked up once"


def test_one_that_is_refused_does_not_stop_the_others(
    engine: assembly.Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    assembly.commands(engine).fleet.import_shops([Shop(platform="temu", shop_id="s1")])
    code, told = call(capsys, "shop", "dedicate", "pdd:s0", "pdd:s1", "pdd:s2", "--yes")
    assert (code, told["done"], [one["id"] for one in told["failed"]]) == (1, ["pdd:s0", "pdd:s2"], ["pdd:s1"])
    assert "same id" in told["failed"][0]["reason"]


def test_shops_are_listed_by_a_filter(engine: assembly.Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assembly.commands(engine).fleet.pause("shop:pdd:s1")
    for text, found in (("platform:pdd paused:no", ["s0", "s2"]), ("group:eu", ["t1"]), ("state:paused", ["s1"])):
        code, told = call(capsys, "shop", "list", "--filter", text)
        assert (code, [one["shop_id"] for one in told["shops"]]) == (0, found)
        assert "worker" not in told["shops"][0], "nobody asked who ran them"
    begin(engine, created(engine))
    code, told = call(capsys, "shop", "list", "--filter", "worker:w")
    assert (code, [(one["shop_id"], one["worker"]) for one in told["shops"]]) == (0, [("s0", "w")])


def created(engine: assembly.Engine, shop: str = "s0") -> Task:
    (task,) = (
        assembly.commands(engine)
        .tasks.create([TaskSpec(platform="pdd", shop_id=shop, task_type="work")], origin="cli")
        .created
    )
    return task


def begin(engine: assembly.Engine, task: Task) -> None:
    claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=600_000)
    assert engine.store.apply([claim])[0].code == "run"


def end(engine: assembly.Engine, task: Task, to: str, **why: str) -> None:
    done = Finish(task_id=task.task_id, owner="w#1", to=to, attempt=Attempt(1, "w", 1, 2, "failed"), **why)
    assert engine.store.apply([done])[0].code == "ok"


def test_a_log_is_shown_from_where_somebody_was(engine: assembly.Engine, capsys: pytest.CaptureFixture[str]) -> None:
    task = created(engine)
    begin(engine, task)
    engine.store.append_log(task.task_id, 1, [LogLine(n, "out", f"line {n}") for n in range(1, 2501)])
    code, told = call(capsys, "task", "log", task.task_id)
    assert (code, told["attempt"], len(told["lines"])) == (0, 1, 2500), "all of it, however it is read"
    engine.store.append_log(task.task_id, 1, [LogLine(9000, "err", "password=hunter22")])
    code, more = call(capsys, "task", "log", task.task_id, "--start", str(told["next"]))
    assert [(one["stream"], "hunter22" in one["text"]) for one in more["lines"]] == [("err", False)]
    assert call(capsys, "task", "log", task.task_id, "--attempt", "2")[0] == 2


def test_a_log_is_followed_until_the_task_has_ended(
    engine: assembly.Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    """From before its attempt began."""
    task = created(engine)

    def runs() -> None:
        begin(engine, task)
        engine.store.append_log(task.task_id, 1, [LogLine(1, "out", "opened the page")])
        later.start()

    def ends() -> None:
        engine.store.append_log(task.task_id, 1, [LogLine(2, "out", "closed it")])
        end(engine, task, "succeeded")

    first, later = Timer(0.7, runs), Timer(0.7, ends)
    first.start()
    assert program.run(("task", "log", task.task_id, "--follow"), lambda _: 0) == 0
    first.join()
    later.join()
    shown = capsys.readouterr().out.splitlines()
    assert [line.split("  ", 1)[1] for line in shown] == ["opened the page", "closed it"]


def test_a_log_that_somebody_stops_following_is_not_told_whole(engine: assembly.Engine) -> None:
    """Its task has not ended: a script must not go on as if it had."""
    task = created(engine)
    begin(engine, task)
    engine.store.append_log(task.task_id, 1, [LogLine(1, "out", "opened the page")])
    with following("task", "log", task.task_id) as follower:
        assert read(follower) == "opened the page"
        follower.send_signal(signal.SIGINT)
        assert follower.wait(30) == 1


def test_the_log_of_a_worker_has_no_other_end(engine: assembly.Engine) -> None:
    engine.store.heartbeat(WorkerInfo(worker="desk-1", host="h", pid=1))

    def shows(*texts: str) -> None:
        lines = tuple(remote.LogLine(at, "info", text) for at, text in enumerate(texts, 1_790_000_000_000))
        told = remote.WorkerLog(worker="desk-1", at=engine.store.now_ms(), lines=lines)
        engine.store.put_document(remote.LOGS, "desk-1", remote.dump(told).decode())

    shows("began")
    with following("worker", "log", "desk-1") as follower:
        assert read(follower).endswith("began")
        shows("began", "goes on")
        assert read(follower).endswith("goes on")
        follower.send_signal(signal.SIGINT)
        assert follower.wait(30) == 0


@contextmanager
def following(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A command that goes on, killed at the end where it still does."""
    line = [sys.executable, str(ROOT / "main.py"), *words, "--follow"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def read(process: subprocess.Popen[str]) -> str:
    """What stands on the next line, without its instant."""
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n").partition("  ")[2]


def test_causes_tell_how_far_each_reaches(engine: assembly.Engine, capsys: pytest.CaptureFixture[str]) -> None:
    for shop in ("s0", "s1"):
        task = created(engine, shop)
        begin(engine, task)
        end(
            engine, task, "dead", error="no such button", error_kind="element_not_found", fingerprint="9ac19ac19ac19ac1"
        )
    code, told = call(capsys, "causes")
    (cause,) = told["causes"]
    assert (code, cause["count"], cause["shops"], cause["types"]) == (0, 2, 2, ["work"])
    code, one = call(capsys, "causes", "9ac1")
    assert (code, one["cause"]) == (0, cause)
    for words in (("causes",), ("dead", "list")):
        assert program.run(words, lambda _: 0) == 0
        assert "Will fail again  " in capsys.readouterr().out, "a bare 'again' would say the contrary"
    assert cause["reach"]["text"]
    assert call(capsys, "cause", "split", "9ac1", "--shop", "pdd:s1")[0] == 0
    code, told = call(capsys, "causes")
    by_place = {one["where"]: one["reach"]["text"] for one in told["causes"]}
    assert (by_place.keys(), by_place["shop:pdd:s1"]) == ({"", "shop:pdd:s1"}, ""), "nobody asked what ran meanwhile"
    assert call(capsys, "causes", "--triage", "archived") == (0, {"causes": [], "scanned": 0, "total": 0})
    assert call(capsys, "causes", "ffff")[0] == 2


class Terminal(io.StringIO):
    """Somebody watches."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("watched", [True, False])
def test_a_long_act_tells_a_person_how_far_it_is(
    watched: bool, engine: assembly.Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = [TaskSpec(platform="pdd", shop_id="s0", task_type="work", payload={"n": n}) for n in range(900)]
    assembly.commands(engine).tasks.create(specs, origin="cli")
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal() if watched else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    assert program.run(("task", "cancel", "--filter", "shop:s0", "--yes"), lambda _: 0) == 0
    assert ("900/900" in stream.getvalue()) is watched
    assert capsys.readouterr().out.startswith("cancel: 900 done")
