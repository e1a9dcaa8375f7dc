"""Servers, worker processes that come and go, one that stays, and a console that watches for as long."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import redis

from tests.faults.chaos_world import Machine
from tests.integration import fleet_rig
from tests.integration.cli_rig import ROOT, Cli, configure
from tests.integration.fleet_rig import HANDLERS, Fleet
from tests.support.services import RabbitMQ, Redis

LEASE_SECONDS = 15
#: the shortest that the settings allow; ``hurry`` shortens their days besides
RETENTION = {
    "FINISHED_DAYS": "0.1",
    "REPUBLISHED_DAYS": "0.1",
    "ARCHIVED_DAYS": "0.1",
    "IGNORED_DAYS": "0.1",
    "TOMBSTONE_DAYS": "1",
}
SLOTS = 4
ELDER, WATCHER = "elder", "watcher"


class World:
    """Everything of one run."""

    def __init__(self, closing: contextlib.ExitStack, kind: str, factor: float, workers: int) -> None:
        """``kind``: fleet or embedded. ``workers``: so many come and go, besides one that stays."""
        self.kind, self._factor, self._wanted = kind, factor, workers
        self.comers: list[tuple[float, subprocess.Popen[bytes]]] = []  #: monotonic seconds of their begin, oldest first
        self.leaving: list[subprocess.Popen[bytes]] = []
        self.restarts = self.kills = 0
        self.wrong: list[str] = []  #: processes that ended as they should not
        self.machine = Machine()
        closing.callback(self.machine.close)
        self.home = self.machine.directory / "home"
        configure(self.home)
        environment = {"FLEETDECK_LEASE__SECONDS": str(LEASE_SECONDS), "PYTHONPATH": str(ROOT)}
        environment |= {f"FLEETDECK_RETENTION__{name}": value for name, value in RETENTION.items()}
        environment["QT_QPA_PLATFORM"] = "offscreen"
        self.amqp = self.redis_url = ""
        addresses: dict[str, str] = {}
        words: tuple[str, ...] = ()
        if self.kind == "fleet":
            self.rabbit = closing.enter_context(RabbitMQ())
            self.redis_server = closing.enter_context(Redis())
            self.amqp, self.redis_url = self.rabbit.new_vhost(), self.redis_server.url
            self.redis: redis.Redis = closing.enter_context(contextlib.closing(redis.Redis.from_url(self.redis_url)))
            environment["FLEETDECK_BROKER__MANAGEMENT_URL"] = self.rabbit.management_url
            words = ("--broker", self.amqp, "--redis", self.redis_url)
            addresses = {"amqp": self.amqp, "redis": self.redis_url, "management": self.rabbit.management_url}
        self.cli = Cli(self.home, words, environment)
        settings = fleet_rig.settings_for(self.kind, self.home, **addresses)
        self.fleet: Fleet = closing.enter_context(fleet_rig.opened(self.kind, settings, self.home))
        self.watched = self.machine.directory / "watched.json"
        self.elder = self._worker()
        self.watcher = self._spawn("tests.soak.watcher", self._factor, self.watched, self.amqp, self.redis_url)

    # ------------------------------------------------------------------------------------------------- processes
    def _spawn(self, module: str, *words: object) -> subprocess.Popen[bytes]:
        return self.machine.spawn([sys.executable, "-m", module, *map(str, words)], self.cli.variables())

    def _worker(self) -> subprocess.Popen[bytes]:
        words = self.cli.argv("worker", "--slots", SLOTS, "--handlers", HANDLERS)[1:]
        return self._spawn("tests.soak.hurry", self._factor, *words)

    def keep(self) -> None:
        """Start as many workers as are wanted, and note who is gone and should not be."""
        for name, process in ((ELDER, self.elder), (WATCHER, self.watcher)):
            if (code := process.poll()) is not None and not any(line.startswith(name) for line in self.wrong):
                self.wrong.append(f"{name} ended with {code}")
        for _, process in [one for one in self.comers if one[1].poll() is not None]:
            self.wrong.append(f"a worker ended by itself with {process.returncode}")
        self.comers = [one for one in self.comers if one[1].poll() is None]
        for process in [one for one in self.leaving if one.poll() is not None]:
            if process.returncode not in (0, -signal.SIGKILL):
                self.wrong.append(f"a worker that was told to stop ended with {process.returncode}")
        self.leaving = [one for one in self.leaving if one.poll() is None]
        self.machine.forget()
        while len(self.comers) < self._wanted:
            self.comers.append((time.monotonic(), self._worker()))

    def replace(self, *, kill: bool = False) -> None:
        """The one of them that has been there longest makes way for a new one: in good order, or killed."""
        if not self.comers:
            return
        _, process = self.comers.pop(0)
        process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        self.leaving.append(process)
        self.restarts += 1
        self.kills += kill

    def processes(self) -> dict[str, list[int]]:
        """Numbers of processes by what they are called; of servers with those that they started."""
        found = {ELDER: [self.elder.pid], WATCHER: [self.watcher.pid]}
        found["comers"] = [process.pid for _, process in self.comers]
        if self.kind == "fleet":
            found |= {"redis": [self.redis_server.pid], "rabbitmq": [self.rabbit.pid]}
        return found

    def stop(self) -> None:
        """All workers and the watcher, in good order."""
        asked = [self.elder, self.watcher, *(process for _, process in self.comers)]
        for process in asked:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in (*asked, *self.leaving):
            try:
                if process.wait(90) not in (0, -signal.SIGKILL):
                    self.wrong.append(f"a process ended with {process.returncode}")
            except subprocess.TimeoutExpired:
                self.wrong.append("a process did not end within 90 s of being told")

    # ----------------------------------------------------------------------------------------------------- looks
    @property
    def database(self) -> Path:
        """The file of the embedded pair."""
        return self.fleet.settings.database

    def api(self, path: str) -> Any:
        """RabbitMQ's own words."""
        return self.rabbit.api("GET", path)

    def tracebacks(self) -> int:
        """Unforeseen errors in what the processes printed."""
        path = self.machine.directory / "output.log"
        if not path.exists():
            return 0
        with path.open(encoding="utf-8", errors="replace") as lines:
            return sum("Traceback (most recent call last)" in line for line in lines)


@contextlib.contextmanager
def opened(kind: str, factor: float, workers: int) -> Iterator[World]:
    """A world at work, ended afterwards whatever happens."""
    with contextlib.ExitStack() as closing:
        yield World(closing, kind, factor, workers)
