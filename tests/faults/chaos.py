"""``make chaos``: random faults under load, then a table of what was lost and what it cost.

Workers, the leader and a submitting command line are killed and frozen, servers restarted, connections cut, queues
deleted, while thousands of tasks of many shops run. In the end every task that was accepted must have ended (or wait
for a person) with exactly one recorded outcome; else the exit code is 1. The same seed draws the same faults.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from services.domain.errors import ConsoleError
from services.domain.task.search.query import Query, equals
from tests.faults.chaos_faults import FAULTS, Fault
from tests.faults.chaos_nodes import Newcomers, Nodes, Slots
from tests.faults.chaos_operator import Operator
from tests.faults.chaos_table import Peace, tell
from tests.faults.chaos_world import LEASE_SECONDS, World

CHUNK, MANY, SHOPS = 200, 600, 200
#: of the time in which tasks are submitted; the rest of it finds them at work
SUBMIT_SHARE = 0.85
SETTLE_SECONDS = 900.0


class Submitter(threading.Thread):
    """Creates the tasks with the command line, file by file; some of these processes are killed on their way.

    What such a one had recorded is accepted, what it had not is submitted again by the next.
    """

    def __init__(self, world: World, total: int, seconds: float, seed: int, killed: float, chunk: int) -> None:
        """``killed``: the share of its processes that are; ``chunk``: so many tasks for each."""
        super().__init__(name="submitter", daemon=True)
        self._share, self._chunk = killed, chunk
        self._world, self._rng = world, random.Random(seed)
        self._left = list(range(total))
        self._seconds, self._total = seconds, total
        self.stop = threading.Event()
        self.told: set[str] = set()  #: ids that a command has answered with
        self.killed = 0
        self.failed = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        number, began = 0, time.monotonic()
        try:
            while self._left and not self.stop.is_set():
                # what a slow or killed command took longer is made up for by the next ones
                due = began + self._seconds * (1.0 - len(self._left) / self._total)
                self.stop.wait(max(0.0, due - time.monotonic()))
                chunk, self._left = self._left[: self._chunk], self._left[self._chunk :]
                number += 1
                self._left += self._submit(f"c{number}", chunk)
        except BaseException as exc:
            self.error = exc

    def _submit(self, batch: str, chunk: Sequence[int]) -> list[int]:
        """The numbers of this chunk that were not recorded."""
        path = self._world.folder / f"{batch}.jsonl"
        path.write_text("".join(json.dumps(self._row(n)) + "\n" for n in chunk), encoding="utf-8")
        answer = self._world.folder / f"{batch}.json"
        cli = self._world.cli
        words = ("task", "create", "--file", path, "--batch", batch, "--if-duplicate", "queue")
        words += ("--allow-unknown", "--json")
        with answer.open("wb") as out, (self._world.folder / "submitters.txt").open("ab") as errors:
            process = subprocess.Popen(
                [sys.executable, *cli.argv(*words)],
                env=cli.variables(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
            )
            if self._rng.random() < self._share:
                self._wait_for_a_moment(process, batch)
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    self.killed += 1
            code = process.wait(300)
        if code == 0:
            self.told.update(json.loads(answer.read_bytes())["created"])
            return []
        self.failed += code > 0
        recorded = self._recorded(batch)
        return [n for n in chunk if n not in recorded]

    def _wait_for_a_moment(self, process: subprocess.Popen[bytes], batch: str) -> None:
        """Any moment, or just when its first record is there and no message yet."""
        if self._rng.random() < 0.5:
            time.sleep(self._rng.uniform(0.6, 4.0))
            return
        while process.poll() is None and not self._recorded(batch):
            time.sleep(0.005)

    def _recorded(self, batch: str) -> set[int]:
        while True:
            try:
                page = self._world.fleet.engine.store.query(Query(terms=(equals("batch", batch),), limit=self._chunk))
                return {json.loads(task.payload)["n"] for task in page.tasks}
            except ConsoleError:
                time.sleep(0.5)

    def _row(self, n: int) -> dict[str, Any]:
        rng = random.Random(n)
        # long enough for a few slots to be busy while the machine has time for three nodes of a broker
        low, high = (2.0, 6.0) if self._world.kind == "cluster" else (0.01, 0.25)
        payload: dict[str, Any] = {"n": n, "seen": str(self._world.seen), "sleep": round(rng.uniform(low, high), 3)}
        kind, draw = "work", rng.random()
        if draw < 0.12:
            kind = "once"
        elif draw < 0.22:
            payload |= {"fail": "network", "fail_first": 1}
        elif draw < 0.24:
            payload |= {"fail": "missing_secret"}
        elif draw < 0.25:
            kind = "flow"
        elif draw < 0.28:
            payload["sleep"] = 3.0
        return {"platform": "pdd", "shop": f"s{n % SHOPS}", "type": kind, "payload": payload,
                "priority": rng.choice(("high", "normal", "normal", "low"))}  # fmt: skip


class Watch(threading.Thread):
    """When work was begun: the instants at which the notes of handlers and flows grew."""

    def __init__(self, seen: Path) -> None:
        super().__init__(name="watch", daemon=True)
        self._seen = seen
        self.at: list[float] = []

    def run(self) -> None:
        with self._seen.open("rb") as notes:
            while True:
                if b"start " in notes.read():
                    self.at.append(time.monotonic())
                time.sleep(0.05)


def main() -> int:
    """Run, print, judge."""
    parser = argparse.ArgumentParser(
        prog="make chaos", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="0 draws one")
    parser.add_argument("--pair", choices=("fleet", "cluster", "embedded", "both"), default="both")
    parser.add_argument(
        "--only-nodes",
        action="store_true",
        help="of a cluster: no other faults than nodes killed and started again,\nwhile new commands and workers begin",
    )
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--keep", default="", metavar="FOLDER", help="leave what the processes printed there")
    args = parser.parse_args()
    args.seed = args.seed or random.SystemRandom().randrange(1, 10_000)
    good = True
    for kind in ("fleet", "embedded") if args.pair == "both" else (args.pair,):
        with World(kind, args.workers, args.slots) as world:
            good &= run(world, args)
    return 0 if good else 1


def run(world: World, args: argparse.Namespace) -> bool:
    """One pair: faults, peace, verdict."""
    seconds = args.minutes * 60
    faults: Counter[str] = Counter()
    # where slots are watched there has to be more work than they can do, from the beginning
    share, killed, chunk = (0.0, 0.0, MANY) if args.only_nodes else (SUBMIT_SHARE, 0.25, max(CHUNK, args.tasks // 100))
    submitter = Submitter(world, args.tasks, seconds * share, args.seed, killed, chunk)
    operator = Operator(world, args.seed)
    watch = Watch(world.seen)
    watch.start()
    world.keep_workers()
    submitter.start()
    operator.start()
    nodes, newcomers = Nodes(world), Newcomers(world)
    slots = Slots(world, args.slots, nodes, args.keep)
    slots.start()
    if world.kind == "cluster":
        nodes.start()
        newcomers.start()
    kinds = {} if args.only_nodes else FAULTS[world.kind]
    try:
        _break(world, kinds, random.Random(args.seed), time.monotonic() + seconds, faults)
        for thread in (slots, nodes, newcomers):
            thread.stop.set()
        for thread in (nodes, newcomers) if world.kind == "cluster" else ():
            thread.join(SETTLE_SECONDS)
        submitter.join(SETTLE_SECONDS)
        # a machine too slow for so many: what was not submitted is not part of the promise, a command under way is
        submitter.stop.set()
        submitter.join()
        operator.stop.set()
        operator.join(SETTLE_SECONDS)
        settled = _settle(world)
    finally:
        submitter.stop.set()
        operator.stop.set()
        nodes.stop.set()
        newcomers.stop.set()
    faults["submitter killed"] = submitter.killed
    faults["node of the broker killed"] = nodes.killed
    clean = world.stop_workers()
    if args.keep:
        Path(args.keep).mkdir(parents=True, exist_ok=True)
        (Path(args.keep) / f"{world.kind}.log").write_text(world.printed(), encoding="utf-8")
    for error in (submitter.error, operator.error, nodes.error, newcomers.error):
        if error is not None:
            raise error
    for line in newcomers.failed:
        print(f"in vain: {line}", file=sys.stderr)
    peace = Peace(settled, clean, dict(faults), slots.describe(), newcomers.describe(), submitter.failed)
    command = (
        f"make chaos MINUTES={args.minutes:g} TASKS={args.tasks} SEED={args.seed} PAIR={world.kind}"
        f"{' ARGS=--only-nodes' if args.only_nodes else ''}"
        f" ({args.workers} workers of {args.slots} slots, leases of {LEASE_SECONDS} s)"
    )
    return tell(world, command, submitter.told | newcomers.told, watch.at, operator, peace)


def _break(
    world: World, kinds: dict[str, tuple[int, Fault]], rng: random.Random, until: float, faults: Counter[str]
) -> None:
    """A fault every few seconds; each is mended when its time has come, all of them in the end."""
    names, weights = list(kinds), [weight for weight, _ in kinds.values()]
    mends: list[tuple[float, int, Callable[[], None]]] = []
    next_at = time.monotonic() + 5.0
    while (now := time.monotonic()) < until:
        while mends and mends[0][0] <= now:
            heapq.heappop(mends)[2]()
        world.keep_workers()
        if kinds and now >= next_at:
            (name,) = rng.choices(names, weights)
            after = kinds[name][1](world, rng)
            faults[name] += 1
            if after is not None:
                heapq.heappush(mends, (time.monotonic() + after[0], faults.total(), after[1]))
            next_at = time.monotonic() + rng.uniform(0.5, 3.5)
        time.sleep(0.1)
    for _, _, mend in mends:
        mend()


def _settle(world: World) -> float:
    """Seconds of peace until everything has ended, or until patience has."""
    began, quiet = time.monotonic(), 0
    while time.monotonic() - began < SETTLE_SECONDS and quiet < 3:
        world.keep_workers()
        time.sleep(1.0)
        try:
            quiet = 0 if world.unfinished() or world.messages() else quiet + 1
        except ConsoleError:
            quiet = 0
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
