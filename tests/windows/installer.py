"""``make windows-installer``: one setup.exe with CPython, the packages and the program in it.

python -m tests.windows.installer [--out DIR] [--compressor lzma|zlib] [--sign COMMAND]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import struct
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
#: of the icon: what taskbar, start menu and title bars take at 100 to 200 %
_SIZES = (16, 20, 24, 32, 40, 48, 64, 256)
_COMMAND = '@"%~dp0program\\python\\python.exe" "%~dp0program\\app\\main.py" %*\r\n'


def build(out: Path, compressor: str = "lzma", sign: str = "") -> Path:
    """The setup, and its SHA-256 in a file beside it. ``sign``: a command that gets the path of a file as its last word
    and signs it in place.

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
    return pack(stage, out / f"fleetdeck-{VERSION}-setup.exe", compressor, sign)


def pack(stage: Path, setup: Path, compressor: str, sign: str = "") -> Path:
    """The setup of what lies in a folder; as ``build``."""
    (stage / "fleetdeck.ico").write_bytes(icon())
    words = {"STAGE": stage, "OUT": setup, "VERSION": VERSION, "COMPRESSOR": compressor}
    words |= {"SIGN": sign} if sign else {}  # the removal is signed before it is packed
    subprocess.run(["makensis", "-V2", *(f"-D{key}={value}" for key, value in words.items()), str(_SCRIPT)], check=True)
    if sign:
        subprocess.run([*shlex.split(sign), str(setup)], check=True)
    digest = hashlib.sha256(setup.read_bytes()).hexdigest()
    setup.with_suffix(".exe.sha256").write_text(f"{digest}  {setup.name}\n", encoding="ascii")
    return setup


def icon() -> bytes:
    """The mark of the program as Windows takes it: one file with a picture for each size."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtCore import QBuffer, QIODevice

    from console.application import application
    from views.theme.icons import app_pixmap

    application()
    pictures = []
    for size in _SIZES:
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        app_pixmap(size).save(buffer, "ICO")  # a file of one picture: a head of 6 bytes, an entry of 16, its bytes
        pictures.append(bytes(buffer.data().data()))
    place = 6 + 16 * len(pictures)
    entries = b""
    for one in pictures:
        entries += one[6:18] + struct.pack("<I", place)
        place += len(one) - 22
    return struct.pack("<3H", 0, 1, len(pictures)) + entries + b"".join(one[22:] for one in pictures)


def absolute(command: str) -> str:
    """A command that holds in every folder: makensis runs it in that of its script."""
    first, *rest = shlex.split(command) or [""]
    file = Path(first)
    return shlex.join([str(file.absolute()), *rest]) if "/" in first and file.is_file() else command


def main() -> int:
    """Make it."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--out", type=Path, default=Path("build/windows/installer"))
    words.add_argument("--compressor", choices=["lzma", "zlib"], default="lzma", help="zlib: three times as fast")
    words.add_argument("--sign", default="", metavar="COMMAND", help="signs in place the file that is its last word")
    args = words.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    setup = build(args.out.absolute(), args.compressor, absolute(args.sign))
    print(f"{setup} {setup.stat().st_size / 2**20:.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
