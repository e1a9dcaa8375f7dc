"""Logging: to stderr, one line a record, no password in it."""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from services import log as logs
from services.domain.errors import BrokerUnavailable, ConsoleError, SchemaTooNew, StoreUnavailable, UsageError

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def root() -> Iterator[None]:
    """The root logger as it was."""
    logger = logging.getLogger()
    before, level = list(logger.handlers), logger.level
    yield
    for handler in logger.handlers:
        if handler not in before:
            handler.close()
    logger.handlers[:] = before
    logger.setLevel(level)


def test_warnings_go_to_stderr_and_details_only_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up()
    logging.getLogger("x").info("a detail")
    logging.getLogger("x").warning("a warning")
    logs.set_up(verbose=True)
    logging.getLogger("x").info("another detail")
    out, err = capsys.readouterr()
    assert out == ""
    assert "a detail" not in err.replace("another detail", "")
    assert "WARNING x a warning" in err
    assert "INFO x another detail" in err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no limit of a file")
def test_a_line_that_finds_no_room_in_its_file_is_still_told_and_without_a_traceback(tmp_path: Path) -> None:
    code = (
        "import logging, resource, sys; from pathlib import Path; from services import log;"
        " log.set_up(file=Path(sys.argv[1]));"
        " resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]));"
        " logging.getLogger('x').warning('a warning')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "a.jsonl"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stderr.endswith("WARNING x a warning\n")
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="it is not closed so there")
def test_a_line_that_is_lost_for_another_reason_than_room_is_told_with_it(tmp_path: Path) -> None:
    code = (
        "import logging, os, sys; from pathlib import Path; from services import log;"
        " log.set_up(file=Path(sys.argv[1]));"
        " files = [one for one in logging.getLogger().handlers if isinstance(one, logging.FileHandler)];"
        " os.close(files[0].stream.fileno());"
        " logging.getLogger('x').warning('a warning')"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "a.jsonl"], cwd=ROOT, capture_output=True, text=True)
    assert "WARNING x a warning\n" in done.stderr
    assert "--- Logging error ---" in done.stderr, done.stderr


def test_passwords_of_addresses_are_cut_out(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up()
    logging.getLogger("x").warning("lost %s", "amqp://user:secret@host/vhost")
    try:
        raise ValueError("redis://:hunter2@host refused")
    except ValueError:
        logging.getLogger("x").exception("failed")
    err = capsys.readouterr().err
    assert "amqp://••••@host/vhost" in err
    assert "secret" not in err
    assert "hunter2" not in err


def test_a_forged_line_stays_in_its_record(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up()
    logging.getLogger("x").warning("shop %s", "s1\r\n2026-01-01 WARNING x all is well \x1b[31m")
    err = capsys.readouterr().err
    assert "\r" not in err
    assert "\x1b" not in err
    assert len(err.splitlines()) == 1


def test_everything_goes_to_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "logs" / "fleetdeck.log"
    logs.set_up(file=file)
    logging.getLogger("x").info("a detail")
    assert "a detail" in file.read_text(encoding="utf-8")
    assert capsys.readouterr().err == ""


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_file_holds_json_with_what_each_record_is_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up()
    path = logs.keep(tmp_path, "worker")
    assert path is not None
    logs.of_process(worker="desk-01-7")
    with logs.about(task="T1", attempt=2):
        with logs.about(attempt=3):
            logging.getLogger("x").warning("slow %s", "page")
        thread = Thread(target=logging.getLogger("y").info, args=("elsewhere",))
        thread.start()
        thread.join()
    logging.getLogger("x").error("asked", extra={"request": "r1", "more": {"status": 503, "password": "hunter22"}})
    slow, elsewhere, asked = records(path)
    assert (slow["text"], slow["task"], slow["attempt"], slow["worker"]) == ("slow page", "T1", "3", "desk-01-7")
    assert (slow["level"], slow["logger"]) == ("warning", "x")
    assert dt.datetime.fromisoformat(slow["at"]).tzinfo is not None
    assert "task" not in elsewhere, "a thread of its own is about nothing that was not said there"
    assert (asked["request"], asked["more"]["status"], "hunter22" in str(asked)) == ("r1", 503, False)
    shown = capsys.readouterr().err
    assert "slow page (task T1, attempt 3)" in shown
    assert "asked (request r1)" in shown


def test_a_record_is_one_line_whatever_it_says(tmp_path: Path) -> None:
    logs.set_up()
    path = logs.keep(tmp_path, "api")
    assert path is not None
    try:
        raise ValueError("redis://:hunter2@host\nrefused \u202e")
    except ValueError:
        logging.getLogger("x").exception('a "quoted"\nline \x1b[31m %s', "amqp://u:secret7@host/v")
    (one,) = records(path)
    assert one["text"].startswith('a "quoted"\nline')
    assert "ValueError" in one["trace"]
    raw = path.read_text(encoding="utf-8")
    assert not {"hunter2", "secret7", "\x1b", "\u202e"} & {
        part for part in ("hunter2", "secret7", "\x1b", "\u202e") if part in raw
    }


def test_a_file_that_cannot_be_rotated_now_loses_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logs, "ROTATED", 2000)

    def held(_source: object, _target: object) -> None:
        raise PermissionError(13, "another program has it open")  # as Windows says of a file that is read

    file = tmp_path / "a.jsonl"
    logs.set_up(file=file)
    with monkeypatch.context() as windows:
        windows.setattr(os, "rename", held)
        for number in range(50):
            logging.getLogger("x").info("line %s", number)
    assert [json.loads(line)["text"] for line in file.read_text().splitlines()] == [f"line {n}" for n in range(50)]
    assert capsys.readouterr().err == ""


def test_files_rotate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "ROTATED", 2000)
    logs.set_up()
    path = logs.keep(tmp_path, "worker")
    assert path is not None
    for number in range(200):
        logging.getLogger("x").info("line %d", number)
    kept = sorted(path.parent.glob("worker.jsonl*"))
    assert len(kept) == 1 + logs.KEPT
    assert all(one.stat().st_size <= 2000 for one in kept)
    assert records(path)[-1]["text"] == "line 199"


