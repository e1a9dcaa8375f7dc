"""What of an engine works and leads in this process: executors, workers, the candidate for leader."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from services import assembly, home_folder
from services import settings as config
from services.assembly import Engine, notices, witness
from services.clock import SystemClock
from services.commands.audit import Audit
from services.commands.causes import CauseCommands
from services.commands.fleet import FleetCommands
from services.commands.operator import Operator, person
from services.domain.alerts import rule as rules
from services.domain.alerts.incident import Incident
from services.domain.errors import OperatorError
from services.domain.fleet import autoscale, environment
from services.domain.fleet import role as roles
from services.domain.fleet.worker import PROXIES_SHOWN
from services.domain.gates.lane_share import parse_share
from services.domain.insight import cause_rule
from services.domain.insight.cause_rule import MAX_NOTE
from services.domain.task import own_words
from services.domain.text.message import Message
from services.domain.types import task_type
from services.engine import people
from services.engine.lead import leader
from services.engine.lead.firing import Firing
from services.engine.lead.janitor import DAY_MS, Retention
from services.engine.lead.notice_reader import NoticeReader
from services.engine.lead.shop_queues import ShopQueues
from services.engine.work_queue import WorkQueue
from services.executors import batch
from services.executors.base import Executor, ProfileControl
from services.executors.registry import Handler
from services.i18n import N_
from services.scheduler.loop import Scheduler
from services.vault import Vault
from services.watch.alerts.command import HookCommand
from services.watch.alerts.keeper import AlertKeeper
from services.watch.alerts.look import Eyes
from services.watch.alerts.sender import Sender
from services.watch.drift import DriftKeeper
from services.watch.handover import HandoverKeeper
from services.watch.known_issues import IssueKeeper
from services.watch.promises.keeper import PromiseKeeper
from services.watch.recorder import Recorder
from services.workers.host import Duty, LocalWorkers, Steward
from services.workers.parts import WorkerOptions, WorkerParts

if TYPE_CHECKING:
    from services.executors.browser.login import LoginWindow

log = logging.getLogger(__name__)


def refuse_viewer(engine: Engine) -> None:
    """Whoever may only look starts no worker: what it does, it does in their name.

    Raises:
        NotAllowed: the connection is read-only, or the account of this process is a viewer; the latter is in the audit.
    """
    assembly.refuse_read_only(engine.settings, engine.newer)
    store, who = engine.store, person()
    one = Operator(who=who, role=people.role_of(store, who), known=True)
    assembly.audit_of(engine, who).need(one, roles.OPERATOR, "worker.start")


def steward(engine: Engine) -> Steward:
    """The candidate for leader of this process."""
    seen = eyes(engine)
    return Steward(
        engine.store,
        engine.broker,
        engine.steps,
        engine.registry,
        engine.clock,
        policy=engine.policy,
        holder=engine.name,
        results=engine.broker.capabilities.others,
        scheduler=scheduler(engine),
        foreign_consumers=engine.settings.foreign_consumers,
        lifo=engine.settings.broker.lifo_lanes,
        retention=retention(engine.settings.retention),
        artifacts=engine.artifacts,
        lease_s=engine.settings.lease.seconds,
        disk=partial(home_folder.unwritable, engine.settings.home_path / home_folder.SPOOL),
        notices=notices(engine) if engine.broker.capabilities.others else None,
        queues=work_queues(engine) if engine.broker.capabilities.others else {},
        watchers=watchers(engine, seen),
        always=(alerts(engine, seen),),
        zone=lambda: assembly.zone(engine.settings),
    )


def eyes(engine: Engine) -> Eyes:
    """What this process sees of the fleet by, for the rules of alerts and for the record that they are tried on."""
    settings = engine.settings
    return Eyes(
        engine.store,
        engine.broker,
        engine.registry,
        engine.causes,
        engine.clock,
        production=environment.is_production(settings.environment),
        alone=settings.embedded,
    )


def watchers(engine: Engine, seen: Eyes) -> tuple[Duty, ...]:
    """What whoever leads watches for people."""
    store, broker, registry, clock = engine.store, engine.broker, engine.registry, engine.clock
    return (
        Recorder(store, broker, registry, seen, clock, assembly.recorder_file(engine.settings), engine.name),
        promise_keeper(engine),
        DriftKeeper(store, clock, engine.name),
        IssueKeeper(store, IssueActs(engine), clock, engine.name),
        HandoverKeeper(store, assembly.queries(engine).handover.page, clock, engine.name),
    )


def alerts(engine: Engine, seen: Eyes) -> AlertKeeper:
    """Watches the fleet for people, while no other process does."""
    store = engine.store
    sender = Sender(store, Vault(config.child_environment()).of_machine)
    return AlertKeeper(store, seen, sender, engine.clock, engine.name, act=RuleActs(engine))


class IssueActs:
    """What is done by itself about a known issue, in its name and with the audit."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[str, assembly.Commands] = {}  #: by cause: each has one chain in the audit

    def who(self, fingerprint: str) -> str:
        """Whose act it is."""
        return own_words.write("own.known_issue", fingerprint=fingerprint)

    def pause(self, fingerprint: str, shop: str, reason: str, instead: str) -> None:
        """Pause a shop; what a person has done to it meanwhile stays."""
        self._commands(fingerprint).fleet.pause(f"shop:{shop}", reason=reason, instead=instead)

    def resume(self, fingerprint: str, shop: str, note: str) -> None:
        """Let it go on; a pause that a person has put in the place of ours stays."""
        self._commands(fingerprint).fleet.resume(f"shop:{shop}", note=note, by=self.who(fingerprint))

    def republish(self, fingerprint: str, task_ids: Sequence[str], reason: str) -> int:
        """Run letters again; how many do."""
        return len(self._commands(fingerprint).dead_letters.republish(task_ids, reason=reason).made)

    def _commands(self, fingerprint: str) -> assembly.Commands:
        if fingerprint not in self._known:
            self._known[fingerprint] = assembly.commands_of(self._engine, Operator(who=self.who(fingerprint)))
        return self._known[fingerprint]


