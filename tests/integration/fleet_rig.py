"""A whole fleet on one pair of drivers: engines as processes have them, workers, stewards, and patient questions."""

from __future__ import annotations

import sqlite3
import sys
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pika

from services import assembly, workforce
from services import settings as config
from services.domain.change import Answer, Op
from services.domain.fleet.shop import Shop
from services.domain.task.event import Event
from services.domain.task.order import Delivery, Order
from services.domain.task.record import Task
from services.domain.task.status import TERMINAL
from services.engine.lead.archiver import Archiver
from services.engine.lead.reconcile import Reconciler
from services.engine.producer import Submitted, TaskSpec
from services.workers.host import Steward
from services.workers.worker import Worker
from tests.contract.conftest import apart
from tests.contract.waiting import eventually
from tests.support.rabbit_cluster import NODES, PROFILE

FLOW = Path(__file__).with_name("flow.py")
HANDLERS = "tests.integration.handlers"
#: patience, not an expectation: a machine that compiles beside the tests is slow
SECONDS = 30.0
#: types of the tests and how they differ from the default
TYPES: dict[str, dict[str, Any]] = {
    "work": {"expected_s": 0.01},
    "once": {"idempotent": False},
    "single": {"uniqueness": "shop_type"},
    "flow": {"timeout_s": 60},
    "flow_once": {"idempotent": False, "timeout_s": 1},
    "checked": {
        "schema": {"type": "object", "properties": {"page": {"type": "integer", "minimum": 1}}, "required": ["page"]}
    },
}


@dataclass
class Fleet:
    """Everything is closed at the end, in the order of dependence."""

    kind: str
    settings: config.Settings
    folder: Path
    _engines: list[assembly.Engine] = field(default_factory=list)
    _closers: list[Callable[[], object]] = field(default_factory=list)

    # ----------------------------------------------------------------- processes
    def open(self, **changes: Any) -> assembly.Engine:
        """An engine of its own, as another process has it."""
        if self.kind == "pulsar" and self._engines:
            place = apart(self.kind, self.settings.broker.url, len(self._engines))
            changes = {"broker": msgspec.structs.replace(self.settings.broker, url=place)} | changes
        engine = assembly.open_engine(msgspec.structs.replace(self.settings, **changes))
        self._engines.append(engine)
        return engine

    @property
    def engine(self) -> assembly.Engine:
        """The engine of the test itself."""
        return self._engines[0] if self._engines else self.open()

    def commands(self) -> assembly.Commands:
        """What an operator may do."""
        return assembly.commands(self.engine)

    def worker(
        self, slots: int = 4, *, engine: assembly.Engine | None = None, start: bool = True, **options: Any
    ) -> Worker:
        """A worker in this process."""
        engine = engine or self.engine
        chosen = workforce.worker_options(engine.settings)
        worker = Worker(
            workforce.worker_parts(engine),
            type(chosen)(**({name: getattr(chosen, name) for name in chosen.__slots__} | {"slots": slots} | options)),
        )
        self._closers.append(lambda: worker.stop(0.0))
        if start:
            worker.start()
        return worker

    def reconciler(self, engine: assembly.Engine | None = None, **ages: Any) -> Reconciler:
        """A reconciler that a test turns by hand; the ages are 0 unless given."""
        engine = engine or self.engine
        chosen = {"outbox_age_ms": 0, "retry_grace_ms": 0, "missing_after_ms": 0} | ages
        return Reconciler(
            engine.store, engine.broker, engine.steps, engine.registry, engine.clock, engine.policy, **chosen
        )

    def archiver(self) -> Archiver:
        """An archiver at work."""
        engine = self.engine
        archiver = Archiver(engine.store, engine.broker, engine.steps, engine.registry, engine.clock, engine.name)
        archiver.start()
        self._closers.append(archiver.stop)
        return archiver

    def steward(self, engine: assembly.Engine | None = None) -> Steward:
        """A candidate for leader."""
        steward = workforce.steward(engine or self.engine)
        steward.start()
        self._closers.append(steward.close)
        return steward

    def close(self) -> None:
        """End everything."""
        for close in reversed(self._closers):
            close()
        for engine in reversed(self._engines):
            engine.close()

    # --------------------------------------------------------------------- tasks
    def submit(self, *specs: TaskSpec) -> Submitted:
        """Record and publish."""
        return self.engine.producer.submit(specs)

    def create(self, shop: str = "s1", kind: str = "work", **fields: Any) -> str:
        """One new task; words that no spec knows are its payload."""
        known = {name: fields.pop(name) for name in list(fields) if name in TaskSpec.__struct_fields__}
        done = self.submit(TaskSpec(platform="pdd", shop_id=shop, task_type=kind, payload=fields, **known))
        assert len(done.created) == 1, (done.errors, done.duplicates)
        return done.created[0].task_id

    def apply(self, op: Op) -> Answer:
        """One operation on the store."""
        (answer,) = self.engine.store.apply([op])
        return answer

    def task(self, task_id: str) -> Task:
        """The record."""
        (found,) = self.engine.store.get([task_id])
        assert found is not None, task_id
        return found

    def wait(self, task_id: str, *statuses: str, seconds: float = SECONDS) -> Task:
        """The record once it has one of these statuses."""
        return eventually(lambda: found if (found := self.task(task_id)).status in statuses else None, seconds)

    def wait_ended(self, task_ids: Sequence[str], seconds: float = SECONDS) -> list[Task]:
        """The records once all have ended."""

        def ended() -> bool:
            return all(task is not None and task.status in TERMINAL for task in self.engine.store.get(task_ids))

        eventually(ended, seconds)
        return [self.task(task_id) for task_id in task_ids]

    def shop(self, shop_id: str, concurrency: int = 1) -> None:
        """Register a shop."""
        self.engine.store.put_shops([Shop(platform="pdd", shop_id=shop_id, concurrency=concurrency)])

    # -------------------------------------------------------------------- events
    def cursor(self) -> str:
        """The present end of the event stream."""
        return self.engine.store.events("", 1, 0.0).cursor

    def events(self, cursor: str) -> list[Event]:
        """What happened since."""
        found: list[Event] = []
        while True:
            batch = self.engine.store.events(cursor, 1000, 0.0)
            assert not batch.gap
            if not batch.events:
                return found
            found += batch.events
            cursor = batch.cursor

    # -------------------------------------------------------------------- broker
    def publish(self, body: bytes, *, lane: str = "normal", headers: dict[str, str | int] | None = None) -> None:
        """A message straight to the lane, past producer and store."""
        order = Order(
            kind="work", routing_key=f"task.pdd.{lane}", body=body, message_id="", headers=headers or {}, platform="pdd"
        )
        (receipt,) = self.engine.broker.publish([order])
        assert receipt.ok, receipt.error

    def ready(self, queue: str) -> int:
        """Messages that wait in a queue."""
        return {depth.name: depth.ready for depth in self.engine.broker.depths()}[queue]

    def rested(self, queue: str, ready: int) -> bool:
        """Whether so many messages wait and no full worker holds one for a moment, as it does where it consumes.

        A quorum queue counts a consumer that was cancelled until it holds nothing.
        """
        (depth,) = [depth for depth in self.engine.broker.depths() if depth.name == queue]
        return depth.ready == ready and (self.kind == "embedded" or depth.consumers <= int(NODES > 1))

    def purge(self, queue: str) -> None:
        """Lose every waiting message of a queue."""
        if self.kind == "fleet":
            with channel(self.settings.broker.url) as raw:
                raw.queue_purge(queue)
            return
        with closing(sqlite3.connect(self.settings.database, timeout=30)) as db, db:
            if queue.startswith("rpa_delay_"):
                db.execute("DELETE FROM messages WHERE visible_at > 0")
            else:
                db.execute("DELETE FROM messages WHERE queue = ? AND owner = 0", (queue,))

    def take(self, queue: str, count: int) -> list[Delivery]:
        """Take messages off a lane as a consumer that vanishes afterwards: they come back."""
        consumer = self.engine.broker.consumer([queue.removeprefix("rpa_tasks_")], window=count, name="vanishes")
        found: list[Delivery] = []
        try:
            eventually(lambda: found.extend(consumer.take(count - len(found), 0.2)) or len(found) >= count, SECONDS)
        finally:
            consumer.close()
        return found


