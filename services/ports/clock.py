"""The clock of this machine."""

from __future__ import annotations

import threading
from typing import Protocol


class Clock(Protocol):
    """Time of this machine."""

    def now_ms(self) -> int: ...
    def agree(self, now_ms: int) -> None: ...
    def monotonic(self) -> float: ...
    def wait(self, event: threading.Event, seconds: float) -> bool: ...
