"""Why a task is waiting: its gates in the order in which they are tested, with the values of this moment.

Which of them it waits at is decided by ``gates``, for this task as for any list of them; here it is put into words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from services.domain.fleet.shop import Pause, scopes_of
from services.domain.fleet.worker import SILENT_AFTER_MS, SlotState
from services.domain.gates import dependency, home, listed, passing, paused
from services.domain.gates.ability import NOBODY, Supply
from services.domain.gates.breaker import Breaker
from services.domain.gates.gate import sentence
from services.domain.gates.limit import LimitNow
from services.domain.gates.passing import Pass
from services.domain.gates.session import ClosedSession
from services.domain.insight import attempts
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import NOTHING, Runs
from services.domain.insight.gates import (
    BREAKER,
    BROKER,
    DEPENDENCY,
    GATED,
    LANE_ORDER,
    MESSAGE,
    NO_WORKER,
    NOT_DUE,
    QUOTA,
    SESSION,
    SHOP_BUSY,
    TWIN,
    Gap,
    GatesNow,
)
from services.domain.insight.places import Bench
from services.domain.insight.publisher import DISK, MEMORY, REJECTS, PublisherNow
from services.domain.task import classify, lane, own_words
from services.domain.task.record import Task
from services.domain.task.status import ACTIVE, Status
from services.domain.text.counting import left_s
from services.domain.text.message import Message, Param

_NEEDS = {
    "handler": "gate.needs_handler",
    "program": "gate.needs_program",
    "setting": "gate.needs_setting",
    "executor": "gate.needs_executor",
    "willing": "gate.needs_willing",
}
#: so many workers are named, then dots
NAMED = 5
#: the verb of a person that lets one attempt of a task through
TRY_ANYWAY = "try_anyway"
OK, CLOSED, NEXT = "ok", "closed", "next"
_BEGUN = frozenset({Status.RUNNING, Status.HELD})
_FAILED: dict[str, str] = {Status.DEAD: "gate.dependency_dead", Status.CANCELLED: "gate.dependency_cancelled"}


class Need(msgspec.Struct, frozen=True):
    """A task that must succeed first: the id that was named, and the record that stands for it now."""

    name: str
    task: Task | None  #: None: its record is gone


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What was true when somebody asked."""

    now_ms: int
    needs: tuple[Need, ...] = ()  #: of what it depends on, all that has not succeeded
    pauses: tuple[Pause, ...] = ()  #: closed switches of any gate; those of other scopes are passed over
    parked: Mapping[str, int] = msgspec.field(
        default_factory=dict
    )  #: shops that a rule has paused, and until when, UTC ms
    passed: Pass | None = None  #: what lets its next attempt through some of the gates
    session: ClosedSession | None = None  #: of its shop, if it is closed
    breaker: Breaker | None = None  #: of its shop, if it is open
    holders: tuple[Task, ...] = ()  #: running tasks of the shop
    shop_ahead: int = 0  #: parked tasks of the shop that go first
    on_the_way: int = 0  #: those of its shop that wait for a worker and go first
    under_way: int = 0  #: of a parked task: all of its shop that wait for a worker
    first_on_the_way: Task | None = None
    shop_line: Mapping[str, int] = msgspec.field(default_factory=dict)  #: of those of the shop that go first, by type
    shop_arrivals: float = 0.0  #: tasks of the shop a second of late that would go first
    limits: tuple[LimitNow, ...] = ()  #: of its platform and its type
    limit_holders: tuple[Task, ...] = ()  #: running tasks that count for the first full limit
    limit_ahead: int = 0  #: parked tasks of that platform or type that go first
    twin: Task | None = None  #: the task of the same uniqueness that goes first, if that is another one
    homed: bool = False  #: it needs the browser profile of its shop
    home: home.HomeNow | None = None  #: where that is, if anywhere yet
    concurrency: int = 1
    ahead: int = 0  #: queued tasks of the same lane that go first, -1 too many to count
    urgent: int = 0  #: queued tasks of more urgent lanes
    kept: int = 0  #: slots that are kept for its lane
    lane_arrivals: float = 0.0  #: tasks a second of late that would go first in its lane, or in a more urgent one
    supply: Supply = NOBODY  #: workers for its type and lane
    slots: tuple[SlotState, ...] = ()  #: of the living workers of its lane
    bench: Bench | None = None  #: the same as places, where many tasks wait for them
    #: how long tasks run, by type and shop
    runs: Mapping[tuple[str, str], Runs] = msgspec.field(default_factory=dict)
    usual: Runs = NOTHING  #: how long such a task runs
    lane_usual: Runs = NOTHING  #: how long tasks of its lane run
    cut_off: bool = False  #: the broker does not answer, so nothing is handed to a worker
    lost_at: int = 0  #: since when it does not, UTC ms, 0 where that is not known
    way: PublisherNow = msgspec.field(default_factory=PublisherNow)  #: what is sent to the broker

    def lasts(self, task_type: str, shop: str) -> Runs:
        """How long tasks of a type run in a shop."""
        return self.runs.get((task_type, shop), NOTHING)

    @property
    def free(self) -> int:
        """Living slots of its lane without a task."""
        return sum(1 for slot in self.slots if not slot.task_id)

    @property
    def out_of_reach(self) -> bool:
        """Whether every worker of its lane is well and cannot reach the broker."""
        return self.supply.serving <= 0 < self.supply.cut_off

    def gates(self, task: Task) -> GatesNow:
        """What closes gates for this task."""
        running = len(others(task, self))
        busy = running >= self.concurrency
        parked = task.status == Status.BLOCKED
        idle = parked and not busy and running + self.under_way < self.concurrency
        shop, twin = frozenset({task.shop}), self.twin
        away = self.homed and self.home is not None and not self.home.able
        return GatesNow(
            now_ms=self.now_ms,
            pauses=self.pauses,
            passes=frozenset({task.task_id}) if self.passed is not None else frozenset(),
            sessions=shop if self.session is not None else frozenset(),
            breakers=(self.breaker,) if self.breaker is not None else (),
            busy=shop if busy else frozenset(),
            idle=shop if idle else frozenset(),
            limits=self.limits,
            twins=frozenset({task.guard}) if twin is not None and twin.status in _BEGUN else frozenset(),
            away=(Gap(),) if away else (),
            cut_off=(Gap(),) if self.out_of_reach else (),
            unserved=() if self.supply.able else (Gap(),),
            lost=self.cut_off,
            stuck=self.cut_off or self.way.stuck,
        )


