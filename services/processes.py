"""Which process of this machine was meant by what one wrote down: a number alone may be another's by now."""

from __future__ import annotations

import os
import socket

import psutil

#: host, number, and when it started as the system counts (s)
Process = tuple[str, int, float]


def this_process() -> Process:
    """How this process is told from all others."""
    return socket.gethostname(), os.getpid(), psutil.Process().create_time()


def lives(pid: int, started: float) -> bool:
    """Whether a process of this machine is still there; of one that may not be looked at it is supposed."""
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - started) < 1.0 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
