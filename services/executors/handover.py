"""Brings the files that a child speaks of to where artifacts are kept, beside the reading of its output."""

from __future__ import annotations

import contextlib
import queue
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from services.executors.base import ArtifactSink

#: files of one attempt that are looked at; how long the end of an attempt waits for those that are on their way
MOST, PATIENCE_S = 1_000, 30.0


class Handover:
    """The files of one attempt. Copying must not hold up the reader of the child's output, so it has a thread."""

    def __init__(self, sink: ArtifactSink, cwd: str | None) -> None:
        """``cwd``: of the child; it and the folder for temporary files are where printed paths may lead."""
        self._sink, self._cwd = sink, Path(cwd or ".")
        self._orders: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._seen = 0

    def printed(self, said: Mapping[str, Any]) -> bool:
        """A line ``{"artifact": path, "name", "kind", "step"}``; False for one that only looks like it.

        What a flow prints may come from a page, so its path leads nowhere but to the flow's own folders.
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
            self._sink.note(f"some files were not kept: the place did not take them within {PATIENCE_S:g} s")

    def _order(self, said: Mapping[str, Any], *, anywhere: bool) -> bool:
        path = said.get("artifact")
        if not isinstance(path, str) or not path or "\0" in path:
            return False
        self._seen += 1
        if self._seen > MOST:
            self._sink.note(f"only the first {MOST} files were looked at")
            return True
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="artifacts", daemon=True)
            self._thread.start()
        self._orders.put({**said, "anywhere": anywhere})
        return True

    def _run(self) -> None:
        while (order := self._orders.get()) is not None:
            name, kind, step = (_word(order.get(field)) for field in ("name", "kind", "step"))
            path = self._cwd / order["artifact"]
            name = name or path.name
            if order["anywhere"] or self._own(path):
                self._sink.add(path, name=name, kind=kind, step=step)
            else:
                self._sink.note(
                    f"{name} is left out: it is neither in the flow's folder nor in the one for temporary files"
                )
            if order["anywhere"] and order.get("remove") is True:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _own(self, path: Path) -> bool:
        try:
            real = path.resolve()
            return any(real.is_relative_to(root.resolve()) for root in (self._cwd, Path(tempfile.gettempdir())))
        except (OSError, ValueError, RuntimeError):
            return False


def _word(value: object) -> str:
    return value[:300] if isinstance(value, str) else ""