class GateView(msgspec.Struct, frozen=True, kw_only=True):
    """One gate: ``ok`` is open, ``closed`` is what it waits for now, ``next`` would stop it after that one."""

    name: str
    state: str
    code: str
    params: Mapping[str, Param] = {}

    @property
    def message(self) -> Message:
        """The sentence to be rendered."""
        return Message(self.code, self.params)


def why_waiting(task: Task, facts: Facts, here: str = "") -> tuple[GateView, ...]:
    """All gates of a waiting task in their order, () for one that does not wait. ``here``: where it waits, if that was
    judged already, by more than these facts.
    """
    if task.status not in GATED:
        return ()
    here = here or facts.gates(task).gate_of(task)
    views = []
    for name, is_open, code, params in _tests(task, facts):
        if name != here:
            views.append(GateView(name=name, state=OK if is_open else NEXT, code=code, params=params))
        elif is_open and task.status == Status.BLOCKED:  # nothing else, or the facts are a moment younger
            views.append(_parked(name, task, facts))
        else:
            views.append(GateView(name=name, state=CLOSED, code=code, params=params))
    return tuple(views)


def _parked(name: str, task: Task, facts: Facts) -> GateView:
    if name == LANE_ORDER and task.gate == NO_WORKER:
        return GateView(name=name, state=CLOSED, code="gate.fetched", params={"workers": facts.supply.able})
    if name == LANE_ORDER:
        ahead = facts.shop_ahead + facts.on_the_way
        return GateView(name=name, state=CLOSED, code="gate.opened", params={"ahead": ahead})
    return GateView(name=name, state=CLOSED, code="gate.parked")


