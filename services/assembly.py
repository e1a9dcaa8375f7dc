"""Puts the engine together from the settings: the only namer of drivers."""

from __future__ import annotations

import os
import secrets
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from services import home_folder
from services import settings as config
from services.audit_witness import Witness
from services.broker import listed as brokers
from services.clock import ClockOf, SystemClock, machine_zone
from services.commands import operator
from services.commands.alerts import AlertCommands
from services.commands.audit import Audit, AuditCommands
from services.commands.back import ways
from services.commands.batches import BatchCommands
from services.commands.breakers import BreakerCommands
from services.commands.bulk import book
from services.commands.bulk.republish import BulkRepublish
from services.commands.causes import CauseCommands
from services.commands.dead_letters import DeadLetterCommands
from services.commands.fleet import FleetCommands
from services.commands.handover import HandoverCommands
from services.commands.homes import HomeCommands
from services.commands.promises import PromiseCommands
from services.commands.queues import QueueCommands
from services.commands.quiet import QuietCommands
from services.commands.records import RecordCommands
from services.commands.roles import RoleCommands
from services.commands.schedules import ScheduleCommands
from services.commands.sessions import SessionCommands
from services.commands.settings import SettingCommands
from services.commands.tasks import TaskCommands
from services.commands.tokens import TokenCommands
from services.commands.views import ViewCommands
from services.domain.alerts.channel import Channel
from services.domain.alerts.incident import Incident
from services.domain.audit import CLI
from services.domain.errors import (
    BrokerUnavailable,
    ConsoleError,
    NotAllowed,
    SchemaTooNew,
    StoreError,
    TopologyMismatch,
)
from services.domain.fleet import shop_queue
from services.domain.insight import worker as insight
from services.domain.insight.connection import BROKER, FILE, MANAGEMENT, STORE, Answer, refused
from services.domain.insight.forecast.flow import Flow
from services.domain.insight.worker import FleetNow
from services.domain.task import lane, ledger, retry
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.domain.text.said import said, words_of
from services.domain.types import task_type
from services.engine.dispatch import Dispatcher
from services.engine.homes import Homes
from services.engine.lead.firing import Firing
from services.engine.lead.shop_queues import ShopQueues
from services.engine.notices import Notices
from services.engine.producer import Producer
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.engine.zone import fleet_zone
from services.monitor.alerts import wording
from services.monitor.alerts.queries import AlertQueries
from services.monitor.artifacts import ArtifactQueries
from services.monitor.attention import BrokenRun
from services.monitor.attention import look_once as look_for_attention
from services.monitor.audit import AuditQueries, TakenBack
from services.monitor.batches import BatchQueries
from services.monitor.forecast import flow
from services.monitor.forecast.drain import DrainQueries
from services.monitor.handover import HandoverQueries
from services.monitor.history import History
from services.monitor.letters.beside import LetterQueries
from services.monitor.letters.causes import CauseQueries
from services.monitor.live import Live, Snapshot
from services.monitor.log_files import LogQueries
from services.monitor.overview import Attention
from services.monitor.past.kept import of_records
from services.monitor.past.queries import PastQueries
from services.monitor.promises import PromiseQueries
from services.monitor.queues.queries import QueueQueries
from services.monitor.remote import RemoteQueries
from services.monitor.roles import RoleQueries
from services.monitor.schedules import ScheduleQueries
from services.monitor.shops.queries import ShopQueries
from services.monitor.tasks import TaskQueries
from services.monitor.types import TypeQueries
from services.monitor.works import WorkQueries
from services.ports import ArtifactStore, Broker, Clock, Store
from services.profiles.known import titled
from services.settings.config_file import ConfigFile
from services.vault import Vault
from services.watch.alerts import rules
from services.watch.alerts.sender import Sender
from services.watch.handover import write as write_handover

