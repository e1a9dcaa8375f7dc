"""Outcomes that a silent store has not taken yet: on this machine's disk until it has, also past the worker's end."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import threading
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from services import home_folder, plain_file
from services.domain.change import Finish
from services.executors import process_tree

log = logging.getLogger(__name__)
S = TypeVar("S")
#: bytes of one worker's file; what comes beyond waits in memory only
LIMIT = 64 * 1024 * 1024
FORMAT, SUFFIX, ASIDE = 1, home_folder.SPOOLED, home_folder.ASIDE
#: files that a worker of this process is at, by their names; one at a time looks for those of others
_in_use: set[str] = set()
_adopting = threading.Lock()


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    """First line of a file."""

    spool: int
    store: str


class _File:
    """One file: the owners whose outcomes in it are not recorded yet, and whether more than those stands there."""

    def __init__(self, path: Path, owners: Iterable[str] = (), *, damaged: bool = False) -> None:
        self.path, self.open, self.damaged = path, set(owners), damaged
        self.size = 0
        _in_use.add(path.name)

    def append(self, data: bytes) -> None:
        """All of it or nothing: half a line would spoil the one after it.

        Raises:
            OSError: the disk does not take it, or the file would be too large.
        """
        if self.size + len(data) > LIMIT:
            raise OSError(f"{self.path.name} has {self.size} bytes, which is as large as it may become")
        try:
            home_folder.keep_private(self.path)
            with self.path.open("ab") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError:
            with contextlib.suppress(OSError):
                os.truncate(self.path, self.size)
            raise
        self.size += len(data)

    def close(self) -> None:
        _in_use.discard(self.path.name)


class Spool:
    """The outcomes of one worker that wait for the store, one line each behind its checksum. Thread-safe.

    The file bears the mark of its process. Who starts here, or sees the store again, takes over the files of those that
    are no more, by renaming them, so that two never replay the same one. A file is removed when all that it holds is
    recorded.
    """

    def __init__(self, folder: Path) -> None:
        """``folder`` belongs to one store and is made with the first outcome; its name stands in each file."""
        self._folder = folder
        self._lock = threading.Lock()
        self._files: list[_File] = []
        self._own: _File | None = None
        self._refused = False

    def keep(self, ops: Sequence[Finish]) -> None:
        """Write outcomes down (synced to disk); those of an owner that is here already are not repeated.

        A disk that takes nothing is told in the log: then they wait in memory, as without a spool.
        """
        with self._lock:
            known = {owner for file in self._files for owner in file.open}
            fresh = [op for op in ops if op.owner not in known]
            if not fresh:
                return
            data = b"".join(map(_line, fresh))
            try:
                file = self._file()
                file.append(data)
            except OSError as exc:
                if not self._refused:
                    log.warning("outcomes wait in memory only, %s takes no more: %s", self._folder, exc)
                self._refused = True
                return
            file.open.update(op.owner for op in fresh)

    def settle(self, owners: Iterable[str]) -> None:
        """These are recorded."""
        if not self._files:
            return
        gone = set(owners)
        with self._lock:
            for file in list(self._files):
                file.open -= gone
                if not file.open:
                    self._remove(file)

    def adopt(self) -> list[Finish]:
        """Outcomes that workers left behind which are no more; they are this one's to settle now."""
        found: list[Finish] = []
        with _adopting, self._lock:
            for path in sorted(self._folder.glob(f"*{SUFFIX}")):
                if _is_used(path.name):
                    continue
                own = self._folder / _name()
                try:
                    path.rename(own)
                    found += self._read(own)
                except OSError as exc:  # somebody else was faster, or it cannot be read
                    log.info("%s is left alone: %s", path.name, exc)
        return found

    def close(self) -> None:
        """Leave what is not recorded to the next worker that starts here."""
        with self._lock:
            for file in self._files:
                file.close()
            self._files.clear()
            self._own = None

    def _file(self) -> _File:
        if self._own is None:
            home_folder.make_private(self._folder)
            made = _File(self._folder / _name())
            try:
                made.append(_line(_Header(FORMAT, self._folder.name)))
            except OSError:  # it would be taken for one that cannot be read
                made.close()
                with contextlib.suppress(OSError):
                    made.path.unlink()
                raise
            self._own = made
            self._files.append(made)
        return self._own

    def _remove(self, file: _File) -> None:
        file.close()
        self._files.remove(file)
        if file is self._own:
            self._own = None
            self._refused = False
        with contextlib.suppress(OSError):
            if file.damaged:
                _set_aside(file.path)
            else:
                file.path.unlink()

    def _read(self, path: Path) -> list[Finish]:
        first, *lines = plain_file.read(path, LIMIT).split(b"\n")
        header = _decoded(first, _Header)
        if header is None or header != _Header(FORMAT, self._folder.name):
            log.warning("%s holds no outcomes for this store and is set aside", path)
            _set_aside(path)
            return []
        if lines and not lines[-1]:
            lines.pop()
        read = [_decoded(line, Finish) for line in lines]
        good = [op for op in read if op is not None]
        if len(good) < len(read):
            log.warning("%d of %d outcomes in %s cannot be read", len(read) - len(good), len(read), path)
        file = _File(path, (op.owner for op in good), damaged=len(good) < len(read))
        self._files.append(file)
        if not good:
            self._remove(file)
        return good


def _name() -> str:
    """A new file name with the mark of this process."""
    number, _, started = process_tree.owner().partition(":")
    return f"{number}-{started}-{secrets.token_hex(4)}{SUFFIX}"


def _is_used(name: str) -> bool:
    number, _, rest = name.partition("-")
    by = f"{number}:{rest.rpartition('-')[0]}"
    return name in _in_use if by == process_tree.owner() else process_tree.owner_lives(by)


def _line(item: msgspec.Struct) -> bytes:
    body = msgspec.json.encode(item)
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _decoded(line: bytes, kind: type[S]) -> S | None:
    check, _, body = line.partition(b" ")
    try:
        if int(check, 16) != zlib.crc32(body):
            return None
        return msgspec.json.decode(body, type=kind)
    except (ValueError, msgspec.MsgspecError):
        return None


def _set_aside(path: Path) -> None:
    path.rename(path.with_suffix(ASIDE))
