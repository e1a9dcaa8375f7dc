"""Browsers under load: seconds a task with warm profiles, light contexts and fresh browsers, and a soak with kills."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import psutil

from services.executors.base import JobContext
from services.executors.browser.executor import BrowserExecutor
from services.settings.browser import BrowserSettings
from tests.support.browser_lab import Lab
from tests.support.browser_soak import Soaked, soak
from tests.unit.services.executors.builders import job

TASKS, SHOPS, EACH = 200, 20, 10
KILL_S = 10.0


def measure(scale: float) -> dict[str, float]:
    """The figures.

    Raises:
        AssertionError: a task failed, a profile was used twice at once, or something was left behind.
    """
    found = _ways(max(3, round(EACH * scale)))
    tasks, shops = max(8, round(TASKS * scale)), max(2, round(SHOPS * scale))
    for name, kill_s in (("in peace", 0.0), (f"Chromium killed every {KILL_S:g} s", KILL_S)):
        with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
            done = soak(Path(folder), tasks=tasks, shops=shops, kill_s=kill_s, patience_s=60.0 + 20.0 * tasks)
        _check(done, tasks)
        found |= {f"{what}, {name}": number for what, number in _figures(done).items()}
    return found


def _check(done: Soaked, tasks: int) -> None:
    assert done.succeeded == tasks, [task.error for task in done.tasks if task.status != "succeeded"][:5]
    assert not done.shared, done.shared
    assert (done.processes, done.folders) == (0, 0)


def _figures(done: Soaked) -> dict[str, float]:
    half = done.rss_mb[len(done.rss_mb) // 2 :] or [0.0]
    return {
        "tasks": len(done.tasks),
        "tasks a minute": 60 * len(done.tasks) / done.seconds,
        "browsers started": done.launches,
        "of these killed": done.kills,
        "RSS of the worker MB, growth in the second half": half[-1] - half[0],
    }


def _ways(count: int) -> dict[str, float]:
    """Seconds a task, one after the other: the same page in the same run."""
    lab = Lab()
    lab.start()
    try:
        return {
            "seconds a task, warm profile": _seconds(lab, count, {}, "flow"),
            "seconds a task, light context": _seconds(lab, count, {}, "light"),
            "seconds a task, browser started for each": _seconds(lab, count, {"max_uses": 1}, "flow"),
        }
    finally:
        lab.stop()


def _seconds(lab: Lab, count: int, settings: dict[str, Any], kind: str) -> float:
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        executor = BrowserExecutor(
            BrowserSettings(sites={"lab": lab.url}, **settings),
            profiles=Path(folder),
            secret=lambda platform, shop_id, name: None,
            light=lambda task_type: task_type == "light",
            base_environment=psutil.Process().environ(),
        )
        took = []
        try:
            for number in range(count + 1):
                began = time.monotonic()
                outcome = executor.run(_job(kind), JobContext(log=lambda *_: None, progress=lambda *_: None))
                assert outcome.ok, outcome.error
                took += [time.monotonic() - began] if number else []  # the first starts the host
        finally:
            executor.close()
    return statistics.median(took)


def _job(kind: str) -> Any:
    steps = [{"do": "goto", "url": "/form"}, {"do": "extract", "as": "low", "selector": "#low"}]
    made = job(kind, platform="lab", shop_id="s1", payload={"steps": steps})
    return msgspec.structs.replace(made, timeout_s=120.0)
