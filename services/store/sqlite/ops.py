"""The operations of ``services.domain.change`` on SQLite: look at the record, decide, store what follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from services.domain.change import (
    DONE,
    Annotate,
    Answer,
    Cancel,
    Claim,
    CloseBreaker,
    CloseSession,
    Create,
    Finish,
    Forget,
    GiveUp,
    Move,
    Nudge,
    Op,
    OpenLimit,
    OpenSession,
    OpenShop,
    Postpone,
    Progress,
    Published,
    Rehome,
    Relink,
    Renew,
    Republish,
    Resolve,
    Route,
    SetTriage,
    TellDependants,
    Try,
)
from services.domain.errors import TaskError
from services.domain.gates import dependency
from services.domain.task import transitions
from services.domain.task.record import FORCED, Task
from services.domain.task.status import ACTIVE, CANCELLABLE, MOVABLE, TERMINAL, WITH_MARK, Status, Triage
from services.store.sqlite import claims, remarks
from services.store.sqlite.gates.dependencies import conclude, find_needs, forget_needs, gate_of_plan, note_needs
from services.store.sqlite.gates.gates import first_gate, open_shop, try_anyway
from services.store.sqlite.gates.lots import key_of, shop_key
from services.store.sqlite.session import CLEAR_MARK, KEEP_MARK, SET_MARK, Session
from services.store.sqlite.upkeep import forget, overtaken, relink, repair
from services.store.sqlite.upkeep.repair import MISSING, STALE

FENCED = Answer("fenced")
#: what may stand beside an active twin, and how that is noted
_BESIDE = {"queue": "queued", "force": "forced", "hold": "held"}
#: they name no task
_OF_SHOPS = (Create, OpenShop, OpenLimit, CloseBreaker, CloseSession, OpenSession)


def apply(session: Session, ops: Sequence[Op]) -> list[Answer]:
    """Answers at the operations' places; the session is not flushed yet."""
    _prepare(session, ops)
    return [_step(session, op) for op in ops]


def _step(session: Session, op: Op) -> Answer:
    answer = _HANDLERS[type(op)](session, op)
    if closed := overtaken.close(session):
        answer = replace(answer, released=(*answer.released, *closed))
    if session.dropped:
        answer = replace(answer, ended=tuple(session.dropped))
        session.dropped = []
    return answer


def check(ops: Sequence[Op]) -> None:
    """Refuse a batch with something in it that is no operation, before anything is changed.

    Raises:
        TaskError: the text names the type.
    """
    for op in ops:
        if type(op) not in _HANDLERS:
            raise TaskError(f"{type(op).__name__} is not an operation of the store")


def _prepare(session: Session, ops: Sequence[Op]) -> None:
    """Read in a few statements what the batch will look at."""
    fresh = [op.task for op in ops if isinstance(op, Create | Republish)]
    session.stones.load([op.task.task_id for op in ops if isinstance(op, Create)])
    named: list[Any] = [op for op in ops if not isinstance(op, _OF_SHOPS)]
    session.load([task.task_id for task in fresh] + [op.task_id for op in named])
    touched = [
        task
        for op in named
        if isinstance(op, Claim | Finish | Cancel | Move | Resolve | GiveUp)
        and (task := session.get(op.task_id) or getattr(op, "adopt", None)) is not None
    ]
    opened = {shop_key(op.shop) for op in ops if isinstance(op, OpenShop)}
    session.load_shops(opened | {key_of(task) for task in (*fresh, *touched)})
    session.load_uniqs({task.guard for task in (*fresh, *touched)})
    ends = {op.task_id for op in named if isinstance(op, Finish | Resolve) and op.to == Status.SUCCEEDED}
    session.works.load({task.work for task in touched if task.task_id in ends})


# ------------------------------------------------------------------- life of a task
def _create(session: Session, op: Create) -> Answer:
    record = session.get(op.task.task_id)
    if record is not None:
        return Answer("created" if transitions.same_creation(record, op.task) else "exists", record)
    stone = session.stones.get(op.task.task_id)
    if stone is not None and (stone.status != Status.DEAD or op.task.status == Status.QUEUED):
        return Answer("exists")
    if stone is not None:
        session.stones.remove(op.task.task_id)
    return _admit(session, op.task, op.on_duplicate, op.done_since)


