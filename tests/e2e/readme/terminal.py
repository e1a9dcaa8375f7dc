"""A terminal in which the lines of a README are typed as they stand there."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.front_door import surroundings
from tests.support.pages import ROOT

#: patience on a crowded machine; the demo lasts a minute and then lets its fleet finish
LINE_S = 170.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How a line ended and what it said, on both outputs together."""

    code: int
    text: str


@dataclass
class Terminal:
    """A folder that has the program in it, as a fresh copy of the project has, and a home folder of its own."""

    folder: Path
    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, target in ((".venv", Path(sys.prefix)), ("main.py", ROOT / "main.py")):
            (self.folder / name).symlink_to(target)

    @property
    def around(self) -> dict[str, str]:
        """The environment of a command; what lies in the folder can be imported."""
        return surroundings(self.home, PYTHONPATH=str(self.folder), **self.environment)

    def type(self, line: str, *, answer: str = "") -> Said:
        """Let bash run a line to its end; a person who is asked gives the answer."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.around,
            stdin=theirs if answer else subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        try:
            return self._listen(process, ours, f"{answer}\n".encode() if answer else b"")
        finally:
            os.close(ours)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)

    def start(self, line: str, errors: Path) -> subprocess.Popen[bytes]:
        """Let bash run a line that goes on; what it writes to standard error is kept in a file."""
        with errors.open("wb") as sink:
            return subprocess.Popen(
                ["bash", "-c", f"exec {line}"],
                cwd=self.folder,
                env=self.around,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=sink,
                start_new_session=True,
            )

    def _listen(self, process: subprocess.Popen[bytes], ours: int, answer: bytes) -> Said:
        heard, end = b"", time.monotonic() + LINE_S
        while time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    heard += os.read(ours, 65_536)
                except OSError:  # nobody has the other end any more
                    break
            elif process.poll() is not None:
                break
            if answer and b"[y/N]" in heard:
                os.write(ours, answer)
                answer = b""
        code = process.wait(max(1.0, end - time.monotonic()))
        return Said(code=code, text=heard.decode("utf-8", "replace"))
