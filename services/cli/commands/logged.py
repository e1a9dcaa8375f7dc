"""``log``: what the programs of this machine have logged, of all of them in one order, by what it is about."""

from __future__ import annotations

import argparse
import datetime as dt
import heapq
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from services import log as logs
from services.cli import output
from services.cli.context import EXIT_OK, MAX_ROWS, Context, examples, seconds, whole
from services.clock import SystemClock

EXAMPLES = (
    "log --level warning --since 1h",
    "log --task pdd_sync_order_s1_1f3a9c20",
    "log --program worker --follow",
)
LEVELS = ("debug", "info", "warning", "error", "critical")
_STYLES = {"warning": "yellow", "error": "red", "critical": "bold red"}
PROGRAMS = ("api", "console", "worker")
PACE_S = 0.5
#: longer lines are none of ours
MAX_LINE = 200_000

Record = dict[str, Any]


def add(nouns: Any, common: argparse.ArgumentParser) -> None:
    """Declare the noun."""
    parser = nouns.add_parser(
        "log",
        parents=[common],
        help="what the programs of this machine have logged",
        description="Workers, api and the window write JSON lines to the folder logs of their home, which rotate. This"
        " reads all of them in one order. What a task itself has printed: task log.",
        **examples(EXAMPLES),
    )
    parser.add_argument("--level", choices=LEVELS, default="info", help="and what is worse (default: info)")
    parser.add_argument("--program", choices=PROGRAMS, help="of these alone")
    for name, text in (("task", "a task"), ("worker", "a worker"), ("request", "a request to api")):
        parser.add_argument(f"--{name}", metavar="ID", default="", help=f"about {text} alone")
    parser.add_argument("--since", type=seconds, default=None, metavar="AGE", help="no older than 90s, 10m or 2h")
    parser.add_argument("--limit", type=whole(1, MAX_ROWS), default=200, help="the newest so many (default: 200)")
    parser.add_argument("--follow", action="store_true", help="go on with what comes, until Ctrl-C; not with --json")
    parser.set_defaults(handler=show)


def show(context: Context) -> int:
    """Print records, the newest last."""
    args = context.args
    folder = context.settings().home_path / logs.FOLDER
    wanted = _wanted(args)
    places = {path: path.stat().st_size for path in _files(folder, args.program, old=False)}
    found = heapq.merge(*(_records(path, places.get(path)) for path in _files(folder, args.program)), key=_at)
    rows = deque((one for one in found if wanted(one)), maxlen=args.limit)
    context.show({"records": list(rows), "folder": str(folder)}, [_line(one) for one in rows])
    if args.follow and not context.json:
        _follow(folder, args.program, places, wanted)
    return EXIT_OK


def _follow(folder: Path, program: str | None, places: dict[Path, int], wanted: Callable[[Record], bool]) -> None:
    pause = threading.Event()
    while not pause.wait(PACE_S):
        new: list[Record] = []
        for path in _files(folder, program, old=False):
            size = path.stat().st_size
            begin = places.get(path, 0)
            begin = begin if begin <= size else 0  # it was rotated
            with path.open("rb") as file:
                file.seek(begin)
                data = file.read(size - begin)
            whole_lines = data[: data.rfind(b"\n") + 1]
            places[path] = begin + len(whole_lines)
            new += [one for one in map(_read, whole_lines.splitlines()) if one is not None and wanted(one)]
        output.out(_line(one) for one in sorted(new, key=_at))


def _files(folder: Path, program: str | None, *, old: bool = True) -> list[Path]:
    """Of each program the oldest first."""
    found = sorted(folder.glob(f"{program or ''}*{logs.ENDING}*"), key=lambda path: path.name, reverse=True)
    return [path for path in found if path.is_file() and (old or path.suffix == logs.ENDING)]


def _records(path: Path, upto: int | None = None) -> Iterator[Record]:
    """Of a file that is still written only what stood there when somebody looked."""
    with path.open("rb") as file:
        for line in file:
            if upto is not None and file.tell() > upto:
                return
            if (one := _read(line)) is not None:
                yield one


def _read(line: bytes) -> Record | None:
    """A record; None for what is none, as the last line of a program that was killed."""
    if len(line) > MAX_LINE:
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    good = isinstance(found, dict) and all(isinstance(found.get(name), str) for name in ("at", "level", "text"))
    return found if good else None


def _at(one: Record) -> str:
    return str(one["at"])


def _wanted(args: argparse.Namespace) -> Callable[[Record], bool]:
    levels = LEVELS[LEVELS.index(args.level) :]
    about = {name: text for name in ("task", "worker", "request") if (text := getattr(args, name))}
    since = ""
    if args.since is not None:
        edge = SystemClock().now_ms() / 1000 - args.since
        since = dt.datetime.fromtimestamp(edge, dt.UTC).isoformat(timespec="milliseconds")

    def wanted(one: Record) -> bool:
        return (
            one["level"] in levels
            and one["at"] >= since
            and all(one.get(name) == text or (name == "task" and text in one["text"]) for name, text in about.items())
        )

    return wanted


def _line(one: Record) -> str:
    """A record as people read it; of a traceback the last line, for the rest is in ``--json``."""
    at, level = one["at"][:23].replace("T", " "), str(one["level"])
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