RESOURCES = Path(__file__).resolve().parent.parent / "resources"
#: for how long who answers or creates records first what other programs have sent
NOTICE_S = 5.0


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """Drivers and the engine over them; everything else is made from this."""

    settings: config.Settings
    clock: Clock
    store: Store
    broker: Broker
    registry: Registry
    steps: Steps
    producer: Producer
    policy: retry.RetryPolicy
    artifacts: ArtifactStore | None
    causes: CauseQueries  #: one for all who ask in this process: what several ask for at once is read once
    name: str
    newer: str = ""  #: that a newer program wrote the data, so they are opened read-only; "" where none did
    undone: TakenBack = msgspec.field(default_factory=TakenBack)  #: likewise, of the audit
    doubts: tuple[Message, ...] = ()  #: what a connection that changes nothing would have put right
    via: str = ""  #: through what people act by it, for the audit: window | cli | rest | python
    acting: Commands | None = None  #: of whoever acts through it; None: the account of this process

    @property
    def closed(self) -> str:
        """Why nothing is changed through it, whoever acts; "" where their role decides."""
        if not self.settings.read_only:
            return ""
        return self.newer or said("role.read_only", profile=self.settings.profile)

    def close(self) -> None:
        self.broker.close()
        self.store.close()


class Commands(msgspec.Struct, frozen=True, kw_only=True):
    """What the present operator may do."""

    operator: operator.Operator
    tasks: TaskCommands
    dead_letters: DeadLetterCommands
    bulk: BulkRepublish
    causes: CauseCommands
    records: RecordCommands
    fleet: FleetCommands
    homes: HomeCommands
    breakers: BreakerCommands
    sessions: SessionCommands
    quiet: QuietCommands
    promises: PromiseCommands
    alerts: AlertCommands
    handover: HandoverCommands
    batches: BatchCommands
    queues: QueueCommands
    schedules: ScheduleCommands
    roles: RoleCommands
    settings: SettingCommands
    tokens: TokenCommands
    views: ViewCommands
    audit: AuditCommands


class Queries(msgspec.Struct, frozen=True, kw_only=True):
    """What may be asked."""

    tasks: TaskQueries
    batches: BatchQueries
    queues: QueueQueries
    causes: CauseQueries
    schedules: ScheduleQueries
    shops: ShopQueries
    audit: AuditQueries
    roles: RoleQueries
    artifacts: ArtifactQueries
    remote: RemoteQueries
    letters: LetterQueries
    works: WorkQueries
    promises: PromiseQueries
    types: TypeQueries
    alerts: AlertQueries
    past: PastQueries
    handover: HandoverQueries
    logs: LogQueries


def open_engine(settings: config.Settings, *, looking: bool = False, via: str = "") -> Engine:
    """Connect the drivers that the settings name, declare the topology and seed the task types; through a connection
    that only looks, look whether they are there (``Engine.doubts``). ``looking``: records are read and nothing is sent,
    so a broker that does not answer is a doubt as well. ``via``: as of ``Engine``.

    Raises:
        ConsoleError: a driver cannot be opened; the text says which and what to do.
    """
    engine = replace(bare_engine(settings), via=via)
    try:
        return _declared(engine)
    except BrokerUnavailable as exc:
        if looking:
            why, engine.steps.dispatcher.away = words_of(exc), True
            code = "broker.refused_doubt" if refused(why) else "broker.lost_doubt"
            return replace(engine, doubts=(Message(code, {"why": why}),))
        engine.close()
        raise
    except BaseException:
        engine.close()
        raise


def _declared(engine: Engine) -> Engine:
    settings = engine.settings
    shops = [key.partition(":")[2] for key in engine.store.documents(shop_queue.KIND)]
    if settings.read_only:
        engine.broker.know(shops, settings.delays)
        return replace(engine, doubts=_doubts(engine.broker, settings.delays))
    seed_types(engine.store)
    platforms = {shop.platform for shop in engine.store.shops()}
    engine.broker.ensure(platforms=platforms, delays=settings.delays)
    engine.broker.know(shops)
    return engine


def _doubts(broker: Broker, delays: Sequence[int]) -> tuple[Message, ...]:
    """What is not there, or not as it is needed; whoever only looks sees the rest all the same.

    Raises:
        BrokerUnavailable: no connection.
    """
    try:
        missing = broker.inspect(delays).missing
    except TopologyMismatch as exc:
        return (Message("doctor.topology", {"error": words_of(exc)}),)
    return (said("broker.lacks", what=", ".join(missing)).message,) if missing else ()


