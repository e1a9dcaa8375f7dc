"""Texts in the order in which people look for them: ``shop 2`` before ``shop 10``."""

from __future__ import annotations

import functools
import re
from typing import TypeAlias

#: what ``as_read`` sorts by: letters and numbers in turns
Order: TypeAlias = tuple[str | tuple[int, str], ...]

_NUMBERS = re.compile(r"(\d+)", re.ASCII)


@functools.lru_cache(maxsize=16_384)  # a large fleet's shops are put in order once a second
def as_read(text: str) -> Order:
    """A key to sort by: numbers of any length compare as numbers, letters without their case."""
    parts = _NUMBERS.split(text.casefold())
    digits = [part.lstrip("0") for part in parts[1::2]]
    numbers = [(len(part), part) for part in digits]
    return tuple(numbers[place // 2] if place % 2 else part for place, part in enumerate(parts))
