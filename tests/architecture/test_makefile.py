"""What `make` leaves behind where the environment could not be made, or was cut off while it was; and side by side."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGES
from tests.linux import package

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE, CI_RUN = ROOT / "Makefile", ROOT / ".ci/run"
#: what .ci/run makes, as it tells of it: the first two before all others, those after the tests beside them
TARGETS = ("setup", "lint", "test", "readme", "chaos-fleet", "chaos-embedded", "harsh")
#: parts of Qt, and what each needs of a system beside what the first three draw with
QT_PARTS = {
    "PySide6.QtCore": (),
    "PySide6.QtGui": ("libgl1", "libegl1", "libfontconfig1", "libxkbcommon0"),
    "PySide6.QtWidgets": (),
    "PySide6.QtPrintSupport": (),
    "PySide6.QtNetwork": ("libgssapi-krb5-2",),
}
STAMP = f".venv/.run-{hashlib.sha256(b'').hexdigest()[:16]}"

pytestmark = [pytest.mark.skipif(shutil.which("make") is None, reason="needs make")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project without requirements."""
    shutil.copy(MAKEFILE, tmp_path)
    (tmp_path / "requirements.txt").touch()
    return tmp_path


def python(root: Path, body: str) -> str:
    """A Python of one's own that does ``body`` when asked for an environment."""
    path = root / "python"
    path.write_text(
        f'#!/bin/bash\nreal={sys.executable}\ncase "$*" in\n*"-m venv"*) {body} ;;\nesac\nexec $real "$@"\n'
    )
    path.chmod(0o755)
    return str(path)


def make(root: Path, python: str, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "VIRTUAL_ENV"))}
    return subprocess.run(
        ["make", *words],
        cwd=root,
        env=kept | {"FLEETDECK_PYTHON": python},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


HALF = "mkdir -p .venv/bin; ln -sf $real .venv/bin/python; touch .venv/pyvenv.cfg;"


def test_every_library_that_a_part_of_qt_asks_for_is_brought() -> None:
    """A developer's machine has them anyway; a bare one could not open the window (``make debian-13 ARGS=window``)."""
    listed = re.search(r"^SYSTEM_RUN := (.*\\\n.*)$", MAKEFILE.read_text("utf-8"), flags=re.MULTILINE)
    assert listed is not None
    brought = set(listed[1].replace("\\", "").split())
    packed = {name.split(" | ")[-1] for name in package.SYSTEM.split(", ")}
    assert packed == brought
    files = (file for folder in PACKAGES for file in (ROOT / folder).rglob("*.py"))
    used = {name for file in files for name in re.findall(r"from (PySide6\.\w+) import", file.read_text("utf-8"))}
    assert used <= set(QT_PARTS), "look what the new part needs on a bare Debian, and name it here"
    assert {name for part in used for name in QT_PARTS[part]} <= brought


def test_an_environment_that_could_not_be_made_is_not_left_behind(root: Path) -> None:
    """As on a machine whose Python comes without ensurepip: the interpreter is there, pip is not."""
    done = make(root, python(root, f"{HALF} exit 1"), ".venv/bin/python")
    assert done.returncode != 0
    assert not (root / ".venv").exists()
    assert "python3-venv" in done.stderr


@pytest.mark.deep
def test_what_was_cut_off_is_made_anew(root: Path) -> None:
    """By a kill, or by the make of before, which left what could not be made: the next call has to see it."""
    subprocess.run(["bash", "-c", f"real={sys.executable}; {HALF}"], cwd=root, check=True)
    assert (root / ".venv/bin/python").exists()
    whole = make(root, python(root, ":"), STAMP)
    assert whole.returncode == 0, whole.stderr
    assert (root / STAMP).exists()
    (root / STAMP).unlink()
    (root / ".venv/.unfinished").touch()
    (root / ".venv/left").touch()
    again = make(root, python(root, ":"), STAMP)
    assert again.returncode == 0, again.stderr
    assert not (root / ".venv/left").exists()
    assert not (root / ".venv/.unfinished").exists()


@pytest.mark.parametrize("bad", ["", *TARGETS])
def test_the_judgement_fails_where_one_of_its_parts_does_and_tells_what_each_printed(tmp_path: Path, bad: str) -> None:
    """``.ci/run`` with a ``make`` that only says what it was called for."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(CI_RUN, tmp_path / ".ci")
    called = tmp_path / "make"
    called.write_text(
        f'#!/bin/bash\nfor word in "$@"; do case $word in {"|".join(TARGETS)}) echo "made $word" ;; esac; done\n'
        f'[[ -n "{bad}" && " $* " == *" {bad} "* ]] && exit 2\nexit 0\n'
    )
    called.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        [tmp_path / ".ci/run"], env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode != 0) == bool(bad), done.stderr
    said = [line.removeprefix("made ") for line in done.stdout.splitlines() if line.startswith("made ")]
    first = TARGETS.index(bad) + 1 if bad in TARGETS[:2] else len(TARGETS)
    assert said == list(TARGETS[:first]), "what is needed first, then all the others, whatever one of them says"
