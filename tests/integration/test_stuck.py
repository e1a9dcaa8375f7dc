"""A test process that hangs where no signal of Python reaches it is shown, killed and named; the run goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

#: waits for ever with the lock of the interpreter held: neither pytest-timeout is answered nor a request for its tests
HANGS = """
import ctypes, pytest
LOCK = ctypes.create_string_buffer(256)
def test_before(): pass
def test_fails(): assert 1 == 2
@pytest.mark.timeout(1)
def test_hangs():
    for _ in range(2): ctypes.PyDLL(None).pthread_mutex_lock(LOCK)
@pytest.mark.parametrize("n", range(40))
def test_after(n): pass
"""


pytestmark = [
    pytest.mark.deep,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.platform == "win32", reason="there no signal shows the threads of another process"),
]


def run(folder: Path, *words: str, seconds: int = 1) -> tuple[int, str]:
    """The exit code of pytest over the module, and what was printed; ``seconds``: what the one that hangs may take."""
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "test_it.py").write_text(HANGS.replace("timeout(1)", f"timeout({seconds})"), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tests.stuck", "-n", "2", "--dist", "worksteal", "-q", *words]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_process_that_hangs_is_killed_and_its_tests_are_tried_by_another(tmp_path: Path) -> None:
    code, said = run(tmp_path)
    assert code == 1, said
    assert "failed so far: test_it.py::test_fails (call, 0 s)" in said
    assert "test_it.py::test_hangs hangs, after " in said
    assert "in test_hangs" in said, "the places of its threads are shown"
    assert "crashed while running 'test_it.py::test_hangs'" in said
    assert "2 failed, 41 passed" in said


def test_a_run_that_takes_too_long_is_interrupted_and_says_what_failed(tmp_path: Path) -> None:
    code, said = run(tmp_path, "--no-longer", "0.001", seconds=100)
    assert code == 2, said
    assert "interrupted after 0 minutes" in said
    assert "KeyboardInterrupt" in said
