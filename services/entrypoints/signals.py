"""What Ctrl-C and a request to end do while a command is at work."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def heard(stop: Callable[[], None]) -> Iterator[None]:
    """Call ``stop`` at an interrupt or a request to end, as often as it comes; what held before holds afterwards."""
    names = ("SIGINT", "SIGTERM", "SIGBREAK")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop()

    before = {number: signal.signal(number, on_signal) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