class RuleActs:
    """What a rule does by itself when it raises an incident, in its own name and with the audit."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._command = HookCommand(engine.settings.alerts, config.child_environment())

    def __call__(self, incident: Incident) -> Message:
        """Raises the errors of the act; nothing to do is told as well."""
        engine, rule = self._engine, incident.rule
        who = Operator(who=f"rule {rule.name}")
        audit = Audit(engine.store, who.who, witness(engine.settings))
        head, _, scope = rule.action.partition(":")
        if head == rules.MARK:
            if incident.fingerprint:
                # beside what people said of it: their name and note stay
                known = cause_rule.parse(engine.store.documents(cause_rule.KIND).get(incident.fingerprint, ""))
                notes = [*known.note.splitlines(), incident.id]
                CauseCommands(engine.store, engine.steps, audit, who).describe(
                    incident.fingerprint, name=known.name, note="\n".join(dict.fromkeys(notes))[-MAX_NOTE:]
                )
        elif head == rules.RUN:
            self._command.run(incident, scope, audit)
        elif scope := scope or incident.pause:
            queues = ShopQueues(engine.store, engine.broker, engine.steps, engine.registry, engine.clock)
            FleetCommands(engine.store, engine.broker, engine.steps, engine.registry, queues, audit, who).pause(
                scope, reason=incident.id
            )
        else:
            return Message("alert.line_action_failed", {"rule": rule.name, "action": rule.action, "why": "-"})
        return Message("alert.line_action", {"rule": rule.name, "action": f"{head} {scope}".strip()})


def work_queues(engine: Engine) -> dict[str, WorkQueue]:
    """Plain queues of other programs whose messages become tasks, by name."""
    hold = engine.settings.foreign_duplicates == config.HOLD
    return {
        queue: WorkQueue(engine.broker, engine.steps, engine.producer, queue, meaning, hold=hold)
        for queue, meaning in engine.settings.foreign_queues.items()
    }


def notice_reader(engine: Engine) -> NoticeReader:
    """Reads notices in a process that never leads, while nobody leads."""
    taken = notices(engine)
    wanted = partial(_nobody_leads, engine)
    return NoticeReader(taken, engine.clock, engine.name, wanted, beside=taken.look_beside)


def _nobody_leads(engine: Engine) -> bool:
    return not engine.store.leader(leader.ROLE)


def retention(kept: config.RetentionSettings) -> Retention:
    """How long the janitor keeps what has ended."""

    def days(number: float) -> int:
        return round(number * DAY_MS)

    return Retention(
        finished_ms=days(kept.finished_days),
        finished_count=kept.finished_count,
        tombstone_ms=days(kept.tombstone_days),
        open_ms=days(kept.open_days),
        republished_ms=days(kept.republished_days),
        archived_ms=days(kept.archived_days),
        ignored_ms=days(kept.ignored_days),
    )


def scheduler(engine: Engine) -> Scheduler:
    """Fires schedules while this process leads."""
    firing = Firing(engine.store, engine.producer, engine.registry)
    return Scheduler(engine.store, firing, engine.clock, engine.name)


def promise_keeper(engine: Engine) -> PromiseKeeper:
    """Judges promises while this process leads."""
    return PromiseKeeper(engine.store, engine.registry, engine.clock, engine.name, engine.broker.health)


def worker_parts(engine: Engine, *, in_console: bool = False) -> WorkerParts:
    """What the workers of this process are made of."""
    executors, handlers, profiles = _executors(engine, in_console=in_console)
    introduce(engine, handlers.values())
    look_s = float(engine.policy.base_s)
    executors[batch.NAME] = batch.BatchExecutor(engine.store, engine.producer, engine.registry, look_s=look_s)
    return WorkerParts(
        store=engine.store,
        broker=engine.broker,
        clock=engine.clock.apart(),  # it agrees with the store, whose time may be that of the engine's
        registry=engine.registry,
        steps=engine.steps,
        executors=executors,
        handlers=frozenset(handlers),
        policy=engine.policy,
        artifacts=engine.artifacts,
        profiles=profiles,
    )


def worker_options(settings: config.Settings, *, kind: str = "headless") -> WorkerOptions:
    """How the workers of this process behave."""
    return WorkerOptions(
        slots=settings.worker.slots,
        lanes=settings.worker.lanes,
        shares={lane: parse_share(text) for lane, text in settings.worker.lane_slots.items()},
        auto=autoscale.parse(settings.worker.auto_slots),
        declines=settings.worker.refuse_types,
        preemptions=settings.worker.preemptions,
        name=settings.worker.name,
        node=assembly.node_of(settings),
        kind=kind,
        lease_s=settings.lease.seconds,
        grace_s=settings.worker.grace_seconds,
        strict_types=settings.worker.strict_types,
        strict_shops=settings.strict_shops,
        hold_foreign=settings.foreign_duplicates == config.HOLD,
        proxies=proxies_of(settings.executors.browser),
        spool=settings.home_path / home_folder.SPOOL / settings.store_mark,
    )


def proxies_of(browser: config.BrowserSettings) -> dict[str, str]:
    """Where the browsers go out, by shop, "" for all others: host and port alone, for a heartbeat tells no secret."""
    named = {"": browser.proxy, **{shop: own.proxy for shop, own in browser.shops.items()}}
    found = {shop: urlsplit(proxy).netloc.rpartition("@")[2] for shop, proxy in named.items() if proxy}
    return dict(list(found.items())[:PROXIES_SHOWN])


def profiles_folder(settings: config.Settings) -> Path:
    """Where the browser profiles of the shops lie on this machine."""
    named = settings.executors.browser.profiles
    return Path(named).expanduser() if named else settings.home_path / "browser" / "profiles"


def login_window(settings: config.Settings) -> LoginWindow | None:
    """What opens a shop's browser for a person on this machine; None where Playwright or a Chromium is missing."""
    from services.executors.browser import installation

    browser = settings.executors.browser
    program = installation.program(browser, None)
    if not program or not installation.has_playwright():
        return None
    from services.executors.browser.login import LoginWindow

    return LoginWindow(browser, profiles_folder(settings), program)


