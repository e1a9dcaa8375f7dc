"""Looks at everything that a fleet stands on and names what is wrong, with the remedy. Changes nothing."""

from __future__ import annotations

import contextlib
import shlex
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from services.audit_witness import Witness
from services.domain.errors import BrokerUnavailable, ConsoleError, TopologyMismatch, UsageError
from services.domain.fleet import shop_queue
from services.domain.fleet.worker import SlotState
from services.domain.gates import ability, listed
from services.domain.gates.gate import sentence
from services.domain.insight import schedule as schedules
from services.domain.insight import worker as insight
from services.domain.insight.connection import BROKER, Reach
from services.domain.insight.forecast import durations, flow
from services.domain.insight.forecast.durations import Runs
from services.domain.insight.worker import FleetNow, WorkerNow
from services.domain.plans import schedule
from services.domain.promises import promise as promises
from services.domain.task.lane import LANES
from services.domain.task.record import Task
from services.domain.task.search.query import Counts, Query, Term, each, equals
from services.domain.task.status import ACTIVE, WAITING, Status
from services.domain.text.message import Message, Param
from services.domain.text.said import words_of
from services.domain.types import schema, task_type
from services.domain.upkeep import health, health_queues, tuning
from services.domain.upkeep.health import ERROR, NOTE, OK, WARNING, Finding, finding
from services.domain.upkeep.miscount import some
from services.domain.upkeep.tuning import FleetFacts, LaneFacts, TypeFacts, WorkerFacts
from services.engine import audit_check, documents, fates, people
from services.engine.dispatch import Dispatcher
from services.engine.lead import leader, leader_link
from services.engine.registry import Registry
from services.engine.relink import relink
from services.engine.steps import Steps
from services.home_folder import ASIDE, SPOOL, SPOOLED, open_to_others
from services.messages import headline_within, within
from services.monitor import attention, live
from services.monitor.forecast.flow import look_once
from services.monitor.numbers.measured import Measured
from services.monitor.overview import Attention
from services.monitor.waits import hung
from services.ports import Broker, Clock, Store
from services.processes import this_process

STORE_GONE, BROKER_GONE = "doctor.store_gone", "doctor.broker_gone"
FILE_GONE = "doctor.file_gone"  #: a store that is one machine's own file
LOOK = 1000
#: records that are compared with their indexes and counters without being asked to
COMPARED = 20_000
#: what tells that the store answers and does not let this program do all that is needed
RIGHTS = frozenset({"doctor.redis_commands", "doctor.redis_keys"})
#: what tells who is not heard of
OF_SILENCE = frozenset({"leader", "orphans", "workers", "schedules"})
#: for how long it is told why nobody leads
RESIGNED_MS = 15 * 60_000
#: entries of the audit, the newest, that are looked at without being asked to
AUDITED = 20_000
#: files that are named, then dots
NAMED = 4
#: entries that cannot be read and are named, then how many there are
DAMAGES = 100
#: the newest tasks that ended, by which types are judged, a page of them at once
LOOKED, PAGE = 3000, 1000
ENDED = (Status.SUCCEEDED, Status.DEAD, Status.RETRYING, Status.HELD)
TIMEOUT = "timeout"


