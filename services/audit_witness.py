"""What this machine has seen of a store's audit: the last links, kept in its home, so that they are missed if they go.

A file for each store, a mark a line. Whoever can change the store may not be able to change this. Beside it stands how
many marks it has and which was the last, so that what is cut off it is missed itself.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from services import home_folder, plain_file, whole_file
from services.domain import audit
from services.domain.errors import UsageError

log = logging.getLogger(__name__)
FOLDER = "audit"
#: marks that are kept; when there are twice as many the older half goes
KEPT = 500
_MOST_BYTES = 2 * KEPT * 120
#: noted as the last mark where some were missed: none is called so
_GONE = (0, "gone")


class Sight(msgspec.Struct, frozen=True):
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
        self._last, self._first = self._path.with_suffix(".last"), self._path.with_suffix(".first")

    def note(self, marks: Sequence[str]) -> None:
        """Keep these; where that cannot be, nothing depends on it."""
        marks = marks[-KEPT:]
        if not marks:
            return
        try:
            home_folder.make(self._home)
            self._path.parent.mkdir(exist_ok=True, mode=0o700)
            home_folder.keep_private(self._path)
            # a file that another one adds to while it is being shortened would lose that: it is added to alone
            with home_folder.alone(self._path) as alone:
                self._add(marks, alone=alone)
        except (OSError, UsageError) as exc:
            log.info("what was seen of the audit is not kept in %s: %s", self._path, exc)

    def _add(self, marks: Sequence[str], *, alone: bool) -> None:
        noted = self._noted()  # before what was seen: another program may note both in between
        before = self._read()
        lost, told = _lost(before, *noted), "".join(f"{mark}\n" for mark in marks).encode()
        size = self._append(told)
        if not lost:
            self._note_last(before.count(b"\n") + len(marks), marks[-1])
        elif noted != _GONE:  # told until somebody says that it is known
            self._note_last(*_GONE)
        if size > _MOST_BYTES and alone:
            self._shorten()

    def marks(self) -> list[str]:
        """What was seen, the oldest first; lines that are no marks are passed over."""
        return _marks(self._read())

    def sight(self) -> Sight:
        """What was seen, and whether it is all that it should be."""
        noted = self._noted()  # before what was seen: another program may note both in between
        found = self._read()
        return Sight(tuple(_marks(found)), _lost(found, *noted))

    def settle(self) -> None:
        """Take what is there for all that there is: what was taken away is missed no more.

        Raises:
            OSError: that cannot be kept.
        """
        found = self.marks()
        if found:
            self._note_last(len(found), found[-1])
        else:
            self._last.unlink(missing_ok=True)
            self._first.unlink(missing_ok=True)

    def _read(self) -> bytes:
        try:
            # Windows ended the lines of a file that was shortened in a way of its own
            return plain_file.read(self._path, 2 * _MOST_BYTES).replace(b"\r\n", b"\n")
        except OSError:
            return b""

    def _append(self, told: bytes) -> int:
        """One write, so that several programs may do it at once; the size of the file then."""
        with self._path.open("ab") as file:
            file.write(told)
            file.flush()
            if os.fstat(file.fileno()).st_ino == self._path.stat().st_ino:
                return file.tell()
        with self._path.open("ab") as file:  # another one had shortened it meanwhile
            file.write(told)
            return file.tell()

    def _note_last(self, count: int, last: str) -> None:
        draft = self._last.with_name(f"{self._last.name}.{os.getpid()}.{threading.get_ident()}.new")
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
        home_folder.keep_private(draft)
        draft.write_text(f"{count} {last}\n", encoding="ascii")
        whole_file.put(draft, self._last)
        self._first.unlink(missing_ok=True)

    def _noted(self) -> tuple[int, str]:
        """How many marks there were and the last of them; of a program before this one its first, while that is due."""
        with contextlib.suppress(OSError):
            count, _blank, last = plain_file.read(self._last, 1000).decode("ascii", "replace").strip().partition(" ")
            return (int(count), last) if count.isdecimal() and len(count) < 7 else (0, "")
        with contextlib.suppress(OSError):
            first = plain_file.read(self._first, 1000).decode("ascii", "replace").strip()
            return (1, first) if self._read().count(b"\n") < KEPT else (0, "")
        return 0, ""

    def _shorten(self) -> None:
        found = self.marks()
        kept = found[-KEPT:]
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}.new")
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()
        home_folder.keep_private(fresh)
        fresh.write_bytes("".join(f"{mark}\n" for mark in kept).encode("ascii"))
        if self.marks()[-1:] == found[-1:]:  # else somebody writes: whoever is next shortens it
            whole_file.put(fresh, self._path)


def _marks(found: bytes) -> list[str]:
    lines = found.decode("ascii", "replace").splitlines()
    return list(dict.fromkeys(line for line in lines if audit.parse(line) is not None))[-2 * KEPT :]


def _lost(found: bytes, count: int, last: str) -> bool:
    """Whether what was noted is not there; its own program shortens a file to the last of them."""
    return bool(last) and (f"{last}\n".encode() not in found or found.count(b"\n") < min(count, KEPT))
