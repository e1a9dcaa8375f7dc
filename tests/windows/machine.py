"""A Windows to try the program on: a prefix of Debian's wine with a CPython and the wheels for Windows in it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.windows import laid, shims, wheels

ROOT = Path(__file__).resolve().parents[2]
_PYTHON = r"C:\python\python.exe"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program of Windows printed, and how it ended."""

    code: int
    text: str


class Machine:
    """A prefix; made once and kept until one of its pins or its own making changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.drive = folder / "prefix" / "drive_c"

    def prepare(self) -> None:
        """Make it where it is not there yet; 2 minutes and 1.3 GB.

        Raises:
            subprocess.CalledProcessError: a tool failed, or a package is not the pinned one.
        """
        parts = (laid.PINS.read_text(encoding="utf-8"), wheels.pinned(ROOT), Path(shims.__file__).read_text("utf-8"))
        stamp = self._folder / hashlib.sha256("".join(parts).encode()).hexdigest()[:16]
        if stamp.exists():
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        print("making a Windows: wine's prefix, CPython, packages, shims", flush=True)
        self._wine("wineboot", "-i")
        self._wine("winecfg", "-v", "win10")
        laid.python(self.drive / "python")
        packages = self.drive / "python" / "Lib" / "site-packages"
        laid.packages(packages, parts[1])
        shims.make(self.drive / "windows" / "system32", packages)
        stamp.touch()

    def python(self, *words: str, **options: Any) -> Answer:
        """Run Python; see ``run``."""
        return self.run(_PYTHON, *words, **options)

    def run(
        self,
        *words: str,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = 300.0,
        screen: bool = False,
    ) -> Answer:
        """Run a program in the repository's folder, on an X server of its own with ``screen``; wait for its end."""
        argv = ["wine", *words]
        if screen:
            argv = ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24", *argv]
        try:
            done = subprocess.run(
                argv,
                cwd=ROOT,
                env=self._environment() | dict(environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # a file would be no handle for wine 8
                stderr=subprocess.STDOUT,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as exc:
            self.stop()
            return Answer(-1, f"{(exc.stdout or b'').decode('utf-8', 'replace')}\nno end within {timeout_s:g} s")
        # wine's own words, on the same pipe
        lines = done.stdout.decode("utf-8", "replace").replace("\r\n", "\n").splitlines(keepends=True)
        own = ("wine: ", "X connection to ", "QtWindows::DpiAwareness::")
        return Answer(done.returncode, "".join(line for line in lines if not line.startswith(own)))

    def stop(self) -> None:
        """End all of its programs."""
        subprocess.run(["wineserver", "-k"], env=self._environment(), check=False, capture_output=True)

    def _wine(self, *words: str) -> None:
        _do(*words, environment=self._environment())
        _do("wineserver", "-w", environment=self._environment())

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FLEETDECK_", "PYTHON"))}
        return kept | {
            "WINEPREFIX": str(self._folder / "prefix"),
            "WINEARCH": "win64",
            "WINEDLLOVERRIDES": "mscoree,mshtml=;winemenubuilder.exe=d",
            "WINEDEBUG": "-all",
            # Linux reads the same tree
            "PYTHONPYCACHEPREFIX": r"C:\pycache",
        }


def _do(*words: str, environment: Mapping[str, str] | None = None) -> None:
    subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)
