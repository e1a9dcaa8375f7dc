"""Says of a run what is known while it goes on, and ends a test process that hangs.

pytest-timeout interrupts a test by a signal that Python sees; a test whose process never comes back to Python (a lock
of Qt that is waited for with the lock of the interpreter held) goes on for ever, and since such a process does not
answer either when its tests are to be given to others, all of the run waits for it. So each process says in a file what
it tries and how long that may take. The one that gathers looks at these files: what takes more than twice its time is
shown with the places of all threads, and its process is killed; the run goes on with another.

What fails is named at once, for a run that is ended from outside prints no summary; ``--no-longer`` ends it from
inside.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

#: the folder of those files; handed down to the processes of a run by their environment
FOLDER = "FLEETDECK_TEST_WATCHED"
#: seconds that a test may take where nothing says so
USUAL = 120.0
#: seconds that a process is given to say where its threads are
SAYING = 2.0
#: and to end by itself when the run is interrupted: what hangs would be waited for
LEAVING = 10.0
#: what hung in this run, and where its process was then
HUNG: dict[str, str] = {}
#: seconds between two lines that say how long the run goes on, and what takes long
TELLING = 300.0
LONG = 30.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--no-longer", type=float, default=0.0, metavar="MINUTES", help="interrupt several processes then; 0: never"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch, or be one that is watched."""
    if os.name == "nt":  # no signal there shows the threads of another process
        return
    if hasattr(config, "workerinput"):
        if folder := os.environ.get(FOLDER):
            config.pluginmanager.register(Watched(Path(folder), _usual(config)))
    elif int(config.getoption("numprocesses", None) or 0):
        config.pluginmanager.register(Watch(config))


def _usual(config: pytest.Config) -> float:
    with contextlib.suppress(ValueError, TypeError):
        return float(config.getini("timeout"))
    return USUAL


class Watched:
    """One of the processes that try: says what it tries."""

    def __init__(self, folder: Path, usual: float) -> None:
        self.usual = usual
        self.file = folder / str(os.getpid())
        self.stacks = self.file.with_suffix(".stacks").open("w", encoding="utf-8")
        faulthandler.register(signal.SIGUSR1, file=self.stacks, all_threads=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note the test, and until when it may go on."""
        mark = item.get_closest_marker("timeout")
        allowed = float(mark.args[0]) if mark and mark.args else self.usual
        now = time.time()
        self.file.write_text(f"{now} {now + 2 * allowed} {item.nodeid}", encoding="utf-8")
        try:
            return (yield)
        finally:
            self.file.write_text("", encoding="utf-8")


class Watch:
    """The process that gathers: looks at the others, and says what it sees."""

    def __init__(self, config: pytest.Config, every: float = 5.0) -> None:
        self.config = config
        self.every = every
        self.most_s = 60 * float(config.getoption("--no-longer")) or float("inf")
        self.folder = Path(tempfile.mkdtemp(prefix="fleetdeck-watched-"))
        os.environ[FOLDER] = str(self.folder)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look_on, name="watch", daemon=True)
        self.thread.start()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name what failed."""
        if report.failed:
            lines = report.longreprtext.strip().splitlines() or [""]
            self._say(f"failed so far: {report.nodeid} ({report.when}, {report.duration:.0f} s) {lines[-1][:300]}")

    def pytest_unconfigure(self) -> None:
        """Look no longer."""
        self.over.set()
        self.thread.join()
        del os.environ[FOLDER]
        shutil.rmtree(self.folder, ignore_errors=True)

    def _look_on(self) -> None:
        began = told = time.time()
        while not self.over.wait(self.every):
            now = time.time()
            long = []
            for file in self.folder.glob("[0-9]*"):
                words = file.read_text(encoding="utf-8").split(" ", 2) if not file.suffix else []
                if len(words) != 3:
                    continue
                since, until, name = float(words[0]), float(words[1]), words[2]
                if now > until:
                    self._end(file, name, f"{name} hangs, after {now - since:.0f} s")
                elif now - since > LONG:
                    long.append(f"{name} for {now - since:.0f} s")
            if now - began > self.most_s:
                self._say(f"interrupted after {(now - began) / 60:.0f} minutes")
                for file in self.folder.glob("*.stacks"):
                    with contextlib.suppress(ProcessLookupError):
                        self._say(f"a process of it was here:\n{self._stacks(file)}")
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(LEAVING)
                for file in self.folder.glob("*.stacks"):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(file.stem), signal.SIGKILL)
                return
            if now - told >= TELLING:
                told = now
                self._say(", ".join([f"{(now - began) / 60:.0f} minutes", *long]))

    def _end(self, file: Path, name: str, what: str) -> None:
        file.unlink()
        HUNG[name] = ""
        try:
            HUNG[name] = self._stacks(file.with_suffix(".stacks"))
            self._say(f"{what}; its process is killed. It was here:\n{HUNG[name]}")
            os.kill(int(file.name), signal.SIGKILL)
        except ProcessLookupError:
            self._say(f"{what}; its process is no more, and nobody was told")

    def _stacks(self, file: Path) -> str:
        pid = int(file.stem)
        os.kill(pid, signal.SIGUSR1)
        os.kill(pid, signal.SIGCONT)  # where something has stopped it, it could not say either where
        self.over.wait(SAYING)
        return file.read_text(encoding="utf-8", errors="replace")

    def _say(self, text: str) -> None:
        if (reporter := self.config.pluginmanager.get_plugin("terminalreporter")) is not None:
            reporter.write_line(
                f"\n{text}"
            )  # behind the dots, of which the reporter does not know that they are a line
            reporter.flush()
