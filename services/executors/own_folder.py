"""Folders in the system's place for temporary files that end with the process that made them."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from services import whole_file
from services.executors import process_tree

#: names the process that made the folder, in the folder
_OWNER = ".fleetdeck-owner"


def make(prefix: str) -> Path:
    """A new folder that only this user may open; in the system's own place, for sockets need short paths.

    Raises:
        OSError: it cannot be made.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
    with whole_file.written(folder / _OWNER, encoding="ascii") as mark:  # half of one would name nobody who lives
        mark.write(process_tree.owner())
    return folder


def remove(folder: Path) -> None:
    """Remove it with everything in it, as far as that is possible."""
    shutil.rmtree(folder, ignore_errors=True)


def clean_up(prefix: str) -> int:
    """Remove those that killed processes have left; returns how many."""
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        try:
            by = (folder / _OWNER).read_text(encoding="ascii")
        except (OSError, ValueError):
            continue
        if not process_tree.owner_lives(by):
            remove(folder)
            removed += 1
    return removed
