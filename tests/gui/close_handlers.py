"""A task that runs until a file exists."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from services.executors.registry import HandlerContext, task_handler


@task_handler("until_file")
def until_file(payload: dict[str, Any], job: HandlerContext) -> None:
    """Wait for the file that the payload names."""
    while not Path(payload["file"]).exists():
        if job.cancelled():
            return
        time.sleep(0.01)
