"""What is left out of a line first when there is no room: whole parts from the end, before anything is cut. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

#: a part begins with one of these; a comma inside a number is none
_SEAM = re.compile(r" · |, |，|；")


def shorter(words: str, fits: Callable[[str], bool]) -> str:
    """Return as many parts of the line as fit, at least the first one."""
    while not fits(words):
        seams = list(_SEAM.finditer(words))
        if not seams:
            break
        words = words[: seams[-1].start()]
    return words
