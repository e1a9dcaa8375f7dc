"""500 shops with queues of their own and five workers: is more held than there are slots, and is every queue served?"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from services import assembly
from services.domain.fleet.shop import Shop
from services.domain.task.record import Task
from services.engine.producer import TaskSpec
from tests.bench.bulk import at_work
from tests.bench.held import Look, Watch, longest_above
from tests.bench.pairs import SHOPS, CountMismatch, Pair
from tests.support.services import RabbitMQ

WORKERS, SLOTS = 5, 4
ALL_SLOTS = WORKERS * SLOTS
UNDEDICATED = 100
#: seconds of a task and tasks of each shop: short ones for the rate, and such as nothing is claimed ahead of the slots
SHORT_S, SHORT_EACH = 0.05, 10
LONG_S, LONG_EACH = 0.25, 6
CHUNK, PATIENCE_S = 1000, 300.0


class HeldTooMuch(Exception):
    """More deliveries were held than the slots and what is promised beyond them."""


def measure(rabbit: RabbitMQ, scale: float, **urls: str) -> dict[str, float]:
    """Short tasks, then longer ones in the middle of which 100 shops give their queues back; figures by name.

    Raises:
        CountMismatch: a task was lost, done twice or not done, or a queue was never served.
        HeldTooMuch: the broker had more deliveries out than the workers may hold.
    """
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        pair = Pair(Path(folder), **urls)
        try:
            began = time.perf_counter()
            rows = [Shop(platform="pdd", shop_id=shop, dedicated=True) for shop in _shops()]
            assembly.commands(pair.engine).fleet.import_shops(rows)
            out = {"slots of 5 workers": ALL_SLOTS, f"seconds to dedicate {SHOPS} shops": time.perf_counter() - began}
            with at_work(folder, urls, count=WORKERS, slots=SLOTS) as workers:
                _wait(lambda: len(pair.engine.store.workers()) == WORKERS, "five workers")
                trial = Trial(pair, rabbit, urls["broker"].rpartition("/")[2], Path(folder), workers)
                out |= trial.short(max(1, round(SHORT_EACH * scale)))
                out |= trial.long(max(1, round(LONG_EACH * scale)))
            return out
        finally:
            pair.close()


class Trial:
    """Two rounds in one fleet."""

    def __init__(
        self, pair: Pair, rabbit: RabbitMQ, vhost: str, folder: Path, workers: Sequence[psutil.Process]
    ) -> None:
        self._pair, self._rabbit, self._vhost = pair, rabbit, vhost
        self._folder, self._workers = folder, workers
        self._ids: list[str] = []

    def short(self, each: int) -> dict[str, float]:
        """All through the queues of the shops."""
        with self._watch() as watch:
            began = self._pair.engine.store.now_ms()
            self._submit(_shops() * each, SHORT_S)
            self._wait_done()
        tasks = self._checked()
        served = _first_starts(tasks)
        if len(served) != SHOPS:
            raise CountMismatch(f"{SHOPS - len(served)} queues were never served")
        _check_held(watch.looks)
        name = f"{SHORT_S * 1000:g} ms"
        return {
            f"{name}: tasks": len(tasks),
            f"{name}: seconds until all {SHOPS} queues were served": (max(served.values()) - began) / 1000,
            f"{name}: tasks /s": _rate(tasks),
            **{f"{name}: {what}": number for what, number in (_held(watch.looks) | watch.most).items()},
        }

    def long(self, each: int) -> dict[str, float]:
        """When half is done, 100 shops leave their queues and get one task more each."""
        leavers = _shops()[:: SHOPS // UNDEDICATED]
        with self._watch() as watch:
            self._submit(_shops() * each, LONG_S)
            self._wait_done(len(self._ids) // 2)
            began = time.perf_counter()
            commands = assembly.commands(self._pair.engine).fleet
            moved = sum(commands.undedicate(f"pdd:{shop}").tasks for shop in leavers)
            took = time.perf_counter() - began
            self._submit(leavers, LONG_S)
            self._wait_done()
        tasks = self._checked()
        through_lanes = sum(1 for task in tasks if not task.queue)
        if through_lanes < UNDEDICATED:
            raise CountMismatch(f"{through_lanes} tasks went through the lanes, not even the {UNDEDICATED} new ones")
        _check_held(watch.looks)
        name = f"{LONG_S * 1000:g} ms, {UNDEDICATED} shops leave"
        return {
            f"{name}: tasks": len(tasks),
            f"{name}: seconds to undedicate": took,
            f"{name}: tasks moved": moved,
            f"{name}: tasks that ended as tasks of a lane": through_lanes,
            f"{name}: tasks /s": _rate(tasks),
            **{f"{name}: {what}": number for what, number in (_held(watch.looks) | watch.most).items()},
        }

    def _watch(self) -> Watch:
        return Watch(self._rabbit, self._vhost, self._pair.engine.store, self._workers)

    def _submit(self, shops: Sequence[str], seconds: float) -> None:
        """One task for each of these, in this order."""
        specs = [
            TaskSpec(
                platform="pdd",
                shop_id=shop,
                task_type="booked",
                payload={"n": len(self._ids) + number, "seconds": seconds, "book": str(self._book)},
                origin="bench",
            )
            for number, shop in enumerate(shops)
        ]
        for first in range(0, len(specs), CHUNK):
            self._ids += self._pair.create(specs[first : first + CHUNK])

    @property
    def _book(self) -> Path:
        return self._folder / "book"

    def _wait_done(self, count: int = 0) -> None:
        """Until all tasks of the round have ended, or ``count`` of them."""
        wanted = count or len(self._ids)
        _wait(lambda: self._book.exists() and len(self._book.read_bytes().splitlines()) >= wanted, f"{wanted} tasks")
        if not count:
            self._pair.wait_empty(30.0)

    def _checked(self) -> list[Task]:
        """The tasks of the round as recorded: each begun once and ended well; the next round starts from nothing."""
        found = [task for task in self._pair.engine.store.get(self._ids) if task is not None]
        wrong = [task for task in found if task.status != "succeeded" or task.attempt != 1]
        if len(found) != len(self._ids) or wrong:
            raise CountMismatch(f"{len(found)} of {len(self._ids)} tasks are there, {len(wrong)} not done at once")
        times = Counter(self._book.read_text(encoding="ascii").split())
        if len(times) != len(self._ids) or set(times.values()) != {1}:
            raise CountMismatch(f"{len(times)} of {len(self._ids)} tasks ran, one of them {max(times.values())} times")
        self._ids = []
        self._book.unlink()
        return found


def _shops() -> list[str]:
    return [f"shop{number:03d}" for number in range(SHOPS)]


def _first_starts(tasks: Sequence[Task]) -> dict[str, int]:
    """UTC ms by shop."""
    return {task.shop_id: task.started_at for task in sorted(tasks, key=lambda one: one.started_at, reverse=True)}


def _rate(tasks: Sequence[Task]) -> float:
    span = max(task.ended_at for task in tasks) - min(task.started_at for task in tasks)
    return len(tasks) * 1000 / max(span, 1)


def _held(looks: Sequence[Look]) -> dict[str, float]:
    return {
        "looks": len(looks),
        "unacked of shops' queues, most": max(look.shops for look in looks),
        "the same above the slots, seconds": _above([(look.at, look.shops) for look in looks]),
        "unacked of shops' queues by one worker, most": max(look.worker for look in looks),
        "unacked of all queues, most": max(look.all for look in looks),
        "that above the slots, seconds": _above([(look.at, look.all) for look in looks]),
        "held by the workers' heartbeats, most": max(look.told for look in looks),
    }


def _above(series: Sequence[tuple[float, int]]) -> float:
    return longest_above(series, ALL_SLOTS)


def _check_held(looks: Sequence[Look]) -> None:
    """No worker holds more of shops' queues than its slots, so all together do not either.

    The sum over 500 queues, asked one after the other, counts twice whatever moves meanwhile; that much it may.
    """
    by_one, most = max(look.worker for look in looks), max(look.shops for look in looks)
    if not 0 < by_one <= SLOTS or most > 2 * ALL_SLOTS:
        raise HeldTooMuch(
            f"a worker of {SLOTS} slots held {by_one} messages of shops' queues; all queues together had {most} out"
        )


def _wait(done: Callable[[], bool], what: str) -> None:
    until = time.perf_counter() + PATIENCE_S
    while not done():
        if time.perf_counter() > until:
            raise CountMismatch(f"{what}: not there after {PATIENCE_S:g} s")
        time.sleep(0.1)
