"""``task artifacts`` and ``task show``: which files a task left, where they are, and copies of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services import assembly
from services import settings as config
from services.domain.change import Claim, Create, Finish
from services.domain.task.artifact import ArtifactMark, mark
from services.domain.task.record import Attempt, Task

Run = Callable[..., tuple[int, Any]]
AWAY = ArtifactMark("away.html", "html", 7, "ab", "", 1, "x/y/1/away.html")


@pytest.fixture
def run(run: Run) -> Run:
    """A command, on a fleet with one task whose first attempt left a file here and one elsewhere."""
    engine = assembly.open_engine(config.load())
    assert engine.artifacts is not None
    kept = engine.artifacts.put("t1", 1, "shot.png", b"png", step="login")
    ended = Attempt(1, "w", 1, 2, "succeeded", artifacts=(mark(kept), AWAY), artifacts_note="big.zip is too large")
    task = Task(task_id="t1", platform="pdd", shop_id="s1", task_type="work")
    claim = Claim(task_id="t1", gen=0, attempt=0, owner="o", worker="w", lease_ms=60_000)
    engine.store.apply([Create(task=task), claim])
    engine.store.apply([Finish(task_id="t1", owner="o", to="succeeded", attempt=ended)])
    engine.close()
    return run


def test_files_are_listed_and_those_that_are_here_are_saved(run: Run, tmp_path: Path) -> None:
    code, told = run("task", "artifacts", "t1")
    assert (code, [(one["name"], one["here"]) for one in told["artifacts"]]) == (
        0, [("away.html", False), ("shot.png", True)],
    )  # fmt: skip
    assert told["artifacts"][1]["sha256"] == hashlib.sha256(b"png").hexdigest()
    code, told = run("task", "artifacts", "t1", "--save", str(tmp_path / "out"))
    assert (code, (tmp_path / "out" / "1-shot.png").read_bytes()) == (1, b"png")  # one could not be saved
    assert [one["saved"] for one in told["artifacts"]] == [None, str(tmp_path / "out" / "1-shot.png")]
    (tmp_path / "out" / "1-shot.png").write_text("mine")
    run("task", "artifacts", "t1", "--save", str(tmp_path / "out"), people=True)
    assert (tmp_path / "out" / "1-shot.png").read_text() == "mine"


def test_show_names_files_and_what_was_left_out(run: Run) -> None:
    _, text = run("task", "show", "t1", people=True)
    assert "1/shot.png  image, 3 bytes" in text
    assert "attempt 1: big.zip is too large" in text
    _, told = run("task", "show", "t1")
    assert [one["name"] for one in told["attempts"][0]["artifacts"]] == ["shot.png", "away.html"]


def test_a_changed_file_is_not_taken_for_the_kept_one(run: Run, tmp_path: Path) -> None:
    (path,) = (tmp_path / "data").rglob("shot.png")
    path.write_bytes(b"other")
    code, told = run("task", "artifacts", "t1", "--save", str(tmp_path / "out"))
    assert (code, told["artifacts"][1]["saved"]) == (1, None)


def test_an_unknown_task_is_wrong_input(run: Run) -> None:
    assert run("task", "artifacts", "nope", people=True)[0] == 2