def settings_for(
    kind: str, folder: Path, *, amqp: str = "", redis: str = "", management: str = "", **changes: Any
) -> config.Settings:
    """Settings of a machine whose rpa command is the flow of these tests; retries wait 1, 2 and 4 s."""
    fields: dict[str, Any] = {
        "home": str(folder),
        "profile": "local" if kind == "embedded" else "fleet",
        "retry": config.RetrySettings(base_seconds=1, cap_seconds=4, max_retries=3),
        "worker": config.WorkerSettings(handlers=(HANDLERS,)),
        "executors": config.ExecutorSettings(
            rpa=config.RpaSettings(
                command=(sys.executable, "-S", "-E", "-I", str(FLOW), "{task_type}", "{param}"),
                kill_grace_seconds=1.0,
                cancel_grace_seconds=1.0,
            )
        ),
    }
    if kind != "embedded":
        fields["broker"] = config.BrokerSettings(url=amqp, management_url=management, profile=PROFILE)
        fields["store"] = config.StoreSettings(url=redis)
    return config.Settings(**(fields | changes))


@contextmanager
def opened(kind: str, settings: config.Settings, folder: Path) -> Iterator[Fleet]:
    """A fleet with the task types of the tests."""
    fleet = Fleet(kind, settings, folder)
    try:
        for name, fields in TYPES.items():
            define(fleet, name, **fields)
        yield fleet
    finally:
        fleet.close()


def define(fleet: Fleet, name: str, **fields: Any) -> None:
    """Write the policy of a task type."""
    body = {"name": name, "version": 1, "title": {"en": name}} | fields
    fleet.engine.store.put_document("type", name, msgspec.json.encode(body).decode())
    fleet.engine.registry.forget()


@contextmanager
def channel(url: str) -> Iterator[Any]:
    """A channel of bare pika, as a program has it that knows nothing of Fleetdeck."""
    connection = pika.BlockingConnection(pika.URLParameters(url))
    try:
        yield connection.channel()
    finally:
        if connection.is_open:
            connection.close()


def lines(path: Path, word: str = "") -> list[list[str]]:
    """Words of the lines that handlers and flows have written, those that begin with ``word``."""
    if not path.exists():
        return []
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if not word or row[0] == word]


def moves(task: Task) -> list[str]:
    """The statuses that a record has gone through, in order."""
    return [str(step.to) for step in task.steps]


def vhost(url: str) -> str:
    """Virtual host of an address."""
    return urllib.parse.unquote(urllib.parse.urlsplit(url).path[1:])
