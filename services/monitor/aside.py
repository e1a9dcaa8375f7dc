"""What cannot be read and was set aside: where it lay, when and by whose repair it was taken out of the way."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from services.domain.errors import UsageError
from services.domain.text.mask import masked, masked_text
from services.domain.text.said import said
from services.domain.upkeep.damage import Aside
from services.ports import Store

LIMIT = 10_000
#: entries of the audit that are looked through for repairs
_AUDITED = 1000
#: a repair takes so long at most; its entry stands before what it did
_REPAIR_MS = 3_600_000


class AsideView(msgspec.Struct, frozen=True):
    """``by``: who repaired then, "" where nobody knows: what stood in the way of a step was moved by that step."""

    entry: Aside
    by: str

    @property
    def size(self) -> int:
        """Bytes of its values."""
        return sum(len(data) for _, data in self.entry.parts)


def of(store: Store) -> list[AsideView]:
    """The latest first. Blocking."""
    repairs = [(entry.at, entry.who) for entry in store.audit(_AUDITED) if entry.action == "repair"]
    return [AsideView(one, _who(one.at, repairs)) for one in store.aside(LIMIT)]


def value(one: AsideView, *, reveal: bool = False) -> str:
    """All parts in one text, with secrets as dots. It may be long: masked before anybody shortens it, for a secret that
    is cut is none that would be known.
    """
    said = _plain if reveal else text
    return "; ".join(f"{name}={said(data)}" if name else said(data) for name, data in one.entry.parts)


def document(one: AsideView, *, reveal: bool = False) -> dict[str, object]:
    """All of an entry for a file. ``reveal``: with its secrets, and with the bytes themselves."""
    entry = one.entry
    parts = [
        {"name": name, "text": _plain(data), "base64": base64.b64encode(data).decode()}
        if reveal
        else {"name": name, "text": masked({name: text(data)})[name]}
        for name, data in entry.parts
    ]
    at = datetime.fromtimestamp(entry.at / 1000, UTC).isoformat(timespec="milliseconds") if entry.at else ""
    return {
        "place": entry.place, "entry": entry.entry, "at": at, "by": one.by, "why": entry.why, "bytes": one.size,
        "parts": parts,
    }  # fmt: skip


def write(path: Path, documents: Iterable[Mapping[str, object]]) -> None:
    """Into a new file that nobody else may read, one JSON object a line.

    Raises:
        UsageError: it is there already, or cannot be written.
    """
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(one, ensure_ascii=False)}\n" for one in documents)
    except OSError as exc:
        raise UsageError(
            said("path.not_written", path=str(path), error=exc.strerror or str(exc)), field="--export-aside"
        ) from exc


def text(data: bytes) -> str:
    """Bytes as a text with secrets as dots; what is no text shows as escapes."""
    return masked_text(_plain(data))


def _plain(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _who(at: int, repairs: list[tuple[int, str]]) -> str:
    """By the latest repair that began before it."""
    before = [(began, who) for began, who in repairs if at and began <= at < began + _REPAIR_MS]
    return max(before)[1] if before else ""
