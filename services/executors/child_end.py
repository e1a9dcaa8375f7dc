"""The child's end of the pipes between a worker and a Python process of it (``python_child`` has the other)."""

from __future__ import annotations

import os
import signal
import sys


def taken(channel: int) -> tuple[int, int]:
    """Make the pipes that a worker left open ours alone: standard input, on which orders come and where what this
    process starts finds nothing from now on, and the inherited descriptor (handle on Windows) ``channel`` for answers.
    """
    if sys.platform == "win32":
        import msvcrt

        channel = msvcrt.open_osfhandle(channel, os.O_WRONLY)
    os.set_inheritable(channel, False)
    commands = os.dup(0)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a descriptor, not a path
        os.dup2(nothing.fileno(), 0)
    if sys.platform != "win32":
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the worker
    return commands, channel
