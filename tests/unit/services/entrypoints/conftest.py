"""A command of Fleetdeck in this process, on a home of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.cli import program

Run = Callable[..., tuple[int, Any]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command on an empty home: its code and its document, or with ``people=True`` its lines."""
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    monkeypatch.setattr(program.logs, "set_up", lambda *, verbose: None)  # the log of this process is that of the tests

    def call(*words: str, people: bool = False) -> tuple[int, Any]:
        code = program.run([*words, *([] if people else ["--json"])], lambda request: 0)
        text = capsys.readouterr().out
        return code, text if people else json.loads(text)

    return call
