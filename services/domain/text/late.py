"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re
from typing import Any, cast


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``, which takes up to a millisecond: what a start never looks for is not to keep it waiting."""
    return cast("re.Pattern[str]", _Late(pattern, flags))


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._words = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        """Only what was not asked for before comes here."""
        made = getattr(re.compile(*self._words), name)
        setattr(self, name, made)
        return made
