"""``make windows-test``: the program under a CPython for Windows, in wine.

python -m tests.windows [NAME ...] [--out DIR] [--write]
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.windows import page
from tests.windows.checks import CHECKS, Failed
from tests.windows.machine import Machine


def main() -> int:
    """Go through the list, or what of it is named; 1 where something failed."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("names", nargs="*", choices=[*(check.name for check in CHECKS), []])
    words.add_argument("--out", type=Path, default=Path("build/windows"), help="folder of the prefix and the pictures")
    words.add_argument("--write", action="store_true", help="put the last results into resources/docs")
    args = words.parse_args()
    machine = Machine(args.out.absolute() / "machine")
    args.out.mkdir(parents=True, exist_ok=True)
    machine.prepare()
    results = page.Results(args.out / "results.json")
    failed = done = 0
    for check in CHECKS:
        if args.names and check.name not in args.names:
            continue
        began = time.monotonic()
        try:
            passed, what = True, check.do(machine, args.out)
        except (Failed, KeyError) as exc:
            passed, what = False, str(exc)
        done, failed = done + passed, failed + (not passed)
        results.put(check.name, passed=passed, what=what, day=datetime.now(UTC).date().isoformat())
        print(f"{'passed' if passed else 'FAILED'}  {check.name}  {time.monotonic() - began:.0f} s  {what}", flush=True)
    machine.stop()
    if args.write:
        results.write()
    print(f"{done} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
