"""No-op handlers of the benchmark, one in the worker's own threads and one in child processes."""

from __future__ import annotations

import time
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
