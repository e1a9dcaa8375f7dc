"""A bare root of Debian's in a folder: made by debootstrap, entered by chroot, in mounts and processes of its own."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: how this machine reaches the packages, but for its folders
SURROUNDINGS = re.compile(r"(?i)(https?|no)_proxy|PIP_(?!FIND_LINKS|CONSTRAINT).+|SSL_CERT_FILE|REQUESTS_CA_BUNDLE")
#: those settings of its pip, wherever they are written
_PIP = frozenset({"index-url", "extra-index-url", "trusted-host", "proxy", "default-timeout", "retries"})
_TOOLS = ("debootstrap", "unshare", "chroot")
_APT = ("Acquire::http::Proxy ", "Acquire::https::Proxy ")


def lacking() -> str:
    """What this machine lacks for one, "" for nothing."""
    missing = [name for name in _TOOLS if shutil.which(name) is None]
    return ", ".join([*(["root"] if os.geteuid() else []), *missing])


def apart(module: str, words: Sequence[str], folder: Path) -> int | None:
    """The exit code of the module, run again where mounts and processes are its own and go with it; None if this is
    there already.
    """
    if os.getpid() == 1:
        return None
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", sys.executable, "-m", module, *words]
    return subprocess.run(alone, cwd=folder, check=False).returncode


def open_root(root: Path, suite: str, *packages: str) -> None:
    """Make it where it is not there, with these packages, and mount what a system has; in 1 to 2 minutes.

    Raises:
        subprocess.CalledProcessError: a tool failed.
    """
    if not root.exists():
        part = root.with_name(f"{root.name}.part")  # one that was cut off is made anew
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        words = ["--variant=minbase", f"--include={','.join(packages)}", suite, str(part), *_mirror()]
        subprocess.run(["debootstrap", *words], check=True)
        part.rename(root)
    subprocess.run(["mount", "--bind", str(root), str(root)], check=True)
    subprocess.run(["mount", "-t", "proc", "proc", str(root / "proc")], check=True)
    for folder in ("dev", "sys"):
        subprocess.run(["mount", "--rbind", f"/{folder}", str(root / folder)], check=True)
    for place in ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt"):
        shutil.copy(Path("/") / place, root / place)
    told = _asked("apt-config", "dump").splitlines()
    ways = "".join(f"{line}\n" for line in told if line.startswith(_APT))
    (root / "etc/apt/apt.conf.d/90way").write_text(ways, encoding="utf-8")


def within(root: Path, folder: str, words: Sequence[str]) -> list[str]:
    """The command that runs another one there."""
    return ["chroot", str(root), "/bin/sh", "-c", 'cd "$0" && exec "$@"', folder, *words]


def variables() -> dict[str, str]:
    """What a process there is given: a path, a language, and how this machine reaches the packages."""
    around = {name: value for name, value in os.environ.items() if SURROUNDINGS.fullmatch(name)}
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return _pip() | around | {"PATH": path, "DEBIAN_FRONTEND": "noninteractive", "LANG": "C.UTF-8"}


def _pip() -> dict[str, str]:
    """Settings of this machine's pip; folders of it are not there."""
    found = {}
    for line in _asked(sys.executable, "-m", "pip", "config", "list").splitlines():
        name, _, value = line.partition("=")
        key = name.rpartition(".")[2]
        if key in _PIP and "file:" not in value:
            found[f"PIP_{key.upper().replace('-', '_')}"] = str(ast.literal_eval(value))
    return found


def _mirror() -> list[str]:
    """Where this machine's packages come from, if they are Debian's."""
    form = "$(REPO_URI)\t$(LABEL)\t$(CREATED_BY)"
    rows = (line.split("\t") for line in _asked("apt-get", "indextargets", "--format", form).splitlines())
    return [row[0] for row in rows if row[1:] == ["Debian", "Packages"]][:1]


def _asked(*words: str) -> str:
    options: dict[str, Any] = {"capture_output": True, "text": True, "check": False}
    return str(subprocess.run(words, **options).stdout)
