"""Fleetdeck: the operations console and the task engine under it."""

from __future__ import annotations

import sys

from services.entrypoints import cli


def _console(request: cli.ConsoleRequest) -> int:
    """Open the window; Qt is loaded here and nowhere in the headless commands."""
    from console.application import run

    return run(request)


def main() -> int:
    """Run the command line with the words of this process."""
    return cli.run(sys.argv[1:], _console)


if __name__ == "__main__":
    sys.exit(main())
