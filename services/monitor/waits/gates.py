"""What closes gates now, asked of the store once for a whole list, filter or count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec.structs import replace

from services.domain.fleet.worker import WorkerInfo
from services.domain.gates.closed import BEGUN
from services.domain.insight import connection, gates, publisher
from services.domain.insight.gates import GATED, GATES, GatesNow
from services.domain.insight.publisher import PublisherNow
from services.domain.insight.worker import takes_work
from services.domain.task.order import BrokerHealth
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, Total, equals
from services.domain.task.status import Status
from services.domain.types.task_type import TaskType
from services.engine.lead import leader, leader_link
from services.engine.registry import Registry
from services.ports import Store

#: of the tasks that run, and of those that are held: so many are looked at for work that waiting ones have too
MOST_BEGUN = 2_000
#: so many waiting tasks are read to say at which gate each of them waits
MOST_READ = 1_000

_WITH_TWINS = frozenset(GATES[GATES.index(gates.SHOP_BUSY) :])
_WELL = BrokerHealth(connected=True)


def cut_off(health: BrokerHealth) -> bool:
    """Whether the broker does not answer; a process that has asked it for nothing yet has no error either."""
    return not health.connected and bool(health.error)


def way(store: Store, health: BrokerHealth, workers: Sequence[WorkerInfo], now: int) -> PublisherNow:
    """What is true of the way to the broker: for this process, the workers, and who leads. Blocking."""
    return publisher.look(health, workers, now, others=leader_link.links(store, store.leader(leader.ROLE)))


class GateLook:
    """Blocking questions."""

    def __init__(self, store: Store, registry: Registry, health: Callable[[], BrokerHealth] | None = None) -> None:
        """``health``: how the broker does for this process, None where nobody asks it."""
        self._store, self._registry, self._health = store, registry, health

    def of(self, tasks: Sequence[Task]) -> dict[str, str]:
        """The gate that each waits at, by id; those that do not wait are left out."""
        waiting = [task for task in tasks if task.status in GATED]
        if not waiting:
            return {}
        unsent = any(task.status == Status.PENDING for task in waiting)
        now = self._now(self._twins_of(waiting), {task.shop for task in waiting}, unsent=unsent)
        return {task.task_id: now.gate_of(task) for task in waiting}

    def terms(self, terms: Sequence[Term]) -> tuple[Term, ...]:
        """The terms with those on ``gate`` put into terms of records, by what is closed now."""
        asked = [term for term in terms if term.field == "gate"]
        if not asked:
            return tuple(terms)
        every = any(term.negated or any("*" in value for value in term.values) for term in asked)
        beyond = every or any(value.partition(":")[0] in _WITH_TWINS for term in asked for value in term.values)
        now = self._now(None, None, begun=MOST_BEGUN if beyond else 0)
        return tuple(part for term in terms for part in (now.terms(term) if term.field == "gate" else (term,)))

    def counts(self) -> dict[str, Total]:
        """How many tasks wait at each gate where anybody does, as its list says it."""
        now = self._now(None, None, begun=MOST_BEGUN)
        names = dict.fromkeys(gate for gate, _ in now.rules)
        waiting = self._few_waiting()
        if waiting is not None:
            numbers = Counter(map(now.gate_of, waiting))
            return {gate: Total(numbers[gate]) for gate in names if numbers[gate]}
        asked = {gate: Query(terms=now.terms(equals("gate", gate)), limit=1) for gate in names}
        found = {gate: self._store.query(query).number for gate, query in asked.items()}
        return {gate: counted for gate, counted in found.items() if counted.number}

    def _few_waiting(self) -> Sequence[Task] | None:
        """All that wait, where they are few enough to be read: each gate would be asked of the same ones."""
        one = Query(terms=(equals("status", *GATED),), limit=1)
        number = self._store.query(one).number
        if not number.exact or number.number > MOST_READ:
            return None
        page = self._store.query(replace(one, limit=MOST_READ, want_total=False))
        return page.tasks if page.next is None else None

    def _now(
        self, twins: frozenset[str] | None, shops: Collection[str] | None, *, begun: int = 0, unsent: bool = True
    ) -> GatesNow:
        """``twins``: keys of tasks that others wait for, None: those of ``begun``; ``shops``: of these the homes are
        asked; None: of all; ``unsent``: whether some may be recorded only.
        """
        now = self._store.now_ms()
        closed = self._store.closed(begun)
        workers = closed.workers
        busy, idle = gates.occupied(closed.shops, self._registry.shops())
        types = self._types(workers)
        homes = self._store.homes(shops) if gates.homebound(types, workers) else {}
        return GatesNow(
            now_ms=now,
            pauses=closed.pauses,
            passes=frozenset(closed.passes),
            sessions=frozenset(one.shop for one in closed.sessions),
            breakers=closed.breakers,
            busy=busy,
            idle=idle,
            limits=closed.limits,
            twins=closed.begun if twins is None else twins,
            away=tuple(gates.away(types, homes, workers, now)),
            cut_off=tuple(gates.cut_off(workers, now)),
            unserved=tuple(gates.unserved(types, self._registry.defaults, workers, now)),
            lost=self._lost(workers, now),
            stuck=unsent and self._stuck(workers, now),
        )

    def _lost(self, workers: Sequence[WorkerInfo], now: int) -> bool:
        """Whether no worker is handed anything: a broker that refuses only this program serves them."""
        health = self._broker()
        serves = connection.refused(health.error) and any(takes_work(one, now) for one in workers)
        return cut_off(health) and not serves

    def _stuck(self, workers: Sequence[WorkerInfo], now: int) -> bool:
        health = self._broker()
        return cut_off(health) or way(self._store, health, workers, now).stuck

    def _broker(self) -> BrokerHealth:
        return self._health() if self._health is not None else _WELL

    def _types(self, workers: Sequence[WorkerInfo]) -> Mapping[str, TaskType]:
        """All types that somebody has defined or a worker speaks of."""
        named = {name for info in workers for name in (*info.handlers, *info.commands, *info.declines)}
        known = self._registry.types()
        return {**known, **{name: self._registry.task_type(name) for name in named - set(known)}}

    def _twins_of(self, tasks: Sequence[Task]) -> frozenset[str]:
        uniqs = sorted({task.guard for task in tasks if task.guard})
        holders = self._store.holders(uniqs) if uniqs else []
        return frozenset(one.guard for one in holders if one is not None and one.status in BEGUN)
