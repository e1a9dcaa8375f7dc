"""Puts the engine together from the settings: the only namer of drivers."""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from services import home_folder
from services import settings as config
from services.clock import SystemClock, machine_zone
from services.commands import operator
from services.commands.audit import Audit
from services.commands.bulk import BulkRepublish
from services.commands.causes import CauseCommands
from services.commands.dead_letters import DeadLetterCommands
from services.commands.fleet import FleetCommands
from services.commands.records import RecordCommands
from services.commands.schedules import ScheduleCommands
from services.commands.tasks import TaskCommands
from services.domain import retry, task_type
from services.domain.errors import ConsoleError
from services.engine.dispatch import Dispatcher
from services.engine.firing import Firing
from services.engine.producer import Producer
from services.engine.registry import Registry
from services.executors.base import Executor
from services.executors.registry import Handler
from services.monitor.causes import CauseQueries
from services.monitor.history import History
from services.monitor.live import Live
from services.monitor.schedules import ScheduleQueries
from services.monitor.tasks import TaskQueries
from services.monitor.trail import AuditQueries
from services.ports import Broker, Clock, Store
from services.scheduler.loop import Scheduler
from services.workers.host import LocalWorkers, Steward
from services.workers.parts import WorkerOptions, WorkerParts

log = logging.getLogger(__name__)
RESOURCES = Path(__file__).resolve().parent.parent / "resources"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Drivers and the engine over them; everything else is made from this."""

    settings: config.Settings
    clock: Clock
    store: Store
    broker: Broker
    registry: Registry
    dispatcher: Dispatcher
    producer: Producer
    policy: retry.RetryPolicy
    name: str

    def close(self) -> None:
        """Close the drivers."""
        self.broker.close()
        self.store.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """What the present operator may do."""

    operator: operator.Operator
    tasks: TaskCommands
    dead_letters: DeadLetterCommands
    bulk: BulkRepublish
    causes: CauseCommands
    records: RecordCommands
    fleet: FleetCommands
    schedules: ScheduleCommands


@dataclass(frozen=True, slots=True, kw_only=True)
class Queries:
    """What may be asked."""

    tasks: TaskQueries
    causes: CauseQueries
    schedules: ScheduleQueries
    audit: AuditQueries


def open_engine(settings: config.Settings) -> Engine:
    """Connect the drivers that the settings name, declare the topology and seed the task types.

    Raises:
        ConsoleError: a driver cannot be opened; the text says which and what to do.
    """
    clock = SystemClock()
    store, broker = drivers(settings, clock)
    policy = retry.RetryPolicy(
        base_s=settings.retry.base_seconds, cap_s=settings.retry.cap_seconds, max_retries=settings.retry.max_retries
    )
    try:
        seed_types(store)
        platforms = {shop.platform for shop in store.shops()}
        broker.ensure(platforms=platforms, delays=settings.delays)
    except BaseException:
        broker.close()
        store.close()
        raise
    defaults = msgspec.structs.replace(task_type.TaskType.default("default"), max_retries=settings.retry.max_retries)
    registry = Registry(store, clock, defaults)
    dispatcher = Dispatcher(store, broker, settings.delays)
    producer = Producer(store, dispatcher, registry, strict_shops=settings.strict_shops)
    return Engine(
        settings=settings,
        clock=clock,
        store=store,
        broker=broker,
        registry=registry,
        dispatcher=dispatcher,
        producer=producer,
        policy=policy,
        name=f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}",
    )


def commands(engine: Engine) -> Commands:
    """Commands in the name of this process's user."""
    who = operator.current(engine.store)
    audit = Audit(engine.store, who.who)
    store, dispatcher, registry = engine.store, engine.dispatcher, engine.registry
    letters = DeadLetterCommands(store, dispatcher, registry, audit, who)
    firing = Firing(store, engine.producer, registry)
    return Commands(
        operator=who,
        tasks=TaskCommands(store, engine.producer, dispatcher, audit, who, letters.republish),
        dead_letters=letters,
        bulk=BulkRepublish(store, dispatcher, registry, engine.clock, audit, who),
        causes=CauseCommands(store, audit, who),
        records=RecordCommands(store, dispatcher, registry, audit, who),
        fleet=FleetCommands(store, engine.broker, dispatcher, registry, audit, who),
        schedules=ScheduleCommands(store, firing, registry, audit, who, lambda: _zone(engine.settings)),
    )


def queries(engine: Engine) -> Queries:
    """Questions to the store."""
    return Queries(
        tasks=TaskQueries(engine.store, engine.registry, engine.settings.time_zone),
        causes=CauseQueries(engine.store),
        schedules=ScheduleQueries(engine.store, engine.registry),
        audit=AuditQueries(engine.store),
    )


def live(engine: Engine) -> Live:
    """The watcher of the fleet, not started yet."""
    return Live(engine.store, engine.broker, engine.clock)


def history(engine: Engine) -> History:
    """The flight recorder of this machine for this profile."""
    return History(engine.settings.home_path / f"history-{engine.settings.profile}.sqlite")


def steward(engine: Engine) -> Steward:
    """The candidate for leader of this process."""
    return Steward(
        engine.store,
        engine.broker,
        engine.dispatcher,
        engine.registry,
        engine.clock,
        policy=engine.policy,
        holder=engine.name,
        results=not engine.settings.embedded,
        scheduler=scheduler(engine),
        foreign_consumers=engine.settings.foreign_consumers,
    )


def scheduler(engine: Engine) -> Scheduler:
    """Fires schedules while this process leads."""
    firing = Firing(engine.store, engine.producer, engine.registry)
    return Scheduler(engine.store, firing, engine.clock, engine.name)


