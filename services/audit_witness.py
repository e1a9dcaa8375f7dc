"""What this machine has seen of a store's audit: the last links, kept in its home, so that they are missed if they go.

A file for each store, a mark a line. Whoever can change the store may not be able to change this. Beside it stands the
first mark that it ever had, so that it is missed itself.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from services import home_folder, plain_file, whole_file
from services.domain import audit
from services.domain.errors import UsageError

log = logging.getLogger(__name__)
FOLDER = "audit"
#: marks that are kept; when there are twice as many the older half goes
KEPT = 500
_MOST_BYTES = 2 * KEPT * 120


@dataclass(frozen=True, slots=True)
class Sight:
    """What a machine has seen of an audit."""

    marks: tuple[str, ...]  #: the oldest first
    lost: bool  #: the file was removed or shortened by somebody else

    @property
    def since(self) -> int:
        """When the oldest was written, UTC ms; 0 for none."""
        oldest = audit.parse(self.marks[0]) if self.marks else None
        return audit.instant_of(oldest.entry_id) if oldest is not None else 0


class Witness:
    """The file of one store."""

    def __init__(self, home: Path, mark: str) -> None:
        """``mark``: the name of the store for this machine (``Settings.store_mark``)."""
        self._home, self._path = home, home / FOLDER / f"{mark}.seen"
        self._first = self._path.with_suffix(".first")

    def note(self, marks: Sequence[str]) -> None:
        """Keep these; where that cannot be, nothing depends on it."""
        if not marks:
            return
        try:
            home_folder.make(self._home)
            self._path.parent.mkdir(exist_ok=True, mode=0o700)
            home_folder.keep_private(self._path)
            with self._path.open("ab") as file:  # one write, so that several programs may do it at once
                file.write("".join(f"{mark}\n" for mark in marks).encode())
                size = file.tell()
            if not self._first.exists():
                home_folder.keep_private(self._first)
                self._first.write_text("".join(f"{mark}\n" for mark in self.marks()[:1]), encoding="ascii")
            if size > _MOST_BYTES:
                self._shorten()
        except (OSError, UsageError) as exc:
            log.info("what was seen of the audit is not kept in %s: %s", self._path, exc)

    def marks(self) -> list[str]:
        """What was seen, the oldest first; lines that are no marks are passed over."""
        try:
            lines = plain_file.read(self._path, 2 * _MOST_BYTES).decode("ascii", "replace").splitlines()
        except OSError:
            return []
        return list(dict.fromkeys(line for line in lines if audit.parse(line) is not None))[-2 * KEPT :]

    def sight(self) -> Sight:
        """What was seen, and whether it is all that it should be: a file that its own program has not shortened yet
        begins as it began.
        """
        try:  # before what was seen: another program may note both in between
            first = plain_file.read(self._first, _MOST_BYTES).decode("ascii", "replace").strip()
        except OSError:
            first = ""
        found = tuple(self.marks())
        return Sight(found, bool(first) and first not in found and len(found) < KEPT)

    def _shorten(self) -> None:
        kept = self.marks()[-KEPT:]
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}.new")
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()
        home_folder.keep_private(fresh)
        fresh.write_text("".join(f"{mark}\n" for mark in kept), encoding="ascii")
        whole_file.put(fresh, self._path)