def bare_engine(settings: config.Settings) -> Engine:
    """An engine over drivers in which nothing was declared or written yet, for a look before that.

    Raises:
        ConsoleError: a driver cannot be opened.
    """
    clock = SystemClock()
    settings, store, broker, newer = readable(settings, clock)
    policy = retry.RetryPolicy(
        base_s=settings.retry.base_seconds, cap_s=settings.retry.cap_seconds, max_retries=settings.retry.max_retries
    )
    defaults = msgspec.structs.replace(task_type.TaskType.default("default"), max_retries=settings.retry.max_retries)
    registry = Registry(store, clock, defaults)
    dispatcher = Dispatcher(store, broker, settings.delays)
    steps = Steps(store, dispatcher)
    producer = Producer(store, steps, registry, strict_shops=settings.strict_shops)
    return Engine(
        settings=settings,
        clock=clock,
        store=store,
        broker=broker,
        registry=registry,
        steps=steps,
        producer=producer,
        policy=policy,
        artifacts=artifacts(settings, clock),
        causes=CauseQueries(store, registry),
        name=f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}",
        newer=newer,
    )


def commands(engine: Engine, *, name: str = "") -> Commands:
    """Commands in the name of this process's user, or of somebody else."""
    if engine.acting is not None and not name:
        return engine.acting
    return commands_of(engine, operator.current(engine.store, read_only=engine.closed, who=name))


def commands_of(engine: Engine, who: operator.Operator) -> Commands:
    """Commands of somebody whose role is known."""
    settings = engine.settings
    audit = audit_of(engine, who.who)
    if settings.unverified and not settings.read_only:
        audit.told("connection.unverified", settings.unverified, {"profile": settings.profile})
    store, steps, registry = engine.store, engine.steps, engine.registry
    letters = DeadLetterCommands(store, steps, registry, audit, who)
    firing = Firing(store, engine.producer, registry)
    queues = ShopQueues(store, engine.broker, steps, registry, engine.clock)
    tasks = TaskCommands(store, engine.producer, steps, audit, who, letters.republish)
    bulk = BulkRepublish(store, steps, registry, engine.clock, audit, who)
    return Commands(
        operator=who,
        tasks=tasks,
        batches=BatchCommands(store, tasks, audit, who, bulk.plan, BatchQueries(store).counts),
        queues=QueueCommands(store, tasks, audit, who, settings.delays),
        dead_letters=letters,
        bulk=bulk,
        causes=CauseCommands(store, steps, audit, who),
        records=RecordCommands(store, steps, registry, audit, who),
        fleet=FleetCommands(store, engine.broker, steps, registry, queues, audit, who),
        homes=HomeCommands(store, Homes(store, steps, engine.clock), audit, who),
        breakers=BreakerCommands(store, steps, audit, who),
        sessions=SessionCommands(store, steps, audit, who),
        quiet=QuietCommands(store, steps, audit, who, lambda: zone(engine.settings)),
        promises=PromiseCommands(store, registry, audit, who, lambda: zone(engine.settings)),
        alerts=AlertCommands(store, audit, who, rules.DEFAULTS, partial(_test_channel, engine)),
        handover=HandoverCommands(store, audit, who, partial(_write_handover, engine)),
        schedules=ScheduleCommands(store, firing, registry, audit, who, lambda: zone(engine.settings)),
        roles=RoleCommands(store, audit, who),
        settings=SettingCommands(ConfigFile(settings.home_path), audit, who),
        tokens=TokenCommands(store, audit, who),
        views=ViewCommands(store, audit, who),
        audit=AuditCommands(store, audit, who, witness(settings)),
    )


def take_notice(engine: Engine) -> None:
    """Record what other programs have sent, for whoever leads may be away: who asks, or creates, must not miss a twin.

    Raises:
        ConsoleError: some may be missing; it is safe to go on without.
    """
    away = engine.steps.dispatcher.away
    if engine.broker.capabilities.others and not engine.settings.read_only and not away:
        notices(engine).take_up(NOTICE_S)


