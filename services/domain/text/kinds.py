"""Kinds of values in JSON and TOML, in the words of people who write a file and never a program."""

from __future__ import annotations

from services.domain.text.said import said

_WANTED = {
    "int": "kind.whole",
    "float": "kind.fraction",
    "str": "kind.text",
    "bool": "kind.switch",
    "array": "kind.list_like",
    "object": "kind.table",
}
_GIVEN = _WANTED | {"int": "kind.number", "float": "kind.number", "array": "kind.list"}


def wanted(kinds: str) -> str:
    """What is to be written where the decoder wants ``kinds``, such as ``int | null``."""
    found, *others = (said(_WANTED[kind]) if kind in _WANTED else kind for kind in kinds.split(" | "))
    for one in others:
        found = said("kind.or", one=found, other=one)
    return found


def given(kind: str) -> str:
    """What stands there instead."""
    return said(_GIVEN[kind]) if kind in _GIVEN else kind
