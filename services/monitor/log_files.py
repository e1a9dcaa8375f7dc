"""What the programs of this machine have logged: their files read from the newest line back, all in one order.

Filter: ``level:warning program:worker task:ID worker:NAME request:ID logger:services since:1h until:today words``.
A level means itself and what is worse; ``-`` negates; bare words are looked for in all that a line says.
"""

from __future__ import annotations

import heapq
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from services import log as logs
from services.domain.errors import UsageError
from services.domain.task.search.filter_time import Times
from services.domain.text.said import said
from services.domain.text.terms import Term, terms

LEVELS = ("debug", "info", "warning", "error", "critical")
PROGRAMS = ("api", "console", "worker")
FIELDS = ("level", "program", "task", "worker", "request", "logger", "text")
#: longer lines are none of ours
MAX_LINE = 200_000
#: threads of one program write in the order of their turn, not of their clock
DISORDER_MS = 5_000
_CHUNK = 65_536


class Logged(msgspec.Struct, frozen=True):
    """One line. ``key`` stays the same when its file is rotated."""

    key: str
    program: str  #: worker, worker-2, api …
    at_ms: int  #: UTC
    data: Mapping[str, Any]  #: as the program wrote it

    @property
    def level(self) -> str:
        """How bad."""
        return str(self.data["level"])

    @property
    def text(self) -> str:
        """What it says."""
        return str(self.data["text"])

    def about(self, name: str) -> str:
        """The task, attempt, worker or request it is about, "" for none; ``logger``: who says it."""
        return str(self.data.get(name) or "")


Test = Callable[[Logged], bool]


class Lines(msgspec.Struct, frozen=True):
    """The newest lines that match, the newest first; ``more``: whether older ones are left."""

    rows: tuple[Logged, ...]
    more: bool


class LogQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(self, home: Path, now_ms: Callable[[], int], time_zone: str = "") -> None:
        """``home``: the folder whose programs are meant; ``time_zone``: in which days of a filter begin and end."""
        self.folder = home / logs.FOLDER
        self._now_ms, self._zone = now_ms, time_zone

    def lines(
        self, text: str = "", *, limit: int = 200, since_ms: int = 0, stop: threading.Event | None = None
    ) -> Lines:
        """What matches a filter; nothing older than ``since_ms`` is looked at.

        Raises:
            UsageError: the text is no such filter.
            OSError: a file cannot be read.
        """
        tests = tests_of(text, Times(self._now_ms(), self._zone))
        rows: list[Logged] = []
        for one in newest(self.folder, since_ms=since_ms):
            if stop is not None and stop.is_set():
                break
            if all(test(one) for test in tests):
                if len(rows) == limit:
                    return Lines(tuple(rows), more=True)
                rows.append(one)
        return Lines(tuple(rows), more=False)


def newest(
    folder: Path, program: str = "", *, since_ms: int = 0, ends: Mapping[Path, int] | None = None
) -> Iterator[Logged]:
    """All lines of a folder, the newest first; ``ends``: up to where files are read that are written meanwhile."""
    kinds: dict[str, list[Path]] = {}
    for path in files(folder, program):
        kinds.setdefault(path.name.partition(logs.ENDING)[0], []).insert(0, path)
    each = [_newest_of(kind, paths, since_ms, ends or {}) for kind, paths in kinds.items()]
    return heapq.merge(*each, key=lambda one: one.at_ms, reverse=True)


def files(folder: Path, program: str = "", *, old: bool = True) -> list[Path]:
    """Of each program the oldest first; without ``old`` only those that are written now."""
    found = sorted(folder.glob(f"{program}*{logs.ENDING}*"), key=lambda path: path.name, reverse=True)
    return [path for path in found if path.is_file() and (old or path.suffix == logs.ENDING)]


