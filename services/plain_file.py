"""Files that somebody else named: opened only where they are plain files, and never waited for."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

#: what stands in place of an answer of the system
NO_FILE = "it is no plain file"
_CHUNK = 1 << 20


class _Raw(io.FileIO):
    """What has nothing to read yet (a log of the kernel is a file by its mode) is an error and not the end."""

    # the buffered reader asks in one of these ways, each of them answers None where it would wait
    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        return cast("int", _there(super().readinto(buffer)))

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            return self.readall()
        return cast("bytes", _there(super().read(size)))

    def readall(self) -> bytes:
        return b"".join(iter(lambda: self.read(_CHUNK), b""))


def opened(path: Path | str) -> BinaryIO:
    """A plain file to read. A pipe would let us wait for a writer for ever, and a device has no end: they are refused.

    Raises:
        OSError: it is none, or cannot be opened; so does reading it, where it lets its reader wait.
        ValueError: the name holds what no name can.
    """
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(number).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, NO_FILE)
        return cast("BinaryIO", io.BufferedReader(_Raw(number, "rb")))
    except BaseException:
        os.close(number)
        raise


def read(path: Path | str, most: int) -> bytes:
    """The first ``most`` bytes of a plain file, and one more where it has more.

    Raises:
        OSError: it is none, or cannot be read.
        ValueError: the name holds what no name can.
    """
    pieces: list[bytes] = []
    left = most + 1
    with opened(path) as stream:
        while left and (piece := stream.read(min(left, _CHUNK))):  # room is made for all that is asked for at once
            pieces.append(piece)
            left -= len(piece)
    return b"".join(pieces)


def lines(stream: BinaryIO, most: int) -> Iterator[bytes]:
    """The lines of a file with their ends; of one that is longer than ``most`` bytes only its first ``most`` + 1.

    The rest of such a line is read over, so that no more than this is ever held.
    """
    while line := stream.readline(most + 1):
        yield line
        rest = line
        while rest and len(line) > most and not rest.endswith(b"\n"):
            rest = stream.readline(most)


def _there(found: int | bytes | None) -> int | bytes:
    if found is None:
        raise OSError(errno.EAGAIN, NO_FILE)
    return found
