"""What is left out of a line first when there is no room: the middle of names, whole parts from the end, before any
word that decides is cut. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from services.domain.text.visible import columns as columns_of

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


def middle(name: str, columns: int) -> str:
    """Return a name that takes at most so many columns (a Chinese character takes two), cut in its middle: names of one
    fleet begin alike, and what tells them apart is at the end.
    """
    if columns_of(name) <= columns:
        return name
    head = _most(name, columns // 2)
    tail = _most(name[::-1], columns - 1 - columns_of(head))[::-1]
    return f"{head.rstrip()}…{tail.lstrip()}"


def _most(name: str, columns: int) -> str:
    taken = 0
    for place, char in enumerate(name):
        taken += columns_of(char)
        if taken > columns:
            return name[:place]
    return name
