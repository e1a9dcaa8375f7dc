"""What the console remembers: at once in the window, soon on the disk, and never in the way of either."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from console.state import ConsoleState, Shelf

LONG = "x" * 300_000  # more than a pipe takes without a reader


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a file that makes its reader wait")
def test_a_disk_that_does_not_answer_holds_nobody_up(tmp_path: Path) -> None:
    file, state = tmp_path / "console.json", ConsoleState(tmp_path)
    state.load()
    begun, slow = threading.Event(), threading.Event()
    os.mkfifo(tmp_path / "console.part")

    def answer() -> None:
        with (tmp_path / "console.part").open(encoding="utf-8") as draft:  # which waits for a writer
            begun.set()
            slow.wait(30)
            draft.read()

    reader = threading.Thread(target=answer)
    reader.start()
    state.set(theme="light", note=LONG)
    Shelf(state).put("tasks.view", "dead")
    assert begun.wait(30)
    assert (state.get("theme"), Shelf(state).get("tasks.view")) == ("light", "dead")
    assert not file.exists(), "the disk has not taken it yet"
    slow.set()
    reader.join()
    state.flush(30)
    file.unlink()  # the pipe, which no file takes the place of
    state.set(rows="roomy")
    state.close()
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept == {"theme": "light", "note": LONG, "pages": {"tasks.view": "dead"}, "rows": "roomy"}


def test_that_nothing_is_kept_is_told_once_and_that_it_is_again(tmp_path: Path) -> None:
    told: list[bool] = []
    hindered = tmp_path / "console.part"
    state = ConsoleState(tmp_path, lambda: told.append(state.unkept is not None))
    for _ in range(2):
        hindered.mkdir()
        state.set(theme="light")
        state.set(rows="roomy")
        state.flush(30)
        hindered.rmdir()
        state.set(language="en")
        state.flush(30)
    state.close()
    assert told == [True, False, True, False]
    kept = json.loads((tmp_path / "console.json").read_text(encoding="utf-8"))
    assert kept == {"theme": "light", "rows": "roomy", "language": "en"}


def test_what_could_not_be_written_is_written_when_it_is_tried_again(tmp_path: Path) -> None:
    state, hindered = ConsoleState(tmp_path), tmp_path / "console.part"
    hindered.mkdir()
    state.set(theme="light")
    state.try_again()
    state.flush(30)
    assert not (tmp_path / "console.json").exists()
    hindered.rmdir()
    state.try_again()
    state.close()
    assert json.loads((tmp_path / "console.json").read_text(encoding="utf-8")) == {"theme": "light"}


def test_what_another_program_wrote_meanwhile_stays(tmp_path: Path) -> None:
    own, other = ConsoleState(tmp_path), ConsoleState(tmp_path)
    own.load()
    other.set(language="zh_CN", theme="dark")
    Shelf(other).put("a", 1)
    other.close()
    own.set(theme="light")
    Shelf(own).put("b", 2)
    own.close()
    kept = json.loads((tmp_path / "console.json").read_text(encoding="utf-8"))
    assert kept == {"language": "zh_CN", "theme": "light", "pages": {"a": 1, "b": 2}}
    assert own.get("language") == "zh_CN"


def test_two_programs_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    programs = [ConsoleState(tmp_path) for _ in range(2)]
    for number in range(400):
        for place, state in enumerate(programs):
            Shelf(state).put(f"{place} {number}", number)
            state.flush(0)
    for state in programs:
        state.close()
    kept = json.loads((tmp_path / "console.json").read_text(encoding="utf-8"))["pages"]
    assert len(kept) == 800


def test_what_another_program_wrote_is_known_once_it_is_looked_for(tmp_path: Path) -> None:
    own, other = ConsoleState(tmp_path), ConsoleState(tmp_path)
    own.load()
    other.load()
    Shelf(own).put("b", 2)
    own.flush(30)
    Shelf(other).put("keys", {"tasks.retry": "X"})
    other.close()
    own.look_again()
    assert (Shelf(own).get("keys"), Shelf(own).get("b")) == ({"tasks.retry": "X"}, 2)
    (tmp_path / "console.json").write_text("half a fi", encoding="utf-8")
    own.look_again()
    assert Shelf(own).get("b") == 2, "what cannot be read takes nothing away"
    own.close()
    own.look_again()


def test_a_value_that_no_file_takes_keeps_no_other_one_from_being_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "console.json").write_text('{"profile": "cut \\ud83d", "language": "zh_CN"}', encoding="utf-8")
    state = ConsoleState(tmp_path)
    state.load()
    state.set(theme="light", chosen={1, 2})
    Shelf(state).put("palette.recent", ["half a letter \ud83d"])
    Shelf(state).put("tasks.view", "dead")
    state.set(rows="roomy")
    state.close()
    kept = json.loads((tmp_path / "console.json").read_text(encoding="utf-8"))
    assert kept == {"language": "zh_CN", "theme": "light", "pages": {"tasks.view": "dead"}, "rows": "roomy"}
    for name in ("profile", "chosen", "pages.palette.recent"):
        assert any(f"does not remember '{name}'" in line for line in caplog.messages)
