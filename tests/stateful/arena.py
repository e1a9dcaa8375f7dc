"""A place for races: two parties with a driver each on one store, started together again and again."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from services import assembly
from services import settings as config
from services.clock import SystemClock
from services.domain.change import Answer, Claim, Create, Finish, Op, Published
from services.domain.task import retry
from services.domain.task.record import Attempt, Task
from services.domain.types import task_type
from services.engine.dispatch import Dispatcher
from services.engine.producer import Producer
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Store
from services.workers.burst import Burst, Room
from services.workers.intake import Intake
from services.workers.prefetch import PrefetchWindow
from services.workers.slots import ClaimedTask
from tests.contract.conftest import open_store
from tests.stateful.bag import Bag, BagConsumer, Message

RACES = 1_000
SEED = int(os.environ.get("FLEETDECK_TEST_SEED", "1"))
#: tasks of one round: as many as one command of an operator names
EACH = 10
BATCH = 200
Act = Callable[[Sequence[str]], object]


@dataclass(frozen=True, slots=True)
class Party:
    """One process: its driver, its commands, and a worker of this name."""

    store: Store
    steps: Steps
    commands: assembly.Commands
    intake: Intake
    held: list[ClaimedTask]


class Arena:
    """Two parties ("A" and "B") on one store, and one bag of messages between them."""

    def __init__(self, kind: str, where: object) -> None:
        self._stores = [open_store(kind, where, SystemClock()) for _ in "AB"]
        self.bag = Bag(SystemClock())  # type: ignore[arg-type]
        self.a, self.b = (self._party(store, name) for store, name in zip(self._stores, "AB", strict=True))
        self._numbers = iter(range(10**6))

    def close(self) -> None:
        """Give the drivers back."""
        for store in self._stores:
            store.close()

    def _party(self, store: Store, name: str) -> Party:
        clock = SystemClock()
        registry = Registry(store, clock, task_type.TaskType.default("default"))
        steps = Steps(store, Dispatcher(store, self.bag, (30,)))  # type: ignore[arg-type]
        engine: Any = SimpleNamespace(
            store=store, broker=self.bag, clock=clock, registry=registry, steps=steps,
            settings=config.Settings(),
            producer=Producer(store, steps, registry), policy=retry.RetryPolicy(), name=name, artifacts=None,
            acting=None, via="", closed="",
        )  # fmt: skip
        held: list[ClaimedTask] = []
        pool: Any = SimpleNamespace(slots=RACES, running=list)
        intake = Intake(
            store, BagConsumer(self.bag, name), steps, registry, clock,  # type: ignore[arg-type]
            worker=name, session="1", lease_ms=600_000, put=held.append,
            burst=Burst(clock, PrefetchWindow(pool, clock)),
        )  # fmt: skip
        return Party(store, steps, assembly.commands(engine), intake, held)

    # ---------------------------------------------------------------------------- states
    def created(self, count: int = RACES, **fields: Any) -> list[str]:
        """Pending tasks of as many shops, their messages not published."""
        tasks = [
            Task(
                **(
                    {"task_id": f"t{n}", "shop_id": f"s{n}", "platform": "pdd", "task_type": "work", "created_by": "x"}
                    | fields
                )
            )
            for n in (next(self._numbers) for _ in range(count))
        ]
        self._all([Create(task=task) for task in tasks], "created")
        return [task.task_id for task in tasks]

    def queued(self, **fields: Any) -> list[str]:
        """Tasks whose messages are in the bag."""
        ids = self.created(**fields)
        self.a.steps.publish(self.records(ids))
        return ids

    def running(self, **fields: Any) -> list[str]:
        """Tasks that a worker w has begun, without messages; the owner is ``w#id``."""
        ids = self.created(**fields)
        self._all([Published(task_id=one, status="pending", gen=0, attempt=0) for one in ids], "ok")
        claims = [Claim(task_id=one, gen=0, attempt=0, owner=f"w#{one}", worker="w", lease_ms=600_000) for one in ids]
        self._all(claims, "run")
        return ids

    def ended(self, to: str, **fields: Any) -> list[str]:
        """Tasks whose first attempt has ended so."""
        ids = self.running(**fields)
        self._all([finish(one, to) for one in ids], "ok")
        return ids

    def _all(self, ops: Sequence[Op], code: str) -> None:
        for start in range(0, len(ops), BATCH):
            assert {answer.code for answer in self.a.store.apply(ops[start : start + BATCH])} == {code}

    # -------------------------------------------------------------------------- looking
    def records(self, ids: Sequence[str]) -> list[Task]:
        """As they stand now."""
        found = [task for start in range(0, len(ids), BATCH) for task in self.a.store.get(ids[start : start + BATCH])]
        assert None not in found
        return [task for task in found if task is not None]

    # --------------------------------------------------------------------------- acting
    def take(self, party: Party, name: str, ids: Iterable[str]) -> None:
        """A worker is delivered what the bag has of these tasks, one message at a time."""
        found: dict[str, list[Message]] = {task_id: [] for task_id in ids}
        for message in list(self.bag.messages):
            found.get(message.order.message_id, []).append(message)
        for message in [one for some in found.values() for one in some]:
            if not message.owner:
                party.intake.accept([self.bag.hand(message, name)], Room(1, 1, {}))


def race(ids: Sequence[str], left: Act, right: Act) -> None:
    """Let both act on the same tasks at the same time, a few at a time and each in an order of its own.

    In the first and the last round one of them is allowed to be first, so that both ends are seen on any machine.
    """
    rng = random.Random(SEED)
    rounds = [ids[start : start + EACH] for start in range(0, len(ids), EACH)]
    orders = [[rng.sample(list(some), len(some)) for some in rounds] for _ in range(2)]
    gate = threading.Barrier(2, timeout=60)

    def run(act: Act, order: Sequence[Sequence[str]], *, first: int) -> None:
        for number, some in enumerate(order):
            gate.wait()
            if number in (0, len(order) - 1) and number != first:
                gate.wait()
            act(some)
            if number == first:
                gate.wait()

    with ThreadPoolExecutor(2) as pool:
        runs = [
            pool.submit(run, left, orders[0], first=0),
            pool.submit(run, right, orders[1], first=len(rounds) - 1),
        ]
        try:
            for one in runs:
                one.result(timeout=110)
        finally:
            gate.abort()


def finish(task_id: str, to: str, **fields: Any) -> Finish:
    """The end of the first attempt of worker w."""
    word = {"retrying": "failed", "dead": "failed", "held": "lost"}.get(to, to)
    attempt = Attempt(1, "w", 1, 2, word)
    return Finish(
        **({"task_id": task_id, "owner": f"w#{task_id}", "to": to, "attempt": attempt, "delay_ms": 0} | fields)
    )


def one(store: Store, op: Op) -> Answer:
    """The answer to one operation."""
    (answer,) = store.apply([op])
    return answer


@contextmanager
def opened(kind: str, where: object) -> Iterator[Arena]:
    """An arena that is closed at the end."""
    arena = Arena(kind, where)
    try:
        yield arena
    finally:
        arena.close()
