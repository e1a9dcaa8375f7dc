"""Why a task is waiting: its gates in the order in which they are tested, with the values of this moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from services.domain import breaker, classify, dependency, home, limit, session
from services.domain.ability import NOBODY, Supply
from services.domain.breaker import Breaker
from services.domain.limit import LimitNow
from services.domain.message import Message, Param
from services.domain.session import ClosedSession
from services.domain.shop import SCOPE_ALL, Pause
from services.domain.status import ACTIVE, Status
from services.domain.task import Task
from services.domain.worker import SILENT_AFTER_MS

NOT_DUE, PAUSED, SHOP_BUSY, TWIN = "not_due", "paused", "shop_busy", "twin"
MESSAGE, NO_WORKER, LANE_ORDER = "message", home.NO_WORKER, "lane_order"
SESSION, BREAKER, QUOTA = session.GATE, breaker.GATE, limit.GATE
#: the order of testing
GATES = (
    *(NOT_DUE, dependency.GATE, PAUSED, SESSION, BREAKER, SHOP_BUSY, QUOTA, TWIN, home.GATE, MESSAGE),
    *(NO_WORKER, LANE_ORDER),
)
_NEEDS = {
    "handler": "gate.needs_handler",
    "program": "gate.needs_program",
    "executor": "gate.needs_executor",
    "willing": "gate.needs_willing",
}
#: so many workers are named, then dots
NAMED = 5
OK, CLOSED, NEXT = "ok", "closed", "next"
_FAILED: dict[str, str] = {Status.DEAD: "gate.dependency_dead", Status.CANCELLED: "gate.dependency_cancelled"}
#: gates that keep a task in its shop's lot
_OF_LOT = frozenset({PAUSED, SESSION, BREAKER, SHOP_BUSY, QUOTA, TWIN})
_PARKED = "gate.parked"
_NOT_WAITING = frozenset({Status.RUNNING, Status.HELD})


@dataclass(frozen=True, slots=True)
class Need:
    """A task that must succeed first: the id that was named, and the record that stands for it now."""

    name: str
    task: Task | None  #: None: its record is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was true when somebody asked."""

    now_ms: int
    needs: tuple[Need, ...] = ()  #: of what it depends on, all that has not succeeded
    pauses: tuple[Pause, ...] = ()  #: closed switches; those of other scopes are passed over
    session: ClosedSession | None = None  #: of its shop, if it is closed
    breaker: Breaker | None = None  #: of its shop, if it is open
    holders: tuple[Task, ...] = ()  #: running tasks of the shop
    shop_ahead: int = 0  #: parked tasks of the shop that go first
    on_the_way: int = 0  #: of a parked task: those of its shop that wait for a worker and go first
    first_on_the_way: Task | None = None
    limits: tuple[LimitNow, ...] = ()  #: of its platform and its type
    limit_holders: tuple[Task, ...] = ()  #: running tasks that count for the first full limit
    limit_ahead: int = 0  #: parked tasks of that platform or type that go first
    twin: Task | None = None  #: the task of the same uniqueness that goes first, if that is another one
    homed: bool = False  #: it needs the browser profile of its shop
    home: home.HomeNow | None = None  #: where that is, if anywhere yet
    concurrency: int = 1
    ahead: int = 0  #: queued tasks of the same lane that go first
    supply: Supply = NOBODY  #: workers for its type and lane
    slots: int = 0  #: of the workers of its lane
    usual_s: float = 0.0  #: how long such a task runs, 0 unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class GateView:
    """One gate: ``ok`` is open, ``closed`` is what it waits for now, ``next`` would stop it after that one."""

    name: str
    state: str
    code: str
    params: Mapping[str, Param] = field(default_factory=dict)

    @property
    def message(self) -> Message:
        """The sentence to be rendered."""
        return Message(self.code, self.params)


def why_waiting(task: Task, facts: Facts) -> tuple[GateView, ...]:
    """All gates of a waiting task in their order, () for one that does not wait."""
    if task.status not in ACTIVE or task.status in _NOT_WAITING:
        return ()
    views: list[GateView] = []
    blocked = False
    tests = tuple(_tests(task, facts))
    if any(name in _OF_LOT and name != task.gate and not is_open for name, is_open, _, _ in tests):
        # the record names the gate that it met first; where that one is open by now, the facts know better
        tests = tuple(_tests(replace(task, gate="") if task.gate in _OF_LOT else task, facts))
    for name, is_open, code, params in tests:
        state = OK if is_open else NEXT if blocked else CLOSED
        blocked = blocked or not is_open
        views.append(GateView(name=name, state=state, code=code, params=params))
    return tuple(views)


_Test = tuple[str, bool, str, dict[str, Param]]


