"""What both places of artifacts share: caps, how a source is read, and the card that lies beside each file."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from services import plain_file
from services.domain.errors import ArtifactError
from services.domain.task import artifact as names
from services.domain.task.artifact import Artifact, Source
from services.domain.text.said import said

CHUNK = 1024 * 1024
MB = 1024 * 1024
CARDS = ".cards"  #: folder of the cards beside the files of an attempt; no safe name begins with a dot
_ENCODER = msgspec.json.Encoder()


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """How much is kept, in bytes; 0 for no limit."""

    file_bytes: int = 50 * MB
    task_bytes: int = 200 * MB
    attempt_files: int = 200
    free_bytes: int = 500 * MB  #: so much of a disk is left to others


class _Card(msgspec.Struct, kw_only=True):
    """What stands beside a file, for who finds it without the record."""

    task_id: str
    attempt: int
    name: str
    kind: str = "other"
    size: int = 0
    sha256: str = ""
    step: str = ""
    at: int = 0


def card(one: Artifact) -> bytes:
    """The card of a file."""
    fields = {name: getattr(one, name) for name in _Card.__struct_fields__}
    return _ENCODER.encode(_Card(**fields))


def read_card(data: bytes, place: str) -> Artifact | None:
    """The file that a card speaks of and that lies at ``place``; None for bytes that are no card."""
    try:
        found = msgspec.json.decode(data, type=_Card)
    except msgspec.DecodeError:
        return None
    return Artifact(**{**msgspec.structs.asdict(found), "place": place})


def without_card(task_id: str, attempt: int, place: str, size: int, at: int) -> Artifact:
    """A file whose card is missing: its writer was killed between the two."""
    name = place.rpartition("/")[2]
    return Artifact(
        task_id=task_id, attempt=attempt, name=name, kind=names.kind_of(name), size=size, at=at, place=place
    )


def opened(source: Source) -> BinaryIO:
    """A file or bytes to read.

    Raises:
        ArtifactError: it is no plain file, or cannot be read.
    """
    if isinstance(source, bytes):
        return io.BytesIO(source)
    if not isinstance(source, Path):
        return source
    try:
        return plain_file.opened(source)
    except OSError as exc:
        raise ArtifactError(said("artifact.unread", file=source.name, why=exc.strerror or str(exc))) from exc


def copied(source: BinaryIO, write: Callable[[bytes], object], name: str, cap: int) -> tuple[int, str]:
    """Copy to the end: size and SHA-256.

    Raises:
        ArtifactError: it is larger than ``cap`` bytes.
        OSError: it cannot be read or written.
    """
    size, digest = 0, hashlib.sha256()
    while chunk := source.read(CHUNK):
        size += len(chunk)
        if cap and size > cap:
            raise ArtifactError(said("artifact.larger", file=name, size=shown(cap)))
        digest.update(chunk)
        write(chunk)
    return size, digest.hexdigest()


def room(caps: Caps, kept: int, files: int, name: str) -> int:
    """Bytes that one more file may have, 0 for any; ``held``: bytes of its task, ``files``: of its attempt.

    Raises:
        ArtifactError: there is no room.
    """
    if caps.attempt_files and files >= caps.attempt_files:
        raise ArtifactError(said("artifact.many", file=name, count=files))
    if not caps.task_bytes:
        return caps.file_bytes
    left = caps.task_bytes - kept
    if left <= 0:
        raise ArtifactError(said("artifact.full", file=name, size=shown(caps.task_bytes)))
    return min(left, caps.file_bytes) if caps.file_bytes else left


def free_name(name: str, taken: Callable[[str], bool]) -> str:
    """The name, numbered where it is taken."""
    for number in range(1, 10_000):
        one = name if number == 1 else names.numbered(name, number)
        if not taken(one):
            return one
    raise ArtifactError(said("artifact.same_name", file=name))


def in_order(found: Iterable[Artifact]) -> list[Artifact]:
    """By attempt, then as they came."""
    return sorted(found, key=lambda one: (one.attempt, one.at, one.name))


def attempts_of(folders: Iterable[str]) -> Iterator[int]:
    """The numbers among the names of folders."""
    return (int(name) for name in folders if name.isascii() and name.isdigit())


def shown(size: int) -> str:
    """Bytes as people read them."""
    return f"{size / MB:.0f} MB" if size >= MB else f"{size:,} B"
