"""A file that an attempt left behind: a screenshot, a page, a table, a download; and the names it may have."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import msgspec

from services.domain.fleet.hosts import is_device
from services.domain.upkeep.stored import Instant

#: what a file is kept from: where it lies, its bytes, or the file itself, opened by who looked at it and closed here
Source = Path | bytes | BinaryIO
KINDS = ("image", "html", "text", "table", "download", "other")
#: files of one attempt that its record names; the place where they lie knows all
IN_RECORD = 20
#: names longer than this are cut, in bytes: folders of Windows hold 255 characters with all that stands before
_NAME_BYTES, _FOLDER_CHARS = 100, 100
_KIND_BY_SUFFIX = {
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp"), "image"),
    **dict.fromkeys((".html", ".htm", ".mhtml"), "html"),
    **dict.fromkeys((".txt", ".log", ".json", ".xml", ".md"), "text"),
    **dict.fromkeys((".csv", ".tsv", ".xlsx", ".xls"), "table"),
    **dict.fromkeys((".zip", ".pdf", ".gz", ".7z"), "download"),
}
_FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f\x7f]')
_PLAIN = re.compile(r"[a-z0-9_.-]")


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """One file of one attempt."""

    task_id: str
    attempt: int
    name: str  #: safe on every system; unique within the attempt
    kind: str = "other"  #: one of KINDS
    size: int = 0  #: bytes
    sha256: str = ""  #: hexadecimal; "" where it was never noted
    step: str = ""  #: of a flow, "" for none
    at: Instant = 0  #: UTC ms
    place: str = ""  #: relative to where artifacts lie, with "/"


class ArtifactMark(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the record of an attempt keeps of a file."""

    name: str
    kind: str = "other"
    size: int = 0
    sha256: str = ""
    step: str = ""
    at: Instant = 0
    place: str = ""


def mark(artifact: Artifact) -> ArtifactMark:
    """For the record."""
    one = artifact
    return ArtifactMark(one.name, one.kind, one.size, one.sha256, one.step, one.at, one.place)


def marked(task_id: str, attempt: int, one: ArtifactMark) -> Artifact:
    """The file that a record names."""
    return Artifact(
        task_id=task_id,
        attempt=attempt,
        name=one.name,
        kind=one.kind,
        size=one.size,
        sha256=one.sha256,
        step=one.step,
        at=one.at,
        place=one.place,
    )


def kind_of(name: str, kind: str = "") -> str:
    """The kind as it was said, where it is one, else by the end of the name."""
    return kind if kind in KINDS else _KIND_BY_SUFFIX.get(PurePosixPath(name.lower()).suffix, "other")


def safe_name(text: str) -> str:
    """The last part of a path as a name that every system takes; never empty, hidden, a device or a way out."""
    last = unicodedata.normalize("NFC", text).replace("\\", "/").rstrip("/").rpartition("/")[2]
    shown = "".join(char for char in last if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    name = _FORBIDDEN.sub("_", shown).strip(" .")
    if is_device(name):
        name = f"_{name}"
    return _cut(name) or "file"


def numbered(name: str, number: int) -> str:
    """``page.png`` → ``page-2.png``."""
    stem, suffix = _parts(name)
    return _cut(f"{stem}-{number}{suffix}", tail=f"-{number}")


def folder_of(task_id: str) -> str:
    """``ab/folder`` of a task: no two tasks share one, not even where case does not count."""
    digest = hashlib.sha256(task_id.encode("utf-8", "replace")).hexdigest()
    written = "".join(_written(char) for char in task_id)
    if is_device(written):
        written = written.replace(".", "~")
    if len(written) > _FOLDER_CHARS or written.strip(".") != written or is_device(written) or not written:
        written = f"{written.strip('.')[: _FOLDER_CHARS - 34]}~{digest[:32]}"
    return f"{digest[:2]}/{written}"


def _written(char: str) -> str:
    if _PLAIN.match(char):
        return char
    return f"+{char.lower()}" if char.isascii() and char.isupper() else f"={ord(char):x}="


def _parts(name: str) -> tuple[str, str]:
    stem, dot, suffix = name.rpartition(".")
    return (stem, f".{suffix}") if dot and stem and len(suffix) <= 10 else (name, "")


def _cut(name: str, tail: str = "") -> str:
    """Shortened where it is too long, with its end kept."""
    if len(name.encode()) <= _NAME_BYTES:
        return name
    stem, suffix = _parts(name)
    room = _NAME_BYTES - len(suffix.encode()) - len(tail)
    return stem.encode()[:room].decode("utf-8", "ignore").rstrip(" .") + tail + suffix
