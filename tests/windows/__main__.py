"""``make windows-test``: the program under a CPython for Windows, in wine.

python -m tests.windows [NAME ...] [--out DIR] [--write]
"""

from __future__ import annotations

import sys

from tests.support import listed
from tests.windows.checks import CHECKS
from tests.windows.machine import Machine


def main() -> int:
    """Go through the list, or what of it is named; 1 where something failed."""
    args = listed.asked(CHECKS, __doc__, "build/windows")
    args.out.mkdir(parents=True, exist_ok=True)
    machine = Machine(args.out.absolute() / "machine")
    machine.prepare()
    try:
        return listed.go(CHECKS, machine, args, "windows")
    finally:
        machine.stop()


if __name__ == "__main__":
    sys.exit(main())
