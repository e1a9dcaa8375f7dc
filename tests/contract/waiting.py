"""Waiting for what another thread, process or server does, within a bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
POLL_SECONDS = 0.005


def eventually(ask: Callable[[], T], seconds: float = 5.0) -> T:
    """Ask until the answer is truthy; fail with the last answer."""
    deadline = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"still {answer!r} after {seconds} s")
        time.sleep(POLL_SECONDS)