def browse(
    window: LoginWindow,
    platform: str,
    shop_id: str,
    url: str,
    *,
    told: Callable[[str, bool], None],
    stop: threading.Event | None = None,
) -> bool:
    """Let a person log in; whether the page that was seen last asked for nothing. ``told`` hears the pages, ``stop``
    closes the window.

    Raises:
        OperatorError: the browser could not be opened.
    """
    from services.executors.browser.login import NoWindow

    try:
        ending = stop or threading.Event()
        seen = window.show(platform, shop_id, url, stop=ending, told=lambda now: told(now.url, now.logged_in))
    except NoWindow as exc:
        raise OperatorError(str(exc)) from exc
    except KeyboardInterrupt:  # the person gave up; the browser has ended
        return False
    return seen.logged_in


def local_workers(engine: Engine) -> LocalWorkers:
    """Workers inside the console."""
    return LocalWorkers(worker_parts(engine, in_console=True), worker_options(engine.settings, kind="console"))


def introduce(engine: Engine, handlers: Iterable[Handler]) -> None:
    """Write a type for each handler that nobody has defined one for, as an act of this worker.

    Others see only the store: a worker without the handler must leave such tasks alone, and the leader judges those of
    a lost worker by their type. What an operator has written is never touched; where both speak, it holds.
    """
    known = engine.store.documents("type")
    for handler in handlers:
        if handler.name not in known:
            if not engine.settings.read_only:  # what only looks on runs nothing, so nobody needs to know
                _introduce(engine, handler)
        elif handler.idempotent is False and engine.registry.task_type(handler.name).idempotent:
            log.warning("%s may run twice by its type, not by its handler: the type counts; correct it", handler.name)


