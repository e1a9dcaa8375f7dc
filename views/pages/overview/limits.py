"""From where on a number is no longer fine; a person may say otherwise."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from views.support.memory import Memory

NAME = "overview.limits"
#: limit -> least and most that can be set, in the unit of ``UNITS``
BOUNDS: dict[str, tuple[int, int]] = {
    "waiting": (1, 10_000_000),
    "dead": (1, 1_000_000),
    "success": (1, 100),
    "oldest_s": (10, 7 * 86_400),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of the tiles; UX.md 4.1 shows these. Success is a share, the oldest wait in seconds."""

    waiting: int = 2_000
    dead: int = 100
    success: float = 0.98
    oldest_s: int = 300

    def shown(self, name: str) -> int:
        """A limit as a person sets it: a whole number, success in per cent."""
        return round(self.success * 100) if name == "success" else int(getattr(self, name))

    def having(self, name: str, number: int) -> Limits:
        """The same with another limit, kept within its bounds."""
        least, most = BOUNDS[name]
        number = max(least, min(most, number))
        value: Any = number / 100 if name == "success" else number
        return dataclasses.replace(self, **{name: value})


def recall(memory: Memory) -> Limits:
    """The limits set on this machine, else those of the design."""
    kept, limits = memory.get(NAME, {}), Limits()
    for name, number in kept.items() if isinstance(kept, dict) else ():
        if name in BOUNDS and isinstance(number, int):
            limits = limits.having(name, number)
    return limits


def remember(memory: Memory, limits: Limits) -> None:
    """Keep limits for the next start."""
    memory.put(NAME, {name: limits.shown(name) for name in BOUNDS})
