"""Logging of the program: one line a record on stderr, and a rotating file for the console."""

from __future__ import annotations

import logging
import logging.handlers
from pathlib import Path

from services import home_folder
from services.domain.text.mask import masked_text
from services.domain.text.visible import visible


class _Masked(logging.Formatter):
    """Secrets as dots; what a message says stays on its line, and nothing in it is obeyed by a terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return masked_text(super().formatMessage(record)).replace("\n", "\\n")

    def format(self, record: logging.LogRecord) -> str:
        return visible(masked_text(super().format(record)), keep_newlines=True)


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
