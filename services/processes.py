"""Which process of this machine was meant by what one wrote down: a number alone may be another's by now.

What is in a file outlives the machine's start, so it is the instant that tells; the mark of a child, which nothing
outlives, tells ticks since that start (``executors.process_tree``).
"""

from __future__ import annotations

import math
import os
import socket
from functools import cache

import psutil

#: host, number, and when it started as the system counts (s)
Process = tuple[str, int, float]
#: by less two tellings of one start differ
SAME_S = 1.0


def this_process() -> Process:
    """How this process is told from all others."""
    return socket.gethostname(), os.getpid(), _began()


@cache
def _began() -> float:
    """Asked once: where the clock was set, Linux tells of another start."""
    return psutil.Process().create_time()


def start_of(pid: int) -> float | None:
    """When the process began that has this number now; None where none has it, not a number where nobody may look."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:
        return math.nan


def is_same(start: float | None, started: float) -> bool:
    """Whether it is the process that started then; of one that may not be looked at it is supposed."""
    return start is not None and (math.isnan(start) or abs(start - started) < SAME_S)


def lives(pid: int, started: float) -> bool:
    """Whether a process of this machine is still there."""
    return is_same(start_of(pid), started)
