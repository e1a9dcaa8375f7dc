"""The order of a table: which columns, which direction. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

R = TypeVar("R")
Sort = tuple[str, bool]  #: column key, descending


def next_sorts(now: Sequence[Sort], key: str, *, descending_first: bool, add: bool) -> tuple[Sort, ...]:
    """Return the order after a click on the column `key`; `add` keeps the earlier keys before it."""
    known = dict(now)
    descending = not known[key] if key in known else descending_first
    others = [sort for sort in now if sort[0] != key] if add else []
    return (*others, (key, descending))


def sorted_rows(rows: Sequence[R], sorts: Sequence[Sort], value_of: Callable[[str], Callable[[R], Any]]) -> list[R]:
    """Return `rows` in the order of `sorts`; nothing sorts first, texts without regard to case."""
    result = list(rows)
    for key, descending in reversed(sorts):
        value = value_of(key)
        result.sort(key=lambda row, value=value: comparable(value(row)), reverse=descending)  # type: ignore[misc]
    return result


def comparable(value: object) -> tuple[int, Any]:
    """Return a value that can be compared with its like, None included."""
    if value is None:
        return (0, 0)
    return (1, value.casefold() if isinstance(value, str) else value)
