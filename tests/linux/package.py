"""``make linux-package``: one .deb with the packages and the program in it, on Debian's own Python.

python -m tests.linux.package [--out DIR] [--python 3.11|3.12|3.13] [--compressor zstd|xz]
"""

from __future__ import annotations

import argparse
import compileall
import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

from packaging.markers import default_environment

from services.version import VERSION
from tests.windows import laid, wheels

_FILES = laid.ROOT / "resources" / "deploy" / "linux"
#: where it lies; nothing of it is in the way of another Python's packages
_PLACE = "usr/lib/fleetdeck"
_ICONS = (16, 32, 48, 64, 128, 256)
#: what Qt needs, with the names of Debian 12 last where later ones have others
SYSTEM = (
    "libgl1, libegl1, libglib2.0-0t64 | libglib2.0-0, libxkbcommon0, libfontconfig1, libdbus-1-3, libxkbcommon-x11-0,"
    " libxcb-cursor0, libxcb-icccm4, libxcb-keysyms1, libxcb-shape0, libgssapi-krb5-2"
)
_GLIBC = range(36, 16, -1)  #: Debian 12 has 2.36
_ENVIRONMENT = "home = /usr/bin\ninclude-system-site-packages = false\nversion = {version}\n"
#: found by everything that starts with this Python, programs of handlers too; a folder that is missing does no harm
_PATHS = f"/{_PLACE}/app\n/usr/local/lib/fleetdeck\n"
_CONTROL = """\
Package: fleetdeck
Version: {version}
Architecture: {architecture}
Maintainer: Fleetdeck
Installed-Size: {size}
Depends: python{python}, {system}
Recommends: xdg-utils, desktop-file-utils
Suggests: chromium
Section: admin
Priority: optional
Description: operations console for a fleet of online shops
 The window, the command line and the task engine under them, in an environment
 of their own. Configuration, data and logs of a person (~/.local/share/fleetdeck)
 are never touched, neither by an update nor by the removal.
"""


def build(out: Path, python: str = "3.11", compressor: str = "zstd") -> Path:
    """The package.

    Raises:
        subprocess.CalledProcessError: a tool failed, or a wheel is not the pinned one.
    """
    stage = out / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    place = stage / _PLACE
    version = tuple(int(part) for part in python.split("."))
    packages = place / "venv" / "lib" / f"python{python}" / "site-packages"
    packages.mkdir(parents=True)
    where = default_environment() | {"python_version": python, "python_full_version": f"{python}.0"}
    pins = wheels.pinned(laid.ROOT, testing=False, where={key: str(value) for key, value in where.items()})
    laid.packages(packages, pins, _wheels_for(python))
    (place / "app").mkdir()
    laid.program(place / "app", (version[0], version[1]))
    if sys.version_info[:2] == version:
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        compileall.compile_dir(packages, quiet=2, workers=2, invalidation_mode=unchecked, stripdir=str(stage))
    _lay_environment(place, packages, python)
    _lay_desktop(stage)
    size = sum(path.lstat().st_size for path in stage.rglob("*")) >> 10
    architecture = _said("dpkg", "--print-architecture")
    words = {"version": VERSION, "architecture": architecture, "size": size, "python": python, "system": SYSTEM}
    control = stage / "DEBIAN"
    control.mkdir()
    (control / "control").write_text(_CONTROL.format(**words), encoding="utf-8")
    shutil.copy(_FILES / "postrm", control / "postrm")
    (control / "postrm").chmod(0o755)
    package = out / f"fleetdeck_{VERSION}_{architecture}_python{python}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", f"-Z{compressor}", "-b", stage, package], check=True)
    shutil.rmtree(stage)
    return package


def _wheels_for(python: str) -> tuple[str, ...]:
    """Options of pip; where it runs on another version it has to be told what Debian takes."""
    if python == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return ("--only-binary=:all:",)
    machine = os.uname().machine
    tags = [f"manylinux_2_{minor}_{machine}" for minor in _GLIBC] + [f"manylinux2014_{machine}"]
    platforms = [word for tag in tags for word in ("--platform", tag)]
    chosen = ("--only-binary=:all:", "--python-version", python, "--implementation", "cp", *platforms)
    return (
        *chosen,
        "--no-compile",
        "--ignore-requires-python",
    )  # pip asks that of the Python that it runs on; what is pinned fits


def _lay_environment(place: Path, packages: Path, python: str) -> None:
    """What ``python -m venv`` makes, on the Python that Debian has."""
    programs = place / "venv" / "bin"
    programs.mkdir()
    (programs / "python").symlink_to(f"/usr/bin/python{python}")
    (programs / f"python{python}").symlink_to("python")
    (place / "venv" / "pyvenv.cfg").write_text(_ENVIRONMENT.format(version=python), encoding="ascii")
    (packages / "fleetdeck.pth").write_text(_PATHS, encoding="ascii")
    shutil.rmtree(packages / "bin", ignore_errors=True)  # its programs name the Python of who made the package


def _lay_desktop(stage: Path) -> None:
    """The command, the entry of the desktop with the links that it opens, and the icon."""
    command = stage / "usr/bin/fleetdeck"
    for file in (command, stage / "usr/share/applications/fleetdeck.desktop"):
        file.parent.mkdir(parents=True)
        shutil.copy(_FILES / file.name, file)
    command.chmod(0o755)
    notice = stage / "usr/share/doc/fleetdeck/copyright"
    notice.parent.mkdir(parents=True)
    shutil.copy(laid.ROOT / "LICENSE", notice)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from console.application import application
    from views.theme.icons import app_pixmap

    application()
    for size in _ICONS:
        icon = stage / f"usr/share/icons/hicolor/{size}x{size}/apps/fleetdeck.png"
        icon.parent.mkdir(parents=True)
        app_pixmap(size).save(str(icon))


def _said(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def main() -> int:
    """Make it."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--out", type=Path, default=Path("build/linux"))
    words.add_argument("--python", choices=["3.11", "3.12", "3.13"], default="3.11", help="of Debian 12: 3.11")
    words.add_argument("--compressor", choices=["zstd", "xz"], default="zstd", help="xz: smaller, and much slower")
    args = words.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    package = build(args.out.absolute(), args.python, args.compressor)
    print(f"{package} {package.stat().st_size / 2**20:.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
