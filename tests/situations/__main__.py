"""``make situations``: makes each kind of trouble and takes its pictures.

python -m tests.situations [NAME ...] [--out DIR] [--language zh_CN] [--theme light] [--size 1280x800] [--variant 3]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.situations.kinds import SITUATIONS, Situation
from tests.situations.stage import Stage


def _one(situation: Situation, out: Path, looks: dict[str, str], variant: int) -> bool:
    """In a process of its own, so that what a situation breaks breaks no other."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    code = 1
    stage = None
    try:
        home = Path(tempfile.mkdtemp(prefix=f"fleetdeck-{situation.name}-"))
        stage = Stage(
            home=home, pair=(situation.other_pair if variant else "") or situation.pair, out=out, looks=looks,
            retries=situation.retries, retry_s=situation.retry_s, name=situation.name, variant=variant,
        )  # fmt: skip
        if not variant:
            stage.tell(situation.what, situation.click)
        situation.make(stage)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        if stage is not None:
            stage.close()
        sys.stdout.flush()
        os._exit(code)


def main() -> int:
    """Make all situations, or those named."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("names", nargs="*")
    words.add_argument("--out", default="build/situations")
    words.add_argument("--language", default="en")
    words.add_argument("--theme", default="dark")
    words.add_argument("--size", default="1280x800")
    words.add_argument("--variant", type=int, default=0, metavar="N", help="made differently: a seed, 0 as described")
    args = words.parse_args()
    width, _, height = args.size.partition("x")
    looks = {"language": args.language, "theme": args.theme, "width": int(width), "height": int(height)}
    failed = []
    for situation in SITUATIONS:
        if args.names and situation.name not in args.names:
            continue
        began = time.monotonic()
        good = _one(situation, Path(args.out).resolve(), looks, args.variant)
        sys.stdout.write(f"{situation.name}: {'ok' if good else 'FAILED'} in {time.monotonic() - began:.0f} s\n")
        sys.stdout.flush()
        if not good:
            failed.append(situation.name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
