"""Processor time of the servers and of the measured process: what a task costs, however busy the machine is."""

from __future__ import annotations

from collections.abc import Mapping

import psutil


class Spent:
    """Of process families, by the pid of their first; ``this process`` is the measured one."""

    def __init__(self, **servers: int) -> None:
        self._families = {"this process": psutil.Process()} | {
            name: psutil.Process(pid) for name, pid in servers.items()
        }

    def now(self) -> dict[str, float]:
        """Seconds so far, user and system."""
        return {name: _seconds(first, whole=name != "this process") for name, first in self._families.items()}

    def since(self, before: Mapping[str, float], tasks: int, doing: str) -> dict[str, float]:
        """Microseconds a task since ``before``, in words of a table."""
        return {
            f"{name}, µs a task, {doing}": (seconds - before[name]) * 1e6 / max(1, tasks)
            for name, seconds in self.now().items()
        }


def _seconds(first: psutil.Process, *, whole: bool) -> float:
    family = [first, *first.children(recursive=True)] if whole else [first]
    times = [one.cpu_times() for one in family]
    return sum(one.user + one.system for one in times)