class Doctor:
    """One look at one fleet; blocking."""

    def __init__(
        self,
        store: Store,
        broker: Broker,
        clock: Clock,
        *,
        version: str,
        production: bool,
        embedded: bool = False,
        foreign: Collection[str] = (),
    ) -> None:
        """``foreign``: plain work queues of other programs that the settings name."""
        self._foreign = tuple(foreign) if broker.capabilities.others else ()
        self._store, self._broker, self._clock = store, broker, clock
        self._version, self._production, self._embedded = version, production, embedded
        self._registry = Registry(store, clock, task_type.TaskType.default(""))
        self._flow: flow.Flow | None = None

    def look(self, home: Path, delays: Sequence[int], *, mark: str = "", deep: bool = False) -> list[Finding]:
        """Every finding, grouped by what was looked at. A store that is gone hides what only it knows.

        ``mark``: the name of the folder of this store's spooled outcomes. ``deep``: compare all records with what is
        derived from them, however many there are.
        """
        found = [health.of_disk(shutil.disk_usage(home).free, str(home))] if home.is_dir() else []
        if exposed := open_to_others(home):
            where = ", ".join(str(path) for path in exposed[:NAMED]) + (" …" if len(exposed) > NAMED else "")
            found.append(finding(WARNING, "home", "doctor.home_open", where=where, folder=shlex.quote(str(home))))
        found += _of_spool(home / SPOOL, mark)
        answers, latency, error = self._store.health()
        if not answers:
            found.append(health.of_lost_store(error))
            return self._with_loss([*found, *self._of_broker(delays)])
        try:
            found += self._of_store(latency)
            found.append(self._of_clock())
            found += self._of_damage(deep=deep)
            found += self._of_broker(delays)
            found += self._of_fleet()
            if error:  # nobody can show that he lives, or holds what he runs: another worker helps nothing
                found = [one for one in found if one.check not in OF_SILENCE]
                found.append(finding(ERROR, "store", "doctor.no_writes", error=error))
            found += tuning.advice(measured_facts(self._store, self._registry, fates.look(self._store)))
            found += self._of_records(deep=deep)
            found += self._of_roles()
            found += self._of_audit(Witness(home, mark) if mark else None, deep=deep)
        except ConsoleError as exc:  # it answered a moment ago
            if {one.message.code for one in found} & RIGHTS:  # and does so still
                return [*found, finding(NOTE, "store", "doctor.not_looked")]
            found.append(health.of_lost_store(words_of(exc)))
        return self._with_loss(found)

    def attention(self) -> tuple[Attention, ...]:
        """What needs a person now, as the window lists it; of growth only what ``look`` found before. Nothing where the
        store is gone.
        """
        with contextlib.suppress(ConsoleError):  # told among the findings
            if self._store.health()[0]:
                snapshot = live.look(self._store, self._broker.health())
                return attention.look_once(self._store, self._registry, self._clock, snapshot, self._flow)
        return ()

    def _with_loss(self, found: list[Finding]) -> list[Finding]:
        gone = {one.message.code for one in found}
        reach = Reach(broker=BROKER_GONE not in gone, store=STORE_GONE not in gone, embedded=self._embedded)
        if reach.lost == BROKER:
            fleet = insight.look(self._store.workers(), self._store.now_ms())
            reach = replace(reach, alive=fleet.living, apart=fleet.number(insight.CUT_OFF))
        return [*found, *health.of_loss(reach)]

    def _of_store(self, latency: float) -> list[Finding]:
        facts = self._store.facts()
        what = f"{facts.get('kind', '')} {facts.get('version', '')}".strip()
        found = [finding(OK, "store", "doctor.store", what=what, latency=max(1, round(latency)))]
        return found + health.of_store(facts, production=self._production)

    def _of_clock(self) -> Finding:
        begun = self._clock.monotonic()
        theirs = self._store.now_ms()
        ours = self._clock.wall_ms()
        trip = round((self._clock.monotonic() - begun) * 1000)
        return health.of_clock(ours - theirs, trip)

    def _of_damage(self, *, deep: bool) -> list[Finding]:
        """What cannot be read: where it lies, and what is wrong with it."""
        total = self._store.counts().total
        damaged = self._store.damage(documents.check, deep=deep or total <= COMPARED)
        found = [
            Finding(
                level=ERROR,
                check="records",
                message=Message(
                    "doctor.unreadable",
                    {"what": one.what, "place": one.place, "entry": one.entry or "*", "why": one.why},
                ),
                remedy=one.remedy,
            )
            for one in damaged[:DAMAGES]
        ]
        if len(damaged) > DAMAGES:
            found.append(finding(ERROR, "records", "doctor.unreadable_more", count=len(damaged)))
        return found

    def _of_broker(self, delays: Sequence[int]) -> list[Finding]:
        try:
            seen = self._broker.inspect(delays)
        except TopologyMismatch as exc:
            return [finding(ERROR, "broker", "doctor.topology", error=words_of(exc))]
        except BrokerUnavailable as exc:
            return [health.of_lost_broker(words_of(exc))]
        except ConsoleError as exc:
            return [Finding(level=ERROR, check="broker", message=Message("doctor.topology", {"error": words_of(exc)}))]
        facts = self._broker.facts()
        what = f"{facts.get('kind', '')} {facts.get('version', '')}".strip()
        return [
            *health.of_broker(what, seen),
            *self._broker.findings(self._longest()),
            *self._of_queues(),
            *(health_queues.of_foreign(self._broker.depths(), self._foreign) if self._foreign else ()),
        ]

    def _of_queues(self) -> list[Finding]:
        if not self._store.health()[0]:
            return []
        documents = self._store.documents(shop_queue.KIND)
        known = [key.partition(":")[2] for key in documents]
        states = [shop_queue.parse(body).state for body in documents.values()]
        shops = sorted(shop for shop, state in zip(known, states, strict=True) if state == shop_queue.OPEN)
        now = self._store.now_ms()
        alive = insight.look(self._store.workers(), now).living
        self._broker.know(shops)
        depths = self._broker.depths()
        return [
            *health_queues.of_queues(depths, shops, workers=alive),
            *health_queues.of_strays(depths, known),
        ]

    def _longest(self) -> tuple[str, int]:
        """The type whose tasks may run longest."""
        found = [("", 0)]
        for name, body in self._store.documents("type").items() if self._store.health()[0] else ():
            try:
                found.append((name, task_type.stored(body).timeout_s))
            except UsageError:  # told among the types
                continue
        return max(found, key=lambda one: one[1])

    def _of_fleet(self) -> list[Finding]:
        store, counts = self._store, self._store.counts()
        now = store.now_ms()
        waiting = _sum(counts, WAITING | {Status.RETRYING})
        gave_up = leader_link.last_resigned(store)
        resigned = (gave_up.holder, gave_up.why) if now - gave_up.at < RESIGNED_MS else ("", "")
        unfinished = _sum(counts, ACTIVE - {Status.HELD, Status.SCHEDULED})
        found = [health.of_leader(store.leader(leader.ROLE), unfinished, resigned)]
        told = self._flow = look_once(store, self._broker, self._registry, self._clock)
        waiting += told.facts.unrecorded
        found.append(
            health.of_flow(told.state, headline_within(flow.headline(told), self._registry.shop_name), waiting)
        )
        fleet = fates.look(store)
        found += health.of_workers(fleet, waiting, self._version)
        found += health.of_clocks_there(fleet, this_process()[0])
        if (last := insight.last(fleet, now)) is not None:
            found.append(Finding(level=NOTE, check="workers", message=last))
        found += [
            Finding(
                level=NOTE,
                check="workers",
                message=Message("doctor.lost", {"worker": one.name, "what": within(fact.message)}),
            )
            for one in fleet.workers
            if one.missing and one.fates
            for fact in one.facts
        ]
        found += self._of_long(fleet, now)
        found += self._of_publisher(now, counts.unsent)
        found += self._of_schedules(now)
        found += self._of_switches(now)
        found += self._of_promises()
        found += [
            finding(WARNING, "workers", "doctor.home_silent", node=node, tasks=tasks)
            for node, tasks, _ in ability.absent_homes(store.homebound(), store.workers(), now)
        ]
        if orphans := len(store.expired(LOOK)):
            found.append(finding(WARNING, "orphans", "doctor.orphans", tasks=orphans))
        if closed := store.sessions():
            parked = sum(counts.shops.get(one.shop, {}).get(Status.BLOCKED, 0) for one in closed)
            params: dict[str, Param] = {"shops": len(closed), "shop": closed[0].shop, "tasks": parked}
            found.append(finding(NOTE, "sessions", "doctor.session", **params))
        if unsent := len(store.outbox(health.OUTBOX_OLD_MS, LOOK)):
            found.append(finding(WARNING, "orphans", "doctor.outbox", tasks=unsent))
        for name, body in store.documents("type").items():
            with contextlib.suppress(UsageError):  # what cannot be read is told among the damage
                if problem := schema.problem_of_schema(task_type.stored(body).schema):
                    found.append(finding(ERROR, "types", "doctor.bad_schema", name=name, error=f"schema.{problem}"))
        said_of = ((sentence("doctor", one, listed.SENTENCES), one) for one in store.switches())
        return found + [finding(NOTE, "pauses", code, scope=one.scope, who=one.by, **one.told) for code, one in said_of]

    def _of_switches(self, now: int) -> list[Finding]:
        """What is wrong with when gates are closed, as their modules know it."""
        asked = [switch.doubts for switch in listed.SWITCHES.values() if switch.doubts is not None]
        doubts = [one for ask in asked for one in ask(self._store.documents, now)]
        return [finding(WARNING, "pauses", one.code, **one.params) for one in doubts]

    def _of_promises(self) -> list[Finding]:
        """Those that can be kept by nobody: their type or their shops do not exist."""
        known = self._registry
        types = {*known.types(), *(name for info in self._store.workers() for name in info.handlers)}
        found: list[Message] = []
        for one in promises.readable(self._store.documents(promises.KIND)):  # the others are told among the damage
            if one.enabled:
                found += promises.doubts(one, types, known.shops())
        return [finding(WARNING, "promises", one.code, **one.params) for one in found]

    def _of_long(self, fleet: FleetNow, now: int) -> list[Finding]:
        """What runs past the 95th percentile: of each type and platform the longest, and how many of them there are."""
        measured = Measured(self._store)

        def usual(task_type: str, platform: str) -> Runs:
            return measured.on_platform(task_type, platform, 0)

        found: dict[tuple[str, str], list[SlotState]] = defaultdict(list)
        for slot in hung.past(fleet, usual, now):
            found[slot.task_type, hung.platform_of(slot)].append(slot)
        many = {(one.task_type, one.platform) for one in hung.together(fleet, usual, now)}
        return [
            finding(
                WARNING if kind in many else NOTE, "workers", "doctor.slow" if kind in many else "doctor.long",
                n=len(some), type=kind[0], platform=kind[1], task=some[0].task_id,
                seconds=(now - some[0].since) // 1000, nearly_s=round(usual(*kind).nearly_all_s, 1),
            )
            for kind, some in found.items()
        ]  # fmt: skip

    def _of_publisher(self, now: int, unsent: int) -> list[Finding]:
        """What workers, the leader and this process meet on their way to the broker."""
        way = fates.way(self._store, now, self._store.leader(leader.ROLE), self._broker.health())
        if not way.kind:
            return []
        params: dict[str, Param] = {
            "what": within(way.message),
            "tasks": unsent,
            "seconds": max(0, now - way.since_ms) // 1000,
            "who": ", ".join(name or "doctor" for name in way.who),
        }
        found = Message("doctor.publisher", params)
        return [Finding(level=ERROR, check="broker", message=found, remedy=way.remedy)]

    def _of_schedules(self, now: int) -> list[Finding]:
        """Those that nobody has fired in time."""
        late = [one for one in self._store.due_schedules(LOOK) if schedules.overdue(one.next_at, now)]
        found = []
        leads = self._store.leader(leader.ROLE)
        way = fates.way(self._store, now, leads) if late else None
        for entry in late:
            with contextlib.suppress(UsageError):  # what cannot be read is no matter of time
                one = schedules.look(schedule.load(entry.body), entry.next_at, now, leader=leads, way=way)
                params: dict[str, Param] = {"name": entry.name, "seconds": one.late_ms // 1000}
                told = Message("doctor.schedule_late", params)
                found.append(Finding(level=ERROR, check="schedules", message=told, remedy=one.why))
        return found

    def _of_roles(self) -> list[Finding]:
        known = people.roles(self._store)
        found = [
            finding(WARNING, "roles", "doctor.role_bad", who=one.who)
            for one in known.people
            if one.entry is not None and not one.entry.readable
        ]
        if any(one.entry is not None for one in known.people) and not known.admins():
            found.append(finding(WARNING, "roles", "doctor.no_admin"))
        return found

    def _of_audit(self, witness: Witness | None, *, deep: bool) -> list[Finding]:
        """Whether the trail is as it was written."""
        seen = audit_check.check(self._store, witness, newest=0 if deep else AUDITED)
        found: list[Finding] = []
        if seen.wrong:
            params: dict[str, Param] = {"n": len(seen.wrong), "what": within(seen.wrong[0].message)}
            found.append(finding(ERROR, "audit", "doctor.audit_wrong", **params))
        else:
            found.append(finding(OK, "audit", "doctor.audit" if seen.whole else "doctor.audit_newest", rows=seen.rows))
        if seen.accepted:
            found.append(finding(NOTE, "audit", "doctor.audit_accepted", n=len(seen.accepted)))
        if seen.sight_lost:
            found.append(finding(WARNING, "audit", "doctor.audit_sight"))
        if seen.unknown:
            found.append(finding(NOTE, "audit", "doctor.audit_unknown", n=seen.unknown))
        return found

    def _of_records(self, *, deep: bool) -> list[Finding]:
        """What is derived from the records and differs from them."""
        counts, remedy = self._store.counts(), Message("doctor.damage.remedy")
        total = counts.total
        if counts.lost and not deep:  # how many there are, nobody knows now: a look at all may take minutes
            lost = Message("doctor.counters_lost")
            return [Finding(level=WARNING, check="records", message=lost, remedy=remedy)]
        if total > COMPARED and not deep:
            return [finding(NOTE, "records", "doctor.not_compared", tasks=total)]
        wrong: list[str] = []
        found = [
            Finding(
                level=WARNING,
                check="records",
                message=Message(f"repair.{one.kind}", {"count": one.count, "where": one.where}),
                remedy=remedy,
            )
            for one in self._store.recount(mend=False)
        ]
        with contextlib.suppress(ConsoleError):  # a store that may only be read does not tell
            steps = Steps(self._store, Dispatcher(self._store, self._broker, ()))
            wrong = relink(self._store, steps, look=True)
        if wrong:
            params: dict[str, Param] = {"tasks": len(wrong), "where": some(wrong)}
            found.append(
                Finding(level=WARNING, check="records", message=Message("repair.links", params), remedy=remedy)
            )
        return found or [finding(OK, "records", "doctor.compared", tasks=total)]


def _sum(counts: Counts, statuses: Iterable[str]) -> int:
    return sum(counts.status.get(status, 0) for status in statuses)


def _of_spool(folder: Path, mark: str) -> list[Finding]:
    """What workers of this machine have left to be recorded; a living one has some for moments only."""
    found: list[Finding] = []
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        files = len(list(place.glob(f"*{SPOOLED}")))
        aside = len(list(place.glob(f"*{ASIDE}")))
        if files:
            code = "doctor.spool" if place.name == mark or not mark else "doctor.spool_other"
            found.append(finding(WARNING, "orphans", code, files=files, folder=str(place)))
        if aside:
            found.append(finding(WARNING, "orphans", "doctor.spool_aside", files=aside, folder=str(place)))
    return found


def measured_facts(store: Store, registry: Registry, fleet: FleetNow) -> FleetFacts:
    """What is measured now. Blocking."""
    ended = list(_ended(store))
    ran: dict[str, list[Task]] = defaultdict(list)
    lanes: dict[str, list[Task]] = defaultdict(list)
    for task in ended:
        ran[task.task_type].append(task)
        lanes[task.lane].append(task)
    now = store.now_ms()
    return FleetFacts(
        slots=fleet.slots,
        busy=fleet.busy,
        waiting=store.counts().status.get(Status.QUEUED, 0),
        lanes=[_lane(store, fleet, lane, lanes[lane], now) for lane in LANES],
        types=[_type(registry, name, tasks) for name, tasks in sorted(ran.items())],
        limits=store.limits(),
        workers=[_worker(one, ended) for one in fleet.workers if one.takes_work],
    )


def _ended(store: Store) -> Iterable[Task]:
    query = Query(terms=(equals("status", *ENDED),), sort="updated", limit=PAGE, want_total=False)
    return each(store.query, query, LOOKED)


def _lane(store: Store, fleet: FleetNow, lane: str, ended: list[Task], now: int) -> LaneFacts:
    here = equals("lane", lane)
    since = Term(field="created", op=">", number=now - tuning.HOUR_S * 1000)
    came = store.query(Query(terms=(here, since), limit=1))
    queued = equals("status", Status.QUEUED)
    oldest = store.query(Query(terms=(here, queued), descending=False, limit=1))
    taking = [one for one in fleet.workers if one.takes_work]
    return LaneFacts(
        lane=lane,
        came=came.number.number,
        counted=came.number.exact,
        runs=durations.of_tasks(ended),
        waiting=oldest.number.number,
        waited_s=max((now - task.created_at) / 1000 for task in oldest.tasks) if oldest.tasks else 0.0,
        kept=sum(one.info.shares.get(lane, (0, 0))[0] for one in taking),
        busy=sum(1 for one in taking for slot in one.slots if slot.task_id and slot.lane == lane),
    )


def _type(registry: Registry, name: str, tasks: list[Task]) -> TypeFacts:
    attempts = [attempt for task in tasks for attempt in task.attempts]
    return TypeFacts(
        name=name,
        timeout_s=registry.task_type(name).timeout_s,
        runs=durations.of_tasks(tasks),
        ended=len(attempts),
        cut=sum(1 for attempt in attempts if attempt.error_kind == TIMEOUT),
    )


def _worker(one: WorkerNow, ended: list[Task]) -> WorkerFacts:
    own = durations.of_tasks(task for task in ended if task.worker == one.name)
    return WorkerFacts(name=one.name, slots=len(one.slots), ahead=one.info.prefetched, mean_s=own.mean_s)