def notices(engine: Engine) -> Notices:
    """What other programs send, before a worker takes it."""
    settings = engine.settings
    return Notices(
        engine.store, engine.broker, engine.steps, engine.registry, engine.clock, engine.name,
        strict_shops=settings.strict_shops, hold=settings.foreign_duplicates == config.HOLD,
        looks=settings.broker.profile == config.BrokerSettings().profile,
    )  # fmt: skip


def _fleet_name(settings: config.Settings) -> str:
    return titled(settings.profile, local=settings.embedded)


def queries(engine: Engine) -> Queries:
    """Questions to the store, and to the record of this machine."""
    # the window shows times in a zone of its own, the command line in that of the fleet: each reads what it shows
    meant = (fleet_zone(engine.store) if engine.via == CLI else "") or engine.settings.time_zone
    alerts = AlertQueries(engine.store, _secret, rules.DEFAULTS, engine.registry.shops)
    trail = AuditQueries(engine.store, witness(engine.settings), meant, ways.possible, engine.undone)
    promises = PromiseQueries(engine.store, engine.registry)
    past = PastQueries(
        recorder_file(engine.settings), trail, partial(_incidents, alerts), engine.store.now_ms, rules.PAST,
        partial(of_records, engine.store),
    )  # fmt: skip
    keeps_ms = round(engine.settings.retention.finished_days * ledger.DAY_MS)
    schedules = ScheduleQueries(engine.store, engine.registry)
    shops = ShopQueries(engine.store, engine.registry, engine.broker.health, keeps_ms, schedules)
    handover = HandoverQueries(
        store=engine.store, causes=engine.causes, trail=trail, alerts=alerts, promises=promises, past=past,
        attention=lambda: standing(engine).attention,
        answers=lambda: engine.broker.health().connected, name=shops.name,
        fleet=partial(_fleet_name, engine.settings),
    )  # fmt: skip
    files = ArtifactQueries(engine.artifacts)
    return Queries(
        batches=BatchQueries(engine.store, engine.causes.chances, DrainQueries(engine.store, engine.registry).raised),
        queues=QueueQueries(engine.store, engine.registry, engine.settings.delays),
        tasks=TaskQueries(engine.store, engine.registry, meant, engine.broker.health),
        causes=engine.causes,
        schedules=schedules,
        shops=shops,
        audit=trail,
        roles=RoleQueries(engine.store),
        artifacts=files,
        letters=LetterQueries(engine.store, engine.registry, files),
        works=WorkQueries(engine.store, engine.registry, keeps_ms, schedules),
        promises=promises,
        types=TypeQueries(engine.store, engine.registry),
        alerts=alerts,
        past=past,
        handover=handover,
        remote=RemoteQueries(engine.store),
        logs=LogQueries(engine.settings.home_path, engine.clock.now_ms, engine.settings.time_zone),
    )


def _secret(name: str) -> str | None:
    """The secret of a channel of alerts on this machine."""
    return Vault(config.child_environment()).of_machine(name)


def _test_channel(engine: Engine, channel: Channel, who: str) -> str:
    machine = socket.gethostname()
    text = wording.test_text(channel.name, who, machine, channel.language)
    return Sender(engine.store, _secret, machine).hand_over(channel, text, "note")


def _write_handover(engine: Engine, to: Sequence[str], span_ms: int) -> list[str]:
    now = engine.store.now_ms()
    return write_handover(engine.store, queries(engine).handover.page, to, now - span_ms, now)


def audit_of(engine: Engine, who: str) -> Audit:
    """The audit in somebody's name; what is tried through a connection that only reads is told all the same."""
    settings = engine.settings
    aside = partial(_aside, settings) if settings.read_only else None
    # a rule or a worker acts through nothing, whoever's process it is in
    return Audit(engine.store, who, witness(settings), aside, via=engine.via if "@" in who else "")


