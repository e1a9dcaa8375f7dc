"""Fleetdeck: the operations console and the task engine under it."""

from __future__ import annotations

import sys

from services.entrypoints.cli import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
