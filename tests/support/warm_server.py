"""Starts commands of the program as children that need no time to import it (see ``warm``).

One request a connection: a JSON head ``{"argv", "env", "cwd"}`` with three descriptors beside it; the answers are a
line with the pid of the child and one with its exit code. The process ends with the first connection, its parent's.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
MOST = 1 << 20


class Server:
    """Waits for requests and for the ends of the children."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._eyes = selectors.DefaultSelector()
        self._eyes.register(listener, selectors.EVENT_READ)
        self._lifeline: socket.socket | None = None
        self._children: dict[int, tuple[int, socket.socket]] = {}  #: descriptor of the process -> pid, who asked

    def serve(self) -> dict[str, Any] | None:
        """Return a request in its child; ``None`` at the end."""
        while True:
            for key, _mask in self._eyes.select():
                if key.fileobj is self._listener:
                    asked = self._accept()
                    if asked is not None:
                        return asked
                elif key.fileobj is self._lifeline:
                    return None
                else:
                    self._ended(key.fd)

    def _accept(self) -> dict[str, Any] | None:
        caller, _address = self._listener.accept()
        if self._lifeline is None:
            self._lifeline = caller
            self._eyes.register(caller, selectors.EVENT_READ)
            return None
        head, descriptors, _flags, _from = socket.recv_fds(caller, MOST, 3)
        pid = os.fork()
        if not pid:
            return json.loads(head) | {"descriptors": descriptors}
        for descriptor in descriptors:
            os.close(descriptor)
        caller.sendall(f"{pid}\n".encode())
        eye = os.pidfd_open(pid)
        self._children[eye] = pid, caller
        self._eyes.register(eye, selectors.EVENT_READ)
        return None

    def _ended(self, eye: int) -> None:
        pid, caller = self._children.pop(eye)
        self._eyes.unregister(eye)
        os.close(eye)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with caller, contextlib.suppress(OSError):
            caller.sendall(f"{code}\n".encode())

    def leave(self) -> None:
        """Let go of everything, in a child."""
        self._eyes.close()
        self._listener.close()
        for eye, (_pid, caller) in self._children.items():
            os.close(eye)
            caller.close()
        if self._lifeline is not None:
            self._lifeline.close()


def become(asked: dict[str, Any]) -> None:
    """Take over the descriptors, the environment and the words of a request."""
    for number, descriptor in enumerate(asked["descriptors"]):
        os.dup2(descriptor, number)
        os.close(descriptor)
    faulthandler.register(signal.SIGUSR1, file=2)  # who waits too long for this process asks where its threads are
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    os.chdir(asked["cwd"])
    sys.argv = asked["argv"]


def leave(code: int) -> NoReturn:
    """End as an interpreter does, but for taking apart every module, which takes longer than most commands."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> int:
    """Serve; in a child, do what ``main.py`` does with its words."""
    sys.path.insert(0, str(ROOT))
    import services

    for module in pkgutil.walk_packages(services.__path__, "services."):
        importlib.import_module(module.name)
    for name in ("jsonschema", "openpyxl"):
        importlib.import_module(name)  # the program loads them when it needs them
    import main as program
    from services.domain.types import task_type

    for path in (ROOT / "resources" / "task_types").glob("*.json"):
        task_type.parse(path.read_text(encoding="utf-8"))  # their schemas are then known to be right
    listener = socket.socket(fileno=int(sys.argv[1]))
    server = Server(listener)
    gc.freeze()  # or a child would copy all of it when it collects its garbage
    asked = server.serve()
    if asked is None:
        return 0
    server.leave()
    become(asked)
    return program.main()


if __name__ == "__main__":
    try:
        code = main()
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else int(done.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    leave(code)
