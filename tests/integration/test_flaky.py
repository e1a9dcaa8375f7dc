"""What fails runs once more alone, a fault several times: named as flaky, never many, never a race."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

pytestmark = [pytest.mark.deep, pytest.mark.timeout(400)]

CONFIG = """
[pytest]
markers =
    fault: breaks something
    race: several at once
"""
#: fails the first time it is run in a folder, and passes from then on
ONCE = """
import pathlib, pytest
def once(name):
    mark = pathlib.Path(__file__).with_name(name)
    if not mark.exists():
        mark.touch()
        pytest.fail("first time")
"""
#: fails the first and the third time
THIRD = """
def test_a():
    runs = pathlib.Path(__file__).with_name("runs")
    before = runs.stat().st_size if runs.exists() else 0
    with runs.open("a") as file:
        file.write("x")
    assert before not in (0, 2)
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder for tests of its own."""
    (tmp_path / "pytest.ini").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def run(suite: Path, body: str, *words: str, pytest_words: tuple[str, ...] = ()) -> tuple[int, str]:
    """Judge a suite of this one file."""
    (suite / "test_it.py").write_text(ONCE + body, encoding="utf-8")
    command = [sys.executable, "-m", "tests.flaky", *words, "--", "-q", *pytest_words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("FLEETDECK_TEST_SEED", None)
    ended = subprocess.run(
        command,
        cwd=suite,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return ended.returncode, ended.stdout


def test_a_test_that_passes_alone_is_named_and_allowed(suite: Path) -> None:
    code, printed = run(suite, "def test_a(): once('a')\ndef test_b(): pass\n")
    assert code == 0
    assert "FLAKY test_it.py::test_a" in printed
    assert "FLEETDECK_TEST_SEED=" in printed


def test_a_failure_stays_one(suite: Path) -> None:
    code, printed = run(suite, "def test_a(): assert 0\n")
    assert code == 1
    assert "FAILED test_it.py::test_a" in printed


def test_what_is_left_out_when_it_is_tried_again_stays_a_failure(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (suite / "conftest.py").write_text("pytest_plugins = ('tests.within',)\n", encoding="utf-8")
    body = (
        "import os",
        "@pytest.mark.deep",
        "def test_a():",
        "    os.environ['FLEETDECK_TEST_UNTIL'] = '1'",
        "    assert 0",
    )
    code, printed = run(suite, "\n".join(body))
    assert code == 1
    assert "FAILED test_it.py::test_a" in printed


def test_a_race_is_believed(suite: Path) -> None:
    code, printed = run(suite, "@pytest.mark.race\ndef test_a(): once('a')\n")
    assert code == 1
    assert "FAILED test_it.py::test_a (never repeated)" in printed


def test_a_fault_has_to_pass_several_times(suite: Path) -> None:
    code, printed = run(suite, "@pytest.mark.fault\ndef test_a(): once('a')\n")
    assert code == 0
    assert "FLAKY test_it.py::test_a" in printed
    code, printed = run(suite, "@pytest.mark.fault\n" + THIRD)
    assert code == 1
    assert "FAILED test_it.py::test_a\n" in printed


def test_more_than_two_fail(suite: Path) -> None:
    body = "".join(f"def test_{name}(): once('{name}')\n" for name in "abc")
    assert run(suite, body)[0] == 1


def test_several_runs_are_counted_together(suite: Path) -> None:
    words = ("--ledger", str(suite / "ledger"))
    assert run(suite, "def test_a(): once('a')\ndef test_b(): once('b')\n", *words)[0] == 0
    assert run(suite, "def test_c(): once('c')\n", *words)[0] == 1
    assert run(suite, "def test_d(): pass\n", *words)[0] == 0


def test_a_module_that_cannot_be_read_fails(suite: Path) -> None:
    assert run(suite, "import nothing_of_this_name\n")[0] not in (0, 5)


def test_what_has_ended_its_process_is_never_repeated(suite: Path) -> None:
    code, printed = run(suite, "def test_a():\n    import os\n    os._exit(3)\n", pytest_words=("-n", "1"))
    assert code == 1
    assert "FAILED test_it.py::test_a (never repeated)" in printed


@pytest.mark.skipif(sys.platform == "win32", reason="there no signal shows the threads of another process")
def test_what_hangs_is_ended_and_tried_again(suite: Path) -> None:
    body = """
@pytest.mark.timeout(0.1)
def test_a():
    mark = pathlib.Path(__file__).with_name("hung")
    if not mark.exists():
        mark.touch()
        import ctypes
        lock = ctypes.create_string_buffer(256)
        for _ in range(2): ctypes.PyDLL(None).pthread_mutex_lock(lock)
"""
    code, printed = run(suite, body, pytest_words=("-n", "1", "-p", "tests.stuck"))
    assert code == 0, printed
    assert "FLAKY test_it.py::test_a" in printed
