"""Do 1,000 tasks of one shop make the others wait? The same steady stream of work with and without them."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from services.domain.task.record import Task
from services.domain.task.search.query import Query
from services.engine.producer import TaskSpec
from tests.bench.pairs import SHOPS, CountMismatch, Pair, percentile

#: tasks a second of all other shops, for as long as the one shop needs; the slots are then busy for a third of the time
RATE, SECONDS = 120, 30.0
FLOOD, FLOOD_AT_S = 1000, 2.0
TICK_S = 0.02
LOUD = "loud"


def measure(fresh: Callable[[], dict[str, str]], scale: float) -> dict[str, float]:
    """Both runs, each in an empty fleet that ``fresh`` gives the addresses of (none: the embedded pair).

    Raises:
        CountMismatch: the store does not hold what was submitted, or a task did not succeed at once.
    """
    seconds, flood = max(4.0, SECONDS * scale), round(FLOOD * min(1.0, scale))
    quiet, loud = _run(seconds, 0, fresh()), _run(seconds, flood, fresh())
    out: dict[str, float] = {"tasks of the other shops": len(quiet), f"tasks of one shop at {FLOOD_AT_S:g} s": flood}
    for name, waits in (("without them", quiet), ("with them", loud)):
        out[f"wait of the others p50 ms, {name}"] = percentile(waits, 50)
        out[f"wait of the others p95 ms, {name}"] = percentile(waits, 95)
        out[f"wait of the others p99 ms, {name}"] = percentile(waits, 99)
        out[f"wait of the others longest ms, {name}"] = waits[-1]
    out["p95 with them, without = 1 (aim 1.2)"] = percentile(loud, 95) / max(percentile(quiet, 95), 1.0)
    return out


def _run(seconds: float, flood: int, urls: dict[str, str]) -> list[float]:
    """Waits in ms from creation to start of the other shops' tasks, ascending, as the store has them."""
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        pair = Pair(Path(folder), **urls)
        try:
            return _waits(pair, seconds, flood, [folder, urls.get("broker", ""), urls.get("redis", "")])
        finally:
            pair.close()


def _waits(pair: Pair, seconds: float, flood: int, places: list[str]) -> list[float]:
    worker = pair.worker()
    try:
        worker.start()
        words = [*places, str(seconds), str(flood)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.fairness", *words], check=True, capture_output=True, text=True
        )
        total = int(done.stdout)
        pair.wait_empty(120.0)
        tasks = _all(pair)
        waits = sorted(float(task.started_at - task.created_at) for task in tasks if task.shop_id != LOUD)
        if len(tasks) != total or len(tasks) - len(waits) != flood or any(task.attempt != 1 for task in tasks):
            raise CountMismatch(f"{len(tasks)} of {total} tasks, {len(waits)} of other shops")
        return waits
    finally:
        worker.stop(5.0)


def _all(pair: Pair) -> list[Task]:
    found: list[Task] = []
    page = pair.engine.store.query(Query(limit=500))
    found += page.tasks
    while page.next:
        page = pair.engine.store.query(Query(limit=500, cursor=page.next))
        found += page.tasks
    return found


def main() -> None:
    """The process that submits: a few tasks at a time, and all of the one shop at once."""
    parser = argparse.ArgumentParser()
    for name in ("home", "broker", "redis", "seconds", "flood"):
        parser.add_argument(name)
    args = parser.parse_args()
    pair = Pair(Path(args.home), broker=args.broker, redis=args.redis)
    seconds, flood = float(args.seconds), int(args.flood)
    began = time.perf_counter()
    sent, flooded = 0, not flood
    while (now := time.perf_counter() - began) < seconds:
        if not flooded and now >= FLOOD_AT_S:
            flooded = True
            pair.create([_spec(LOUD, number) for number in range(flood)])
        due = int(now * RATE) - sent
        if due > 0:
            pair.create([_spec(f"shop{(sent + n) % (SHOPS - 1):03d}", sent + n) for n in range(due)])
            sent += due
        time.sleep(TICK_S)
    pair.close()
    sys.stdout.write(f"{sent + flood}\n")


def _spec(shop: str, number: int) -> TaskSpec:
    return TaskSpec(platform="pdd", shop_id=shop, task_type="pause", payload={"n": number}, origin="bench")


if __name__ == "__main__":
    main()
