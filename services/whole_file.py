"""Files that are there whole or not at all: written under another name, and put in their place when finished."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from services import plain_file
from services.domain.text.said import said

#: of Windows: no access, shared with nobody, locked; each of them it says of a file that another program has open
_HELD = (5, 32, 33)
_PATIENCE_S, _PAUSE_S = 2.0, 0.05


@contextmanager
def written(path: Path, encoding: str = "utf-8", **options: Any) -> Iterator[TextIO]:
    """A text file to write, which takes the place of ``path`` at the end and not where an error ends it before.

    Raises:
        OSError: it cannot be written, or its place is taken; see ``put``.
    """
    draft = draft_of(path)
    try:
        with draft.open("w", encoding=encoding, **options) as file:
            yield file
        put(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def draft_of(path: Path) -> Path:
    """The name beside it under which it is written."""
    return path.with_name(f".{path.name}.part")


def put(draft: Path, path: Path, *, patience_s: float = _PATIENCE_S) -> None:
    """Let a finished file take the place of another.

    On Windows one that a program has open keeps its place. A scanner of viruses lets go of it in a moment, Excel when
    somebody closes it there.

    Raises:
        PermissionError: a program still had it open after ``patience_s``; its text says what to do.
        OSError: it cannot be put there, or what is there is a device or a pipe, which no file takes the place of.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, plain_file.NO_FILE)
    until = time.monotonic() + patience_s
    while True:
        try:
            draft.replace(path)
        except PermissionError as exc:
            if getattr(exc, "winerror", None) not in _HELD:
                raise
            if time.monotonic() >= until:
                raise PermissionError(said("file.in_use", name=path.name)) from exc
        else:
            return
        time.sleep(_PAUSE_S)
