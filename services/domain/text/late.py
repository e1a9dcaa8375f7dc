"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re
from typing import Any, cast

_ALL: list[_Late] = []


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``, which takes up to a millisecond: what a start never looks for is not to keep it waiting."""
    made = _Late(pattern, flags)
    _ALL.append(made)
    return cast("re.Pattern[str]", made)


def compile_all() -> None:
    """Compile what nobody has looked for yet; in a thread of its own, so that no click waits for dozens at once."""
    for one in tuple(_ALL):
        one.compiled()


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._words = (pattern, flags)
        self._compiled: re.Pattern[str] | None = None

    def compiled(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(*self._words)
        return self._compiled

    def __getattr__(self, name: str) -> Any:
        """Only what was not asked for before comes here."""
        made = getattr(self.compiled(), name)
        setattr(self, name, made)
        return made