def ways(task: Task, view: GateView | None) -> tuple[tuple[str, str], ...]:
    """What a person can do right there about the gate that a task waits at: verbs, and what each is about."""
    if view is None:
        return ()
    if view.name == SESSION:
        return ("login_shop", task.shop), ("open_session", task.shop)
    switch = listed.SWITCHES.get(view.name)
    if view.name in passing.GATES:
        opens = ((switch.verb, str(view.params["scope"])),) if switch is not None and switch.verb else ()
        return *opens, (TRY_ANYWAY, task.task_id)
    if view.code in ("gate.no_worker", "gate.no_worker_at_all"):
        return (("start_worker", ""),)
    if view.name == BROKER or view.code in _UNSENT_LONG:
        return (("copy_server", ""),)
    before = view.params.get("id") if view.name == DEPENDENCY else view.params.get("twin")
    if before and view.code != "gate.dependency_gone":
        return (("open_task", f"id:{before}"),)
    return ()


def stoppable(view: GateView | None) -> str:
    """Id of the running task that a person could stop to let this one start, "" where that helps nobody: the same work
    that runs ends with what this one is for, unless it seems to hang.
    """
    if view is None or not (view.name == SHOP_BUSY or view.code == "gate.twin_hung"):
        return ""
    return str(view.params.get("holder", ""))


def closed(views: Sequence[GateView]) -> GateView | None:
    """The gate that a task waits at, None for one that does not wait."""
    return next((view for view in views if view.state == CLOSED), None)


def others(task: Task, facts: Facts) -> list[Task]:
    """Running tasks of its shop besides itself."""
    return [holder for holder in facts.holders if holder.task_id != task.task_id]


_Test = tuple[str, bool, str, dict[str, Param]]


def _tests(task: Task, facts: Facts) -> Iterator[_Test]:
    yield _due(task, facts)
    yield _dependency(task, facts)
    for gate in listed.SWITCHES:
        yield _switched(gate, task, facts)
    yield _session(task, facts)
    yield _breaker(task, facts)
    yield _shop(task, facts)
    yield _quota(task, facts)
    yield _twin(task, facts)
    if facts.homed:
        yield _home(task, facts)
    yield _message(task, facts)
    yield _broker(task, facts)
    yield _workers(task, facts)
    yield _lane(task, facts)


