"""Logging of the program: one line a record on stderr for people, and files of JSON that rotate.

What a record is about (task, attempt, worker, request) stands in fields of its own, so that everything about one of
them is found: ``about`` names it for all that is logged within a block, ``of_process`` for all of this process.
"""

from __future__ import annotations

import datetime as dt
import errno
import json
import logging
import logging.handlers
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from contextvars import ContextVar, Token
from pathlib import Path
from typing import IO, Any

from services import home_folder
from services.domain.errors import BrokerUnavailable, Forbidden, SchemaTooNew, StoreUnavailable
from services.domain.text import mask
from services.domain.text.mask import masked_text
from services.domain.text.visible import escaped, visible

FOLDER, ENDING = "logs", ".jsonl"
#: bytes of a file, and how many older ones are kept beside it
ROTATED, KEPT = 5_000_000, 3
#: after which one that could not be is tried again
ROTATE_AGAIN_S = 60.0
#: programs of one kind and home that write at once, each its own file
BESIDE = 64
#: how a system says that a file finds no room, of the disk or of a person's share of it
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
#: what a record may be about
ABOUT = ("task", "attempt", "worker", "request")
_ABOUT: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("what is logged is about", default=())
_OF_PROCESS: dict[str, str] = {}
#: a traceback longer than that is cut at its head
MAX_TRACE = 20_000
#: what is away, or too new to be written, is told of again after so many seconds, then after twice as many each time,
#: up to the last; what nobody has missed for so long was there meanwhile
AGAIN_S, LONGEST_S, OVER_S = 10, 1800, 120
_AWAY = (StoreUnavailable, BrokerUnavailable, SchemaTooNew, Forbidden)


def back(away: type[Exception]) -> dict[str, type[Exception]]:
    """``extra`` of the record that says that the store or the broker is there again."""
    return {"back": away}


#: the last lines of this process, each with when (UTC ms) and how bad
_RECENT: deque[tuple[int, str, str]] = deque(maxlen=500)


def recent() -> tuple[tuple[int, str, str], ...]:
    """When (UTC ms), how bad and what: the last that this process has logged from INFO up, the newest last; secrets as
    dots.
    """
    return tuple(_RECENT)


class _About:
    """A block of which ``about`` says something: entered for each task, so with little work."""

    __slots__ = ("_names", "_token")
    _token: Token[tuple[tuple[str, str], ...]]

    def __init__(self, names: tuple[tuple[str, str], ...]) -> None:
        self._names = names

    def __enter__(self) -> None:
        self._token = _ABOUT.set(_ABOUT.get() + self._names)

    def __exit__(self, *_exc: object) -> None:
        _ABOUT.reset(self._token)


def about(**names: object) -> _About:
    """Say of all that is logged within the block, in this thread and those that take its context over, what it is
    about; names are those of ``ABOUT``, of which the innermost block tells.
    """
    return _About(tuple([(name, str(value)) for name, value in names.items()]))


def of_process(**names: str) -> None:
    """Say the same of all that this process logs from now on; "" takes it back."""
    _OF_PROCESS.update(names)


class _Outage:
    """One time during which the store or the broker was away: every thread finds that out each second, and says so."""

    def __init__(self, began: float) -> None:
        self.began = self.last = began
        self.told: set[tuple[str, str]] = set()
        self.again, self.pause = began + AGAIN_S, float(AGAIN_S)


class _Outages:
    """Decides once for all handlers which record of an outage is one too many: each sentence is told when it is said
    first, after that one of all at growing intervals, with for how long.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._now: dict[type[Exception], _Outage] = {}

    def clear(self) -> None:
        self._now.clear()

    def lets(self, record: logging.LogRecord) -> bool:
        with self._turn:
            known: bool | None = getattr(record, "let", None)
            if known is None:
                known = record.let = self._judge(record)
            return known

    def _judge(self, record: logging.LogRecord) -> bool:
        if (over := getattr(record, "back", None)) is not None:
            self._now.pop(over, None)
        arguments = record.args if isinstance(record.args, tuple) else ()
        away = next((kind for kind in _AWAY for one in arguments if isinstance(one, kind)), None)
        if away is None or record.exc_info:
            return True
        at = record.created
        outage = self._now.get(away)
        if outage is None or at - outage.last > OVER_S or at < outage.began:
            outage = self._now[away] = _Outage(at)
        outage.last = at
        sentence = (record.name, str(record.msg))
        if sentence not in outage.told:
            outage.told.add(sentence)
            return True
        if at < outage.again:
            return False
        outage.pause = min(outage.pause * 2, LONGEST_S)
        outage.again = at + outage.pause
        record.msg, record.args = f"{record.getMessage()} (for {round(at - outage.began)} s)", ()
        return True


_OUTAGES = _Outages()


class _Noting(logging.Filter):
    """Keeps with a record what it is about, while its context is there; lets none through that says the same again."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not _OUTAGES.lets(record):
            return False
        found = {name: text for name, text in {**_OF_PROCESS, **dict(_ABOUT.get())}.items() if text}
        found |= {name: str(getattr(record, name)) for name in ABOUT if getattr(record, name, None)}
        record.about = found
        return True


