"""What a process has started, and what that has started."""

from __future__ import annotations

import sys
from collections import defaultdict

import psutil


def offspring(process: psutil.Process) -> list[psutil.Process]:
    """All living descendants, parents before their children; none of a process that is gone.

    On Linux not by ``Process.children``: it leaves out a child that seems older than its ancestor, by wall-clock starts
    that it derives from the kernel's boot time, and the kernel rounds that to a second anew at each question. Parents
    are always alive there, so their numbers need no such proof.
    """
    if sys.platform != "linux":
        try:
            return process.children(recursive=True)
        except psutil.NoSuchProcess:
            return []
    if not process.is_running():  # its number may belong to others by now
        return []
    below: dict[int, list[psutil.Process]] = defaultdict(list)
    for one in psutil.process_iter():
        try:
            below[one.ppid()].append(one)
        except psutil.Error:
            continue
    found: list[psutil.Process] = []
    seen, waiting = {process.pid}, [process.pid]
    while waiting:
        fresh = [one for one in below[waiting.pop()] if one.pid not in seen]
        seen.update(one.pid for one in fresh)
        waiting += [one.pid for one in fresh]
        found += fresh
    return found
