"""A module that takes its time to be imported: until the file that its environment names is there."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from services.executors.registry import HandlerContext, task_handler

GATE = "TEST_IMPORT_GATE"
if GATE in os.environ:
    Path(os.environ[GATE] + ".asked").touch()
    while not Path(os.environ[GATE]).exists():
        time.sleep(0.005)


@task_handler("slow_listen")
def slow_listen(payload: dict[str, Any], job: HandlerContext) -> None:
    while not job.cancelled():
        time.sleep(0.005)
