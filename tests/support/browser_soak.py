"""Many browser tasks of a few shops through a whole engine, with Chromium killed now and then; then what is left."""

from __future__ import annotations

import contextlib
import random
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from services import assembly, workforce
from services import settings as config
from services.domain.task.record import Task
from services.domain.task.status import TERMINAL
from services.engine.producer import TaskSpec
from services.executors import process_tree
from services.executors.browser.executor import BrowserExecutor
from services.executors.browser.profile import running_on
from services.workers.worker import Worker
from tests.support.browser_lab import Lab


@dataclass
class Soaked:
    """What came of it."""

    tasks: list[Task] = field(default_factory=list)
    seconds: float = 0.0
    launches: int = 0
    reused: int = 0
    kills: int = 0
    shared: list[str] = field(default_factory=list)  #: shops in whose profile two tasks worked at once
    processes: int = 0  #: browsers that were left running
    folders: int = 0  #: and folders for temporary files
    rss_mb: list[float] = field(default_factory=list)  #: of this process, in the course of it

    @property
    def succeeded(self) -> int:
        """How many tasks did their work."""
        return sum(1 for task in self.tasks if task.status == "succeeded")


def soak(
    home: Path,
    *,
    tasks: int,
    shops: int,
    max_total: int = 4,
    slots: int = 6,
    kill_s: float = 0.0,
    most_kills: int = 1_000_000,
    patience_s: float = 600.0,
) -> Soaked:
    """Create the tasks, work them off, and look around when the worker has gone.

    ``kill_s``: a Chromium is killed so often, at most ``most_kills`` times in all.
    """
    lab, done = Lab(), Soaked()
    lab.start()
    before = _folders()
    browser = config.BrowserSettings(
        sites={"lab": lab.url}, max_total=max_total, step_seconds=60.0, acquire_seconds=60.0
    )
    settings = config.Settings(
        home=str(home),
        executors=config.ExecutorSettings(browser=browser),
        retry=config.RetrySettings(base_seconds=1, cap_seconds=2, max_retries=20),
    )
    engine = assembly.open_engine(settings)
    ended = threading.Event()
    try:
        parts = workforce.worker_parts(engine)
        executor = parts.executors["browser"]
        assert isinstance(executor, BrowserExecutor)
        worker = Worker(parts, _options(settings, slots))
        steward = workforce.steward(engine)
        profiles = workforce.profiles_folder(settings)
        killer = threading.Thread(target=_kill, args=(profiles, kill_s, most_kills, ended, done), daemon=True)
        began = time.monotonic()
        steward.start()
        worker.start()
        if kill_s:
            killer.start()
        try:
            ids = [task.task_id for task in engine.producer.submit([_spec(n, n % shops) for n in range(tasks)]).created]
            _wait(engine, ids, executor, done, began + patience_s)
            done.seconds = time.monotonic() - began
            done.tasks = [task for task in engine.store.get(ids) if task is not None]
        finally:
            ended.set()
            if kill_s:
                killer.join()
            worker.stop(5.0)
            executor.close()
            steward.close()
        done.shared = lab.shared_profiles()
        done.processes = sum(len(running_on(folder)) for folder in profiles.glob("*"))
        done.folders = len(_folders() - before)
    finally:
        engine.close()
        lab.stop()
    return done


def _options(settings: config.Settings, slots: int) -> Any:
    chosen = workforce.worker_options(settings)
    return type(chosen)(**({name: getattr(chosen, name) for name in chosen.__slots__} | {"slots": slots}))


def _spec(number: int, shop: int) -> TaskSpec:
    steps = [
        {"do": "goto", "url": f"/probe?shop=s{shop}&task={number}-{{{{payload.n}}}}"},
        {"do": "wait_for", "selector": "#done"},
        {"do": "extract", "as": "said", "selector": "#done"},
    ]
    return TaskSpec(platform="lab", shop_id=f"s{shop}", task_type="browser_flow", payload={"steps": steps, "n": number})


def _wait(engine: assembly.Engine, ids: list[str], executor: BrowserExecutor, done: Soaked, until: float) -> None:
    me, looked = psutil.Process(), 0.0
    while time.monotonic() < until:
        found = engine.store.get(ids)
        pulse = executor.pulse
        done.launches, done.reused = max(done.launches, pulse.launches), max(done.reused, pulse.reused)
        if time.monotonic() - looked > 5:
            looked = time.monotonic()
            done.rss_mb.append(me.memory_info().rss / 2**20)
        if all(task is not None and task.status in TERMINAL for task in found):
            return
        time.sleep(0.2)


def _kill(profiles: Path, every_s: float, most: int, ended: threading.Event, done: Soaked) -> None:
    dice = random.Random(7)
    while done.kills < most and not ended.wait(every_s):
        found = [process for folder in profiles.glob("*") for process in running_on(folder)]
        if found:
            with contextlib.suppress(psutil.Error):
                dice.choice(found).kill()
                done.kills += 1


def _folders() -> set[str]:
    """Of browser hosts of this process; other tests have theirs beside it."""
    mine = process_tree.owner()
    marks = Path(tempfile.gettempdir()).glob("fleetdeck-browser-*/owner")
    return {mark.parent.name for mark in marks if mark.exists() and mark.read_text(encoding="ascii") == mine}
