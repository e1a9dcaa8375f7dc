"""A shop's browser profile on disk: its folder, the lock that gives it to one process, its cookies."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from services import whole_file

log = logging.getLogger(__name__)
#: of Chromium's own lock; the last one is that of Windows, where a running browser holds it open
MARKS = ("SingletonLock", "SingletonSocket", "SingletonCookie", "lockfile")
_LOCK, _COOKIES, _WANTED = "fleetdeck.lock", "fleetdeck-cookies.json", "fleetdeck.wanted"
_WISHES, _WISH_S = 20, 0.01


class ProfileInUse(Exception):
    """Another process works in this profile."""


class Profile:
    """One folder, held by this process from ``take`` to ``leave``. A process that dies leaves it by dying."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._handle: Any = None

    def take(self) -> None:
        """Lock it, and end what a killed process has left running in it.

        Raises:
            ProfileInUse: a living process has it.
            OSError: the folder cannot be made.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = (self.folder / _LOCK).open("a+b")
        try:
            _lock(handle)
        except OSError:
            handle.close()
            raise ProfileInUse(self.folder.name) from None
        self._handle = handle
        try:
            self.clear()
        except PermissionError:  # of Windows: somebody whom we do not see has the mark open
            self.leave()
            raise ProfileInUse(self.folder.name) from None

    def clear(self) -> None:
        """End whoever runs on it without holding it, and take away the marks of Chromium's own lock."""
        marks = [self.folder / name for name in MARKS]
        if not any(os.path.lexists(mark) for mark in marks):
            return
        end_on(self.folder)
        for mark in marks:
            mark.unlink(missing_ok=True)

    def leave(self) -> None:
        """Unlock it."""
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.close()

    @contextlib.contextmanager
    def wish(self) -> Iterator[None]:
        """Ask the process that holds it to let go as soon as no task works in it: meanwhile a person waits for it."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / _WANTED).open("a+b") as handle:
            for _ in range(_WISHES):  # a look at it holds it for a moment; for longer, somebody else waits too
                try:
                    _lock(handle)
                    break
                except OSError:
                    time.sleep(_WISH_S)
            yield

    @property
    def wanted(self) -> bool:
        """Whether a person waits for it now; a wish ends with the process that has it."""
        place = self.folder / _WANTED
        if not place.exists():
            return False
        try:
            with place.open("a+b") as handle:
                _lock(handle)
        except OSError:
            return True
        return False

    def cookies(self) -> list[Any]:
        """What ``keep_cookies`` kept; nothing where that cannot be read."""
        try:
            kept = json.loads((self.folder / _COOKIES).read_bytes())
        except (OSError, ValueError):
            return []
        return kept if isinstance(kept, list) else []

    def keep_cookies(self, cookies: list[Any]) -> None:
        """Keep cookies; Chromium's own file lacks those of the session and, when it is killed, the last half minute."""
        draft = self.folder / f"{_COOKIES}.part"
        try:
            number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(number, "w", encoding="utf-8") as stream:
                json.dump(cookies, stream)
            whole_file.put(draft, self.folder / _COOKIES)
        except OSError as exc:
            log.warning("the cookies of %s could not be kept: %s", self.folder.name, exc)


def running_on(folder: Path) -> list[psutil.Process]:
    """The main processes of browsers that were started on a profile folder."""
    word = f"--user-data-dir={folder}"
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            line = process.cmdline()
            if word in line and not any(part.startswith("--type=") for part in line):
                found.append(process)
    return found


def end_on(folder: Path) -> None:
    """End the browsers that run on a profile folder."""
    for stray in running_on(folder):
        with contextlib.suppress(psutil.Error):
            stray.kill()
            stray.wait(3)


def _lock(handle: Any) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
