"""Measures one driver pair on the production path: full record, indexes, events, leases and gates at their defaults."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from services import assembly, workforce
from services import settings as config
from services.domain.task.status import TERMINAL
from services.engine.producer import TaskSpec
from services.monitor.live import Changes
from services.workers.worker import Worker, WorkerOptions
from tests.bench.spent import Spent

SHOPS, SLOTS = 500, 8


class CountMismatch(Exception):
    """The store does not hold what the benchmark submitted; its figures mean nothing."""


class Pair:
    """An engine of one pair and what is measured on it; figures are plain numbers by name."""

    def __init__(
        self,
        home: Path,
        *,
        broker: str = "",
        redis: str = "",
        handlers: tuple[str, ...] = ("tests.bench.handlers",),
        servers: Mapping[str, int] | None = None,
    ) -> None:
        """``servers``: pids of those whose processor time is told too, by name."""
        worker = config.WorkerSettings(slots=SLOTS, handlers=handlers)
        base = config.load(home=home, broker=broker, redis=redis)
        self.settings = msgspec.structs.replace(base, worker=worker)
        self.engine = assembly.open_engine(self.settings)
        self.number = 0
        self.spent = Spent(**(servers or {}))

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()

    def submit(self, one_by_one: int, bulk: int) -> dict[str, float]:
        """Records with confirmed messages a second: one call a task, and one call for all. The first one, which
        connects and declares, is not among them, as with the peers.
        """
        self.create(self.specs(1))
        start = time.perf_counter()
        for spec in self.specs(one_by_one):
            self.create([spec])
        single = one_by_one / (time.perf_counter() - start)
        specs = self.specs(bulk)
        start = time.perf_counter()
        self.create(specs)
        return {"submit one by one /s": single, "submit in bulk /s": bulk / (time.perf_counter() - start)}

    def drain(self, warm: int = 0) -> float:
        """No-op tasks a second with 8 slots, from the start of the worker, or from when it has done ``warm`` tasks, to
        the last recorded outcome.
        """
        count = self.active()
        worker = self.worker()
        start = time.perf_counter()
        worker.start()
        try:
            # asked of the worker, for asking the store of 500 shops again and again costs the measured process a fifth
            end = start + 120.0
            done = first = 0
            while done < count and time.perf_counter() < end:
                time.sleep(0.02)
                done = worker.done
                if warm and not first and warm <= done < count:  # else nothing would be left to measure
                    start, first = time.perf_counter(), done
            took = time.perf_counter() - start
            self.wait_empty(1.0)
            return (count - first) / took
        finally:
            worker.stop(1.0)

    def latency(self, count: int, pause: float) -> dict[str, float]:
        """Milliseconds from the call of submit to the recorded start, on an idle worker."""
        starts: dict[str, float] = {}
        called: dict[str, float] = {}
        live = assembly.live(self.engine)
        done = threading.Event()

        def note(changes: Changes) -> None:
            for event in changes.events:
                if event.to == "running":
                    starts[event.task_id] = event.at
            if len(starts) >= count:
                done.set()

        live.on_changes(note)
        live.start()
        worker = self.worker()
        worker.start()
        time.sleep(1.0)
        for spec in self.specs(count):
            at = time.time()
            called[self.create([spec])[0]] = at * 1000
            time.sleep(pause)
        done.wait(20.0)
        worker.stop(1.0)
        live.close()
        waits = sorted(starts[task_id] - at for task_id, at in called.items() if task_id in starts)
        if len(waits) != count:
            raise CountMismatch(f"{len(waits)} of {count} starts were seen")
        return {"submit to start p50 ms": percentile(waits, 50), "submit to start p99 ms": percentile(waits, 99)}

    def busy_submit(self, count: int) -> dict[str, float]:
        """Milliseconds of each submit call while the workers are busy."""
        worker = self.worker()
        worker.start()
        times = []
        try:
            for spec in self.specs(count):
                start = time.perf_counter()
                self.create([spec])
                times.append((time.perf_counter() - start) * 1000)
            self.wait_empty(60.0)
        finally:
            worker.stop(1.0)
        times.sort()
        return {"submit while busy p50 ms": percentile(times, 50), "submit while busy p99 ms": percentile(times, 99)}

    def pages(self, total: int) -> dict[str, float]:
        """Milliseconds of the first page of a filter over ``total`` tasks."""
        missing = total - self.engine.store.counts().total
        if missing > 0:
            self.create(self.specs(missing))
        questions = assembly.queries(self.engine).tasks
        out = {}
        for name, text in (
            ("status and shop", "status:queued shop:pdd:shop007"),
            ("status", "status:queued"),
            ("shop prefix", "shop:shop01*"),
            ("type and lane", "type:noop lane:normal"),
        ):
            times = []
            for _ in range(5):
                start = time.perf_counter()
                questions.page(text, limit=50)
                times.append((time.perf_counter() - start) * 1000)
            out[f"page of {total:,}: {name} ms"] = statistics.median(times)
        return out

    def specs(self, count: int, kind: str = "noop") -> list[TaskSpec]:
        """Distinct no-op tasks, spread over 500 shops."""
        self.number += count
        first = self.number - count
        return [
            TaskSpec(
                platform="pdd",
                shop_id=f"shop{number % SHOPS:03d}",
                task_type=kind,
                payload={"n": number},
                origin="bench",
            )
            for number in range(first, first + count)
        ]

    def create(self, specs: Sequence[TaskSpec]) -> list[str]:
        """Submit and insist that all were created and confirmed."""
        done = self.engine.producer.submit(specs)
        if len(done.created) != len(specs) or done.unconfirmed:
            raise CountMismatch(
                f"{len(done.created)} of {len(specs)} created, {done.unconfirmed} unconfirmed: {done.errors[:1]}"
            )
        return [task.task_id for task in done.created]

    def worker(self) -> Worker:
        """A worker of 8 slots in this process."""
        options = WorkerOptions(slots=SLOTS, lease_s=60.0)
        return Worker(workforce.worker_parts(self.engine), options)

    def active(self) -> int:
        """Tasks that have not ended."""
        counts = self.engine.store.counts().status
        return sum(number for status, number in counts.items() if status not in TERMINAL)

    def wait_empty(self, seconds: float) -> None:
        """Until the store says that every task has ended, and well."""
        end = time.perf_counter() + seconds
        while self.active():
            if time.perf_counter() > end:
                raise CountMismatch(f"{self.active()} tasks never ended")
            # looking costs the measured process something, so look seldom
            time.sleep(0.05)
        counts = self.engine.store.counts()
        if counts.status.get("succeeded", 0) != counts.total:
            raise CountMismatch(f"not every task succeeded: {counts.status}")


def percentile(ordered: Sequence[float], share: float) -> float:
    """Value below which ``share`` percent lie."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * share / 100))]


def measure(pair: Pair, scale: float, rows: int = 0) -> dict[str, Any]:
    """All figures of one pair, in an order in which none spoils the next; ``rows`` tasks lie there for the pages."""
    figures: dict[str, Any] = {}
    single, bulk = round(500 * scale), round(10_000 * scale)
    before = pair.spent.now()
    figures |= pair.submit(single, bulk)
    figures |= pair.spent.since(before, single + bulk, "submit")
    before = pair.spent.now()
    figures["no-op tasks /s, thread"] = pair.drain(1)  # from the first to the last, as of the peers
    figures |= pair.spent.since(before, single + bulk, "work")
    figures |= pair.latency(round(200 * scale), 0.05)
    figures |= pair.busy_submit(round(1000 * scale))
    pair.create(pair.specs(round(1000 * scale), "noop_process"))
    # the second half: starting eight children takes some 0.7 s, of 200 tasks most of the time
    figures["no-op tasks /s, process"] = pair.drain(round(500 * scale))
    figures |= pair.pages(rows or round(100_000 * scale))
    return figures
