"""The world of a chaos run: servers behind proxies, workers that somebody starts again, and a look past the faults."""

from __future__ import annotations

import contextlib
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from services.domain.errors import ConsoleError
from services.domain.task.record import Task
from services.domain.task.search.query import Query
from services.engine.lead import leader
from tests.integration import fleet_rig
from tests.integration.cli_rig import Cli, configure
from tests.integration.fleet_rig import HANDLERS, Fleet
from tests.support.proxy import Proxy
from tests.support.rabbit_cluster import RabbitCluster
from tests.support.services import RabbitMQ, Redis, Server

LEASE_SECONDS = 5
PAGE = 1_000


@dataclass
class Outage:
    """A server that could not be reached, in monotonic seconds."""

    silent: bool  #: connections that nobody closed: each side has to find out
    began: float
    ended: float = math.inf


class Machine(Server):
    """Whatever is started here is gone with this process, however it ends."""

    name = "chaos"

    def spawn(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        """Start a process in a group of its own."""
        self._ensure_guard()
        self._spawn(command, environment)
        return self._processes[-1]

    def forget(self) -> None:
        """Those that have ended need no signal any more."""
        self._processes = [process for process in self._processes if process.poll() is None]


class World:
    """Everything of one run; a context manager that ends all of it."""

    def __init__(self, kind: str, workers: int, slots: int) -> None:
        """``kind``: fleet, cluster (a fleet whose broker has three nodes) or embedded."""
        self.kind, self._slots = kind, slots
        self._closing = contextlib.ExitStack()
        self._wanted = workers
        self.workers: list[subprocess.Popen[bytes]] = []
        self.leaving: list[subprocess.Popen[bytes]] = []  #: workers that were told to stop
        self._begun: dict[int, float] = {}  #: number of a worker's process -> monotonic seconds
        self.came: dict[int, float] = {}  #: number of a worker's process -> seconds until its first heartbeat
        self.killed: dict[int, int] = {}  #: number of a killed worker's process -> UTC ms
        self.outages: list[Outage] = []
        self.frozen: set[int] = set()

    def __enter__(self) -> Self:
        try:
            self._open()
        except BaseException:
            self._closing.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def _open(self) -> None:
        self.machine = Machine()
        self._closing.callback(self.machine.close)
        self.folder = self.machine.directory / "home"
        configure(self.folder)
        self.seen = self.folder / "seen.txt"
        self.seen.touch()
        words: tuple[str, ...] = ()
        addresses: dict[str, str] = {}
        environment = {"FLEETDECK_LEASE__SECONDS": str(LEASE_SECONDS)}
        if self.kind == "fleet":
            self.rabbit = self._closing.enter_context(RabbitMQ())
            self.redis = self._closing.enter_context(Redis(appendfsync="always"))
            self.broker_proxy = self._closing.enter_context(Proxy(self.rabbit.port))
            self.store_proxy = self._closing.enter_context(Proxy(self.redis.port))
            self.amqp = self.rabbit.new_vhost()
            words = ("--broker", self.broker_proxy.of(self.amqp), "--redis", self.store_proxy.of(self.redis.url))
            environment["FLEETDECK_BROKER__MANAGEMENT_URL"] = self.rabbit.management_url
            addresses = {"amqp": self.amqp, "redis": self.redis.url, "management": self.rabbit.management_url}
        if self.kind == "cluster":
            self.cluster = self._closing.enter_context(contextlib.closing(RabbitCluster())).start()
            self.redis = self._closing.enter_context(Redis(appendfsync="always"))
            self.amqp, management = self.cluster.new_vhost(), self.cluster.management_url
            words = ("--broker", self.amqp, "--redis", self.redis.url)
            environment |= {"FLEETDECK_BROKER__MANAGEMENT_URL": management, "FLEETDECK_BROKER__PROFILE": "cluster"}
            addresses = {"amqp": self.amqp, "redis": self.redis.url, "management": management}
        self.cli = Cli(self.folder, words, environment)
        pair = "embedded" if self.kind == "embedded" else "fleet"
        settings = fleet_rig.settings_for(pair, self.folder, **addresses)
        if self.kind == "cluster":
            broker = msgspec.structs.replace(settings.broker, profile="cluster")
            settings = msgspec.structs.replace(settings, broker=broker)
        self.fleet: Fleet = self._closing.enter_context(fleet_rig.opened(pair, settings, self.folder))

    # ---------------------------------------------------------------- processes
    def start(self, *words: object) -> subprocess.Popen[bytes]:
        """A command of the program; what it prints goes to ``output.log`` of the machine."""
        return self.machine.spawn([sys.executable, *self.cli.argv(*words)], self.cli.variables())

    def keep_workers(self) -> None:
        """Start as many as have gone, as a service manager does."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        self.machine.forget()
        for _ in range(self._wanted - len(self.workers)):
            self.workers.append(self.start("worker", "--slots", self._slots, "--handlers", HANDLERS))
            self._begun[self.workers[-1].pid] = time.monotonic()

    def replace_worker(self) -> bool:
        """Let the one that has been there longest make way for a new one, as when a machine is updated."""
        alive = [worker for worker in self.workers if worker.poll() is None and worker.pid not in self.frozen]
        if not alive:
            return False
        worker = min(alive, key=lambda one: self._begun[one.pid])
        worker.send_signal(signal.SIGTERM)
        self.workers = [one for one in self.workers if one is not worker]
        self.leaving = [one for one in self.leaving if one.poll() is None] + [worker]
        return True

    def living(self, told: Container[int]) -> list[int]:
        """Numbers of the processes of workers that live, have told the store of themselves and should have work."""
        alive = [one.pid for one in tuple(self.workers) if one.poll() is None and one.pid not in self.frozen]
        for pid in [pid for pid in alive if pid in told and pid not in self.came]:
            self.came[pid] = time.monotonic() - self._begun.get(pid, time.monotonic())
        return [pid for pid in alive if pid in told]

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """SIGKILL, noted for the measure of its takeover."""
        self.killed[worker.pid] = time.time_ns() // 1_000_000
        worker.send_signal(signal.SIGKILL)
        worker.wait(30)
        self.frozen.discard(worker.pid)

    def leader(self) -> subprocess.Popen[bytes] | None:
        """The worker that leads."""
        try:
            holder = self.fleet.engine.store.leader(leader.ROLE)
        except ConsoleError:
            return None
        return next((one for one in self.workers if f"-{one.pid}-" in holder), None)

    def outage(self, *, silent: bool = False) -> Callable[[], None]:
        """A server goes away now; call the answer when it is back."""
        begun = Outage(silent, time.monotonic())
        self.outages.append(begun)

        def back() -> None:
            begun.ended = time.monotonic()

        return back

    def stop_workers(self) -> bool:
        """In good order; tells whether all left by themselves."""
        for worker in self.workers:
            worker.send_signal(signal.SIGCONT)
            worker.send_signal(signal.SIGTERM)
        good = True
        for worker in (*self.workers, *self.leaving):
            try:
                good &= worker.wait(60) == 0
            except subprocess.TimeoutExpired:
                good = False
        return good

    # ------------------------------------------------------------------- looks
    def tasks(self) -> Iterator[Task]:
        """Every record."""
        cursor = ""
        while True:
            page = self.fleet.engine.store.query(Query(limit=PAGE, cursor=cursor, want_total=False))
            yield from page.tasks
            if page.next is None:
                return
            cursor = page.next

    def unfinished(self) -> int:
        """Records that have neither ended nor wait for a person."""
        status = self.fleet.engine.store.counts().status
        return sum(count for name, count in status.items() if name not in ("succeeded", "dead", "cancelled", "held"))

    def messages(self) -> int:
        """What the broker still has in its work and dead-letter queues."""
        return sum(
            depth.ready + (depth.unacked or 0)
            for depth in self.fleet.engine.broker.depths()
            if depth.kind in ("lane", "dead")
        )

    def printed(self) -> str:
        """What the processes said."""
        path = self.machine.directory / "output.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def versions(world: World) -> str:
    """What was tested."""
    if world.kind == "embedded":
        import sqlite3

        return f"SQLite {sqlite3.sqlite_version}"
    facts = world.fleet.engine.store.facts()
    if world.kind == "cluster":
        nodes = world.cluster.nodes
        broker, queues = nodes[0].api("GET", "/api/overview")["rabbitmq_version"], f"{len(nodes)} nodes, quorum queues"
    else:
        broker, queues = world.rabbit.api("GET", "/api/overview")["rabbitmq_version"], "classic queues"
    return f"RabbitMQ {broker} {queues}, {facts['kind']} {facts['version']} appendfsync {facts['appendfsync']}"


def starts_of(seen: Path) -> dict[str, int]:
    """How often each task was begun, as handlers and flows noted."""
    found: dict[str, int] = {}
    for row in fleet_rig.lines(seen, "start"):
        found[row[1]] = found.get(row[1], 0) + 1
    return found
