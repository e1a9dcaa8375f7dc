"""Waiting for what another thread, process or server does, within a bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
#: for what is certain to come; on a machine with much else to do it may take so long
PATIENCE_S = 30.0
_FIRST_S, _LAST_S = 0.005, 0.05


def eventually(ask: Callable[[], T], seconds: float = PATIENCE_S) -> T:
    """Ask until the answer is truthy; fail with the last answer."""
    began = time.monotonic()
    while True:
        answer = ask()
        if answer:
            return answer
        waited = time.monotonic() - began
        if waited > seconds:
            raise AssertionError(f"still {answer!r} after {seconds} s")
        # seldom after a while: what is waited for has to share the processor with the question
        time.sleep(min(_LAST_S, max(_FIRST_S, waited / 20)))
