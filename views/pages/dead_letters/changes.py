"""What an edited payload changed, field by field. Pure but for the language."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from services.i18n import _
from views.support import safe

_MISSING = object()
LIMIT = 40


@dataclass(frozen=True, slots=True)
class Change:
    """One field: its path, what stood there and what stands there now, both as short JSON ("" for nothing)."""

    path: str
    before: str
    after: str

    def words(self) -> str:
        """The change in a few words."""
        if not self.before:
            return _("{field} is new").format(field=self.path)
        if not self.after:
            return _("{field} is gone").format(field=self.path)
        return _("{field} was {value}").format(field=self.path, value=self.before)


def changes(before: Any, after: Any, path: str = "") -> list[Change]:
    """The fields in which two documents differ; lists are compared as a whole."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        found = []
        for name in {**before, **after}:
            place = f"{path}.{name}" if path else str(name)
            found += changes(before.get(name, _MISSING), after.get(name, _MISSING), place)
        return found
    if before == after and type(before) is type(after):
        return []
    return [Change(path, _short(before), _short(after))]


def line_diff(before: str, after: str) -> list[tuple[str, str]]:
    """All lines of both texts as ``(mark, line)``: ``-`` gone, ``+`` new, blank kept."""
    return [
        (line[0].strip(), line[2:])
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
        if not line.startswith("?")
    ]


def _short(value: object) -> str:
    if value is _MISSING:
        return ""
    return safe.cut(safe.visible(json.dumps(value, ensure_ascii=False)), LIMIT)
