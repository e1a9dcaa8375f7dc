"""Somebody at work while everything breaks: cancels, new priorities, republished dead letters, each with its answer."""

from __future__ import annotations

import random
import threading
from collections import Counter

import msgspec

from services import assembly
from services import settings as config
from services.domain.errors import ConsoleError
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from tests.faults.chaos_world import World

PAUSE_SECONDS = 0.4


class Operator(threading.Thread):
    """What was answered is what counts: a question without an answer may have been done or not."""

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(name="operator", daemon=True)
        self._world, self._rng = world, random.Random(seed)
        self._engine = world.fleet.open(**_by_proxies(world))
        self.stop = threading.Event()
        self.cancelled: set[str] = set()
        self.republished: dict[str, str] = {}
        self.moved = self.unanswered = 0
        self.error: Exception | None = None

    def run(self) -> None:
        while self.error is None and not self.stop.wait(PAUSE_SECONDS):
            try:
                self._act(assembly.commands(self._engine))
            except ConsoleError:
                self.unanswered += 1
            except Exception as exc:  # the main thread tells it
                self.error = exc

    def _act(self, commands: assembly.Commands) -> None:
        if self._rng.random() < 0.3:
            dead = [task.task_id for task in self._some("dead", 5) if task.triage == "open"]
            if dead:
                self.republished |= commands.dead_letters.republish(dead).made
            return
        waiting = [task.task_id for task in self._some("queued", 40)]
        if not waiting:
            return
        chosen = self._rng.sample(waiting, min(3, len(waiting)))
        if self._rng.random() < 0.5:
            self.cancelled.update(commands.tasks.cancel(chosen, reason="chaos").done)
        else:
            self.moved += len(commands.tasks.prioritize(chosen, self._rng.randrange(1, 11)).done)

    def _some(self, status: str, limit: int) -> tuple[Task, ...]:
        terms = (equals("status", status),)
        return self._engine.store.query(Query(terms=terms, limit=limit, want_total=False)).tasks

    def verdict(self, tasks: dict[str, Task]) -> list[str]:
        """What was answered and did not come true."""
        undone = [name for name in self.cancelled if tasks[name].status != "cancelled"]
        gone = [new for new in self.republished.values() if new not in tasks]
        parents = Counter(task.parent for task in tasks.values() if task.parent)
        return undone + gone + [name for name, count in parents.items() if count > 1]


def _by_proxies(world: World) -> dict[str, object]:
    """Settings that reach the servers as workers do."""
    if world.kind != "fleet":
        return {}
    own = world.fleet.settings
    return {
        "broker": msgspec.structs.replace(own.broker, url=world.broker_proxy.of(own.broker.url)),
        "store": config.StoreSettings(url=world.store_proxy.of(own.store.url)),
    }
