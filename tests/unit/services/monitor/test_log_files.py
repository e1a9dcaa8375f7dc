"""Lines of logs are read from the newest back, in one order, and found by what they are about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.domain.errors import UsageError
from services.monitor import log_files
from services.monitor.log_files import LogQueries

NOON = 1_795_608_000_000  # 2026-11-25 12:00 UTC


def line(second: int, text: str, level: str = "info", **more: object) -> str:
    at = f"2026-11-25T11:{second // 60:02}:{second % 60:02}.000+00:00"
    return json.dumps({"at": at, "level": level, "logger": "services.x", "text": text} | more) + "\n"


@pytest.fixture
def logs(tmp_path: Path) -> LogQueries:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "worker.jsonl.1").write_text(line(0, "a"), "utf-8")
    (folder / "worker.jsonl").write_text(
        line(2, "c", "error", trace="Traceback\nValueError: no price") + line(4, "e", task="T1"), "utf-8"
    )
    (folder / "worker-2.jsonl").write_text(line(3, "d", "warning", worker="desk-2"), "utf-8")
    (folder / "api.jsonl").write_text(line(1, "b", request="R1", more={"caller": "board"}) + '{"at": "2026', "utf-8")
    (folder / "worker.lock").write_text("", "utf-8")
    return LogQueries(tmp_path, lambda: NOON)


def texts(logs: LogQueries, expression: str = "", limit: int = 100) -> str:
    return "".join(one.text for one in logs.lines(expression, limit=limit).rows)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("", "edcba"),
        ("level:warning", "dc"),
        ("-level:warning", "eba"),
        ("level:error,warning", "dc"),
        ("program:worker", "edca"),
        ("program:worker-2,api", "db"),
        ("task:T1", "e"),
        ("worker:desk-2", "d"),
        ("request:R1", "b"),
        ("board", "b"),
        ("error:", "c"),
        ('"no price"', "c"),
        ("since:2026-11-25T11:00+00:00", "edcba"),
        ("since:10m", ""),
        ("until:2026-11-25T11:00+00:00", "a"),
    ],
)
def test_filters(logs: LogQueries, expression: str, found: str) -> None:
    assert texts(logs, expression) == found


@pytest.mark.parametrize("expression", ["level:loud", "colour:red", "since:never", "level<error", "a level:"])
def test_what_is_no_filter_is_refused(logs: LogQueries, expression: str) -> None:
    with pytest.raises(UsageError):
        logs.lines(expression)


def test_the_newest_come_first_and_what_is_left_is_told(logs: LogQueries) -> None:
    found = logs.lines(limit=2)
    assert [one.text for one in found.rows] == ["e", "d"]
    assert found.more
    assert not logs.lines(limit=5).more


def test_a_line_keeps_its_key_when_its_file_is_rotated(logs: LogQueries) -> None:
    before = {one.text: one.key for one in logs.lines().rows}
    (logs.folder / "worker.jsonl.1").rename(logs.folder / "worker.jsonl.2")
    (logs.folder / "worker.jsonl").rename(logs.folder / "worker.jsonl.1")
    (logs.folder / "worker.jsonl").write_text(line(5, "f"), "utf-8")
    after = {one.text: one.key for one in logs.lines().rows}
    assert after.pop("f") not in before.values()
    assert after == before


def test_long_files_are_read_whole_across_pieces(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    lines = [line(number % 3600, f"{number} {'绿' * (number % 700)}") for number in range(700)]
    strange = [b"\xff\xfe\n", b"x" * (log_files.MAX_LINE + 300_000) + b"\n", b"[1]\n", b"\n"]
    body = b"".join(one.encode() for one in lines[:300]) + b"".join(strange) + "".join(lines[300:]).encode()
    (tmp_path / "logs" / "worker.jsonl").write_bytes(body)
    found = LogQueries(tmp_path, lambda: NOON).lines(limit=1_000)
    assert [one.text.split()[0] for one in found.rows] == [str(number) for number in reversed(range(700))]
    assert len({one.key for one in found.rows}) == 700


def test_no_folder_has_no_lines(tmp_path: Path) -> None:
    assert LogQueries(tmp_path, lambda: NOON).lines() == log_files.Lines((), more=False)