def _admit(session: Session, task: Task, on_duplicate: str, done_since: int) -> Answer:
    """Store a new record, or name the active task that stands in its way."""
    held_by = session.holder(task.guard) if task.guard and task.status in ACTIVE else None
    if held_by is not None and on_duplicate not in _BESIDE:
        remarks.suppress(session, task, "refused", held_by)
        return Answer("duplicate", session.get(held_by))
    if (done := session.works.done(task, done_since)) is not None:
        return Answer(DONE, session.get(done.task_id))
    if held_by is not None:
        remarks.suppress(session, task, _BESIDE[on_duplicate], held_by)
        task = _beside(task, on_duplicate)
    found = find_needs(session, task) if task.depends_on else ([], None)
    if found is None:
        return Answer("unknown")
    needs, broken = found
    if needs and task.status == Status.PENDING:
        task = replace(task, status=Status.BLOCKED, gate=dependency.GATE)
    elif task.status == Status.PENDING and (gate := first_gate(session, task)):
        task = replace(task, status=Status.BLOCKED, gate=gate)
    if task.deadline:
        session.conn.execute("INSERT OR REPLACE INTO deadlines VALUES (?, ?)", (task.task_id, task.deadline))
    _introduce(session, task)
    mark = SET_MARK if task.status == Status.PENDING else CLEAR_MARK
    fresh = session.put(transitions.created(task, session.now), mark)
    return Answer("created", *note_needs(session, fresh, needs, broken)) if needs else Answer("created", fresh)


def _beside(task: Task, on_duplicate: str) -> Task:
    """As it stands beside an active task that holds its key."""
    if on_duplicate == "queue":
        return replace(task, marks=transitions.marked(task, "twin"))
    if on_duplicate == "hold":
        return transitions.held_twin(task)
    return replace(task, marks=transitions.marked(task, "forced"), uniq=FORCED + task.uniq)


def _introduce(session: Session, task: Task) -> None:
    """The shop of a new task is known from now on; one that nobody worked for may be a misspelt word in a letter."""
    if task.status not in TERMINAL:
        session.register(key_of(task))


def _published(session: Session, op: Published) -> Answer:
    task = session.get(op.task_id)
    if task is None or (task.status, task.gen, task.attempt) != (op.status, op.gen, op.attempt):
        return STALE
    if task.status == Status.PENDING:
        task = transitions.queued(task, session.now)
    elif task.status == Status.QUEUED and session.is_marked(op.task_id):
        task = replace(task, queued_at=session.now)
    return Answer("ok", session.put(task, CLEAR_MARK))


def _finish(session: Session, op: Finish) -> Answer:
    task = session.get(op.task_id)
    if task is None:
        return MISSING
    if task.status != Status.RUNNING or task.owner != op.owner:
        number, worker, started_at = op.attempt.number, op.attempt.worker, op.attempt.started_at
        back = None if op.if_expired else _take_back(session, task, op.owner, number, worker, started_at, 0)
        if back is None:
            return _late(session, task, op)
        task = back
    if op.if_expired and task.lease_until > session.now:
        return Answer("fenced", task)
    if op.to == Status.BLOCKED:
        op = replace(op, to=session.logins.ended(task, op))
    ended = transitions.finished(task, op, session.now)
    session.breakers.finished(task, op, ended)
    session.put(ended, SET_MARK if ended.status in WITH_MARK else CLEAR_MARK)
    return Answer("ok", ended, conclude(session, ended))


def _late(session: Session, task: Task, op: Finish) -> Answer:
    if transitions.recorded(task, op):
        return Answer("ok", task)
    return Answer("fenced", task if op.if_expired else session.put(transitions.evidence(task, op.attempt)))


def _take_back(
    session: Session, task: Task, owner: str, number: int, worker: str, started_at: int, lease_until: int
) -> Task | None:
    """Let a claim stand that the store has forgotten."""
    back = transitions.taken_back(task, owner, number, worker, started_at, lease_until, session.now)
    if back is None:
        return None
    session.unreserve(task)
    forget_needs(session, task.task_id)
    return session.put(back, CLEAR_MARK)


def _renew(session: Session, op: Renew) -> Answer:
    task = session.get(op.task_id)
    if task is None:
        return FENCED
    until = session.now + op.lease_ms
    if task.status != Status.RUNNING or task.owner != op.owner:
        back = _take_back(session, task, op.owner, op.attempt, op.worker, op.started_at, until)
        return FENCED if back is None else Answer("ok", back)
    return Answer("ok", session.put(replace(task, lease_until=until)))


