"""Texts in the order in which people look for them: ``shop 2`` before ``shop 10``."""

from __future__ import annotations

import functools
import re
from typing import TypeAlias

#: what ``as_read`` sorts by: one text, for each shop of a fleet needs its own, and a tuple takes four times that
Order: TypeAlias = str

_NUMBERS = re.compile(r"\d+", re.ASCII)
_MOST = 0x10FFFF


@functools.lru_cache(maxsize=16_384)  # a large fleet's shops are put in order once a second
def as_read(text: str) -> Order:
    """A key to sort by: numbers of any length compare as numbers, letters without their case."""
    return _NUMBERS.sub(_measured, text.casefold().replace("\0", " "))


def _measured(number: re.Match[str]) -> str:
    """A number behind how long it is, and before that what no text has: the text before it ends here."""
    digits = number[0].lstrip("0")
    return f"\0{chr(min(len(digits) + 1, _MOST))}{digits}"
