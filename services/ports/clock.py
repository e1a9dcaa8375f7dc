"""The clock of this machine."""

from __future__ import annotations

import threading
from typing import Protocol


class Clock(Protocol):
    """Time of this machine."""

    def now_ms(self) -> int: ...
    def wall_ms(self) -> int:
        """What a clock on the wall shows (UTC ms): unlike ``now_ms`` it is back at once where it was set back."""

    def apart(self) -> Clock: ...
    def agree(self, now_ms: int) -> None: ...
    def monotonic(self) -> float: ...
    def wait(self, event: threading.Event, seconds: float) -> bool: ...