def _introduce(engine: Engine, handler: Handler) -> None:
    kind = engine.registry.task_type(handler.name)
    idempotent = kind.idempotent if handler.idempotent is None else handler.idempotent
    body = task_type.dump(msgspec.structs.replace(kind, executor="python", idempotent=idempotent, version=1))
    audit = Audit(engine.store, f"worker {engine.name}", witness(engine.settings))
    with audit.act("type.introduce", [handler.name], {"module": handler.module, "idempotent": idempotent}) as act:
        if not engine.store.add_document("type", handler.name, body):
            act.refused(N_("somebody else has defined it in the meantime"))
    engine.registry.forget()


def _executors(
    engine: Engine, *, in_console: bool
) -> tuple[dict[str, Executor], Mapping[str, Handler], ProfileControl | None]:
    settings = engine.settings
    from services.executors import process_tree
    from services.executors.browser.executor import BrowserExecutor
    from services.executors.browser.lending import LendingRpaExecutor
    from services.executors.http.executor import HttpExecutor
    from services.executors.python import PythonExecutor
    from services.executors.rpa import RpaExecutor
    from services.executors.stdout import OutputLimits

    if orphans := process_tree.end_orphans():
        log.warning("%d processes of a worker that was killed here are ended", orphans)
    rpa, vault = settings.executors.rpa, Vault(config.child_environment())
    flows = RpaExecutor(
        rpa.command,
        commands=rpa.commands,
        environment=rpa.environment,
        base_environment=config.child_environment(),
        cwd=rpa.cwd or None,
        encoding=rpa.encoding,
        pass_environment=rpa.pass_environment,
        exit_codes={int(code): kind for code, kind in rpa.exit_codes.items()},
        limits=OutputLimits(lines=rpa.log_lines, total_bytes=rpa.log_kb * 1000),
        kill_grace_s=rpa.kill_grace_seconds,
        cancel_grace_s=rpa.cancel_grace_seconds,
    )
    made: dict[str, Executor] = {"rpa": flows}
    made["http"] = HttpExecutor(settings.executors.http, secret=vault.find, now_ms=SystemClock().now_ms)
    browser = settings.executors.browser
    browsers: BrowserExecutor | None = None
    if BrowserExecutor.installed() or browser.path:
        made["browser"] = browsers = BrowserExecutor(
            browser,
            profiles=profiles_folder(settings),
            secret=vault.find,
            light=lambda name: engine.registry.task_type(name).isolation == "context",
            base_environment=config.child_environment(),
            debug_port=bool(rpa.browser_types),
        )
        if rpa.browser_types:
            made["rpa"] = LendingRpaExecutor(flows, browsers.lend, rpa.browser_types)
    if handlers := load_handlers(settings):
        made["python"] = PythonExecutor(handlers, process_only=in_console)
    return made, handlers, browsers


def load_handlers(settings: config.Settings) -> dict[str, Handler]:
    """The handlers of a worker's settings; their modules are imported, which takes as long as they like.

    Raises:
        UsageError: one cannot be imported.
    """
    from services.executors import registry

    installed = registry.installed_modules() if settings.worker.installed_handlers else ()
    return registry.load_handlers(dict.fromkeys((*settings.worker.handlers, *installed)))
