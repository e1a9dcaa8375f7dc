"""Where the field that an error complains of stands in a message, or where it is missing. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

Path = tuple[str | int, ...]

_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
#: what flows call the whole message before a field's own name
_WHOLE = frozenset({"payload", "param", "params", "parameters", "body", "data", "$"})
#: so many places of one name are marked, so deep a document is searched
PLACES, DEPTH = 20, 64


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a message, as a path; where it is missing, the path that it would have."""

    path: Path
    missing: bool = False

    @property
    def name(self) -> str:
        """``items[0].since``."""
        said = ""
        for part in self.path:
            said += f"[{part}]" if isinstance(part, int) else f".{part}" if said else part
        return said


def places(document: Any, name: str, schema: Mapping[str, Any] | None = None) -> tuple[Place, ...]:
    """The places of the field called ``name`` (``payload.items[0].since``, ``since``); () where nothing is named.

    A bare name is looked for at every depth. A field that is nowhere has one place that is missing: as deep in the
    document as its path leads, or where the schema of the task type has such a field.
    """
    path = _path(name)
    if not path:
        return ()
    for wanted in (path, path[1:]) if path[0] in _WHOLE else (path,):
        if wanted and _there(document, wanted):
            return (Place(path=wanted),)
    if path[0] in _WHOLE and len(path) > 1:
        path = path[1:]
    found = tuple(Place(path=one) for one in _ending_in(document, path))[:PLACES]
    return found or (Place(path=_of_schema(schema or {}, path) or path, missing=True),)


def _path(name: str) -> Path:
    parts = [int(index) if index else word for word, index in _PART.findall(name)]
    return tuple(int(one) if isinstance(one, str) and one.isascii() and one.isdigit() else one for one in parts)


def _there(document: Any, path: Path) -> bool:
    for part in path:
        if isinstance(document, Mapping) and (part in document or str(part) in document):
            document = document[part] if part in document else document[str(part)]
        elif isinstance(document, Sequence) and not isinstance(document, str) and isinstance(part, int):
            if part >= len(document):
                return False
            document = document[part]
        else:
            return False
    return True


def _ending_in(document: Any, path: Path, before: Path = ()) -> Iterator[Path]:
    if len(before) > DEPTH:
        return
    if before and _there(document, path):
        yield (*before, *path)
    inner = document.items() if isinstance(document, Mapping) else ()
    for name, value in inner if inner or not isinstance(document, list) else enumerate(document):
        yield from _ending_in(value, path, (*before, name))


def _of_schema(schema: Any, path: Path, before: Path = ()) -> Path:
    """The path of a field that the schema describes, the shallowest first; () for none."""
    fields = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(fields, Mapping) or len(before) > DEPTH:
        return ()
    if path[0] in fields:
        return (*before, *path)
    return next((found for name, one in fields.items() if (found := _of_schema(one, path, (*before, name)))), ())
