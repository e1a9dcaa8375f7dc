"""A Debian to try the program on: a bare root with a copy of this checkout in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support import bare_root

ROOT = Path(__file__).resolve().parents[2]
SUITE = "trixie"
_PACKAGES = ("make", "python3", "python3-venv", "ca-certificates", "procps")
_CHECKOUT = "/srv/fleetdeck"
#: beginnings of what tests are told by the environment
_KEPT = ("FLEETDECK_TEST_", "CI")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program printed there, and how it ended."""

    code: int
    text: str


class Debian:
    """A root that is made once, and everything in it run as its own root."""

    def __init__(self, folder: Path, jobs: int) -> None:
        """``folder``: where the root is kept, and what was printed; ``jobs``: test processes."""
        self.jobs = jobs
        self._folder = folder
        self._root = folder / SUITE
        self.checkout = self._root / _CHECKOUT.lstrip("/")

    def prepare(self) -> None:
        """Make it where it is not there yet, and copy this checkout, as it stands, over the last one."""
        bare_root.open_root(self._root, SUITE, *_PACKAGES)
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\0")
        for old in self.checkout.iterdir() if self.checkout.exists() else ():
            if old.name != ".venv":
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        for name in filter(None, names):
            if (ROOT / name).exists():
                (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.checkout / name)

    def run(
        self, name: str, *words: str, environment: Mapping[str, str] | None = None, timeout_s: float = 7200.0
    ) -> Answer:
        """Run a program in the copy; what it prints is kept as ``NAME.log`` too."""
        kept = {key: value for key, value in os.environ.items() if key.startswith(_KEPT)}
        with (self._folder / f"{name}.log").open("w+b") as log:
            started = subprocess.Popen(
                bare_root.within(self._root, _CHECKOUT, words),
                env=bare_root.variables() | {"HOME": "/root"} | kept | dict(environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            try:
                code = started.wait(timeout_s)
            except subprocess.TimeoutExpired:
                started.kill()
                code = -1
                log.write(f"\nno end within {timeout_s:g} s".encode())
            log.seek(0)
            return Answer(code, log.read().decode("utf-8", "replace"))

    def version(self, package: str) -> str:
        """Of an installed one, as its makers count; "" for one that is not there."""
        told = self.run("version", "dpkg-query", "-Wf", "${Version}", package)
        return "" if told.code else told.text.rpartition(":")[2].partition("-")[0].partition("+")[0]

    def install(self, *packages: str) -> None:
        """Debian's own; those of the program are the Makefile's."""
        if all(self.version(package) for package in packages):
            return
        policy = self._root / "usr/sbin/policy-rc.d"  # servers do not start by themselves
        policy.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
        policy.chmod(0o755)
        try:
            self.run("install", "apt-get", "update", "-qq")
            self.run("install", "apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)
        finally:
            policy.unlink()
