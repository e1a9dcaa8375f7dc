"""Runs in the child process of a Python handler: reads jobs from standard input, answers on a pipe of its own.

What handlers print goes to the real standard output and error and becomes the task's log.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import queue
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from services.executors import child_end, registry

#: begins the line on both outputs that divides the jobs of one child
MARK = "\x1dend of "


class Child:
    """The other end of ``HandlerProcess``."""

    def __init__(self, commands: int, channel: int) -> None:
        self._commands, self._channel = commands, channel
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._cancelled = ""  #: the job that is to be given up, maybe one that is not begun yet
        self._doing = ""  #: a thread that an earlier job has left behind says nothing about this one

    def serve(self) -> None:
        """Work until standard input ends."""
        threading.Thread(target=self._listen, name="commands", daemon=True).start()
        handlers: dict[str, registry.Handler] = {}
        while True:
            command = self._jobs.get()
            if "modules" in command:
                handlers = registry.load_handlers(command["modules"])
            else:
                self._run(handlers[command["handler"]], command)

    def _listen(self) -> None:
        with open(self._commands, "rb") as stream:  # noqa: PTH123 - a descriptor, not a path
            for line in stream:
                command = msgspec.json.decode(line)
                if "cancel" in command:
                    self._cancelled = command["cancel"]
                else:
                    self._jobs.put(command)
        # The worker is gone: nobody could record an outcome any more.
        _end_group()

    def _run(self, handler: registry.Handler, command: dict[str, Any]) -> None:
        self._say({"begin": command["job"]})
        self._doing = command["job"]

        def say(message: dict[str, Any]) -> bool:
            return self._say(message, command["job"])

        job = registry.HandlerContext(
            task_id=command["task_id"],
            shop_id=command["shop_id"],
            platform=command["platform"],
            attempt=command["attempt"],
            progress=lambda percent, note: say({"progress": percent, "note": note}),
            log=lambda line: say({"log": line[:10_000]}),
            cancelled=lambda: self._cancelled == command["job"],
            artifact=lambda source, words: self._artifact(source, words, say),
        )
        ended = registry.call(handler, command["payload"], job)
        self._doing = ""
        self._divide(command["job"])
        self._say(
            {
                "end": command["job"],
                "ok": ended.ok,
                "result": ended.result,
                "error": ended.error,
                "error_kind": ended.error_kind,
                "gave_up": ended.gave_up,
            }
        )

    def _artifact(self, source: Path | bytes, words: dict[str, str], say: Callable[[dict[str, Any]], bool]) -> None:
        """A file goes by its path; bytes by a file that the worker removes, where it hears of it."""
        if isinstance(source, bytes):
            number, name = tempfile.mkstemp(prefix="fleetdeck-")
            with os.fdopen(number, "wb") as stream:
                stream.write(source)
            if not say({"artifact": name, "remove": True, **words}):
                Path(name).unlink()
        else:
            say({"artifact": str(source.absolute()), **words})

    def _divide(self, job: str) -> None:
        """Tell the readers of both outputs that this job prints nothing more."""
        for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # the handler may have closed it
                stream.flush()
            with contextlib.suppress(OSError):
                os.write(number, f"\n{MARK}{job}\n".encode())

    def _say(self, message: dict[str, Any], job: str = "") -> bool:
        """``job``: only while this one is done; tell whether it was said."""
        try:
            data = msgspec.json.encode(message) + b"\n"
        except UnicodeEncodeError:  # halves of characters, from names of files or broken encodings
            data = msgspec.json.encode({key: _whole(value) for key, value in message.items()}) + b"\n"
        with self._lock:
            if job and self._doing != job:  # looked at here: what waited for the lock may belong to a job that ended
                return False
            while data:
                data = data[os.write(self._channel, data) :]
        return True


def _whole(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def main(channel: int) -> None:
    """Serve on the inherited descriptor (handle on Windows) ``channel``."""
    ends = child_end.taken(channel)
    faulthandler.enable()
    Child(*ends).serve()


def _end_group() -> None:
    if sys.platform != "win32":
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
