"""Records written as lines are the same when they are read again."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from services.cli import record_files
from services.domain.task.artifact import ArtifactMark
from services.domain.task.record import Attempt, Task
from services.ports import Letter
from tests.unit.services.engine.room import Room, opened


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with opened(tmp_path) as found:
        yield found


def again(folder: Path, task: Task, letter: Letter | None = None) -> record_files.Row:
    path = folder / "records.jsonl"
    path.write_text("\n" + record_files.write(task, letter), encoding="utf-8")
    (row,) = record_files.read(path)
    assert (row.line, row.error) == (2, "")
    return row


def test_a_record_comes_back_whole(room: Room, tmp_path: Path) -> None:
    dead = room.dead(payload={"text": "a\u2028b\u4e00", "n": 1.5})
    letter = Letter(task_id=dead.task_id, body=b"\xff\x00{", headers='{"x": 1}', stored_at=5, error="login")
    row = again(tmp_path, dead, letter)
    assert (row.task, row.letter) == (dead, letter)
    running = room.running(shop_id="s2")
    files = (ArtifactMark("a.png", "image", 5, "ab", "open", 1_795_219_200_010, "x/y"),)
    attempts = (Attempt(1, "w1", 5, 6, "failed", artifacts=files), Attempt(2, "w1", 7, 8, "lost"))
    full = msgspec.structs.replace(
        running, result='{"a":[1]}', extra='{"k":"v"}', marks=("twin",), losses=(7, 8), attempts=attempts
    )
    assert again(tmp_path, full).task == full


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        ("[]", "no record"),
        ('{"task": {"task_id": "a"}}', "shop_id and platform"),
        ('{"task": {"task_id": "a", "shop_id": "s", "platform": "p", "task_type": "t", "status": "dead",'
         ' "gen": "x"}}', "int"),
        ('{"task": {"task_id": "a", "shop_id": "s", "platform": "p", "task_type": "t", "status": "dead"},'
         ' "attempts": [{"number": "x", "worker": "w", "started_at": null, "ended_at": null, "outcome": "lost"}]}',
         "int"),
        ('{"task": {"task_id": "a", "shop_id": "s", "platform": "p", "task_type": "t", "status": "dead"},'
         ' "events": [7]}', "items"),
        ('{"task": {"task_id": "a", "shop_id": "s", "platform": "p", "task_type": "t", "status": "dead",'
         ' "created_at": "yesterday"}}', "yesterday"),
        ('{"task": {"task_id": "a", "shop_id": "s", "platform": "p", "task_type": "t", "status": "dead"},'
         ' "letter": {"task_id": "a", "body": "%"}}', ""),
    ],
)  # fmt: skip
def test_a_bad_line_does_not_spoil_the_others(room: Room, tmp_path: Path, line: str, says: str) -> None:
    good = room.create()
    path = tmp_path / "records.jsonl"
    path.write_text(f"{line}\n{record_files.write(good, None)}", encoding="utf-8")
    bad, fine = record_files.read(path)
    assert (bad.line, bad.task, fine.task) == (1, None, good)
    assert bad.error
    assert says in bad.error


def test_a_line_is_what_task_show_shows(room: Room) -> None:
    document = json.loads(record_files.write(room.create(), None))
    assert set(document) == {"task", "attempts", "events"}
    assert document["task"]["created_at"].endswith("+00:00")


@pytest.mark.timeout(60)
def test_a_line_longer_than_any_record_is_refused_and_the_next_is_read(room: Room, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    long = "{" + ",".join(f'"a{n}":1' for n in range(1_000_000)) + "}\n"
    path.write_text(long + record_files.write(room.dead(), None), encoding="utf-8")
    tracemalloc.start()
    try:
        first, second = record_files.read(path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (first.line, first.task) == (1, None)
    assert first.error == f"more than {record_files.MAX_LINE} bytes, which no record has"
    assert (second.line, second.error) == (2, "")
    assert most < 4 * record_files.MAX_LINE, "it is not even held whole"
