"""The sample fleet as separate processes: storefronts on free ports that end with their test."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.resources.sample_fleet import SAMPLE, Fleet


@pytest.fixture
def open_fleet(tmp_path: Path) -> Iterator[Callable[..., Fleet]]:
    """Start storefronts with the given options; they end with the test."""
    running: list[subprocess.Popen[str]] = []

    def start(*options: str) -> Fleet:
        folder = tmp_path / f"fleet-{len(running)}"
        folder.mkdir()
        ready = folder / "ready.json"
        command = [sys.executable, str(SAMPLE / "storefront.py"), "--ready-file", str(ready), "--until-stdin-ends"]
        process = subprocess.Popen(
            [*command, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        running.append(process)
        assert process.stdout is not None
        assert "storefront at http://127.0.0.1:" in process.stdout.readline()
        return Fleet(json.loads(ready.read_text(encoding="utf-8"))["url"], folder)

    yield start
    for process in running:
        _, errors = process.communicate(timeout=30)  # closes stdin, which ends it
        assert process.returncode == 0
        assert errors == ""


@pytest.fixture
def fleet(open_fleet: Callable[..., Fleet]) -> Fleet:
    """A storefront on which nothing goes wrong unless told."""
    return open_fleet("--profile", "healthy", "--slow", "0.05")


@pytest.fixture
def usual_fleet(open_fleet: Callable[..., Fleet]) -> Fleet:
    """A storefront with the usual trouble."""
    return open_fleet("--profile", "usual", "--slow", "0.05")
