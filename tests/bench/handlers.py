"""No-op handlers of the benchmark, one in the worker's own threads and one in child processes."""

from __future__ import annotations

from typing import Any

from services.executors.registry import HandlerContext, task_handler


@task_handler("noop", isolate="thread")
def noop(payload: dict[str, Any], job: HandlerContext) -> None:
    """Do nothing."""


@task_handler("noop_process")
def noop_process(payload: dict[str, Any], job: HandlerContext) -> None:
    """Do nothing, in a child process."""
