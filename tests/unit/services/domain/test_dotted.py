"""What stands at a dotted name of a document."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.types import dotted

DOCUMENT: dict[str, Any] = {"a": {"b": [10, {"c": None}]}, "": 1, "7": "seven", "list": ["x"]}


@pytest.mark.parametrize(
    ("name", "value"),
    [("a.b.0", 10), ("a.b.1.c", None), ("", 1), ("7", "seven"), ("list.0", "x"), ("a", DOCUMENT["a"])],
)
def test_what_is_there_is_found(name: str, value: object) -> None:
    assert dotted.at(DOCUMENT, name) == value


@pytest.mark.parametrize(
    "name", ["b", "a.c", "a.b.2", "a.b.-1", "a.b.²", "a.b.0.x", "list.x", "a.b.", f"list.{'9' * 5000}"]
)
def test_what_is_not_there_is_told_apart_from_nothing(name: str) -> None:
    assert dotted.at(DOCUMENT, name) is dotted.ABSENT
