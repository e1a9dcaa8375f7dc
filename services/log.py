"""Logging of the program: one line a record on stderr, and a rotating file for the console."""

from __future__ import annotations

import logging
import logging.handlers
import re
from pathlib import Path

from services import home_folder

_CONTROLS = {number: f"\\x{number:02x}" for number in (*range(32), *range(127, 160)) if chr(number) not in "\t\n"}
_USERINFO = re.compile(r"(\w+://)[^/@\s]+@")


class _Masked(logging.Formatter):
    """Cuts user and password out of addresses; what a message says stays on its line, without control characters."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return super().formatMessage(record).translate(_CONTROLS | {ord("\n"): "\\n"})

    def format(self, record: logging.LogRecord) -> str:
        return _USERINFO.sub(r"\1•••@", super().format(record).translate(_CONTROLS))


def set_up(*, verbose: bool = False, file: Path | None = None) -> None:
    """Send warnings (everything with ``verbose``) to stderr and, when named, all from INFO up to a file."""
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if isinstance(handler.formatter, _Masked)]:
        root.removeHandler(old)
        old.close()
    form = _Masked("%(asctime)s %(levelname)s %(name)s %(message)s")
    stream = logging.StreamHandler()
    stream.setLevel(logging.INFO if verbose else logging.WARNING)
    stream.setFormatter(form)
    root.addHandler(stream)
    root.setLevel(logging.INFO)
    for noisy in ("pika", "qtawesome"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        home_folder.keep_private(file)
        rotating = logging.handlers.RotatingFileHandler(file, maxBytes=5_000_000, backupCount=3, encoding="utf-8")
        rotating.setFormatter(form)
        root.addHandler(rotating)