@contextmanager
def _aside(settings: config.Settings) -> Iterator[Store]:
    """The store of a connection that only reads, to write; it is there and of this version, or nobody could read it."""
    store = _store(msgspec.structs.replace(settings, read_only=False), SystemClock())
    try:
        yield store
    finally:
        store.close()


def witness(settings: config.Settings) -> Witness | None:
    """What this machine has seen of the store's audit."""
    return Witness(settings.home_path, settings.store_mark) if settings.home else None


class Standing(NamedTuple):
    """How the fleet stands, all of it told of one moment."""

    snapshot: Snapshot
    flow: Flow
    attention: tuple[Attention, ...]  #: what needs a person


def standing(engine: Engine) -> Standing:
    """For who follows nothing. Blocking."""
    store, registry, clock = engine.store, engine.registry, engine.clock
    snapshot, told = flow.taken_once(store, engine.broker, registry, clock)
    found = look_for_attention(store, registry, clock, snapshot, told, partial(broken_run, engine))
    return Standing(snapshot, told, found)


def broken_run(engine: Engine) -> BrokenRun | None:
    """The newest bulk republish whose program ended in the middle. Blocking."""
    views = book.Shelf(engine.store, engine.clock, "").views()
    found = next((view.entry for view in views if view.state == "interrupted"), None)
    if found is None:
        return None
    return BrokenRun(run_id=found.run_id, who=found.who, sent=found.done, of=found.total, at_ms=found.at)


def live(engine: Engine) -> Live:
    """The watcher of the fleet, not started yet."""
    return Live(engine.store, engine.broker, engine.clock)


def history(engine: Engine) -> History:
    """The charts of the last day, as this machine saw them: of a fleet whatever the connection to it is called now, of
    an engine here beside its file, which goes by that name and may be moved with its folder.
    """
    settings = engine.settings
    named = settings.home_path / f"history-{settings.profile}.sqlite"
    if settings.embedded:
        return History(named)
    before = named if _charts_of(settings, named) else None
    return History(settings.home_path / f"history-{settings.store_mark}.sqlite", before)


def _charts_of(settings: config.Settings, named: Path) -> bool:
    """Whether charts that go by the name of a connection are of this store, as far as this machine can tell.

    A name says that of a saved profile alone: all that is opened by its addresses shares one. And a profile may have
    been edited, or have been an engine here: then the store is newer here than the charts, or their engine is there.
    """
    saved = settings.profiles.get(settings.profile)
    if saved is None or settings.profile == config.UNNAMED or settings.database.exists():
        return False
    if replace(settings, store=config.StoreSettings(url=saved.redis)).store_mark != settings.store_mark:
        return False
    try:
        last = max(path.stat().st_mtime for path in (named, Path(f"{named}-wal")) if path.exists())
        return last >= _memory(settings).stat().st_mtime
    except FileNotFoundError:  # a connection that only reads keeps no such memory
        return settings.read_only
    except (OSError, ValueError):
        return False


def _memory(settings: config.Settings) -> Path:
    """Where this machine keeps which lives of the store it has seen."""
    return settings.home_path / "stores" / f"{settings.store_mark}.known"


def _incidents(alerts: AlertQueries) -> list[Incident]:
    return [one.incident for one in (*alerts.now(addresses=False).incidents, *alerts.history())]


def recorder_file(settings: config.Settings) -> Path:
    """Where the flight recorder of this machine writes, for each fleet another file."""
    return settings.home_path / "recorder" / f"{settings.store_mark}.sqlite"


def seed_types(store: Store) -> int:
    """Write the task types of ``resources`` that the store does not know yet; returns how many."""
    known = store.documents("type")
    fresh = [path for path in sorted((RESOURCES / "task_types").glob("*.json")) if path.stem not in known]
    return sum(store.add_document("type", path.stem, path.read_text(encoding="utf-8")) for path in fresh)


