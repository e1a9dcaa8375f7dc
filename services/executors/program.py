"""The program of a command line: whether it is there, and what a failed start has taught about it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath

#: what a file looks like: changed, it is worth another try
_Look = tuple[str, int, int, int]


class Program:
    """First word of a command, as the flow's own PATH finds it."""

    def __init__(self, command: Sequence[str], path: str | None, cwd: str | None) -> None:
        self.command = tuple(command) if cwd else (*command[:1], *map(_whole, command[1:]))
        self._path, self._cwd = path, cwd
        self._failed: tuple[_Look, str] | None = None

    def file(self) -> str:
        """Where it is, or its name where it is nowhere."""
        return self._find() or self.command[0]

    def missing(self) -> str:
        """What is not there: the program or its folder; "" when it can be started as far as one can see."""
        if not self.command or not self.command[0]:
            return "executors.rpa.command"
        if self._cwd and not Path(self._cwd).is_dir():
            return self._cwd
        found = self._find()
        if not found or is_batch_file(found):
            return self.command[0]
        if self._failed is not None:
            look, what = self._failed
            if look == self._look(found):
                return what
            self._failed = None
        return ""

    def has_failed(self) -> None:
        """It could not be started: not to be tried again until its file has changed."""
        self._failed = (self._look(self.file()), self.command[0] if self.command else "")

    def _find(self) -> str:
        name = self.command[0]
        if PurePath(name).name != name:
            name = str(Path(self._cwd or ".").absolute() / name)  # the child looks for it when it is in its folder
        return shutil.which(name, path=self._path) or ""

    def _look(self, found: str) -> _Look:
        try:
            state = Path(found).stat()
        except OSError:
            return found, 0, 0, 0
        return found, state.st_mtime_ns, state.st_size, state.st_mode


def _whole(word: str) -> str:
    """The full path of a word that looks like a file and names one here; any other as it is (``run`` is a verb)."""
    path = Path(word)
    try:
        looks = bool(path.suffix) or path.name != word
        return str(path.absolute()) if word and looks and path.is_file() else word
    except (OSError, ValueError):
        return word


def is_batch_file(name: str) -> bool:
    """Whether Windows would run it in a shell."""
    return sys.platform == "win32" and PurePath(name).suffix.lower() in (".bat", ".cmd")
