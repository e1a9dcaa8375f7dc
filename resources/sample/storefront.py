"""Run the sample storefront: ``python storefront.py --port 0 --seed 7 --ready-file F`` serves until told to end."""

from __future__ import annotations

import argparse
import datetime
import json
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

if str(Path(__file__).parent) not in sys.path:  # under -I, or when loaded from its path, the folder is not on it
    sys.path.insert(0, str(Path(__file__).parent))

from sample_storefront.server import DEFAULT_DAY, Storefront
from sample_storefront.trouble import PROFILES

__all__ = ["Storefront", "main"]


def main(argv: Sequence[str]) -> int:
    """Serve until SIGTERM, SIGINT or, where asked for, the end of standard input."""
    options = _parser().parse_args(argv)
    storefront = Storefront(
        options.seed,
        port=options.port,
        profile=options.profile,
        today=options.today,
        latency_s=options.latency,
        slow_s=options.slow,
    )
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    storefront.start()
    if options.ready_file:
        _write_ready(options.ready_file, storefront)
    sys.stdout.write(f"storefront at {storefront.url}, profile {options.profile}, seed {options.seed}\n")
    sys.stdout.flush()
    if options.until_stdin_ends:
        threading.Thread(target=_wait_for_parent, args=(ended,), daemon=True).start()
    ended.wait()
    storefront.stop()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Sample sales platforms on loopback, with their usual trouble.")
    parser.add_argument("--port", type=int, default=0, help="0 = a free one")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--profile", choices=sorted(PROFILES), default="usual", help="how much goes wrong")
    parser.add_argument("--today", type=datetime.date.fromisoformat, default=DEFAULT_DAY, metavar="YYYY-MM-DD")
    parser.add_argument("--latency", type=float, default=0.0, help="average seconds that a page takes")
    parser.add_argument("--slow", type=float, default=1.5, help="seconds more that a slow page takes")
    parser.add_argument("--ready-file", type=Path, help="written when it serves: {port, url}")
    parser.add_argument("--until-stdin-ends", action="store_true", help="end with the parent that holds the pipe")
    return parser


def _write_ready(path: Path, storefront: Storefront) -> None:
    """The file appears whole or not at all, since a parent may be polling for it."""
    draft = path.with_name(f"{path.name}.part")
    draft.write_text(json.dumps({"port": storefront.port, "url": storefront.url}), encoding="utf-8")
    draft.replace(path)


def _wait_for_parent(ended: threading.Event) -> None:
    sys.stdin.buffer.read()
    ended.set()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
