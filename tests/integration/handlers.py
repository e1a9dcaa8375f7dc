"""Task handlers whose behaviour stands in the payload; those of threads cost a test no process."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from services.executors.registry import HandlerContext, HandlerError, task_handler

PAUSE_SECONDS = 0.005


@task_handler("work", isolate="thread")
@task_handler("once", isolate="thread")
@task_handler("single", isolate="thread")
@task_handler("never_twice", isolate="thread", idempotent=False)
@task_handler("sync_order", isolate="thread")
def work(payload: dict[str, Any], job: HandlerContext) -> dict[str, Any] | None:
    """Do what the payload says.

    ``seen``: a file that gets a line at start and end; ``sleep``: seconds; ``until``: a file to wait for; ``fail``: a
    kind of error, ``fail_first``: only in so many attempts, ``unless``: only while there is no such file, ``half``:
    with half a character in every text; ``say``: what is printed.
    """
    note(payload, f"start {job.task_id} {job.attempt}")
    if "say" in payload:
        print(payload["say"], flush=True)
    if not _wait(payload, job):
        note(payload, f"stopped {job.task_id} {job.attempt}")
        return None
    mended = "unless" in payload and Path(payload["unless"]).exists()
    if "fail" in payload and job.attempt <= int(payload.get("fail_first", 1_000)) and not mended:
        note(payload, f"fail {job.task_id} {job.attempt}")
        text = str(payload.get("text", f"failed on purpose: {payload['fail']}"))
        if payload.get("half"):
            job.log("\udcff")
            job.progress(50, "\udcff")
            _wait({"sleep": 1.5}, job)
        raise HandlerError(text + "\udcff" * bool(payload.get("half")), str(payload["fail"]))
    note(payload, f"end {job.task_id} {job.attempt}")
    found = {"orders": payload["rows"]} if "rows" in payload else {}
    return {"attempt": job.attempt, "shop": job.shop_id, **found}


def note(payload: dict[str, Any], line: str) -> None:
    """Append a line in one write, so that lines of several processes do not mix."""
    if "seen" in payload:
        number = os.open(payload["seen"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(number, f"{line}\n".encode())
        finally:
            os.close(number)


def _wait(payload: dict[str, Any], job: HandlerContext) -> bool:
    """Wait as told; False when the job was stopped."""
    ends = time.monotonic() + float(payload.get("sleep", 0))
    gate = Path(payload["until"]) if "until" in payload else None
    while time.monotonic() < ends or (gate is not None and not gate.exists()):
        if job.cancelled():
            return False
        time.sleep(PAUSE_SECONDS)
    return True