def test_programs_that_write_at_once_have_a_file_each(tmp_path: Path) -> None:
    """Two that rotate one file would lose what the other wrote."""
    code = (
        "import sys, pathlib; from services import log; log.set_up();"
        "print(log.keep(pathlib.Path(sys.argv[1]), 'worker').name, flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", code, str(tmp_path)]

    def begin() -> tuple[subprocess.Popen[str], str]:
        made = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert made.stdout is not None
        return made, made.stdout.readline().strip()

    (first, one), (second, two) = begin(), begin()
    try:
        assert (one, two) == ("worker.jsonl", "worker-2.jsonl")
        first.communicate()
        third, three = begin()
        third.communicate()
        assert three == "worker.jsonl", "whoever ended has left it"
    finally:
        second.communicate()


def test_where_nothing_can_be_written_the_program_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").write_text("no folder", encoding="utf-8")
    logs.set_up()
    assert logs.keep(tmp_path, "worker") is None
    logging.getLogger("x").warning("goes on")
    assert "nothing is logged to" in (shown := capsys.readouterr().err)
    assert "goes on" in shown


def test_what_is_away_is_told_once_then_at_growing_intervals_and_that_it_is_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.set_up()

    def say(seconds: float, text: str, *args: object, **extra: object) -> None:
        made = {"name": "x", "levelno": logging.WARNING, "levelname": "WARNING", "created": 1000.0 + seconds}
        logging.getLogger("x").handle(logging.makeLogRecord({**made, "msg": text, "args": args, **extra}))

    for second in range(100):
        say(second, "heartbeat is late: %s", StoreUnavailable("100% away"))
        say(second, "schedules wait: %s", StoreUnavailable("100% away"))
        say(second, "another matter: %s", UsageError("wrong"))
    say(100, "it answers again", **logs.back(StoreUnavailable))
    say(101, "heartbeat is late: %s", StoreUnavailable("away once more"))
    say(500, "heartbeat is late: %s", StoreUnavailable("away much later"))
    lines = [line for line in capsys.readouterr().err.splitlines() if "another matter" not in line]
    assert [line.partition("WARNING x ")[2] for line in lines] == [
        "heartbeat is late: 100% away",
        "schedules wait: 100% away",
        "heartbeat is late: 100% away (for 10 s)",
        "heartbeat is late: 100% away (for 30 s)",
        "heartbeat is late: 100% away (for 70 s)",
        "it answers again",
        "heartbeat is late: away once more",
        "heartbeat is late: away much later",
    ]


@pytest.mark.parametrize("kind", [StoreUnavailable, BrokerUnavailable, SchemaTooNew])
def test_the_same_lines_of_an_outage_reach_every_handler(
    kind: type[ConsoleError], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up(file=(file := tmp_path / "a.jsonl"))
    for _ in range(5):
        logging.getLogger("x").warning("heartbeat is late: %s", kind("away"))
    assert [one["text"] for one in records(file)] == ["heartbeat is late: away"]
    assert capsys.readouterr().err.count("away") == 1
