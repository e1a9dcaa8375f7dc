"""``make windows-installer``: one setup.exe with CPython, the packages and the program in it.

python -m tests.windows.installer [--out DIR] [--compressor lzma|zlib]
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from services.version import VERSION
from tests.windows import laid, wheels

_SCRIPT = laid.ROOT / "resources" / "deploy" / "windows" / "fleetdeck.nsi"
#: of CPython: what belongs to its own window toolkit, to compilers and to its tests
_NEEDLESS = ("tcl", "Tools", "include", "libs", "Scripts", "Lib/test", "Lib/idlelib", "Lib/tkinter", "Lib/ensurepip")
#: takes the place of every variable and registry entry by which another Python of the machine would be mixed in
_PATHS = "Lib\nDLLs\nLib\\site-packages\n..\\app\n..\\..\\handlers\n"
_COMMAND = '@"%~dp0program\\python\\python.exe" "%~dp0program\\app\\main.py" %*\r\n'


def build(out: Path, compressor: str = "lzma") -> Path:
    """The setup, and its SHA-256 in a file beside it.

    Raises:
        subprocess.CalledProcessError: a tool failed, or a package is not the pinned one.
    """
    stage = out / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    python, app = stage / "program" / "python", stage / "program" / "app"
    app.mkdir(parents=True)
    laid.python(python)
    for name in _NEEDLESS:
        shutil.rmtree(python / name, ignore_errors=True)
    (python / "python311._pth").write_text(_PATHS, encoding="ascii")
    laid.packages(python / "Lib" / "site-packages", wheels.pinned(laid.ROOT, testing=False))
    laid.program(app, (3, 11))
    (stage / "fleetdeck.cmd").write_bytes(_COMMAND.encode("ascii"))
    setup = out / f"fleetdeck-{VERSION}-setup.exe"
    words = {"STAGE": stage, "OUT": setup, "VERSION": VERSION, "COMPRESSOR": compressor}
    subprocess.run(["makensis", "-V2", *(f"-D{key}={value}" for key, value in words.items()), str(_SCRIPT)], check=True)
    digest = hashlib.sha256(setup.read_bytes()).hexdigest()
    setup.with_suffix(".exe.sha256").write_text(f"{digest}  {setup.name}\n", encoding="ascii")
    return setup


def main() -> int:
    """Make it."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--out", type=Path, default=Path("build/windows/installer"))
    words.add_argument("--compressor", choices=["lzma", "zlib"], default="lzma", help="zlib: three times as fast")
    args = words.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    setup = build(args.out.absolute(), args.compressor)
    print(f"{setup} {setup.stat().st_size / 2**20:.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
