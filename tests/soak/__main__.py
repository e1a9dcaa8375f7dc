"""``make soak HOURS=72``: steady work on real workers that come and go, and a verdict on everything that could grow.

Some 20 tasks a second succeed, fail, are tried again, die and are republished; with batches, a schedule every minute,
on the fleet messages of another program, and a console that watches. Memory, descriptors and threads of each process,
disk, SQLite and its log, Redis, RabbitMQ, event lag and the wait for a start are written to a CSV and drawn as text.
The exit code is 1 where a series still grows in the second half of the run, or a task was lost or ended twice.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys

from tests.soak import hurry

#: a run of so many hours sees all that the shortest retention lets go, at its own pace
WHOLE_HOURS = 72.0


def main() -> int:
    """Read the words, shorten what this process keeps, run."""
    parser = argparse.ArgumentParser(
        prog="make soak", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--hours", type=float, default=WHOLE_HOURS)
    parser.add_argument("--pair", choices=("embedded", "fleet", "both"), default="both", help="one after the other")
    parser.add_argument("--rate", type=float, default=20.0, help="tasks a second")
    parser.add_argument("--hurry", type=float, default=0.0, help="how much sooner things are let go; 0: 72 / HOURS")
    parser.add_argument("--restart", type=float, default=120.0, help="seconds between restarts of a worker")
    parser.add_argument("--workers", type=int, default=2, help="those that are restarted, besides one that stays")
    parser.add_argument("--seed", type=int, default=0, help="0 draws one")
    parser.add_argument("--out", default="build/soak", metavar="FOLDER", help="where the CSV is written")
    args = parser.parse_args()
    if args.hours <= 0 or args.rate <= 0:
        parser.error("hours and rate are more than 0")
    args.seed = args.seed or random.SystemRandom().randrange(1, 10_000)
    factor = args.hurry or max(1.0, WHOLE_HOURS / args.hours)
    hurry.apply(factor)
    # only now, for the modules of the program copy the numbers that were shortened
    return int(importlib.import_module("tests.soak.run").main(args, factor))


if __name__ == "__main__":
    sys.exit(main())
