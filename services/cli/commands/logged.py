"""``log``: what the programs of this machine have logged, of all of them in one order, by what it is about."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from services import log as logs
from services.cli import output, shapes, spoken
from services.cli.context import EXIT_OK, MAX_ROWS, Context, examples, seconds, whole
from services.clock import SystemClock, machine_zone
from services.monitor import log_files
from services.monitor.log_files import Logged, Test

EXAMPLES = (
    "log --level warning --since 1h",
    "log --task pdd_sync_order_s1_1f3a9c20",
    "log --program worker --follow",
)
_STYLES = {"warning": "yellow", "error": "red", "critical": "bold red"}
PACE_S = 0.5


def add(nouns: Any) -> None:
    parser = nouns.add_parser(
        "log",
        handler=show,
        help="what the programs of this machine have logged",
        description="Workers, api and the window write JSON lines to the folder logs of their home, which rotate. This"
        " reads all of them in one order. What a task itself has printed: task log.",
        **examples(EXAMPLES),
    )
    parser.add_argument("--level", choices=log_files.LEVELS, default="info", help="and what is worse (default: info)")
    parser.add_argument("--program", choices=log_files.PROGRAMS, help="of these alone")
    for name, text in (("task", "a task"), ("worker", "a worker"), ("request", "a request to api")):
        parser.add_argument(f"--{name}", metavar="ID", default="", help=f"about {text} alone")
    parser.add_argument("--since", type=seconds, default=None, metavar="AGE", help="no older than 90s, 10m or 2h")
    parser.add_argument("--limit", type=whole(1, MAX_ROWS), default=200, help="the newest so many (default: 200)")
    parser.add_argument("--follow", action="store_true", help="go on with what comes, until Ctrl-C; not with --json")


def show(context: Context) -> int:
    """Print records, the newest last."""
    args = context.args
    folder = context.settings().home_path / logs.FOLDER
    program, wanted = args.program or "", _wanted(args)
    since = 0 if args.since is None else round(SystemClock().now_ms() - args.since * 1000)
    places = {path: path.stat().st_size for path in log_files.files(folder, program, old=False)}
    found = filter(wanted, log_files.newest(folder, program, since_ms=since, ends=places))
    rows = list(islice(found, args.limit))[::-1]
    zone = context.settings().time_zone or machine_zone()
    lines = [_line(one, zone) for one in rows]
    if not rows and not args.follow:
        lines = [output.Line(spoken.phrase("nothing of that is logged in {folder}", folder=folder), [])]
    context.show({"records": [one.data for one in rows], "folder": str(folder)}, lines)
    if args.follow and not context.json:
        with suppress(KeyboardInterrupt):  # it has no other end
            for new in _new(folder, program, places, wanted):
                output.out(_line(one, zone) for one in new)
    return EXIT_OK


def _new(folder: Path, program: str, places: dict[Path, int], wanted: Test) -> Iterator[list[Logged]]:
    pause = threading.Event()
    while not pause.wait(PACE_S):
        new: list[Logged] = []
        for path in log_files.files(folder, program, old=False):
            size = path.stat().st_size
            begin = places.get(path, 0)
            begin = begin if begin <= size else 0  # it was rotated
            with path.open("rb") as file:
                file.seek(begin)
                data = file.read(size - begin)
            whole_lines = data[: data.rfind(b"\n") + 1]
            places[path] = begin + len(whole_lines)
            new += [one for one in map(log_files.read, whole_lines.splitlines()) if one is not None and wanted(one)]
        yield sorted(new, key=lambda one: one.at_ms)


def _wanted(args: argparse.Namespace) -> Test:
    tests = [log_files.at_least(args.level)]
    tests += [log_files.about(name, text) for name in ("task", "worker", "request") if (text := getattr(args, name))]
    return lambda one: all(test(one) for test in tests)


def _line(found: Logged, zone: str) -> str:
    """A record as people read it; of a traceback the last line, for the rest is in ``--json``."""
    one, at = found.data, shapes.clock(found.at_ms, zone, "milliseconds")
    level = str(one["level"])
    told = {name: str(one[name]) for name in logs.ABOUT if one.get(name)}
    about = [f"{name} {text}" for name, text in told.items() if name == "attempt" or text not in one["text"]]
    trace = str(one.get("trace", "")).strip().splitlines()
    text = f"{at}  {level:<8} {one.get('logger', '')}: {one['text']}"
    text += f"  ({', '.join(about)})" if about else ""
    text += f"  {trace[-1]}" if trace else ""
    text = " ".join(text.splitlines())
    start = len(at) + 2
    spans = [(0, len(at), "dim")] + ([(start, start + len(level), style)] if (style := _STYLES.get(level)) else [])
    return output.Line(text, spans)