def worker_parts(engine: Engine, *, in_console: bool = False) -> WorkerParts:
    """What the workers of this process are made of."""
    executors, handlers = _executors(engine.settings, in_console=in_console)
    introduce(engine, handlers.values())
    return WorkerParts(
        store=engine.store,
        broker=engine.broker,
        clock=engine.clock,
        registry=engine.registry,
        dispatcher=engine.dispatcher,
        executors=executors,
        handlers=frozenset(handlers),
        policy=engine.policy,
    )


def worker_options(settings: config.Settings, *, kind: str = "headless") -> WorkerOptions:
    """How the workers of this process behave."""
    return WorkerOptions(
        slots=settings.worker.slots,
        lanes=settings.worker.lanes,
        name=settings.worker.name,
        kind=kind,
        lease_s=settings.lease.seconds,
        grace_s=settings.worker.grace_seconds,
        strict_types=settings.worker.strict_types,
        strict_shops=settings.strict_shops,
    )


def local_workers(engine: Engine) -> LocalWorkers:
    """Workers inside the console."""
    return LocalWorkers(worker_parts(engine, in_console=True), worker_options(engine.settings, kind="console"))


def seed_types(store: Store) -> int:
    """Write the task types of ``resources`` that the store does not know yet; returns how many."""
    known = store.documents("type")
    fresh = [path for path in sorted((RESOURCES / "task_types").glob("*.json")) if path.stem not in known]
    return sum(store.add_document("type", path.stem, path.read_text(encoding="utf-8")) for path in fresh)


def introduce(engine: Engine, handlers: Iterable[Handler]) -> None:
    """Write a type for each handler that nobody has defined one for, as an act of this worker.

    Others see only the store: a worker without the handler must leave such tasks alone, and the leader judges those of
    a lost worker by their type. What an operator has written is never touched; where both speak, it holds.
    """
    known = engine.store.documents("type")
    for handler in handlers:
        if handler.name not in known:
            _introduce(engine, handler)
        elif handler.idempotent is False and engine.registry.task_type(handler.name).idempotent:
            log.warning("%s may run twice by its type, not by its handler: the type counts; correct it", handler.name)


def _introduce(engine: Engine, handler: Handler) -> None:
    kind = engine.registry.task_type(handler.name)
    idempotent = kind.idempotent if handler.idempotent is None else handler.idempotent
    body = task_type.dump(msgspec.structs.replace(kind, executor="python", idempotent=idempotent, version=1))
    audit = Audit(engine.store, f"worker {engine.name}")
    with audit.act("type.introduce", [handler.name], {"module": handler.module, "idempotent": idempotent}) as act:
        if not engine.store.add_document("type", handler.name, body):
            act.outcome = "refused: somebody else has defined it in the meantime"
    engine.registry.forget()


def probe(broker: str, redis: str) -> tuple[bool, str, bool, str]:
    """Whether broker and store answer, each with a word about it; changes nothing there."""
    return (*_probe_broker(broker), *_probe_store(redis))


def _probe_broker(url: str) -> tuple[bool, str]:
    from services.broker.rabbitmq import RabbitBroker

    try:
        driver = RabbitBroker(url, SystemClock())
    except ConsoleError as exc:
        return False, str(exc)
    try:
        driver.depths()
        return True, f"{max(0.0, driver.health().latency_ms):.0f} ms"
    except ConsoleError as exc:
        return False, str(exc)
    finally:
        driver.close()


def _probe_store(url: str) -> tuple[bool, str]:
    from services.store.redis import RedisStore

    try:
        driver = RedisStore(url, SystemClock())
    except ConsoleError as exc:
        return False, str(exc)
    try:
        answers, latency, error = driver.health()
        return answers, error or f"{latency:.0f} ms"
    finally:
        driver.close()


def drivers(settings: config.Settings, clock: Clock) -> tuple[Store, Broker]:
    """The two drivers that the settings name, with nothing declared yet.

    Raises:
        ConsoleError: one cannot be opened; the text says which and what to do.
    """
    if settings.embedded:
        home_folder.make(settings.home_path)
        from services.broker.embedded import EmbeddedBroker
        from services.store.embedded import EmbeddedStore

        return EmbeddedStore(settings.database, clock), EmbeddedBroker(settings.database, clock)
    from services.broker.rabbitmq import RabbitBroker
    from services.store.redis import RedisStore

    store = RedisStore(settings.store.url, clock)
    try:
        return store, RabbitBroker(settings.broker.url, clock, management_url=settings.broker.management_url)
    except BaseException:
        store.close()
        raise


def _zone(settings: config.Settings) -> str:
    return settings.time_zone or machine_zone()


def _executors(settings: config.Settings, *, in_console: bool) -> tuple[Mapping[str, Executor], Mapping[str, Handler]]:
    from services.executors import process_tree, registry
    from services.executors.python import PythonExecutor
    from services.executors.rpa import RpaExecutor

    if orphans := process_tree.end_orphans():
        log.warning("%d processes of a worker that was killed here are ended", orphans)
    rpa = settings.executors.rpa
    made: dict[str, Executor] = {
        "rpa": RpaExecutor(
            rpa.command,
            commands=rpa.commands,
            environment=rpa.environment,
            base_environment=config.child_environment(),
            cwd=rpa.cwd or None,
            kill_grace_s=rpa.kill_grace_seconds,
            cancel_grace_s=rpa.cancel_grace_seconds,
        )
    }
    handlers = registry.load_handlers(settings.worker.handlers)
    if handlers:
        made["python"] = PythonExecutor(handlers, process_only=in_console)
    return made, handlers
