"""A cluster whose nodes go one after the other: who kills them, who comes meanwhile, and how busy the slots are."""

from __future__ import annotations

import itertools
import json
import subprocess
import threading
import time
from pathlib import Path

from services.domain.errors import ConsoleError
from tests.faults.chaos_world import World

#: seconds between two kills of a node, and until it is started again
DOWN_EVERY, DOWN_FOR = 60.0, 25.0
#: seconds between two commands, and between two workers that make way for a new one
COMMAND_EVERY, WORKER_EVERY = 4.0, 20.0
#: what people and programs begin meanwhile
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("doctor",),
    ("task", "list", "--limit", "5"),
    ("task", "create", "--platform", "pdd", "--shop", "newcomer", "--type", "work", "--payload", "{PAYLOAD}"),
    ("shop", "pause", "pdd:newcomer"),
    ("stats",),
    ("shop", "resume", "pdd:newcomer"),
    ("dead", "list", "--limit", "5"),
    ("worker", "list"),
)


class Nodes(threading.Thread):
    """Kills a node of the cluster every minute, the next one each time, and starts it again."""

    def __init__(self, world: World) -> None:
        super().__init__(name="nodes", daemon=True)
        self._world = world
        self.stop = threading.Event()
        self.killed = 0
        self.down = ""  #: the node that is away now
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.stop.wait(DOWN_EVERY - DOWN_FOR):
                node = self._world.cluster.nodes[self.killed % len(self._world.cluster.nodes)]
                back = self._world.outage()
                self.killed += 1
                self.down = node.node_name
                node.kill()
                self.stop.wait(DOWN_FOR)
                node.start()
                self.down = ""
                back()
        except BaseException as exc:
            self.error = exc


class Newcomers(threading.Thread):
    """Begins one command after the other, and now and then lets a worker make way for a new one."""

    def __init__(self, world: World) -> None:
        super().__init__(name="newcomers", daemon=True)
        self._world = world
        self.stop = threading.Event()
        self.replaced = 0
        self.told: set[str] = set()  #: ids that a command has answered with
        self.seconds: list[float] = []
        self.failed: list[str] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        payload = json.dumps({"seen": str(self._world.seen), "n": -1, "sleep": 1.0})
        worker_at = time.monotonic() + WORKER_EVERY
        try:
            for words in itertools.cycle(COMMANDS):
                self._ask(*(payload if word == "{PAYLOAD}" else word for word in words))
                if self.stop.wait(COMMAND_EVERY):
                    return
                if time.monotonic() >= worker_at:
                    worker_at = time.monotonic() + WORKER_EVERY
                    self.replaced += self._world.replace_worker()
        except BaseException as exc:
            self.error = exc

    def _ask(self, *words: str) -> None:
        began = time.monotonic()
        try:
            done = self._world.cli.call(*words, "--json")
        except subprocess.TimeoutExpired:
            self.failed.append(f"{' '.join(words[:2])}: no end")
            return
        self.seconds.append(time.monotonic() - began)
        if done.returncode > (words[0] == "doctor"):  # whose 1 says that it found something
            text = (done.stderr or done.stdout).strip()[-600:]
            self.failed.append(f"{' '.join(words[:2])}: exit code {done.returncode}: {text}")
        elif words[:2] == ("task", "create"):
            self.told.update(json.loads(done.stdout)["created"])

    def describe(self) -> str:
        """For the table."""
        if not self.seconds:
            return "none"
        ordered = sorted(self.seconds)
        came = sorted(self._world.came.values()) or [0.0]
        return (
            f"{len(ordered)} commands, {len(self.failed)} in vain, p50 {ordered[len(ordered) // 2]:.1f} s,"
            f" longest {ordered[-1]:.1f} s; {self.replaced} workers in the place of others,"
            f" at work after p50 {came[len(came) // 2]:.1f} s, longest {came[-1]:.1f} s"
        )


class Slots(threading.Thread):
    """Second by second, while more waits than could run: which share of the slots of living workers has work.

    A worker counts from its first heartbeat on until it is killed or told to stop.
    """

    def __init__(self, world: World, slots: int, nodes: Nodes, keep: str = "") -> None:
        """``slots`` of one worker."""
        super().__init__(name="slots", daemon=True)
        self._world, self._slots, self._nodes = world, slots, nodes
        self._keep = Path(keep) / f"{world.kind}-slots.txt" if keep else None
        self.stop = threading.Event()
        self.shares: list[float] = []

    def run(self) -> None:
        began = time.monotonic()
        while not self.stop.wait(1.0):
            try:
                status = self._world.fleet.engine.store.counts().status
                told = {one.pid: one for one in self._world.fleet.engine.store.workers()}
            except ConsoleError:
                continue
            waiting = sum(status.get(name, 0) for name in ("pending", "queued"))
            busy = slots = 0
            for pid in self._world.living(told):
                slots += self._slots
                busy += told[pid].busy if pid in told else 0
            if slots and waiting > slots:
                self.shares.append(busy / slots)
            self._note(f"{time.monotonic() - began:7.1f} {busy:3} of {slots:3} wait {waiting:5} {self._nodes.down}\n")

    def _note(self, line: str) -> None:
        if self._keep is not None:
            self._keep.parent.mkdir(parents=True, exist_ok=True)
            with self._keep.open("a", encoding="utf-8") as notes:
                notes.write(line)

    def describe(self) -> str:
        """For the table."""
        if not self.shares:
            return "never did more wait than could run"
        ordered = sorted(self.shares)
        p5 = ordered[int(len(ordered) * 0.05)]
        idle = sum(share == 0 for share in ordered)
        return (
            f"{100 * sum(ordered) / len(ordered):.0f} % on average, {100 * p5:.0f} % or more in 95 of 100 seconds,"
            f" none at all in {idle} of {len(ordered)} s"
        )
