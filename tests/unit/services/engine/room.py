"""The engine's room for unit tests: the embedded pair in one file and a clock that is turned by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from services.broker.sqlite.broker import EmbeddedBroker
from services.clock import ManualClock
from services.domain.change import Answer, Claim, Create, Finish, Op, Published, SetTriage
from services.domain.errors import StoreUnavailable
from services.domain.task.order import Delivery, Order, Receipt
from services.domain.task.record import Attempt, Task
from services.domain.task.retry import RetryPolicy
from services.domain.types.task_type import TaskType
from services.engine.dispatch import Dispatcher
from services.engine.producer import Producer, TaskSpec
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.store.sqlite.store import EmbeddedStore

DELAYS = (30, 60, 120)
POLICY = RetryPolicy()


class Store(EmbeddedStore):
    """The store, which falls silent when told to; before or after it has done what it was asked."""

    silent = 0  #: calls that find nobody
    forgetful = 0  #: applied batches whose reply is lost
    keys_asked: tuple[int, ...] = ()  #: how many keys each question for holders named

    def apply(self, ops: Sequence[Op]) -> list[Answer]:
        self._maybe_silent()
        answers = super().apply(ops)
        if self.forgetful:
            self.forgetful -= 1
            raise StoreUnavailable("the reply was lost")
        return answers

    def holders(self, uniqs: Sequence[str]) -> list[Task | None]:
        self.keys_asked = (*self.keys_asked, len(uniqs))
        return super().holders(uniqs)

    def now_ms(self) -> int:
        self._maybe_silent()
        return super().now_ms()

    def documents(self, kind: str) -> Any:
        self._maybe_silent()
        return super().documents(kind)

    def _maybe_silent(self) -> None:
        if self.silent:
            self.silent -= 1
            raise StoreUnavailable("nobody answers")


class Broker(EmbeddedBroker):
    """The broker, which refuses to publish when told to."""

    refuses = ""  #: the error of every receipt

    def publish(self, orders: Sequence[Order]) -> list[Receipt]:
        return [Receipt(False, self.refuses) for _ in orders] if self.refuses else super().publish(orders)


@dataclass
class Room:
    """Everything the engine stands on."""

    store: Store
    broker: Broker
    clock: ManualClock
    registry: Registry
    steps: Steps
    producer: Producer
    _number: int = field(default=0)

    def spec(self, **fields: Any) -> TaskSpec:
        """A task as asked for; each has a payload of its own."""
        self._number += 1
        base = {"platform": "pdd", "shop_id": "s1", "task_type": "work", "payload": {"n": self._number}}
        return TaskSpec(**(base | fields))

    def create(self, **fields: Any) -> Task:
        """A submitted task."""
        (task,) = self.producer.submit([self.spec(**fields)]).created
        return self.task(task.task_id)

    def recorded(self, **fields: Any) -> Task:
        """A task that is recorded and not published."""
        answer = self.ask(Create(task=self.producer.prepare(self.spec(**fields))))
        assert answer.task is not None
        return answer.task

    def ask_create(self, task_id: str, **fields: Any) -> Task:
        """A recorded task with this id."""
        made = structs.replace(self.producer.prepare(self.spec(**fields)), task_id=task_id)
        answer = self.ask(Create(task=made))
        assert answer.task is not None
        return answer.task

    def running(self, owner: str = "w1#1", lease_ms: int = 60_000, **fields: Any) -> Task:
        """A task that a worker holds."""
        return self.claim(self.create(**fields), owner, lease_ms)

    def claim(self, task: Task, owner: str = "w1#1", lease_ms: int = 60_000) -> Task:
        """Take the lease of a task."""
        claim = Claim(
            task_id=task.task_id,
            gen=task.gen,
            attempt=task.attempt,
            owner=owner,
            worker=owner.partition("#")[0],
            lease_ms=lease_ms,
        )
        answer = self.ask(claim)
        assert (answer.code, answer.task is not None) == ("run", True), answer.code
        assert answer.task is not None
        return answer.task

    def dead(self, **fields: Any) -> Task:
        """A dead letter."""
        task = self.running(**fields)
        return self.finish(task, "dead", error="login expired", error_kind="login_expired", fingerprint="9ac1")

    def finish(self, task: Task, to: str, **fields: Any) -> Task:
        """End an attempt."""
        words = {"retrying": "failed", "dead": "failed", "held": "lost"}
        done = Attempt(
            number=task.attempt,
            worker=task.worker,
            started_at=task.started_at,
            ended_at=task.started_at,
            outcome=words.get(to, to),
        )
        answer = self.ask(
            Finish(**({"task_id": task.task_id, "owner": task.owner, "to": to, "attempt": done} | fields))
        )
        assert answer.code == "ok"
        assert answer.task is not None
        return answer.task

    def triage(self, task_id: str, to: str) -> None:
        """Let a person decide about a dead letter."""
        assert self.ask(SetTriage(task_id=task_id, triage=to, by="ann")).code == "ok"

    def confirm(self, task: Task) -> None:
        """Tell that the message of this state is in the broker."""
        self.ask(Published(task_id=task.task_id, status=task.status, gen=task.gen, attempt=task.attempt))

    def ask(self, op: Op) -> Answer:
        """One operation."""
        (answer,) = self.store.apply([op])
        return answer

    def task(self, task_id: str) -> Task:
        """The record."""
        (found,) = self.store.get([task_id])
        assert found is not None
        return found

    def define(self, name: str, **fields: Any) -> TaskType:
        """Write a task type."""
        self.store.put_document("type", name, json.dumps({"name": name, "version": 1} | fields))
        self.registry.forget()
        return self.registry.task_type(name)

    def ready(self, queue: str = "rpa_tasks_normal") -> int:
        """Messages that wait."""
        return {depth.name: depth.ready for depth in self.broker.depths()}[queue]

    def take(self, lane: str = "normal", count: int = 10) -> list[Delivery]:
        """Messages of a lane, settled."""
        consumer = self.broker.consumer([lane], window=count, name="test")
        found = consumer.take(count, 0.0)
        consumer.ack(found)
        consumer.close()
        return found


@contextmanager
def opened(folder: Path, **rules: Any) -> Iterator[Room]:
    """A room with nothing in it."""
    clock = ManualClock()
    path = folder / "room.sqlite"
    store, broker = Store(path, clock), Broker(path, clock)
    try:
        broker.ensure(platforms=["pdd"], delays=DELAYS)
        registry = Registry(store, clock, TaskType.default("default"))
        steps = Steps(store, Dispatcher(store, broker, DELAYS))
        yield Room(store, broker, clock, registry, steps, Producer(store, steps, registry, **rules))
    finally:
        store.silent = store.forgetful = 0
        broker.close()
        store.close()
