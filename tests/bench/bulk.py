"""100,000 tasks at once across 500 shops, done by one worker process of 8 slots: is any lost, and what it costs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import redis

from tests.bench.pairs import SLOTS, CountMismatch, Pair

COUNT, CHUNK = 100_000, 5_000
LOOK_S = 0.25
ROOT = Path(__file__).resolve().parents[2]


def measure(count: int, **urls: str) -> dict[str, float]:
    """Submit all, then let a process of its own do them; figures by name, memory in MB.

    Raises:
        CountMismatch: a task was lost, done twice or not done.
    """
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        pair = Pair(Path(folder), **urls)
        try:
            out: dict[str, float] = {"tasks": count, "submit in bulk /s": _submit(pair, count)}
            out["store MB, all waiting"] = _stored(pair, Path(folder))
            with at_work(folder, urls) as (worker,):
                out |= _done(pair, worker, count)
            out["store MB, all done"] = _stored(pair, Path(folder))
            return out
        finally:
            pair.close()


def _submit(pair: Pair, count: int) -> float:
    start = time.perf_counter()
    for first in range(0, count, CHUNK):
        pair.create(pair.specs(min(CHUNK, count - first)))
    return count / (time.perf_counter() - start)


@contextmanager
def at_work(folder: str, urls: dict[str, str], *, count: int = 1, slots: int = SLOTS) -> Iterator[list[psutil.Popen]]:
    """Worker processes that are ended in good order, also when what is measured fails."""
    words = [sys.executable, "main.py", "worker", "--slots", str(slots), "--handlers", "tests.bench.handlers"]
    if urls:
        words += ["--broker", urls["broker"], "--redis", urls["redis"]]
    home = os.environ | {"FLEETDECK_HOME": folder}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    workers = [psutil.Popen(words, cwd=ROOT, env=home, **quiet) for _ in range(count)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait(60)


def _done(pair: Pair, worker: psutil.Process, count: int) -> dict[str, float]:
    """From the first recorded success to the last."""
    began, first, most = 0.0, 0, 0
    until = time.perf_counter() + 600.0
    while True:
        done = pair.engine.store.counts().status.get("succeeded", 0)
        now = time.perf_counter()
        most = max(most, worker.memory_info().rss)
        if not began and done:
            began, first = now, done
        if done >= count:
            break
        if now > until or not worker.is_running():
            raise CountMismatch(f"{done} of {count} tasks are done")
        time.sleep(LOOK_S)
    counts = pair.engine.store.counts()
    if counts.status != {"succeeded": count}:
        raise CountMismatch(f"{counts.status} instead of {count} succeeded")
    rate = (count - first) / max(now - began, LOOK_S)
    return {"no-op tasks /s, thread": rate, "worker process MB, most": most / 1e6}


def _stored(pair: Pair, folder: Path) -> float:
    """MB: of the database's files, or what Redis says that it uses."""
    if pair.settings.embedded:
        return sum(path.stat().st_size for path in folder.glob("*.sqlite*")) / 1e6
    with redis.Redis.from_url(pair.settings.store.url) as client:
        return float(client.info("memory")["used_memory"]) / 1e6
