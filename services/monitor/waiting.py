"""What holds a waiting task back at this moment, asked of the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.domain import ability, dependency, explain, home, limit
from services.domain.breaker import Breaker
from services.domain.limit import LimitNow
from services.domain.query import Query, Term, equals
from services.domain.session import ClosedSession
from services.domain.shop import SCOPE_ALL
from services.domain.status import ACTIVE, UNDER_WAY, Status
from services.domain.task import Task
from services.domain.task_type import TaskType
from services.domain.worker import WorkerInfo
from services.engine.registry import Registry
from services.ports import Store

#: running tasks that are looked at, and ended ones that a duration is measured by
HOLDERS, MEASURED = 20, 20


class WaitingFacts:
    """Blocking questions."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry = store, registry

    def of(self, task: Task) -> explain.Facts:
        """The facts for one task."""
        now = self._store.now_ms()
        scopes = {SCOPE_ALL, f"platform:{task.platform}", f"shop:{task.shop}", f"type:{task.task_type}"}
        shop = self._registry.shops().get(task.shop)
        concurrency = shop.concurrency if shop is not None else 1
        holders = self._running(equals("shop", task.shop))
        breaker = self._breaker(task)
        crowded = task.status == Status.BLOCKED and task.gate == explain.SHOP_BUSY
        busy = breaker is not None or len(holders) >= concurrency or crowded
        limits = tuple(one for one in self._store.limits() if one.limit.scope in limit.scopes(task))
        full = next((one for one in limits if one.full), None)
        workers = self._store.workers()
        kind = self._registry.task_type(task.task_type)
        homed = bool(home.node_of(task.gate)) or ability.works_at_home(kind, workers)
        return explain.Facts(
            now_ms=now,
            needs=self._needs(task) if task.depends_on else (),
            pauses=tuple(pause for pause in self._store.pauses() if pause.scope in scopes),
            session=self._session(task),
            breaker=breaker,
            holders=holders,
            shop_ahead=self._ahead(task, equals("shop", task.shop)) if busy else 0,
            on_the_way=self._ahead(task, equals("shop", task.shop), *sorted(UNDER_WAY)) if crowded else 0,
            first_on_the_way=self._first_on_the_way(task) if crowded else None,
            limits=limits,
            limit_holders=self._running(_term(full)) if full is not None else (),
            limit_ahead=self._ahead(task, _term(full)) if full is not None else 0,
            twin=self._twin(task),
            homed=homed,
            home=self._home(task, kind, workers, now) if homed else None,
            concurrency=concurrency,
            ahead=self._store.waiting_ahead(task) if task.status == Status.QUEUED else 0,
            supply=ability.supply(kind, task.lane, workers, now),
            slots=_slots(task.lane, workers, now),
            usual_s=task.expected_s or self._measured(task.task_type),
        )

    def _home(self, task: Task, kind: TaskType, workers: Sequence[WorkerInfo], now: int) -> home.HomeNow | None:
        found = self._store.homes([task.shop]).get(task.shop)
        return ability.at_home(found.node, kind, task.lane, workers, now) if found is not None else None

    def _running(self, what: Term) -> tuple[Task, ...]:
        terms = (what, equals("status", Status.RUNNING))
        return tuple(self._store.query(Query(terms=terms, sort="created", descending=False, limit=HOLDERS)).tasks)

    def _breaker(self, task: Task) -> Breaker | None:
        return next((one for one in self._store.breakers() if one.shop == task.shop), None)

    def _session(self, task: Task) -> ClosedSession | None:
        return next((one for one in self._store.sessions() if one.shop == task.shop), None)

    def _first_on_the_way(self, task: Task) -> Task | None:
        """The oldest of its shop that waits for a worker and is at least as urgent."""
        urgent = Term(field="priority", op=">", number=task.priority - 1)
        terms = (equals("shop", task.shop), equals("status", *sorted(UNDER_WAY)), urgent)
        found = self._store.query(Query(terms=terms, sort="created", descending=False, limit=1, want_total=False)).tasks
        return found[0] if found else None

    def _ahead(self, task: Task, where: Term, *statuses: str) -> int:
        """Tasks there that go first: the parked ones, or those in these statuses."""
        blocked = equals("status", *(statuses or (Status.BLOCKED,)))
        more_urgent = Term(field="priority", op=">", number=task.priority)
        older = (equals("priority", str(task.priority)), Term(field="created", op="<", number=task.created_at))
        asked = [(where, blocked, more_urgent), (where, blocked, *older)]
        return sum(self._store.query(Query(terms=terms, limit=1)).total or 0 for terms in asked)

    def _measured(self, task_type: str) -> float:
        """Seconds that tasks of a type took lately, 0 where none has succeeded."""
        terms = (equals("type", task_type), equals("status", Status.SUCCEEDED))
        page = self._store.query(Query(terms=terms, limit=MEASURED, want_total=False))
        took = [task.ended_at - task.started_at for task in page.tasks if task.started_at]
        return sum(took) / len(took) / 1000 if took else 0.0

    def _twin(self, task: Task) -> Task | None:
        """The task with the same work that goes first: what runs or is held, else what was created first."""
        if not task.uniq:
            return None
        waits = Term(field="gate", op="=", values=(dependency.GATE,), negated=True)  # for others; it stands back
        same = (equals("shop", task.shop), equals("uniq", task.uniq), waits)
        for statuses in ((Status.RUNNING, Status.HELD), ACTIVE - {Status.SCHEDULED}):
            terms = (*same, equals("status", *sorted(statuses)))
            found = self._store.query(Query(terms=terms, sort="created", descending=False, limit=1)).tasks
            if found:
                return None if found[0].task_id == task.task_id else found[0]
        return None

    def _needs(self, task: Task) -> tuple[explain.Need, ...]:
        """What it still waits for, each as the task that it was republished as."""
        names = self._store.needs(task.task_id)
        found = zip(names, self._store.get(names), strict=True)
        return tuple(explain.Need(name, self._now(record)) for name, record in found)

    def _now(self, record: Task | None) -> Task | None:
        while record is not None and record.successor:
            later = self._store.get([record.successor])[0]
            if later is None:
                break
            record = later
        return record


def _term(full: LimitNow) -> Term:
    head, _, name = full.limit.scope.partition(":")
    return equals(head, name)


def _slots(lane: str, workers: Iterable[WorkerInfo], now: int) -> int:
    return sum(len(info.slots) for info in workers if ability.is_alive(info, now) and lane in info.lanes)
