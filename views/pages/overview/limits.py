"""From where on a number is no longer fine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of the tiles; UX.md 4.1 shows these."""

    waiting: int = 2_000
    dead: int = 100
    success: float = 0.98
    oldest_s: int = 300
