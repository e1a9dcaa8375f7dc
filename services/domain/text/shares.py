"""A share as the number that people read: what is filtered by it is what stands there."""

from __future__ import annotations


def percent(share: float) -> float:
    """With one decimal; what is not all is never said to be all, what is something not nothing."""
    shown = round(share * 100, 1)
    return min(99.9, max(0.1, shown)) if 0 < share < 1 else shown
