"""A process of its own that makes a fleet busy at a steady pace: tasks, a worker, failures, and marked changes."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from pathlib import Path

from services import workforce
from services.domain.change import Move
from services.engine.producer import TaskSpec
from services.executors.registry import HandlerContext, HandlerError, task_handler
from tests.bench.pairs import Pair

#: created, confirmed, started, ended
EVENTS_PER_TASK = 4
TICK_S, MARK_S, FAIL_S = 0.05, 0.31, 0.73
MARKED = 20
HANDLERS = ("tests.bench.traffic", "tests.bench.handlers")


@task_handler("bench_fail", isolate="thread", idempotent=True)
def fail(payload: dict[str, object], job: HandlerContext) -> None:
    """End as a dead letter at once."""
    raise HandlerError(f"MissingSecret: no key for {payload.get('n')}", "missing_secret")


class Traffic:
    """Creates, works, fails and re-prioritises until the end of standard input."""

    def __init__(self, pair: Pair, events: float, shops: int) -> None:
        self._pair, self._events, self._shops = pair, events, shops
        self._ended = threading.Event()
        self._number = 0

    def run(self) -> None:
        """Work until standard input ends."""
        worker = self._pair.worker()
        worker.start()
        steward = workforce.steward(self._pair.engine)
        steward.start()
        threads = [threading.Thread(target=call) for call in (self._create, self._mark, self._fail)]
        for thread in threads:
            thread.start()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()
        self._ended.set()
        for thread in threads:
            thread.join()
        worker.stop(1.0)
        steward.close()
        sys.stdout.write(f"{self._number}\n")

    def _create(self) -> None:
        owed, last = 0.0, time.perf_counter()
        while not self._ended.wait(TICK_S):
            now = time.perf_counter()
            owed += (now - last) * self._events / EVENTS_PER_TASK
            last = now
            count = int(owed)
            # what a stall of this process left undone is not made up for in one burst
            owed = min(owed - count, 1.0)
            self._pair.create([self._spec("noop") for _ in range(min(count, 200))])

    def _spec(self, kind: str, **more: object) -> TaskSpec:
        self._number += 1
        shop = f"shop{self._number % self._shops:05d}"
        return TaskSpec(
            platform="pdd",
            shop_id=shop,
            task_type=kind,
            payload={"n": self._number},
            origin="bench",
            **more,  # type: ignore[arg-type]
        )

    def _mark(self) -> None:
        """Change the priority of a task that is in sight and stays there."""
        engine = self._pair.engine
        marked = engine.store.documents("bench")["marked"].split(",")
        turn = 0
        while not self._ended.wait(MARK_S):
            turn += 1
            move = Move(task_id=marked[turn % len(marked)], by="bench", lane="normal", priority=4 + turn % 3)
            engine.store.apply([move])

    def _fail(self) -> None:
        while not self._ended.wait(FAIL_S):
            self._pair.create([self._spec("bench_fail")])


def main() -> None:
    """Run by the console benchmark."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--broker", default="")
    parser.add_argument("--redis", default="")
    parser.add_argument("--events", type=float, required=True)
    parser.add_argument("--shops", type=int, required=True)
    args = parser.parse_args()
    pair = Pair(
        args.home, broker=args.broker, redis=args.redis, handlers=("tests.bench.traffic", "tests.bench.handlers")
    )
    try:
        Traffic(pair, args.events, args.shops).run()
    finally:
        pair.close()


if __name__ == "__main__":
    main()