class _Masked(logging.Formatter):
    """Secrets as dots; what a message says stays on its line, and nothing in it is obeyed by a terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        text = super().formatMessage(record)
        # of the process only its file says it, whose every line would have it
        own = {name: one for name, one in _about(record).items() if _OF_PROCESS.get(name) != one}
        own = {name: one for name, one in own.items() if name == "attempt" or one not in record.message}
        text += f" ({', '.join(f'{name} {one}' for name, one in own.items())})" if own else ""
        return masked_text(text).replace("\n", "\\n")

    def format(self, record: logging.LogRecord) -> str:
        return visible(masked_text(super().format(record)), keep_newlines=True)


class _Recent(logging.Handler):
    """Remembers the last lines."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(Exception):  # what cannot be written down is no reason to fail
            _RECENT.append((round(record.created * 1000), record.levelname.lower(), self.format(record)))


class _Json(logging.Formatter):
    """One object a line: when (UTC, milliseconds), how bad, who says it, what, what it is about, and a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        at = dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds")
        told: dict[str, Any] = {
            "at": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "text": masked_text(record.getMessage()),
            **_about(record),
        }
        if isinstance(more := getattr(record, "more", None), dict):
            told["more"] = mask.masked(more)
        told |= {"pid": record.process, "thread": record.threadName}
        if record.exc_info:
            told["trace"] = masked_text(self.formatException(record.exc_info))[-MAX_TRACE:]
        return escaped(json.dumps(told, ensure_ascii=False, default=str))


def _about(record: logging.LogRecord) -> dict[str, str]:
    found: dict[str, str] = getattr(record, "about", {})
    return found


def set_up(*, verbose: bool = False, file: Path | None = None) -> None:
    """Send warnings (everything with ``verbose``) to stderr and, when named, all from INFO up to a file."""
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if isinstance(handler.formatter, _Masked | _Json)]:
        root.removeHandler(old)
        old.close()
    _OF_PROCESS.clear()
    _OUTAGES.clear()
    stream = logging.StreamHandler()
    stream.setLevel(logging.INFO if verbose else logging.WARNING)
    _add(stream, _Masked("%(asctime)s %(levelname)s %(name)s %(message)s"))
    _add(_Recent(), _Masked("%(name)s: %(message)s"))
    root.setLevel(logging.INFO)
    for noisy in ("pika", "qtawesome"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    if file is not None:
        _write_to(file)


def keep(home: Path, program: str) -> Path | None:
    """Write all from INFO up to a file of this program from now on: ``logs/worker.jsonl``, or ``worker-2`` where
    another one writes that. None, and a warning, where no file can be written: a full disk keeps nobody from working.
    """
    folder = home / FOLDER
    try:
        home_folder.make_private(folder)
        for number in range(1, BESIDE + 1):
            path = folder / (program + (f"-{number}" if number > 1 else "") + ENDING)
            if (lock := home_folder.locked(path.with_suffix(".lock"))) is not None:
                _write_to(path, lock)
                return path
        raise OSError(None, f"{BESIDE} programs write there already")
    except OSError as exc:
        logging.getLogger(__name__).warning("nothing is logged to %s: %s", folder, exc.strerror or exc)
    return None


class _Rotating(logging.handlers.RotatingFileHandler):
    """Lets its lock go with itself."""

    lock_file: IO[bytes] | None = None
    _again = 0.0  #: no other attempt to rotate before

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        return time.monotonic() >= self._again and bool(super().shouldRollover(record))

    def doRollover(self) -> None:
        """On Windows a file that another program reads keeps its name: it goes on in the same one and tries later."""
        try:
            super().doRollover()
        except PermissionError:
            self._again = time.monotonic() + ROTATE_AGAIN_S
            self.stream = self.stream or self._open()

    def close(self) -> None:
        super().close()
        if self.lock_file is not None:
            self.lock_file.close()

    def handleError(self, record: logging.LogRecord) -> None:
        """What needs a full disk says so itself: a traceback for each line that finds no room tells nobody anything."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError) or error.errno not in _NO_ROOM:
            super().handleError(record)


def _write_to(file: Path, lock: IO[bytes] | None = None) -> None:
    home_folder.make_private(file.parent)
    home_folder.keep_private(file)
    rotating = _Rotating(file, maxBytes=ROTATED, backupCount=KEPT, encoding="utf-8")
    rotating.lock_file = lock
    _add(rotating, _Json())


def _add(handler: logging.Handler, formatter: logging.Formatter) -> None:
    handler.setFormatter(formatter)
    handler.addFilter(_Noting())
    logging.getLogger().addHandler(handler)
