"""No-op handlers of the benchmark, one in the worker's own threads and one in child processes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from services.executors.registry import HandlerContext, task_handler

PAUSE_S = 0.015


@task_handler("noop", isolate="thread")
def noop(payload: dict[str, Any], job: HandlerContext) -> None:
    """Do nothing."""


@task_handler("noop_process")
def noop_process(payload: dict[str, Any], job: HandlerContext) -> None:
    """Do nothing, in a child process."""


@task_handler("pause", isolate="thread")
def pause(payload: dict[str, Any], job: HandlerContext) -> None:
    """Wait as a page does, without computing."""
    time.sleep(PAUSE_S)


@task_handler("booked", isolate="thread")
def booked(payload: dict[str, Any], job: HandlerContext) -> None:
    """Wait, then write down that it ran: one line of a file that several processes append to."""
    time.sleep(payload["seconds"])
    with Path(payload["book"]).open("ab", buffering=0) as book:
        book.write(b"%d\n" % payload["n"])
