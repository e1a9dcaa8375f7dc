"""Commands of the program as real processes that start at once: children of one process that has imported it all.

Most of the time of a test of the command line went into imports. A child has descriptors, environment, directory and
exit code of its own, as if it had been started from a shell; where the system cannot do this, it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CAN = hasattr(os, "pidfd_open") and hasattr(socket, "recv_fds")


def run(argv: Sequence[str], env: Mapping[str, str], stdin: str, seconds: float) -> subprocess.CompletedProcess[str]:
    """``main.py`` with the words after it; standard input is a text, both outputs are caught.

    Raises:
        subprocess.TimeoutExpired: it did not end in time; it is killed.
    """
    if not CAN:
        return _cold(argv, env, stdin, seconds)
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        source.write(stdin.encode())
        source.seek(0)
        code = _ask(argv, env, [source.fileno(), out.fileno(), errors.fileno()], seconds)
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read().decode().replace("\r\n", "\n"))
    return subprocess.CompletedProcess(list(argv), code, *texts)


def _ask(argv: Sequence[str], env: Mapping[str, str], descriptors: list[int], seconds: float) -> int:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(_server())
        head = json.dumps({"argv": list(argv), "env": dict(env), "cwd": str(ROOT)}).encode()
        socket.send_fds(line, [head], descriptors)
        line.settimeout(seconds)
        answers = line.makefile(encoding="ascii")
        pid = int(answers.readline())
        try:
            return int(answers.readline())
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(list(argv), seconds) from None


def _cold(argv: Sequence[str], env: Mapping[str, str], stdin: str, seconds: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *argv],
        env=dict(env),
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=seconds,
        check=False,
    )


@cache
def _server() -> str:
    """Address of the process that has imported everything; it ends with this one."""
    address = f"\0fleetdeck-warm-{os.getpid()}-{secrets.token_hex(4)}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FLEETDECK_")}
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.warm_server", str(listener.fileno())],
            env={**kept, "PYTHONUTF8": "1"},
            cwd=ROOT,
            pass_fds=[listener.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    lifeline = socket.socket(socket.AF_UNIX)
    lifeline.connect(address)
    _KEPT.extend((server, lifeline))
    return address


_KEPT: list[object] = []  #: the server ends when its lifeline is closed
