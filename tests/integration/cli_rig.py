"""The command line as people and programs call it: a process of its own, its words, its exit code, its one document."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.integration.fleet_rig import FLOW, HANDLERS
from tests.support import warm
from tests.support.rabbit_cluster import NODES, PROFILE

ROOT = Path(__file__).resolve().parents[2]
#: a process that has to be compiled beside many others may take long to start
SECONDS = 90.0


@dataclass
class Cli:
    """Calls ``main.py`` with a home of its own."""

    home: Path
    words: tuple[str, ...] = ()  #: before every command
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, *words: object, code: int = 0, stdin: str = "") -> dict[str, Any]:
        """The document of a command with ``--json``, which must be all that stands on stdout."""
        done = self.call(*words, "--json", stdin=stdin)
        assert done.returncode == code, (done.returncode, words, done.stdout[-2000:], done.stderr[-3000:])
        lines = done.stdout.splitlines()
        assert len(lines) == 1, (words, done.stdout)
        document = json.loads(lines[0])
        assert isinstance(document, dict)
        return document

    def call(self, *words: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """One command, for people."""
        return warm.run(self.argv(*words), self.variables(), stdin, SECONDS)

    @contextmanager
    def start(self, *words: object) -> Iterator[warm.Child]:
        """A command that goes on; killed at the end with what it started, if it still runs."""
        with (self.home / "stderr.txt").open("ab") as errors:
            process = warm.start(self.argv(*words), self.variables(), errors)
        try:
            yield process
        finally:
            if process.poll() is None:
                # a worker that is left here would go on in the fleets of the tests after this one
                family = [] if (own := _process(process.pid)) is None else own.children(recursive=True)
                process.send_signal(signal.SIGKILL)
                for one in family:
                    with suppress(psutil.NoSuchProcess):
                        one.kill()
            process.wait(30)

    def drain(self, *words: object) -> dict[str, Any]:
        """Let a worker do all that is there."""
        return self.run("worker", "--drain", "--handlers", HANDLERS, *words)

    def argv(self, *words: object) -> list[str]:
        """What the interpreter is started with."""
        return [str(ROOT / "main.py"), *self.words, *map(str, words)]

    def variables(self) -> dict[str, str]:
        """The environment of the program."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FLEETDECK_")}
        own = {"FLEETDECK_HOME": str(self.home), "PYTHONUTF8": "1"}
        profile = {"FLEETDECK_BROKER__PROFILE": PROFILE} if NODES > 1 else {}
        return {**kept, **own, **profile, **self.environment}


def _process(pid: int) -> psutil.Process | None:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid)
    return None


def configure(home: Path, seen: Path | None = None) -> None:
    """A configuration whose rpa command is the flow of these tests; retries wait 1 and 2 s."""
    home.mkdir(parents=True, exist_ok=True)
    command = json.dumps([sys.executable, "-S", "-E", "-I", str(FLOW), "{task_type}", "{param}"])
    (home / "config.toml").write_text(
        f"[retry]\nbase_seconds = 1\ncap_seconds = 2\n[executors.rpa]\ncommand = {command}\n"
        "kill_grace_seconds = 1.0\ncancel_grace_seconds = 1.0\n",
        encoding="utf-8",
    )


def eventually_ended(process: warm.Child, seconds: float = SECONDS) -> int:
    """Exit code of a process that is about to end."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.returncode is not None, "it did not end"
    return process.returncode
