"""Brings the files that a child speaks of to where artifacts are kept, beside the reading of its output."""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import stat
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from services.domain.text.said import said as sentence
from services.executors.base import ArtifactSink

#: files of one attempt that are looked at; how long the end of an attempt waits for those that are on their way
MOST, PATIENCE_S = 1_000, 30.0


class Handover:
    """The files of one attempt. Copying must not hold up the reader of the child's output, so it has a thread."""

    def __init__(self, sink: ArtifactSink, folder: Path | str | None) -> None:
        """``folder``: the attempt's own, where printed paths lead; of told ones that are relative, where they begin."""
        self._sink, self._folder = sink, Path(folder or ".")
        self._orders: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._seen = 0

    def printed(self, said: Mapping[str, Any]) -> bool:
        """A line ``{"artifact": path, "name", "kind", "step"}``; False for one that only looks like it.

        What a flow prints may come from a page, so its path leads nowhere but into the folder of the attempt.
        """
        return self._order(said, anywhere=False)

    def told(self, said: Mapping[str, Any]) -> None:
        """The same from code that was written for it; with ``remove`` the file is its own and goes."""
        self._order(said, anywhere=True)

    def finish(self) -> None:
        """Wait until everything is kept; what is not by then is noted."""
        if self._thread is None:
            return
        self._orders.put(None)
        self._thread.join(PATIENCE_S)
        if self._thread.is_alive():
            self._sink.note(sentence("artifact.late", seconds=f"{PATIENCE_S:g}"))

    def _order(self, said: Mapping[str, Any], *, anywhere: bool) -> bool:
        path = said.get("artifact")
        if not isinstance(path, str) or not path or "\0" in path:
            return False
        self._seen += 1
        if self._seen > MOST:
            self._sink.note(sentence("artifact.looked", most=str(MOST)))
            return True
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="artifacts", daemon=True)
            self._thread.start()
        self._orders.put({**said, "anywhere": anywhere})
        return True

    def _run(self) -> None:
        while (order := self._orders.get()) is not None:
            name, kind, step = (_word(order.get(field)) for field in ("name", "kind", "step"))
            path = self._folder / order["artifact"]
            name = name or path.name
            if order["anywhere"]:
                self._sink.add(path, name=name, kind=kind, step=step)
            elif (own := self._own(path)) is not None:
                with own:
                    self._sink.add(own, name=name, kind=kind, step=step)
            else:
                self._sink.note(sentence("artifact.outside", file=_word(name)))
            if order["anywhere"] and order.get("remove") is True:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _own(self, path: Path) -> BinaryIO | None:
        """The file itself, if it lies in the attempt's own folder and nowhere else.

        What is opened is what was looked at: whoever can write there may put a link in its place at any moment.
        """
        try:
            folder = self._folder.resolve()
            inside = path.resolve(strict=True).relative_to(folder)
            number = _opened(folder, inside.parts)
        except (OSError, ValueError, RuntimeError):
            return None
        found = os.fstat(number)
        # a second name may be somebody else's, anywhere on the disk
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            os.close(number)
            return None
        return os.fdopen(number, "rb")


def _opened(folder: Path, parts: Sequence[str]) -> int:
    """A file below a folder, step by step and never through a link.

    Raises:
        OSError: there is none, or a link has come to stand on the way.
    """
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if sys.platform == "win32":  # where links are a right of their own
        return os.open(folder.joinpath(*parts), os.O_RDONLY | getattr(os, "O_BINARY", 0))
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for part in parts[:-1]:
        try:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
        finally:
            os.close(place)
        place = inner
    try:
        # a pipe would be waited for
        return os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    finally:
        os.close(place)


def _word(value: object) -> str:
    return value[:300] if isinstance(value, str) else ""
