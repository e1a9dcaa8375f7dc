"""A picture of the window, for ``--screenshot``."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtWidgets import QWidget


def take(window: QWidget | None, target: str) -> bool:
    """Write a picture of the window; tell whether that went well, and say on standard error how to help it."""
    if window is None:
        return False
    path = Path(target)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clean = bool(window.grab().save(str(path)))
    except OSError:
        clean = False
    if not clean:
        sys.stderr.write(f"fleetdeck: {target} could not be written; name a .png file in a folder of yours\n")
    return clean