def probe(settings: config.Settings) -> tuple[Answer, ...]:
    """What each part says that the settings name, all asked at once; changes nothing there.

    Raises:
        UsageError: an address is none.
    """
    if settings.embedded:
        return (_probe_file(settings),)
    asked: list[Callable[[], Answer]] = [partial(_probe_broker, settings), partial(_probe_store, settings)]
    if settings.broker.management_url:
        asked.append(partial(_probe_management, settings))
    with ThreadPoolExecutor(len(asked), thread_name_prefix="probe") as pool:
        return tuple(answer.result() for answer in [pool.submit(ask) for ask in asked])


def heard(settings: config.Settings) -> FleetNow:
    """What workers report of themselves, where only the store answers; changes nothing there.

    Raises:
        ConsoleError: it does not answer either.
    """
    store = _store(msgspec.structs.replace(settings, read_only=True), SystemClock())
    try:
        return insight.look(store.workers(), store.now_ms())
    finally:
        store.close()


def _probe_file(settings: config.Settings) -> Answer:
    from services.sqlite.setup import mark_of

    if not settings.database.exists() and not mark_of(settings.database).exists():
        return Answer(part=FILE)
    try:
        _, store, broker, _ = readable(settings, SystemClock())
    except ConsoleError as exc:
        return Answer(part=FILE, words=words_of(exc))
    try:
        answers, latency, error = store.health()
        return Answer(part=FILE, words="" if answers else error, latency_ms=latency)
    finally:
        broker.close()
        store.close()


def _probe_broker(settings: config.Settings) -> Answer:
    place = msgspec.structs.replace(settings.broker, management_url="")
    kind = brokers.of(place.url)
    try:
        driver = kind.open(place, SystemClock(), (), dict)
    except ConsoleError as exc:
        return Answer(part=BROKER, words=words_of(exc))
    try:
        driver.depths()
        words = missing_rights(settings, driver)
        return Answer(part=BROKER, words=words, latency_ms=max(0.0, driver.health().latency_ms))
    except ConsoleError as exc:
        return Answer(part=BROKER, words=words_of(exc))
    finally:
        driver.close()


def missing_rights(settings: config.Settings, broker: Broker) -> str:
    """What this user may not do at a broker that lets it connect, with the words that permit it; "" for nothing.

    Raises:
        ConsoleError: it does not answer.
    """
    return "" if settings.embedded or settings.read_only else brokers.of(settings.broker.url).ask_rights(broker)


def _probe_management(settings: config.Settings) -> Answer:
    clock = SystemClock()
    begun = clock.monotonic()
    words = brokers.of(settings.broker.url).ask_management(settings.broker, clock)
    if words:
        return Answer(part=MANAGEMENT, words=words)
    return Answer(part=MANAGEMENT, latency_ms=1000 * (clock.monotonic() - begun))


def _probe_store(settings: config.Settings) -> Answer:
    from services.store.redis.store import RedisStore

    try:
        driver = RedisStore(
            settings.store.url, SystemClock(), read_only=settings.read_only, insecure=settings.store.insecure_tls
        )
    except ConsoleError as exc:
        return Answer(part=STORE, words=words_of(exc))
    try:
        _, latency, error = driver.health()
        words = error or driver.missing_rights()
        return Answer(part=STORE, words=words, latency_ms=latency)
    except ConsoleError as exc:
        return Answer(part=STORE, words=words_of(exc))
    finally:
        driver.close()


def readable(settings: config.Settings, clock: Clock) -> tuple[config.Settings, Store, Broker, str]:
    """The two drivers; where a newer program wrote the data, of a connection that only reads, and the sentence why.

    Raises:
        ConsoleError: as of ``drivers``.
    """
    try:
        return settings, *drivers(settings, clock), ""
    except SchemaTooNew as exc:
        if settings.read_only:  # not even that
            raise
        looking = replace(settings, read_only=True)
        return looking, *drivers(looking, clock), words_of(exc)