def read(line: bytes, program: str = "", offset: int = 0) -> Logged | None:
    """A line; None for what is none, as the last one of a program that was killed."""
    if len(line) > MAX_LINE:
        return None
    try:
        found = json.loads(line)
        good = isinstance(found, dict) and all(isinstance(found.get(name), str) for name in ("at", "level", "text"))
        at = round(datetime.fromisoformat(found["at"]).timestamp() * 1000) if good else 0
    except (ValueError, RecursionError, OverflowError):
        return None
    return Logged(f"{program} {found['at']} {offset}", program, at, found) if good else None


def _newest_of(program: str, paths: list[Path], since_ms: int, ends: Mapping[Path, int]) -> Iterator[Logged]:
    for path in paths:
        for offset, line in _backwards(path, ends.get(path)):
            one = read(line, program, offset)
            if one is None:
                continue
            if one.at_ms < since_ms - DISORDER_MS:
                return
            if one.at_ms >= since_ms:
                yield one


def _backwards(path: Path, end: int | None) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, the last one first, each with its place; a file that has gone meanwhile has none."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        at = file.seek(0, 2)
        at = at if end is None else min(at, end)
        rest = b""
        while at:
            step = min(_CHUNK, at)
            file.seek(at - step)
            parts = (file.read(step) + rest).split(b"\n")
            at -= step
            place = at + sum(len(part) + 1 for part in parts)
            for part in reversed(parts[1:]):
                place -= len(part) + 1
                if part:
                    yield place, part
            # a line that is too long to be ours is not gathered: its end alone is no line either
            rest = parts[0][: MAX_LINE + 1]
        if rest:
            yield 0, rest


def tests_of(text: str, times: Times) -> list[Test]:
    """What a line must fulfil, all of it.

    Raises:
        UsageError: the text is no such filter.
    """
    return [_not(_test(term, times)) if term.negated else _test(term, times) for term in terms(text, FIELDS)]


def at_least(level: str) -> Test:
    """Lines as bad as that, and worse."""
    levels = LEVELS[LEVELS.index(level) :]
    return lambda one: one.level in levels


def about(name: str, wanted: str) -> Test:
    """Lines about a task, worker or request; those that only name the task in their words as well."""
    return lambda one: one.about(name) == wanted or (name == "task" and wanted in one.text)


def _test(term: Term, times: Times) -> Test:
    name, value = term.name or "text", term.value
    if name in ("since", "until"):
        return _in_time(name, term.op, value, times)
    if name not in FIELDS or term.op != ":":
        raise UsageError(said("log.field", name=f"{name!r:.40}", known=", ".join(FIELDS)), field="filter")
    if name == "level":
        unknown = term.values - set(LEVELS)
        if unknown:
            raise UsageError(said("log.level", known=", ".join(LEVELS), level=f"{min(unknown)!r:.40}"), field="filter")
        return at_least(min(term.values, key=LEVELS.index))
    if name == "program":
        wanted = term.values
        return lambda one: one.program in wanted or one.program.partition("-")[0] in wanted
    if name in logs.ABOUT:
        each = [about(name, text) for text in value.split(",")]
        return lambda one: any(test(one) for test in each)
    part = value.casefold()
    if name == "logger":
        return lambda one: part in one.about("logger").casefold()
    return lambda one: any(part in word.casefold() for word in _words(one))


def _words(one: Logged) -> Iterator[str]:
    yield one.text
    yield one.program
    yield from (one.about(name) for name in ("logger", "trace", *logs.ABOUT))
    if (more := one.data.get("more")) is not None:
        yield json.dumps(more, ensure_ascii=False, default=str)


def _in_time(name: str, op: str, value: str, times: Times) -> Test:
    bound = times.bound(name, value) if op == ":" else None
    if bound is None:
        raise UsageError(said("query.log_time", name=name, value=f"{value!r:.40}"), field="filter")
    return lambda one: bound(one.at_ms)


def _not(test: Test) -> Test:
    return lambda one: not test(one)