def _due(task: Task, facts: Facts) -> _Test:
    left = task.due_at - facts.now_ms if task.status in (Status.SCHEDULED, Status.RETRYING) else 0
    if left <= 0 and task.status == Status.SCHEDULED:
        return NOT_DUE, False, "gate.overdue", {"seconds": -left // 1000, "due_at": task.due_at, "since": task.due_at}
    if left <= 0:
        return NOT_DUE, True, "gate.due", {}
    params: dict[str, Param] = {"seconds": -(-left // 1000), "due_at": task.due_at, "until": task.due_at}
    if task.status == Status.RETRYING:
        code = "gate.retry_delay" if attempts.last(task) is None else "gate.retry_last"
        return NOT_DUE, False, code, params | {"attempt": task.attempt}
    return NOT_DUE, False, "gate.scheduled", params


def _dependency(task: Task, facts: Facts) -> _Test:
    name, count = dependency.GATE, len(task.depends_on)
    if not count:
        return name, True, "gate.no_dependency", {}
    if not facts.needs:
        return name, True, "gate.dependencies_met", {"count": count}
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


def _switched(gate: str, task: Task, facts: Facts) -> _Test:
    """Of what is closed for it the last to open by itself is told, and before that the widest that a person opens."""
    scopes = scopes_of(task.shop, task.task_type)
    closed = sorted(
        (pause for pause in facts.pauses if pause.gate == gate and pause.scope in scopes),
        key=lambda each: (each.until > 0, -each.until, scopes.index(each.scope)),
    )
    if closed and facts.passed is not None:
        return gate, True, "gate.passed", _of_pass(facts.passed)
    if closed:
        first = closed[0]
        params: dict[str, Param] = {"scope": first.scope, "by": first.by, "reason": first.reason, "since": first.at}
        params |= first.told
        if until := _of_rule(first, task, facts):
            params |= {"until": until, "seconds": left_s(until, facts.now_ms)}
            return gate, False, "gate.paused_rule", params
        if first.until:
            params |= {"until": first.until, "seconds": left_s(first.until, facts.now_ms)}
        return gate, False, sentence("gate", first, listed.SENTENCES), params
    return gate, True, f"gate.not_{gate}", {}


def _of_rule(pause: Pause, task: Task, facts: Facts) -> int:
    """Until when a known issue has paused the shop, UTC ms; 0 where it was not that."""
    named = own_words.note(pause.by) if pause.gate == paused.GATE and pause.scope == f"shop:{task.shop}" else None
    return facts.parked.get(task.shop, 0) if named is not None else 0


def _of_pass(found: Pass) -> dict[str, Param]:
    return {"by": found.by, "reason": found.reason, "since": found.at}


def _session(task: Task, facts: Facts) -> _Test:
    closed = facts.session
    if closed is None:
        return SESSION, True, "gate.no_session", {}
    seconds = max(0, facts.now_ms - closed.since) // 1000
    params: dict[str, Param] = {
        "shop": closed.shop, "kind": closed.kind, "since": closed.since, "seconds": seconds, "holder": closed.task_id,
        "worker": closed.worker, "by": closed.by, "reason": closed.note,
    }  # fmt: skip
    if closed.by:
        return SESSION, False, "gate.session_by" if closed.note else "gate.session_unsaid", params
    return SESSION, False, "gate.session_captcha" if closed.kind == classify.CAPTCHA else "gate.session_login", params


def _shop(task: Task, facts: Facts) -> _Test:
    running = others(task, facts)
    params: dict[str, Param] = {"running": len(running), "concurrency": facts.concurrency}
    if len(running) >= facts.concurrency and running:
        code, held = _held_by(running, facts)
        ahead = facts.shop_ahead + facts.on_the_way
        params |= held | {"ahead": ahead}
        if facts.twin is not None and not ahead and [one.task_id for one in running] == [facts.twin.task_id]:
            return SHOP_BUSY, False, "gate.shop_twin", params  # it is told at the gate of its twin
        return SHOP_BUSY, False, _IN_LINE[code] if ahead else code, params
    first = facts.first_on_the_way
    if task.status == Status.BLOCKED and first is not None:
        seconds = max(0, facts.now_ms - first.created_at) // 1000
        params |= {
            "first": first.task_id, "seconds": seconds, "since": first.created_at, "count": facts.on_the_way,
            "ahead": facts.shop_ahead,
        }  # fmt: skip
        return SHOP_BUSY, False, "gate.shop_queue", params
    return SHOP_BUSY, True, "gate.shop_free", params


#: how far the same work is, by what is said of a shop where it runs
_TWIN_RUNS = {
    "gate.shop_hung": "gate.twin_hung",
    "gate.shop_busy_done": "gate.twin_running_done",
    "gate.shop_held_done": "gate.twin_running_done",
}
#: the same with how many go first
_IN_LINE = {
    "gate.shop_busy": "gate.shop_busy_line",
    "gate.shop_busy_done": "gate.shop_busy_done_line",
    "gate.shop_hung": "gate.shop_hung_line",
    "gate.shop_held": "gate.shop_held_line",
    "gate.shop_held_done": "gate.shop_held_done_line",
    "gate.shop_held_long": "gate.shop_held_long_line",
}


def _held_by(holders: Sequence[Task], facts: Facts) -> tuple[str, dict[str, Param]]:
    """The task that is likely to end first, how far it is, and how such tasks usually last."""
    first = min(holders, key=lambda holder: holder.started_at)
    seconds = max(0, facts.now_ms - first.started_at) // 1000
    params: dict[str, Param] = {
        "holder": first.task_id, "work": first.task_type, "worker": first.worker, "since": first.started_at,
        "seconds": seconds,
    }  # fmt: skip
    usual = facts.lasts(first.task_type, first.shop)
    measured = usual.known and usual.basis == durations.MEASURED  # what the type says of itself is not what is usual
    if measured:
        params["usual_s"] = round(usual.usual_s, 1)
    if usual.hangs(seconds, first.progress):
        return "gate.shop_hung", params
    if 0 <= first.progress < 100:
        code = "gate.shop_held_done" if measured else "gate.shop_busy_done"
        return code, params | {"progress": first.progress}
    if not measured:
        return "gate.shop_busy", params
    return "gate.shop_held_long" if usual.left(seconds).overdue else "gate.shop_held", params


def _breaker(task: Task, facts: Facts) -> _Test:
    found = facts.breaker
    if found is None:
        return BREAKER, True, "gate.no_breaker", {}
    if facts.passed is not None:
        return BREAKER, True, "gate.passed", _of_pass(facts.passed)
    params: dict[str, Param] = {
        "failed": found.failed, "of": len(found.outcomes), "kind": found.kind, "since": found.since,
        "ahead": facts.shop_ahead,
    }  # fmt: skip
    left = found.until - facts.now_ms
    if left > 0:
        ends = {"seconds": -(-left // 1000), "due_at": found.until, "until": found.until}
        return BREAKER, False, "gate.breaker", params | ends
    probes = others(task, facts)
    if probes:
        return BREAKER, False, "gate.breaker_tried", params | {"holder": probes[0].task_id, "worker": probes[0].worker}
    return BREAKER, task.status != Status.BLOCKED, "gate.breaker_try", params


def _quota(task: Task, facts: Facts) -> _Test:
    full = next((one for one in facts.limits if one.full), None)
    if full is None:
        code = "gate.quota" if facts.limits else "gate.no_quota"
        return QUOTA, True, code, {}
    used = full.running + full.promised
    params: dict[str, Param] = {"scope": full.limit.scope, "ahead": facts.limit_ahead}
    if 0 < full.limit.concurrency <= used:
        params |= {"used": used, "limit": full.limit.concurrency}
        if not facts.limit_holders:
            return QUOTA, False, "gate.quota_promised", params
        return QUOTA, False, "gate.quota_running", params | _held_by(facts.limit_holders, facts)[1]
    seconds = max(0, -(-(full.resets_at - facts.now_ms) // 1000)) if full.resets_at else 0
    params |= {"used": full.started + full.promised, "limit": full.limit.per_minute}
    ends = {"resets_at": full.resets_at, "seconds": seconds} | ({"until": full.resets_at} if full.resets_at else {})
    return QUOTA, False, "gate.quota_starts", params | ends


def _twin(task: Task, facts: Facts) -> _Test:
    front = facts.twin
    if front is not None:
        params: dict[str, Param] = {"twin": front.task_id, "status": front.status}
        if front.status == Status.RUNNING:
            code, held = _held_by((front,), facts)
            return TWIN, False, _TWIN_RUNS.get(code, "gate.twin_running"), params | held
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


def _message(task: Task, facts: Facts) -> _Test:
    if task.status == Status.PENDING:
        params: dict[str, Param] = {"since": task.updated_at or task.created_at}
        if facts.cut_off:
            return MESSAGE, False, "gate.unsent_lost", params
        if facts.way.blocked:
            return MESSAGE, False, _UNSENT.get(facts.way.kind, "gate.unsent_held"), params
        if facts.way.kind == REJECTS and _queue(task) in facts.way.why.split(", "):
            return MESSAGE, False, "gate.unsent_rejected", params | {"queues": facts.way.why}
        return MESSAGE, False, "gate.unconfirmed", params
    if task.status in (Status.BLOCKED, Status.SCHEDULED):
        return MESSAGE, True, "gate.parked_message", {}
    if _delayed(task, facts):
        return MESSAGE, True, "gate.delayed_message", {}
    return MESSAGE, True, "gate.confirmed", {}


def _queue(task: Task) -> str:
    """Where its message is to lie."""
    return lane.shop_queue(task.queue) if task.queue else f"{lane.LANE_QUEUE}{task.lane}"


def _delayed(task: Task, facts: Facts) -> bool:
    """Whether it waits for the time of its next attempt, in no lane before that."""
    return task.status == Status.RETRYING and task.due_at > facts.now_ms


#: recorded and not sent until whoever runs the broker has done something
_UNSENT_LONG = frozenset(
    {"gate.unsent_lost", "gate.unsent_held", "gate.unsent_disk", "gate.unsent_memory", "gate.unsent_rejected"}
)
#: recorded and not sent, by what the broker lacks
_UNSENT = {DISK: "gate.unsent_disk", MEMORY: "gate.unsent_memory"}


def _broker(task: Task, facts: Facts) -> _Test:
    supply = facts.supply
    params: dict[str, Param] = {"workers": supply.cut_off, "lane": task.lane}
    if facts.cut_off:
        return BROKER, False, *_lost(facts.lost_at or supply.lost_at, params, facts)
    if facts.out_of_reach:  # the workers are well: what is lost is the broker, and nobody has to start one
        seconds = max(0, facts.now_ms - supply.lost_at) // 1000
        return BROKER, False, "gate.workers_cut_off", params | {"since": supply.lost_at, "seconds": seconds}
    return BROKER, True, "gate.broker", {}


def _workers(task: Task, facts: Facts) -> _Test:
    supply = facts.supply
    params: dict[str, Param]
    if facts.out_of_reach:  # it is there; what it lacks is told at the gate before
        return NO_WORKER, True, "gate.workers", {"workers": supply.cut_off}
    if supply.serving <= 0:
        code = "gate.no_worker" if supply.seen else "gate.no_worker_at_all"
        return NO_WORKER, False, code, {"lane": task.lane}
    if supply.able <= 0:
        names = ", ".join(supply.seen[:NAMED]) + (" …" if len(supply.seen) > NAMED else "")
        params = {"type": task.task_type, "need": supply.need, "workers": names}
        return NO_WORKER, False, _NEEDS.get(supply.needs, "gate.needs_executor"), params
    return NO_WORKER, True, "gate.workers", {"workers": supply.able}


def _lost(since: int, params: dict[str, Param], facts: Facts) -> tuple[str, dict[str, Param]]:
    """That the broker does not answer, and since when where that is known."""
    if not since:
        return "gate.cut_off", params
    return "gate.cut_off_for", params | {"since": since, "seconds": max(0, facts.now_ms - since) // 1000}


def _not_in_lane(task: Task, facts: Facts) -> str:
    """What is said of a task that has no place in its lane yet, "" for one that has."""
    if task.status == Status.BLOCKED:
        return "gate.lane_parked"
    if task.status == Status.SCHEDULED or _delayed(task, facts):
        return "gate.lane_later"
    unsent = task.status == Status.PENDING and (facts.cut_off or facts.way.stuck)
    return "gate.lane_unsent" if unsent else ""


def _lane(task: Task, facts: Facts) -> _Test:
    if ahead := _not_in_lane(task, facts):
        return LANE_ORDER, True, ahead, {}
    params: dict[str, Param] = {
        "lane": task.lane, "ahead": facts.ahead, "urgent": facts.urgent, "slots": len(facts.slots), "free": facts.free,
    }  # fmt: skip
    if facts.ahead < 0:
        return LANE_ORDER, False, "gate.in_lane", {"lane": task.lane, "slots": len(facts.slots), "free": facts.free}
    if facts.urgent > 0:
        return LANE_ORDER, False, "gate.behind_lanes", params
    if facts.ahead > 0:
        return LANE_ORDER, False, "gate.behind", params
    if not facts.slots:
        return LANE_ORDER, True, "gate.next", params
    return LANE_ORDER, facts.free > 0, "gate.front" if facts.free else "gate.front_full", params
