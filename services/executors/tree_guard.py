"""Ends what this process has started once this process is gone, however it went.

A worker that is killed ends nothing any more, and its flows would go on working in their shops while somebody else has
their tasks. One small process for each process that runs flows waits at a pipe whose other end only that one holds.
The pipe ends with it; then everything that carries its mark is killed, and every session that it said it had begun: a
flow may wipe its environment, and the mark with it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from services.executors import process_tree
from services.executors.process_tree import ProcessTree

if sys.platform == "win32":
    from services.executors import windows_job

log = logging.getLogger(__name__)
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from services.executors import tree_guard; tree_guard.watch(sys.argv[2])"
)
#: rounds in a row that must find nobody: what is being killed may be starting others
_QUIET_ROUNDS, _PAUSE_S, _ROUNDS = 2, 0.1, 100
_lock = threading.Lock()
_guard: subprocess.Popen[bytes] | None = None
_begun: set[int] = set()  #: children that are not reaped yet


def ensure() -> None:
    """Have a guard for this process; costs nothing worth naming when there is one."""
    global _guard
    if _guard is not None and _guard.poll() is None:
        return
    with _lock:
        if _guard is not None and _guard.poll() is None:
            return
        if _guard is not None and _guard.stdin is not None:
            _guard.stdin.close()
        try:
            _guard = _start()
        except OSError as exc:  # tasks can run without it
            log.warning("nobody would end the flows of this process if it were killed: %s", exc)
            return
        for pid in _begun:
            _tell(f"+{pid}")


def begin(argv: Sequence[str], **options: Any) -> ProcessTree:
    """Start a child that ends with this process, however that goes; ``options`` of ``ProcessTree``.

    Raises:
        OSError: it cannot be started.
    """
    ensure()
    tree = ProcessTree(argv, before_reaped=_over, break_console=_break, **options)
    with _lock:
        _begun.add(tree.pid)
        _tell(f"+{tree.pid}")
    return tree


def _over(pid: int) -> None:
    with _lock:
        _begun.discard(pid)
        _tell(f"-{pid}")


def _break(pid: int) -> None:
    """The guard has no use for its console, this process may have: people type into it."""
    _tell(f"!{pid}")


def _tell(line: str) -> None:
    if _guard is not None and _guard.stdin is not None:
        with contextlib.suppress(OSError, ValueError):  # it is gone; the next one is told everything
            _guard.stdin.write(f"{line}\n".encode())
            _guard.stdin.flush()


def watch(owner: str) -> None:
    """In the guard: wait for the end of the pipe, then end all processes of ``owner``."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):  # meant for the worker, which may take its time
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    begun: dict[int, float] = {}
    with contextlib.suppress(OSError):
        for line in sys.stdin.buffer:
            _hear(line[:1], int(line[1:]), begun)
    quiet = 0
    for _ in range(_ROUNDS):
        try:
            quiet = 0 if process_tree.end_owned(owner, begun) else quiet + 1
        except Exception:  # processes come and go while they are looked at; the next round sees others
            log.exception("a round is left out")
            quiet = 0
        if quiet == _QUIET_ROUNDS:
            return
        time.sleep(_PAUSE_S)


def _hear(what: bytes, pid: int, begun: dict[int, float]) -> None:
    if what == b"+":
        begun[pid] = process_tree.started_at(pid)
    elif what == b"!":
        _break_console(pid)
    else:
        begun.pop(pid, None)


def _break_console(pid: int) -> None:
    if sys.platform == "win32":
        windows_job.break_console(pid)


def _start() -> subprocess.Popen[bytes]:
    path = [entry or str(Path.cwd()) for entry in sys.path]
    return subprocess.Popen(
        [sys.executable, "-X", "utf8", "-c", _BOOT, json.dumps(path), process_tree.owner()],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **_apart(),
    )


def _apart() -> dict[str, Any]:
    """Out of reach of what ends the worker's group or its terminal."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}