def _tests(task: Task, facts: Facts) -> Iterator[_Test]:
    yield _due(task, facts)
    yield _dependency(task, facts)
    yield _paused(task, facts)
    yield _session(task, facts)
    yield _breaker(task, facts)
    yield _shop(task, facts)
    yield _quota(task, facts)
    yield _twin(task, facts)
    if facts.homed:
        yield _home(task, facts)
    yield _message(task)
    yield _workers(task, facts)
    yield _lane(task, facts)


def _due(task: Task, facts: Facts) -> _Test:
    left = max(0, task.due_at - facts.now_ms) if task.status in (Status.SCHEDULED, Status.RETRYING) else 0
    if not left:
        return NOT_DUE, True, "gate.due", {}
    seconds = -(-left // 1000)
    if task.status == Status.RETRYING:
        return NOT_DUE, False, "gate.retry_delay", {"seconds": seconds, "attempt": task.attempt, "due_at": task.due_at}
    return NOT_DUE, False, "gate.scheduled", {"seconds": seconds, "due_at": task.due_at}


def _dependency(task: Task, facts: Facts) -> _Test:
    name, count = dependency.GATE, len(task.depends_on)
    if not count:
        return name, True, "gate.no_dependency", {}
    if not facts.needs:
        return _parked(task, name) or (name, True, "gate.dependencies_met", {"count": count})
    first = min(facts.needs, key=_hopeless)
    params: dict[str, Param] = {"open": len(facts.needs), "count": count, "id": first.name}
    if first.task is None:
        return name, False, "gate.dependency_gone", params
    params |= {"id": first.task.task_id, "status": first.task.status}
    waiting = "gate.dependency" if len(facts.needs) == 1 else "gate.dependencies"
    return name, False, _FAILED.get(first.task.status, waiting), params


def _hopeless(need: Need) -> tuple[bool, str]:
    """What will not succeed by itself comes first: a person has to know of it."""
    return need.task is not None and need.task.status in ACTIVE, need.name


def _paused(task: Task, facts: Facts) -> _Test:
    scopes = (SCOPE_ALL, f"platform:{task.platform}", f"shop:{task.shop}", f"type:{task.task_type}")
    closed = sorted(
        (pause for pause in facts.pauses if pause.scope in scopes), key=lambda each: scopes.index(each.scope)
    )
    if closed:
        first = closed[0]
        params: dict[str, Param] = {"scope": first.scope, "by": first.by, "reason": first.reason, "since": first.at}
        return PAUSED, False, "gate.paused", params
    return _parked(task, PAUSED) or (PAUSED, True, "gate.not_paused", {})


def _session(task: Task, facts: Facts) -> _Test:
    closed = facts.session
    if closed is None:
        return _parked(task, SESSION) or (SESSION, True, "gate.no_session", {})
    seconds = max(0, facts.now_ms - closed.since) // 1000
    params: dict[str, Param] = {
        "shop": closed.shop, "kind": closed.kind, "since": closed.since, "seconds": seconds, "holder": closed.task_id,
        "worker": closed.worker, "by": closed.by, "reason": closed.note,
    }  # fmt: skip
    if closed.by:
        return SESSION, False, "gate.session_by" if closed.note else "gate.session_unsaid", params
    return SESSION, False, "gate.session_captcha" if closed.kind == classify.CAPTCHA else "gate.session_login", params


def _shop(task: Task, facts: Facts) -> _Test:
    others = [holder for holder in facts.holders if holder.task_id != task.task_id]
    params: dict[str, Param] = {"running": len(others), "concurrency": facts.concurrency}
    if len(others) >= facts.concurrency and others:
        params |= _held_by(others, facts) | {"ahead": facts.shop_ahead + facts.on_the_way}
        return SHOP_BUSY, False, "gate.shop_busy", params
    first = facts.first_on_the_way
    if task.gate == SHOP_BUSY and first is not None:
        seconds = max(0, facts.now_ms - first.created_at) // 1000
        params |= {"first": first.task_id, "seconds": seconds, "count": facts.on_the_way, "ahead": facts.shop_ahead}
        return SHOP_BUSY, False, "gate.shop_queue", params
    return _parked(task, SHOP_BUSY) or (SHOP_BUSY, True, "gate.shop_free", params)


def _held_by(holders: Sequence[Task], facts: Facts) -> dict[str, Param]:
    first = min(holders, key=lambda holder: holder.started_at)
    seconds = max(0, facts.now_ms - first.started_at) // 1000
    return {"holder": first.task_id, "worker": first.worker, "since": first.started_at, "seconds": seconds}


def _breaker(task: Task, facts: Facts) -> _Test:
    found = facts.breaker
    if found is None:
        return _parked(task, BREAKER) or (BREAKER, True, "gate.no_breaker", {})
    params: dict[str, Param] = {
        "failed": found.failed, "of": len(found.outcomes), "kind": found.kind, "since": found.since,
        "ahead": facts.shop_ahead,
    }  # fmt: skip
    left = found.until - facts.now_ms
    if left > 0:
        return BREAKER, False, "gate.breaker", params | {"seconds": -(-left // 1000), "due_at": found.until}
    probes = [holder for holder in facts.holders if holder.task_id != task.task_id]
    if probes:
        return BREAKER, False, "gate.breaker_tried", params | {"holder": probes[0].task_id, "worker": probes[0].worker}
    return BREAKER, not facts.shop_ahead, "gate.breaker_try", params


def _quota(task: Task, facts: Facts) -> _Test:
    full = next((one for one in facts.limits if one.full), None)
    if full is None:
        code = "gate.quota" if facts.limits else "gate.no_quota"
        return _parked(task, QUOTA) or (QUOTA, True, code, {})
    used = full.running + full.promised
    params: dict[str, Param] = {"scope": full.limit.scope, "ahead": facts.limit_ahead}
    if 0 < full.limit.concurrency <= used:
        params |= {"used": used, "limit": full.limit.concurrency}
        if not facts.limit_holders:
            return QUOTA, False, "gate.quota_promised", params
        return QUOTA, False, "gate.quota_running", params | _held_by(facts.limit_holders, facts)
    seconds = max(0, -(-(full.resets_at - facts.now_ms) // 1000)) if full.resets_at else 0
    params |= {"used": full.started + full.promised, "limit": full.limit.per_minute}
    return QUOTA, False, "gate.quota_starts", params | {"resets_at": full.resets_at, "seconds": seconds}


def _twin(task: Task, facts: Facts) -> _Test:
    front = facts.twin
    if front is not None:
        params: dict[str, Param] = {"twin": front.task_id, "status": front.status}
        if front.status == Status.RUNNING:
            seconds = max(0, facts.now_ms - front.started_at) // 1000
            params |= {"worker": front.worker, "since": front.started_at, "seconds": seconds}
            return TWIN, False, "gate.twin_running", params
        return TWIN, False, "gate.twin_held" if front.status == Status.HELD else "gate.twin_first", params
    if task.status == Status.BLOCKED and task.gate == TWIN:
        return TWIN, False, "gate.twin", {}
    return TWIN, True, "gate.no_twin", {}


def _home(task: Task, facts: Facts) -> _Test:
    now = facts.home
    if now is None:
        return home.GATE, True, "gate.home_none", {}
    params: dict[str, Param] = {"node": now.node}
    if not now.alive and not now.seen_at:
        return home.GATE, False, "gate.home_gone", params
    silent = facts.now_ms - now.seen_at
    if not now.alive and silent > SILENT_AFTER_MS:
        return home.GATE, False, "gate.home_silent", params | {"since": now.seen_at, "seconds": silent // 1000}
    if not now.able:
        return home.GATE, False, "gate.home_rests", params | {"type": task.task_type, "lane": task.lane}
    if task.status == Status.BLOCKED and home.node_of(task.gate):
        return home.GATE, False, "gate.home_fetched", params
    return home.GATE, True, "gate.home", params | {"workers": now.able}


def _parked(task: Task, name: str) -> _Test | None:
    """The record says so although the facts, read a moment later, do not show it any more."""
    if task.status == Status.BLOCKED and task.gate == name:
        return name, False, _PARKED, {}
    return None


def _message(task: Task) -> _Test:
    if task.status == Status.PENDING:
        return MESSAGE, False, "gate.unconfirmed", {"since": task.updated_at or task.created_at}
    if task.status in (Status.BLOCKED, Status.SCHEDULED):
        return MESSAGE, True, "gate.parked_message", {}
    return MESSAGE, True, "gate.confirmed", {}


def _workers(task: Task, facts: Facts) -> _Test:
    supply = facts.supply
    if supply.serving <= 0:
        return NO_WORKER, False, "gate.no_worker", {"lane": task.lane}
    if supply.able <= 0:
        names = ", ".join(supply.seen[:NAMED]) + (" …" if len(supply.seen) > NAMED else "")
        params: dict[str, Param] = {"type": task.task_type, "need": supply.need, "workers": names}
        return NO_WORKER, False, _NEEDS.get(supply.needs, "gate.needs_executor"), params
    if task.status == Status.BLOCKED and task.gate == NO_WORKER:
        return NO_WORKER, False, "gate.fetched", {"workers": supply.able}
    return NO_WORKER, True, "gate.workers", {"workers": supply.able}


def _lane(task: Task, facts: Facts) -> _Test:
    if task.status != Status.QUEUED:
        return LANE_ORDER, True, "gate.lane_later", {}
    if facts.ahead > 0:
        return LANE_ORDER, False, "gate.behind", {"ahead": facts.ahead, "lane": task.lane}
    return LANE_ORDER, True, "gate.front", {"lane": task.lane}
