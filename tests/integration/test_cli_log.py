"""``log``: what workers and the server of ``api`` have logged, on both pairs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from services import log as logs
from services.cli import program
from tests.integration.api_rig import serving
from tests.integration.cli_rig import ROOT, Cli
from tests.integration.fleet_rig import Fleet


def test_what_failed_is_found_by_its_task_and_its_worker(cli: Cli, seen: Path) -> None:
    payload = json.dumps({"fail": "timeout"})
    (task_id,) = cli.run("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "work", "--payload", payload)[
        "created"
    ]
    worker = cli.drain()["worker"]
    of_task = cli.run("log", "--task", task_id)["records"]
    ended = [one for one in of_task if "ended as" in one["text"]]
    assert ended, of_task
    assert {(one["worker"], one["level"]) for one in ended} == {(worker, "info")}
    assert [one["attempt"] for one in ended] == [str(number) for number in range(1, len(ended) + 1)]
    assert {one["worker"] for one in cli.run("log", "--worker", worker)["records"]} == {worker}
    assert cli.run("log", "--worker", "nobody")["records"] == []
    assert cli.run("log", "--program", "api")["records"] == []
    shown = cli.call("log", "--task", task_id).stdout
    assert f"{task_id} ended as" in shown


def test_a_request_is_found_by_its_id(fleet: Fleet) -> None:
    home = Path(fleet.settings.home)
    logs.set_up()
    path = logs.keep(home, "api")
    assert path is not None
    try:
        with serving(fleet) as api, api.client(**{"x-request-id": "my-own-request-1"}) as ask:
            assert ask.get("/api/v1/stats").status_code == 200
    finally:
        logs.set_up()
    told = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    (one,) = [one for one in told if one.get("request") == "my-own-request-1" and "more" in one]
    assert one["text"].startswith("GET /api/v1/stats: 200 in ")
    assert one["more"]["caller"] == "this machine"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    (tmp_path / "logs").mkdir()
    return tmp_path


def line(at: str, text: str, level: str = "info", **more: str) -> str:
    return json.dumps({"at": f"2026-11-24T{at}.000+00:00", "level": level, "logger": "x", "text": text} | more) + "\n"


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    capsys.readouterr()
    assert program.run(("log", *words, "--json"), lambda _: 0) == 0
    return [one["text"] for one in json.loads(capsys.readouterr().out)["records"]]


def test_files_of_all_programs_are_told_in_one_order(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = home / "logs"
    (folder / "worker.jsonl.1").write_text(line("01:00:00", "a"), "utf-8")
    (folder / "worker.jsonl").write_text(line("01:00:02", "c", "error") + line("01:00:04", "e"), "utf-8")
    (folder / "worker-2.jsonl").write_text(line("01:00:03", "d", "warning", task="T1"), "utf-8")
    (folder / "api.jsonl").write_text(line("01:00:01", "b") + '{"at": "2026-11-24T01:00:09', "utf-8")
    (folder / "worker.lock").write_text("", "utf-8")
    assert shown(capsys) == ["a", "b", "c", "d", "e"]
    assert shown(capsys, "--limit", "2") == ["d", "e"]
    assert shown(capsys, "--program", "worker") == ["a", "c", "d", "e"]
    assert shown(capsys, "--level", "warning") == ["c", "d"]
    assert shown(capsys, "--task", "T1") == ["d"]
    assert shown(capsys, "--since", "1s") == []


def test_what_comes_is_told_while_somebody_follows(home: Path) -> None:
    """Also after a file has begun anew; no line twice, and none before it is whole."""
    file = home / "logs" / "worker.jsonl"
    file.write_text(line("01:00:00", "old"), "utf-8")
    words = [sys.executable, str(ROOT / "main.py"), "log", "--follow"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as follower:
        assert follower.stdout is not None

        def text() -> str:
            assert follower.stdout is not None
            return follower.stdout.readline().strip().rpartition("x: ")[2]

        try:
            assert text() == "old"
            half = line("01:00:02", "half")
            with file.open("a", encoding="utf-8") as open_file:
                open_file.write(line("01:00:01", "new") + half[:20])
            assert text() == "new"
            with file.open("a", encoding="utf-8") as open_file:
                open_file.write(half[20:])
            assert text() == "half"
            file.write_text(line("01:00:03", "anew"), "utf-8")
            assert text() == "anew"
            follower.send_signal(signal.SIGINT)
            assert follower.wait(30) == 0, "as its help says"
        finally:
            follower.kill()
