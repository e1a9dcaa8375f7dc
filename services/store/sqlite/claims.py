"""Claims on SQLite: whether a delivered task may start, and where it waits if not."""

from __future__ import annotations

from msgspec.structs import replace

from services.domain.change import Answer, Claim
from services.domain.gates import home, limit
from services.domain.task import transitions
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.store.sqlite import remarks
from services.store.sqlite.gates import waiting
from services.store.sqlite.gates.dependencies import conclude, forget_needs
from services.store.sqlite.gates.gates import closed_gate
from services.store.sqlite.gates.homes import UNREAD
from services.store.sqlite.gates.lots import key_of
from services.store.sqlite.session import CLEAR_MARK, Session
from services.store.sqlite.upkeep.repair import MISSING

_EXCUSED = frozenset({"forced", transitions.AGAIN})


def claim(session: Session, op: Claim) -> Answer:
    """Take the lease, or name the closed gate."""
    record = session.get(op.task_id)
    known = record is not None
    task = record or _adopt(session, op)
    if isinstance(task, Answer):
        return task
    code = _answer_without_gates(task, op)
    noticed = op.adopt is not None and transitions.NOTICED in task.marks
    if noticed:
        task = session.put(transitions.unnoticed(task))
    if code:
        return Answer("stale" if noticed and code == "ended" else code, task)
    if known and not noticed:
        session.delivered(task)
    key = key_of(task)
    session.register(key)
    if op.foreign_done:
        session.unreserve(task)
        done = session.put(transitions.foreign_done(task, session.now), CLEAR_MARK)
        forget_needs(session, task.task_id)
        return Answer("ended", done, conclude(session, done))
    released: list[Task] = []
    gate, scope = closed_gate(session, task, released)
    gate = gate or _of_worker(session, task, op)
    if gate:
        return Answer("blocked", _park(session, task, gate, scope, released), tuple(released))
    return _hold_done(session, task, op) or _start(session, task, op, released)


def _start(session: Session, task: Task, op: Claim, released: list[Task]) -> Answer:
    session.unreserve(task)
    session.passes.used(task.task_id)
    running = session.put(transitions.started(task, op, session.now), CLEAR_MARK)
    session.limits.started(running)
    if op.home:
        session.homes.settle(task.shop, op.home)
    return Answer("run", running, tuple(released))


def _hold_done(session: Session, task: Task, op: Claim) -> Answer | None:
    """What another task has done already waits for a person, unless one has given a reason."""
    done = session.works.done(task, op.done_since)
    if done is None or task.reason or not _EXCUSED.isdisjoint(task.marks):
        return None
    session.unreserve(task)
    forget_needs(session, task.task_id)
    held = session.put(transitions.done_already(task, done, session.now), CLEAR_MARK)
    return Answer("stale", held, conclude(session, held))


def _of_worker(session: Session, task: Task, op: Claim) -> str:
    """The gate that is closed for this worker alone."""
    if op.home and session.homes.of(task.shop) == UNREAD:
        return "paused"
    if op.home and (node := session.homes.of(task.shop)) not in ("", op.home):
        return home.gate_of(node)
    return "" if op.able else home.NO_WORKER


def _park(session: Session, task: Task, gate: str, scope: str, released: list[Task]) -> Task:
    """Let a task wait at a gate. Its promised slot goes to others, unless it is on its way to a capable worker."""
    promised = session.has_promise(task)
    if not home.is_fetched(gate):
        session.unreserve(task)
    elif promised:
        session.reserve(task, transitions.HANDOVER_MS)
    if gate == "twin":
        remarks.suppress(session, task, "waits", session.goes_first(task.uniq))
    parked = session.put(transitions.parked(task, gate, session.now), CLEAR_MARK)
    if scope:
        session.limits.wait(scope, f"{task.shop}|{task.task_type}", limit.rank(task))
    if promised and not home.is_fetched(gate):
        waiting.freed(session, parked, released)
    return parked


def _adopt(session: Session, op: Claim) -> Task | Answer:
    if op.adopt is None:
        return MISSING
    if session.stones.get(op.task_id) is not None:
        return Answer("forgotten")
    status = Status.HELD if op.adopt.status == Status.HELD else Status.QUEUED
    adopted = replace(op.adopt, task_id=op.task_id, status=status.value)
    return session.put(transitions.created(adopted, session.now))


def _answer_without_gates(task: Task, op: Claim) -> str:
    if task.ended:
        return "ended"
    if task.status == Status.RUNNING:
        return "run" if task.owner == op.owner else "duplicate"
    same = (task.gen, task.attempt) == (op.gen, op.attempt)
    return "stale" if not same or task.status in (Status.HELD, Status.SCHEDULED) else ""
