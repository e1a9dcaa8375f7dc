"""Commands of the program as real processes that start at once: children of one process that has imported it all.

Most of the time of a test of the command line went into imports. A child has descriptors, environment, directory and
exit code of its own, as if it had been started from a shell; where the system cannot do this, it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Protocol

import psutil

ROOT = Path(__file__).resolve().parents[2]
CAN = hasattr(os, "pidfd_open") and hasattr(socket, "recv_fds")
#: characters of its standard error that are told of a command that did not end
SAID = 12_000


def run(argv: Sequence[str], env: Mapping[str, str], stdin: str, seconds: float) -> subprocess.CompletedProcess[str]:
    """``main.py`` with the words after it; standard input is a text, both outputs are caught.

    Raises:
        subprocess.TimeoutExpired: it did not end in time; it is killed with all that it started. A note of the error
            has the end of what it said, with where its threads were.
    """
    if not CAN:
        return _cold(argv, env, stdin, seconds)
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        source.write(stdin.encode())
        source.seek(0)
        try:
            code = _ask(argv, env, [source.fileno(), out.fileno(), errors.fileno()], seconds)
        except subprocess.TimeoutExpired as exc:
            errors.seek(0)
            exc.add_note(errors.read().decode(errors="replace")[-SAID:])
            raise
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read().decode().replace("\r\n", "\n"))
    return subprocess.CompletedProcess(list(argv), code, *texts)


class Child(Protocol):
    """A command that goes on, as ``subprocess.Popen`` has it."""

    pid: int

    @property
    def returncode(self) -> int | None:
        """Exit code once ``poll`` or ``wait`` has seen the end; below 0 the signal that ended it."""

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """The exit code; raises ``subprocess.TimeoutExpired``."""

    def send_signal(self, sig: int) -> None:
        """Nothing, where it has ended."""


def start(argv: Sequence[str], env: Mapping[str, str], errors: IO[bytes]) -> Child:
    """``main.py`` with the words after it, and go on; it reads nothing, and only its standard error is kept."""
    if not CAN:
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            [sys.executable, *argv], env=dict(env), cwd=ROOT, stdin=quiet, stdout=quiet, stderr=errors
        )
    with Path(os.devnull).open("r+b") as nothing:
        return _Forked(argv, env, [nothing.fileno(), nothing.fileno(), errors.fileno()])


class _Forked:
    """A child of the process that has imported everything; that one collects it and tells its exit code."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], descriptors: list[int]) -> None:
        self._argv = list(argv)
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(_server())
        head = json.dumps({"argv": self._argv, "env": dict(env), "cwd": str(ROOT)}).encode()
        socket.send_fds(self._line, [head], descriptors)
        self._answers = self._line.makefile(encoding="ascii")
        self.pid = int(self._answers.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        if self.returncode is None and select.select([self._line], [], [], 0)[0]:
            self._read()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code."""
        if self.returncode is None and not select.select([self._line], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self._argv, timeout or 0.0)
        return self._read() if self.returncode is None else self.returncode

    def send_signal(self, sig: int) -> None:
        """Nothing, where it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def _read(self) -> int:
        self.returncode = int(self._answers.readline())
        self._answers.close()
        self._line.close()
        return self.returncode


def _ask(argv: Sequence[str], env: Mapping[str, str], descriptors: list[int], seconds: float) -> int:
    child = _Forked(argv, env, descriptors)
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        _kill(child)
        raise


def _kill(child: _Forked) -> None:
    """With its descendants: a worker that is left would stand in the fleet of the tests that follow."""
    child.send_signal(signal.SIGUSR1)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(1)
    with contextlib.suppress(psutil.NoSuchProcess):
        for one in psutil.Process(child.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
    child.send_signal(signal.SIGKILL)
    child.wait()


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
