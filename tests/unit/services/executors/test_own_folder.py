"""Folders that end with the process that made them, and not before."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from services.executors import own_folder

PREFIX, TIMES = "fleetdeck-own-", 150
ROOT = Path(__file__).resolve().parents[4]
MAKE = f"from services.executors import own_folder; print(own_folder.make({PREFIX!r}))"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the system's temporary files lie, for this test alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_folder_is_taken_away_once_its_process_is_gone() -> None:
    mine = own_folder.make(PREFIX)
    told = subprocess.run([sys.executable, "-c", MAKE], cwd=ROOT, capture_output=True, text=True, check=True)
    theirs = Path(told.stdout.strip())
    assert theirs.is_dir()
    assert own_folder.clean_up(PREFIX) == 1
    assert (mine.is_dir(), theirs.exists()) == (True, False)


def test_who_starts_meanwhile_takes_no_fresh_folder_away() -> None:
    """Another worker of the machine looks for what is left at any moment, also while the owner is written down."""
    over, usual = threading.Event(), sys.getswitchinterval()

    def look() -> None:
        while not over.is_set():
            own_folder.clean_up(PREFIX)

    looking = threading.Thread(target=look)
    looking.start()
    sys.setswitchinterval(1e-6)  # so that it looks within a writing
    try:
        for _ in range(TIMES):
            folder = own_folder.make(PREFIX)
            (folder / "kept").touch()
            own_folder.remove(folder)
    finally:
        sys.setswitchinterval(usual)
        over.set()
        looking.join()
