"""The window as a program of its own on a real screen: opened, looked at, closed as a person closes it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.screen import Screen, Shown, eventually

ROOT = Path(__file__).resolve().parents[2]
#: patience on a crowded machine: to open, and to end
OPEN_S, END_S, AGAIN_S = 60.0, 60.0, 5.0


@dataclass
class Window:
    """A program that shows a window; ``home`` is its home folder and where its standard error is kept."""

    process: subprocess.Popen[bytes]
    screen: Screen
    home: Path

    @property
    def errors(self) -> str:
        """What it wrote to standard error until now, but for what it tidied up after killed workers of other tests."""
        said = (self.home / "errors.txt").read_text(encoding="utf-8", errors="replace")
        lines = said.splitlines(keepends=True)
        return "".join(line for line in lines if not line.endswith(" of a worker that was killed here are ended\n"))

    @property
    def state(self) -> Mapping[str, object]:
        """What it remembers of its window after it was closed."""
        found = json.loads((self.home / "console.json").read_text(encoding="utf-8")).get("window", {})
        assert isinstance(found, dict)
        return found

    def shown(self, seconds: float = OPEN_S) -> list[Shown]:
        """Its visible windows, as soon as there is one; also those of a program that it started."""
        return eventually(self._windows, seconds)

    def stays(self, seconds: float) -> None:
        """See that it is still there after so many seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.process.poll() is None, (self.process.returncode, self.errors[-3000:])
            time.sleep(0.1)
        assert self._windows(), self.errors[-3000:]

    def close(self) -> int:
        """Close every window by its cross; the exit code of the program.

        A person clicks again where nothing happens: what is asked in the instant in which a window appears may be lost.
        """
        end = time.monotonic() + END_S
        while True:
            for window in self._windows():
                self.screen.ask_to_close(window)
            try:
                return self.process.wait(AGAIN_S)
            except subprocess.TimeoutExpired:
                if time.monotonic() > end:
                    raise

    def _windows(self) -> list[Shown]:
        if self.process.poll() is not None:
            return []
        return [window for pid in _family(self.process.pid) for window in self.screen.windows(pid)]

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(END_S)


def open_window(screen: Screen, home: Path, *words: str, **environment: str) -> Window:
    """``main.py`` with these words and this home folder, on this screen."""
    return open_by([sys.executable, str(ROOT / "main.py"), *words], screen, home, **environment)


def open_by(command: Sequence[str], screen: Screen, home: Path, **environment: str) -> Window:
    """A command that shows the window, in a group of its own."""
    home.mkdir(parents=True, exist_ok=True)
    around = surroundings(home, DISPLAY=screen.display, QT_QPA_PLATFORM="xcb", **environment)
    with (home / "errors.txt").open("wb") as errors:
        process = subprocess.Popen(
            command, cwd=ROOT, env=around, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
        )
    return Window(process=process, screen=screen, home=home)


def surroundings(home: Path, **more: str) -> dict[str, str]:
    """The environment of a person at this desk: nothing of the test run, a home folder of its own."""
    ours = ("FLEETDECK_", "PYTEST_", "QT_", "MAKE", "MFLAGS", "ARGS", "JOBS", "CI", "DISPLAY", "WAYLAND_DISPLAY")
    clicked = ("GIO_LAUNCHED_", "DESKTOP_STARTUP_ID", "XDG_ACTIVATION_TOKEN")  #: of the terminal that runs the tests
    kept = {name: text for name, text in os.environ.items() if not name.startswith((*ours, *clicked))}
    return {**kept, "FLEETDECK_HOME": str(home), "PYTHONUTF8": "1", "PYTHONFAULTHANDLER": "1", **more}


def remember_choice(home: Path, **more: object) -> None:
    """A home whose person chose this machine before."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "console.json").write_text(json.dumps({"chosen": "local", **more}), encoding="utf-8")


def _family(pid: int) -> list[int]:
    """The process and those that it started, the eldest first."""
    found = [pid]
    for parent in found:
        for thread in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, thread.read_text(encoding="ascii").split())
            except OSError:  # it ended meanwhile
                continue
    return found
