"""``make debian-13``: the program in a bare Debian 13, as root, with the Python and the servers of there.

python -m tests.debian [NAME ...] [--out DIR] [--write]

The root is made once, below --out; ``JOBS`` of the environment says how many test processes.
"""

from __future__ import annotations

import os
import sys

from tests.debian.checks import CHECKS
from tests.debian.system import ROOT, Debian
from tests.support import bare_root, listed


def main() -> int:
    """Go through the list, or what of it is named; 1 where something failed, 2 where it cannot be done."""
    args = listed.asked(CHECKS, __doc__, "build/debian")
    if missing := bare_root.lacking():
        print(f"needs {missing}", file=sys.stderr)
        return 2
    if (code := bare_root.apart("tests.debian", sys.argv[1:], ROOT)) is not None:
        return code
    args.out.mkdir(parents=True, exist_ok=True)
    debian = Debian(args.out.absolute(), int(os.environ.get("JOBS", "5")))
    debian.prepare()
    return listed.go(CHECKS, debian, args, "servers")


if __name__ == "__main__":
    sys.exit(main())
