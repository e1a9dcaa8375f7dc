"""Kinds of values in JSON and TOML, in the words of people who write a file and never a program."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.text.said import said

_WANTED = {
    "int": "kind.whole",
    "float": "kind.fraction",
    "str": "kind.text",
    "bool": "kind.switch",
    "array": "kind.list_like",
    "object": "kind.table",
}
#: of a JSON Schema, whose readers may know its words: those stand in English
_OF_SCHEMA = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_GIVEN = _WANTED | {"int": "kind.number", "float": "kind.number", "array": "kind.list"}


def wanted(kinds: str) -> str:
    """What is to be written where the decoder wants ``kinds``, such as ``int | null``."""
    return _either(said(_WANTED[kind]) if kind in _WANTED else kind for kind in kinds.split(" | "))


def given(kind: str) -> str:
    """What stands there instead."""
    return said(_GIVEN[kind]) if kind in _GIVEN else kind


def of_schema(kinds: object) -> str:
    """What a JSON Schema asks for by ``type``: one of its words, or a list of them."""
    words = kinds if isinstance(kinds, list) and kinds else [kinds]
    return _either(said(f"kind.schema.{word}") if word in _OF_SCHEMA else str(word) for word in words)


def _either(kinds: Iterable[str]) -> str:
    found, *others = kinds
    for one in others:
        found = said("kind.or", one=found, other=one)
    return found