def _progress(session: Session, op: Progress) -> Answer:
    task = session.get(op.task_id)
    if task is None or task.status != Status.RUNNING or task.owner != op.owner:
        return FENCED
    return Answer("ok", session.put(transitions.progressed(task, op)))


# -------------------------------------------------------------------- what people ask
def _cancel(session: Session, op: Cancel) -> Answer:
    task = session.get(op.task_id)
    if task is None:
        return MISSING
    if task.status == Status.RUNNING:
        asked = task if task.cancel else session.put(transitions.cancel_requested(task, op, session.now))
        return Answer("requested", asked)
    if task.status not in CANCELLABLE:
        return Answer("ok" if task.status == Status.CANCELLED else "refused", task)
    session.unreserve(task)
    ended = session.put(transitions.cancelled(task, op, session.now), CLEAR_MARK)
    forget_needs(session, task.task_id)
    return Answer("ok", ended, conclude(session, ended))


def _move(session: Session, op: Move) -> Answer:
    task = session.get(op.task_id)
    if task is None:
        return MISSING
    if task.status not in MOVABLE:
        return Answer("refused", task)
    gate = gate_of_plan(session, replace(task, lane=op.lane, priority=op.priority))
    after = transitions.moved(task, op, session.now, gate=gate)
    mark = CLEAR_MARK if after.status == Status.BLOCKED else KEEP_MARK
    session.put(after, SET_MARK if after.status in WITH_MARK else mark)
    released = open_shop(session, key_of(task)) if task.status == Status.BLOCKED else ()
    return Answer("ok", session.get(op.task_id), released)


def _republish(session: Session, op: Republish) -> Answer:
    dead = session.get(op.task_id)
    if dead is None:
        return MISSING
    if dead.successor and dead.successor == op.task.task_id:
        return Answer("ok", session.get(dead.successor))
    closed = dead.status != Status.DEAD or dead.triage == Triage.REPUBLISHED
    if closed or session.get(op.task.task_id) is not None:
        return Answer("refused", dead)
    admitted = _admit(session, op.task, op.on_duplicate, op.done_since)
    if admitted.code != "created":
        return admitted
    session.put(transitions.republished(dead, op.task.task_id, op.by, session.now))
    return Answer("ok", admitted.task, admitted.released)


def _set_triage(session: Session, op: SetTriage) -> Answer:
    task = session.get(op.task_id)
    if task is None:
        return MISSING
    settable = op.triage in (Triage.OPEN, Triage.ARCHIVED, Triage.IGNORED)
    if task.status != Status.DEAD or task.triage == Triage.REPUBLISHED or not settable:
        return Answer("refused", task)
    return Answer("ok", session.put(transitions.triaged(task, op, session.now)))


def _resolve(session: Session, op: Resolve) -> Answer:
    task = session.get(op.task_id)
    if task is None:
        return MISSING
    if task.status != Status.HELD or op.to not in (Status.PENDING, Status.SUCCEEDED, Status.DEAD):
        return Answer("ok" if transitions.resolved_already(task, op) else "refused", task)
    after = transitions.resolved(task, op, session.now)
    session.put(after, SET_MARK if after.status in WITH_MARK else CLEAR_MARK)
    return Answer("ok", after, conclude(session, after))


_HANDLERS: dict[type[Op], Callable[[Session, Any], Answer]] = {
    Create: _create,
    Published: _published,
    Claim: claims.claim,
    Finish: _finish,
    Renew: _renew,
    Progress: _progress,
    Cancel: _cancel,
    Move: _move,
    Republish: _republish,
    SetTriage: _set_triage,
    Resolve: _resolve,
    Nudge: repair.nudge,
    GiveUp: repair.give_up,
    Postpone: repair.postpone,
    Route: repair.route,
    Rehome: repair.rehome,
    OpenShop: repair.open_shop,
    OpenLimit: repair.open_limit,
    CloseBreaker: repair.close_breaker,
    CloseSession: lambda session, op: session.logins.close(op),
    OpenSession: lambda session, op: session.logins.open(op),
    TellDependants: repair.tell_again,
    Relink: relink.relink,
    Forget: forget.forget,
    Annotate: remarks.annotate,
    Try: try_anyway,
}
