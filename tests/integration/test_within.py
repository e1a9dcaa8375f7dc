"""A run that is to end in time leaves out what is deep, says so, and tries all the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.architecture.source import ROOT

BODY = """
import pytest
@pytest.mark.deep
def test_a(): pass
@pytest.mark.deep
def test_b(): pass
def test_c(): pass
"""


def test_what_is_deep_is_left_out_when_the_time_is_over(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    deep: more of the same\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(BODY, encoding="utf-8")

    def run(minutes: float) -> str:
        words = ["-p", "tests.within", "--within", str(minutes), "-v", "-rs", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", *words]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": ""},
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    over = run(1e-9)
    assert "1 passed, 2 skipped" in over
    assert "SKIPPED [2]" in over
    assert "the time of this run is over" in over
    enough = run(60)
    assert "3 passed" in enough
    assert [line.partition(" ")[0][-6:] for line in enough.splitlines() if " PASSED" in line] == [
        "test_c",
        "test_a",
        "test_b",
    ]
