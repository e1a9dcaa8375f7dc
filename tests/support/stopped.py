"""A process that is stopped, and is known to stand."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import psutil

from tests.contract.waiting import eventually


def stop(pid: int) -> None:
    """SIGSTOP, and wait until every thread of it stands.

    ``kill`` returns before that: the thread which takes the signal must first get a processor, and until then the
    others go on, take a lock or answer. Nothing, if it has ended.
    """
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return
    eventually(lambda: stands(pid))


def stands(pid: int) -> bool:
    """Whether no thread of it goes on; an ended process stands too."""
    try:
        if not sys.platform.startswith("linux"):
            return psutil.Process(pid).status() == psutil.STATUS_STOPPED
        return all(_state(task) in "TtZX" for task in Path(f"/proc/{pid}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError, psutil.NoSuchProcess):
        return True


def _state(task: Path) -> str:
    """One letter, behind the name in brackets: proc(5)."""
    try:
        return (task / "stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")[2][:1]
    except (FileNotFoundError, ProcessLookupError):
        return "X"