def drivers(settings: config.Settings, clock: Clock) -> tuple[Store, Broker]:
    """The two drivers that the settings name, with nothing declared yet.

    Raises:
        SchemaTooNew: a newer program wrote the data.
        ConsoleError: one cannot be opened; the text says which and what to do.
    """
    if settings.embedded:
        if not settings.read_only:
            home_folder.make(settings.home_path)
        from services.broker.sqlite.broker import EmbeddedBroker

        lifo, only = settings.broker.lifo_lanes, settings.read_only
        store = _store(settings, clock)
        try:
            return store, EmbeddedBroker(settings.database, ClockOf(clock, store.now_ms), lifo=lifo, read_only=only)
        except BaseException:
            store.close()
            raise
    fleet_store = _store(settings, clock)
    try:
        kind, recorded = brokers.of(settings.broker.url), partial(_queued, fleet_store)
        return fleet_store, kind.open(settings.broker, clock, settings.foreign_queues, recorded)
    except BaseException:
        fleet_store.close()
        raise


def _queued(store: Store) -> dict[str, int]:
    """How many tasks are recorded as queued, by queue; those of a shop with a queue of its own count in both."""
    counts = store.counts()
    lanes = {f"{lane.LANE_QUEUE}{name}": found.get(Status.QUEUED, 0) for name, found in counts.lanes.items()}
    shops = Counter[str]()
    for key, found in counts.shops.items():  # whatever names the shop comes into its queue, for which platform ever
        shops[lane.shop_queue(key.partition(":")[2])] += found.get(Status.QUEUED, 0)
    return {**lanes, **shops}


def _store(settings: config.Settings, clock: Clock) -> Store:
    if settings.embedded:
        from services.store.sqlite.store import EmbeddedStore

        lifo = settings.broker.lifo_lanes
        return EmbeddedStore(settings.database, clock, lifo=lifo, read_only=settings.read_only)
    from services.store.redis.store import RedisStore

    unchecked, home = settings.store.insecure_tls, settings.home
    memory = _memory(settings) if home else None
    store = RedisStore(settings.store.url, clock, read_only=settings.read_only, insecure=unchecked, memory=memory)
    try:
        if not settings.read_only:
            store.check_writable()
    except SchemaTooNew:
        store.close()
        raise
    except StoreError:  # whoever asks next is told
        pass
    return store


def artifacts(settings: config.Settings, clock: Clock) -> ArtifactStore | None:
    """Where the files of tasks lie; None: they are not kept. Touches nothing yet."""
    from services.artifacts.caps import MB, Caps
    from services.artifacts.folder import FolderArtifacts

    chosen = settings.artifacts
    if chosen.place == "off":
        return None
    caps = Caps(
        file_bytes=round(chosen.file_mb * MB),
        task_bytes=round(chosen.task_mb * MB),
        attempt_files=chosen.attempt_files,
        free_bytes=round(chosen.free_mb * MB),
    )
    if "://" in chosen.place:
        from services.artifacts.bucket import BucketArtifacts

        return BucketArtifacts(chosen.place, clock, caps)
    # One folder for each store: what has no record in its own store is removed.
    usual = settings.home_path / "data" / "artifacts" / settings.store_mark
    return FolderArtifacts(Path(chosen.place).expanduser() if chosen.place else usual, clock, caps)


def refuse_read_only(settings: config.Settings, newer: str = "") -> None:
    """Nothing works or leads over a connection through which nothing is changed. ``newer``: as of ``Engine``.

    Raises:
        NotAllowed: it is one.
    """
    if settings.read_only:
        raise NotAllowed(newer or said("work.read_only", profile=settings.profile), field="role")


def node_of(settings: config.Settings) -> str:
    """The name of this machine's node, "" where there is no home folder."""
    return settings.worker.node or (home_folder.node_name(settings.home_path) if settings.home else "")


def refuse_place(settings: config.Settings) -> None:
    """Refuse a home in which this machine's own database cannot be kept.

    Raises:
        UsageError: the home cannot be made or written.
        StoreUnavailable: it lies on another machine.
    """
    from services.sqlite.setup import refuse_network, settled

    home_folder.make(settings.home_path)
    refuse_network(settled(settings.database))


def zone(settings: config.Settings) -> str:
    """Name of the time zone that is meant here, as it is set or as this machine has it; "" where nobody tells."""
    return settings.time_zone or machine_zone()
